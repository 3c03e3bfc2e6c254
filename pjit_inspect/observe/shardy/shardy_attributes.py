"""Shardy's attributes as text, read: shardings and meshes; and tensor types.

One attribute is shared by many ops: each text is read once.
"""

from __future__ import annotations

import functools
import re

from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.observe.shardy.mlir_locations import unescaped

_STRING = r'"(?:[^"\\]|\\.)*"'
_AXIS = re.compile(rf"({_STRING})((?::\(\d+\)\d+)?)")
_DIMENSION = re.compile(rf"\{{((?:{_STRING}(?::\(\d+\)\d+)?|\?|, )*)\}}(?:p\d+)?")
_SHARDING = re.compile(rf"<(?:@(?:[\w.$-]+|{_STRING})|mesh<.*?>), \[((?:{_DIMENSION.pattern}|, )*)\]")
_MESH_AXIS = re.compile(rf"({_STRING})=(\d+)")
_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([^,]+?)(?:, .*)?>")
_DTYPES = {"i1": "pred", "complex<f32>": "c64", "complex<f64>": "c128"}


@functools.lru_cache(maxsize=8192)
def read_shardings(text: str) -> tuple[Dimensions, ...]:
    """Every sharding in an attribute: one, or one per value."""
    return tuple(
        tuple(
            tuple(_unquoted(axis[1]) + axis[2] for axis in _AXIS.finditer(dimension[1]))
            for dimension in _DIMENSION.finditer(match[1])
        )
        for match in _SHARDING.finditer(text)
    )


def _unquoted(text: str) -> str:
    return unescaped(text[1:-1])


def read_names(text: str) -> tuple[str, ...]:
    """Every quoted string, in order."""
    return tuple(_unquoted(name) for name in re.findall(_STRING, text))


def read_mesh(text: str) -> dict[str, int]:
    """A mesh's axes: `<["data"=2, "model"=4]>`."""
    return {_unquoted(match[1]): int(match[2]) for match in _MESH_AXIS.finditer(text)}


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
