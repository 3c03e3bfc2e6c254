"""Texts that only jaxlib can print: StableHLO from bytecode, HLO from its proto.

Not its job: reading HLO for analysis (`parse`).
"""

from __future__ import annotations

__all__ = ["hlo_text", "stablehlo_text"]


def stablehlo_text(bytecode: bytes) -> str:
    """MLIR bytecode as text, with source locations."""
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir

    with mlir.make_ir_context():
        module = ir.Module.parse(bytecode)
        return module.operation.get_asm(enable_debug_info=True, large_elements_limit=16)


def hlo_text(proto: bytes) -> str:
    """A serialized `xla.HloModuleProto` as XLA prints it."""
    from jax._src.lib import _jax

    return _jax.HloModule.from_serialized_hlo_module_proto(proto).to_string()
