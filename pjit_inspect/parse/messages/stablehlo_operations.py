"""The operations of a program before optimization, each under a key that is equal wherever it does the same work.

A key is what an operation is (its name, attributes and types) and the keys of what it takes, so names of values and of
functions, the order of lines that do not need each other, source positions and what JAX notes for itself make no
difference. Not its job: comparing (`analyze.diff.tables`).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pjit_inspect.parse.messages.stablehlo_text import stablehlo_lines

_STRING = r'"(?:[^"\\]|\\.)*+(?:"|$)'
_TOKEN = re.compile(rf"(@{_STRING}|@[\w.$-]+)|({_STRING})|(%[\w.$-]+)((?::|#)\d+)?")
_OPENS = re.compile(rf"{_STRING}|[{{}}]")
_HEADER = re.compile(rf"^\s*func\.func\s+(?:public\s+|private\s+)?(@{_STRING}|@[\w.$-]+)")
_MESH = re.compile(rf"^\s*sdy\.mesh\s+(@{_STRING}|@[\w.$-]+)\s*=\s*(<.*?>)(?=\s|$)")
_NOISE = re.compile(
    rf"(?:, )?(?:jax\.result_info|jax\.arg_info|mhlo\.layout_mode) = {_STRING}"
    r"|(?:, )?stablehlo\.mesh = \{axes = \[[^\]]*\]\}"
)
_CONTINUES = re.compile(r"^\s*(?:cond\s*\{|reducer\()")
_RESULTS = re.compile(r"^\s*%[\w.$-]+(?::\d+)?(?:, %[\w.$-]+(?::\d+)?)* = ")
_NAME = re.compile(r'^"?([A-Za-z_]\w*(?:\.\w+)*)')
_BARE_RESULTS = re.compile(r"^%(?:, %)* = ")
_NO_OPERATIONS = frozenset(("return", "stablehlo.return", "sdy.return", "cond", "reducer"))
_MAIN = "@main"


@dataclass(frozen=True, slots=True, kw_only=True)
class StablehloOperations:
    """The operations of a program.

    Attributes:
      flows: the key of every operation, with all that it is computed from -> how many there are.
      alone: the name of an operation, and it by itself (attributes and types, without what it takes) -> how many.
    """

    flows: Counter[str]
    alone: Counter[tuple[str, str]]


def read_operations(text: str) -> StablehloOperations:
    """The operations of StableHLO text; those of functions that `main` does not call are left out."""
    module = _Module.of(stablehlo_lines(text))
    for name in [name for name in module.functions if name == _MAIN] or list(module.functions):
        module.key_of(name)
    return StablehloOperations(flows=module.flows, alone=module.alone)


@dataclass(slots=True)
class _Module:
    """The functions of a module by name, and the operations that were met in those that were asked for."""

    functions: dict[str, list[str]] = field(default_factory=dict)
    meshes: dict[str, str] = field(default_factory=dict)
    flows: Counter[str] = field(default_factory=Counter)
    alone: Counter[tuple[str, str]] = field(default_factory=Counter)
    _keys: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, lines: Sequence[str]) -> _Module:
        made, own = cls(), None
        for line in lines:
            if mesh := _MESH.match(line):
                made.meshes[mesh[1]] = mesh[2]
            elif header := _HEADER.match(line):
                own = made.functions.setdefault(header[1], [])
                own.append(line[header.end() :])
            elif own is not None:
                own.append(line)
        return made

    def key_of(self, name: str) -> str:
        """One key for all that a function does."""
        if name not in self._keys:
            # Where functions call each other in a circle, which JAX writes none of, the name has to do.
            self._keys[name] = name
            self._keys[name] = _hashed(*self._body(self.functions[name]))
        return self._keys[name]

    def _body(self, lines: Sequence[str]) -> list[str]:
        known: dict[str, str] = {}
        keys = [self._key(lines[:1], known, is_header=True)]
        keys += [self._key(own, known) for own in _operations(lines[1:])]
        self.flows.update(keys)
        return sorted(keys)

    def _key(self, lines: Sequence[str], known: dict[str, str], *, is_header: bool = False) -> str:
        """The key of one operation, its regions in it; what it yields gets keys of its own."""
        first = _NOISE.sub("", lines[0]).replace("{, ", "{").replace(" {}", "")
        yields = _RESULTS.match(first)
        written = [first[yields.end() :] if yields else first, *lines[1:]]
        inner: dict[str, str] = {}
        flow = "\n".join(self._written(line, known, inner) for line in written)
        if not is_header:
            bare = (self._written(line, {}, {}, is_bare=True) for line in written)
            self.alone.update(own for own in map(_alone, bare) if own is not None)
        key = _hashed(flow)
        for position, found in enumerate(_TOKEN.finditer(yields[0] if yields else "")):
            known[found[3]] = _hashed(key, str(position))
        if is_header:
            known.update((value, f"%{number}") for number, value in enumerate(inner))
        return key

    def _written(self, line: str, known: Mapping[str, str], inner: dict[str, str], *, is_bare: bool = False) -> str:
        """A line with what names stand for; the names of a region's own values are numbers."""

        def said(found: re.Match[str]) -> str:
            symbol, _, value, part = found.groups()
            if symbol is not None and symbol in self.functions:
                return "@" if is_bare else self.key_of(symbol)
            if symbol is not None:
                return self.meshes.get(symbol, symbol)
            if value is None:
                return found[0]
            if is_bare:
                return "%"
            return (known.get(value) or inner.setdefault(value, f"${len(inner)}")) + (part or "")

        return _TOKEN.sub(said, line.strip())


def _operations(lines: Sequence[str]) -> Iterator[list[str]]:
    """The operations of a function's body, each with the lines of its regions."""
    own: list[str] = []
    depth = 0
    for line in lines:
        if own and not depth and not _CONTINUES.match(line):
            yield own
            own = []
        depth += sum({"{": 1, "}": -1}.get(found[0], 0) for found in _OPENS.finditer(line))
        if depth < 0:
            return
        own.append(line)
    if own:
        yield own


def _alone(line: str) -> tuple[str, str] | None:
    """An operation's name and the operation; None for a line that is none: a region's begin or end."""
    text = _BARE_RESULTS.sub("", line)
    name = _NAME.match(text)
    return None if name is None or name[1] in _NO_OPERATIONS else (name[1], text)


def _hashed(*texts: str) -> str:
    return hashlib.blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
