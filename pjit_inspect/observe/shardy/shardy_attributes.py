"""Shardy's attributes as text, read: shardings, their origins, sharding rules, meshes; and tensor types.

One attribute is shared by many ops: each text is read once. Not its job: which op has which
(`observe.shardy.propagation`).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.sharding.sharded_program import ShardingRule
from pjit_inspect.observe.shardy.mlir_locations import unescaped

_STRING = r'"(?:[^"\\]|\\.)*"'
_AXIS = re.compile(rf"({_STRING})((?::\(\d+\)\d+)?)")
_DIMENSION = re.compile(rf"\{{((?:{_STRING}(?::\(\d+\)\d+)?|\?|, )*)\}}(?:p\d+)?")
_SHARDING = re.compile(rf"<(?:@(?:[\w.$-]+|{_STRING})|mesh<.*?>), \[((?:{_DIMENSION.pattern}|, )*)\]")
_MESH_AXIS = re.compile(rf"({_STRING})=(\d+)")
_ORIGIN = re.compile(rf"(?:([A-Za-z_][\w.$]*)|({_STRING})) = ({_STRING})")
_FACTOR = re.compile(r"[a-z](?:_\d+)?")
_RULE = re.compile(r"<\((.*?)\)->\((.*?)\) \{(.*?)\}(.*)>", re.DOTALL)
_FACTOR_SET = re.compile(r"(\w+)=\{([^}]*)\}")
_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([^,]+?)(?:, .*)?>")
_DTYPES = {"i1": "pred", "complex<f32>": "c64", "complex<f64>": "c128"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One sharding: the axes of each dimension, and the dimensions closed to more axes."""

    dimensions: Dimensions
    closed: tuple[bool, ...]


@functools.lru_cache(maxsize=8192)
def read_shardings(text: str) -> tuple[Spec, ...]:
    """Every sharding in an attribute: one, or one per value."""
    return tuple(_read_sharding(match[1]) for match in _SHARDING.finditer(text))


def _read_sharding(text: str) -> Spec:
    dimensions = [match[1] for match in _DIMENSION.finditer(text)]
    return Spec(
        dimensions=tuple(
            tuple(_unquoted(axis[1]) + axis[2] for axis in _AXIS.finditer(dimension)) for dimension in dimensions
        ),
        closed=tuple("?" not in _AXIS.sub("", dimension) for dimension in dimensions),
    )


def _unquoted(text: str) -> str:
    return unescaped(text[1:-1])


@functools.lru_cache(maxsize=8192)
def read_origins(text: str) -> tuple[dict[str, str], ...]:
    """For each value of an op, mesh axis (or part of one) -> the name of its origin: `[{data = "input: 0"}]`."""
    return tuple(
        # Shardy puts the axis in as it would print it: what is escaped there is escaped twice here.
        {match[1] or unescaped(_unquoted(match[2])): _unquoted(match[3]) for match in _ORIGIN.finditer(part)}
        for part in _braced(text)
    )


def _braced(text: str) -> list[str]:
    return re.findall(rf"\{{((?:{_STRING}|[^{{}}\"])*)\}}", text)


def read_names(text: str) -> tuple[str, ...]:
    """Every quoted string, in order."""
    return tuple(_unquoted(name) for name in re.findall(_STRING, text))


def read_mesh(text: str) -> dict[str, int]:
    """A mesh's axes: `<["data"=2, "model"=4]>`."""
    return {_unquoted(match[1]): int(match[2]) for match in _MESH_AXIS.finditer(text)}


@functools.lru_cache(maxsize=8192)
def read_rule(text: str) -> ShardingRule | None:
    """An `sdy.sharding_rule`; None when it is not understood."""
    match = _RULE.search(text)
    if match is None:
        return None
    sets = {name: tuple(_FACTOR.findall(factors)) for name, factors in _FACTOR_SET.findall(match[4])}
    sizes = {name: int(size) for name, size in re.findall(r"([a-z](?:_\d+)?)=(\d+)", match[3])}
    return ShardingRule(
        operands=_arrays(match[1]),
        results=_arrays(match[2]),
        sizes=sizes,
        reduction=sets.get("reduction", ()),
        need_replication=sets.get("need_replication", ()),
        permutation=sets.get("permutation", ()),
    )


def _arrays(text: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(
        tuple(tuple(_FACTOR.findall(dimension)) for dimension in array.split(",")) if array.strip() else ()
        for array in re.findall(r"\[(.*?)\]", text)
    )


@functools.lru_cache(maxsize=8192)
def read_tensor(text: str) -> tuple[str, tuple[int, ...]] | None:
    """The element type, by XLA's name, and the shape of a tensor type; None for any other type."""
    match = _TENSOR.fullmatch(text)
    if match is None or "?" in match[1]:
        return None
    shape = tuple(int(size) for size in match[1].split("x")[:-1])
    return _dtype(match[2]), shape


def _dtype(text: str) -> str:
    if text in _DTYPES:
        return _DTYPES[text]
    if re.fullmatch(r"i\d+", text):
        return f"s{text[1:]}"
    return text.replace("ui", "u").lower()
