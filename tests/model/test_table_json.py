"""Every table as JSON, with its schema, and as an Arrow stream."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

import pjit_inspect as pi
import pjit_inspect.model
from pjit_inspect.model.diff.pairs import PairTable
from pjit_inspect.model.program.layout import ArrayTable
from pjit_inspect.model.program.table import Table

DATA = Path(__file__).parents[1] / "data"


def record() -> pi.CompileRecord:
    found = pi.open(DATA / "mlp.before_xla_was_asked.pjit")
    assert isinstance(found, pi.CompileRecord)
    return found


def kinds() -> list[type[Table[Any]]]:
    """Every class of tables of the model."""
    for module in pkgutil.walk_packages(pjit_inspect.model.__path__, "pjit_inspect.model."):
        importlib.import_module(module.name)

    def below(kind: type) -> Iterator[type]:
        for one in kind.__subclasses__():
            yield one
            yield from below(one)

    return [kind for kind in dict.fromkeys(below(Table)) if kind.__module__.startswith("pjit_inspect.model.")]


def test_every_table_has_a_schema_with_the_columns_of_its_csv():
    found = {kind.__name__ for kind in kinds() if kind is not PairTable}
    assert {"CollectiveTable", "FusionTable", "AdviceTable", "LiveTable", "CollectiveDiff", "ArrayTable"} <= found
    for kind in kinds():
        if kind.__name__ != "PairTable":
            schema = kind.json_schema()
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["properties"]["rows"]["items"]["required"] == list(kind.column_schemas())


def test_the_json_of_a_table_follows_its_schema():
    one, other = record(), pi.open(DATA / "total.version_2.pjit")
    assert isinstance(other, pi.CompileRecord)
    found = pi.diff(one, other)
    tables = [
        *(
            one.collectives,
            one.fusions,
            one.shardings,
            one.memory_use.live,
            one.findings,
            one.callbacks,
            one.suggestions,
        ),
        *(ArrayTable(rows=one.inputs), ArrayTable(rows=one.outputs), one.time.kernels, one.time.collectives),
        *(found.collectives, found.kernels, found.arguments, found.shardings),
    ]
    for table in tables:
        if "to_json" not in vars(type(table)):
            read = json.loads(Table.to_json(table))
            jsonschema.validate(read, type(table).json_schema())
            assert len(read["rows"]) == len(table)
            assert table.to_csv().splitlines()[0] == ",".join(table.column_schemas())


def test_the_form_of_the_json():
    read = json.loads(record().collectives.to_json())
    assert list(read) == ["schema", "version", "rows"]
    assert (read["schema"], read["version"]) == ("pjit_inspect/table/Collective", 1)
    first = read["rows"][0]
    assert (first["kind"], first["axes"], first["local_shape"], first["phase"]) == (
        "all-gather",
        ["data"],
        [32, 16],
        None,
    )
    assert read["rows"] == json.loads(record().collectives.to_json())["rows"]
    pair = json.loads(pi.diff(record(), record()).collectives.to_json())
    assert (pair["schema"], pair["rows"][0]["status"]) == ("pjit_inspect/table/PairOfCollective", "same")


def test_an_arrow_stream_needs_pyarrow(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="an Arrow stream needs pyarrow: pip install pyarrow"):
        record().collectives.__arrow_c_stream__()


def test_an_arrow_stream_is_made_by_pyarrow(monkeypatch: pytest.MonkeyPatch):
    given = {}

    def table(columns: dict[str, list[Any]]) -> SimpleNamespace:
        given.update(columns)
        return SimpleNamespace(__arrow_c_stream__=lambda schema: ("stream", schema))

    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(table=table))
    assert record().collectives.__arrow_c_stream__("asked") == ("stream", "asked")
    assert given["kind"] == ["all-gather", "all-reduce"]
