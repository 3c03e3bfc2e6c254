"""Refines scopes by the Python functions that operations were written in, from their source frames.

Sixteen layers named only `layerN` become `layerN`, in it `layernorm()`, `attention()` and `mlp()`. A function is placed
below a named scope, or above a scope that lies entirely inside it. Functions that nearly everything was called through
are skipped. If one function does everything, its lines become rows, each with the helpers it calls: a helper called on
two lines is not the only row. Not its job: reading names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace

from pjit_inspect.analyze.graph.kernels import KernelList
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Kernels with one scope and one chain of calls.

    Attributes:
      scopes: the path of scopes that is still to come, outermost first.
      calls: the calls that are still to come, outermost first.
      kernels: the kernels.
      is_forward: whether they are of the forward phase.
      line: the line of the innermost function of the user's; 0 where unknown.
    """

    scopes: tuple[int, ...]
    calls: tuple[_Call, ...]
    kernels: tuple[int, ...]
    is_forward: bool
    line: int

    @property
    def size(self) -> int:
        return len(self.kernels)


def refine_by_functions(kernels: KernelList, placing: Placing, *, has_scopes: bool) -> None:
    """Moves kernels in `placing` to scopes made from Python functions; updates are not moved.

    In a program without scopes, functions become rows directly under the program, and so do the lines of a function
    that does everything itself.
    """
    groups = _groups(kernels.module.frames_table, placing)
    stack: list[tuple[int, list[_Group]]] = [(ROOT, groups)]
    while stack:
        scope, members = stack.pop()
        has_lines = not has_scopes and placing.scopes.kinds[scope] != "function"
        stack.extend(
            _Split(placing, scope, members, is_open=scope != ROOT or not has_scopes, has_lines=has_lines).parts()
        )


class _Split:
    """One step: cuts the groups in a scope by the next scope or the next function."""

    def __init__(self, placing: Placing, scope: int, groups: list[_Group], *, is_open: bool, has_lines: bool) -> None:
        self.placing, self.scope = placing, scope
        self.has_lines = has_lines
        self.groups = _skipped(groups) if is_open else groups
        self.by_scope = _cut(self.groups, lambda group: group.scopes[:1])
        self.by_call = _cut(self.groups, lambda group: group.calls[:1]) if is_open else {}

    def parts(self) -> list[tuple[int, list[_Group]]]:
        """Parts to cut further, each with its scope; kernels at the end of their path are placed."""
        lines = self._lines()
        if lines:
            return self._by_line(lines)
        largest_scope, largest_call = _largest(self.by_scope), _largest(self.by_call)
        if largest_call > largest_scope and len(self.by_call) > 1 and self._scopes_lie_inside():
            return self._by_function()
        if largest_scope:
            return self._by_scope()
        return self._end(self.groups)

    def _lines(self) -> dict[tuple, list[_Group]]:
        """The groups by the line of the function that does everything; {} where there is none, or it has one line."""
        direct = [group for group in self.groups if not group.calls]
        if not self.has_lines or self.by_scope or _size(direct) < max(_LEAST, _ITSELF * _size(self.groups)):
            return {}
        by_line = _cut(self.groups, lambda group: (group.calls[0][1] if group.calls else group.line,))
        known = {key: groups for key, groups in by_line.items() if key[0]}
        least = 1 if len(known) <= _FEW_LINES else _LEAST
        large = {key: groups for key, groups in known.items() if _size(groups) >= least}
        return large if 1 < len(large) <= _MOST_LINES else {}

    def _by_line(self, lines: dict[tuple, list[_Group]]) -> list[tuple[int, list[_Group]]]:
        for (line,), groups in lines.items():
            callees = {group.calls[0][0] if group.calls else "" for group in groups}
            name = callees.pop() if len(callees) == 1 else ""
            self._put(groups, self._function((name, line)))
        kept = {id(group) for groups in lines.values() for group in groups}
        return self._end([group for group in self.groups if id(group) not in kept])

    def _scopes_lie_inside(self) -> bool:
        for groups in self.by_scope.values():
            calls: Counter[Hashable] = Counter()
            for group in groups:
                calls[group.calls[:1]] += group.size
            if max(calls.values()) < _WHOLE * sum(calls.values()):
                return False
        return True

    def _by_function(self) -> list[tuple[int, list[_Group]]]:
        large = {key: groups for key, groups in self.by_call.items() if _size(groups) >= _LEAST}
        parts = [
            (self._function(key[0]), [replace(group, calls=group.calls[1:]) for group in groups])
            for key, groups in large.items()
        ]
        rest = [group for group in self.groups if group.calls[:1] not in large]
        return [*parts, *self._without_calls(rest)]

    def _by_scope(self) -> list[tuple[int, list[_Group]]]:
        scopes = self.placing.scopes
        parts = []
        for (row,), groups in self.by_scope.items():
            child = scopes.child(self.scope, scopes.names[row], scopes.kinds[row])
            parts.append((child, [replace(group, scopes=group.scopes[1:]) for group in groups]))
        direct = [group for group in self.groups if not group.scopes]
        calls = _cut(direct, lambda group: group.calls[:1]) if self.by_call else {}
        for key, groups in calls.items():
            if len(calls) > 1 and _size(groups) >= _LEAST:
                self._put(groups, self._function(key[0]))
            else:
                self._end(groups)
        return [*parts, *self._end([group for group in direct if not (self.by_call and group.calls)])]

    def _without_calls(self, groups: list[_Group]) -> list[tuple[int, list[_Group]]]:
        plain = [replace(group, calls=()) for group in groups]
        return [(self.scope, plain)] if any(group.scopes for group in plain) else self._end(plain)

    def _function(self, call: _Call) -> int:
        name, line = call
        return self.placing.scopes.child(self.scope, f"{name}()@{line}" if name else f"@{line}", "function")

    def _end(self, groups: list[_Group]) -> list[tuple[int, list[_Group]]]:
        self._put(groups, self.scope)
        return []

    def _put(self, groups: Iterable[_Group], scope: int) -> None:
        for group in groups:
            for kernel in group.kernels:
                self.placing.scope[kernel] = scope


def _groups(table: StackFrames, placing: Placing) -> list[_Group]:
    chains = _Chains(table)
    together: dict[tuple[int, int, bool], list[int]] = {}
    for kernel, phase in enumerate(placing.phase):
        if phase != UPDATE:
            key = (placing.scope[kernel], placing.frame[kernel], phase == FORWARD)
            together.setdefault(key, []).append(kernel)
    sizes: Counter[str] = Counter()
    for (_, frame, _), members in together.items():
        for name in {name for name, _ in chains.of(frame)}:
            sizes[name] += len(members)
    total = sum(map(len, together.values()))
    common = {name for name, size in sizes.items() if size > _COMMON * total}
    groups = []
    for (scope, frame, is_forward), members in together.items():
        path = placing.scopes.path(scope)
        said = common | {_base(placing.scopes, row) for row in path}
        calls = tuple(call for call in chains.of(frame) if call[0] not in said)
        line = chains.line(frame)
        group = _Group(scopes=tuple(path), calls=calls, kernels=tuple(members), is_forward=is_forward, line=line)
        groups.append(group)
    return groups


def _base(scopes: Scopes, row: int) -> str:
    return scopes.names[row].partition("(")[0]


def _cut(groups: list[_Group], key: Callable[[_Group], tuple]) -> dict[tuple, list[_Group]]:
    """Groups by their next key; groups without one are omitted."""
    parted: dict[tuple, list[_Group]] = {}
    for group in groups:
        next_one = key(group)
        if next_one:
            parted.setdefault(next_one, []).append(group)
    return parted


def _size(groups: Iterable[_Group]) -> int:
    return sum(group.size for group in groups)


def _largest(cut: dict[tuple, list[_Group]]) -> int:
    return max(map(_size, cut.values()), default=0)


def _skipped(groups: list[_Group]) -> list[_Group]:
    """Removes calls shared by (nearly) all groups, and calls through which no forward kernel was reached.

    Under `jax.checkpoint`, frames of the backward phase end at the caller of `grad`: functions that no forward kernel
    here was called through would tear a scope in two.
    """
    total, has_forward = _size(groups), any(group.is_forward for group in groups)
    while True:
        cut = _cut(groups, lambda group: group.calls[:1])
        largest = max(cut, key=lambda call: _size(cut[call]), default=None)
        if largest is None:
            return groups
        if _size(cut[largest]) > _WHOLE * total:
            skipped = set(cut)
        else:
            skipped = {call for call, callees in cut.items() if has_forward and not any(g.is_forward for g in callees)}
        if not skipped:
            return groups
        groups = [replace(group, calls=group.calls[1:]) if group.calls[:1] in skipped else group for group in groups]


class _Chains:
    """The user's functions on the stack of each frame, outermost first."""

    def __init__(self, table: StackFrames) -> None:
        self._table = table
        self._files = table.location_file.tolist()
        self._functions = table.location_function.tolist()
        self._lines = table.location_line.tolist()
        self._locations, self._parents = table.location.tolist(), table.parent.tolist()
        self._own = [not is_library(file) for file in table.files]
        self._names = [_function_name(name) for name in table.functions]
        self._known: dict[int, tuple[_Call, ...]] = {}

    def of(self, frame: int) -> tuple[_Call, ...]:
        """The chain of a frame; () for no frame."""
        if frame not in self._known:
            self._known[frame] = self._chain(frame)
        return self._known[frame]

    def line(self, frame: int) -> int:
        """The line of the innermost frame of the user's; 0 for none."""
        seen = 0
        while 0 < frame <= len(self._locations) and seen < _MOST_FRAMES:
            seen += 1
            place = self._locations[frame - 1]
            if self._own[self._files[place]]:
                return self._lines[place]
            frame = self._parents[frame - 1]
        return 0

    def _chain(self, frame: int) -> tuple[_Call, ...]:
        calls: list[_Call] = []
        seen = 0
        while 0 < frame <= len(self._locations) and seen < _MOST_FRAMES:
            seen += 1
            place, parent = self._locations[frame - 1], self._parents[frame - 1]
            name = self._names[self._functions[place]] if self._own[self._files[place]] else ""
            line = self._lines[self._locations[parent - 1]] if 0 < parent <= len(self._locations) else 0
            if name and calls and calls[-1][0] == name:
                calls.pop()
            if name:
                calls.append((name, line))
            frame = parent
        return tuple(calls[::-1])


def _function_name(qualified: str) -> str:
    """A function as people call it: `Attention.__call__` is "Attention"; "" for one without a name."""
    name = qualified.rpartition("<locals>.")[2].removesuffix(".__call__").rpartition(".")[2]
    return "" if name.startswith("<") else name
