"""The origin of instructions: JAX's operation names and a module's tables of stack frames.

Not its job: finding the user's frame (`analyze.program.source`).

*Source*: `xla.OpMetadata`, `xla.StackFrameIndexProto`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo_columns import StackFrames
from pjit_inspect.model.program.incomplete import MISSING_INSTRUCTIONS
from pjit_inspect.parse.hlo_proto.columns import Columns, read_numbers, read_texts
from pjit_inspect.parse.wire.hlo_schema import text
from pjit_inspect.parse.wire.wire import scan_messages

_OP_NAME, _FILE, _LINE, _FRAME, _COLUMN = 2, 3, 4, 15, 18
_MAX_LINE = 2**31 - 1
_MOST_ROUNDS = 32

Place = tuple[str, int, int]
"""A file, a line and a column; 0 for unknown."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OperationNames:
    """Operation names and frames of all instructions.

    Attributes:
      op_names: every distinct name; the first is "".
      op_name, frame: for each instruction, the row of `op_names` and the frame (from 1; 0 for none).
      frames: the tables.
    """

    op_names: tuple[str, ...]
    op_name: np.ndarray
    frame: np.ndarray
    frames: StackFrames


def read_source(columns: Columns, index: Any) -> OperationNames:
    """Names and frames of the instructions of `columns`; `index` is the module's decoded `StackFrameIndexProto`.

    Raises `ParseError` if a table points outside another.
    """
    content = b"".join(columns.metadatas)
    ends = np.cumsum([len(message) for message in columns.metadatas], dtype=np.int64)
    starts = ends - np.array([len(message) for message in columns.metadatas], np.int64)
    buffer = np.frombuffer(content, np.uint8)
    fields = scan_messages(buffer, starts, ends)
    count = len(columns.metadatas)
    texts = read_texts(content, *fields.last(_OP_NAME, count))
    table = {name: row for row, name in enumerate(dict.fromkeys(["", *texts]))}
    frame = read_numbers(buffer, *fields.last(_FRAME, count))
    lines = read_numbers(buffer, *fields.last(_LINE, count))
    # An impossible line is unknown, which XLA writes as 0.
    lines[(lines < 0) | (lines > _MAX_LINE)] = 0
    begins = read_numbers(buffer, *fields.last(_COLUMN, count))
    files = read_texts(content, *fields.last(_FILE, count))
    places = list(zip(files, lines.tolist(), begins.tolist(), strict=True))
    frames = _frames(index)
    if any(files) and _is_of_another(frames, frame, places):
        frames, frame = _found_by_place(frames, frame, places)
    frames, frame = _with_places(frames, frame, places)
    # XLA numbers frames of what a partition rule makes by the rule's module, whose table it drops.
    is_lost = (frame < 0) | (frame > len(frames.location))
    columns.unknown[MISSING_INSTRUCTIONS] += int(is_lost.sum())
    frame[is_lost] = 0
    op_name = np.array([table[text] for text in texts], np.int32)
    return OperationNames(
        op_names=tuple(table),
        op_name=op_name[columns.metadata],
        frame=frame.astype(np.int32)[columns.metadata],
        frames=frames,
    )


def _frames(index: Any) -> StackFrames:
    locations, frames = index.file_locations, index.stack_frames
    location_file = [location.file_name_id - 1 for location in locations]
    location_function = [location.function_name_id - 1 for location in locations]
    location = [frame.file_location_id - 1 for frame in frames]
    parent = [frame.parent_frame_id for frame in frames]
    _check(location_file, len(index.file_names), "a file")
    _check(location_function, len(index.function_names), "a function")
    _check(location, len(locations), "a location")
    _check(parent, len(frames) + 1, "a frame")
    return StackFrames(
        files=tuple(map(text, index.file_names)),
        functions=tuple(map(text, index.function_names)),
        location_file=np.array(location_file, np.int32),
        location_function=np.array(location_function, np.int32),
        location_line=np.array([location.line for location in locations], np.int32),
        location_columns=np.array([(o.column, o.end_column) for o in locations], np.int32).reshape(-1, 2),
        location=np.array(location, np.int32),
        parent=np.array(parent, np.int32),
    )


def _check(column: list[int], rows: int, what: str) -> None:
    # Checked before they become 32-bit columns: a row minus one may not fit.
    if column and not 0 <= min(column) <= max(column) < rows:
        raise ParseError(f"the source table names {what} that is not there", expected="a row of the table")


def _is_of_another(frames: StackFrames, frame: np.ndarray, places: list[Place]) -> bool:
    """True if the instructions number another table of frames: a place in the metadata differs from its frame's place.

    XLA of jaxlib 0.8.1, which writes both, does this.
    """
    own = _places_of(frames)
    pairs = zip(frame.tolist(), places, strict=True)
    return any(
        number and place[0] and not (0 < number <= len(own) and place in _matching(own[number - 1]))
        for number, place in pairs
    )


def _matching(own: Place) -> tuple[Place, Place]:
    """The places in metadata that match a frame's place: with its column or without."""
    return own, (*own[:2], 0)


def _places_of(frames: StackFrames) -> list[Place]:
    """The place of each frame."""
    files, lines, columns = frames.location_file, frames.location_line, frames.location_columns[:, 0]
    return [(frames.files[files[row]], int(lines[row]), int(columns[row])) for row in frames.location]


def _found_by_place(frames: StackFrames, frame: np.ndarray, places: list[Place]) -> tuple[StackFrames, np.ndarray]:
    """The frame of each place, 0 for none.

    For a place called from several, the frame that fits the instruction's number; if several fit, a new frame under
    their common caller.
    """
    found: dict[Place, list[int]] = {}
    for number, place in enumerate(_places_of(frames), start=1):
        for one in dict.fromkeys(_matching(place)):
            found.setdefault(one, []).append(number)
    pairs = list(zip(frame.tolist(), places, strict=True))
    whole = {place: _without_shortened(found[place], frames) for place in dict.fromkeys(places) if place in found}
    wanted = {pair: whole[pair[1]] for pair in dict.fromkeys(pairs) if pair[1] in whole}
    told = _told_apart(wanted, frames.parent.tolist())
    locations, parents = frames.location.tolist(), frames.parent.tolist()
    chosen: dict[tuple[int, Place], int] = {}
    for pair, same in told.items():
        if len(same) > 1:
            locations.append(locations[same[0] - 1])
            parents.append(_common(same, frames))
        chosen[pair] = same[0] if len(same) == 1 else len(locations)
    numbers = np.array([chosen.get(pair, 0) for pair in pairs], np.int64)
    return replace(frames, location=np.array(locations, np.int32), parent=np.array(parents, np.int32)), numbers


def _told_apart(wanted: dict[tuple[int, Place], list[int]], parents: list[int]) -> dict[tuple[int, Place], list[int]]:
    """The frames at its place that each number can be.

    Both tables hold the same frames, each once, and a caller's number is below its callee's.
    """
    for _ in range(_MOST_ROUNDS):
        known = {same[0]: number for (number, _), same in wanted.items() if len(same) == 1}
        above = [0]
        for row, parent in enumerate(parents, start=1):
            # In a damaged table, where a caller comes later, nothing follows.
            above.append(max(above[parent], known.get(parent, 0)) if parent < row else 0)
        left = {
            (number, place): [one for one in same if len(same) == 1 or (one not in known and above[one] < number)]
            or same
            for (number, place), same in wanted.items()
        }
        if left == wanted:
            break
        wanted = left
    return wanted


def _without_shortened(numbers: list[int], frames: StackFrames) -> list[int]:
    """The frames, except those whose callers repeat another's up to JAX's limit.

    JAX keeps ten frames of a stack: the stack of an op called below a line has fewer of the line's callers than the
    line's own stack.
    """
    chains = {number: tuple(frames.location[one - 1] for one in _callers(number, frames)) for number in numbers}
    kept: list[int] = []
    for number in sorted(numbers, key=lambda one: -len(chains[one])):
        if all(chains[number] != chains[longer][: len(chains[number])] for longer in kept):
            kept.append(number)
    return sorted(kept)


def _common(numbers: list[int], frames: StackFrames) -> int:
    """The innermost common caller of all these frames; 0 for none."""
    chains = [_callers(number, frames) for number in numbers]
    return next((caller for caller in chains[0] if all(caller in chain for chain in chains)), 0)


def _callers(number: int, frames: StackFrames) -> dict[int, None]:
    """The callers of a frame, innermost first; a cycle ends the list."""
    callers: dict[int, None] = {}
    while (number := int(frames.parent[number - 1])) and number not in callers:
        callers[number] = None
    return callers


def _with_places(frames: StackFrames, frame: np.ndarray, places: list[Place]) -> tuple[StackFrames, np.ndarray]:
    """Adds a frame for every place in the metadata itself, as older XLA writes it.

    Only for metadata without a frame.
    """
    added: dict[tuple[str, int], int] = {}
    frame = frame.copy()
    for row, (file, line, _) in enumerate(places):
        if file and not frame[row]:
            frame[row] = len(frames.location) + added.setdefault((file, line), len(added) + 1)
    if not added:
        return frames, frame
    old, zeros = len(frames.location_line), np.zeros(len(added), np.int32)
    new = np.arange(len(added), dtype=np.int32)
    return StackFrames(
        files=(*frames.files, *(file for file, _ in added)),
        functions=(*frames.functions, ""),
        location_file=np.concatenate((frames.location_file, len(frames.files) + new)),
        location_function=np.concatenate((frames.location_function, zeros + len(frames.functions))),
        location_line=np.concatenate((frames.location_line, np.array([line for _, line in added], np.int32))),
        location_columns=np.concatenate((frames.location_columns, np.zeros((len(added), 2), np.int32))),
        location=np.concatenate((frames.location, old + new)),
        parent=np.concatenate((frames.parent, zeros)),
    ), frame
