"""Records of changed programs beside the same functions built anew: refused, or with which collectives.

Both sides leave plain data, so that each can be made in a process of its own, with as many devices as it needs. Not its
job: printing (`scripts/what_if`), or which programs there are (`programs`).
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import jax
from jax.sharding import NamedSharding, PartitionSpec

import pjit_inspect
from pjit_inspect.errors import PjitInspectError
from pjit_inspect.handles.asked.what_if import change_program
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.observe.shardy import _mlir, remesh
from pjit_inspect.observe.watch.on_request import lower_record
from what_if.resized import resized

__all__ = ["Outcome", "Verdict", "anew", "called_so", "captured", "changed_mesh", "changed_specs", "compare", "respecs"]

Built = tuple[Callable[..., Any], tuple[Any, ...]]
Verdict = Literal["equal", "refused by both", "refused by us only", "refused anew only", "differs"]

_DEVICE_IDS = re.compile(r", device_ids=\[[^\]]*\]")
_NAME = re.compile(r"module @\S+")
_MOST_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one program.

    Attributes:
      refused: why there is no record; "" when there is one.
      program: a digest of the program that XLA was asked about, without places and names. XLA's partitioner makes the
        same of the same program.
      rows: how many collectives there are of each kind, axes, element type, bytes, runs per call; None where XLA was
        not asked.
    """

    refused: str = ""
    program: str = ""
    rows: dict[str, int] | None = None

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def captured(built: Built, platform: str = "cpu") -> CompileRecord:
    """The record of a function that was lowered and not compiled: all that a change of it needs."""
    function, arguments = built
    return CompileRecord(lower_record(function, arguments, {}, platform), live=True)


def changed_mesh(record: CompileRecord, sizes: str, target: str | None, *, ask: bool) -> Outcome:
    """The record's program on a mesh of other sizes (`what_if.resized`), or on another machine."""
    return _outcome(lambda: {"mesh": resized(_axes(record), sizes), "target": target}, record, ask=ask)


def anew(build: Callable[[], Built], target: str | None, known: str) -> Outcome:
    """The function built in this process, on meshes of its sizes; not compiled when its program is the `known` one."""
    return _of_function(build, target, known)


def respecs(record: CompileRecord, seed: str) -> dict[str, PartitionSpec]:
    """Other PartitionSpecs for one or two arguments, drawn at random: by path, each dividing its array."""
    chance = random.Random(seed)
    kept = [own for own in record.inputs if own.kept and own.global_shape]
    try:
        sizes = _axes(record)
    except PjitInspectError:
        return {}
    if not kept:
        return {}
    chosen = chance.sample(kept, min(len(kept), chance.choice((1, 2))))
    return {own.path: _other_spec(own.global_shape, sizes, chance) for own in chosen}


def changed_specs(record: CompileRecord, specs: Mapping[str, PartitionSpec], *, ask: bool) -> Outcome:
    """The record's program with other shardings of its arguments."""
    return _outcome(lambda: {"specs": specs}, record, ask=ask)


def called_so(build: Callable[[], Built], specs: Mapping[str, PartitionSpec], paths: list[str], known: str) -> Outcome:
    """The function called with arguments sharded so; `paths` are those of all its arguments, in order."""

    def built() -> Built:
        function, arguments = build()
        leaves, tree = jax.tree.flatten(arguments)
        if len(leaves) != len(paths):
            raise ValueError(f"{len(leaves)} arguments, and {len(paths)} paths")
        return function, jax.tree.unflatten(
            tree, [_sharded(leaf, specs.get(path)) for leaf, path in zip(leaves, paths, strict=True)]
        )

    return _of_function(built, None, known)


def compare(ours: Outcome, theirs: Outcome) -> tuple[Verdict, str]:
    """Whether both say the same, and what differs."""
    if ours.refused and theirs.refused:
        return "refused by both", f"{ours.refused} | {theirs.refused}"
    if ours.refused:
        return "refused by us only", ours.refused
    if theirs.refused:
        return "refused anew only", theirs.refused
    if ours.program == theirs.program or (ours.rows is not None and ours.rows == theirs.rows):
        return "equal", ""
    if ours.rows is None:
        return "differs", "XLA was not asked"
    before, after = Counter(ours.rows), Counter(theirs.rows)
    return "differs", f"only what_if: {dict(before - after)}; only anew: {dict(after - before)}"


# ---------------------------------------------------------------- making an outcome


def _outcome(make: Callable[[], dict[str, Any]], record: CompileRecord, *, ask: bool) -> Outcome:
    try:
        change = make()
        edited = change_program(record.data, **change).program
        return Outcome(program=_digest(edited), rows=_rows(record.what_if(**change)) if ask else None)
    except PjitInspectError as error:
        return Outcome(refused=_said(error))


def _of_function(build: Callable[[], Built], target: str | None, known: str) -> Outcome:
    try:
        function, arguments = build()
        platform = "cpu" if target is None else target.partition(":")[0]
        lowered = lower_record(function, arguments, {}, platform)
        assert lowered.stablehlo is not None
        digest = _digest(lowered.stablehlo.read())
        if digest == known:
            return Outcome(program=digest)
        record = pjit_inspect.inspect(function, *arguments, target=target, effort="partition")
    except Exception as error:
        # Whatever JAX, or the function itself, says of such sizes: there is nothing to compare with.
        return Outcome(refused=f"{type(error).__name__}: {_said(error)}")
    return Outcome(program=digest, rows=_rows(record))


def _axes(record: CompileRecord) -> dict[str, int]:
    """The mesh that the program names; a record of a function that was only lowered does not know it."""
    assert record.data.stablehlo is not None
    return remesh.mesh_axes(record.data.stablehlo.read())


def _rows(record: CompileRecord) -> dict[str, int]:
    rows = (
        f"{row.kind} {'?' if row.axes is None else '+'.join(row.axes)} {row.dtype} {row.payload_bytes} B x {row.count}"
        for row in record.collectives
    )
    return dict(Counter(rows))


def _digest(program: bytes) -> str:
    """Of a program in MLIR bytecode, without places, its name, and the order of devices in its mesh."""
    with _mlir.open_module(program) as module:
        text = module.operation.get_asm(enable_debug_info=False)
    return hashlib.sha256(_NAME.sub("module", _DEVICE_IDS.sub("", text), count=1).encode()).hexdigest()


def _said(error: BaseException) -> str:
    return " ".join(str(error).split())[:_MOST_SHOWN]


# ---------------------------------------------------------------- arguments


def _other_spec(shape: tuple[int, ...], sizes: Mapping[str, int], chance: random.Random) -> PartitionSpec:
    entries: list[list[str]] = [[] for _ in shape]
    left = list(shape)
    for axis in chance.sample(list(sizes), len(sizes)):
        places = [place for place, length in enumerate(left) if length % sizes[axis] == 0]
        # One in three axes stays unused, so that arrays that are replicated occur.
        if places and chance.random() < 2 / 3:
            place = chance.choice(places)
            entries[place].append(axis)
            left[place] //= sizes[axis]
    return PartitionSpec(*(tuple(own) if len(own) > 1 else own[0] if own else None for own in entries))


def _sharded(leaf: Any, spec: PartitionSpec | None) -> Any:
    if spec is None:
        return leaf
    sharding = getattr(leaf, "sharding", None)
    if not isinstance(sharding, NamedSharding):
        raise TypeError(f"an argument with sharding {sharding} cannot be given another")
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=NamedSharding(sharding.mesh, spec))
