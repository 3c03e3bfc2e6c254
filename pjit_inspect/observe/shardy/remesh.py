"""Moves a captured program to a mesh of other sizes: only the line with the sizes is edited.

StableHLO has global shapes and names its mesh once: XLA's partitioner treats the edited program like the function
lowered anew, unless the function itself read the sizes. A body of `shard_map` has the shapes of one shard; these
programs are refused with the reason. Not its job: other shardings (`observe.shardy.what_if`).
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pjit_inspect.errors import ChangeError
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.device_groups import regrouped, repaired
from pjit_inspect.observe.shardy.donation import donate_anew
from pjit_inspect.observe.shardy.how_compiled import count_partitions, count_replicas, has_gspmd_marks
from pjit_inspect.observe.shardy.shardy_attributes import read_mesh, read_names, read_shardings, read_tensor

_MESH = "sdy.mesh"
_MANUAL = "sdy.manual_computation"
_CUSTOM_CALL = "stablehlo.custom_call"
_PARTITIONS = "mhlo.num_partitions"
_EVERYWHERE = frozenset(("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"))
"""Custom calls that XLA knows on every platform."""
_GSPMD_SHARDING = b"mhlo.sharding"
_PARTITION = "stablehlo.partition_id"
_NUMBERED = {"replica_groups": regrouped, "source_target_pairs": repaired}
_BY_AXES = "#stablehlo.replica_group_mesh_axes<"
_SAME_MESH = "stablehlo.mesh"
"""StableHLO's copy of the mesh, for groups of devices that name its axes (JAX 0.12)."""
_MOST_SHOWN = 4


def mesh_axes(bytecode: bytes) -> dict[str, int]:
    """The axes of the mesh that a captured program names, outermost first, with their sizes; {} where it names none.

    Raises ChangeError when it was made for GSPMD, or names several meshes with other axes.
    """
    with _mlir.open_module(bytecode) as module:
        return {} if _names_no_mesh(module, bytecode) else _axes(module, bytecode)


def remeshed(bytecode: bytes, sizes: Mapping[str, int]) -> bytes:
    """The same program for a mesh of these axes, outermost first.

    Axes that the program lacks are new: nothing is sharded over them. Its axes that are not given are dropped, like
    axes of size 1. A program without a mesh gets this one; if it was for one device, every device then gets every
    argument in full. Raises ChangeError with the reason if the program has the old sizes in its shapes.
    """
    with _mlir.open_module(bytecode) as module:
        if _names_no_mesh(module, bytecode):
            _give_mesh(module, sizes)
            return _mlir.bytecode(module)
        before = _axes(module, bytecode)
        after = dict(sizes) | {name: 1 for name in before if name not in sizes}
        changed = {name for name in before if before[name] != after[name]}
        _check_bodies(module, changed, before)
        _check_parts(module, changed)
        if count_partitions(module) != math.prod(before.values()):
            raise ChangeError(
                f"the program has {count_partitions(module)} partitions and its mesh {math.prod(before.values())} "
                f"devices, so the mesh is not all of it and cannot be changed"
            )
        if changed or set(after) != set(before):
            _regroup(module, before, after)
        for own in _meshes(module):
            own.attributes["mesh"] = _mlir.parse_attribute(module, f"#sdy.mesh<{_axes_text(after)}>")
            if _SAME_MESH in own.attributes:
                own.attributes[_SAME_MESH] = _mlir.parse_attribute(module, _same_mesh_text(after))
        _set_partitions(module, after)
        donate_anew(module)
        return _mlir.bytecode(module)


def check_divides(module: Any, names: Mapping[str, str]) -> None:
    """Raise ChangeError when an argument or result is not divided by its axes, as `jax.jit` would.

    `module` is the program, opened; `names` are the user's names of the arguments and results, by JAX's place:
    "argument 0", "result 1".
    """
    sizes = {name: size for own in _meshes(module) for name, size in read_mesh(str(own.attributes["mesh"])).items()}
    wrong = [
        f"{names.get(place, place)} is {list(shape)} and {spec_text(spec)} splits dimension {number} in {pieces}: "
        f"{shape[number]} / {pieces} = {shape[number] / pieces:.4g}"
        for place, shape, spec in _borders(module)
        for number, pieces in enumerate(_pieces(spec, sizes))
        if number < len(shape) and shape[number] % pieces
    ]
    if wrong:
        more = f"; and {len(wrong) - _MOST_SHOWN} more" if len(wrong) > _MOST_SHOWN else ""
        raise ChangeError(
            f"{len(wrong)} dimension{'s do' if len(wrong) > 1 else ' does'} not divide, so jax.jit would refuse the "
            f"call: {'; '.join(wrong[:_MOST_SHOWN])}{more}. Choose sizes that divide, or other specs"
        )


def custom_calls(bytecode: bytes) -> Counter[str]:
    """Target of each custom call that XLA knows on some platforms only -> how many calls."""
    with _mlir.open_module(bytecode) as module:
        targets = (
            next(iter(read_names(str(op.attributes["call_target_name"]))), "")
            for op in _mlir.each_op(module.operation)
            if op.name == _CUSTOM_CALL
        )
        return Counter(name for name in targets if name not in _EVERYWHERE)


def operations(bytecode: bytes) -> list[str]:
    """The names of all operations of a program in a fixed order, independent of its shapes."""
    with _mlir.open_module(bytecode) as module:
        return [op.name for op in _mlir.each_op(module.operation)]


# ---------------------------------------------------------------- reading


def _meshes(module: Any) -> list[Any]:
    """The meshes that have axes; a mesh without axes means a single device."""
    own = [view.operation for view in module.body.operations if view.operation.name == _MESH]
    return [op for op in own if read_mesh(str(op.attributes["mesh"]))]


def _axes(module: Any, bytecode: bytes) -> dict[str, int]:
    known = [read_mesh(str(op.attributes["mesh"])) for op in _meshes(module)]
    if not known or has_gspmd_marks(module, bytecode):
        raise ChangeError(
            "the program names no mesh: it was made for GSPMD (`jax_use_shardy_partitioner` off), where shardings are "
            "tiles, or is one of replicas (`jax.pmap`); its mesh cannot be changed in a copy"
        )
    if any(own != known[0] or list(own) != list(known[0]) for own in known):
        texts = "; ".join(" x ".join(f"{name}={size}" for name, size in own.items()) for own in known)
        raise ChangeError(f"the program uses {len(known)} meshes ({texts}), and only one can be changed")
    return known[0]


def _names_no_mesh(module: Any, bytecode: bytes) -> bool:
    """True if a program has no mesh and no sharding at all: for one device, or whole on each of several.

    Bytecode holds names as they are. With a sharding that only GSPMD understands there is an unnamed mesh.
    """
    return not _meshes(module) and _GSPMD_SHARDING not in bytecode and count_replicas(module) == 1


# ---------------------------------------------------------------- changing


def _give_mesh(module: Any, sizes: Mapping[str, int]) -> None:
    """Write a mesh into a program that names none, as JAX does for arguments replicated over one."""
    symbols = {str(view.operation.attributes["sym_name"]).strip('"') for view in module.body.operations}
    name = next(own for n in itertools.count() if (own := f"mesh_{n}" if n else "mesh") not in symbols)
    _mlir.insert_first(module, f"sdy.mesh @{name} = <{_axes_text(sizes)}>")
    main = _mlir.main_function(module)
    if main is not None and count_partitions(module) == 1:
        _replicate_arguments(module, main, name)
    _set_partitions(module, sizes)


def _replicate_arguments(module: Any, main: Any, mesh: str) -> None:
    arguments = list(main.regions[0].blocks[0].arguments)
    given = list(main.attributes["arg_attrs"]) if "arg_attrs" in main.attributes else [()] * len(arguments)
    entries = [{item.name: item.attr for item in own} for own in given]
    for entry, argument in zip(entries, arguments, strict=True):
        tensor = read_tensor(str(argument.type))
        if tensor is not None:
            whole = ", ".join("{}" for _ in tensor[1])
            entry["sdy.sharding"] = _mlir.parse_attribute(module, f"#sdy.sharding<@{mesh}, [{whole}]>")
    if entries:
        main.attributes["arg_attrs"] = _mlir.dictionary_attributes(module, entries)


def _set_partitions(module: Any, sizes: Mapping[str, int]) -> None:
    count = math.prod(sizes.values())
    module.operation.attributes[_PARTITIONS] = _mlir.parse_attribute(module, f"{count} : i32")


def _axes_text(sizes: Mapping[str, int]) -> str:
    axes = ", ".join(f"{json.dumps(name, ensure_ascii=False)}={size}" for name, size in sizes.items())
    return f"[{axes}]"


def _same_mesh_text(sizes: Mapping[str, int]) -> str:
    axes = (f"{{name = {json.dumps(name, ensure_ascii=False)}, size = {size} : i64}}" for name, size in sizes.items())
    return f"{{axes = [{', '.join(axes)}]}}"


def _check_bodies(module: Any, changed: set[str], before: Mapping[str, int]) -> None:
    """A body of `shard_map` has the shapes of one shard over its manual axes."""
    for op in _mlir.each_op(module.operation):
        if op.name == _MANUAL and (local := changed.intersection(read_names(str(op.attributes["manual_axes"])))):
            axes = ", ".join(f"{name}={before[name]}" for name in before if name in local)
            raise ChangeError(
                f"a `shard_map` is manual over {axes}: the shapes in its body are those of one shard, so the captured "
                f"program holds for these sizes alone; trace the function on the new mesh with "
                f"pjit_inspect.inspect(fn, *args), or change other axes"
            )


def _check_parts(module: Any, changed: set[str]) -> None:
    """A part of an axis, `"x":(1)2`, says its size."""
    text = module.operation.get_asm(large_elements_limit=8) if changed else ""
    for name in sorted(changed):
        if re.search(re.escape(json.dumps(name, ensure_ascii=False)) + r":\(\d+\)", text):
            raise ChangeError(
                f"the program splits a dimension over a part of the axis {name!r}, so its size cannot be changed"
            )


def _regroup(module: Any, before: Mapping[str, int], after: Mapping[str, int]) -> None:
    """Renumbers devices in bodies of `shard_map` for the new mesh."""
    for op in _mlir.each_op(module.operation):
        if op.name == _PARTITION:
            raise ChangeError(
                "a `shard_map` computes with its device's number (`jax.lax.axis_index`), which is another one on "
                "another mesh; trace the function on the new mesh with pjit_inspect.inspect(fn, *args)"
            )
        for name, renumbered in _NUMBERED.items():
            # From JAX 0.12 on most groups name axes, whose sizes cannot have changed within the body: they stay right.
            if name not in op.attributes or str(op.attributes[name]).startswith(_BY_AXES):
                continue
            rows = _mlir.read_integers(op.attributes[name])
            new = None if rows is None else renumbered(rows, before, after)
            if new is None:
                raise ChangeError(
                    f"a `{op.name.rpartition('.')[2]}` in a `shard_map` joins groups of devices by number that follow "
                    f"no axes of unchanged size, so they are not known on another mesh; trace the function on the new "
                    f"mesh with pjit_inspect.inspect(fn, *args), or change other axes"
                )
            op.attributes[name] = _mlir.integers(module, new)


def _borders(module: Any) -> Iterator[tuple[str, tuple[int, ...], Dimensions]]:
    """Place, shape and sharding of each argument and result that has one."""
    main = _mlir.main_function(module)
    block = main.regions[0].blocks[0]
    returned = block.operations[len(block.operations) - 1].operation.operands
    for kind, attribute, values in (("argument", "arg_attrs", block.arguments), ("result", "res_attrs", returned)):
        entries = list(main.attributes[attribute]) if attribute in main.attributes else []
        for index, (entry, value) in enumerate(zip(entries, values, strict=False)):
            read = read_shardings(str(entry["sdy.sharding"])) if "sdy.sharding" in entry else ()
            tensor = read_tensor(str(value.type))
            if read and tensor is not None:
                yield f"{kind} {index}", tensor[1], read[0]


def _pieces(spec: Dimensions, sizes: Mapping[str, int]) -> list[int]:
    return [math.prod(_size(axis, sizes) for axis in axes) for axes in spec]


def _size(axis: str, sizes: Mapping[str, int]) -> int:
    name, _, part = axis.partition(":(")
    return int(part.partition(")")[2]) if part else sizes.get(name, 1)
