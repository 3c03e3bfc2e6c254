"""`record.advice` as lines: the place and what is wrong there, the code to write, what it saves and what it costs.

Not its job: finding advice (`analyze.advice`), or trying it (`handles.advice`).
"""

from __future__ import annotations

from pjit_inspect.model.report.advice import Advice, AdviceTable, Figures
from pjit_inspect.model.words.sentence import code, say
from pjit_inspect.view.document.document import Block, Line, Number, Prose, Provenance, Quote, Sign, Span, Spans, Text
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural
from pjit_inspect.view.record.answer import reason_text
from pjit_inspect.view.record.findings import cost_spans

_LEAST = "a change is listed if it saves 5 %"


def advice_blocks(advice: AdviceTable) -> tuple[Block, ...]:
    """One line with the answer; then some lines for each row, numbered from 1; then how the figures were counted."""
    lines = [Line(_head(advice))]
    changes = 0
    for number, one in enumerate(advice, 1):
        lines += _lines(number, one, is_after_others=bool(one.with_edits))
        changes += one.state != "fact"
    if changes:
        words = "before -> after on one device, counted by XLA's partitioner before optimization; sent: per call"
        lines.append(Line((Text(words),), "footer"))
    if advice.missing:
        lines.append(Line((Text(f"no change was tried: {reason_text(advice.missing)}"),), "note"))
    return tuple(lines)


def _head(advice: AdviceTable) -> Spans:
    """How many changes are worth it; or that nothing is, and how much the best would save."""
    # Of what was thought of and not asked nothing is known.
    more = f", {count_text(advice.proposed)} thought of" if advice.proposed > advice.asked else ""
    asked = f"{count_text(advice.asked)} asked{more}"
    changes = [one for one in advice if one.state != "fact" and one.kind != "layout"]
    facts = sum(one.state == "fact" for one in advice)
    parts = (
        [plural(len(changes), "change") + (" is worth it" if len(changes) == 1 else " are worth it")] if changes else []
    )
    parts += [plural(facts, "fact") + " to know"] if facts else []
    parts += ["1 other layout sends less at these sizes"] if any(one.kind == "layout" for one in advice) else []
    if parts:
        return (Text("; ".join(parts), "strong"), Text(f" ({asked})", "dim"))
    if not advice.asked:
        return (Text("nothing worth changing is known", "strong"),)
    best = (
        f"the best saves {advice.best:.1%} of what is sent; "
        if advice.best > 0
        else "none saves a part of what is sent without another cost; "
    )
    return (Text("nothing worth changing", "strong"), Text(f" ({asked}): {best}{_LEAST}", "dim"))


def _lines(number: int, one: Advice, *, is_after_others: bool) -> list[Line]:
    head: list[Span] = [Text(f"{number}", "strong"), Text("  "), Prose(one.sentence)]
    if one.source and one.source[0].where not in one.sentence:
        head += [Sign("dot"), Quote(one.source[0].where)]
    head += [Text("  with those above", "dim")] if is_after_others else []
    lines = [Line(tuple(head))]
    if one.change:
        is_code = "with_sharding_constraint(" in one.change and "`" not in one.change
        lines.append(Line((Text("   "), Prose(say("{}", code(one.change)) if is_code else one.change))))
    figures = _figures(one)
    return [*lines, Line((Text("   "), *figures))] if figures else lines


def _figures(one: Advice) -> Spans:
    """What changes of what is sent, held, multiplied and of the number of collectives, and what it costs."""
    if one.state == "fact":
        return cost_spans(one.cost_bytes, one.unit) if one.cost_bytes else ()
    parts: list[Spans] = []
    if one.sent is not None and one.sent[0] != one.sent[1]:
        parts.append(_pair("sent", one.sent, "modelled"))
    if one.memory is not None and one.memory[0] != one.memory[1]:
        parts.append(_pair("held", one.memory, "counted"))
    if one.collectives is not None and one.collectives[0] != one.collectives[1]:
        before, after = one.collectives
        parts.append((Number(count_text(before)), Text(" -> "), Number(count_text(after)), Text(" collectives")))
    if one.multiplied is not None and one.multiplied[0] and one.multiplied[0] != one.multiplied[1]:
        share = one.multiplied[1] / one.multiplied[0] - 1
        parts.append((Text(f"multiplies {abs(share):.0%} {'more' if share > 0 else 'less'}"),))
    parts.append((Text(f"costs: {one.costs}" if one.costs else "costs nothing", "dim"),))
    return tuple(span for number, own in enumerate(parts) for span in ((Sign("dot"),) if number else ()) + own)


def _pair(words: str, figures: Figures, provenance: Provenance) -> Spans:
    before, after = (Number(bytes_text(size), provenance=provenance, strong=True) for size in figures)
    return (Text(f"{words} "), before, Text(" -> "), after)
