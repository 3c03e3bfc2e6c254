"""XLA's warnings while it compiled a program.

Not its job: asking XLA (`observe.partitioner`) or parsing its messages (`parse.messages.xla_warnings`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.source import Frame

XlaWarningKind = Literal["full_rematerialization", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class XlaWarning:
    """One distinct warning or error that XLA wrote during a compile.

    Fields that a message does not give are None or (). Only a full rematerialization is parsed; any other keeps its
    text.

    Attributes:
      kind: "full_rematerialization" if the partitioner knew no direct way from one sharding to another: every device
        gathers the whole array and cuts out its part; "other" for everything else.
      text: the message, without the time, the thread and the place before it.
      where: the line of XLA that wrote it ("spmd_partitioner.cc:656"). It differs between versions.
      count: number of times it was written with the same text in this compile (counted).
      instruction: the HLO instruction whose result is resharded, without "%". It belongs to the program during
        partitioning; the optimized program may lack it.
      opcode: that instruction's opcode.
      shape: its type as XLA prints it ("f32[16,4,2]{2,1,0}"): the part one device holds, before it is resharded.
      op_name: JAX's name of the operation, with scopes ("jit(f)/cos").
      from_sharding: the sharding it has, as XLA prints it. JAX 0.12 prints the mesh ("{mesh['data'=2], [{'data'}]}"),
        earlier versions tiles and devices ("{devices=[2]<=[2]}").
      to_sharding: the required sharding, likewise.
      stack_frame_id: the row of the program's table of source frames (`HloModule.frames_table`), which the optimized
        program shares.
      source: source frames in the message itself, innermost first. JAX 0.8 and later give a `stack_frame_id` instead.
    """

    kind: XlaWarningKind
    text: str
    where: str
    count: int = 1
    instruction: str | None = None
    opcode: str | None = None
    shape: str | None = None
    op_name: str | None = None
    from_sharding: str | None = None
    to_sharding: str | None = None
    stack_frame_id: int | None = None
    source: tuple[Frame, ...] = ()

    @property
    def sentence(self) -> str:
        """The warning for a person: a full rematerialization in the user's words, any other as XLA wrote it."""
        times = f" (written {self.count} times)" if self.count > 1 else ""
        if self.kind != "full_rematerialization":
            return f"{self.text}{times}"
        what = f"`{self.op_name or self.instruction or 'a value'}`"
        at = f" ({self.source[0].where})" if self.source else ""
        return (
            f"involuntary full rematerialization: the partitioner knows no direct way for {what}{at} from "
            f"`{self.from_sharding}` to `{self.to_sharding}`, so every device gathers all of it{times}"
        )
