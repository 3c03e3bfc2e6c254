"""One `%pjit` run: the user's code, a capture around it, and the display of its records.

The code gets the cell's file name and line, so that frames point at the cell. Not its job: deciding when to show
(`ipython.cells`).
"""

from __future__ import annotations

import ast
import linecache
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from pjit_inspect import api
from pjit_inspect.ipython.command import ShowOptions
from pjit_inspect.ipython.progress import progress


class Run:
    """An open capture. `close` ends it and keeps its records; `show` displays them."""

    def __init__(self, options: ShowOptions) -> None:
        self._options = options
        self._scope = ExitStack()
        if options.measure and options.times:
            # At its end the profiler's file is read, which may take longer than the code. With `--no-times` outputs are
            # the same in every session, so no line may appear and vanish.
            self._scope.enter_context(progress(get_ipython(), "measuring"))
        self._was_open = False
        self._log = api.Log()
        try:
            self._log = self._scope.enter_context(api.capture(calls=True, measure=options.measure))
            self._was_open = True
        except Exception as error:
            # The user's code runs on, whatever fails here.
            show_note(f"%pjit could not record this run: {error!r}. Your code runs as it would without it")

    def close(self) -> None:
        """End the capture and add its records to the session's log."""
        self._scope.close()
        session = api.session_log()
        # `%pjit on` may have logged the same compile already.
        known = {id(record.data) for record in session}
        session.extend(record for record in self._log if id(record.data) not in known)

    def show(self, failed: bool) -> None:
        """Displays the user's records in full and counts the others; a failed run without records shows nothing."""
        mine = self._log.user_records()
        for record in mine:
            self._show_record(record)
        others = len(self._log) - len(mine)
        if others:
            show_note(_others_text(others, after=bool(mine)))
        elif not mine and not failed and self._was_open:
            nothing = "%pjit: nothing was compiled, and no compiled function was called"
            show_note(f"{nothing}; to run a function, call it: %pjit f(x)")

    def records(self) -> tuple[api.CompileRecord, ...]:
        """The records of the user's own functions."""
        return tuple(self._log.user_records())

    def _show_record(self, record: api.CompileRecord) -> None:
        try:
            show_record(record, self._options)
        except Exception as error:
            # The user's cell has succeeded, and must not look like a failure.
            show_note(f"%pjit could not show {record.name}: {error!r}. Your result is not affected")


def show_record(record: api.CompileRecord, options: ShowOptions) -> None:
    """Displays a record; in a kernel, slow analyses are added when they are done."""

    def shown() -> Any:
        return record.show(options.view, times=options.times)

    handle = display(shown(), display_id=True) if can_change(options) else display(shown())
    if handle is not None:
        api.when_explained(record, lambda: handle.update(shown()))
    show_later_advice(record, options)


def can_change(options: ShowOptions) -> bool:
    """True if an output may change later: in a kernel, and only with times (outputs without them never vary)."""
    return options.times and hasattr(get_ipython(), "kernel")


def show_later_advice(record: api.CompileRecord, options: ShowOptions, *, is_still: bool = False) -> None:
    """Sends advice to a record's display as XLA answers, while no cell runs.

    Only where an output can change later. `is_still` says that the display has no inspector: advice is shown under it.
    """
    if options.view != "html" or not can_change(options):
        return
    later = api.later_advice(record, is_still=is_still)
    if later is not None:
        handle = display(later.at_first, raw=True, display_id=True)
        if handle is not None:
            later.tell(lambda bundle: handle.update(bundle, raw=True))


def _others_text(count: int, *, after: bool) -> str:
    programs = "1 program" if count == 1 else f"{count} programs"
    if after:
        return f"and {programs} of eager operations and libraries: %pjit log"
    return f"{programs} of eager operations and libraries, none of your own functions: %pjit log"


def show_note(text: str) -> None:
    """Displays one line of plain text."""
    bundle: dict[str, Any] = {"text/plain": text}
    display(bundle, raw=True)


# The modules between the user's line and this one: IPython's machinery, and this room.
_MACHINERY = ("IPython.", "pjit_inspect.ipython.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Program:
    """Compiled code.

    Attributes:
      statements: the code to run first, or None.
      value: the expression at the end, whose value is the result; None when the code ends in a statement.
    """

    statements: CodeType | None
    value: CodeType | None


def compile_code(shell: Any, source: str, *, skip_lines: int = 0) -> _Program:
    """Compiles the user's code, magics and all, without running it.

    The first line of `source` gets the caller's line number plus `skip_lines`. Raises SyntaxError as a plain cell does.
    """
    caller = _calling_frame()
    file, above = caller.f_code.co_filename, caller.f_lineno - 1 + skip_lines
    try:
        # Blank lines on top give every node, and a syntax error, its line number in the cell.
        tree = shell.compile.ast_parse("\n" * above + shell.transform_cell(source), file)
        body = shell.transform_ast(tree).body
        last = body.pop().value if body and isinstance(body[-1], ast.Expr) else None
        return _Program(
            statements=shell.compile(ast.Module(body, []), file, "exec") if body else None,
            value=None if last is None else shell.compile(ast.Expression(last), file, "eval"),
        )
    except SyntaxError as error:
        # With the cell's name, IPython would print the cell's line, the translated magic, above the caret.
        error.filename = "<%pjit>"
        # It also prints every frame of the traceback: leave out those in here.
        error.__traceback__ = None
        raise


def run_program(shell: Any, program: _Program, local_ns: dict[str, Any] | None) -> Any:
    """Runs compiled code once; gives the value of its last expression, or None when it ends in a statement.

    `local_ns` holds the caller's variables. Errors pass through with the user's frames alone.
    """
    __tracebackhide__ = True
    names, local = _namespaces(shell, local_ns)
    try:
        if program.statements is not None:
            exec(program.statements, names, local)
        return None if program.value is None else eval(program.value, names, local)
    except BaseException as error:
        error.__traceback__ = _inner(error.__traceback__)
        raise


def _namespaces(shell: Any, local_ns: dict[str, Any] | None) -> tuple[dict[str, Any], Any]:
    if local_ns is None or local_ns is shell.user_ns:
        return shell.user_global_ns, shell.user_ns
    # In a function: a lambda or comprehension in the code looks names up among the globals only.
    return {**shell.user_ns, **local_ns}, local_ns


def _inner(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the first function that the code called; the code's frame repeats the cell's line."""
    code = traceback.tb_next if traceback else None
    return code.tb_next or code if code else traceback


def is_whole_statement() -> bool:
    """True when the magic is a whole statement, False when its value is assigned (`y = %pjit f(x)`)."""
    caller = _calling_frame()
    line = linecache.getline(caller.f_code.co_filename, caller.f_lineno).lstrip()
    return not line or line.startswith("get_ipython().")


def _calling_frame() -> FrameType:
    frame = sys._getframe(1)  # noqa: SLF001
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_MACHINERY):
        frame = frame.f_back
    return frame
