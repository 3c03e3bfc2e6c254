"""Advice in the user's words: what is wrong at a place, the code to write there, and what it costs elsewhere.

Not its job: finding changes (`climb`), or names of values (`analyze.sharding.value_names`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pjit_inspect.analyze.advice.climb import Climb, TriedChange
from pjit_inspect.analyze.advice.constraint_words import constraint_words
from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.analyze.advice.site import Site
from pjit_inspect.analyze.advice.stakes import Counted, MovedBytes, ProposedChange
from pjit_inspect.analyze.program.phases import is_vmapped
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.report.advice import Advice, AdviceKind, ChangeKind
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedOp, axis_name
from pjit_inspect.model.words.sentence import Sentence, axis, bytes_in_words, joined, name, say, spec

_MOST_NAMED = 3
_VISIBLE = 0.005
_KINDS: dict[str, ChangeKind] = {
    "value": "line",
    "request": "constraint",
    "argument": "argument",
    "result": "result",
}


def advice_of(climb: Climb, collectives: Sequence[Collective]) -> tuple[Advice, ...]:
    """The changes that were taken, each on top of those before, and the best since; then another layout by itself.

    `collectives` are those of the compiled program, which rows say the removed ones of.
    """
    rows, taken, before = [], tuple[Edit, ...](), climb.start
    for step in climb.steps:
        rows.append(_row(climb, step.taken, before, taken, collectives))
        taken, before = (*taken, *step.taken.edits), step.taken.answer or before
    if climb.foremost is not None:
        rows.append(replace(_row(climb, climb.foremost, before, taken, collectives), state="asking"))
    layouts = [one for one in climb.tried if one.is_layout and one.saved is not None and one.saved.worth]
    # Another layout is beside the changes that were taken, where it was asked about before any.
    alone = [one for one in layouts if not climb.steps or one.number < climb.steps[0].taken.number]
    if alone:
        best = max(alone, key=lambda one: one.saved.worth if one.saved is not None else 0.0)
        rows.append(_row(climb, best, climb.start, (), collectives))
    return tuple(rows)


def _row(
    climb: Climb, tried: TriedChange, before: Counted, taken: tuple[Edit, ...], collectives: Sequence[Collective]
) -> Advice:
    own, site, counts, answer = climb.own, tried.proposal.site, before.counts, tried.answer or before
    after = answer.counts
    # A channel is that of the program as it is: those of changed copies are counted anew.
    gone = climb.start.channels_not_in(answer) - climb.start.channels_not_in(before)
    compared = counts.compared(after)
    per_turn = () if compared is None else compared.sent.rows[1:]
    held = counts.held_bytes + sum(counts.results), after.held_bytes + sum(after.results)
    kind = _kind(own, tried)
    is_held = kind == "replicated_argument" or counts.bytes <= after.bytes
    return Advice(
        kind=kind,
        sentence=site.sentence or _sentence(own, tried.proposal),
        change=site.change or _change(own, site, tried.proposal.spec),
        edits=tried.edits,
        sent=(counts.bytes, after.bytes),
        sent_per_turn=per_turn,
        memory=held,
        multiplied=(counts.products, after.products),
        collectives=(len(counts.moved), len(after.moved)),
        seconds=None if before.seconds is None or answer.seconds is None else (before.seconds, answer.seconds),
        costs=_costs(tried, before),
        source=site.source,
        number=tried.number,
        cost_bytes=(held[0] - held[1]) if is_held else counts.bytes - after.bytes,
        unit="held" if is_held else "sent",
        runs_once=not is_held and len(per_turn) > 0,
        with_edits=taken,
        removes=tuple(row.instructions[0] for row in collectives if row.channel_id in gone),
        brings=_by_axes(answer.not_in(before)),
    )


def _by_axes(rows: Sequence[MovedBytes]) -> tuple[tuple[tuple[str, ...] | None, int, int], ...]:
    """Number and bytes of collectives over each set of axes, most bytes first."""
    found = dict[tuple[str, ...] | None, list[int]]()
    for row in rows:
        found.setdefault(row.axes, []).append(row.bytes)
    return tuple(sorted(((axes, len(all), sum(all)) for axes, all in found.items()), key=lambda one: -one[2]))


# ---------------------------------------------------------------- what is wrong


def _kind(own: EditedProgram, tried: TriedChange) -> AdviceKind:
    site = tried.proposal.site
    if tried.is_layout:
        return "layout"
    if site.fact:
        return site.fact
    if site.kind in ("argument", "result"):
        return _KINDS[site.kind] if any(any(spec) for _, spec in site.arrays) else "replicated_argument"
    return "axis_lost" if _lost(own, tried.proposal) else _KINDS[site.kind]


def _sentence(own: EditedProgram, proposal: ProposedChange) -> Sentence:
    site = proposal.site
    if site.kind == "argument":
        if site.fixed:
            return say("{}; other arguments of their dimensions are split", site.words)
        return say("{} arrives as {}", site.words, _spec(site.now))
    if site.kind == "result":
        return say("{} is returned as {}", site.words, _spec(site.now))
    op = own.program.ops[site.ops[0]]
    lost = _lost(own, proposal)
    now = _spec(_told(own, op, site.now))
    if lost and site.kind == "request":
        return say("{} loses {}: it asks for {}", site.words, _axes(lost), now)
    if lost:
        return say("{} loses {}: {}", site.words, _axes(lost), _exchange(own, site.ops[0], lost, now))
    if site.kind == "request":
        return say("{} asks for {}", site.words, now)
    if proposal.spec == site.now:
        words = "{} is {}; a constraint that says so changes how XLA splits what hangs together with it"
        return say(words, site.words, now)
    return say("{} is {}", site.words, now)


def _lost(own: EditedProgram, proposal: ProposedChange) -> list[str]:
    """The axes that the change puts where the piece of source is given them, in the order of the mesh."""
    if proposal.lost_at is None:
        return []
    depth = 3 if proposal.site.kind == "request" else 1
    found = {axis_name(one) for one, _ in proposal.put & own.brought(proposal.lost_at, depth)}
    return [one for one in own.program.sizes if one in found]


def _exchange(own: EditedProgram, index: int, lost: list[str], now: Sentence) -> Sentence:
    """Which arguments of the piece bring the axes, and how the result is split."""
    origins = [_origin(own, value, lost) for value in own.taken(index)]
    who = list(dict.fromkeys(origin for origin in origins if origin))
    brought, it = joined([name(one) for one in reversed(who)]), "it" if len(lost) == 1 else "them"
    if len(who) > 1 and len(lost) > 1:
        # Which of them brings which is not told.
        return say("{} bring them, and the result is {}", brought, now)
    if len(who) > 1:
        several = "both" if len(who) == 2 else "all"
        return say("{} {} bring it, an array has an axis once, and the result is {}", brought, several, now)
    if who:
        return say("{} brings {}, and the result is {}", brought, it, now)
    return say("an operand has {}, and the result is {}", it, now)


def _origin(own: EditedProgram, value: int, axes: Iterable[str]) -> str:
    """The argument from which a value has one of these axes; "" if another value has them from there."""
    entry = own.program.values[value]
    have = {axis_name(one) for one in entry.axes} & set(axes)
    given = [origin.index for origin in entry.origins if origin.kind == "input" and axis_name(origin.axis) in have]
    # Shardy takes the axes of a constant, say, from what it is used with.
    made_of = own.names.arguments(value) if have else ()
    first = next((index for index in given if index in made_of), None)
    if first is not None:
        return own.program.inputs[first].label
    return own.names.argument(value) if have and not given else ""


# ---------------------------------------------------------------- what to write


def _change(own: EditedProgram, site: Site, wanted: Dimensions | None) -> str:
    if site.kind in ("argument", "result"):
        return _border(own, site, wanted)
    op = own.program.ops[site.ops[0]]
    if site.kind == "request":
        return "leave it out" if wanted is None else f"ask for {spec_text(_told(own, op, wanted))}"
    told = _told(own, op, wanted or site.now)
    if any(map(is_vmapped, own.names.scopes(op))):
        # The array has a dimension that the text does not show, so the line cannot be written for the reader.
        return str(constraint_words(own.names, op, told, "it"))
    if not own.names.makes(op):
        # What is around it makes another value: the reader finds it inside.
        return str(constraint_words(own.names, op, told, site.words))
    text = spec_text(told)
    written = _rewritten(own, site, op, text)
    return written or f"jax.lax.with_sharding_constraint({own.names.text(op) or '...'}, {text})"


def _border(own: EditedProgram, site: Site, wanted: Dimensions | None) -> str:
    """Arguments or results with their new specs, a line for each of the first."""
    lines, specs = [], site.fixed or (wanted,) * len(site.places)
    for (kind, index, _), one in zip(site.places, specs, strict=True):
        border = own.program.inputs[index] if kind == "argument" else own.program.outputs[index]
        if kind == site.kind:
            lines.append(f"{border.label} as {spec_text(one or ())}")
    more = [f"and {len(lines) - _MOST_NAMED} more likewise"] if len(lines) > _MOST_NAMED else []
    where = "pass" if site.kind == "argument" else "out_shardings:"
    # What is asked for of a result that is the argument of the next call changes with the argument.
    back = "; return them so, too (out_shardings)" if len(lines) < len(site.places) else ""
    return f"{where} {', '.join((*lines[:_MOST_NAMED], *more))}{back}"


def _rewritten(own: EditedProgram, site: Site, op: ShardedOp, text: str) -> str:
    """The line of source with the constraint around the piece that makes the value; "" if its text is not there."""
    frame = site.source[0]
    span = next((s for f, s in zip(op.frames, op.spans, strict=False) if f == frame), None)
    source = next((one for one in own.names.sources if one.file == frame.file), None)
    if source is None or span is None or span.line != span.end_line:
        return ""
    line = source.line(span.line) or ""
    raw = line.encode()
    before, piece, after = (
        part.decode(errors="replace")
        for part in (raw[: span.column], raw[span.column : span.end_column], raw[span.end_column :])
    )
    # A comment at the end of the line is none of what is to be written.
    after = after if "'" in after or '"' in after else after.partition("#")[0]
    return f"{before}jax.lax.with_sharding_constraint({piece}, {text}){after}".strip()


def _costs(tried: TriedChange, before: Counted) -> str:
    """The costs: more that a device holds, multiplies or sends; "" for nothing that can be seen."""
    saved, counts = tried.saved, before.counts
    if saved is None or tried.answer is None:
        return ""
    parts = []
    if saved.sent < -_VISIBLE:
        parts.append(f"sends {bytes_in_words(tried.answer.counts.bytes - counts.bytes)} more")
    if saved.held < -_VISIBLE:
        parts.append(f"holds {-saved.held:.1%} more of arguments and results")
    if saved.products < -_VISIBLE:
        parts.append(f"multiplies {-saved.products:.1%} more")
    if saved.made < -_VISIBLE:
        parts.append(f"makes {-saved.made:.1%} more")
    return ", ".join(parts)


def _told(own: EditedProgram, op: ShardedOp, wanted: Dimensions) -> Dimensions:
    """A sharding in the order of dimensions that the text of an op has."""
    return own.names.told_spec(op, wanted) or wanted


def _spec(wanted: Dimensions) -> Sentence:
    return say("{}", spec(spec_text(wanted)))


def _axes(axes: Iterable[str]) -> Sentence:
    return joined([axis(one) for one in axes])
