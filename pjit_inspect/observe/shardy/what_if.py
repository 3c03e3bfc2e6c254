"""Changes a captured program by edits, and compiles the changed program for the devices of this process.

The captured StableHLO is edited, never the user's function, which is not called again. An edit inside the program names
its operation by the number that a copy has (`observe.shardy.numbering`). Not its job: thinking of changes
(`analyze.advice.climb`), or asking XLA's partitioner about one (`observe.partitioner.service`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pjit_inspect.errors import CaptureError
from pjit_inspect.model.program.mesh import Device, Dimensions
from pjit_inspect.model.report.edit import Edit, PlacedEdit
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.donation import donate_anew
from pjit_inspect.observe.shardy.how_compiled import compiler_options, has_gspmd_marks, open_borders
from pjit_inspect.observe.shardy.numbering import numbered
from pjit_inspect.observe.shardy.remesh import check_divides
from pjit_inspect.observe.shardy.shardy_attributes import read_mesh, read_tensor

_CALLBACK = re.compile(r'custom_call @\w*callback\w*|call_target_name = "\w*callback\w*"')
_CONSTRAINT, _LOOP = "sdy.sharding_constraint", "stablehlo.while"


def edit_program(stablehlo: bytes, edits: Sequence[PlacedEdit], *, names: Mapping[str, str] | None = None) -> bytes:
    """The changed program as MLIR bytecode; nothing is compiled.

    Args:
      stablehlo: the program as MLIR bytecode, as JAX gave it to XLA.
      edits: the edits.
      names: the user's names of arguments and results, as `check_divides` takes them; None to check nothing.

    Raises CaptureError when an edit does not fit the program; with `names` also ChangeError when an argument or result
    does not divide.
    """
    if not edits and names is None:
        return stablehlo
    with _mlir.open_module(stablehlo) as module:
        _apply(module, edits, stablehlo)
        if names is not None:
            check_divides(module, names)
        return _mlir.bytecode(module) if edits else stablehlo


def compile_edited(
    stablehlo: bytes, edits: Sequence[PlacedEdit], devices: Sequence[Device], flags: dict[str, str]
) -> bytes:
    """The optimized changed program, as a serialized `xla.HloModuleProto`; nothing runs.

    Args:
      stablehlo: the program as MLIR bytecode, as JAX gave it to XLA.
      edits: as `edit_program` takes them; () compiles the unchanged program.
      devices: the program's devices, in the order of its partitions. Devices of the same hardware replace those
        that this process lacks.
      flags: the record's flags; its compiler options are used again.

    Raises CaptureError if there are too few of these devices, if the program calls back into Python (its callbacks
    are unavailable here), or if XLA refuses the changed program.
    """
    stand_ins = _stand_ins(devices)
    with _mlir.open_module(stablehlo) as module:
        if _CALLBACK.search(module.operation.get_asm(large_elements_limit=8)):
            raise CaptureError(
                "the program calls back into Python, and a changed copy of it cannot be tied to the same "
                "callbacks; make the change in the code and inspect it again"
            )
        _apply(module, edits, stablehlo)
        try:
            _mlir.verify(module)
            return _jax.hlo_proto(_jax.compile_unseen(module, stand_ins, compiler_options(flags), open_borders(module)))
        except RuntimeError as error:
            raise CaptureError(f"XLA does not compile the changed program: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300] if str(error) else type(error).__name__


# ---------------------------------------------------------------- edits


def _apply(module: Any, edits: Sequence[PlacedEdit], stablehlo: bytes) -> None:
    if not edits:
        return
    if has_gspmd_marks(module, stablehlo) or not _names_a_mesh(module):
        raise CaptureError("the program was made for another partitioner than Shardy; only Shardy's can be changed")
    borders = [own.edit for own in edits if own.edit.kind in ("argument", "result")]
    inner = [own for own in edits if own.edit.kind not in ("argument", "result")]
    if borders:
        _edit_borders(module, borders)
    # Those before any edit: what an edit adds has no number.
    ops = list(numbered(module)) if inner else []
    done: set[tuple[str, int, int]] = set()
    for own in inner:
        edit, number = own.edit, own.number
        if not 0 <= number < len(ops):
            raise CaptureError(f"operation {number} is none of the captured program, so it cannot be changed")
        if edit.kind == "hop" or (edit.kind, number, edit.number) not in done:
            # Calls of one function are several ops in XLA's program, and one here.
            done.add((edit.kind, number, edit.number))
            _edit_op(module, ops[number], own)


def _names_a_mesh(module: Any) -> bool:
    return any(view.operation.name == "sdy.mesh" for view in module.body.operations)


def _edit_borders(module: Any, edits: Sequence[Edit]) -> None:
    """Sets shardings of arguments and results, all at once, because programs have thousands."""
    main = _mlir.main_function(module)
    if main is None:
        raise CaptureError("the captured StableHLO has no function 'main'")
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


def _edit_op(module: Any, op: Any, own: PlacedEdit) -> None:
    edit = own.edit
    if edit.kind in ("respec", "remove"):
        if op.name != _CONSTRAINT:
            raise CaptureError(f"operation {own.number} is a {op.name}, no constraint that could be changed")
        if edit.spec is None:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
        else:
            op.attributes["sharding"] = _sharding(module, edit.spec)
        return
    _constrain(module, op, _array(module, op, own), edit)


def _array(module: Any, op: Any, own: PlacedEdit) -> int:
    """The number of the result or operand that gets a constraint.

    XLA makes several instructions of some operations, of which one alone has the operation's result; and it puts what a
    loop carries in another order, and leaves out what no turn changes.
    """
    edit = own.edit
    values = op.results if edit.kind == "constrain" else op.operands
    shapes = [tensor and tensor[1] for tensor in (read_tensor(str(value.type)) for value in values)]
    fitting = [number for number, shape in enumerate(shapes) if shape == own.shape]
    if op.name != _LOOP:
        fitting = [number for number in fitting if number == edit.number]
    elif len(fitting) > 1 and own.argument is not None:
        argument = _mlir.main_function(module).regions[0].blocks[0].arguments[own.argument]
        fitting = [number for number in fitting if op.operands[number] == argument]
    if edit.spec is None or len(fitting) != 1:
        raise CaptureError(f"operation {own.number} ({op.name}) has no array {edit.number} to be split so")
    return fitting[0]


def _constrain(module: Any, op: Any, number: int, edit: Edit) -> None:
    is_after = edit.kind == "constrain"
    value = (op.results if is_after else op.operands)[number]
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
        op.operands[number] = made.results[0]


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
