"""Items that are shown as one: equal in all that matters, and the name they share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

_Item = TypeVar("_Item")
_Key = TypeVar("_Key", bound=Hashable)


def grouped(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, tuple[_Item, ...]]:
    """The items of each key, in order of appearance."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return {one_key: tuple(members) for one_key, members in groups.items()}


def shared_name(names: Iterable[str], pattern: Callable[[str], str]) -> str:
    """The name of a group: its members' one name, or the pattern of their names, with layer numbers starred."""
    first, *others = dict.fromkeys(names)
    return pattern(first) if others else first
