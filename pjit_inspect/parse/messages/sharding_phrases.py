"""Specs, meshes, shardings and array types as JAX prints them in its messages.

Foreign text: bounded, never evaluated. Not its job: the messages they stand in (`parse.messages.sharding_errors`).
"""

from __future__ import annotations

import ast
import re

from pjit_inspect.model.program.spec import SpecEntry
from pjit_inspect.model.report.explained_error import ErrorArray
from pjit_inspect.model.sharding.mesh import MeshAxes
from pjit_inspect.parse.wire.text_scan import find_close

_LONGEST = 2_000
_STRING = r"'(?:[^'\\\n]|\\.){0,400}'"
_AXIS = re.compile(rf"({_STRING}): (\d{{1,9}})")
_TYPES = re.compile(r"axis_types=\(((?:Auto|Explicit|Manual|, |,){0,100})\)")
_TYPE = re.compile(r"(\w{1,24})(?:<\w{1,40}>)?\[([^\[\]]{0,1000})\]")
_LENGTH = re.compile(r"(\d{1,18})(?:@(?:([\w.-]{1,200})|\(([\w.,-]{1,400})\)))?")


def parse_spec(text: str) -> tuple[SpecEntry, ...] | None:
    """The entries of `P('data', None)`, `PartitionSpec(..)` or a plain tuple; None for what it cannot hold.

    `UNCONSTRAINED` and unreduced axes are such.
    """
    text = text.strip()
    for start in ("PartitionSpec", "P"):
        if text.startswith(f"{start}("):
            text = text[len(start) :]
            # `P('x')` has one entry, as `('x')` has not.
            text = f"{text[:-1]},)" if len(text) > 2 and not text[:-1].rstrip().endswith(",") else text
            break
    if len(text) > _LONGEST:
        return None
    try:
        entries = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(entries, tuple) or not all(map(_is_entry, entries)):
        return None
    return tuple(_entry(entry) for entry in entries)


def _is_entry(entry: object) -> bool:
    if isinstance(entry, (tuple, list)):
        return all(isinstance(name, str) for name in entry)
    return entry is None or isinstance(entry, str)


def _entry(entry: SpecEntry) -> SpecEntry:
    if entry is None or isinstance(entry, str):
        return entry
    return tuple(entry) if len(entry) > 1 else entry[0] if entry else None


def parse_integers(text: str) -> tuple[int, ...]:
    """The numbers of `(6, 4)`. Raises `ValueError` when it is no such text."""
    return tuple(int(part) for part in text.strip()[1:-1].split(",") if part.strip())


def parse_optional_mesh(text: str, start: int = 0) -> tuple[MeshAxes | None, int]:
    """The mesh that is printed at `start`, and where it ends; None for one without axes.

    Raises `ValueError` where no mesh stands.
    """
    opening = re.compile(r"(?:Abstract)?Mesh(?=\()").match(text, start)
    if opening is None:
        raise ValueError("no mesh is printed here")
    end = find_close(text, opening.end())
    inner = text[opening.end() : end]
    try:
        axes = tuple((str(ast.literal_eval(name)), int(size)) for name, size in _AXIS.findall(inner))
    except SyntaxError as error:
        # What Python says of a null byte in a name.
        raise ValueError("an axis is called what no text can be") from error
    types = _TYPES.search(inner)
    kinds = tuple(re.findall(r"\w+", types[1].lower())) if types else ()
    if not axes:
        return None, end
    names, sizes = zip(*axes, strict=True)
    return MeshAxes(axis_names=names, shape=sizes, axis_types=kinds if len(kinds) == len(axes) else ()), end


def parse_named_sharding(text: str) -> ErrorArray | None:
    """The last `NamedSharding(mesh=.., spec=..)` of a text: its mesh and its spec; None when there is none."""
    start = text.rfind("NamedSharding(")
    if start < 0:
        return None
    end = find_close(text, start + len("NamedSharding"))
    inner = text[start:end]
    match = re.search(r"mesh=(?=(?:Abstract)?Mesh\()", inner)
    if match is None:
        return None
    mesh, after = parse_optional_mesh(inner, match.end())
    spec = re.compile(r", spec=(?:P|PartitionSpec)(?=\()").match(inner, after)
    if spec is None:
        return None
    return ErrorArray(name="", mesh=mesh, spec=parse_spec(f"P{inner[spec.end() : find_close(inner, spec.end())]}"))


def parse_array_type(text: str) -> ErrorArray:
    """`float32[16@model,8]` as an array without a name. Raises `ValueError` for what is not understood."""
    match = _TYPE.match(text)
    if match is None:
        raise ValueError("this is no type of an array")
    shape, spec = [], []
    for part in re.split(r",(?![^()]*\))", match[2]) if match[2] else ():
        length = _LENGTH.fullmatch(part.strip())
        if length is None:
            raise ValueError("a dimension is not understood")
        shape.append(int(length[1]))
        spec.append(tuple(length[3].split(",")) if length[3] else length[2])
    return ErrorArray(name="", dtype=match[1], shape=tuple(shape), spec=tuple(spec))
