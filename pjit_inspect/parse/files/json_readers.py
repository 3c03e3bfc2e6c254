"""JSON to dataclasses: for each type hint one function that checks a value and makes it.

A hint is analysed once, not once per value. A value that is not exactly as declared raises `UnfitError`; every reader
around it adds its key. Not its job: writing, and errors for users (`parse.files.json_fields`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from itertools import repeat
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from pjit_inspect.model.words.sentence import PHRASE_KINDS, Phrase, PhraseKind, Sentence

MAX_INTEGER = 2**63 - 1
"""The largest integer read from JSON; the smallest is its negative."""

BARE = "bare"
"""The mark after the text of a phrase without backticks."""

Rows = Mapping[type, Sequence[Any]]
"""The values of types that are referred to by index."""

Reader = Callable[[Any, Rows], Any]
"""A function from JSON to a value; it raises `UnfitError`."""

_NOT_FINITE = ("nan", "inf", "-inf")

_NAMES = {
    str: "a string", bool: "true or false", int: "an integer", float: "a number", NoneType: "null",
    Sentence: "a list of phrases", Phrase: f'[kind, text] or [kind, text, "{BARE}"]',
}  # fmt: skip
_KINDS: dict[Any, tuple[type, ...]] = {
    str: (str,), bool: (bool,), NoneType: (NoneType,), int: (int,), float: (float, int, str), Sentence: (str, list),
    Literal: (str,), tuple: (list,),
}  # fmt: skip
"""The JSON types that values of a hint can have; those of all others are objects."""


class UnfitError(Exception):
    """A value that is not as declared.

    Attributes:
      what: the fault, after the value's path: "is 3".
      expected: the words for a right value, or its hint.
      keys: the keys and positions that lead to it, innermost first.
    """

    def __init__(self, what: str, expected: Any, *keys: str | int) -> None:
        super().__init__(what)
        self.what: str = what
        self.expected: Any = expected
        self.keys: list[str | int] = list(keys)

    @property
    def path(self) -> str:
        """The path to the value, to add to that of the whole."""
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key[:40]}" for key in reversed(self.keys))


def _mismatch(data: Any, hint: Any, *keys: str | int) -> UnfitError:
    return UnfitError(f"is {_shown(data)}", hint, *keys)


def _shown(data: Any) -> str:
    if isinstance(data, dict):
        return "an object"
    if isinstance(data, list):
        return f"a list of {len(data)}"
    # Only the start of a long string, and never the digits of a huge integer (Python refuses to print them).
    if isinstance(data, str):
        return repr(data if len(data) <= 40 else data[:40] + "...")
    if type(data) is int and abs(data) > MAX_INTEGER:
        return "an integer of more than 63 bits"
    return json.dumps(data)


def in_words(hint: Any) -> str:
    """The values of a hint, for an error: "a list", "one of 'a', 'b'"."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, args))
    if origin in (Union, UnionType):
        return " or ".join(map(in_words, args))
    return {tuple: "a list", dict: "an object"}.get(origin) or _NAMES.get(hint) or f"a {hint.__name__}"


@cache
def field_hints(type_: type) -> dict[str, Any]:
    """The type of each field of a dataclass."""
    return get_type_hints(type_)


@cache
def stored_fields(type_: type) -> tuple[Field[Any], ...]:
    """The fields of a dataclass that hold data; fields that the constructor does not take are caches."""
    return tuple(field for field in fields(type_) if field.init)


@cache
def reader_of(hint: Any, tabled: frozenset[type], skip: frozenset[str] = frozenset()) -> Reader:
    """A function from JSON and the rows of the `tabled` types to a value of type `hint`. It raises `UnfitError`.

    `skip` names fields of the outermost dataclass that JSON does not have. Raises TypeError for an unknown hint.
    """
    readers = _Readers(tabled)
    return readers.of_fields(hint, skip) if skip else readers.of(hint)


class _Readers:
    """The readers of one hint and of the hints within it."""

    def __init__(self, tabled: frozenset[type]) -> None:
        self._tabled = tabled
        self._made: dict[Any, Reader] = {}

    def of(self, hint: Any) -> Reader:
        if hint not in self._made:
            # A type that contains itself is asked for before it is made.
            self._made[hint] = lambda data, rows: self._made[hint](data, rows)
            self._made[hint] = self._make(hint)
        return self._made[hint]

    def _make(self, hint: Any) -> Reader:
        origin, args = get_origin(hint), get_args(hint)
        if hint in self._tabled:
            return _row_reader(hint)
        if origin in (Union, UnionType):
            return self._union(hint, args)
        if origin is Literal:
            return _choice_reader(hint, frozenset(args))
        if hint in _PLAIN:
            return _PLAIN[hint]
        if origin is tuple:
            return _list_reader(hint, self.of(args[0]))
        return _dict_reader(hint, self.of(args[1])) if origin is dict else self.of_fields(hint)

    def _union(self, hint: Any, members: tuple[Any, ...]) -> Reader:
        readers: dict[type, Reader] = {}
        for member in members:
            for kind in self._kinds(member):
                if kind in readers:
                    raise TypeError(f"two of {members} are {kind.__name__} in JSON")
                readers[kind] = self.of(member)

        def read(data: Any, rows: Rows) -> Any:
            read_member = readers.get(type(data))
            if read_member is None:
                raise _mismatch(data, hint)
            try:
                return read_member(data, rows)
            except UnfitError as wrong:
                if not wrong.keys and wrong.expected in members:
                    wrong.expected = hint
                raise

        return read

    def _kinds(self, hint: Any) -> tuple[type, ...]:
        if hint in self._tabled:
            return (int,)
        return _KINDS.get(get_origin(hint) or hint, (dict,))

    def of_fields(self, type_: Any, skip: frozenset[str] = frozenset()) -> Reader:
        """The reader of a dataclass."""
        if not (is_dataclass(type_) and isinstance(type_, type)):
            raise TypeError(f"{type_} is no hint that is known here")
        hints, own = field_hints(type_), [field for field in stored_fields(type_) if field.name not in skip]
        readers = {field.name: self.of(hints[field.name]) for field in own}
        needed = [field.name for field in own if field.default is MISSING and field.default_factory is MISSING]

        def read(data: Any, rows: Rows) -> Any:
            if type(data) is not dict:
                raise _mismatch(data, type_)
            values, name = {}, ""
            try:
                for name, value in data.items():
                    values[name] = readers[name](value, rows)
            except UnfitError as wrong:
                wrong.keys.append(name)
                raise
            except KeyError:
                if name in readers:
                    raise
                raise UnfitError(f"has the unknown field {_shown(name)}", f"a field of {type_.__name__}") from None
            try:
                return type_(**values)
            except TypeError:
                for name in needed:
                    if name not in values:
                        raise UnfitError(f"has no field {name!r}", hints[name]) from None
                raise
            except ValueError as error:
                # The model's message may quote a hostile tuple of any length.
                raise UnfitError(f"is not a valid {type_.__name__}: {str(error)[:200]}", "") from error

        return read


def _plain_reader(kind: type) -> Reader:
    def read(data: Any, rows: Rows) -> Any:
        if type(data) is not kind:
            raise _mismatch(data, kind)
        return data

    return read


def _choice_reader(hint: Any, choices: frozenset[Any]) -> Reader:
    def read(data: Any, rows: Rows) -> str:
        if type(data) is not str or data not in choices:
            raise _mismatch(data, hint)
        return data

    return read


def _row_reader(type_: type) -> Reader:
    def read(data: Any, rows: Rows) -> Any:
        if type(data) is not int:
            raise _mismatch(data, type_)
        # A negative index would count from the end.
        if not 0 <= data < len(rows[type_]):
            raise UnfitError(f"is {_shown(data)}", f"a row of its table (0 to {len(rows[type_]) - 1})")
        return rows[type_][data]

    return read


def _list_reader(hint: Any, read_item: Reader) -> Reader:
    def read(data: Any, rows: Rows) -> tuple[Any, ...]:
        if type(data) is not list:
            raise _mismatch(data, hint)
        items: list[Any] = []
        try:
            # Where an item is refused, the list has those before it.
            items.extend(map(read_item, data, repeat(rows)))
        except UnfitError as wrong:
            wrong.keys.append(len(items))
            raise
        return tuple(items)

    return read


def _dict_reader(hint: Any, read_item: Reader) -> Reader:
    def read(data: Any, rows: Rows) -> dict[str, Any]:
        if type(data) is not dict:
            raise _mismatch(data, hint)
        found, key = {}, ""
        try:
            for key, item in data.items():
                found[key] = read_item(item, rows)
        except UnfitError as wrong:
            wrong.keys.append(key)
            raise
        return found

    return read


def _integer(data: Any, rows: Rows) -> int:
    if type(data) is not int or not -MAX_INTEGER <= data <= MAX_INTEGER:
        raise _mismatch(data, int)
    return data


def _number(data: Any, rows: Rows) -> float:
    if type(data) is int:
        return float(_integer(data, rows))
    if type(data) is not float and not (type(data) is str and data in _NOT_FINITE):
        raise _mismatch(data, float)
    return float(data)


def _integers(data: Any, rows: Rows) -> tuple[int, ...]:
    # A sharding over 4,096 devices has as many integers.
    if type(data) is list and set(map(type, data)) == {int} and -MAX_INTEGER <= min(data) <= max(data) <= MAX_INTEGER:
        return tuple(data)
    return _each_integer(data, rows)


def _sentence(data: Any, rows: Rows) -> Sentence:
    return Sentence(data) if type(data) is str else Sentence.of(_phrases(data, rows))


def _phrase(data: Any, rows: Rows) -> Phrase:
    if type(data) is not list or len(data) not in (2, 3) or data[2:] not in ([], [BARE]):
        raise _mismatch(data, Phrase)
    kind, text = data[:2]
    if type(kind) is not str or kind not in PHRASE_KINDS:
        raise _mismatch(kind, PhraseKind, 0)
    if type(text) is not str:
        raise _mismatch(text, str, 1)
    return Phrase(cast("PhraseKind", kind), text, is_bare=len(data) == 3)


_each_integer = _list_reader(tuple[int, ...], _integer)
_phrases = _list_reader(Sentence, _phrase)
_PLAIN: dict[Any, Reader] = {
    **{kind: _plain_reader(kind) for kind in (str, bool, NoneType)},
    int: _integer, float: _number, Sentence: _sentence, tuple[int, ...]: _integers, Any: lambda data, rows: data,
}  # fmt: skip
