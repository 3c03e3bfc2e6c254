"""Loads `%pjit` into a running IPython, and takes it out again.

Loading adds a magic, a matcher, an input transformer and two event callbacks to the shell. Unloading removes exactly
these and restores what had the same names before. The first line of a `%%pjit` cell is translated into a call that
records the rest of the cell; IPython runs the other lines unchanged. A cell magic would get its cell as one string and
would have to run it itself, which costs `await`, line numbers and clean tracebacks. Not its job: what `%pjit` does
(`ipython.magics`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from IPython.core.inputtransformer2 import cell_magic

from pjit_inspect import api
from pjit_inspect.ipython.completer import make_matcher
from pjit_inspect.ipython.magics import PjitMagics

_MAGIC = "pjit"
_ABSENT: Any = object()


def load(shell: Any) -> None:
    """Makes `%pjit` and `%%pjit` known to `shell`; does nothing if they are known already."""
    if PjitMagics.__name__ in shell.magics_manager.registry:
        return
    magics = PjitMagics(shell)
    undo = magics.undo_load
    undo.callback(_remove_item, shell.configurables, magics)
    _register_magic(shell, magics, undo)
    matcher = make_matcher(api.record_names, lambda: tuple(shell.user_ns))
    _append(shell.Completer.custom_matchers, matcher, undo)
    _append(shell.input_transformers_cleanup, translate_first_line, undo)
    magics.cells.watch()
    undo.callback(magics.cells.unwatch)
    undo.callback(magics.stop_session)


def unload(shell: Any) -> None:
    """Undoes `load`: ends what `%pjit on` began and restores the shell. The session's log keeps its records."""
    magics = shell.magics_manager.registry.get(PjitMagics.__name__)
    if magics is not None:
        magics.undo_load.close()
    # There are processes to end only if somebody looked at causes.
    apart = sys.modules.get("pjit_inspect.observe.apart.call")
    if apart is not None:
        apart.end_all()


def _register_magic(shell: Any, magics: PjitMagics, undo: ExitStack) -> None:
    manager = shell.magics_manager
    for table in (manager.magics["line"], manager.magics["cell"]):
        undo.callback(_restore_key(table, _MAGIC))
    undo.callback(_restore_key(manager.registry, PjitMagics.__name__))
    shell.register_magics(magics)


def _restore_key(table: dict[str, Any], key: str) -> Callable[[], None]:
    before = table.get(key, _ABSENT)

    def restore() -> None:
        if before is _ABSENT:
            table.pop(key, None)
        else:
            table[key] = before

    return restore


def _append(items: list[Any], item: Any, undo: ExitStack) -> None:
    items.append(item)
    undo.callback(_remove_item, items, item)


def _remove_item(items: list[Any], item: Any) -> None:
    # By identity: a Configurable may define equality, and the item may have been removed already.
    items[:] = [other for other in items if other is not item]


_FIRST_LINE = re.compile(r"%%pjit(?P<options>[ \t][^\n]*)?\r?\n")


def translate_first_line(lines: list[str]) -> list[str]:
    """The lines of a cell with `%%pjit OPTIONS` on top turned into a call; other cells unchanged.

    One line stays one line. A cell with nothing below `%%pjit` is unchanged, so that IPython refuses it.
    """
    match = _FIRST_LINE.fullmatch(lines[0]) if lines else None
    if match is None or not "".join(lines[1:]).strip():
        return lines
    argument = f"--cell {(match['options'] or '').strip()}".rstrip()
    # The next line may be another cell magic (`%%time`): it is no longer on the cell's first line.
    return [f"get_ipython().run_line_magic('pjit', {argument!r})\n", *cell_magic(translate_first_line(lines[1:]))]


# IPython skips a transformer with side effects when it checks whether typed text is a whole cell. It must: only text
# that begins with `%%` is taken for a cell magic, which a blank line ends.
translate_first_line.has_side_effects = True  # type: ignore[attr-defined]
