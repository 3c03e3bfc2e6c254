"""Kernels, values, arguments, results, warnings and lowerings of two programs, joined.

Kernels are joined by content, values by the operation that makes them, arguments and results by their paths. Not its
job: collectives (`analyze.diff.collectives`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pjit_inspect.analyze.diff.match import Tier, changes_of, join_rows, ordered_pairs
from pjit_inspect.analyze.diff.side import DiffSide, ProgramNames, Stack
from pjit_inspect.model.diff.diff import LoweringDiff, OperationChange
from pjit_inspect.model.diff.pairs import ArrayDiff, Change, KernelDiff, Pair, ShardingDiff, WarningDiff
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.sharding_table import ValueSharding

T = TypeVar("T")

_KERNEL_FIELDS = ("instructions", "inputs", "outputs", "bytes_read", "bytes_written", "bytes_saved", "count")
_VALUE_FIELDS = ("dtype", "global_shape", "local_shape", "spec", "bytes_per_device", "phase")
_ARRAY_FIELDS = ("dtype", "global_shape", "local_shape", "spec", "bytes_per_device", "donated", "kept", "memory")
_ROOT = re.compile(r"^[^.\[]*")
_NUMBER = re.compile(r"\d+")
_ONES = re.compile(r"(?<=[\[,])1(?:,|(?=\]))|,1(?=\])")


def _joined(
    rows: tuple[Sequence[T], Sequence[T]],
    known: tuple[Sequence[Any], Sequence[Any]],
    tiers: Iterable[Tier[Any]],
    changes: Callable[[T, T], tuple[Change, ...]],
) -> tuple[Pair[T], ...]:
    return ordered_pairs(rows[0], rows[1], join_rows(known[0], known[1], tiers), changes)


# ---------------------------------------------------------------- kernels


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kernel:
    kind: str
    contents: Hashable
    shapes: Hashable
    results: Hashable
    operation: str
    line: Stack
    loose_line: Stack


def diff_kernels(before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames]) -> KernelDiff:
    """The fused kernels of two programs; none where of either there is no optimized program."""
    if before.report.fusions is None or after.report.fusions is None:
        return KernelDiff(())
    rows = tuple(tuple(side.report.fusions or ()) for side in (before, after))
    known = tuple([_kernel(row, own) for row in side] for side, own in zip(rows, names, strict=True))
    return KernelDiff(_joined((rows[0], rows[1]), (known[0], known[1]), _kernel_tiers(), _kernel_changes))


def _kernel(row: Fusion, names: ProgramNames) -> _Kernel:
    return _Kernel(
        kind=row.kind,
        contents=(row.kind, tuple(sorted(row.instructions)), row.target),
        shapes=(row.inputs, row.outputs),
        results=tuple(_ONES.sub("", shape) for shape in row.outputs),
        operation=names.scope(row.op_name),
        line=names.stack(row.source),
        loose_line=names.stack(row.source, is_loose=True),
    )


def _kernel_tiers() -> Iterator[Tier[_Kernel]]:
    yield Tier(("contents", "shapes", "operation", "line"), lambda k: (k.contents, k.shapes, k.operation, k.line))
    yield Tier(
        ("contents", "shapes", "operation", "line without names"),
        lambda k: (k.contents, k.shapes, k.operation, k.loose_line),
    )
    yield Tier(("contents", "shapes", "operation"), lambda k: (k.contents, k.shapes, k.operation))
    yield Tier(("contents", "shapes"), lambda k: (k.contents, k.shapes))
    yield Tier(
        ("contents", "operation", "line"),
        lambda k: (k.contents, k.operation, k.loose_line[:1]) if k.operation else None,
    )
    yield Tier(
        ("operation", "line", "shape of the result"),
        lambda k: (k.kind, k.results, k.operation, k.loose_line) if k.operation and k.loose_line else None,
    )


def _kernel_changes(before: Fusion, after: Fusion) -> tuple[Change, ...]:
    return changes_of(before, after, _KERNEL_FIELDS)


# ---------------------------------------------------------------- values


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    argument: str
    type: Hashable
    rank: int
    operation: Hashable
    phase: str | None
    line: Stack
    loose_line: Stack


def diff_shardings(before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames]) -> ShardingDiff:
    """The values of two programs before partitioning; none where either does not know them."""
    if not before.shardings.rows or not after.shardings.rows:
        return ShardingDiff(())
    rows = before.values, after.values
    known = tuple([_value(row, own) for row in side] for side, own in zip(rows, names, strict=True))

    def changes(one: ValueSharding, two: ValueSharding) -> tuple[Change, ...]:
        return _with_specs(changes_of(one, two, _VALUE_FIELDS), names)

    return ShardingDiff(_joined(rows, (known[0], known[1]), _value_tiers(), changes))


def _value(row: ValueSharding, names: ProgramNames) -> _Value:
    return _Value(
        argument=names.path(row.name) if not row.op else "",
        type=(row.dtype, row.global_shape),
        rank=len(row.global_shape),
        operation=(row.op, names.scope(row.op_name)),
        phase=row.phase,
        line=names.stack(row.source),
        loose_line=names.stack(row.source, is_loose=True),
    )


def _value_tiers() -> Iterator[Tier[_Value]]:
    yield Tier(("path",), lambda v: v.argument or None)
    yield Tier(
        ("operation", "line", "phase", "shape"),
        lambda v: None if v.argument else (v.operation, v.line, v.phase, v.type),
    )
    yield Tier(
        ("operation", "line without names", "phase", "shape"),
        lambda v: None if v.argument else (v.operation, v.loose_line, v.phase, v.type),
    )
    yield Tier(("operation", "phase", "shape"), lambda v: None if v.argument else (v.operation, v.phase, v.type))
    yield Tier(
        ("line", "phase", "shape"),
        lambda v: None if v.argument or not v.loose_line else (v.operation[0], v.loose_line[0], v.phase, v.type),  # type: ignore[index]
    )
    yield Tier(
        ("operation", "line", "phase"),
        lambda v: None if v.argument else (v.operation, v.loose_line[:1], v.phase, v.rank),
    )


def _with_specs(changes: tuple[Change, ...], names: tuple[ProgramNames, ProgramNames]) -> tuple[Change, ...]:
    """The changes without specs that differ in names of axes alone."""
    return tuple(own for own in changes if own.name != "spec" or names[0].spec(own.before) != names[1].spec(own.after))


# ---------------------------------------------------------------- arguments and results


@dataclass(frozen=True, slots=True, kw_only=True)
class _Array:
    path: str
    tail: str
    type: Hashable


def diff_arguments(before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames]) -> ArrayDiff:
    """The arguments of two programs, by path; a renamed parameter is joined by the arguments that follow it.

    No rows if the arguments of one program are unknown: removals cannot be found then.
    """
    if "inputs" in before.data.missing or "inputs" in after.data.missing:
        return _diff_arrays((), (), names, lambda one, two: ())
    return _diff_arrays(
        before.data.inputs, after.data.inputs, names, lambda one, two: _with_specs(_array_changes(one, two), names)
    )


def diff_results(
    before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames], arguments: ArrayDiff
) -> ArrayDiff:
    """The results of two programs, by path; `arguments` says which argument's memory both reuse."""
    if "outputs" in before.data.missing or "outputs" in after.data.missing:
        return _diff_arrays((), (), names, lambda one, two: ())
    pairs = ((pair.before, pair.after) for pair in arguments)
    same = {one.path: two.path for one, two in pairs if one is not None and two is not None}

    def changes(one: ArrayLayout, two: ArrayLayout) -> tuple[Change, ...]:
        found = _with_specs(_array_changes(one, two), names)
        reused = None if one.aliases is None else same.get(one.aliases, "")
        return (
            found if reused == two.aliases else (*found, Change(name="aliases", before=one.aliases, after=two.aliases))
        )

    return _diff_arrays(before.data.outputs, after.data.outputs, names, changes)


def _diff_arrays(
    before: tuple[ArrayLayout, ...],
    after: tuple[ArrayLayout, ...],
    names: tuple[ProgramNames, ProgramNames],
    changes: Callable[[ArrayLayout, ArrayLayout], tuple[Change, ...]],
) -> ArrayDiff:
    known = tuple(
        [_Array(path=own.path(row.path), tail=_ROOT.sub("", own.path(row.path)), type=_type(row)) for row in side]
        for side, own in zip((before, after), names, strict=True)
    )
    tiers: tuple[Tier[_Array], ...] = (
        Tier(("path",), lambda a: a.path),
        Tier(("path behind the parameter's name", "shape"), lambda a: (a.tail, a.type)),
    )
    return ArrayDiff(_joined((before, after), (known[0], known[1]), tiers, changes))


def _array_changes(one: ArrayLayout, two: ArrayLayout) -> tuple[Change, ...]:
    return changes_of(one, two, _ARRAY_FIELDS, memory=_memory)


def _type(row: ArrayLayout) -> Hashable:
    return row.dtype, row.global_shape


def _memory(row: ArrayLayout) -> str | None:
    return None if row.sharding is None else row.sharding.memory_kind


# ---------------------------------------------------------------- warnings


def diff_warnings(before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames]) -> WarningDiff:
    """Pairs XLA's warnings by text without numbers (which belong to instructions), operation and place."""
    rows = before.warnings, after.warnings
    known = tuple([_warning(row, own) for row in side] for side, own in zip(rows, names, strict=True))
    tiers: tuple[Tier[Hashable], ...] = (Tier(("operation", "line", "text"), lambda w: w),)
    return WarningDiff(_joined(rows, (known[0], known[1]), tiers, lambda one, two: changes_of(one, two, ("count",))))


def _warning(row: XlaWarning, names: ProgramNames) -> Hashable:
    shardings = row.from_sharding, row.to_sharding, row.opcode
    text = "" if row.kind == "full_rematerialization" else _NUMBER.sub("0", row.text)
    return row.kind, names.scope(row.op_name or ""), names.stack(row.source, is_loose=True)[:1], shardings, text


Alone = Counter[tuple[str, str]]
"""The name of an operation, and its text -> the number of such operations."""


def diff_lowerings(flows: tuple[Counter[str], Counter[str]], alone: tuple[Alone, Alone]) -> LoweringDiff:
    """Two programs compared by the keys of their operations: with all they are computed from, and by themselves."""
    sizes = alone[0].total(), alone[1].total()
    if flows[0] == flows[1]:
        return LoweringDiff(before=sizes[0], after=sizes[1], is_same=True)
    only = alone[0] - alone[1], alone[1] - alone[0]
    names = sorted({name for own in only for name, _ in own})
    changes = [_change(name, alone, only) for name in names]
    changes.sort(key=lambda one: -max(one.removed, one.added))
    return LoweringDiff(before=sizes[0], after=sizes[1], is_same=False, changes=tuple(changes))


def _change(name: str, alone: tuple[Alone, Alone], only: tuple[Alone, Alone]) -> OperationChange:
    before, after = (_of_name(own, name) for own in alone)
    removed, added = (_of_name(own, name) for own in only)
    most = (added or removed).most_common(1)[0][0]
    return OperationChange(
        name=name,
        before=before.total(),
        after=after.total(),
        removed=removed.total(),
        added=added.total(),
        example=most,
    )


def _of_name(operations: Alone, name: str) -> Counter[str]:
    return Counter({text: count for (own, text), count in operations.items() if own == name})
