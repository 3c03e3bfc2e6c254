"""The other end of `observe.shardy.mlir_process`: reads a program, runs passes on it or prints it, and again.

A script of its own, which needs jaxlib and nothing else. A request is a line with two lengths, then that many bytes of
a pipeline (or "print HLO") and of a program; an answer is a line with "ok" or "error" and a length, then the program or
a message. It ends with its input. Not its job: which passes, and what to do when it dies.
"""

from __future__ import annotations

import io
import sys
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Answer requests on standard input until it ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    context = _context()
    while header := requests.readline():
        pipeline, bytecode = (requests.read(int(length)) for length in header.split())
        try:
            is_hlo = pipeline == b"print HLO"
            word, content = b"ok", _print_hlo(bytecode) if is_hlo else _run(context, pipeline.decode(), bytecode)
        except Exception as error:
            word, content = b"error", str(error).encode()
        answers.write(b"%s %d\n%s" % (word, len(content), content))
        answers.flush()


def _run(context: Any, pipeline: str, bytecode: bytes) -> bytes:
    from jaxlib.mlir import ir, passmanager

    with context:
        module = ir.Module.parse(bytecode)
        manager = passmanager.PassManager.parse(pipeline, context=context)
        manager.enable_verifier(False)
        manager.run(module.operation)
        out = io.BytesIO()
        module.operation.write_bytecode(file=out)
        return out.getvalue()


def _print_hlo(proto: bytes) -> bytes:
    # JAX 0.10 moved it to a module of its own.
    try:
        from jaxlib import _hlo as home  # type: ignore[attr-defined]
    except ImportError:
        from jaxlib import _jax as home  # type: ignore[attr-defined]
    return home.HloModule.from_serialized_hlo_module_proto(proto).to_string().encode("utf-8", "surrogatepass")


def _context() -> Any:
    """A context with the dialects JAX's programs have; made without JAX, which takes longer to import."""
    from jaxlib.mlir import ir
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


if __name__ == "__main__":
    main()
