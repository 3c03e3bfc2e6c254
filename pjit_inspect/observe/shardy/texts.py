"""Texts that only jaxlib can print: StableHLO from bytecode, HLO from its proto.

Apart from `mlir_process`, which must load where there is no JAX. Not its job: reading HLO for analysis (`parse`).
"""

from __future__ import annotations

from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.shardy import _mlir


def stablehlo_text(bytecode: bytes) -> str:
    """MLIR bytecode as text, with source locations; constants of more than 16 elements are shortened."""
    with _mlir.open_module(bytecode) as module:
        return str(module.operation.get_asm(enable_debug_info=True, large_elements_limit=16))


def hlo_text(proto: bytes) -> str:
    """A serialized `xla.HloModuleProto` as XLA prints it."""
    return _jax.hlo_module(proto).to_string()
