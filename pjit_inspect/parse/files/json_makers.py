"""JSON to dataclasses, fast: for each type hint a function that makes its value, or raises without a reason.

Each hint is analysed once instead of once per value, which is ten times as fast. Anything not exactly as declared
raises some Exception; `parse.files.json_fields.from_json` then reads the same data again, slowly, for an error with the
reason and the place. Not its job: those errors, and writing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pjit_inspect.model.words.sentence import PHRASE_KINDS, Phrase, Sentence

MAX_INTEGER = 2**63 - 1
"""The largest integer read from JSON; the smallest is its negative."""

NOT_FINITE = ("nan", "inf", "-inf")
"""The numbers without a JSON form, as they are written."""

BARE = "bare"
"""The mark after the text of a phrase without backticks."""

Rows = Mapping[type, Sequence[Any]]
"""The values of types that are referred to by index."""

_Maker = Callable[[Any, Rows], Any]
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@cache
def field_hints(type_: type) -> dict[str, Any]:
    """The type of each field of a dataclass."""
    return get_type_hints(type_)


@cache
def stored_fields(type_: type) -> tuple[Field[Any], ...]:
    """The fields of a dataclass that hold data; fields that the constructor does not take are caches."""
    return tuple(field for field in fields(type_) if field.init)


@cache
def maker_of(hint: Any, tabled: frozenset[type], given: frozenset[str] = frozenset()) -> Callable[..., Any]:
    """A function from JSON and the rows of the `tabled` types to a value of type `hint`.

    Its third argument holds the `given` fields, which do not come from JSON. Its exceptions have no message. Raises
    TypeError for a hint that only the slow way knows.
    """
    makers = _Makers(tabled)
    return makers.of_fields(hint, given) if given else makers.of(hint)


class _Makers:
    """The makers of one hint and of the hints within it."""

    def __init__(self, tabled: frozenset[type]) -> None:
        self._tabled = tabled
        self._made: dict[Any, _Maker] = {}

    def of(self, hint: Any) -> _Maker:
        if hint not in self._made:
            # A type that contains itself is asked for before it is made.
            self._made[hint] = lambda data, rows: self._made[hint](data, rows)
            self._made[hint] = self._make(hint)
        return self._made[hint]

    def _make(self, hint: Any) -> _Maker:
        origin, args = get_origin(hint), get_args(hint)
        if hint in self._tabled:
            return _row_maker(hint)
        if origin in (Union, UnionType):
            return self._union(args)
        if origin is Literal:
            return _literal_maker(frozenset(args))
        if origin is tuple:
            return _LISTS.get(args[0]) or _list_maker(self.of(args[0]))
        if origin is dict:
            return _dict_maker(self.of(args[1]))
        return _PLAIN.get(hint) or self.of_fields(hint)

    def _union(self, members: Sequence[Any]) -> _Maker:
        makers: dict[type, _Maker] = {}
        for member in members:
            for kind in self._kinds(member):
                if kind in makers:
                    raise TypeError(f"two of {members} are {kind.__name__} in JSON")
                makers[kind] = self.of(member)
        return lambda data, rows: makers[type(data)](data, rows)

    def _kinds(self, hint: Any) -> tuple[type, ...]:
        """The JSON types that a value of this hint can have."""
        if hint in self._tabled:
            return (int,)
        if hint in _KINDS:
            return _KINDS[hint]
        return {Literal: (str,), tuple: (list,)}.get(get_origin(hint), (dict,))

    def of_fields(self, type_: Any, given: frozenset[str] = frozenset()) -> Callable[..., Any]:
        """The maker of a dataclass."""
        if not (is_dataclass(type_) and isinstance(type_, type)):
            raise TypeError(f"{type_} is no hint that is known here")
        hints = field_hints(type_)
        makers = {field.name: self.of(hints[field.name]) for field in stored_fields(type_) if field.name not in given}

        def make(data: Any, rows: Rows, given: Mapping[str, Any] = _NOTHING) -> Any:
            # An unknown field is a KeyError here; a missing field is a TypeError of the constructor.
            values = {name: makers[name](value, rows) for name, value in _checked(data, dict).items()}
            return type_(**values, **given)

        return make


def _checked(data: Any, kind: type) -> Any:
    if type(data) is not kind:
        raise TypeError
    return data


def _plain_maker(kind: type) -> _Maker:
    def make(data: Any, rows: Rows) -> Any:
        if type(data) is not kind:
            raise TypeError
        return data

    return make


def _row_maker(type_: type) -> _Maker:
    # A negative index would count from the end.
    return lambda data, rows: rows[type_][_natural(data)]


def _natural(data: Any) -> int:
    if type(data) is not int or data < 0:
        raise TypeError
    return data


def _literal_maker(choices: frozenset[Any]) -> _Maker:
    def make(data: Any, rows: Rows) -> str:
        if type(data) is not str or data not in choices:
            raise TypeError
        return data

    return make


def _list_maker(make: _Maker) -> _Maker:
    return lambda data, rows: tuple([make(item, rows) for item in _checked(data, list)])


def _dict_maker(make: _Maker) -> _Maker:
    return lambda data, rows: {key: make(item, rows) for key, item in _checked(data, dict).items()}


def _integer(data: Any, rows: Rows) -> int:
    if type(data) is not int or not -MAX_INTEGER <= data <= MAX_INTEGER:
        raise TypeError
    return data


def _integers(data: Any, rows: Rows) -> tuple[int, ...]:
    # A sharding over 4,096 devices has as many integers.
    if _checked(data, list) and (set(map(type, data)) != {int} or min(data) < -MAX_INTEGER or max(data) > MAX_INTEGER):
        raise TypeError
    return tuple(data)


def _strings(data: Any, rows: Rows) -> tuple[str, ...]:
    if _checked(data, list) and set(map(type, data)) != {str}:
        raise TypeError
    return tuple(data)


def _number(data: Any, rows: Rows) -> float:
    if type(data) is int:
        return float(_integer(data, rows))
    if type(data) is not float and not (type(data) is str and data in NOT_FINITE):
        raise TypeError
    return float(data)


def _sentence(data: Any, rows: Rows) -> Sentence:
    return Sentence(data) if type(data) is str else Sentence.of(list(map(_phrase, _checked(data, list))))


def _phrase(data: Any) -> Phrase:
    kind, text, *more = _checked(data, list)
    if kind not in PHRASE_KINDS or type(text) is not str or more not in ([], [BARE]):
        raise TypeError
    return Phrase(kind, text, is_bare=bool(more))


_PLAIN: dict[Any, _Maker] = {
    str: _plain_maker(str), bool: _plain_maker(bool), NoneType: _plain_maker(NoneType), int: _integer, float: _number,
    Sentence: _sentence,
}  # fmt: skip
_LISTS: dict[Any, _Maker] = {int: _integers, str: _strings}
_KINDS: dict[Any, tuple[type, ...]] = {
    str: (str,), bool: (bool,), NoneType: (NoneType,), int: (int,), float: (float, int, str), Sentence: (str, list),
}  # fmt: skip
