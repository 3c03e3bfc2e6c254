"""The sharding XLA gave every array of a program, read from the module XLA propagated shardings in.

After propagation and before partitioning ("after_shardy-xla") XLA's module has a sharding on every instruction that is
sharded, and JAX's names. A sharding says which tile each device holds; that is turned into axes of the mesh here,
without the package. Not its job: making the dump (`xla_dump`), or comparing (`score`).
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from functools import cache

import numpy as np
from jax.sharding import Mesh

from operations.xla_dump import name_of

__all__ = ["Specs", "ValueKey", "xla_shardings_of"]

Spec = tuple[tuple[str, ...], ...]
ValueKey = tuple[str, str, tuple[int, ...]]
"""JAX's name of the operation, or of an argument; element type; global shape."""

Specs = dict[ValueKey, Counter[Spec]]

_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-#]+ = (\w+)\[([\d,]*)\]\S* [\w\-]+\(")
_TILES = re.compile(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))(.*)")
_NAMED = re.compile(r"mesh\[(.*?)\](.*?), \[(.*)\]")


def xla_shardings_of(propagated: str, mesh: Mesh) -> Specs:
    """How often each sharding occurs among the arrays of one name, type and shape in the text of XLA's module."""
    found: Specs = defaultdict(Counter)
    sizes = tuple(mesh.shape.items())
    for line in propagated.splitlines():
        instruction, name = _INSTRUCTION.match(line), name_of(line)
        # The members of a tuple have instructions of their own, where they are used.
        if instruction and name:
            shape = tuple(int(length) for length in instruction[2].split(",") if length)
            found[name, instruction[1], shape][_spec(_sharding(line), len(shape), sizes)] += 1
    return found


def _sharding(line: str) -> str:
    """The sharding of an instruction, without the braces; "replicated" when it has none."""
    start = line.find(", sharding={")
    if start < 0 or start > line.find(", metadata={") > 0:
        return "replicated"
    return _braced(line[start + len(", sharding=") :])[1:-1]


def _braced(text: str) -> str:
    """The first piece of the text that opens and closes its braces."""
    depth = 0
    for index, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text[: index + 1]
    raise ValueError(f"a brace is not closed: {text[:100]}")


# ---------------------------------------------------------------- tiles as mesh axes


@cache
def _spec(sharding: str, rank: int, sizes: tuple[tuple[str, int], ...]) -> Spec:
    """What one sharding is in axes of the mesh; raises ValueError for a form that is not known here."""
    if named := _NAMED.match(sharding):
        return _named_spec(named, rank, sizes)
    tiles = _TILES.match(sharding)
    if tiles is None:
        if re.match(r"(mesh\[[^\]]*\], )?(replicated|manual)|single_device|manual|maximal|unknown|unreduced", sharding):
            return ((),) * rank
        raise ValueError(f"a sharding of unknown form: {sharding}")
    shape = _numbers(tiles[1])
    devices = np.array(_numbers(tiles[4])) if tiles[4] else _iota(_numbers(tiles[2]), _numbers(tiles[3] or ""))
    place = np.empty((len(shape), devices.size), int)
    place[:, devices] = np.unravel_index(np.arange(devices.size), shape)
    return tuple(_axes(place[dim], shape[dim], sizes) for dim in range(rank))


def _named_spec(match: re.Match[str], rank: int, sizes: tuple[tuple[str, int], ...]) -> Spec:
    """A sharding that names axes; only a mesh with the very axes of ours, in order, is understood."""
    theirs = tuple((name, int(size)) for name, size in re.findall(r"'?([^',=]+)'?=(\d+)", match[1]))
    if theirs != sizes or "device_ids" in match[2]:
        raise ValueError(f"a sharding on another mesh: {match[0]}")
    dims = re.findall(r"\{(.*?)\}", match[3])[:rank]
    return tuple(tuple(map("".join, re.findall(r"'([^']+)'(:\(\d+\)\d+)?", dim))) for dim in dims)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part)


def _iota(dimensions: tuple[int, ...], order: tuple[int, ...]) -> np.ndarray:
    numbers = np.arange(math.prod(dimensions)).reshape(dimensions)
    return numbers.transpose(order or tuple(range(len(dimensions)))).reshape(-1)


def _axes(tile: np.ndarray, count: int, sizes: tuple[tuple[str, int], ...]) -> tuple[str, ...]:
    """The axes, or parts of axes, whose position is the number of the tile that each device holds."""
    parts = _parts(sizes)
    for length in range(len(parts) + 1):
        for chosen in itertools.permutations(parts, length):
            if math.prod(size for _, _, size in chosen) == count and np.array_equal(tile, _position(chosen, sizes)):
                return _joined(chosen, dict(sizes))
    raise ValueError(f"{count} tiles {tile.tolist()} follow no axes of {dict(sizes)}")


Part = tuple[str, int, int]
"""An axis, the devices along it before a part of it, and those of the part."""


def _parts(sizes: tuple[tuple[str, int], ...]) -> list[Part]:
    """Every axis as its prime parts, outermost first."""
    found = []
    for axis, size in sizes:
        before = 1
        while before < size:
            rest = size // before
            prime = next(number for number in range(2, rest + 1) if rest % number == 0)
            found.append((axis, before, prime))
            before *= prime
    return found


def _position(chosen: tuple[Part, ...], sizes: tuple[tuple[str, int], ...]) -> np.ndarray:
    lengths = tuple(size for _, size in sizes)
    coordinates = np.unravel_index(np.arange(math.prod(lengths)), lengths)
    place = dict(zip([axis for axis, _ in sizes], coordinates, strict=True))
    number = np.zeros(math.prod(lengths), int)
    for axis, before, size in chosen:
        number = number * size + place[axis] // (dict(sizes)[axis] // (before * size)) % size
    return number


def _joined(chosen: tuple[Part, ...], sizes: dict[str, int]) -> tuple[str, ...]:
    """Parts that follow each other along one axis as one; the axis itself where they are all of it."""
    joined: list[Part] = []
    for axis, before, size in chosen:
        if joined and joined[-1][0] == axis and joined[-1][1] * joined[-1][2] == before:
            joined[-1] = axis, joined[-1][1], joined[-1][2] * size
        else:
            joined.append((axis, before, size))
    return tuple(axis if size == sizes[axis] else f"{axis}:({before}){size}" for axis, before, size in joined)
