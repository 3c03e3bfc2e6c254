"""How a display says why a program was compiled: in a record's display, in the log's list, as it happens.

Not its job: finding the reason (`analyze.recompiles.recompiles`), the ledger of all of them (`view.pages.ledger`).
"""

from __future__ import annotations

from pjit_inspect.model.record.reason import Reason
from pjit_inspect.view.document.document import Block, Line, Prose, Sign, Text
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import plural, seconds_text

__all__ = ["reason_blocks", "reason_words", "watch_line"]

_AGAIN = ("changed", "dropped")
_DIFFERENCES = 4


def reason_blocks(reason: Reason | None) -> list[Block]:
    """Why it was compiled again: the sentence, then the differences it leaves out; [] for a first compile."""
    if reason is None or not _is_again(reason):
        return []
    blocks: list[Block] = [Line((Text("compiled again: "), Prose(reason.sentence)))]
    others = [difference for difference in reason.differences if difference.sentence not in reason.sentence]
    blocks += [Line((Sign("dot"), Prose(difference.sentence))) for difference in others[:_DIFFERENCES]]
    if len(others) > _DIFFERENCES:
        blocks.append(Line((Sign("more"), Text(f" and {plural(len(others) - _DIFFERENCES, 'more difference')}"))))
    return blocks


def _is_again(reason: Reason) -> bool:
    """Whether it was compiled again, the reason being known or not."""
    return reason.kind in _AGAIN or (reason.kind == "unknown" and reason.nearest is not None)


def reason_words(reason: Reason | None) -> str:
    """Which parts of the key differ, in as few words as a column has: "shape, dtype"; "" for a first compile."""
    if reason is None or not _is_again(reason):
        return ""
    if reason.kind == "unknown":
        return "unknown"
    return ", ".join(dict.fromkeys(difference.kind for difference in reason.differences)) or "cache dropped"


def watch_line(name: str, number: int, seconds: float | None, reason: Reason) -> str:
    """One compile as it happens, on one line: `train_step, compile 3, 1.2 s: ...`; no seconds when that is None."""
    took = "" if seconds is None else f", {seconds_text(seconds)}"
    return printable(f"{name}, compile {number}{took}: {reason.sentence}")
