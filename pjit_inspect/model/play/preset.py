"""A layout of the textbooks, as it would be for one program on one mesh.

Not its job: making it (`analyze.play.presets`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pjit_inspect.model.play.setting import PlaySetting


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A textbook's layout for a program.

    Attributes:
      name: as the textbooks call it: "replicated", "data parallel", "FSDP", "Megatron", "2-D", "sequence parallel".
      sentence: a description of its split axes.
      why_not: why it is none for this program on this mesh; "" where it is one.
      setting: all controls as it has them; None where it is none.
    """

    name: str
    sentence: str = ""
    why_not: str = ""
    setting: PlaySetting | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.name}: {self.why_not or self.sentence}"
