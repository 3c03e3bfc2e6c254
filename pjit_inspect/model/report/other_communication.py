"""Communication that is no HLO collective.

Not its job: finding it (`analyze.program.other_communication`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherCommunication:
    """Instructions of one kind that communicate, or may. How many bytes they send is unknown.

    Attributes:
      what: "sends" if the program says that they communicate; "may" if that is unknown; "host" for transfers between a
        device and its host.
      name: the target of the custom calls, or the opcode.
      count: number of instructions.
    """

    what: Literal["sends", "may", "host"]
    name: str
    count: int


_WORDS = {
    "sends": ("communicates", "communicate", "bytes unknown"),
    "may": ("may communicate", "may communicate", "not known"),
    "host": ("transfers to or from the host", "transfer to or from the host", "bytes unknown"),
}
_NAMED = 3


def other_words(others: Sequence[OtherCommunication]) -> str:
    """All other communication in words: "1 instruction communicates (nccl_all_reduce; bytes unknown)"; "" for none."""
    said = []
    for what in ("sends", "may", "host"):
        rows = [one for one in others if one.what == what]
        count, (one, several, known) = sum(row.count for row in rows), _WORDS[what]
        names = ", ".join(row.name[:60] for row in rows[:_NAMED]) + (", ..." if len(rows) > _NAMED else "")
        noun, verb = ("instruction", one) if count == 1 else ("instructions", several)
        said += [f"{count:,} {noun} {verb} ({names}; {known})"] if rows else []
    return ", and ".join(said)
