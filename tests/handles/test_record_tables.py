"""Tables and suggestions of a record are the plain data of `model`, and do something for themselves besides."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import pjit_inspect as pi
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.host_callback import CallbackTable
from pjit_inspect.model.report.sharding_table import ShardingTable

STEP = Path(__file__).parents[1] / "data" / "mlp.before_xla_was_asked.pjit"

TIMES = KernelTimes(
    calls=1, devices=8, call_us=10.0, mean_call_us=10.0,
    rows=(KernelTime(instruction="all-reduce", opcode="all-reduce", slowest_us=4.0, mean_us=3.0),),
)  # fmt: skip

KINDS: dict[str, type] = {
    "collectives": CollectiveTable,
    "fusions": FusionTable,
    "callbacks": CallbackTable,
    "shardings": ShardingTable,
    "kernel_times": KernelTimes,
}


@pytest.fixture(scope="module")
def record() -> pi.CompileRecord:
    record = pi.load(STEP)
    record.add_times(replace(record.data, kernel_times=TIMES))
    return record


def plain(table: Any, kind: type) -> Any:
    return kind(**{field.name: getattr(table, field.name) for field in fields(kind)})


@pytest.mark.parametrize("name", KINDS)
def test_a_table_is_the_plain_one_to_all_who_compare_or_pickle_it(record: pi.CompileRecord, name: str):
    table, kind = getattr(record, name), KINDS[name]
    same = plain(table, kind)
    assert isinstance(table, kind)
    assert type(same) is kind
    assert table == same
    assert same == table
    assert table == getattr(record, name)
    assert repr(table) == repr(same)
    assert table != same[:0] or not same
    read = pickle.loads(pickle.dumps(table))
    assert (type(read), read) == (kind, same)


def test_equal_tables_have_one_hash(record: pi.CompileRecord):
    assert hash(record.collectives) == hash(CollectiveTable(record.collectives.rows))


@pytest.mark.parametrize("name", KINDS)
def test_a_table_a_part_and_a_copy_draw_themselves(record: pi.CompileRecord, name: str):
    table = getattr(record, name)
    for shown in (table, table[:1], copy.copy(table), replace(table, rows=table.rows[:1])):
        bundle = shown._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html"}
        assert str(shown) == repr(shown.show()) == bundle["text/plain"] != repr(shown)


def test_a_table_of_no_record_prints_how_many_rows_it_has(record: pi.CompileRecord):
    assert str(CollectiveTable(record.collectives.rows)) == repr(record.collectives)
    assert str(KernelTimes(calls=2, devices=8, call_us=1.0, mean_call_us=1.0)) == (
        "KernelTimes(0 instructions, 2 calls of 1 us)"
    )


@pytest.mark.parametrize("name", KINDS)
def test_a_table_is_not_indexed_by_a_word(record: pi.CompileRecord, name: str):
    with pytest.raises(TypeError, match="indexed by number or slice, not by 'w1'"):
        getattr(record, name)["w1"]
