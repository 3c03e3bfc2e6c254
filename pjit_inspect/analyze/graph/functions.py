"""Refines scopes by the Python functions that operations were written in, from their source frames.

Sixteen layers named only `layerN` become `layerN`, in it `layernorm()`, `attention()` and `mlp()`. A function is placed
below a named scope, or above a scope that lies entirely inside it. Functions that nearly everything was called through
are skipped. If one function does everything, its lines become rows, each with the helpers it calls: a helper called on
two lines is not the only row. Not its job: reading names.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from pjit_inspect.analyze.graph.placing import Placing
from pjit_inspect.analyze.graph.scopes import FORWARD, ROOT, UPDATE, Scopes
from pjit_inspect.analyze.program.source import is_library
from pjit_inspect.model.program.hlo_columns import StackFrames

_COMMON = 0.8
"""A function in more stacks than this share says nothing."""
_WHOLE = 0.9
"""Share of a group above which a function level is skipped, or above which a scope lies inside a function."""
_LEAST = 3
"""Kernels of one function that make a row."""
_ITSELF = 0.5
"""A function that does this share of its work itself, not in functions it calls, has its lines as rows."""
_FEW_LINES = 12
_MOST_LINES = 24
"""Most lines for which each line becomes a row; with more lines, none does."""
_MOST_FRAMES = 64

_Call = tuple[str, int]
"""A function, and the line that calls it."""


class _Strand(NamedTuple):
    """Kernels with one scope and one chain of calls.

    `scopes` and `calls` are those still to come, outermost first; `line` is the line of the innermost function of the
    user's, 0 for unknown.
    """

    scopes: tuple[int, ...]
    calls: tuple[_Call, ...]
    kernels: list[int]
    is_forward: bool
    line: int


def refine_by_functions(placing: Placing, *, has_scopes: bool) -> None:
    """Moves kernels in `placing` to scopes made from Python functions; updates are not moved.

    In a program without scopes, functions become rows directly under the program, and so do the lines of a function
    that does everything itself.
    """
    stack = [(ROOT, _strands(placing))]
    while stack:
        scope, strands = stack.pop()
        for kernel in itertools.chain.from_iterable(strand.kernels for strand in strands):
            placing.scope[kernel] = scope
        has_lines = not has_scopes and placing.scopes.kinds[scope] != "function"
        lines = _lines(strands) if has_lines else {}
        if lines:
            stack += [(_function(placing.scopes, scope, *call), inside) for call, inside in lines.items()]
        else:
            stack += _parts(placing.scopes, scope, strands, is_open=scope != ROOT or not has_scopes)


def _parts(scopes: Scopes, scope: int, strands: list[_Strand], *, is_open: bool) -> list[tuple[int, list[_Strand]]]:
    """Cuts strands by their next scope or call, each part with its scope; those that go no further are omitted.

    Calls come first where all scopes lie inside them; else those kernels that have no further scope are cut by calls.
    """
    strands = _skipped(strands) if is_open else strands
    by_scope = _cut(strands, lambda strand: strand.scopes[:1])
    by_call = _cut(strands, lambda strand: strand.calls[:1]) if is_open else {}
    is_call_first = len(by_call) > 1 and _largest(by_call) > _largest(by_scope) and _lie_inside(by_scope.values())
    if not is_call_first and is_open:
        by_call = _cut(strands, lambda strand: () if strand.scopes else strand.calls[:1])
    parts, taken = [], set[int]()
    for (call,), inside in by_call.items():
        if len(by_call) > 1 and _size(inside) >= _LEAST:
            taken.update(map(id, inside))
            rest = [strand._replace(calls=strand.calls[1:]) for strand in inside]
            parts.append((_function(scopes, scope, *call), rest))
    for (row,), inside in by_scope.items():
        rest = [strand._replace(scopes=strand.scopes[1:]) for strand in inside if id(strand) not in taken]
        if rest:
            parts.append((scopes.child(scope, scopes.names[row], scopes.kinds[row]), rest))
    return parts


def _lines(strands: list[_Strand]) -> dict[_Call, list[_Strand]]:
    """The strands by the line of the function that does everything; {} where there is none, or it has one line.

    A line that only calls one function has its name.
    """
    strands = [strand._replace(calls=strand.calls[:1]) for strand in _skipped(strands)]
    direct = _size(strand for strand in strands if not strand.calls)
    if any(strand.scopes for strand in strands) or direct < max(_LEAST, _ITSELF * _size(strands)):
        return {}
    by_line = _cut(strands, lambda strand: strand.calls[0][1:] if strand.calls else (strand.line,))
    known = {line: inside for (line,), inside in by_line.items() if line}
    least = 1 if len(known) <= _FEW_LINES else _LEAST
    lines: dict[_Call, list[_Strand]] = {}
    for line, inside in known.items():
        names = {strand.calls[0][0] if strand.calls else "" for strand in inside}
        if _size(inside) >= least:
            lines[names.pop() if len(names) == 1 else "", line] = [strand._replace(calls=()) for strand in inside]
    return lines if 1 < len(lines) <= _MOST_LINES else {}


def _function(scopes: Scopes, scope: int, name: str, line: int) -> int:
    return scopes.child(scope, f"{name}()@{line}" if name else f"@{line}", "function")


def _lie_inside(groups: Iterable[list[_Strand]]) -> bool:
    """True if each group lies (nearly) inside one call."""
    for strands in groups:
        sizes = Counter[tuple[_Call, ...]]()
        for strand in strands:
            sizes[strand.calls[:1]] += len(strand.kernels)
        if max(sizes.values()) < _WHOLE * sizes.total():
            return False
    return True


def _strands(placing: Placing) -> list[_Strand]:
    chains = _Chains(placing.facts.module.frames_table)
    together: dict[tuple[int, int, bool], list[int]] = {}
    for kernel, phase in enumerate(placing.phase):
        if phase != UPDATE:
            key = (placing.scope[kernel], placing.frame[kernel], phase == FORWARD)
            together.setdefault(key, []).append(kernel)
    sizes: Counter[str] = Counter()
    for (_, frame, _), kernels in together.items():
        sizes.update(dict.fromkeys((name for name, _ in chains.of(frame)[0]), len(kernels)))
    total = sum(map(len, together.values()))
    common = {name for name, size in sizes.items() if size > _COMMON * total}
    strands = []
    for (scope, frame, is_forward), kernels in together.items():
        path = placing.scopes.path(scope)
        # The function that a scope is named after is that scope.
        said = common | {placing.scopes.names[row].partition("(")[0] for row in path}
        calls, line = chains.of(frame)
        calls = tuple(call for call in calls if call[0] not in said)
        strands.append(_Strand(tuple(path), calls, kernels, is_forward, line))
    return strands


def _cut(strands: Iterable[_Strand], key: Callable[[_Strand], tuple]) -> dict[tuple, list[_Strand]]:
    """Strands by their next key; strands without one are omitted."""
    parted: dict[tuple, list[_Strand]] = {}
    for strand in strands:
        next_one = key(strand)
        if next_one:
            parted.setdefault(next_one, []).append(strand)
    return parted


def _size(strands: Iterable[_Strand]) -> int:
    return sum(len(strand.kernels) for strand in strands)


def _largest(parted: dict[tuple, list[_Strand]]) -> int:
    return max(map(_size, parted.values()), default=0)


def _skipped(strands: list[_Strand]) -> list[_Strand]:
    """Removes calls shared by (nearly) all strands, and calls through which no forward kernel was reached.

    Under `jax.checkpoint`, frames of the backward phase end at the caller of `grad`: functions that no forward kernel
    here was called through would tear a scope in two.
    """
    total, has_forward = _size(strands), any(strand.is_forward for strand in strands)
    while True:
        calls = _cut(strands, lambda strand: strand.calls[:1])
        if any(_size(inside) > _WHOLE * total for inside in calls.values()):
            skipped = set(calls)
        else:
            skipped = {call for call, inside in calls.items() if has_forward and not any(s.is_forward for s in inside)}
        if not skipped:
            return strands
        strands = [
            strand._replace(calls=strand.calls[1:]) if strand.calls[:1] in skipped else strand for strand in strands
        ]


class _Chains:
    """The user's functions on the stack of each frame."""

    def __init__(self, table: StackFrames) -> None:
        is_own = [not is_library(file) for file in table.files]
        names = [_function_name(name) for name in table.functions]
        columns = (table.location_file, table.location_function, table.location_line)
        places = [
            (is_own[file], names[function] if is_own[file] else "", line)
            for file, function, line in zip(*(column.tolist() for column in columns), strict=True)
        ]
        # Frames count from 1.
        self._places = [(False, "", 0), *(places[place] for place in table.location.tolist())]
        self._parents = [0, *table.parent.tolist()]
        self._known: dict[int, tuple[tuple[_Call, ...], int]] = {}

    def of(self, frame: int) -> tuple[tuple[_Call, ...], int]:
        """The calls on the way to a frame, outermost first, and the line of the innermost function of the user's.

        (), 0 for no frame. A function that calls itself is there once.
        """
        if frame not in self._known:
            self._known[frame] = self._walk(frame)
        return self._known[frame]

    def _walk(self, frame: int) -> tuple[tuple[_Call, ...], int]:
        calls: list[_Call] = []
        innermost = 0
        for _ in range(_MOST_FRAMES):
            if not 0 < frame < len(self._places):
                break
            is_own, name, line = self._places[frame]
            innermost = innermost or line * is_own
            frame = self._parents[frame]
            if name and calls and calls[-1][0] == name:
                calls.pop()
            if name:
                calls.append((name, self._places[frame][2] if 0 < frame < len(self._places) else 0))
        return tuple(calls[::-1]), innermost


def _function_name(qualified: str) -> str:
    """A function as people call it: `Attention.__call__` is "Attention"; "" for one without a name."""
    name = qualified.rpartition("<locals>.")[2].removesuffix(".__call__").rpartition(".")[2]
    return "" if name.startswith("<") else name
