"""The shardings that differ by choice between two programs: specs of arguments and results, constraints.

Not its job: their effects (`analyze.diff.reasons`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.diff.match import Joined, Tier, join_rows
from pjit_inspect.analyze.diff.side import AskedSharding, DiffSide, ProgramNames, Stack
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.diff.pairs import ArrayDiff, Pair
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import PartitionSpec, axes_of, entry_of, spec_text
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.model.words.layers import path_pattern
from pjit_inspect.model.words.sentence import Sentence, name, place, say, spec


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingEdit:
    """A sharding that was chosen differently.

    Attributes:
      names: its name in the old and in the new program: a path, or a constraint's place.
      axes: the mesh axes along which a dimension is split in one of the programs only; None for all axes.
      values: its values in the old and in the new program, as indices in `ShardedProgram.values`.
      sentence: the change in words, to follow "because".
    """

    names: tuple[str, str]
    values: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    axes: frozenset[str] | None
    sentence: Sentence


def find_edits(
    before: DiffSide, after: DiffSide, arguments: ArrayDiff, results: ArrayDiff, requests: Sequence[Joined]
) -> tuple[ShardingEdit, ...]:
    """The shardings that were chosen differently, outermost first, and the arguments that only one program has."""
    found = [_array_edit(pair) for table in (arguments, results) for pair in table.changed]
    alone = (_argument_alone(pair) for pair in arguments if pair.status in ("added", "removed"))
    return (*(edit for edit in found if edit is not None), *alone, *_request_edits(before, after, requests))


def _argument_alone(pair: Pair[ArrayLayout]) -> ShardingEdit:
    verb = "new" if pair.before is None else "gone"
    names = tuple("" if row is None else row.path for row in (pair.before, pair.after))
    words = say("argument {} is {}", name(path_pattern(pair.row.path)), verb)
    return ShardingEdit(names=(names[0], names[1]), axes=None, sentence=words)


def _array_edit(pair: Pair[ArrayLayout]) -> ShardingEdit | None:
    one, two = pair.before, pair.after
    if one is None or two is None or one.spec is None or two.spec is None or one.spec == two.spec:
        return None
    # Equal layers have one sentence.
    words = say("{} is {}, was {}", name(path_pattern(two.path)), spec(spec_text(two.spec)), spec(spec_text(one.spec)))
    return ShardingEdit(names=(one.path, two.path), axes=moved_axes(one.spec, two.spec), sentence=words)


def _request_edits(before: DiffSide, after: DiffSide, joined: Sequence[Joined]) -> Iterator[ShardingEdit]:
    same = {one.before: one.after for one in joined}
    kept = set(same.values())
    for number, request in enumerate(before.requests):
        if number not in same:
            words = say("the constraint to {} at {} is gone", spec(spec_text(request.spec)), place(request.where))
            yield ShardingEdit(names=(request.where, ""), values=(request.values, ()), axes=None, sentence=words)
            continue
        other = after.requests[same[number]]
        if request.spec != other.spec:
            specs = (spec(spec_text(one.spec)) for one in (other, request))
            words = say("the constraint at {} asks for {}, was {}", place(other.where), *specs)
            yield ShardingEdit(
                names=(request.where, other.where),
                values=(request.values, other.values),
                axes=moved_axes(request.spec, other.spec),
                sentence=words,
            )
    for number, request in enumerate(after.requests):
        if number not in kept:
            words = say("the constraint to {} at {} is new", spec(spec_text(request.spec)), place(request.where))
            yield ShardingEdit(names=("", request.where), values=((), request.values), axes=None, sentence=words)


def moved_axes(one: PartitionSpec, two: PartitionSpec) -> frozenset[str]:
    """The axes that split a dimension in one of two specs only."""
    return frozenset(axis for _, axis in _split(one) ^ _split(two))


def _split(found: PartitionSpec) -> set[tuple[int, str]]:
    return {(k, axis_name(axis)) for k, entry in enumerate(found) for axis in axes_of(entry)}


def find_requests(names: ValueNames) -> tuple[AskedSharding, ...]:
    """Every request of a program, in its order."""
    program = names.program
    found = []
    for op in program.ops:
        # In Explicit mode every operation is held to its type; those that somebody wrote have this name.
        if op.kind not in REQUESTS or op.op_name.rpartition("/")[2] not in REQUESTS or not op.results:
            continue
        value = program.values[op.results[0]]
        found.append(
            AskedSharding(
                op_name=op.op_name,
                source=names.frames(op),
                values=(*op.operands, *op.results),
                type=(value.dtype, value.shape),
                spec=tuple(map(entry_of, value.spec)),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Known:
    operation: str
    line: Stack
    loose_line: Stack
    type: Hashable
    spec: Hashable


def join_requests(before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames]) -> list[Joined]:
    """Pairs the requests of both programs that are the same one, even if they ask for different shardings."""
    known = tuple(
        [
            _Known(own.scope(r.op_name), own.stack(r.source), own.stack(r.source, is_loose=True), r.type, r.spec)
            for r in side.requests
        ]
        for side, own in zip((before, after), names, strict=True)
    )
    tiers: tuple[Tier[_Known], ...] = (
        Tier(("operation", "line", "spec"), lambda k: (k.operation, k.line, k.type, k.spec)),
        Tier(("operation", "line without names", "spec"), lambda k: (k.operation, k.loose_line, k.type, k.spec)),
        Tier(("operation", "spec"), lambda k: (k.operation, k.type, k.spec)),
        Tier(("operation", "line"), lambda k: (k.operation, k.loose_line[:1], k.type)),
        Tier(("operation", "shape"), lambda k: (k.operation, k.type)),
        Tier(("operation", "line without shape"), lambda k: (k.operation, k.loose_line[:1])),
    )
    return join_rows(known[0], known[1], tiers)
