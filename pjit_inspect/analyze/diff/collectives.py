"""Pairs the collectives of two programs, and finds the differences within pairs.

Evidence: the operation with its scopes, its source line, the value that moves and its purpose, the phase, the shape.
Kind and axes are always the same. Names of instructions and channels are never evidence. Not its job: explaining added
and removed ones (`analyze.diff.reasons`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.diff.match import Joined, Tier, changes_of, join_rows, ordered_pairs
from pjit_inspect.analyze.diff.names import clean_scope
from pjit_inspect.analyze.diff.side import DiffSide, ProgramNames, Stack
from pjit_inspect.analyze.program.phases import find_phase
from pjit_inspect.model.diff.pairs import Change, CollectiveDiff
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective

_FIELDS = (
    "dtype", "local_shape", "operands", "payload_bytes", "wire_bytes", "count", "count_min", "implicit", "phase",
    "is_async", "group_size", "pairs", "cause_kinds",
)  # fmt: skip
_MOST_DIMENSIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """The evidence by which a collective is recognised, in names that both programs share.

    Attributes:
      what: its kind and axes; for groups that follow no axes, the groups.
      shape: the shape of its largest operand without dimensions of 1.
      size: its shape, type and number of operands.
      line, loose_line: its source line and its callers' lines, as text; `loose_line` without names of variables.
      value: the moved value and its purpose, one for each operand.
      arguments: the moved arguments; "" for any other value.
      made_of: the kind of each cause and the arguments that it names; () if one names none.
      is_explained: whether the program proves its purpose.
      parts: the evidence of each operand by itself.
    """

    what: Hashable
    shape: tuple[int, ...]
    dtype: str
    size: Hashable
    phase: str | None
    operation: str
    line: Stack
    loose_line: Stack
    value: tuple[Hashable, ...]
    arguments: tuple[str, ...]
    made_of: tuple[Hashable, ...]
    is_explained: bool
    parts: Counter[Hashable]


def diff_collectives(before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames]) -> CollectiveDiff:
    """The collectives of two programs, joined; none where of either there is no optimized program."""
    if before.report.collectives is None or after.report.collectives is None:
        return CollectiveDiff(())
    rows = before.collectives, after.collectives
    known = tuple([_evidence(row, own) for row in side] for side, own in zip(rows, names, strict=True))
    joined = join_rows(known[0], known[1], _same_shape())
    joined += _with_common_parts(known[0], known[1], joined)
    joined += join_rows(known[0], known[1], _other_phase_or_shape(), joined)
    return CollectiveDiff(ordered_pairs(rows[0], rows[1], joined, _changes))


def _evidence(row: Collective, names: ProgramNames) -> _Evidence:
    shape = tuple(length for length in row.local_shape if length != 1)
    causes = row.causes
    return _Evidence(
        what=(row.kind, names.axes(row.axes), row.groups if row.axes is None else None),
        shape=shape,
        dtype=row.dtype,
        size=(row.dtype, shape, row.operands),
        phase=row.phase,
        operation=names.scope(row.op_name),
        line=names.stack(row.source),
        loose_line=names.stack(row.source, is_loose=True),
        value=tuple(sorted(_moved(cause, names) for cause in causes)),
        arguments=tuple(sorted(names.path(cause.value) for cause in causes)),
        made_of=_made_of(causes, names),
        is_explained=any(cause.evidence == "sharding" for cause in causes),
        parts=Counter(part_of(cause, names) for cause in causes if cause.evidence == "sharding"),
    )


def _made_of(causes: Sequence[Cause], names: ProgramNames) -> tuple[Hashable, ...]:
    """For each cause its kind and the arguments that it names; () where one is not proven, or names none."""
    found = []
    for cause in causes:
        named = tuple(names.path(p.text) for p in cause.sentence.phrases if p.kind == "name" and p.text in names.paths)
        if cause.evidence != "sharding" or not named:
            return ()
        found.append((cause.kind, named))
    return tuple(sorted(found))


def _moved(cause: Cause, names: ProgramNames) -> tuple[str, ...]:
    return names.path(cause.value), *names.sentence(cause.operation), *names.sentence(cause.moved)


def part_of(cause: Cause, names: ProgramNames) -> tuple[Hashable, ...]:
    """The evidence by which one array of a collective is recognised: the operation it is moved for, and the array."""
    phase = find_phase(cause.op_name)
    return names.scope(cause.op_name), names.stack(cause.source, is_loose=True)[:1], phase, _moved(cause, names)


def _same_shape() -> Iterator[Tier[_Evidence]]:
    """The evidence that shapes and phases are part of, strongest first."""
    yield Tier(
        ("operation", "line", "value", "phase", "shape"),
        lambda e: (e.what, e.operation, e.line, e.value, e.phase, e.size) if _is_known(e.line) else None,
    )
    yield Tier(
        ("operation", "line without names", "value", "phase", "shape"),
        lambda e: (e.what, e.operation, e.loose_line, e.value, e.phase, e.size) if _is_known(e.line) else None,
    )
    yield Tier(("operation", "value", "phase", "shape"), lambda e: (e.what, e.operation, e.value, e.phase, e.size))
    yield Tier(
        ("line", "value", "phase", "shape"),
        lambda e: (e.what, e.loose_line[0], e.value, e.phase, e.size) if _is_known(e.line) else None,
    )
    yield Tier(
        ("operation", "line", "phase", "shape"),
        lambda e: (e.what, e.operation, e.loose_line[:1], e.arguments, e.phase, e.size),
    )
    yield Tier(
        ("cause", "the arguments in it", "phase", "shape"),
        lambda e: (e.what, e.made_of, e.phase, e.size) if e.made_of else None,
    )


def _other_phase_or_shape() -> Iterator[Tier[_Evidence]]:
    """The last tiers: the same value in another phase, or of another shape or type."""
    yield Tier(
        ("operation", "line", "value", "shape"),
        lambda e: (e.what, e.operation, e.loose_line[:1], e.value, e.size) if e.operation else None,
    )
    yield Tier(
        ("operation", "line", "value", "phase"),
        lambda e: (e.what, e.operation, e.loose_line[:1], e.value, e.phase, len(e.shape)) if e.is_explained else None,
    )
    # If their purpose is unproven, as in programs with HLO only: join all of one operation, or none.
    yield Tier(
        ("operation", "line", "phase", "shape without its type"),
        lambda e: (e.what, e.operation, e.loose_line[:1], e.phase, e.shape) if _is_bare(e) else None,
        needs_all=True,
    )
    yield from _alike()
    yield Tier(
        ("operation", "line", "phase", "rank"),
        lambda e: (e.what, e.operation, e.loose_line[:1], e.phase, len(e.shape)) if _is_bare(e) else None,
        needs_all=True,
    )


def _is_bare(evidence: _Evidence) -> bool:
    return bool(evidence.operation) and not evidence.is_explained


def _alike() -> Iterator[Tier[_Evidence]]:
    """Shapes that are equal in all but one dimension."""
    for dimension in range(_MOST_DIMENSIONS):

        def key(e: _Evidence, k: int = dimension) -> Hashable | None:
            if k >= len(e.shape) or e.is_explained or not e.operation:
                return None
            shape = (*e.shape[:k], None, *e.shape[k + 1 :])
            return e.what, e.operation, e.loose_line[:1], e.phase, e.dtype, shape

        yield Tier(("operation", "line", "phase", "shape in all but one dimension"), key)


def _is_known(line: Stack) -> bool:
    return bool(line) and line[0] is not None


def _with_common_parts(
    before: Sequence[_Evidence], after: Sequence[_Evidence], joined: Sequence[Joined]
) -> list[Joined]:
    """Collectives that XLA combined of several, by the parts that both have: at least half of the larger one's."""
    taken = {one.before for one in joined}, {one.after for one in joined}
    left = tuple(
        [k for k in range(len(rows)) if k not in gone] for rows, gone in zip((before, after), taken, strict=True)
    )
    having: dict[Hashable, list[int]] = {}
    for j in left[1]:
        for part in after[j].parts:
            having.setdefault(part, []).append(j)
    scored = [
        (-common, abs(i - j), i, j)
        for i in left[0]
        for j in dict.fromkeys(j for part in before[i].parts for j in having.get(part, ()))
        if (common := _common_parts(before[i], after[j]))
    ]
    found: list[Joined] = []
    used: tuple[set[int], set[int]] = (set(), set())
    for _, _, i, j in sorted(scored):
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            found.append(Joined(i, j, ("the arrays it is combined of",)))
    return found


def _common_parts(one: _Evidence, two: _Evidence) -> int:
    """Number of parts two collectives share; 0 if neither is combined, or they share less than half of the larger."""
    sizes = one.parts.total(), two.parts.total()
    if one.what != two.what or max(sizes) < 2:
        return 0
    common = (one.parts & two.parts).total()
    return common if 2 * common >= max(sizes) else 0


def _changes(before: Collective, after: Collective) -> tuple[Change, ...]:
    read = {"group_size": _group_size, "pairs": _pairs, "cause_kinds": _cause_kinds}
    found = changes_of(before, after, _FIELDS, **read)
    one, two = _sums(before), _sums(after)
    return (Change(name="operation", before=one, after=two), *found) if one and two and one != two else found


def _sums(row: Collective) -> str:
    """The primitive of a sum or maximum; "" if it is none, is combined, or has another name."""
    is_one = row.kind in SUMS and not row.is_combined and "/" in row.op_name
    return clean_scope(row.op_name).rpartition("/")[2] if is_one else ""


def _group_size(row: Collective) -> int:
    return max(map(len, row.groups), default=0)


def _pairs(row: Collective) -> tuple[tuple[int, ...], ...]:
    """Pairs of sender and receiver; () for groups."""
    return row.groups if row.kind == "collective-permute" else ()


def _cause_kinds(row: Collective) -> tuple[str, ...]:
    return tuple(sorted({cause.kind for cause in row.causes}))
