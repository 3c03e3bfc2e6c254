"""Finds communication repeated more than needed: an array gathered again, a sum or a condition in every turn of a loop.

The optimized program gives the runs of each collective, the partitioner's program the operations around it; if one is
missing, nothing is reported. Not its job: testing whether a remedy helps (`analyze.findings.findings`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pjit_inspect.analyze.advice.constraint_words import value_constraint_words
from pjit_inspect.analyze.causes.accumulated import Accumulation
from pjit_inspect.analyze.causes.cause_subject import over_axes
from pjit_inspect.analyze.findings.candidate import Candidate, Remedy, Subject
from pjit_inspect.analyze.program.phases import LATER, find_phase
from pjit_inspect.analyze.sharding.axes import dependent_axes, dependent_parts, has_independent
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective, Phase
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedOp, ShardedProgram, axis_name
from pjit_inspect.model.words.sentence import Sentence, axis, code, joined, place, say

_MOST_PARENTS = 1000


def gathered_again(subject: Subject) -> Iterator[Candidate]:
    """Arrays that a loop never changes, and that are gathered in each of its turns."""
    names = subject.names
    if names is None:
        return
    seen: set[tuple[int, int]] = set()
    for row, edges in _joined(subject):
        elements = sum(edge.elements for edge in edges) or 1
        for edge in edges:
            if row.kind != "all-gather" or (row.count or 0) < 2 or len(edge.makers) != 1 or not edge.takers:
                continue
            value = names.written(names.seen_through(edge.makers[0]))
            loop = _loop_without(names.program, edge.takers[0].op, value)
            if loop is not None and (loop, value) not in seen:
                seen.add((loop, value))
                yield _again(subject, names, row, value, loop, (row.wire_bytes or 0) * edge.elements // elements)


def _again(subject: Subject, names: ValueNames, row: Collective, value: int, loop: int, sent: int) -> Candidate:
    turns, op = row.count or 1, names.program.ops[loop]
    given = names.program.values[value]
    lost = set(row.axes or ())
    wanted = tuple(tuple(own for own in axes if axis_name(own) not in lost) for axes in given.spec)
    what = names.value(value)
    advice = value_constraint_words(names, value, wanted, say("{} before the loop", what))
    return Candidate(
        kind="gathered_again",
        sentence=say(
            "{} is gathered over {} in each of the {} turns of the loop, which never changes it",
            what,
            _axes(row),
            f"{turns:,}",
        ),
        source=names.frames(op) or row.source,
        cost_bytes=sent * (turns - 1),
        removes=row.instructions[:1],
        remedies=tuple(
            Remedy(words=say("{}: one gather, kept while it runs", advice), edits=edits)
            for edits in _before_loop(subject.copy, names, value, loop, wanted)
            if advice is not None
        ),
    )


def _before_loop(
    copy: ValueNames | None, names: ValueNames, value: int, loop: int, wanted: tuple[tuple[str, ...], ...]
) -> Iterator[tuple[Edit, ...]]:
    """The constraint on the same loop's operand in the copy: the operand with that name, shape and sharding."""
    if copy is None:
        return
    op, own, called = names.program.ops[loop], names.program.values[value], str(names.value(value))
    for index, other in enumerate(copy.program.ops):
        if other.kind != "while" or copy.frames(other)[:1] != names.frames(op)[:1]:
            continue
        for number, operand in enumerate(other.operands):
            array = copy.program.values[operand]
            if (array.shape, array.spec) == (own.shape, own.spec) and str(copy.value(operand)) == called:
                yield (Edit(kind="hop", index=index, number=number, spec=wanted),)


def _loop_without(program: ShardedProgram, op: int, value: int) -> int | None:
    """The outermost loop that an operation is in and the maker of a value is not."""
    maker = program.values[value].op
    outside = set() if maker is None else set(_around(program, maker))
    # A value that the loop itself makes for its turns changes.
    if maker is not None and program.ops[maker].kind == "while" and value not in program.ops[maker].results:
        outside.add(maker)
    loops = [index for index in _around(program, op) if program.ops[index].kind == "while" and index not in outside]
    return loops[-1] if loops else None


def _around(program: ShardedProgram, op: int) -> Iterator[int]:
    """The operations in whose regions one is, innermost first."""
    parent = program.ops[op].parent
    for _ in range(_MOST_PARENTS):
        if parent is None:
            return
        yield parent
        parent = program.ops[parent].parent


# ---------------------------------------------------------------- gathered at several lines

_MOST_TOLD = 3


def gathered_twice(subject: Subject) -> Iterator[Candidate]:
    """Arrays that several collectives of one call gather over the same axes.

    Only within one phase: an array gathered again for the gradient was dropped to save memory. A trial shows whether
    one gather is enough.
    """
    names = subject.names
    if names is None or subject.copy is None:
        return
    groups: dict[tuple[int, tuple[str, ...], Phase], list[_Gather]] = {}
    for row, edges in _joined(subject):
        elements = sum(edge.elements for edge in edges) or 1
        for edge in edges:
            if row.kind == "all-gather" and row.count == 1 and row.axes and len(edge.makers) == 1 and edge.takers:
                sent = (row.wire_bytes or 0) * edge.elements // elements
                gather = _Gather(name=row.instructions[0], taker=names.program.ops[edge.takers[0].op], sent=sent)
                value = names.written(names.seen_through(edge.makers[0]))
                groups.setdefault((value, row.axes, row.phase), []).append(gather)
    for (value, axes, _), gathers in groups.items():
        if len({one.name for one in gathers}) > 1 and names.program.values[value].axes:
            yield _twice(subject.copy, names, value, axes, gathers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gather:
    """One gather of an array: its instruction, its user, and the bytes that a device sends for it."""

    name: str
    taker: ShardedOp
    sent: int


def _twice(copy: ValueNames, names: ValueNames, value: int, axes: tuple[str, ...], gathers: list[_Gather]) -> Candidate:
    frames = [names.frames(one.taker)[:1] for one in gathers]
    places = list(dict.fromkeys(own[0].where for own in frames if own))
    given = names.program.values[value]
    wanted = tuple(tuple(own for own in entry if axis_name(own) not in axes) for entry in given.spec)
    what = names.value(value)
    advice = value_constraint_words(names, value, wanted, say("{} once, before it is used", what))
    return Candidate(
        kind="gathered_again",
        is_proven=False,
        sentence=say(
            "{} is gathered over {} {} times in one call{}",
            what,
            joined([axis(own) for own in axes]),
            str(len(gathers)),
            say(", for {}", joined([place(own) for own in places[:_MOST_TOLD]])) if places else Sentence(),
        ),
        source=names.frames(gathers[0].taker),
        cost_bytes=sum(sorted(one.sent for one in gathers)[:-1]),
        removes=tuple(one.name for one in gathers),
        remedies=tuple(
            Remedy(words=say("{}: one gather", advice), edits=edits)
            for edits in _where_it_is_used(copy, names, value, wanted)
            if advice is not None
        ),
    )


def _where_it_is_used(
    copy: ValueNames, names: ValueNames, value: int, wanted: tuple[tuple[str, ...], ...]
) -> Iterator[tuple[Edit, ...]]:
    """The constraint on every use of the array in the copy: the only one of that name, shape and sharding.

    Of a program that is differentiated none: JAX binds the gradient of a constrained value, too.
    """
    own, called = names.program.values[value], str(names.value(value))
    program = copy.program
    if any(find_phase(op.op_name) in LATER for op in program.ops):
        return
    alike = [
        index
        for index, array in enumerate(program.values)
        if (array.shape, array.spec) == (own.shape, own.spec)
        and program.users.get(index)
        and copy.written(copy.seen_through(index)) == index
        and str(copy.value(index)) == called
    ]
    if len(alike) != 1:
        return
    made = program.values[alike[0]].op
    if made is not None and alike[0] in program.ops[made].results:
        # XLA may take a use away that the captured program has, as of a transpose of a transpose.
        yield (Edit(kind="constrain", index=made, number=program.ops[made].results.index(alike[0]), spec=wanted),)
    else:
        yield tuple(Edit(kind="hop", index=op, number=number, spec=wanted) for op, number in program.users[alike[0]])


# ---------------------------------------------------------------- sums


def summed_every_turn(subject: Subject) -> Iterator[Candidate]:
    """Sums over devices that a loop only adds up."""
    names = subject.names
    if names is None:
        return
    accumulation = Accumulation(names.program)
    by_place: dict[tuple[Any, ...], tuple[tuple[Frame, ...], list[_Summed]]] = {}
    for row, edges in _joined(subject):
        less = [accumulation.times_less(edge, row) for edge in edges]
        added = [edge for edge, times in zip(edges, less, strict=True) if times is not None]
        if row.count is not None and added:
            # The place is that of the addition: there it is to be done otherwise.
            total = accumulation.total(added[0])
            maker = None if total is None else names.program.values[total].op
            source = () if maker is None else names.frames(names.program.ops[maker])
            source = source or row.source
            every = sum(edge.elements for edge in edges) or 1
            sent = (row.wire_bytes or 0) * sum(edge.elements for edge in added) // every
            summed = _Summed(row=row, sent=sent, others=len(edges) - len(added))
            times = min(filter(None, less))
            by_place.setdefault((source[:1], row.axes, row.count, times), (source, []))[1].append(summed)
    for (*_, times), (source, summed) in by_place.items():
        first, turns = summed[0].row, summed[0].row.count or 1
        what = "what is summed" if len(summed) == 1 else f"what {len(summed)} collectives sum"
        others = sum(one.others for one in summed)
        rest = f", but for {others} other array{'s' * (others > 1)} of the same collective{'s' * (len(summed) > 1)},"
        yield Candidate(
            kind="summed_per_turn",
            sentence=say(
                "{} over {} in each of {} turns{} is only added up: one sum after the loop would send 1/{}{}",
                what,
                _axes(first),
                f"{turns:,}",
                rest if others else "",
                f"{times:,}",
                " of that" if others else "",
            ),
            source=source,
            cost_bytes=sum(one.sent * turns * (times - 1) // times for one in summed),
            removes=tuple(one.row.instructions[0] for one in summed),
            remedies=(
                Remedy(
                    words=say(
                        "add up in a {} over {}, each device its own, and {} after the loop; what all devices share "
                        "goes into the loop through {}, or JAX sums its gradient in every turn",
                        code("jax.shard_map"),
                        _axes(first),
                        code("psum"),
                        code("jax.lax.pcast(..., to='varying')"),
                    )
                ),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Summed:
    """A collective with arrays that are only added up: bytes a device sends for them, and number of other arrays."""

    row: Collective
    sent: int
    others: int


# ---------------------------------------------------------------- conditions and kernels


def asked_every_turn(subject: Subject) -> Iterator[Candidate]:
    """Loops whose condition needs communication in every turn."""
    for rows, cause in _of_kind(subject, "loop_predicate"):
        # A loop of one turn communicates only once.
        own = [row for row in rows if row.count is None or row.count > 1]
        if own:
            yield Candidate(
                kind="loop_predicate",
                sentence=say(
                    "whether the loop goes on is asked over {} in every turn, and no device begins the next one before "
                    "all have answered",
                    _axes(*own),
                ),
                source=cause.source or own[0].source,
                cost_bytes=_sent(own),
                removes=tuple(row.instructions[0] for row in own),
                remedies=(
                    Remedy(
                        words=say(
                            "run a number of turns that is known ({}), or ask only after every few turns",
                            code("jax.lax.fori_loop"),
                        )
                    ),
                ),
            )


def without_rule(subject: Subject) -> Iterator[Candidate]:
    """Operations that the partitioner cannot split, with all that moves for them."""
    for rows, cause in _of_kind(subject, "no_sharding_rule"):
        others = list(dict.fromkeys(one for row in rows for own in row.causes for one in own.needed_by[1:]))
        stays = say("; what moves stays as long as {} takes it", joined(others, " or ")) if others else Sentence()
        way = _way_around(subject, rows, cause)
        yield Candidate(
            kind="no_sharding_rule",
            sentence=say(
                "{} {} collective{} over {} serve{} that.",
                cause.sentence,
                len(rows),
                "s" * (len(rows) != 1),
                _axes(*rows),
                "s" * (len(rows) == 1),
            ),
            source=cause.source or rows[0].source,
            cost_bytes=_sent(rows),
            removes=tuple(row.instructions[0] for row in rows),
            remedies=() if way is None else (Remedy(words=say("{}{}", way, stays)),),
        )


def _way_around(subject: Subject, rows: list[Collective], cause: Cause) -> Sentence | None:
    """A remedy for an operation that cannot be split, or not along its split dimension; None if there is none."""
    program = ShardedProgram() if subject.names is None else subject.names.program
    over = dict.fromkeys(own for row in rows for own in row.axes or ())
    ops = [op for op in program.ops if op.op_name == cause.op_name and dependent_parts(program, op)]
    needs_all = dependent_axes(program, ops)
    dependent, free = ([own for own in over if (own in needs_all) is wanted] for wanted in (True, False))
    first, where = Sentence("if the pieces do not depend on each other,"), _axes(*rows)
    if dependent and not free:
        if not any(has_independent(program, op) for op in ops):
            return None
        first = Sentence(
            "along this dimension the pieces depend on each other: split another one; if that is gathered, too,"
        )
    elif dependent and all(row.axes for row in rows):
        where = over_axes(free)
        first = say("the pieces over {} depend on each other; those over {} do not:", over_axes(dependent), where)
    return say("{} call it in a {} over {}, where each device has its own", first, code("jax.shard_map"), where)


def _of_kind(subject: Subject, kind: str) -> Iterator[tuple[list[Collective], Cause]]:
    """The collectives whose dearest cause is of a kind that the shardings prove, by the place they belong to."""
    found: dict[object, tuple[list[Collective], Cause]] = {}
    for row in subject.collectives:
        cause = row.cause
        if cause is not None and cause.kind == kind and cause.evidence == "sharding" and row.instructions:
            found.setdefault((cause.op_name, cause.source[:1]), ([], cause))[0].append(row)
    yield from found.values()


def _sent(rows: list[Collective]) -> int:
    return sum(row.least_sent_bytes for row in rows)


def _joined(subject: Subject) -> Iterator[tuple[Collective, tuple[PartitionedCollective, ...]]]:
    """The collectives with known counterparts in the partitioner's program."""
    for row in subject.collectives:
        edges = subject.edges.get(row.instructions[0]) if row.instructions else None
        if edges and row.implicit is not False:
            yield row, edges


def _axes(*rows: Collective) -> Sentence:
    """All axes that some collectives go over."""
    axes = dict.fromkeys(one for row in rows for one in row.axes or ())
    return over_axes(axes) if all(row.axes for row in rows) else Sentence("devices")
