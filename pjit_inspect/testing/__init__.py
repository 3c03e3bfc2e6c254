"""Assertions about what `jax.jit` made of a function: in pytest, unittest, notebooks and plain Python.

Each takes a function with arrays or `jax.ShapeDtypeStruct`s, a record, or a log, and raises `CheckFailedError` (an
AssertionError) that says what was expected, what was found, because of what, and what would change it. A check that
matches nothing fails, and what is not known is no success: pass `unknown="ok"` where it may be. Names load on first
use; importing this module imports neither jax nor pytest.

Options that all of them take:
    name: of a log, the function whose records are checked; by default every function of the user's.
    target, mesh, effort: as in `pjit_inspect.inspect`: what the program would be on another machine.
    unknown: "fail" (the default), or "ok".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pjit_inspect.errors import CheckFailedError as CheckFailedError
    from pjit_inspect.errors import NothingMatchedError as NothingMatchedError
    from pjit_inspect.errors import UnknownAnswerError as UnknownAnswerError
    from pjit_inspect.testing.arrays import assert_donated as assert_donated
    from pjit_inspect.testing.arrays import assert_no_full_replication as assert_no_full_replication
    from pjit_inspect.testing.arrays import assert_sharded as assert_sharded
    from pjit_inspect.testing.arrays import assert_specs as assert_specs
    from pjit_inspect.testing.collectives import assert_collectives as assert_collectives
    from pjit_inspect.testing.collectives import assert_no_collectives as assert_no_collectives
    from pjit_inspect.testing.collectives import assert_overlapped as assert_overlapped
    from pjit_inspect.testing.programs import assert_fits as assert_fits
    from pjit_inspect.testing.programs import assert_memory as assert_memory
    from pjit_inspect.testing.programs import assert_no_advice as assert_no_advice
    from pjit_inspect.testing.programs import assert_no_warnings as assert_no_warnings
    from pjit_inspect.testing.programs import assert_same_program as assert_same_program

_HOMES = {
    "assert_collectives": "collectives",
    "assert_no_collectives": "collectives",
    "assert_overlapped": "collectives",
    "assert_donated": "arrays",
    "assert_no_full_replication": "arrays",
    "assert_sharded": "arrays",
    "assert_specs": "arrays",
    "assert_fits": "programs",
    "assert_memory": "programs",
    "assert_no_advice": "programs",
    "assert_no_warnings": "programs",
    "assert_same_program": "programs",
}
_ERRORS = ("CheckFailedError", "NothingMatchedError", "UnknownAnswerError")

__all__ = [*_HOMES, *_ERRORS]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"pjit_inspect.testing.{_HOMES[name]}"), name)
    if name in _ERRORS:
        return getattr(import_module("pjit_inspect.errors"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
