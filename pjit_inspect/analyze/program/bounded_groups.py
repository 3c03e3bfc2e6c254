"""A program whose replica groups take no more memory than those of any program there is.

A line of text can name 131,072 devices, and a file can have thousands of such lines: past a total, groups are unknown.
So are groups with devices that no machine has, for which tables of all devices would take all memory, and groups that
contradict themselves. Not its job: reading groups (`parse.wire.replica_groups`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import Details, HloModule, HloReader
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.report.collective import KINDS

MOST_MEMBERS = 1 << 21
"""Members of all different groups of one program together: 200 lists of all devices of the largest machine there is."""

_COLLECTIVES = frozenset(name for kind in KINDS for name in (kind, f"{kind}-start"))
_UNKNOWN = Details(unknown=((0, b""),))
"""Details of which nothing is known, not even whether there are groups."""


def with_bounded_groups(module: HloModule) -> HloModule:
    """The same program, its collectives without details where these are damaged or their groups are too many.

    `Details.unknown` of such a collective is not empty.
    """
    return module if isinstance(module.reader, _Reader) else replace(module, reader=_Reader(module))


def are_devices(groups: Iterable[Sequence[int]]) -> bool:
    """Whether all these numbers can be those of devices."""
    return all(0 <= min(group, default=0) <= max(group, default=0) < MOST_MEMBERS for group in groups)


class _Reader:
    """A reader of the same program that decodes the details of each collective once."""

    def __init__(self, module: HloModule) -> None:
        self._reader: HloReader = module.reader
        self._collectives = set(module.with_opcode(*_COLLECTIVES).tolist())
        self._details: dict[int, Details] = {}
        self._groups: dict[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]] = {}
        self._members = 0
        self._permutes = set(module.with_opcode("collective-permute", "collective-permute-start").tolist())

    def name(self, index: int) -> str:
        """As the program's own."""
        return self._reader.name(index)

    def names(self, indices: Sequence[int] | np.ndarray) -> Sequence[str]:
        """As the program's own."""
        return self._reader.names(indices)

    def shape(self, shape_id: int) -> Shape:
        """As the program's own."""
        return self._reader.shape(shape_id)

    def entry_shapes(self) -> tuple[tuple[Shape, ...], Shape] | None:
        return self._reader.entry_shapes()

    def number(self, index: int) -> int:
        """As the program's own."""
        return self._reader.number(index)

    def kernel(self, index: int) -> tuple[str, str]:
        """As the program's own."""
        return self._reader.kernel(index)

    def ids(self) -> np.ndarray:
        """As the program's own."""
        return self._reader.ids()

    def raw(self, index: int) -> bytes:
        """As the program's own."""
        return self._reader.raw(index)

    def module_fields(self) -> Mapping[str, Any]:
        """As the program's own."""
        return self._reader.module_fields()

    def details(self, index: int) -> Details:
        """As the program's own, but for collectives whose details are damaged or whose groups are too many."""
        if index not in self._collectives:
            return self._reader.details(index)
        if index not in self._details:
            self._details[index] = self._bounded(index)
        return self._details[index]

    def _bounded(self, index: int) -> Details:
        if self._members > MOST_MEMBERS and index not in self._permutes:
            # To decode more of them only to drop them would take the time, if not the memory.
            return _UNKNOWN
        try:
            details = self._reader.details(index)
        except ParseError:
            return _UNKNOWN
        groups = details.replica_groups
        if not are_devices(groups or ()) or not are_devices(details.source_target_pairs):
            unknown = (*details.unknown, *_UNKNOWN.unknown)
            return replace(details, replica_groups=None, source_target_pairs=(), unknown=unknown)
        if not groups:
            return details
        if groups not in self._groups:
            self._members += sum(map(len, groups))
            if self._members > MOST_MEMBERS:
                return replace(details, replica_groups=None, unknown=(*details.unknown, *_UNKNOWN.unknown))
            self._groups[groups] = groups
        return replace(details, replica_groups=self._groups[groups])
