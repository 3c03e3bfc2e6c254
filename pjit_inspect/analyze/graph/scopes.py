"""Reads from JAX's names the place of operations in the user's program: a path of scopes, and a phase.

`jit(step)/transpose(jvp(layer0))/attn/jit(_where)/select_n` is, in the backward phase, scope `layer0`, in it `attn`,
and there the library's `_where`. Not its job: instructions without a name (`analyze.graph.placing`).

*Source*: `jax/_src/source_info_util.py` (name stacks), and names that XLA printed for JAX 0.8 to 0.12.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable
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
_DIGITS = re.compile(r"\d+")
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


def numbered(name: str) -> str:
    """A name with its numbers masked, which makes names of equal layers equal."""
    return _DIGITS.sub("#", name)


def read_names(module: HloModule, scopes: Scopes) -> tuple[tuple[Name, ...], ...]:
    """For each of the program's names, the operations it denotes; () for a name that is no path.

    Adds new scopes to `scopes`.
    """
    split = [_members_of(op_name) for op_name in module.op_names]
    functions = _user_functions(module) | _named_within(member for members in split for member in members)
    return tuple(tuple(_name(member, scopes, functions) for member in members) for members in split)


class _Part(NamedTuple):
    """A part of a path between slashes: `transpose(jvp(layer0))` is layer0, with JAX's wrappers outermost first."""

    name: str
    wrappers: tuple[str, ...]

    @property
    def is_jit(self) -> bool:
        return not _JITS.isdisjoint(self.wrappers)

    @property
    def is_mechanical(self) -> bool:
        """True if it comes from JAX and is no scope."""
        known = self.name in _CONTROL or self.name in ("", "while", "body", "cond", "scan", "main")
        return known or bool(_BRANCH.fullmatch(self.name)) or bool(_EINSUM.fullmatch(self.name))


class _Member(NamedTuple):
    """One operation of a name: the parts of its path, and its phase."""

    parts: list[_Part]
    phase: int


def _members_of(op_name: str) -> list[_Member]:
    if not op_name or ("/" not in op_name and "(" not in op_name):
        return []
    names = split_op_names(op_name)[:_MOST_NAMES]
    members = [_Member([*map(_peel, _split(name))], _PHASES[find_phase(name)]) for name in names]
    return [member for member in members if len(member.parts) > 1 or member.parts[0].wrappers]


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


@functools.lru_cache(maxsize=4096)
def _peel(segment: str) -> _Part:
    wrappers: list[str] = []
    while len(wrappers) < _MOST_WRAPPERS:
        match = _WRAPPED.fullmatch(segment)
        if match is None or match[1] not in _WRAPPERS:
            break
        wrappers.append(match[1])
        segment = match[2]
    return _Part(segment, tuple(wrappers))


def _user_functions(module: HloModule) -> frozenset[str]:
    """Names of functions in files that are the user's."""
    table = module.frames_table
    own = [not is_library(file) for file in table.files]
    places = zip(table.location_file.tolist(), table.location_function.tolist(), strict=True)
    return frozenset(table.functions[function].rpartition(".")[2] for file, function in places if own[file])


def _named_within(members: Iterable[_Member]) -> frozenset[str]:
    """Jitted functions with named scopes in them: no function of a library, but one of the user's."""
    named: set[str] = set()
    for member in members:
        open_jits: list[str] = []
        for part in member.parts[1:-1]:
            if part.is_jit:
                open_jits.append(part.name)
            elif open_jits and not part.is_mechanical:
                named.update(open_jits)
    return frozenset(named)


def _name(member: _Member, scopes: Scopes, functions: frozenset[str]) -> Name:
    scope, helper = ROOT, ""
    *around, primitive = member.parts
    around = _said_once(around)
    if around and around[0].wrappers[:1] in (("jit",), ("pjit",), ("pmap",)):
        around[0] = _Part("", ())
    for before, part, after in zip(["", *(part.name for part in around)], around, [*around[1:], None], strict=False):
        if part.is_jit and part.name not in functions:
            helper = helper or part.name
        elif helper:
            continue
        elif part.is_jit:
            scope = scopes.child(scope, part.name, "function")
        else:
            scope, helper = _entered(part.name, before, after, scope, scopes)
    return Name(scope, member.phase, helper or users_word(primitive.name))


def _said_once(parts: list[_Part]) -> list[_Part]:
    """The path without JAX's repetitions: the backward pass of a checkpoint has its scopes in a name twice.

    `transpose(jvp(model))/attn/jvp(model)/attn/checkpoint/...`; in a scan `.../closed_call/attn/attn/checkpoint/...`.
    """
    jvps = [k for k, part in enumerate(parts) if "jvp" in part.wrappers]
    first = next((k for k in jvps if "transpose" in parts[k].wrappers), None)
    if first is None:
        return parts
    again = next((k for k in jvps if k > first), None)
    if again is not None:
        return [*parts[:first], *parts[again:]]
    kept, start = parts[: first + 1], first + 1
    while start < len(parts):
        end = next((k for k in range(start, len(parts)) if parts[k].is_mechanical), len(parts))
        half, odd = divmod(end - start, 2)
        is_double = start > first + 1 and not odd and parts[start : start + half] == parts[start + half : end]
        kept += parts[start + half * is_double : end + 1]
        start = end + 1
    return kept


def _entered(name: str, before: str, after: _Part | None, scope: int, scopes: Scopes) -> tuple[int, str]:
    """The scope that a part of a name leads to from another; and the label, where it is one."""
    branch = _BRANCH.fullmatch(name)
    if branch:
        return scopes.child(scope, f"branch {branch[1]}", "branch"), ""
    if name == "while":
        return scopes.child(scope, LOOP, "loop"), ""
    is_conditional = name == "cond" and after is not None and _BRANCH.fullmatch(after.name)
    if name in _CONTROL or is_conditional or (name in ("body", "cond") and before == "while"):
        return scope, ""
    if _EINSUM.fullmatch(name):
        return scope, name
    for part in filter(None, name.split("/")):
        scope = scopes.child(scope, part)
    return scope, ""
