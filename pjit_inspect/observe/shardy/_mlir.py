"""Opens, reads and edits MLIR modules through jaxlib's bindings.

Parts that are private to JAX or differ between versions are here. Not its job: what is read and edited
(`observe.shardy.how_compiled`, `observe.shardy.what_if`).
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def open_module(bytecode: bytes) -> Iterator[Any]:
    """MLIR bytecode as a jaxlib module, in a separate context. Raises RuntimeError for invalid bytecode."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        try:
            module = ir.Module.parse(bytecode)
        except ir.MLIRError as error:
            raise RuntimeError(str(error)) from error
        yield module


def text_of(attribute: Any) -> str:
    """The text of a string attribute."""
    return str(attribute).strip('"')


def bytecode(module: Any) -> bytes:
    """A module as MLIR bytecode."""
    out = io.BytesIO()
    module.operation.write_bytecode(file=out)
    return out.getvalue()


def main_function(module: Any) -> Any:
    """The op of the function `main`; None when the module has none."""
    for view in module.body.operations:
        op = view.operation
        if op.name == "func.func" and str(op.attributes["sym_name"]) == '"main"':
            return op
    return None


def each_op(op: Any) -> Iterator[Any]:
    """Every op in the regions of an op, at any depth."""
    border = [op]
    while border:
        for region in border.pop().regions:
            for block in region.blocks:
                for view in block.operations:
                    inner = view.operation
                    yield inner
                    if len(inner.regions):
                        border.append(inner)


def verify(module: Any) -> None:
    """Check that a module is well formed. Raises RuntimeError with the fault (MLIRError is no RuntimeError)."""
    from jaxlib.mlir import ir

    try:
        module.operation.verify()
    except ir.MLIRError as error:
        raise RuntimeError(str(error)) from error


# ---------------------------------------------------------------- editing MLIR


def parse_attribute(module: Any, text: str) -> Any:
    """An attribute from its text. Raises RuntimeError or ValueError (by version) for text that is none."""
    from jaxlib.mlir import ir

    return ir.Attribute.parse(text, module.context)


def read_integers(attribute: Any) -> list[list[int]] | None:
    """The rows of a matrix of integers; None for another attribute."""
    import numpy as np
    from jaxlib.mlir import ir

    try:
        dense = ir.DenseIntElementsAttr(attribute)
    except (TypeError, ValueError):
        return None
    shape = ir.RankedTensorType(dense.type).shape
    return np.array([int(own) for own in dense], dtype=np.int64).reshape(shape).tolist() if len(shape) == 2 else None


def integers(module: Any, rows: Sequence[Sequence[int]]) -> Any:
    """A matrix of 64-bit integers as an attribute; one without rows has pairs."""
    shape = f"{len(rows)}x{len(rows[0]) if rows else 2}"
    numbers = ", ".join(f"[{', '.join(map(str, row))}]" for row in rows)
    return parse_attribute(module, f"dense<[{numbers}]> : tensor<{shape}xi64>")


def set_name(op: Any, name: str, *, is_place_kept: bool = True) -> None:
    """Give an op a name, and leave it its place in the source or take that away."""
    from jaxlib.mlir import ir

    op.location = ir.Location.name(name, childLoc=op.location if is_place_kept else None, context=op.context)


def dictionary_attributes(module: Any, entries: Sequence[dict[str, Any]]) -> Any:
    """A list of dictionaries of attributes, as a function has for its arguments."""
    from jaxlib.mlir import ir

    return ir.ArrayAttr.get([ir.DictAttr.get(entry, module.context) for entry in entries], module.context)


def insert_first(module: Any, text: str) -> None:
    """Inserts an op, given as text, before all others of a module."""
    from jaxlib.mlir import ir

    made = ir.Operation.parse(text, context=module.context)
    ir.InsertionPoint.at_block_begin(module.body).insert(made)


def insert_mark(module: Any, target: str) -> None:
    """Inserts, where `main` returns, a custom call of its arguments and of what it returned; it yields the latter."""
    from jaxlib.mlir import ir

    block = main_function(module).regions[0].blocks[0]
    end = block.operations[len(block.operations) - 1].operation
    returned = list(end.operands)
    with module.context:
        made = ir.Operation.create(
            "stablehlo.custom_call",
            results=[own.type for own in returned],
            operands=[*block.arguments, *returned],
            attributes={"call_target_name": ir.StringAttr.get(target)},
            loc=end.location,
        )
        ir.InsertionPoint(end).insert(made)
    for number, own in enumerate(made.results):
        end.operands[number] = own


def unknown_call(target: str, operands: Sequence[Any], results: Sequence[Any]) -> bytes:
    """The bytecode of a module with a custom call alone; arrays are pairs of NumPy's name of a type and dimensions."""
    import numpy as np
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    def tensor(own: Any) -> str:
        return f"tensor<{''.join(f'{size}x' for size in own[1])}{mlir.dtype_to_ir_type(np.dtype(own[0]))}>"

    with mlir.make_ir_context():
        takes, gives = list(map(tensor, operands)), list(map(tensor, results))
        given = ", ".join(f"%a{number}" for number in range(len(takes)))
        named = ", ".join(f"%a{number}: {own}" for number, own in enumerate(takes))
        made = ", ".join(f"%r#{number}" for number in range(len(gives)))
        types = f"({', '.join(takes)}) -> ({', '.join(gives)})"
        call = f'"stablehlo.custom_call"({given}) {{call_target_name = "{target}"}} : {types}'
        main = f"func.func public @main({named}) -> ({', '.join(gives)})"
        text = f"module {{ {main} {{ %r:{len(gives)} = {call}\n return {made} : {', '.join(gives)} }} }}"
        return bytecode(ir.Module.parse(text))


def insert_op(module: Any, name: str, operand: Any, attributes: dict[str, Any], *, anchor: Any, is_after: bool) -> Any:
    """A new op with one operand and a result of its type, right before or after `anchor`, located as it is."""
    from jaxlib.mlir import ir

    with module.context:
        made = ir.Operation.create(
            name, results=[operand.type], operands=[operand], attributes=attributes, loc=anchor.location
        )
        ir.InsertionPoint(anchor).insert(made)
        if is_after:
            made.move_after(anchor)
    return made
