"""A captured program on a mesh of other sizes: the one line that says them is edited, and nothing else.

StableHLO has global shapes and names its mesh once, so that XLA's partitioner makes of the edited program what it would
make of the function lowered anew, unless the function itself read the sizes: a body of `shard_map` has the shapes of
one shard. Such programs are refused with the reason. Not its job: other shardings (`observe.shardy.what_if`).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pjit_inspect.errors import ChangeError
from pjit_inspect.model.program.spec import Dimensions, spec_text
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.device_groups import regrouped, repaired
from pjit_inspect.observe.shardy.how_compiled import count_partitions, has_gspmd_marks
from pjit_inspect.observe.shardy.shardy_attributes import read_mesh, read_names, read_shardings, read_tensor

__all__ = ["check_divides", "custom_calls", "mesh_axes", "operations", "remeshed"]

_MESH = "sdy.mesh"
_MANUAL = "sdy.manual_computation"
_CUSTOM_CALL = "stablehlo.custom_call"
_PARTITIONS = "mhlo.num_partitions"
_EVERYWHERE = frozenset(("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"))
"""Custom calls that XLA knows on every platform."""
_PARTITION = "stablehlo.partition_id"
_NUMBERED = {"replica_groups": regrouped, "source_target_pairs": repaired}
_MOST_SHOWN = 4


def mesh_axes(bytecode: bytes) -> dict[str, int]:
    """The axes of the mesh that a captured program names, outermost first, with their sizes; {} for one device.

    Raises ChangeError when it names none and is for several, or several with other axes.
    """
    with _mlir.open_module(bytecode) as module:
        if count_partitions(module) == 1 and not _meshes(module):
            return {}
        return _axes(module, bytecode)


def remeshed(bytecode: bytes, sizes: Mapping[str, int]) -> bytes:
    """The same program for a mesh of these axes, outermost first.

    Axes that the program does not know are new: nothing is sharded over them. Axes of its own that are not given are
    dropped, which is the same as one of size 1.

    Raises ChangeError with the reason where the program has the old sizes in its shapes.
    """
    with _mlir.open_module(bytecode) as module:
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
        text = ", ".join(f"{json.dumps(name, ensure_ascii=False)}={size}" for name, size in after.items())
        for own in _meshes(module):
            own.attributes["mesh"] = _mlir.parse_attribute(module, f"#sdy.mesh<[{text}]>")
        attributes = module.operation.attributes
        attributes[_PARTITIONS] = _mlir.parse_attribute(module, f"{math.prod(after.values())} : i32")
        return _mlir.bytecode(module)


def check_divides(bytecode: bytes, names: Mapping[str, str]) -> None:
    """Raise ChangeError when an argument or result is not divided by its axes, as `jax.jit` would.

    `names` are the user's names of the arguments and results, by JAX's place: "argument 0", "result 1".
    """
    with _mlir.open_module(bytecode) as module:
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
    """The names of all operations of a program, in an order of its own: what it does, whatever its shapes."""
    with _mlir.open_module(bytecode) as module:
        return [op.name for op in _mlir.each_op(module.operation)]


# ---------------------------------------------------------------- reading


def _meshes(module: Any) -> list[Any]:
    """The meshes that have axes; one without stands for a single device."""
    own = [view.operation for view in module.body.operations if view.operation.name == _MESH]
    return [op for op in own if read_mesh(str(op.attributes["mesh"]))]


def _axes(module: Any, bytecode: bytes) -> dict[str, int]:
    known = [read_mesh(str(op.attributes["mesh"])) for op in _meshes(module)]
    if not known or has_gspmd_marks(module, bytecode):
        raise ChangeError(
            "the program names no mesh: it was made for one device, or for GSPMD (`jax_use_shardy_partitioner` off), "
            "where shardings are tiles; its mesh cannot be changed in a copy"
        )
    if any(own != known[0] or list(own) != list(known[0]) for own in known):
        texts = "; ".join(" x ".join(f"{name}={size}" for name, size in own.items()) for own in known)
        raise ChangeError(f"the program uses {len(known)} meshes ({texts}), and only one can be changed")
    return known[0]


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
    """Name the devices of the new mesh where a body of `shard_map` names those of the old one."""
    for op in _mlir.each_op(module.operation):
        if op.name == _PARTITION:
            raise ChangeError(
                "a `shard_map` computes with its device's number (`jax.lax.axis_index`), which is another one on "
                "another mesh; trace the function on the new mesh with pjit_inspect.inspect(fn, *args)"
            )
        for name, renumbered in _NUMBERED.items():
            if name not in op.attributes:
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
                yield f"{kind} {index}", tensor[1], read[0].dimensions


def _pieces(spec: Dimensions, sizes: Mapping[str, int]) -> list[int]:
    return [math.prod(_size(axis, sizes) for axis in axes) for axes in spec]


def _size(axis: str, sizes: Mapping[str, int]) -> int:
    name, _, part = axis.partition(":(")
    return int(part.partition(")")[2]) if part else sizes.get(name, 1)
