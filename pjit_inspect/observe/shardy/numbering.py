"""Numbers the operations of a copy: XLA carries an operation's name, and the number in it, through its passes.

Operation n is named `#n/` plus the last part of its name, from which XLA makes names of instructions. Its source place
is kept. In a module that XLA puts in the place of a call, it is named `pjit_inspect_rule<n>_` plus that part, without a
place: XLA gives its operations the name and place of the call, and leaves to the instructions their names. Not its job:
numbers in XLA's programs (`parse.sharding.propagated_hlo`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import Place, Span
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.mlir_locations import read_location

_FORM = "#{}/{}"
_PACKAGE = str(Path(__file__).parents[2]) + os.sep
_NO_OPERATIONS = frozenset(("builtin.module", "func.func", "sdy.mesh"))


def numbered(module: Any) -> Iterator[Any]:
    """The operations of a module, each at the place of its number."""
    return (op for op in _mlir.each_op(module.operation) if op.name not in _NO_OPERATIONS)


class Numbering:
    """Numbers the operations of a copy, and of the modules that become parts of it, in one count."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._found: list[Place] = []
        self._rows: list[int] = []

    def number(self, module: Any, form: str = _FORM) -> None:
        """Numbers every operation of a module, in place."""
        for op in numbered(module):
            text = str(op.location)
            row = self._places.get(text)
            if row is None:
                row = self._places[text] = len(self._found)
                self._found.append(read_location(text) if form == _FORM else _in_rule(read_location(text)))
            _mlir.set_name(op, form.format(len(self._rows), self._found[row].kept), is_place_kept=form == _FORM)
            self._rows.append(row)

    def text(self) -> str:
        """The place that each operation had, as JSON for `read_places`."""
        # Frames of one text are mostly one object, of which there are few.
        found = self._found
        pairs = {id(frame): (frame, span) for own in found for frame, span in zip(own.frames, own.spans, strict=True)}
        number_of = {key: place for place, key in enumerate(pairs)}
        plain = [[own.name, [number_of[id(frame)] for frame in own.frames]] for own in found]
        frames = [_plain(*pair) for pair in pairs.values()]
        return json.dumps({"frames": frames, "places": plain, "rows": self._rows})


def _in_rule(place: Place) -> Place:
    """A place in a partition rule, without JAX's name of the module and the frames of who asked the rule: ours."""
    count = next((k for k, frame in enumerate(place.frames) if frame.file.startswith(_PACKAGE)), len(place.frames))
    return Place(
        name=place.name.partition("/")[2] or place.name, frames=place.frames[:count], spans=place.spans[:count]
    )


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
