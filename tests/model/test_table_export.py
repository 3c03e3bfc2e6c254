"""Tables as TSV, Markdown, CSV and data frames: every row and every field, nothing that a reader's program runs."""

from __future__ import annotations

import csv
import io
import sys
import types
from dataclasses import dataclass

import pytest

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.host_callback import CallbackTable
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    name: str
    size_bytes: int | None = None
    ratio: float = 0.5
    is_big: bool = False
    axes: tuple[str, ...] | None = ()
    groups: tuple[tuple[int, ...], ...] = ()
    source: tuple[Frame, ...] = ()
    spec: tuple[str | tuple[str, ...] | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Things(Table[Thing]):
    rows: tuple[Thing, ...] = ()


THINGS = Things(
    rows=(
        Thing(name="plain", size_bytes=1536, axes=("data", "model"), groups=((0, 1), (2, 3)), spec=("data", None)),
        Thing(name='a,"b"\tc|d\ne', axes=None, source=(Frame(file="/x/train.py", line=7),), is_big=True),
    )
)


def read(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def test_csv_has_a_line_of_names_and_one_for_each_row_and_reads_back():
    rows = read(THINGS.to_csv())
    assert rows[0] == ["name", "size_bytes", "ratio", "is_big", "axes", "groups", "source", "spec"]
    assert rows[1] == ["plain", "1536", "0.5", "False", "data x model", "0 1; 2 3", "", "P('data', None)"]
    # What is unknown is empty; of the source there is the innermost place.
    assert rows[2] == ['a,"b"\tc|d\ne', "", "0.5", "True", "", "", "train.py:7", "P()"]


def test_tsv_has_one_line_for_each_row_whatever_names_hold():
    lines = THINGS.to_tsv().splitlines()
    assert len(lines) == 3
    assert {line.count("\t") for line in lines} == {7}
    assert read(THINGS.to_tsv(), "\t")[2][0] == 'a,"b" c|d e'


def test_markdown_is_a_table_whose_cells_cannot_break_out():
    lines = Things(rows=(*THINGS.rows, Thing(name="<script>`x`*y*_z_"))).to_markdown().splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("| name | size_bytes | ratio |")
    # Numbers to the right, words to the left.
    assert lines[1].split("|")[1:4] == [" --- ", " ---: ", " ---: "]
    assert 'a,"b" c\\|d e' in lines[3]
    assert lines[4].startswith("| &lt;script&gt;\\`x\\`\\*y\\*\\_z\\_ |")


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-x", "@sum"])
def test_a_spreadsheet_takes_no_name_for_a_formula(name):
    table = Things(rows=(Thing(name=name),))
    assert read(table.to_csv())[1][0] == f"'{name}"
    assert table.to_tsv().splitlines()[1].split("\t")[0] == f"'{name}"
    # Numbers stay numbers.
    assert read(Things(rows=(Thing(name="x", size_bytes=-5),)).to_csv())[1][1] == "-5"


@pytest.mark.parametrize("table", [CollectiveTable(()), FusionTable(()), CallbackTable(()), ShardingTable(), Things()])
def test_an_empty_table_has_its_names(table):
    assert len(read(table.to_csv())) == 1
    assert len(read(table.to_csv())[0]) > 3
    assert len(table.to_markdown().splitlines()) == 2


def test_a_slice_is_exported_as_the_rows_it_has():
    assert len(read(THINGS[:1].to_csv())) == 2


def test_collectives_have_what_they_compute_too():
    row = Collective(
        kind="all-reduce", axes=("model",), groups=((0, 1, 2, 3),), dtype="f32", local_shape=(128, 512),
        payload_bytes=262144, wire_bytes=393216, count=3,
    )  # fmt: skip
    (names, values) = read(CollectiveTable((row,)).to_csv())
    found = dict(zip(names, values, strict=True))
    assert found["kind"] == "all-reduce"
    assert found["axes"] == "model"
    assert found["local_shape"] == "128, 512"
    assert found["sent_bytes"] == str(3 * 393216)
    assert "_cache" not in names


def test_shardings_have_specs_as_users_write_them():
    row = ValueSharding(name="x", dtype="f32", global_shape=(8, 4), local_shape=(4, 4), spec=("data", None))
    (names, values) = read(ShardingTable(rows=(row,)).to_csv())
    assert dict(zip(names, values, strict=True))["spec"] == "P('data', None)"


def test_a_data_frame_has_typed_columns(monkeypatch):
    seen = {}
    module = types.ModuleType("pandas")
    module.DataFrame = lambda data, columns: seen.update(data=data, columns=columns) or "frame"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", module)
    assert THINGS.to_pandas() == "frame"
    assert seen["columns"][:4] == ["name", "size_bytes", "ratio", "is_big"]
    assert seen["data"]["size_bytes"] == [1536, None]
    assert seen["data"]["is_big"] == [False, True]
    assert seen["data"]["axes"] == ["data x model", None]


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_pandas needs pandas: pip install pandas"):
        THINGS.to_pandas()


def test_the_tables_of_a_record_export_themselves():
    import jax

    import pjit_inspect

    record = pjit_inspect.inspect(lambda x: (x * 2).sum(), jax.numpy.ones((8, 4)))
    for table in (record.collectives, record.fusions, record.callbacks, record.shardings):
        assert len(read(table.to_csv())) == len(table) + 1
        assert "_state" not in table.to_csv()
    assert KernelTimes.to_csv is Table.to_csv


def test_a_log_and_its_ledger_have_the_copies_of_other_tables():
    import jax

    import pjit_inspect

    def doubled(x):
        return 2 * x

    with pjit_inspect.capture() as log:
        jax.jit(doubled)(jax.numpy.ones(3))
        jax.jit(doubled)(jax.numpy.ones(4))
    head, *rows = log.to_csv().splitlines()
    assert head == "number,name,transform,origin,where,mesh,trace_s,lower_s,compile_s,reason"
    assert len(rows) == len(log)
    assert sum(",doubled,jit,user," in row for row in rows) == 2
    head, *rows = log.to_tsv().splitlines()
    assert head.split("\t")[:2] == ["number", "name"]
    assert log.to_markdown().startswith("| number | name |")
    ledger = pjit_inspect.ledger(log)
    head, *rows = ledger.to_csv().splitlines()
    assert head == "name,origin,where,compiles,trace_s,lower_s,compile_s,reasons"
    assert [row.split(",")[0] for row in rows].count("doubled") >= 1
    assert "| name | origin |" in ledger.to_markdown()
    assert ledger.to_tsv().count("\n") == len(rows) + 1
