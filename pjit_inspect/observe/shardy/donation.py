"""Donated arguments of a changed copy, given to its results as JAX gives them when it lowers the function anew.

JAX writes the result beside an argument of the same piece on a device, or leaves the choice to XLA. A copy whose pieces
have other sizes would keep pairs that XLA refuses. *Source*: `_set_up_aliases` in `jax/_src/interpreters/mlir.py`. Not
its job: which results XLA chooses (`analyze.program.device_memory`).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.shardy_attributes import read_mesh, read_shardings, read_tensor

_REUSED, _DONOR = "tf.aliasing_output", "jax.buffer_donor"
_SHARDING = "sdy.sharding"

Piece = tuple[str, tuple[int, ...]]
Attributes = dict[str, Any]


def donate_anew(module: Any) -> None:
    """Pair donated arguments and results again, where a pair is of two sizes now, or XLA chooses its result's."""
    main = _mlir.main_function(module)
    if main is None or "arg_attrs" not in main.attributes:
        return
    block = main.regions[0].blocks[0]
    returned = block.operations[len(block.operations) - 1].operation.operands
    entries, given = _attributes(main, "arg_attrs", block.arguments), _attributes(main, "res_attrs", returned)
    sizes = {
        name: size
        for view in module.body.operations
        if view.operation.name == "sdy.mesh"
        for name, size in read_mesh(str(view.operation.attributes["mesh"])).items()
    }
    arguments = [_piece(own, value, sizes) for own, value in zip(entries, block.arguments, strict=True)]
    results = [_piece(own, value, sizes) for own, value in zip(given, returned, strict=True)]
    pairs = {index: int(str(own[_REUSED]).partition(" ")[0]) for index, own in enumerate(entries) if _REUSED in own}
    if all(_SHARDING in given[result] and arguments[index] == results[result] for index, result in pairs.items()):
        return
    waiting: dict[Piece | None, deque[int]] = {}
    for index, own in enumerate(entries):
        if _REUSED in own or _DONOR in own:
            own.pop(_REUSED, None)
            own[_DONOR] = _mlir.parse_attribute(module, "true")
            waiting.setdefault(arguments[index], deque()).append(index)
    for result, piece in enumerate(results):
        if piece is not None and waiting.get(piece):
            own = entries[waiting[piece].popleft()]
            if _SHARDING in given[result]:
                del own[_DONOR]
                own[_REUSED] = _mlir.parse_attribute(module, f"{result} : i32")
    main.attributes["arg_attrs"] = _mlir.dictionary_attributes(module, entries)


def _attributes(main: Any, name: str, values: Any) -> list[Attributes]:
    given = list(main.attributes[name]) if name in main.attributes else [()] * len(values)
    return [{item.name: item.attr for item in own} for own in given]


def _piece(own: Attributes, value: Any, sizes: Mapping[str, int]) -> Piece | None:
    """The element type and the shape on one device; the whole where no sharding is given, as JAX compares it."""
    tensor = read_tensor(str(value.type))
    if tensor is None:
        return None
    read = read_shardings(str(own[_SHARDING])) if _SHARDING in own else ()
    spec = read[0] if read else ()
    pieces = [math.prod(_size(axis, sizes) for axis in axes) for axes in spec]
    pieces += [1] * (len(tensor[1]) - len(pieces))
    return tensor[0], tuple(-(-length // count) for length, count in zip(tensor[1], pieces, strict=False))


def _size(axis: str, sizes: Mapping[str, int]) -> int:
    name, _, part = axis.partition(":(")
    return int(part.partition(")")[2]) if part else sizes.get(name, 1)
