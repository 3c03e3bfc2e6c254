"""Tables that many rows of the inspector share, each entry once: axis sets, group sets, shardings, places.

Thousands of collectives share a handful of group sets; a set of 4,096 devices is sent once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.view.document.text_spans import axes_text
from pjit_inspect.view.inspector.blob import ends_of, lists_of, whole_numbers
from pjit_inspect.view.inspector.words import axes_data, name_data, spec_data

_Key = tuple[int, tuple[str, ...] | None]


@dataclass(slots=True)
class SharedTables:
    """Entries in the order of first use, with their numbers."""

    sources: tuple[SourceText, ...] = ()
    has_mesh: bool = True
    _axes: dict[_Key, int] = field(default_factory=dict)
    _groups: dict[tuple[tuple[int, ...], ...], int] = field(default_factory=dict)
    _shardings: dict[Sharding, int] = field(default_factory=dict)
    _spots: dict[tuple[int, int], int] = field(default_factory=dict)
    _files: dict[tuple[str, str | None], int] = field(default_factory=dict)
    _cells: dict[str, str | None] = field(default_factory=dict)
    _functions: dict[int, dict[str, None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for source in self.sources:
            self._cells[source.file] = source.cell
            self._files.setdefault((source.file, source.cell), len(self._files))

    def axis_set(self, axes: tuple[str, ...] | None, mesh: int = 0) -> int:
        """The number of a set of axes of a mesh."""
        return self._axes.setdefault((mesh if axes else 0, axes), len(self._axes))

    def group_set(self, row: Collective) -> int:
        """The number of a collective's groups."""
        return self._groups.setdefault(row.groups, len(self._groups))

    def sharding(self, sharding: Sharding) -> int:
        """The number of a sharding."""
        return self._shardings.setdefault(sharding, len(self._shardings))

    def spot(self, frames: tuple[Frame, ...]) -> int:
        """The number of the innermost line whose text the record has; else of the innermost line.

        -1 without frames.
        """
        if not frames:
            return -1
        at = next((at for at, frame in enumerate(frames) if frame.file in self._cells), 0)
        frame = frames[at]
        cell = self._cells.get(frame.file, frame.cell)
        file = self._files.setdefault((frame.file, cell), len(self._files))
        spot = self._spots.setdefault((file, frame.line), len(self._spots))
        # The line's own function, and those of libraries that it calls.
        names = (name_data(one.function) for one in frames[: at + 1] if one.function)
        self._functions.setdefault(spot, {}).update(dict.fromkeys(names))
        return spot

    def spot_of(self, source: SourceText, line: int) -> int:
        """The number of a line of one of the record's texts."""
        file = self._files[source.file, source.cell]
        return self._spots.setdefault((file, line), len(self._spots))

    def header(self) -> dict[str, Any]:
        """The tables that are no columns, as JSON."""
        return {
            "axis_sets": [
                {"axes": None if axes is None else axes_data(axes), "mesh": mesh, "words": self._words(axes)}
                for mesh, axes in self._axes
            ],
            "shardings": [_sharding_data(sharding) for sharding in self._shardings],
            "files": [name_data(Frame(file=file, cell=cell, line=0).where) for file, cell in self._files],
            "functions": list(dict.fromkeys(self._function_names())),
        }

    def _function_names(self) -> list[str]:
        """The functions of each place, in one string."""
        return [" ".join(self._functions.get(spot, ())) for spot in range(len(self._spots))]

    def _words(self, axes: tuple[str, ...] | None) -> str:
        """The axes in words; without a known mesh, groups may still follow unknown axes."""
        if axes is None and not self.has_mesh:
            return "axis unknown"
        return name_data(axes_text(axes).replace(" x ", " \u00d7 "))

    def columns(self) -> dict[str, np.ndarray]:
        """The tables of numbers."""
        sets = list(self._groups)
        groups = [group for one in sets for group in one]
        shardings = list(self._shardings)
        functions = self._function_names()
        numbers = {name: number for number, name in enumerate(dict.fromkeys(functions))}
        return {
            **lists_of("groups", groups),
            "group_sets.ends": ends_of(sets),
            "sharding_devices": whole_numbers(device for one in shardings for device in one.device_ids),
            "sharding_tiles": whole_numbers(tile for one in shardings for tile in one.tile_of),
            "shardings.ends": ends_of(one.device_ids for one in shardings),
            "spot_files": np.array([file for file, _ in self._spots], np.int32),
            "spot_functions": np.array([numbers[name] for name in functions], np.int32),
            "spot_lines": np.array([min(line, 2**31 - 1) for _, line in self._spots], np.int32),
        }


def _sharding_data(sharding: Sharding) -> dict[str, Any]:
    return {
        "spec": spec_data(sharding.spec),
        "tiles": list(sharding.tiles),
        "kind": name_data(sharding.kind),
        "copies": sharding.replication,
        "partial": axes_data(sharding.unreduced),
    }
