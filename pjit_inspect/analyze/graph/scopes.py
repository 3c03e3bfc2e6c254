"""Reads from JAX's names the place of operations in the user's program: a path of scopes, and a phase.

`jit(step)/transpose(jvp(layer0))/attn/jit(_where)/select_n` is, in the backward phase, scope `layer0`, in it `attn`,
and there the library's `_where`. Not its job: instructions without a name (`analyze.graph.placing`).

*Source*: `jax/_src/source_info_util.py` (name stacks), and names that XLA printed for JAX 0.8 to 0.12.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pjit_inspect.analyze.program.phases import find_phase, split_op_names
from pjit_inspect.analyze.program.source import is_library
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.primitive import JAX_SCOPES, users_word

FORWARD, RECOMPUTE, BACKWARD, UPDATE = range(4)
UNKNOWN = -1
"""The phase of an operation whose name does not say."""
_PHASES = {"forward": FORWARD, "recompute": RECOMPUTE, "backward": BACKWARD, "optimizer": UPDATE, None: UNKNOWN}

ROOT = 0
LOOP = "loop"

_MOST_LEVELS = 16
"""Scopes deeper than this are one with the scope around them."""
_MOST_WRAPPERS = 24
_MOST_NAMES = 64
"""Operations looked at in one name; only a combined instruction has more than a few."""

_WRAPPED = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_WRAPPERS = frozenset((
    "jit", "pjit", "jvp", "transpose", "vmap", "remat", "checkpoint", "custom_jvp", "custom_vjp", "shard_map", "pmap",
    "xla_call", "core_call", "linearize", "partial_eval",
))  # fmt: skip
_JITS = frozenset(("jit", "pjit"))
_CONTROL = (JAX_SCOPES - {"while", "body", "cond"}) | frozenset((
    "custom_lin", "pjit", "shard_map", "smap", "xla_call", "cond_fun", "body_fun",
))  # fmt: skip
_BRANCH = re.compile(r"branch_(\d+)_fun")
_EINSUM = re.compile(r"[A-Za-z.]*(?:,[A-Za-z.]*)*->[A-Za-z.]*")
_BRACKETS = re.compile(r"[(\[{)\]}/]")


class Name(NamedTuple):
    """One operation read from a name: its scope, its phase, and its label.

    `label` is the library's function, or JAX's primitive.
    """

    scope: int
    phase: int
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class Scopes:
    """The user's scopes as a tree; a scope is a row. Row 0 is the program, and parents precede their children.

    `kinds` are those of `GraphRow.kind`. Scopes with the same parent, name and kind are one row.
    """

    parents: list[int] = field(default_factory=lambda: [-1])
    names: list[str] = field(default_factory=lambda: [""])
    kinds: list[str] = field(default_factory=lambda: ["program"])
    depths: list[int] = field(default_factory=lambda: [0])
    _rows: dict[tuple[int, str, str], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def child(self, parent: int, name: str, kind: str = "scope") -> int:
        """The scope `name` within another; that one itself when scopes are too deep."""
        if self.depths[parent] >= _MOST_LEVELS:
            return parent
        key = (parent, name, kind)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = len(self.names)
            self.parents.append(parent)
            self.names.append(name)
            self.kinds.append(kind)
            self.depths.append(self.depths[parent] + 1)
        return row

    def find(self, parent: int, name: str, kind: str) -> int | None:
        """The scope `name` within another; None when there is none."""
        return self._rows.get((parent, name, kind))

    def path(self, scope: int) -> list[int]:
        """The scopes from the outermost to this one, the program left out."""
        path = []
        while scope > ROOT:
            path.append(scope)
            scope = self.parents[scope]
        return path[::-1]

    def common(self, scopes: Collection[int]) -> int:
        """The innermost scope around all of these."""
        paths = [self.path(scope) for scope in scopes]
        shared = ROOT
        for level in zip(*paths, strict=False):
            if len(set(level)) > 1:
                break
            shared = level[0]
        return shared


def read_names(module: HloModule, scopes: Scopes) -> tuple[tuple[Name, ...], ...]:
    """For each of the program's names, the operations it denotes; () for a name that is no path.

    Adds new scopes to `scopes`.
    """
    split = [_segments_of(op_name) for op_name in module.op_names]
    functions = _user_functions(module) | _named_within(split)
    return tuple(tuple(_name(member, scopes, functions) for member in members) for members in split)


class _Member(NamedTuple):
    """One operation of a name: the parts of its path between slashes."""

    segments: list[str]
    phase: int


def _segments_of(op_name: str) -> list[_Member]:
    if not op_name or ("/" not in op_name and "(" not in op_name):
        return []
    members = split_op_names(op_name)[:_MOST_NAMES]
    cut = ((name, _split(name)) for name in members)
    return [
        _Member(segments, _PHASES[find_phase(name)])
        for name, segments in cut
        if len(segments) > 1 or _peel(segments[0])[1]
    ]


def _split(name: str) -> list[str]:
    """The parts between slashes outside of brackets; between all slashes where brackets do not match."""
    parts, depth, start = [], 0, 0
    for match in _BRACKETS.finditer(name):
        char = match[0]
        if char != "/":
            depth += 1 if char in "([{" else -1
            if depth < 0:
                break
        elif depth == 0:
            parts.append(name[start : match.start()])
            start = match.end()
    return [*parts, name[start:]] if depth == 0 else name.split("/")


def _peel(segment: str) -> tuple[str, list[str]]:
    """The core of a segment, and JAX's wrappers around it, outermost first."""
    wrappers: list[str] = []
    while len(wrappers) < _MOST_WRAPPERS:
        match = _WRAPPED.fullmatch(segment)
        if match is None or match[1] not in _WRAPPERS:
            break
        wrappers.append(match[1])
        segment = match[2]
    return segment, wrappers


def _user_functions(module: HloModule) -> frozenset[str]:
    """Names of functions in files that are the user's."""
    table = module.frames_table
    own = [not is_library(file) for file in table.files]
    places = zip(table.location_file.tolist(), table.location_function.tolist(), strict=True)
    rows = {function for file, function in places if own[file]}
    return frozenset(table.functions[row].rpartition(".")[2] for row in rows)


def _named_within(split: Sequence[list[_Member]]) -> frozenset[str]:
    """Jitted functions with named scopes in them: no function of a library, but one of the user's."""
    named: set[str] = set()
    for members in split:
        for member in members:
            open_jits: list[str] = []
            for segment in member.segments[1:-1]:
                name, wrappers = _peel(segment)
                if not _JITS.isdisjoint(wrappers):
                    open_jits.append(name)
                elif open_jits and not _is_mechanical(name):
                    named.update(open_jits)
    return frozenset(named)


def _is_mechanical(segment: str) -> bool:
    """Whether a part of a name comes from JAX and is no scope."""
    known = segment in _CONTROL or segment in ("", "while", "body", "cond", "scan", "main")
    return known or bool(_BRANCH.fullmatch(segment)) or bool(_EINSUM.fullmatch(segment))


def _name(member: _Member, scopes: Scopes, functions: frozenset[str]) -> Name:
    scope, helper, before = ROOT, "", ""
    *around, primitive = member.segments
    around = _said_once(around)
    for position, segment in enumerate(around):
        name, wrappers = _peel(segment)
        next_one = around[position + 1] if position + 1 < len(around) else None
        is_jit = not _JITS.isdisjoint(wrappers)
        if position == 0 and wrappers[:1] and wrappers[0] in (*_JITS, "pmap"):
            continue
        if is_jit and name not in functions:
            helper = helper or name
        elif is_jit and not helper:
            scope = scopes.child(scope, name, "function")
        elif not helper:
            scope, helper = _entered(name, before, next_one, scope, scopes)
        before = name
    return Name(scope, member.phase, helper or users_word(_peel(primitive)[0]))


def _said_once(segments: list[str]) -> list[str]:
    """The path without JAX's repetitions: the backward pass of a checkpoint has its scopes in a name twice.

    `transpose(jvp(model))/attn/jvp(model)/attn/checkpoint/...`; in a scan `.../closed_call/attn/attn/checkpoint/...`.
    """
    wrappers = [_peel(segment)[1] if "jvp(" in segment else [] for segment in segments]
    first = next((k for k, wrapped in enumerate(wrappers) if "transpose" in wrapped), None)
    if first is None:
        return segments
    again = next((k for k in range(first + 1, len(segments)) if "jvp" in wrappers[k]), None)
    if again is not None:
        return [*segments[:first], *segments[again:]]
    kept, start = segments[: first + 1], first + 1
    while start < len(segments):
        end = next((k for k in range(start, len(segments)) if _is_mechanical(segments[k])), len(segments))
        half, odd = divmod(end - start, 2)
        is_double = start > first + 1 and not odd and segments[start : start + half] == segments[start + half : end]
        kept += segments[start + half * is_double : end + 1]
        start = end + 1
    return kept


def _entered(name: str, before: str, next_one: str | None, scope: int, scopes: Scopes) -> tuple[int, str]:
    """The scope that a part of a name leads to from another; and the label, where it is one."""
    branch = _BRANCH.fullmatch(name)
    if branch:
        return scopes.child(scope, f"branch {branch[1]}", "branch"), ""
    if name == "while":
        return scopes.child(scope, LOOP, "loop"), ""
    if name in _CONTROL or not name or (name in ("body", "cond") and before == "while"):
        return scope, ""
    if name == "cond" and next_one is not None and _BRANCH.fullmatch(next_one):
        return scope, ""
    if _EINSUM.fullmatch(name):
        return scope, name
    for part in name.split("/"):
        if part:
            scope = scopes.child(scope, part)
    return scope, ""
