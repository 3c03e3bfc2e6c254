"""Finds the source of an error of JAX's: the user's line, and the arrays in it.

Reads the traceback of an exception that has been raised: the variables of its frames, never an array's data. What is
returned are strings and numbers, so that it keeps none of them alive. Best effort: what cannot be found is left out.
Not its job: the message (`analyze.errors.table`), how code names its operands (`observe.errors.operands`).
"""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from types import CodeType, FrameType, TracebackType
from typing import Any

import jax

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.explained_error import ErrorArgument, ErrorScene
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.errors.calls import (
    computed_names,
    deleted_names,
    find_arguments,
    find_choice,
    find_specs,
    find_statement,
    is_mapped,
    jax_name,
    takers,
)
from pjit_inspect.observe.errors.check import Trial
from pjit_inspect.observe.errors.functions import find_functions
from pjit_inspect.observe.errors.mesh_axes import find_meshes
from pjit_inspect.observe.errors.operands import Expression, find_operands, magic_text, read_expression
from pjit_inspect.observe.live.frames import (
    cell_name,
    is_jax_file,
    is_our_file,
    is_user_file,
    read_source,
    read_variables,
)

_MOST_LINKS = 10
_MOST_FRAMES = 10_000
_MOST_SEARCHED = 20
_LONGEST_LINE = 400
_FILTERED = "JAX_TRACEBACK_FILTERING=off"
"""The setting that JAX's note names for keeping its frames."""

_TRUTH = "truth value of an array"
"""Words of JAX and numpy for an array that is asked whether it is true."""

_TRACED = (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError, TypeError, IndexError)

Step = tuple[FrameType, int, int]
"""A frame, the line it was on, and the instruction."""


def last_error() -> BaseException | None:
    """The last exception nobody caught, as Python and IPython keep it; None when there is none."""
    # IPython may set the older name alone.
    return getattr(sys, "last_value", None) or getattr(sys, "last_exc", None)


def linked_errors(error: BaseException) -> list[BaseException]:
    """The error, and those it was raised from or while handling, at most ten."""
    found: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and len(found) < _MOST_LINKS and all(link is not other for other in found):
        found.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return found


def user_places(error: BaseException) -> frozenset[tuple[str, int]]:
    """File and line of each frame of the user's that an error went through."""
    steps, mine = _user_steps(error)
    return frozenset((steps[number][0].f_code.co_filename, steps[number][1]) for number in mine)


def error_scene(error: BaseException) -> ErrorScene:
    """Reads the traceback of an error; an empty scene when it has no line of the user's."""
    return read_error(error)[0]


def read_error(error: BaseException) -> tuple[ErrorScene, Trial]:
    """Reads a traceback, and the refused expression, if known, to be tried with changes; that holds variables."""
    steps, mine = _user_steps(error)
    if not mine:
        return ErrorScene(), Trial()
    own, inner = steps[mine[-1]], [frame for frame, _, _ in steps[mine[-1] + 1 :]]
    scene = ErrorScene(
        frame=_frame(own),
        line=_line(own),
        checked=_jax.checked_argument(inner),
        meshes=find_meshes(
            (read_variables(steps[number][0]), _sees(own, steps[number])) for number in reversed(mine[-_MOST_SEARCHED:])
        ),
        # Of `jax.set_mesh`, the last: only there does JAX take a spec without a mesh.
        is_mesh_set=not _jax.context_meshes()[-1].empty,
        is_filtered=_is_filtered(error),
        places=tuple(dict.fromkeys(_place(frame) for frame, _, _ in steps)),
        computed=computed_names(own[0]) if isinstance(error, _TRACED) else (),
    )
    is_library, variables = _is_of_library(inner), read_variables(own[0])
    expression = read_expression(own[0], own[2], own[1]) if not is_library or _is_numpy(inner[0]) else None
    if expression is None:
        return scene if is_library else _with_statement(scene), Trial(variables=variables)
    facts, values = find_operands(expression, variables, inner)
    trial = Trial(expression=expression, variables=variables, values=values, message=str(error))
    if is_library:
        return _with_call(scene, own, expression, variables, asks_truth=False), trial
    deleted = deleted_names(values)
    scene = replace(scene, **facts, deleted=deleted, taken=takers(own[0], own[1], deleted, variables))
    is_of_several = isinstance(error, ValueError) and _TRUTH in str(error.args[:1])
    asks_truth = is_of_several or isinstance(error, jax.errors.TracerBoolConversionError)
    return _with_call(scene, own, expression, variables, asks_truth=asks_truth), trial


def _user_steps(error: BaseException) -> tuple[list[Step], list[int]]:
    """The steps of an error, and which of them are the user's."""
    steps = _steps(error.__traceback__)
    return steps, [number for number, step in enumerate(steps) if is_user_file(step[0].f_code.co_filename)]


def _is_of_library(inner: list[FrameType]) -> bool:
    """Tells whether a library called JAX: then it refused something else than the user's line."""
    file = inner[0].f_code.co_filename if inner else ""
    # What we call for the user is in the user's line.
    return bool(inner) and not is_jax_file(file) and not is_our_file(file) and not _is_magic(inner[0])


def _with_call(
    scene: ErrorScene, step: Step, expression: Expression, variables: dict[str, Any], *, asks_truth: bool
) -> ErrorScene:
    """The scene with the text of the expression and of its arguments; of what asks for its truth, if that failed."""
    choice = find_choice(scene.line, expression.exact(expression.node)) if asks_truth else None
    if choice is not None:
        return _chosen(scene, choice)
    return replace(
        _with_statement(scene), expression=expression.exact(expression.node),
        arguments=find_arguments(expression, variables), specs=find_specs(expression, variables),
        jax_name=jax_name(expression, variables), is_mapped=is_mapped(expression, variables),
        functions=find_functions(expression, variables, step[0].f_code.co_filename, step[1]),
    )  # fmt: skip


def _with_statement(scene: ErrorScene) -> ErrorScene:
    statement, condition = find_statement(scene.line)
    return replace(scene, statement=statement, condition=condition)


def _chosen(scene: ErrorScene, choice: Expression) -> ErrorScene:
    """The scene of a truth that was asked for: what asks is the expression, its parts are the arguments."""
    match choice.node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            operator, parts = "if else", [test, body, orelse]
        case ast.BoolOp(op=op, values=values):
            operator, parts = type(op).__name__.lower(), values
        case ast.UnaryOp(operand=operand):
            operator, parts = "not", [operand]
        case _:
            return scene
    # A comparison is a truth, whatever it is of.
    arguments = tuple(
        ErrorArgument(key=str(place), text=choice.exact(part), type="truth" if isinstance(part, ast.Compare) else "")
        for place, part in enumerate(parts)
    )
    return replace(scene, operator=operator, expression=choice.exact(choice.node), arguments=arguments)


def _sees(own: Step, other: Step) -> bool:
    """Tells whether a line sees the variables of another frame by their names."""
    return own[0] is other[0] or _encloses(other[0].f_code, own[0].f_code)


def _encloses(outer: CodeType, inner: CodeType) -> bool:
    """Tells whether a function is defined within another, and so sees its variables."""
    nested = [const for const in outer.co_consts if isinstance(const, CodeType)]
    return outer.co_name != "<module>" and any(code is inner or _encloses(code, inner) for code in nested)


def _is_numpy(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "numpy"


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_code.co_firstlineno}"


def _is_filtered(error: BaseException) -> bool:
    notes = getattr(error, "__notes__", None)
    # Anybody may have put anything there.
    return isinstance(notes, list) and any(isinstance(note, str) and _FILTERED in note for note in notes)


def _steps(traceback: TracebackType | None) -> list[Step]:
    steps: list[Step] = []
    while traceback is not None and len(steps) < _MOST_FRAMES:
        steps.append((traceback.tb_frame, traceback.tb_lineno, traceback.tb_lasti))
        traceback = traceback.tb_next
    return steps


def _is_magic(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("IPython.")


def _frame(step: Step) -> Frame:
    code = step[0].f_code
    name = cell_name(code.co_filename)
    return Frame(file=code.co_filename, line=step[1] or 0, function=code.co_qualname, cell=name)


def _line(step: Step) -> str:
    source = read_source(step[0].f_code.co_filename)
    text = (source.line(step[1] or 0) if source else None) or ""
    # IPython shows the user's own line; Python knows what became of it.
    text = f"%pjit {magic}" if (magic := magic_text(text)) else text
    return text.strip()[:_LONGEST_LINE]
