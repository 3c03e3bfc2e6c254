"""Frozen data with a link to their record, which lets them draw or check themselves.

Not its job: drawing and checking (`displays`, `suggest`).
"""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Any, Self


class OfRecord:
    """The first base of a frozen dataclass whose last base is one of plain data, and which adds a way to the record.

    Except for its displays and checks it behaves as the plain data: equal to it, with the same hash, and pickled as it.
    """

    __slots__ = ()

    @classmethod
    def made_of(cls, plain: Any, **way: Any) -> Self:
        """The same data with a way to its record."""
        return cls(**_values(plain, type(plain)), **way)

    def __reduce__(self) -> tuple[partial[Any], tuple[()]]:
        kind = type(self).__bases__[-1]
        return partial(kind, **_values(self, kind)), ()

    def __copy__(self) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        return _plain(self) == _plain(other)

    def __hash__(self) -> int:
        return hash(_plain(self))


def _plain(data: object) -> object:
    """The data without the way."""
    return data.__reduce__()[0]() if isinstance(data, OfRecord) else data


def _values(data: Any, kind: type) -> dict[str, Any]:
    return {field.name: getattr(data, field.name) for field in fields(kind)}
