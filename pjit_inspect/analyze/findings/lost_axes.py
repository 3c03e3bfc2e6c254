"""Finds places where the batch, or another split dimension, loses its axis along the dataflow.

Two programs must show it: the one XLA partitioned, and the copy in which the remedy is tried. Not its job: testing
whether restoring the axis helps (`analyze.findings.findings`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pjit_inspect.analyze.findings.candidate import Candidate, Remedy, Subject
from pjit_inspect.analyze.program.explicit_axes import find_explicit_axes
from pjit_inspect.analyze.program.phases import LATER, find_phase
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.axes import find_lost_axes
from pjit_inspect.analyze.suggest.constraint_words import constraint_words
from pjit_inspect.analyze.suggest.constraints import ConstraintOptions
from pjit_inspect.analyze.suggest.requests import Requests, is_asked
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.program.opcodes import DOTS
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, axis_name
from pjit_inspect.model.words.sentence import Sentence, axis, joined, name, say, spec

_MOST_LINES = 4
_MOST_STEPS = 400
_MOST_BEFORE = 32

_Line = tuple[str, int]


def lost_axes(subject: Subject) -> Iterator[Candidate]:
    """Operations and constraints after which an axis is gone, in program order; none where no copy can be changed."""
    copy = subject.copy
    if copy is None:
        return
    if find_explicit_axes(subject.data):
        # All types contain shardings: one line cannot be changed by itself.
        return
    options = ConstraintOptions(copy.program, copy)
    known = None if subject.names is None else _lines_that_lose(subject.names)
    for option in options.kept_axes(_MOST_LINES):
        index, wanted = option.edits[0].index, option.edits[0].spec or ()
        op = copy.program.ops[index]
        axes = _put_back(copy.program, op, wanted)
        if _is_gathered_weight(copy, op, wanted, axes):
            continue
        if axes and (known is None or any((line, one) in known for line in _lines(copy, op) for one in axes)):
            yield from _operation(copy, op, options.called(index), wanted, axes, option.edits)
    yield from _constraints(subject, copy)


def _is_gathered_weight(names: ValueNames, op: ShardedOp, wanted: Dimensions, axes: tuple[str, ...]) -> bool:
    """Whether an argument loses its axis, and the other operand keeps it: this is FSDP by intention.

    For a lookup this applies to the table only: its indices are the batch, although they may be an argument, too.
    """
    program = names.program
    result = program.values[op.results[0]]
    if op.rule is None or not set(axes) & set(map(axis_name, result.axes)):
        return False
    pairs = enumerate(zip(wanted, result.spec, strict=False))
    places = [place for place, (new, old) in pairs if {axis_name(own) for own in new if own not in old} & set(axes)]
    factors = {op.rule.results[0][place][:1] for place in places if place < len(op.rule.results[0])}
    losers = [
        number
        for number, value in enumerate(op.operands[: len(op.rule.operands)])
        for own, dimension in zip(op.rule.operands[number], program.values[value].spec, strict=False)
        if own and own[:1] in factors and set(map(axis_name, dimension)) & set(axes)
    ]
    if op.kind == "gather":
        return losers == [0]
    return bool(losers) and all(names.argument(op.operands[number]) for number in losers)


def _operation(
    names: ValueNames,
    op: ShardedOp,
    called: Sentence,
    wanted: Dimensions,
    axes: tuple[str, ...],
    edits: tuple[Edit, ...],
) -> Iterator[Candidate]:
    given, told = (names.told_spec(op, own) for own in (names.program.values[op.results[0]].spec, wanted))
    if given is None or told is None:
        return
    yield Candidate(
        kind="axis_lost",
        is_proven=False,
        sentence=say("{} loses {}: {}", called, _axes(axes), _exchange(names, op, axes, given)),
        source=names.frames(op),
        remedies=(Remedy(words=constraint_words(names, op, told, "it"), edits=edits),),
        about=axes,
    )


def _exchange(names: ValueNames, op: ShardedOp, axes: tuple[str, ...], given: Dimensions) -> Sentence:
    """Words for the operands' and the result's axes, and the operand that uses the axis for another dimension."""
    program = names.program
    holders = [
        (place, own)
        for value in op.operands
        for place, own in enumerate(program.values[value].spec)
        if set(map(axis_name, own)) & set(axes)
    ]
    result = spec(spec_text(given))
    origins = [_origin(names, value, axes) for value in op.operands]
    who = list(dict.fromkeys(origin for origin in origins if origin))
    taken = {axis_name(own) for entry in given for own in entry} & set(axes)
    if taken and len(who) == 2 and len(holders) > 1:
        brought = joined([name(own) for own in reversed(who)])
        return say("{} both bring it, an array has an axis once, and the result is {}", brought, result)
    if who and taken:
        brought = joined([name(own) for own in who])
        return say("{} brings it, the result has it along another dimension, and is {}", brought, result)
    if who:
        return say("{} brings it, and the result is {}", joined([name(own) for own in who]), result)
    return say("an operand has it, and the result is {}", result)


def _origin(names: ValueNames, value: int, axes: tuple[str, ...]) -> str:
    """The argument from which a value has one of these axes; ""."""
    program = names.program
    own = {axis_name(one) for one in program.values[value].axes}
    for origin in program.values[value].origins:
        if origin.axis in axes and origin.axis in own and origin.kind == "input" and origin.index is not None:
            return program.inputs[origin.index].label
    return names.argument(value) if own & set(axes) else ""


def _put_back(program: ShardedProgram, op: ShardedOp, wanted: Dimensions) -> tuple[str, ...]:
    """The axes that the wanted sharding has where the result has them not."""
    given = program.values[op.results[0]].spec
    pairs = zip(wanted, given, strict=False)
    found = [axis_name(own) for ours, theirs in pairs for own in ours if axis_name(own) not in map(axis_name, theirs)]
    return tuple(dict.fromkeys(found))


def _lines_that_lose(names: ValueNames) -> set[tuple[_Line, str]]:
    """The lines of a program's source at which an axis is lost, each with the axis."""
    program = names.program
    return {
        (line, one)
        for index, wanted in find_lost_axes(program)
        for line in _lines(names, program.ops[index])
        for one in _put_back(program, program.ops[index], wanted)
    }


def _lines(names: ValueNames, op: ShardedOp) -> list[_Line]:
    return [(frame.file, frame.line) for frame in names.frames(op)[:1]]


# ---------------------------------------------------------------- what a constraint drops


def _constraints(subject: Subject, names: ValueNames) -> Iterator[Candidate]:
    """Constraints that replicate an array that arrives split over an axis no later array uses."""
    program, seen, requests = names.program, set[_Line](), Requests(names)
    for index, op in enumerate(program.ops):
        if not is_asked(op) or op.manual or find_phase(op.op_name) in LATER:
            continue
        source = _asking(names, op)
        line = (source[0].file, source[0].line) if source else None
        request = requests.of(index)
        if line is None or line in seen or request is None or _is_at_the_border(names, op):
            continue
        given, asked = _arrives(program, op), program.values[op.results[0]].spec
        kept = {axis_name(own) for axes in asked for own in axes}
        dropped = tuple(dict.fromkeys(axis_name(own) for axes in given for own in axes if axis_name(own) not in kept))
        if not dropped or _comes_back(program, op.results[0], dropped) or not _is_asked(subject, source, dropped):
            continue
        seen.add(line)
        pairs = zip(given, asked, strict=True)
        wanted = tuple((*(own for own in old if axis_name(own) in dropped), *new) for old, new in pairs)
        edits = tuple(Edit(kind="respec", index=other, spec=wanted) for other in request.ops)
        words = "{} loses {}: what it is put on" if request.many == 1 else "{} lose {}: what they are put on"
        yield Candidate(
            kind="axis_lost",
            is_proven=False,
            sentence=say(
                f"{words} could be {{}}, and {{}} is asked for",
                request.words,
                _axes(dropped),
                spec(spec_text(given)),
                spec(spec_text(asked)),
            ),
            source=source,
            remedies=(Remedy(words=say("ask for {} there", spec(spec_text(wanted))), edits=edits),),
            about=dropped,
        )


def _is_at_the_border(names: ValueNames, op: ShardedOp) -> bool:
    """Whether it constrains an argument or a result, whose sharding is requested on purpose."""
    results = {names.seen_through(boundary.value) for boundary in names.program.outputs}
    return bool(names.argument(op.operands[0])) or names.seen_through(op.results[0]) in results


def _arrives(program: ShardedProgram, op: ShardedOp) -> Dimensions:
    """The sharding of the array without the constraint.

    Propagation carries a constraint back to the array's sources, which hides the loss. Therefore earlier operations of
    the same shape are searched, up to the first one that is split over more axes.
    """
    asked = program.values[op.results[0]]
    border, seen = [op.operands[0]], {op.operands[0]}
    for _ in range(_MOST_BEFORE):
        if not border:
            break
        value = program.values[border.pop(0)]
        if len(value.axes) > len(asked.axes) and set(asked.axes) <= set(value.axes):
            return value.spec
        maker = None if value.op is None else program.ops[value.op]
        if maker is None or maker.rule is None or maker.kind in DOTS or len(maker.results) != 1:
            continue
        for operand in maker.operands:
            if operand not in seen and program.values[operand].shape == asked.shape:
                seen.add(operand)
                border.append(operand)
    return asked.spec


def _is_asked(subject: Subject, source: Sequence[Frame], axes: tuple[str, ...]) -> bool:
    """Whether XLA has a collective over these axes whose cause is a request of this line."""
    places = {(frame.file, frame.line) for frame in source}
    return any(
        cause.kind == "reshard_requested" and set(row.axes or ()) & set(axes) and _is_at(cause.source, places)
        for row in subject.collectives
        for cause in row.causes
    )


def _is_at(source: Sequence[Frame], places: set[_Line]) -> bool:
    return any((frame.file, frame.line) in places for frame in source[:2])


def _asking(names: ValueNames, op: ShardedOp) -> tuple[Frame, ...]:
    """The frames of a constraint, or of its call if a helper such as `shard(x, ...)` makes many."""
    frames = names.frames(op)
    if len(frames) < 2 or frames[0].function == frames[1].function:
        return frames
    stacks = [set(names.frames(other)) for other in names.program.ops if other.frames]
    is_outer = all(frames[1] in stack for stack in stacks)
    return frames if is_outer else frames[1:]


def _comes_back(program: ShardedProgram, value: int, axes: tuple[str, ...]) -> bool:
    """Whether the next products are split over the axes again: then they were given up to that end."""
    border, seen = [value], {value}
    for _ in range(_MOST_STEPS):
        if not border:
            return False
        for index, _ in program.users.get(border.pop(0), ()):
            op = program.ops[index]
            own = {axis_name(one) for result in op.results for one in program.values[result].axes}
            others = {axis_name(one) for operand in op.operands for one in program.values[operand].axes}
            if find_phase(op.op_name) in LATER:
                continue
            if op.kind in DOTS and (own | others) & set(axes):
                return True
            fresh = [result for result in op.results if result not in seen and op.kind not in DOTS]
            seen.update(fresh)
            border += fresh
    return False


def _axes(axes: tuple[str, ...]) -> Sentence:
    return joined([axis(one) for one in axes])
