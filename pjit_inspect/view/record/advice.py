"""`record.advice` in words: two lines at the head of a display, and each row with its code, its figures and its costs.

Not its job: finding advice (`analyze.advice`), or trying it (`handles.advice`).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import NamedTuple

from pjit_inspect.model.report.advice import Advice, AdviceTable, BytesUnit
from pjit_inspect.model.words.sentence import ONE_TURN, Sentence
from pjit_inspect.view.document.document import (
    Block,
    Cell,
    Line,
    Listing,
    Number,
    Prose,
    Provenance,
    Quote,
    Sign,
    Spans,
    Text,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.quantities import bytes_number, bytes_text, count_text, plural, time_text
from pjit_inspect.view.document.text_spans import joined_spans
from pjit_inspect.view.record.answer import reason_text

_LEAST = "a change is listed if it saves 5 %"
_VISIBLE = 0.005
_UNITS: dict[BytesUnit, str] = {
    "sent": "sent per device and call",
    "copied": "copied to each device per call",
    "held": "held by each device",
}
_STATES = {"asking": "better ones are still asked about", "counted": "counted", "compiled": "compiled", "fact": "fact"}


# ---------------------------------------------------------------- the head of a display


def advice_head(advice: AdviceTable | None) -> tuple[Block, ...]:
    """The best advice, or what is known of it, and the code to write; () where nobody looked."""
    if advice is None:
        return ()
    first, second = advice_answer(advice)
    return (line(first, dim(f" ({second})" if second else "")), *(change_blocks(advice[0]) if advice else ()))


def advice_answer(advice: AdviceTable) -> tuple[Spans, str]:
    """The change and its saving, or that nothing is worth it; and the questions that were asked."""
    if advice.is_asking:
        second = f"XLA is asked about changes: {advice.asked} by now, at most {advice.left} more"
    elif not advice.is_done:
        by_now = f"{plural(advice.asked, 'change')} asked by now" if advice.asked else "not asked yet"
        second = f"{by_now}; record.advice asks XLA, at most {advice.asked + advice.left} times"
    else:
        of = f" of {count_text(advice.proposed)} thought of" if advice.proposed > advice.asked else ""
        second = f"{plural(advice.asked, 'change')} asked{of}" if advice.asked else "nothing was asked"
    if not advice:
        return _nothing(advice, second)
    best, more = advice[0], len(advice) - 1
    where = spans(" at ", Quote(best.source[0].where)) if best.source else ()
    if best.state == "fact":
        head = spans(strong("Worth knowing"), ": ", Prose(best.sentence))
    else:
        what, sizes = ("Another layout", " at these sizes") if best.kind == "layout" else ("A change", None)
        head = spans(strong(what), where, strong(f" {saving(best)}"), sizes)
    return spans(head, dim(f", and {plural(more, 'more row')}") if more else None), second


def _nothing(advice: AdviceTable, asked: str) -> tuple[Spans, str]:
    """The answer without rows: not known yet, not known, or that nothing is worth it."""
    if advice.missing:
        return spans(strong("What to change is not known")), reason_text(advice.missing)
    if not advice.is_done:
        return spans(strong("What to change")), asked
    best = "none sends less at no other cost"
    if advice.best > 0:
        best = f"the best would save {percent_text(advice.best)} of what is sent"
    if advice.untried:
        return spans(strong("No change was found")), f"{asked}; {best}; {why_not_all(advice)}"
    words = f"{asked}; {best}; {_LEAST}"
    if not advice.asked:
        words = f"of {plural(advice.proposed, 'change')} thought of none promises 5 %"
    return spans(strong("Nothing worth changing")), words


def percent_text(share: float) -> str:
    """A part of a whole: "36 %"."""
    return f"{share:.0%}".replace("%", " %")


# ---------------------------------------------------------------- one row


class AdviceFigure(NamedTuple):
    """One figure of a row: its name, before and after (of "time" seconds), and whether they are bytes."""

    name: str
    before: float
    after: float
    is_bytes: bool = True

    @property
    def texts(self) -> tuple[str, str]:
        """Both figures as they are shown."""
        if self.name == "time":
            return time_text(self.before * 1e6), time_text(self.after * 1e6)
        form = bytes_text if self.is_bytes else count_text
        return form(int(self.before)), form(int(self.after))

    @property
    def share(self) -> float:
        """The part that is saved; negative for more."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def words(self) -> str:
        """The difference in percent: "-36 %"."""
        return f"{'-' if self.share > 0 else '+'}{percent_text(abs(self.share))}" if self.before else "new"


def changes_of(one: Advice) -> tuple[AdviceFigure, ...]:
    """The figures of a row that change visibly."""
    named = (
        ("sends", one.sent, True),
        ("holds", one.memory, True),
        ("multiplies", one.multiplied, False),
        ("collectives", one.collectives, False),
        ("time", one.seconds, False),
    )
    found = [AdviceFigure(name, *pair, is_bytes) for name, pair, is_bytes in named if pair is not None]
    return tuple(change for change in found if abs(change.share) >= _VISIBLE or (change.after and not change.before))


def saving(one: Advice) -> str:
    """The largest saving of a change, in words: "sends 36 % less"."""
    shares = {change.name: change.share for change in changes_of(one) if change.name != "collectives"}
    most = max(shares, key=lambda name: shares[name], default="")
    return f"{most} {percent_text(shares[most])} less" if most and shares[most] > 0 else "helps"


def advice_code(one: Advice) -> str:
    """The text to copy of a row: the longest code in its change; all words if there is none."""
    codes = () if is_code(one) else (own.text for own in Sentence(one.change).phrases if own.kind == "code")
    return max(codes, key=len, default=one.change)


def is_code(one: Advice) -> bool:
    """True if the change is a piece of source as it is to be written, not words."""
    return "with_sharding_constraint(" in one.change and "`" not in one.change


def advice_figures(one: Advice) -> Spans:
    """The figures that change, the costs, and the provenance of both."""
    if one.state == "fact":
        words = f" {_UNITS[one.unit]}{' if these run once' if one.runs_once else ''}"
        return (bytes_number(one.cost_bytes, _provenance(one), strong=True), Text(words)) if one.cost_bytes else ()
    parts: list[Spans] = []
    for change in changes_of(one):
        before, after = (Number(text, provenance=_provenance(one, change)) for text in change.texts)
        parts.append(spans(f"{change.name} ", before, " -> ", after))
    once = f" {ONE_TURN}" if one.sent_per_turn else ""
    return spans(joined_spans(parts, ", "), dim(f"{once}; {cost_words(one)}; {_STATES[one.state]}"))


def cost_words(one: Advice) -> str:
    """The costs of a change elsewhere."""
    return f"but {one.costs}" if one.costs else "costs nothing"


def _provenance(one: Advice, change: AdviceFigure | None = None) -> Provenance:
    name = one.unit if change is None else change.name
    return "modelled" if name in ("sent", "sends", "time") else "counted"


# ---------------------------------------------------------------- the table


def advice_blocks(advice: AdviceTable) -> tuple[Block, ...]:
    """The answer; then for each row what it saves, where, the code to write, why, and its figures."""
    blocks: list[Block] = [Line(advice_summary(advice))]
    for number, one in enumerate(advice, 1):
        blocks += row_blocks(number, one)
    if words := stage_words(advice):
        blocks.append(line(words, role="footer"))
    if advice and (words := why_not_all(advice)):
        blocks.append(line(words, role="note"))
    return tuple(blocks)


def stage_words(advice: AdviceTable) -> str:
    """The meaning of the figures of rows, and the stage at which they were counted; "" without figures."""
    stages = {
        "counted": "counted: as XLA's partitioner makes both programs, before optimization",
        "compiled": "compiled: both to the end, as the figures at the head of the record",
    }
    found = {"counted" if one.state == "asking" else one.state for one in advice}
    said = [words for state, words in stages.items() if state in found]
    return "; ".join(("before -> after on one device and call; sends: modelled (ring)", *said)) if said else ""


def why_not_all(advice: AdviceTable) -> str:
    """Why not every change was asked about; "" if every one was, or will be."""
    if advice.missing:
        return f"no change was asked: {reason_text(advice.missing)}"
    more = "; record.advice.try_all() asks about all" if advice.left_out else ""
    return f"not every change was asked: {reason_text(advice.untried)}{more}" if advice.untried else ""


def advice_summary(advice: AdviceTable) -> Spans:
    """The number of changes that are worth it, or that none is; and the questions that were asked."""
    first, second = advice_answer(advice)
    if not advice:
        return spans(first, dim(f": {second}"))
    kinds = ["fact" if one.state == "fact" else "layout" if one.kind == "layout" else "change" for one in advice]
    words = (
        ("change", lambda n: f"{plural(n, 'change')} {'is' if n == 1 else 'are'} worth it"),
        ("layout", lambda n: f"{n} other layout is better at these sizes"),
        ("fact", lambda n: f"{plural(n, 'fact')} to know"),
    )
    parts = [say(kinds.count(kind)) for kind, say in words if kind in kinds]
    return spans(strong("; ".join(parts)), dim(f" ({second})"))


def row_blocks(number: int, one: Advice) -> tuple[Block, ...]:
    """One row: what it saves, where, the code to write, why, and its figures."""
    head: list[Cell] = [strong(f"{number}"), "  "]
    if one.state != "fact":
        layout = "another layout " if one.kind == "layout" else ""
        head += [strong(f"{layout}{saving(one)}"), ", with those above" if one.with_edits else None, Sign("dot")]
    head.append(Prose(one.sentence))
    if one.source and one.source[0].where not in one.sentence:
        head += [Sign("dot"), Quote(one.source[0].where)]
    figures = advice_figures(one)
    return (line(*head), *change_blocks(one), *((line(figures),) if figures else ()))


def change_blocks(one: Advice) -> tuple[Block, ...]:
    """The change, as code to copy or in words."""
    if not one.change:
        return ()
    return (Listing((one.change,)),) if is_code(one) else (line(Prose(one.change)),)


def advice_json(advice: AdviceTable) -> str:
    """All rows, with the keys in a fixed order, for other programs and for CI; bytes are of one device and call."""
    plain = ("kind", "state", "sentence", "change", "costs", "number", "cost_bytes", "unit", "runs_once")
    figures = ("sent", "sent_per_turn", "memory", "multiplied", "collectives", "seconds")
    rows = [
        {name: getattr(one, name) for name in (*plain, *figures)}
        | {
            "edits": [asdict(edit) for edit in one.edits],
            "after_others": bool(one.with_edits),
            "source": [{"file": at.file, "line": at.line, "function": at.function} for at in one.source],
        }
        for one in advice
    ]
    told = ("asked", "left", "is_done", "proposed", "best", "missing", "untried")
    found = {"version": 1, **{name: getattr(advice, name) for name in told}, "rows": rows}
    return json.dumps(found, indent=1, ensure_ascii=True)
