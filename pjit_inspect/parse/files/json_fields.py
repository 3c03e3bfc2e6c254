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
from dataclasses import is_dataclass
from numbers import Integral, Real
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pjit_inspect.errors import ParseError
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.parse.files.json_readers import (
    BARE,
    MAX_INTEGER,
    UnfitError,
    field_hints,
    in_words,
    reader_of,
    stored_fields,
)


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
        member = next((member for member in args if isinstance(value, _class_of(member))), None)
        if member is None:
            raise TypeError(f"{value!r} is none of {', '.join(map(str, args))}")
        return to_json(value, member, tables)
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


def _class_of(hint: Any) -> type:
    # The abstract numbers accept numpy's, and an int where a float is declared.
    if hint in (int, float):
        return Integral if hint is int else Real
    origin = get_origin(hint)
    return str if origin is Literal else origin or hint


def _scalar_to_json(value: Any, hint: Any) -> Any:
    if not isinstance(value, _class_of(hint)) or (get_origin(hint) is Literal and value not in get_args(hint)):
        raise TypeError(f"{value!r} is not {in_words(hint)}")
    if hint is float:
        # Adding zero turns -0.0 into 0.0: equal records give equal bytes.
        return float(value) + 0.0 if math.isfinite(value) else str(float(value))
    if hint is int and abs(value) > MAX_INTEGER:
        raise TypeError(f"{value} is an integer of more than 63 bits")
    return int(value) if hint is int else value


def json_bytes(body: Any) -> bytes:
    """JSON in ASCII with sorted keys: equal values give equal bytes."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


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
    where: str = "$",
    tables: Mapping[type, Sequence[Any]] | None = None,
    *,
    skip: Sequence[str] = (),
) -> Any:
    """The value of type `hint` in `data`, whose JSON path is `where`.

    `tables` maps a type to its values, if these are referred to by index. `skip` names fields of the outermost
    dataclass that JSON does not have. Raises ParseError with the JSON path.
    """
    rows = tables or {}
    read = reader_of(hint, frozenset(rows), frozenset(skip))
    try:
        return read(data, rows)
    except UnfitError as wrong:
        expected = wrong.expected if isinstance(wrong.expected, str) else in_words(wrong.expected)
        raise ParseError(f"{where}{wrong.path} {wrong.what}", expected=expected) from wrong.__cause__
    except RecursionError as error:
        raise ParseError(f"{where} is nested too deeply") from error


def tables_from_json(data: Any, types: Sequence[type], where: str) -> dict[type, tuple[Any, ...]]:
    """The rows that `TableWriter.to_json` wrote, by their type. Raises ParseError with the JSON path."""
    rows = from_json(data, dict[str, Any], where)
    named = {type_: type_.__name__ for type_ in types}
    return {type_: from_json(rows.get(name, []), tuple[type_, ...], f"{where}.{name}") for type_, name in named.items()}
