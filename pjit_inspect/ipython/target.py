"""`%pjit --target`: compiles the recorded programs once more, for other devices, and shows them.

Not its job: compiling (`api`), or the user's call, which has run by then.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from IPython.core.error import UsageError
from IPython.display import display

from pjit_inspect import api
from pjit_inspect.errors import PjitInspectError
from pjit_inspect.ipython.command import ShowOptions, TargetOptions
from pjit_inspect.ipython.progress import progress
from pjit_inspect.ipython.run import show_note
from pjit_inspect.view.document.printable import printable


def check_target(options: ShowOptions) -> None:
    """Raises UsageError for an unknown target, before anything runs."""
    try:
        if options.target is not None and options.target.name is not None:
            api.check_target(options.target.name)
    except PjitInspectError as error:
        raise UsageError(str(error)) from None


def show_for_target(shell: Any, records: Iterable[api.CompileRecord], options: ShowOptions) -> None:
    """Compiles each record's program for the target and shows it; never raises.

    An interrupt ends the wait and the compile.
    """
    asked = options.target
    if asked is None:
        return
    for record in records:
        name, where = printable(record.name), asked.words
        try:
            with progress(shell, f"compiling {name} for {where}"):
                other = record.what_if(mesh=asked.mesh, target=asked.name, effort=asked.effort)
                shown = other.show(options.view, times=options.times)
            display(shown)
        except KeyboardInterrupt:
            show_note(f"%pjit: compiling {name} for {where} was interrupted")
            return
        except PjitInspectError as error:
            show_note(f"%pjit: {name} is not compiled for {where}: {error}{_hint(asked)}")
        except Exception as error:
            show_note(f"%pjit could not compile {name} for {where}: {error!r}. Your result is not affected")


def _hint(asked: TargetOptions) -> str:
    return "" if asked.mesh else ". On this line a mesh is --mesh data=4,model=4"
