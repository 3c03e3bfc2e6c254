"""Calls of an optimized program back into Python.

Only custom calls are found: on TPU callbacks are sends and receives, which are not. Not its job: other custom calls
(`analyze.program.custom_calls`).

*Source*: `jax/_src/callback.py`, `jax/_src/debugging.py` (primitives), `emit_python_callback` in
`jax/_src/interpreters/mlir.py` (targets).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pjit_inspect.analyze.program.loops import count_runs
from pjit_inspect.analyze.program.phases import split_op_names
from pjit_inspect.analyze.program.source import user_frames
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.report.host_callback import CallbackTable, HostCallback

__all__ = ["find_callbacks"]

_KINDS: Mapping[str, Literal["pure", "io", "debug"]] = {
    "pure_callback": "pure",
    "io_callback": "io",
    "debug_callback": "debug",
    "debug_print": "debug",
}
"""JAX's primitive -> what kind of callback it is."""


def find_callbacks(module: HloModule, cells: Mapping[str, str] | None = None) -> CallbackTable:
    """Every call back into Python, in schedule order; `cells` is file -> how the notebook calls the cell."""
    found = sorted(module.with_opcode("custom-call").tolist(), key=lambda row: module.places[row])
    calls = [module.instruction(row) for row in found]
    runs = count_runs(module) if calls else ()
    rows = []
    for call in calls:
        if "python" not in call.details.custom_call_target or "callback" not in call.details.custom_call_target:
            continue
        often = runs[call.computation.index]
        rows.append(
            HostCallback(
                kind=_kind(call.op_name),
                ordered=any(leaf.dtype == "token" for operand in call.operands for leaf in operand.shape.leaves),
                name=call.name,
                target=call.details.custom_call_target,
                op_name=call.op_name,
                source=user_frames(module.frames(call.index), cells or {}),
                count=often.most,
                count_min=often.least,
                operand_bytes=_bytes(operand.shape for operand in call.operands),
                result_bytes=_bytes((call.shape,)),
            )
        )
    return CallbackTable(tuple(rows))


def _kind(op_name: str) -> Literal["pure", "io", "debug"] | None:
    kinds: set[Literal["pure", "io", "debug"] | None]
    kinds = {_KINDS.get(name.rpartition("/")[2].partition("[")[0]) for name in split_op_names(op_name)}
    return kinds.pop() if len(kinds) == 1 else None


def _bytes(shapes: Iterable[Shape]) -> int | None:
    """Bytes of all arrays; a token has none."""
    sizes = [leaf.bytes for shape in shapes for leaf in shape.leaves if leaf.is_array]
    return None if None in sizes else sum(size for size in sizes if size is not None)
