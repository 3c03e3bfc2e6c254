"""Specs, meshes, shardings and array types as JAX prints them: patterns for them, and what they say.

Foreign text: bounded, never evaluated. Not its job: the messages they stand in (`analyze.errors.rows`).
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from pjit_inspect.model.program.mesh import MeshAxes, PartitionSpec, SpecEntry, axes_of, entry_of
from pjit_inspect.model.report.explained_error import ErrorArray
from pjit_inspect.model.words.sentence import Sentence, code, say

# Possessive throughout, so that a bracket that is not closed is read once.
_STRING = r"'(?:[^'\\\n]|\\.)*+'"
_FLAT = rf"(?:[^()']|{_STRING})"
_NESTED = rf"(?:{_FLAT}|\((?:{_FLAT}|\({_FLAT}*+\))*+\))*+"
TUPLE = rf"\({_NESTED}\)"
"""A spec without its name, a shape, or any other tuple."""
SPEC = rf"(?:P|PartitionSpec){TUPLE}"
MESH = rf"(?:Abstract)?Mesh{TUPLE}"
SHARDING = rf"NamedSharding\(mesh={MESH}, spec={SPEC}{_NESTED}\)"
TYPE = r"\w{1,24}(?:<\w{1,40}>)?\[[^\[\]]{0,1000}\](?:\{[^{}]{0,400}\})?"
SHAPE = r"\([\d, ]{0,400}\)"

_LONGEST = 2_000
_LEAVES = ("PytreeLeaf", "Tracer", "ArrayImpl", "ShapeDtypeStruct", "ndarray", "ShapedArray", "Array")
_SHARDING = re.compile(rf"NamedSharding\(mesh=(?P<mesh>{MESH}), spec=(?P<spec>{SPEC})", re.S)
_AXIS = re.compile(rf"({_STRING}): (\d{{1,9}})")
_TYPES = re.compile(r"axis_types=\(((?:Auto|Explicit|Manual|, |,){0,100})\)")
_TYPE = re.compile(r"(\w{1,24})(?:<\w{1,40}>)?\[([^\[\]]{0,1000})\]")
_LENGTH = re.compile(r"(\d{1,18})(?:@(?:([\w.-]{1,200})|\(([\w.,-]{1,400})\)))?")


def read_spec(text: str) -> PartitionSpec:
    """The entries of `P('data', None)`, `PartitionSpec(..)` or a plain tuple.

    Raises `ValueError` for what a tuple cannot hold, as `UNCONSTRAINED` and unreduced axes.
    """
    text = text.strip()
    start = next((len(start) for start in ("P(", "PartitionSpec(") if text.startswith(start) and text[-1] == ")"), 0)
    # `P('x')` has one entry, as `('x')` has not.
    inner = f"({text[start:-1].rstrip().rstrip(',')},)" if start else text
    try:
        entries = () if inner == "(,)" else ast.literal_eval(inner[:_LONGEST])
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError("this is no spec") from error
    if not isinstance(entries, tuple) or not all(map(_is_entry, entries)):
        raise ValueError("a spec has an entry that is not understood")
    return tuple(entry_of(axes_of(entry)) for entry in entries)


def _is_entry(entry: object) -> bool:
    if isinstance(entry, tuple):
        return all(isinstance(name, str) for name in entry)
    return entry is None or isinstance(entry, str)


def read_integers(text: str) -> tuple[int, ...]:
    """The numbers of `(6, 4)`. Raises `ValueError` when it is no such text."""
    return tuple(int(part) for part in text.strip()[1:-1].split(",") if part.strip())


def read_mesh(text: str) -> MeshAxes:
    """A mesh with axes. Raises `ValueError` for one without, or that has an axis twice."""
    axes = [(name[1:-1], int(size)) for name, size in _AXIS.findall(text)]
    if not axes or "\0" in text:
        raise ValueError("this mesh has no axes")
    types = _TYPES.search(text)
    kinds = tuple(re.findall(r"\w+", types[1].lower())) if types else ()
    names, sizes = zip(*axes, strict=True)
    return MeshAxes(axis_names=names, shape=sizes, axis_types=kinds if len(kinds) == len(axes) else ())


def mesh_words(mesh: MeshAxes, other: MeshAxes) -> str:
    """A mesh, with the types of its axes where those are what tells it from another."""
    kinds = list(dict.fromkeys(mesh.axis_types)) if mesh.axes == other.axes else []
    each = " x ".join(map(str.capitalize, kinds if len(kinds) == 1 else mesh.axis_types))
    return f"{mesh} with {each} axes" if kinds else str(mesh)


def read_sharding(text: str) -> ErrorArray:
    """The mesh and the spec of a `NamedSharding`; an array of which nothing is known for any other sharding."""
    match = _SHARDING.match(text)
    if match is None:
        return ErrorArray(name="")
    return ErrorArray(name="", mesh=read_mesh(match["mesh"]), spec=read_spec(match["spec"]))


def read_type(text: str, name: str = "") -> ErrorArray:
    """`float32[16@model,8]` as an array. Raises `ValueError` for what is not understood."""
    match = _TYPE.match(text)
    if match is None:
        raise ValueError("this is no type of an array")
    shape: list[int] = []
    spec: list[SpecEntry] = []
    for part in re.split(r",(?![^()]*\))", match[2]) if match[2] else ():
        length = _LENGTH.fullmatch(part.strip())
        if length is None:
            raise ValueError("a dimension is not understood")
        shape.append(int(length[1]))
        spec.append(tuple(length[3].split(",")) if length[3] else length[2])
    return ErrorArray(name=name, dtype=match[1], shape=tuple(shape), spec=tuple(spec))


def of_shape(array: ErrorArray, shape: tuple[int, ...]) -> ErrorArray:
    """The array with a shape, and its spec with an entry for each dimension; None for one of more."""
    spec = array.spec
    if spec is not None:
        spec = (*spec, *(None,) * (len(shape) - len(spec))) if len(spec) <= len(shape) else None
    return replace(array, shape=shape, spec=spec)


def type_name(qualified: str) -> Sentence:
    """Describes one place of a tree by the name of its type: "a dict", "one array" for a leaf."""
    short = qualified.rpartition(".")[2]
    # 0.8.1 names what a loop starts with as Python has it.
    if short.endswith(_LEAVES) or short in ("bool", "int", "float", "complex", "NoneType"):
        return say("None" if short == "NoneType" else "one array")
    return say("a {}", short) if short in ("list", "tuple", "dict") else say("an object of the type {}", code(short))
