"""Dataclasses to JSON and back, driven by their type hints.

Reading is strict: a value that does not have the declared type is a `ParseError` that names its JSON path
(`$.record.inputs[3].dtype`) and what was expected. Types given as tables are written once each and referred to by
their index. Not its job: files, versions, or the choice of fields (`parse.files.record_file`).

Known hints: str, bool, int, float, None, Literal of strings, X | Y, tuple[X, ...], dict[str, X], `Sentence`, and
dataclasses of these. Numbers without a JSON form (inf, nan) are written as strings. A sentence is a list of its
phrases, `["axis", "model"]` or `["spec", "P('model')", "bare"]`; a string, as files had it before, is read, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, is_dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pjit_inspect.errors import ParseError
from pjit_inspect.model.words.sentence import Phrase, PhraseKind, Sentence
from pjit_inspect.parse.files.json_makers import BARE, MAX_INTEGER, NOT_FINITE, field_hints, maker_of, stored_fields

__all__ = ["MAX_INTEGER", "TableWriter", "from_json", "to_json"]

_NAMES = {
    str: "a string", bool: "true or false", int: "an integer", float: "a number", NoneType: "null",
    Sentence: "a list of phrases", Phrase: f'[kind, text] or [kind, text, "{BARE}"]',
}  # fmt: skip

Place = tuple["Place | None", str | int]
"""The place of a value: its parent's place, and its key or position there. Written out only for an error."""


class TableWriter:
    """Collects the values of some dataclasses, each once, in the order of first use."""

    def __init__(self, *types: type) -> None:
        self.types = types
        self._index: dict[Any, int] = {}
        self._by_id: dict[int, tuple[Any, int]] = {}
        self._rows: dict[type, list[Any]] = {type_: [] for type_ in types}

    def index_of(self, value: Any) -> int:
        """The position of `value` in its table; adds it when it is new."""
        # Hashing a sharding of 4,096 devices takes a while, and most arrays share the very same object. The object is
        # kept beside its index so that its id cannot be reused.
        if id(value) in self._by_id:
            return self._by_id[id(value)][1]
        if value not in self._index:
            rows = self._rows[type(value)]
            self._index[value] = len(rows)
            rows.append(_object_to_json(value, type(value), self))
        self._by_id[id(value)] = (value, self._index[value])
        return self._index[value]

    def to_json(self) -> dict[str, list[Any]]:
        """Every table by its type's name."""
        return {type_.__name__: rows for type_, rows in self._rows.items()}


def to_json(value: Any, hint: Any, tables: TableWriter, *, skip: Sequence[str] = ()) -> Any:
    """`value` as JSON, given its type hint.

    `skip` names fields of the outermost dataclass to leave out. Raises TypeError when a value does not match its hint.
    """
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, hint):
            raise TypeError(f"{value!r} is not a {hint.__name__}")
        return tables.index_of(value) if hint in tables.types else _object_to_json(value, hint, tables, skip)
    if hint is Sentence and isinstance(value, str):
        return [[phrase.kind, phrase.text, BARE][: 2 + phrase.is_bare] for phrase in Sentence(value).phrases]
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return to_json(value, _member_for_value(value, args), tables)
    if origin is tuple and isinstance(value, tuple):
        return [to_json(item, args[0], tables) for item in value]
    if origin is dict and isinstance(value, dict):
        return {to_json(key, str, tables): to_json(item, args[1], tables) for key, item in value.items()}
    return _scalar_to_json(value, hint)


def _object_to_json(value: Any, type_: type, tables: TableWriter, skip: Sequence[str] = ()) -> dict[str, Any]:
    hints = field_hints(type_)
    return {
        field.name: to_json(getattr(value, field.name), hints[field.name], tables)
        for field in stored_fields(type_)
        if field.name not in skip
    }


def _member_for_value(value: Any, members: tuple[Any, ...]) -> Any:
    for member in members:
        if isinstance(value, _class_of(member)):
            return member
    raise TypeError(f"{value!r} is none of {', '.join(map(str, members))}")


def _class_of(hint: Any) -> type:
    # The abstract numbers accept numpy's, and an int where a float is declared.
    if hint in (int, float):
        return Integral if hint is int else Real
    origin = get_origin(hint)
    return str if origin is Literal else origin or hint


def _scalar_to_json(value: Any, hint: Any) -> Any:
    if not isinstance(value, _class_of(hint)) or (get_origin(hint) is Literal and value not in get_args(hint)):
        raise TypeError(f"{value!r} is not {_expected(hint)}")
    if hint is float:
        # Adding zero turns -0.0 into 0.0: equal records give equal bytes.
        return float(value) + 0.0 if math.isfinite(value) else str(float(value))
    if hint is int and abs(value) > MAX_INTEGER:
        raise TypeError(f"{value} is an integer of more than 63 bits")
    return int(value) if hint is int else value


def parse_json(content: bytes, name: str) -> Any:
    """The value of JSON in UTF-8; `name` is its name in errors. Raises ParseError."""
    try:
        return json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ParseError(f"{name} is not UTF-8 at its byte {error.start}", expected="JSON") from error
    except json.JSONDecodeError as error:
        raise ParseError(f"{name}: {error.msg} at its character {error.pos}", expected="JSON") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ParseError(f"{name}: {error}"[:300], expected="JSON") from error


def from_json(
    data: Any,
    hint: Any,
    where: Place,
    tables: Mapping[type, Sequence[Any]] | None = None,
    *,
    given: Mapping[str, Any] | None = None,
) -> Any:
    """The value of type `hint` in `data`.

    `tables` maps a type to its values, if these are referred to by index. `given` holds fields of the outermost
    dataclass that do not come from JSON. Raises ParseError with the JSON path.
    """
    rows, others = tables or {}, given or {}
    try:
        make = maker_of(hint, frozenset(rows), frozenset(others))
        return make(data, rows, others) if others else make(data, rows)
    except Exception:
        return _from_json(data, hint, where, rows, others)


def _from_json(
    data: Any, hint: Any, where: Place, tables: Mapping[type, Any], given: Mapping[str, Any] | None = None
) -> Any:
    """The same, value by value, with the place of each for errors."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _from_json(data, _member_for_json(data, args, where, tables), where, tables)
    if not _looks_like(data, hint, tables):
        raise _mismatch(data, hint, where)
    if hint in tables:
        return _row(data, tables[hint], where)
    if hint is Sentence:
        return _sentence_from_json(data, where)
    if origin is tuple:
        return tuple(_from_json(item, args[0], (where, i), tables) for i, item in enumerate(data))
    if origin is dict:
        return {key: _from_json(item, args[1], (where, key), tables) for key, item in data.items()}
    if is_dataclass(hint) and isinstance(hint, type):
        return _object_from_json(data, hint, where, tables, given or {})
    return float(data) if hint is float else data


def _member_for_json(data: Any, members: tuple[Any, ...], where: Place, tables: Mapping[type, Any]) -> Any:
    for member in members:
        if _looks_like(data, member, tables):
            return member
    expected = " or ".join(_expected(member) for member in members)
    raise ParseError(f"{_path(where)} is {_shown(data)}", expected=expected)


def _looks_like(data: Any, hint: Any, tables: Mapping[type, Any]) -> bool:
    origin = get_origin(hint)
    if hint is int or hint in tables:
        return type(data) is int and abs(data) <= MAX_INTEGER
    if hint is float:
        return type(data) is float or (type(data) is int and abs(data) <= MAX_INTEGER) or data in NOT_FINITE
    if origin is Literal:
        return isinstance(data, str) and data in get_args(hint)
    if origin is tuple:
        return isinstance(data, list)
    if hint is Sentence:
        return isinstance(data, (list, str))
    if origin is dict or is_dataclass(hint):
        return isinstance(data, dict)
    return type(data) is hint


def _sentence_from_json(data: list[Any] | str, where: Place) -> Sentence:
    if isinstance(data, str):
        return Sentence(data)
    return Sentence.of(_phrase_from_json(item, (where, number)) for number, item in enumerate(data))


def _phrase_from_json(data: Any, where: Place) -> Phrase:
    if not isinstance(data, list) or len(data) not in (2, 3) or data[2:] not in ([], [BARE]):
        raise _mismatch(data, Phrase, where)
    kind: PhraseKind = _from_json(data[0], PhraseKind, (where, 0), {})
    return Phrase(kind, _from_json(data[1], str, (where, 1), {}), is_bare=len(data) == 3)


def _row(index: int, rows: Sequence[Any], where: Place) -> Any:
    if not 0 <= index < len(rows):
        raise ParseError(f"{_path(where)} is {index}", expected=f"a row of its table (0 to {len(rows) - 1})")
    return rows[index]


def _object_from_json(
    data: dict[str, Any], type_: type, where: Place, tables: Mapping[type, Any], given: Mapping[str, Any]
) -> Any:
    hints, values = field_hints(type_), dict(given)
    for field in stored_fields(type_):
        if field.name in given:
            continue
        if field.name in data:
            values[field.name] = _from_json(data[field.name], hints[field.name], (where, field.name), tables)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ParseError(f"{_path(where)} has no field {field.name!r}", expected=_expected(hints[field.name]))
    unknown = sorted(set(data) - (set(values) - set(given)))
    if unknown:
        message = f"{_path(where)} has the unknown field {_shown(unknown[0])}"
        raise ParseError(message, expected=f"a field of {type_.__name__}")
    try:
        return type_(**values)
    except ValueError as error:
        # The model's message may quote a hostile tuple of any length.
        raise ParseError(f"{_path(where)} is not a valid {type_.__name__}: {str(error)[:200]}") from error


def _mismatch(data: Any, hint: Any, where: Place) -> ParseError:
    return ParseError(f"{_path(where)} is {_shown(data)}", expected=_expected(hint))


def _expected(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Literal:
        return "one of " + ", ".join(repr(choice) for choice in get_args(hint))
    if origin is tuple:
        return "a list"
    if origin is dict:
        return "an object"
    if origin in (Union, UnionType):
        return " or ".join(_expected(member) for member in get_args(hint))
    return _NAMES.get(hint) or f"a {hint.__name__}"


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


def _path(where: Place) -> str:
    steps: list[str] = []
    place: Place | None = where
    while place is not None:
        place, step = place
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step[:40]}")
    return "".join(reversed(steps)).lstrip(".")
