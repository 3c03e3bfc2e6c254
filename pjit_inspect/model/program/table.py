"""Rows of one program as a sequence whose slices are tables again, and which can be copied into other programs.

Not its job: the rows (the modules that derive from it), or the display of a table (`handles.displays`).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from types import UnionType
from typing import (
    Any,
    ClassVar,
    Generic,
    Self,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.program.source import Frame
from pjit_inspect.standard import load_standard

Row = TypeVar("Row")

Cell = str | int | float | bool | None

VERSION = 1
"""The version of the form of `Table.to_json`."""

_SCHEMA = "pjit_inspect/table/"

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters that a spreadsheet takes for the start of a formula."""
_BREAKS = re.compile(r"[\t\r\n\v\f\x85\u2028\u2029]+")
_MARKDOWN = re.compile(r"([\\`*_\[\]|])")


class LaterRows(Sequence[Row]):
    """Rows of a table with a known number, made on first access."""

    __slots__ = ("_count", "_make", "_rows")

    def __init__(self, count: int, make: Callable[[], Iterable[Row]]) -> None:
        self._count, self._make = count, make
        self._rows: tuple[Row, ...] | None = None

    def _made(self) -> tuple[Row, ...]:
        if self._rows is None:
            self._rows = tuple(self._make())
            self._count = len(self._rows)
        return self._rows

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, index: int | slice) -> Row | tuple[Row, ...]:
        return self._made()[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._made())

    def __eq__(self, other: object) -> bool:
        return self._made() == (other._made() if isinstance(other, LaterRows) else other)

    def __hash__(self) -> int:
        return hash(self._made())

    def __repr__(self) -> str:
        return repr(self._made())

    def __reduce__(self) -> tuple[type, tuple[tuple[Row, ...]]]:
        return tuple, (self._made(),)


class Table(Sequence[Row], Generic[Row]):
    """Base of frozen dataclasses with a field `rows`; every slice keeps the other fields."""

    __slots__ = ()

    rows: tuple[Row, ...]

    computed: ClassVar[tuple[str, ...]] = ()
    """Properties of a row that are exported beside its fields."""

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Row | Self:
        if isinstance(index, slice):
            return self._of_rows(self.rows[index])
        if isinstance(index, str):
            raise TypeError(f"a table is indexed by number or slice, not by {index!r}{self._hint(index)}")
        return self.rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    # ------------------------------------------------------------ copies for other programs

    def to_csv(self) -> str:
        """All rows as comma-separated values, a line of names first; unknown values are empty.

        A column for each field of a row. Tuples are joined, of a source there is the innermost place ("train.py:41"). A
        text that a spreadsheet would take for a formula begins with an apostrophe.
        """
        return self._separated(",")

    def to_tsv(self) -> str:
        """As `to_csv`, separated by tabs, to paste into a spreadsheet: a row is one line, tabs in names are spaces."""
        return self._separated("\t")

    def to_markdown(self) -> str:
        """All rows as a table in Markdown, with the columns of `to_csv`; nothing in a name is taken for markup."""
        names, rows = self.cells()
        is_number = [all(_is_number(row[i]) for row in rows) and bool(rows) for i in range(len(names))]
        lines = [names, ["---:" if number else "---" for number in is_number]]
        lines += [[_markdown(cell) for cell in row] for row in rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    def to_pandas(self) -> Any:
        """All rows as a `pandas.DataFrame` with the columns of `to_csv`; numbers stay numbers, unknown values are None.

        Raises ImportError where there is no pandas.
        """
        try:
            import pandas  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        names, rows = self.cells()
        return pandas.DataFrame({name: [row[i] for row in rows] for i, name in enumerate(names)}, columns=names)

    def _separated(self, separator: str) -> str:
        names, rows = self.cells()
        out = io.StringIO(newline="")
        writer = load_standard("csv").writer(out, delimiter=separator, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_plain(cell, one_line=separator == "\t") for cell in row] for row in rows)
        return out.getvalue()

    def to_json(self) -> str:
        """All rows as JSON: `schema` and `version` name the form, each row has the columns of `to_csv` in this order.

        Tuples of numbers or of names are lists, unknown values are null, all else is as in `to_csv`. `json_schema()`
        says it in full.
        """
        schemas = self.column_schemas()
        rows = [{name: _json(name, self._value(row, name), schemas[name]) for name in schemas} for row in self.rows]
        head = {"schema": f"{_SCHEMA}{self._row_name()}", "version": VERSION, "rows": rows}
        return load_standard("json").dumps(head, ensure_ascii=True)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema of `to_json`, made of the fields of a row."""
        columns = cls.column_schemas()
        row = {"type": "object", "properties": columns, "required": list(columns), "additionalProperties": False}
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"{_SCHEMA}{cls._row_name()}",
            "type": "object",
            "properties": {
                "schema": {"const": f"{_SCHEMA}{cls._row_name()}"},
                "version": {"const": VERSION},
                "rows": {"type": "array", "items": row},
            },
            "required": ["schema", "version", "rows"],
        }

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows for programs that take Arrow (`polars.DataFrame(table)`). Raises ImportError without pyarrow."""
        try:
            import pyarrow  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ImportError("an Arrow stream needs pyarrow: pip install pyarrow") from None
        names, rows = self.cells()
        made = pyarrow.table({name: [row[i] for row in rows] for i, name in enumerate(names)})
        return made.__arrow_c_stream__(requested_schema)

    def cells(self) -> tuple[list[str], list[list[Cell]]]:
        """The names of the columns, and the rows, as in `to_csv`; numbers stay numbers, unknown values are None."""
        names = list(self.column_schemas())
        return names, [[cell(name, self._value(row, name)) for name in names] for row in self.rows]

    @classmethod
    def column_schemas(cls) -> dict[str, dict[str, Any]]:
        """The JSON Schema of each column, in order."""
        return column_schemas(cls._row_kind(), cls.computed)

    @classmethod
    def _row_kind(cls, table: Any = None) -> Any:
        """The type of the rows: that in brackets after `Table`, or after a class between."""
        for one in cls.__mro__:
            for base in getattr(one, "__orig_bases__", ()):
                if get_origin(base) is (table or Table):
                    return get_origin(get_args(base)[0]) or get_args(base)[0]
        raise TypeError(f"{cls.__name__} does not say what its rows are")

    @classmethod
    def _row_name(cls) -> str:
        """The name of the rows' type, as `schema` has it."""
        return cls._row_kind().__name__

    # ------------------------------------------------------------ for the tables that derive from it

    def _of_rows(self, rows: tuple[Row, ...], **changes: Any) -> Self:
        """The same table with these rows only."""
        return cast("Self", replace(cast("Any", self), rows=rows, **changes))

    def _value(self, row: Any, name: str) -> Any:
        """A row's value in a column."""
        return getattr(row, name)

    def _hint(self, name: str) -> str:
        """The way to choose rows by a name, after a semicolon; "" if there is none."""
        return ""


def column_schemas(kind: Any, computed: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """The JSON Schema of each field of a type, and of some of its properties, in order."""
    hints = get_type_hints(kind)
    own = {field.name: hints[field.name] for field in fields(kind) if not field.name.startswith("_")}
    made = {name: get_type_hints(getattr(kind, name).fget).get("return") for name in computed}
    return {name: _json_schema(name, hint) for name, hint in (own | made).items()}


_PLAIN: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def _json_schema(name: str, hint: Any) -> dict[str, Any]:
    """The schema of a column's values: plain ones and lists of plain ones; all others are text, as in `cell`."""
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    types, item = list[str](), ""
    for member in members:
        if get_origin(member) is tuple and name != "spec" and (item := _item_type(get_args(member))):
            types.append("array")
        else:
            types.append(_PLAIN.get(member, "string"))
    types = list(dict.fromkeys(types))
    found: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    return {**found, "items": {"type": item}} if "array" in types else found


def _item_type(members: tuple[Any, ...]) -> str:
    """The one type of a tuple's members; "" where they are not plain, or not of one type."""
    types = {_PLAIN.get(member, "") for member in members if member is not ...}
    return types.pop() if len(types) == 1 else ""


def _json(name: str, value: Any, schema: dict[str, Any]) -> Cell | list[Any]:
    return list(value) if isinstance(value, tuple) and "array" in schema["type"] else cell(name, value)


def cell(name: str, value: Any) -> Cell:
    """A field's value as one that other programs have, too."""
    if value is None or isinstance(value, str | int | float):
        return str(value) if isinstance(value, str) else value
    if name == "spec":
        return spec_text(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_words(one)}" for key, one in value.items())
    if name == "source":
        return value[0].where if value else ""
    if isinstance(value, tuple) and name.endswith("axes"):
        return _joined(value, " x ")
    return _joined(value, ", ") if isinstance(value, tuple) else _words(value)


def _joined(value: tuple[Any, ...], between: str) -> str:
    if any(isinstance(one, tuple) for one in value):
        return "; ".join(" ".join(map(_words, one)) if isinstance(one, tuple) else _words(one) for one in value)
    return between.join(dict.fromkeys(map(_words, value)) if not _is_numbers(value) else map(_words, value))


def _is_numbers(value: tuple[Any, ...]) -> bool:
    return all(isinstance(one, int | float) for one in value)


def _words(value: Any) -> str:
    """One value in a word: a cause by its kind, a frame by its place."""
    if isinstance(value, Frame):
        return value.where
    kind = getattr(value, "kind", None)
    return kind if isinstance(kind, str) else str(value)


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _plain(cell: Cell, *, one_line: bool) -> str:
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return str(cell)
    text = _BREAKS.sub(" ", cell) if one_line else cell
    return f"'{text}" if text.startswith(_FORMULA) else text


def _markdown(cell: Cell) -> str:
    text = _BREAKS.sub(" ", "" if cell is None else str(cell))
    return _MARKDOWN.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
