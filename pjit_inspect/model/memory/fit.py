"""The room of a program in the memory of a chip.

Not its job: finding it out (`analyze.memory.fits`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.words.sentence import bytes_in_words

FitSource = Literal["counted", "modelled", "at least"]
"""Origin of a memory figure. "counted": compiled for that chip.

"modelled": arguments and results with that chip's padding, and temporaries as another backend schedules them. "at
least": a part, such as arguments and results alone.
"""

_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class PaddedArray:
    """An argument or result that takes more than its elements do.

    Attributes:
      path: the user's name for it.
      local_shape: its shape on one device.
      dtype: JAX's name of the element type.
      bytes: its bytes on one device.
      unpadded_bytes: the bytes of its elements.
    """

    path: str
    local_shape: tuple[int, ...]
    dtype: str
    bytes: int
    unpadded_bytes: int

    @property
    def times(self) -> float:
        """The factor by which padding enlarges the array."""
        return self.bytes / self.unpadded_bytes if self.unpadded_bytes else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFit:
    """The memory that a program needs on each device of a chip, and the chip's memory.

    Attributes:
      chip: the chip ("v5e").
      available_bytes: the part of its memory that programs may use.
      available_source: the source of that number.
      argument_bytes: the arguments.
      result_bytes: the results that do not reuse an argument.
      temporary_bytes: temporaries; None if unknown.
      constant_bytes: constants: arrays that were closed over and written into the program.
      source: the origin of these figures.
      padded: arrays with padding, most bytes of padding first.
      unknown: number of arguments and results of unknown size; they count 0.
    """

    chip: str
    available_bytes: int
    available_source: str
    argument_bytes: int
    result_bytes: int
    temporary_bytes: int | None
    source: FitSource
    constant_bytes: int = 0
    padded: tuple[PaddedArray, ...] = ()
    unknown: int = 0

    @property
    def needed_bytes(self) -> int:
        """All bytes needed; a lower bound if temporaries are unknown."""
        return self.argument_bytes + self.result_bytes + self.constant_bytes + (self.temporary_bytes or 0)

    @property
    def fits(self) -> bool | None:
        """True if it fits; None where only a part is known, and that part fits."""
        if self.needed_bytes > self.available_bytes:
            return False
        return None if self.source == "at least" or self.unknown else True

    @property
    def sentence(self) -> str:
        """In a line: "fits v5e: 1.7 of 15.75 GiB (modelled: temporaries as this backend schedules them)"."""
        answer = {True: "fits", False: "does not fit", None: "may fit"}[self.fits]
        said = {
            "counted": "counted: compiled for it",
            "modelled": "modelled: temporaries as another backend schedules them",
            "at least": "at least: arguments and results alone"
            if self.temporary_bytes is None
            else "at least: the record does not have all arguments and results",
        }[self.source]
        return f"{answer} {self.chip}: {self.share} ({said})"

    @property
    def share(self) -> str:
        """The need and the available memory, in GiB unless that number is too small to read: "1.7 of 15.75 GiB"."""
        needed = self.needed_bytes / _GIB
        figure = f"{needed:,.3g}" if needed >= 0.1 else bytes_in_words(self.needed_bytes)
        return f"{figure} of {self.available_bytes / _GIB:.4g} GiB"

    def __str__(self) -> str:
        lines = [self.sentence]
        lines += [
            f"  padding makes {one.path} {one.times:.1f} times as large: "
            f"{one.dtype}[{','.join(map(str, one.local_shape))}] takes {one.bytes:,} bytes"
            for one in self.padded[:3]
        ]
        return "\n".join(lines)
