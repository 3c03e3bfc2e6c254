"""What is known of a record: computed when somebody looks, replaced as one piece when its data change."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.analyze.report import report as reports
from pjit_inspect.handles import analyses, propagate
from pjit_inspect.model.record.kernel_times import KernelTimes

STEP = Path(__file__).parents[1] / "data" / "mlp.before_xla_was_asked.pjit"

FOR_TEXT = {
    "advice_by_now", "explained", "hlo", "propagation_and_reason", "sources", "report", "reason", "warnings",
}  # fmt: skip
"""What the still display lays out, and what that needs."""

FOR_MEMORY = {"_memory", "memory_use", "memory_timelines", "assignment"}
FOR_INSPECTOR = {"names", "stablehlo", "hlo_text", "graph_and_reason", "shardings"} | FOR_MEMORY


@pytest.fixture
def record() -> pi.CompileRecord:
    return pi.load(STEP)


def known(record: pi.CompileRecord) -> set[str]:
    return set(record.state.analyses.known)


def test_facts_as_captured_compute_nothing(record: pi.CompileRecord):
    _ = record.name, record.inputs, record.mesh, record.timings, record.memory, record.jaxpr, record.held_bytes
    assert known(record) == set()


def test_a_display_computes_what_it_shows_and_no_more(record: pi.CompileRecord):
    str(record)
    assert known(record) == FOR_TEXT
    record.explain()
    assert known(record) == FOR_TEXT
    record.show()
    assert known(record) == FOR_TEXT | FOR_INSPECTOR


def test_forgotten_programs_are_gone_from_everything_but_the_reason_stays(record: pi.CompileRecord):
    reason, table = record.reason, record.collectives
    assert len(table) > 0
    record.forget_programs("there was no room")
    assert known(record) == {"reason"}
    assert record.reason is reason
    assert (record.hlo, record.stablehlo, len(record.collectives)) == (None, None, 0)
    assert record.data.missing["hlo"] == record.data.missing["stablehlo"] == "there was no room"
    # Who held a table goes on holding it.
    assert table[0].kind in str(table)


def test_a_report_that_was_begun_before_the_programs_were_forgotten_does_not_bring_them_back(
    record: pi.CompileRecord, monkeypatch: pytest.MonkeyPatch
):
    begun, may_end, make = threading.Event(), threading.Event(), reports.report

    def slow(*arguments: Any, **more: Any) -> Any:
        begun.set()
        assert may_end.wait(60)
        return make(*arguments, **more)

    monkeypatch.setattr(reports, "report", slow)
    with ThreadPoolExecutor(1) as pool:
        early = pool.submit(lambda: record.report)
        assert begun.wait(60)
        record.forget_programs("there was no room")
        monkeypatch.undo()
        may_end.set()
        assert early.result(60).collectives
    assert record.data.hlo is None
    assert record.report.collectives is None


def test_the_partitioners_answer_takes_the_place_of_a_prediction_in_one_piece(
    record: pi.CompileRecord, monkeypatch: pytest.MonkeyPatch
):
    state = analyses.RecordState(analyses.Analyses(record.data, is_live=True, known={}), None)
    before = state.analyses
    graph, shardings = before.graph_and_reason, before.shardings
    assert before.propagation is not None
    assert before.propagation.is_predicted
    answer = replace(before.propagation, is_predicted=False)
    monkeypatch.setattr(propagate, "ask", lambda data, *, timeout_s: answer)
    assert state.ask_partitioner(1.0) is answer
    after = state.analyses
    assert after.propagation_and_reason == (answer, "")
    assert not {"report", "sources", "shardings"} & after.known.keys()
    assert after.graph_and_reason is graph
    assert before.propagation.is_predicted
    assert before.shardings is shardings
    # A second answer is only returned: what displays have is XLA's own already.
    state.ask_partitioner(1.0)
    assert state.analyses is after


def test_times_make_a_new_report_and_nothing_else_anew(record: pi.CompileRecord):
    record.show()
    before = record.state.analyses
    times = KernelTimes(calls=1, devices=8, call_us=10.0, mean_call_us=10.0)
    record.add_times(replace(record.data, kernel_times=times))
    after = record.state.analyses
    assert known(record) == (FOR_TEXT | FOR_INSPECTOR) - {"report"}
    assert all(after.known[name] is before.known[name] for name in after.known)
    assert record.kernel_times == times
    assert record.report.data.kernel_times == times
    # A display that was begun goes on with what it began with.
    assert before.data.kernel_times is None


def test_a_read_of_the_program_that_is_not_to_be_kept_keeps_nothing(record: pi.CompileRecord):
    assert record.state.analyses.hlo_for_now() is not None
    assert known(record) == set()
    module = record.hlo
    assert record.state.analyses.hlo_for_now() is module


def test_nobody_asks_the_partitioner_about_a_program_that_communicates_nothing(monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []
    doubled = jax.jit(lambda d: {key: value * 2 for key, value in d.items()})
    place = NamedSharding(Mesh(np.array(jax.devices()[:8]), ("x",)), PartitionSpec("x"))
    made = pi.inspect(doubled, {f"w{i}": jax.ShapeDtypeStruct((8, 8), "float32", sharding=place) for i in range(4)})
    monkeypatch.setattr(propagate, "propagation_of", lambda *given, **_: asked.append(given) or (None, "asked"))
    warning = "W1120 12:00:00.000000 1 some_pass.cc:73] This is inefficient.\n"
    record = pi.CompileRecord(replace(made.data, compiler_log=warning), live=True)
    assert str(record)
    assert len(record.warnings) == 1
    assert asked == []
    assert "propagation_and_reason" not in known(record)


def test_who_asks_for_the_reason_first_is_told_of_arguments_that_are_copied():
    # It needs the layouts, which are not made within the call, and nothing else that was left for later.
    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("x",)), PartitionSpec("x"))
    x = jax.numpy.ones((8, 8))
    with pi.capture() as log:
        jax.jit(lambda x: x + 1, in_shardings=sharding)(x)
    record = log[0]
    assert [one.path for one in record.reason.resharded] == ["x"]
    assert record.state.captured.data.jaxpr is None
    assert record.jaxpr


def test_who_looks_at_a_cause_gets_causes_and_no_whole_report(record: pi.CompileRecord):
    assert record.collectives[0].cause.sentence
    assert "report" not in known(record)
    assert record.report.collectives == record.collectives
