"""A small reader of XLA's HLO text, with regular expressions: a witness that shares nothing with the package's parser.

It reads what the checks need: names, types, opcodes, operands, called computations, shardings as tiles, JAX's names and
places. Not its job: what follows from it (`xla_truth`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

__all__ = ["Array", "Row", "Text", "read_text", "tiles_of"]

_ROW = re.compile(r"^\s+(ROOT )?%?([\w.\-#]+) = ")
_HEADER = re.compile(r"^(ENTRY )?%?([\w.\-#]+) .*\{$")
_ARRAY = re.compile(r"(\w+)\[([\d,<=]*)\]")
_OPCODE = re.compile(r" ?([\w\-]+)\(")
_NAME = re.compile(r"%([\w.\-#]+)")
_OP_NAME = re.compile(r'op_name="((?:[^"\\]|\\.)*)"')
_CALLED = re.compile(r"\b(?:calls|to_apply|body|condition|true_computation|false_computation)=%?([\w.\-#]+)")
_BRANCHES = re.compile(r"\bbranch_computations=\{([^}]*)\}")

_FRAME = re.compile(r"^(\d+) \{file_location_id=(\d+)")
_LOCATION = re.compile(r"^(\d+) \{file_name_id=(\d+) .*?\bline=(\d+)")
_FILE = re.compile(r'^(\d+) "(.*)"$')

Tiles = tuple[tuple[int, ...], ...]
"""For each partition, which tile it holds along each dimension."""


@dataclass(frozen=True, slots=True)
class Array:
    """The type of one array."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One instruction.

    Attributes:
      name: XLA's name, unique in the module.
      home: the computation it stands in.
      arrays: its type, tuples taken apart (nested ones too).
      is_tuple: whether its type is a tuple.
      opcode: as printed.
      operands: names of instructions.
      inside: the text between the parentheses (a parameter's number, a constant).
      rest: the attributes' text.
      called: the computations it runs.
      op_name: JAX's name; "".
      place: "file:line" of the innermost frame; "".
    """

    name: str
    home: str
    arrays: tuple[Array, ...]
    is_tuple: bool
    opcode: str
    operands: tuple[str, ...]
    inside: str
    rest: str
    called: tuple[str, ...]
    op_name: str
    place: str

    def number(self, attribute: str) -> int | None:
        found = re.search(rf"\b{attribute}=(\d+)", self.rest)
        return int(found[1]) if found else None

    @property
    def shardings(self) -> tuple[str, ...]:
        """The text of the sharding of each array; () when it has none."""
        start = self.rest.find("sharding={")
        if start < 0:
            return ()
        text = _balanced(self.rest, start + len("sharding="))
        parts = tuple(_parts(text)) if text.startswith(("{{", "{/*")) else (text,)
        return parts * len(self.arrays) if len(parts) == 1 else parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One module: instructions by name, computations as names in order, the root of each."""

    rows: dict[str, Row] = field(default_factory=dict)
    computations: dict[str, list[str]] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    entry: list[str] = field(default_factory=list)

    def parameters(self, computation: str) -> list[Row]:
        found = [self.rows[name] for name in self.computations[computation]]
        return sorted((row for row in found if row.opcode == "parameter"), key=lambda row: int(row.inside))


def read_text(text: str) -> Text:
    """The module as rows."""
    module, places, home = Text(), _places(text), ""
    for line in text.splitlines():
        header = None if line.startswith((" ", "HloModule")) else _HEADER.match(line)
        if header:
            home = header[2]
            module.computations[home] = []
            if header[1]:
                module.entry.append(home)
        elif home and (start := _ROW.match(line)):
            row = _row(line, start, home, places)
            _take_out(module, row)
            module.rows[row.name] = row
            module.computations[home].append(row.name)
            if start[1]:
                module.roots[home] = row.name
    return module


def _take_out(module: Text, row: Row) -> None:
    """Adds what takes an operand out of a tuple: JAX 0.12 dumps `%param#1` for element 1 of `%param`."""
    for operand in row.operands:
        name, _, number = operand.rpartition("#")
        if operand not in module.rows and name in module.rows:
            taken = replace(
                module.rows[name],
                name=operand,
                arrays=module.rows[name].arrays[int(number) : int(number) + 1],
                is_tuple=False,
                opcode="get-tuple-element",
                operands=(name,),
                inside=f"%{name}",
                rest=f", index={number}",
                called=(),
                op_name="",
                place="",
            )
            module.rows[operand] = taken
            module.computations[row.home].append(operand)


def _row(line: str, start: re.Match[str], home: str, places: dict[str, str]) -> Row:
    at = start.end()
    kind = _balanced(line, at) if line[at] == "(" else line[at : line.index(" ", at)]
    opcode = _OPCODE.match(line, at + len(kind))
    if opcode is None:
        raise ValueError(f"no instruction: {line}")
    inside = _balanced(line, opcode.end() - 1)
    rest = line[opcode.end() - 1 + len(inside) :]
    named = _OP_NAME.search(rest)
    frame = re.search(r"\bstack_frame_id=(\d+)", rest)
    branches = _BRANCHES.search(rest)
    return Row(
        name=start[2],
        home=home,
        arrays=tuple(_arrays(kind)),
        is_tuple=kind.startswith("("),
        opcode=opcode[1],
        operands=tuple(_NAME.findall(inside)),
        inside=inside[1:-1],
        rest=rest,
        called=(*_CALLED.findall(rest), *(_NAME.findall(branches[1]) if branches else ())),
        op_name=re.sub(r"\\(.)", r"\1", named[1]) if named else "",
        place=places.get(frame[1], "") if frame else _older_place(rest),
    )


def _arrays(kind: str) -> Iterator[Array]:
    for dtype, sizes in _ARRAY.findall(re.sub(r"\{[^{}]*\}|/\*.*?\*/", "", kind)):
        yield Array(dtype, tuple(int(size.lstrip("<=")) for size in sizes.split(",") if size))


def _places(text: str) -> dict[str, str]:
    """Stack frame -> "file:line", from the tables at the head of the module."""
    tables: dict[str, list[str]] = {"FileNames": [], "FunctionNames": [], "FileLocations": [], "StackFrames": []}
    table = None
    for line in text.splitlines():
        if line in tables:
            table = tables[line]
        elif not line:
            table = None
        elif table is not None:
            table.append(line)
    files = {m[1]: m[2] for m in map(_FILE.match, tables["FileNames"]) if m}
    where = {m[1]: f"{files[m[2]]}:{m[3]}" for m in map(_LOCATION.match, tables["FileLocations"]) if m}
    return {m[1]: where[m[2]] for m in map(_FRAME.match, tables["StackFrames"]) if m}


def _older_place(rest: str) -> str:
    """Before JAX 0.9 every instruction has its file and line itself."""
    found = re.search(r'source_file="([^"]*)" source_line=(\d+)', rest)
    return f"{found[1]}:{found[2]}" if found else ""


def _balanced(line: str, start: int) -> str:
    """The text from the bracket at `start` to the one that closes it."""
    opening = line[start]
    closing, depth = {"(": ")", "{": "}"}[opening], 0
    for index in range(start, len(line)):
        depth += (line[index] == opening) - (line[index] == closing)
        if not depth:
            return line[start : index + 1]
    raise ValueError(f"nothing closes column {start} of {line}")


def _parts(text: str) -> Iterator[str]:
    """The shardings in the braces of a tuple's sharding."""
    at = 1
    while (at := text.find("{", at)) >= 0:
        yield (part := _balanced(text, at))
        at += len(part)


# ---------------------------------------------------------------- shardings


def tiles_of(sharding: str, rank: int, partitions: int) -> Tiles:
    """Which tile each partition holds along each of `rank` dimensions; "" for no sharding, which is replicated."""
    if "devices=[" in sharding:
        return _tiles_by_list(sharding, rank, partitions)
    if "mesh[" in sharding:
        return _tiles_by_mesh(sharding, rank, partitions)
    return ((0,) * rank,) * partitions


def _tiles_by_list(sharding: str, rank: int, partitions: int) -> Tiles:
    counts = [int(n) for n in re.search(r"devices=\[([\d,]+)\]", sharding)[1].split(",")]  # type: ignore[index]
    iota = re.search(r"\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", sharding)
    if iota:
        shape = [int(n) for n in iota[1].split(",")]
        order = [int(n) for n in iota[2].split(",")] if iota[2] else range(len(shape))
        devices = np.arange(math.prod(shape)).reshape(shape).transpose(order).ravel()
    else:
        devices = np.array([int(n) for n in re.search(r"\](\d[\d,]*)", sharding)[1].split(",")])  # type: ignore[index]
    where = np.zeros((partitions, rank), int)
    for position, device in enumerate(devices.tolist()):
        where[device] = np.unravel_index(position, counts)[:rank]
    return tuple(map(tuple, where.tolist()))


_AXIS = re.compile(r"'([^']*)'(?::\((\d+)\)(\d+))?")


def _tiles_by_mesh(sharding: str, rank: int, partitions: int) -> Tiles:
    """JAX 0.12: `{mesh['data'=2,'model'=4], [{'data'}, {'model':(1)2}]}`, with `device_ids=([8]<=...)` perhaps."""
    head, _, tail = sharding.partition("]")
    sizes = {name: int(size) for name, size in re.findall(r"'([^']*)'=(\d+)", head)}
    if not sizes:
        # `{mesh[], []}`: nothing to split over.
        return ((0,) * rank,) * partitions
    order = _order(sharding, partitions)
    listed = re.search(r"\[(.*?)\](?:,|\}|$)", tail)
    dimensions = re.findall(r"\{([^{}]*)\}", listed[1]) if listed else []
    where = np.zeros((partitions, rank), int)
    for position, device in enumerate(order):
        along = dict(zip(sizes, np.unravel_index(position, tuple(sizes.values())), strict=True))
        for dimension, axes in enumerate(dimensions[:rank]):
            for name, before, part in _AXIS.findall(axes):
                size, index = sizes[name], int(along[name])
                if part:
                    index, size = index // (size // (int(before) * int(part))) % int(part), int(part)
                where[device, dimension] = where[device, dimension] * size + index
    return tuple(map(tuple, where.tolist()))


def _order(sharding: str, partitions: int) -> list[int]:
    """The partition at each position of the mesh: `device_ids=(3,1,2,0)`, or `([2,4]T(1,0))` for a transposed count."""
    found = re.search(r"device_ids=\(\[?([\d,]+)\]?(?:T\(([\d,]+)\))?\)", sharding)
    if found is None:
        return list(range(partitions))
    numbers = [int(n) for n in found[1].split(",")]
    if found[2]:
        order = [int(n) for n in found[2].split(",")]
        return np.arange(math.prod(numbers)).reshape(numbers).transpose(order).ravel().tolist()
    return numbers if len(numbers) == partitions else list(range(partitions))
