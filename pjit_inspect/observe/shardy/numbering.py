"""Numbers the operations of a copy: XLA carries an operation's name, and the number in it, through its passes.

Operation n is named `#n/` plus the last part of its name, from which XLA makes names of instructions. Its source place
is kept. Not its job: numbers in XLA's programs (`parse.sharding.propagated_hlo`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import Place, Span
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.mlir_locations import read_location

_NO_OPERATIONS = frozenset(("builtin.module", "func.func", "sdy.mesh"))


def numbered(module: Any) -> Iterator[Any]:
    """The operations of a module, each at the place of its number."""
    return (op for op in _mlir.each_op(module.operation) if op.name not in _NO_OPERATIONS)


def number(module: Any) -> str:
    """Number every operation of a module, in place; the place that each had, as JSON for `read_places`."""
    places: dict[str, int] = {}
    found: list[Place] = []
    rows: list[int] = []
    for op in numbered(module):
        text = str(op.location)
        row = places.get(text)
        if row is None:
            row = places[text] = len(found)
            found.append(read_location(text))
        _mlir.set_name(op, f"#{len(rows)}/{found[row].kept}")
        rows.append(row)
    # Frames of one text are mostly one object, of which there are few.
    pairs = {id(frame): (frame, span) for own in found for frame, span in zip(own.frames, own.spans, strict=True)}
    number_of = {key: place for place, key in enumerate(pairs)}
    plain = [[own.name, [number_of[id(frame)] for frame in own.frames]] for own in found]
    return json.dumps({"frames": [_plain(*pair) for pair in pairs.values()], "places": plain, "rows": rows})


def _plain(frame: Frame, span: Span | None) -> list[Any]:
    ends = () if span is None else (span.column, span.end_line, span.end_column)
    return [frame.file, frame.line, frame.function, *ends]


def read_places(content: bytes) -> tuple[Place, ...]:
    """For each number, the place that the operation had. The JSON is ours: a process apart wrote it."""
    plain = json.loads(content)
    frames = [_frame(*own) for own in plain["frames"]]
    places = []
    for name, rows in plain["places"]:
        own = [frames[row] for row in rows]
        places.append(Place(name=name, frames=tuple(f for f, _ in own), spans=tuple(span for _, span in own)))
    return tuple(places[row] for row in plain["rows"])


def _frame(file: str, line: int, function: str, *ends: int) -> tuple[Frame, Span | None]:
    if not ends:
        return Frame(file=file, line=line, function=function), None
    column, end_line, end_column = ends
    frame = Frame(file=file, line=line, function=function, columns=(column, end_column))
    return frame, Span(line=line, column=column, end_line=end_line, end_column=end_column)
