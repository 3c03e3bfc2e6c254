"""Tasks of a helper process that may crash jaxlib: reading MLIR and HLO of a file.

It needs only jaxlib. Not its job: asking (`mlir_process`).
"""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from pjit_inspect.observe.apart.tasks import Made
from pjit_inspect.observe.shardy import _mlir, how_compiled

# JAX 0.10 moved it to a module of its own.
try:
    from jaxlib import _hlo as _home  # type: ignore[attr-defined]
except ImportError:
    from jaxlib import _jax as _home  # type: ignore[attr-defined]


def print_hlo(question: dict[str, Any], blobs: list[bytes]) -> Made:
    """A serialised `xla.HloModuleProto` as XLA prints it."""
    text = _home.HloModule.from_serialized_hlo_module_proto(blobs[0]).to_string()
    return Made({}, (text.encode("utf-8", "surrogatepass"),))


def read_borders(question: dict[str, Any], blobs: list[bytes]) -> Made:
    """The arguments and results of a program before optimization, and the program as bytecode."""
    with _context():
        # Text may be what MLIR's assertions were not made for, as bytecode may.
        module = ir.Module.parse(blobs[0] if question["is_bytecode"] else blobs[0].decode("utf-8", "replace"))
        return Made(how_compiled.read_borders(module), (_mlir.bytecode(module),))


def _context() -> Any:
    """A context with the dialects JAX's programs have; made without JAX, which takes longer to import."""
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext  # type: ignore[attr-defined]
    from jaxlib.mlir.dialects import chlo, mhlo, mpmd, sdy, stablehlo

    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (sdy, mpmd, chlo, stablehlo):
        dialect.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    return context
