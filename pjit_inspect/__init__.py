"""pjit_inspect: see what `jax.jit` made of a sharded program, inside the notebook.

Importing this package imports neither jax nor a notebook; the names below load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from pjit_inspect.api import CompileRecord as CompileRecord
    from pjit_inspect.api import Diff as Diff
    from pjit_inspect.api import ErrorExplanation as ErrorExplanation
    from pjit_inspect.api import History as History
    from pjit_inspect.api import Ledger as Ledger
    from pjit_inspect.api import LiveArrays as LiveArrays
    from pjit_inspect.api import Merged as Merged
    from pjit_inspect.api import Playground as Playground
    from pjit_inspect.api import Targets as Targets
    from pjit_inspect.api import calibrate as calibrate
    from pjit_inspect.api import diff as diff
    from pjit_inspect.api import explain_error as explain_error
    from pjit_inspect.api import inspect as inspect
    from pjit_inspect.api import ledger as ledger
    from pjit_inspect.api import live_arrays as live_arrays
    from pjit_inspect.api import load as load
    from pjit_inspect.api import merge as merge
    from pjit_inspect.api import open as open  # noqa: A004
    from pjit_inspect.api import playground as playground
    from pjit_inspect.api import search as search
    from pjit_inspect.api import targets as targets
    from pjit_inspect.handles.session.log import Log as Log
    from pjit_inspect.handles.session.no_compile import no_compile as no_compile
    from pjit_inspect.handles.session.session import capture as capture
    from pjit_inspect.handles.session.session import session_log as session_log
    from pjit_inspect.handles.session.session import start as start
    from pjit_inspect.handles.session.session import stop as stop

_API = (
    "CompileRecord",
    "Diff",
    "ErrorExplanation",
    "History",
    "Ledger",
    "LiveArrays",
    "Merged",
    "Playground",
    "Targets",
    "calibrate",
    "diff",
    "explain_error",
    "inspect",
    "ledger",
    "live_arrays",
    "load",
    "merge",
    "open",
    "playground",
    "search",
    "targets",
)
# Apart: a program that is only captured imports no analysis and no view, which take most of a second.
_SESSION = ("Log", "capture", "session_log", "start", "stop")
_ERRORS = (
    "CaptureError",
    "ChangeError",
    "CheckFailedError",
    "NothingMatchedError",
    "ParseError",
    "PjitInspectError",
    "RecordNotFoundError",
    "UnexpectedCompileError",
    "UnknownAnswerError",
    "VersionError",
)

__all__ = ["no_compile", *_SESSION, *_API, *_ERRORS]


def __getattr__(name: str) -> Any:
    if name in _API:
        from pjit_inspect import api

        return getattr(api, name)
    if name in _SESSION:
        from pjit_inspect.handles.session import session

        return getattr(session, name)
    if name == "no_compile":
        from pjit_inspect.handles.session.no_compile import no_compile

        return no_compile
    if name == "testing":
        # A module, so that `pi.testing.assert_collectives` needs no import of its own.
        from importlib import import_module

        return import_module("pjit_inspect.testing")
    if name in _ERRORS:
        from pjit_inspect import errors

        return getattr(errors, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def load_ipython_extension(shell: Any) -> None:
    """Make `%pjit` known to a running IPython; what `%load_ext pjit_inspect` calls."""
    from pjit_inspect.ipython.floors import warn_of_older_versions

    # Before the extension is imported, which may fail where something is too old.
    warn_of_older_versions()
    from pjit_inspect.ipython.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Undo exactly what loading changed; what `%unload_ext pjit_inspect` calls."""
    from pjit_inspect.ipython.extension import unload

    unload(shell)
