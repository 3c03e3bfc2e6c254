"""Opens, transforms, reads and edits MLIR modules through jaxlib's bindings.

Parts that are private to JAX or differ between versions are here. Not its job: choosing passes, or reading and editing
(`observe.shardy.propagation`, `observe.shardy.what_if`).
"""

from __future__ import annotations

import functools
import io
from collections.abc import Collection, Iterator, Sequence
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


def each_op(op: Any, closed: Collection[str] = ()) -> Iterator[Any]:
    """Every op in the regions of an op, at any depth, except in regions of `closed` kinds."""
    border = [op]
    while border:
        for region in border.pop().regions:
            for block in region.blocks:
                for view in block.operations:
                    inner = view.operation
                    yield inner
                    if len(inner.regions) and inner.name not in closed:
                        border.append(inner)


def run_passes(module: Any, passes: Sequence[str]) -> None:
    """Run MLIR passes on a module, in place. Raises RuntimeError when one fails or jaxlib does not have it."""
    from jaxlib.mlir import ir, passmanager

    try:
        manager = passmanager.PassManager.parse(f"builtin.module({','.join(passes)})", context=module.context)
        # The names of origins do not verify in loops (JAX 0.10); the shardings themselves do.
        manager.enable_verifier(False)
        manager.run(module.operation)
    except (ir.MLIRError, ValueError) as error:
        raise RuntimeError(str(error)) from error


def verify(module: Any) -> None:
    """Check that a module is well formed. Raises RuntimeError with the fault (MLIRError is no RuntimeError)."""
    from jaxlib.mlir import ir

    try:
        module.operation.verify()
    except ir.MLIRError as error:
        raise RuntimeError(str(error)) from error


@functools.cache
def has_pass(name: str) -> bool:
    """Whether jaxlib has an MLIR pass of this name."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import passmanager

    try:
        passmanager.PassManager.parse(f"builtin.module({name})", context=mlir.make_ir_context())
    except ValueError:
        return False
    return True


def insertion_point_before(op: Any) -> Any:
    """The place right before an MLIR op."""
    from jaxlib.mlir import ir

    return ir.InsertionPoint(op)


def named_computation(module: Any, call: Any, *, name: str) -> Any:
    """A `sdy.named_computation` right before a call, with its operands, results and location, and an empty region."""
    from jaxlib.mlir import ir

    return ir.Operation.create(
        "sdy.named_computation",
        results=[result.type for result in call.results],
        operands=list(call.operands),
        attributes={"name": ir.StringAttr.get(name, module.context)},
        regions=1,
        loc=call.location,
        ip=ir.InsertionPoint(call),
    )


def return_from_region(function_return: Any) -> None:
    """Replace a `func.return` by a `sdy.return` of the same values."""
    from jaxlib.mlir import ir

    ir.Operation.create(
        "sdy.return",
        operands=list(function_return.operands),
        loc=function_return.location,
        ip=ir.InsertionPoint(function_return),
    )
    function_return.erase()


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


def set_name(op: Any, name: str, *, keep_place: bool = False) -> None:
    """Give an op a name, and make it all that the op says about its place in the source, unless that is kept."""
    from jaxlib.mlir import ir

    op.location = ir.Location.name(name, childLoc=op.location if keep_place else None, context=op.context)


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


def replace_op(op: Any, name: str) -> None:
    """Put an op of another name in the place of one with a single result: same operands, type and location."""
    from jaxlib.mlir import ir

    with op.context:
        made = ir.Operation.create(
            name,
            results=[op.results[0].type],
            operands=list(op.operands),
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
    op.results[0].replace_all_uses_with(made.results[0])
    op.erase()
