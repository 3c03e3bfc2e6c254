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


def set_name(op: Any, name: str) -> None:
    """Give an op a name; its place in the source is kept."""
    from jaxlib.mlir import ir

    op.location = ir.Location.name(name, childLoc=op.location, context=op.context)


def dictionary_attributes(module: Any, entries: Sequence[dict[str, Any]]) -> Any:
    """A list of dictionaries of attributes, as a function has for its arguments."""
    from jaxlib.mlir import ir

    return ir.ArrayAttr.get([ir.DictAttr.get(entry, module.context) for entry in entries], module.context)


def insert_first(module: Any, text: str) -> None:
    """Inserts an op, given as text, before all others of a module."""
    from jaxlib.mlir import ir

    made = ir.Operation.parse(text, context=module.context)
    ir.InsertionPoint.at_block_begin(module.body).insert(made)


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
