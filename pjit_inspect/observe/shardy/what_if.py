"""Changes a captured program: gives its shardings after propagation, and its compiled program.

The captured StableHLO is edited, never the user's function, which is not called again. Not its job: thinking of changes
(`analyze.suggest.suggestions`) or counting what they save (`api`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pjit_inspect.errors import CaptureError
from pjit_inspect.model.program.mesh import Device, Dimensions
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.donation import donate_anew
from pjit_inspect.observe.shardy.how_compiled import compiler_options, open_borders
from pjit_inspect.observe.shardy.propagation import propagate
from pjit_inspect.observe.shardy.remesh import check_divides
from pjit_inspect.observe.shardy.shardy_attributes import read_mesh, read_tensor

Propagate = Callable[[bytes], ShardedProgram | None]
"""As `observe.shardy.propagation.propagate`."""

_POSITION = "pjit_inspect position "
_CALLBACK = re.compile(r'custom_call @\w*callback\w*|call_target_name = "\w*callback\w*"')
_CONSTRAINT = "sdy.sharding_constraint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A program, propagated.

    Attributes:
      program: every value with its sharding.
      trips: index of a loop in `program.ops` -> its turns; loops of unknown length are omitted.
    """

    program: ShardedProgram
    trips: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lookup:
    """The index of each op of a `ShardedProgram` in the program as captured, counting every op from 0."""

    positions: tuple[int | None, ...]
    trips: dict[int, int]


class WhatIf:
    """One captured program, and its versions with edits.

    Attributes:
      stablehlo: the program as MLIR bytecode, as JAX gave it to XLA.
    """

    def __init__(self, stablehlo: bytes, run: Propagate = propagate) -> None:
        """Holds a program; `run` propagates one, in a separate process if this one is not safe."""
        self.stablehlo: bytes = stablehlo
        self._run = run
        self._like: WhatIf | None = None

    def of(self, stablehlo: bytes) -> WhatIf:
        """The same operations in a program with another mesh; both share one lookup of positions."""
        other = WhatIf(stablehlo, self._run)
        other._like = self
        return other

    def propagate(self, change: Sequence[Edit] = ()) -> Trial:
        """The changed program with the sharding of every value; nothing is compiled.

        Raises CaptureError when an edit does not fit the program, or the changed program cannot be propagated.
        """
        edited = WhatIf(self.edited(change), self._run) if change else self
        try:
            program = self._run(edited.stablehlo)
        except RuntimeError as error:
            raise CaptureError(f"the changed program cannot be propagated: {_first_line(error)}") from error
        if program is None:
            raise CaptureError("the program was made for another partitioner than Shardy; only Shardy's can be changed")
        # Loops stay loops: without any, the ops of the changed program need not be looked up.
        trips = edited.trips if self.trips else {}
        return Trial(program=program, trips=trips)

    def compile(self, change: Sequence[Edit], devices: Sequence[Device], flags: dict[str, str]) -> bytes:
        """The optimized changed program, as a serialized `xla.HloModuleProto`; nothing runs.

        Args:
          change: the edits; () compiles the unchanged program.
          devices: the program's devices, in the order of its partitions. Devices of the same hardware replace those
            that this process lacks.
          flags: the record's flags; its compiler options are used again.

        Raises CaptureError if there are too few of these devices, if the program calls back into Python (its callbacks
        are unavailable here), or if XLA refuses the changed program.
        """
        stand_ins = _stand_ins(devices)
        with _mlir.open_module(self.stablehlo) as module:
            if _CALLBACK.search(module.operation.get_asm(large_elements_limit=8)):
                raise CaptureError(
                    "the program calls back into Python, and a changed copy of it cannot be tied to the same "
                    "callbacks; make the change in the code and inspect it again"
                )
            self._apply(module, change)
            try:
                _mlir.verify(module)
                return _jax.hlo_proto(
                    _jax.compile_unseen(module, stand_ins, compiler_options(flags), open_borders(module))
                )
            except RuntimeError as error:
                raise CaptureError(f"XLA does not compile the changed program: {_first_line(error)}") from error

    # ------------------------------------------------------------ where ops stand

    @cached_property
    def trips(self) -> dict[int, int]:
        """Index of a loop in `ShardedProgram.ops` -> its turns; loops of unknown length are omitted."""
        return self._lookup.trips

    @property
    def positions(self) -> tuple[int | None, ...]:
        """The index of each op of `ShardedProgram.ops` in the program as captured; None for ops added by passes."""
        return self._lookup.positions

    @cached_property
    def _lookup(self) -> _Lookup:
        """The passes add, copy and inline ops: each is named by its position before, and the names read after."""
        if self._like is not None:
            return self._like._lookup  # noqa: SLF001
        with _mlir.open_module(self.stablehlo) as module:
            lengths: dict[int, int] = {}
            for number, op in enumerate(_all_ops(module.operation)):
                _mlir.set_name(op, f"{_POSITION}{number}")
                length = _trip_count(op) if op.name == "stablehlo.while" else None
                if length is not None:
                    lengths[number] = length
            program = self._run(_mlir.bytecode(module))
        # The name of an op in a called function begins with that of the call.
        names = (op.op_name.rpartition(_POSITION)[2] for op in program.ops) if program is not None else ()
        positions = tuple(int(name) if name.isdigit() else None for name in names)
        trips = {index: lengths[place] for index, place in enumerate(positions) if place in lengths}
        return _Lookup(positions=positions, trips=trips)

    def edited(self, change: Sequence[Edit], *, names: Mapping[str, str] | None = None) -> bytes:
        """The changed program as MLIR bytecode. Raises CaptureError when an edit does not fit the program.

        With `names`, as `check_divides` takes them, also ChangeError when an argument or result does not divide.
        """
        if not change and names is None:
            return self.stablehlo
        with _mlir.open_module(self.stablehlo) as module:
            self._apply(module, change)
            if names is not None:
                check_divides(module, names)
            return _mlir.bytecode(module) if change else self.stablehlo

    def _apply(self, module: Any, change: Sequence[Edit]) -> None:
        if not change:
            return
        borders = [edit for edit in change if edit.kind in ("argument", "result")]
        inner = [edit for edit in change if edit.kind not in ("argument", "result")]
        if borders:
            _edit_borders(module, _main(module), borders)
        ops = list(_all_ops(module.operation)) if inner else []
        done: set[tuple[str, int, int]] = set()
        for edit in inner:
            # `ops` are those before any edit: what an edit adds has no position.
            place = self._position(edit)
            if edit.kind == "hop" or (edit.kind, place, edit.number) not in done:
                # Calls of one function are several ops after propagation, and one here.
                done.add((edit.kind, place, edit.number))
                _edit_op(module, ops[place], edit)

    def _position(self, edit: Edit) -> int:
        positions = self._lookup.positions
        position = positions[edit.index] if 0 <= edit.index < len(positions) else None
        if position is None:
            raise CaptureError(f"operation {edit.index} is none of the captured program, so it cannot be changed")
        return position


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300] if str(error) else type(error).__name__


# ---------------------------------------------------------------- walking the captured program


def _main(module: Any) -> Any:
    main = _mlir.main_function(module)
    if main is None:
        raise CaptureError("the captured StableHLO has no function 'main'")
    return main


def _all_ops(op: Any) -> Iterator[Any]:
    """Every op inside one, each before the ops in its regions."""
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from _all_ops(view.operation)


def _trip_count(loop: Any) -> int | None:
    """The number of turns of a loop that counts from a constant to a constant, as in JAX's `scan` and `fori_loop`."""
    condition = loop.regions[0].blocks[0]
    compares = [view.operation for view in condition.operations if view.operation.name == "stablehlo.compare"]
    if len(compares) != 1 or "LT" not in str(compares[0].attributes["comparison_direction"]):
        return None
    counter, end = compares[0].operands
    if _constant(counter) is not None:
        return None
    number = next((n for n, argument in enumerate(condition.arguments) if argument == counter), None)
    last = _carried_constant(loop, condition, end)
    first = _constant(loop.operands[number]) if number is not None else None
    return max(last - first, 0) if first is not None and last is not None else None


def _carried_constant(loop: Any, condition: Any, value: Any) -> int | None:
    """A constant, in the loop or carried into it."""
    number = next((n for n, argument in enumerate(condition.arguments) if argument == value), None)
    return _constant(value if number is None else loop.operands[number])


def _constant(value: Any) -> int | None:
    owner = getattr(value.owner, "operation", value.owner)
    if getattr(owner, "name", "") != "stablehlo.constant":
        return None
    match = re.fullmatch(r"dense<(-?\d+)> : tensor<u?i\d+>", str(owner.attributes["value"]).replace("ui", "i"))
    return int(match[1]) if match else None


# ---------------------------------------------------------------- edits


def _edit_borders(module: Any, main: Any, edits: Sequence[Edit]) -> None:
    """Sets shardings of arguments and results, all at once, because programs have thousands."""
    for kind, name in (("argument", "arg_attrs"), ("result", "res_attrs")):
        own = [edit for edit in edits if edit.kind == kind]
        if not own:
            continue
        values = _border(main, kind)
        count = len(values)
        given = list(main.attributes[name]) if name in main.attributes else []
        entries = [{item.name: item.attr for item in given[n]} if n < len(given) else {} for n in range(count)]
        for edit in own:
            if not 0 <= edit.index < count:
                raise CaptureError(f"the program has no {kind} {edit.index}; it has {count}")
            entries[edit.index].pop("sdy.sharding", None)
            if edit.spec is not None:
                # A random key is an array of words, with a dimension more than JAX's.
                tensor = read_tensor(str(values[edit.index].type))
                words = ((),) * (len(tensor[1]) - len(edit.spec) if tensor is not None else 0)
                entries[edit.index]["sdy.sharding"] = _sharding(module, (*edit.spec, *words))
        main.attributes[name] = _mlir.dictionary_attributes(module, entries)
    donate_anew(module)


def _border(main: Any, kind: str) -> Any:
    """The values of all arguments, or of all results."""
    block = main.regions[0].blocks[0]
    return block.arguments if kind == "argument" else block.operations[-1].operation.operands


def _edit_op(module: Any, op: Any, edit: Edit) -> None:
    if edit.kind in ("respec", "remove"):
        if op.name != _CONSTRAINT:
            raise CaptureError(f"operation {edit.index} is a {op.name}, no constraint that could be changed")
        if edit.spec is None:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
        else:
            op.attributes["sharding"] = _sharding(module, edit.spec)
        return
    values = op.results if edit.kind == "constrain" else op.operands
    if edit.spec is None or edit.number >= len(values):
        raise CaptureError(
            f"operation {edit.index} ({op.name}) has no array {edit.number} to constrain, or no sharding"
        )
    _constrain(module, op, values[edit.number], edit)


def _constrain(module: Any, op: Any, value: Any, edit: Edit) -> None:
    is_after = edit.kind == "constrain"
    made = _mlir.insert_op(
        module,
        _CONSTRAINT,
        value,
        {"sharding": _sharding(module, edit.spec or ())},
        anchor=op,
        is_after=is_after,
    )
    if is_after:
        value.replace_all_uses_except(made.results[0], made)
    else:
        op.operands[edit.number] = made.results[0]


def _sharding(module: Any, spec: Dimensions) -> Any:
    axes = {axis.partition(":(")[0] for dimension in spec for axis in dimension}
    dimensions = ", ".join("{" + ", ".join(map(_axis, dimension)) + "}" for dimension in spec)
    return _mlir.parse_attribute(module, f"#sdy.sharding<{_mesh_of(module, axes)}, [{dimensions}]>")


def _axis(axis: str) -> str:
    name, colon, part = axis.partition(":(")
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"{":(" + part if colon else ""}'


def _mesh_of(module: Any, axes: set[str]) -> str:
    """The first mesh of the program that has these axes, as MLIR refers to it."""
    for op in module.body.operations:
        if op.operation.name == "sdy.mesh" and (known := read_mesh(str(op.attributes["mesh"]))) and axes <= set(known):
            return f"@{op.attributes['sym_name']}"
    raise CaptureError(f"no mesh of the program has the axes {', '.join(sorted(axes)) or '(none)'}")


# ---------------------------------------------------------------- compiling


def _stand_ins(devices: Sequence[Device]) -> list[Any]:
    """Devices of this process for those of a record: the same, or as many others of the same hardware."""
    if not devices:
        raise CaptureError("the record does not say which devices the program was compiled for, so it cannot be tried")
    kinds = {(device.platform, device.kind) for device in devices}
    platform, kind = next(iter(kinds))
    local = {device.id: device for device in _jax.local_devices(platform, kind)} if len(kinds) == 1 else {}
    if all(device.id in local for device in devices):
        return [local[device.id] for device in devices]
    if len(local) < len(devices):
        raise CaptureError(
            f"checking compiles the changed program for {len(devices)} {kind or platform} devices, and this process "
            f"has {len(local)} of them; check it in a process that has as many"
        )
    # The same hardware in the same order: groups of devices are then the same positions.
    rank = {number: place for place, number in enumerate(sorted(device.id for device in devices))}
    spare = [local[number] for number in sorted(local)]
    return [spare[rank[device.id]] for device in devices]
