"""Runs the code of a `%pjit` line as if it stood in the cell itself.

The code gets the cell's file name and line, so that frames point at the cell. Not its job: capturing.
"""

from __future__ import annotations

import ast
import linecache
import sys
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any

__all__ = ["Program", "compile_code", "is_whole_statement", "run_program"]

# The modules between the user's line and us: IPython's machinery, and this room.
_MACHINERY = ("IPython.", "pjit_inspect.ipython.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Compiled code.

    Attributes:
      statements: what runs first, or None.
      value: the expression at the end whose value counts, or None when the code ends in a statement.
    """

    statements: CodeType | None
    value: CodeType | None


def compile_code(shell: Any, source: str, *, skip_lines: int = 0) -> Program:
    """Compile the user's code, magics and all, without running it.

    The first line of `source` counts as the line the caller is on, plus `skip_lines`. Raises SyntaxError as a plain
    cell would.
    """
    caller = _calling_frame()
    file, above = caller.f_code.co_filename, caller.f_lineno - 1 + skip_lines
    try:
        # Blank lines on top give every node, and a syntax error, its right line number.
        tree = shell.compile.ast_parse("\n" * above + shell.transform_cell(source), file)
        body = shell.transform_ast(tree).body
        last = body.pop().value if body and isinstance(body[-1], ast.Expr) else None
        return Program(
            statements=shell.compile(ast.Module(body, []), file, "exec") if body else None,
            value=None if last is None else shell.compile(ast.Expression(last), file, "eval"),
        )
    except SyntaxError as error:
        # Under the cell's name IPython would print the cell's line, which holds the translated magic, above the caret.
        error.filename = "<%pjit>"
        # It also prints every frame that a syntax error passed: leave out those in here.
        error.__traceback__ = None
        raise


def run_program(shell: Any, program: Program, local_ns: dict[str, Any] | None) -> Any:
    """Run compiled code once and return the value of its last expression, or None when it ends in a statement.

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
    """The traceback from the first function the code called; the code's own frame repeats the cell's line."""
    code = traceback.tb_next if traceback else None
    return code.tb_next or code if code else traceback


def is_whole_statement() -> bool:
    """True when the magic is a statement of its own, False when its value is assigned (`y = %pjit f(x)`)."""
    caller = _calling_frame()
    line = linecache.getline(caller.f_code.co_filename, caller.f_lineno).lstrip()
    return not line or line.startswith("get_ipython().")


def _calling_frame() -> FrameType:
    frame = sys._getframe(1)  # noqa: SLF001
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_MACHINERY):
        frame = frame.f_back
    return frame
