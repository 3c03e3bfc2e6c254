"""A display of a large program is there at once: what XLA's partitioner takes long to say comes later."""

from __future__ import annotations

import threading
from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect import api
from pjit_inspect.handles import propagate
from pjit_inspect.handles.live import report_for_display
from pjit_inspect.handles.propagate import why_unasked
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload

UNKNOWN = "why they are there  not known yet: XLA's partitioner needs about"


@pytest.fixture
def record() -> pi.CompileRecord:
    mesh = Mesh(np.array(jax.devices()), ("x",))
    x = jax.device_put(np.ones((64, 64), np.float32), NamedSharding(mesh, P("x")))
    with pi.capture() as log:
        jax.jit(lambda x: x.sum())(x)
    return log[-1]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Who asks XLA's partitioner, where every program counts as large."""
    calls: list[Any] = []
    ask = propagate.ask

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return ask(*args, **kwargs)

    monkeypatch.setattr(propagate, "_LONG_S", 0.0)
    monkeypatch.setattr(propagate, "ask", counted)
    return calls


def test_a_small_program_is_asked_about(record):
    assert record.state.displayed is record.state.analyses
    assert "not known yet" not in str(record)


@pytest.mark.parametrize("view", ["text", "html"])
def test_nobody_asks_for_a_display_of_a_large_one(record, asked, view):
    shown = record.show(view)
    text = str(shown) if view != "html" else shown._repr_mimebundle_()["text/plain"]
    assert not asked
    assert UNKNOWN in text
    assert "record.ask_partitioner() asks it" in " ".join(text.split())
    # Nothing is said of a cause that rests on a name alone.
    assert "by name" not in text
    assert "few seconds" not in text


def test_what_is_counted_is_the_same(record, asked):
    before = str(record)
    counted = [line for line in before.splitlines() if line.startswith(("1 collective;", "memory per device"))]
    record.ask_partitioner()
    after = str(record)
    assert len(counted) == 2
    assert all(line in after.splitlines() for line in counted)


def test_who_asks_has_it_in_the_next_display(record, asked):
    assert UNKNOWN in str(record)
    record.ask_partitioner()
    text = " ".join(str(record).split())
    assert "`x.sum()`" in text
    assert "not known yet" not in text


def test_who_looks_at_a_cause_has_it_in_the_next_display(record, asked):
    assert UNKNOWN in str(record)
    assert record.collectives[0].causes
    assert "not known yet" not in str(record)
    assert len(asked) == 1


@pytest.mark.parametrize("look", [lambda record: record.shardings, lambda record: record.propagation])
def test_who_looks_at_a_sharding_has_the_causes_too(record, asked, look):
    assert UNKNOWN in str(record)
    look(record)
    assert "not known yet" not in str(record)
    assert len(asked) == 1


def test_nobody_asks_for_advice_that_comes_later(record, asked):
    later = api.later_advice(record)
    assert later is not None
    assert not asked
    found = threading.Event()
    later.tell(lambda bundle: found.set())
    assert found.wait(120)
    assert asked


def test_nobody_asks_to_count_collectives(record, asked):
    assert len(record.collectives) == 1
    log = api.Log([record])
    assert "1 record of your functions" in str(log)
    assert not asked


@pytest.mark.parametrize("view", ["tree", "facts", "memory"])
def test_what_is_the_same_in_every_session_waits(record, asked, view):
    assert "unknown" not in str(record.show(view))
    assert len(asked) == 1


def test_files_wait(record, asked, tmp_path):
    record.to_html(tmp_path / "page.html")
    assert len(asked) == 1


def test_it_is_told_when_it_is_there(record, asked):
    told = threading.Event()
    assert api.when_explained(record, told.set)
    assert told.wait(120)
    assert "not known yet" not in str(record)
    assert not api.when_explained(record, told.set)


def test_a_record_from_a_file_is_as_it_was(record, asked, tmp_path):
    record.save(tmp_path / "step.pjit")
    loaded = pi.load(tmp_path / "step.pjit")
    assert loaded.state.displayed is loaded.state.analyses
    assert "not known yet" not in str(loaded)


def test_a_program_without_collectives_has_nothing_to_ask_for(asked):
    x = jax.device_put(np.ones((8, 8), np.float32), NamedSharding(Mesh(np.array(jax.devices()), ("x",)), P("x")))
    with pi.capture() as log:
        jax.jit(lambda x: x + 1)(x)
    assert len(log[-1].data.devices) > 1
    assert log[-1].state.displayed is log[-1].state.analyses
    assert not asked


def test_the_seconds_follow_from_what_is_counted(record, monkeypatch):
    monkeypatch.setattr(propagate, "_LONG_S", 0.0)
    monkeypatch.setattr(propagate, "_S_PER_ARRAY", 3.0)
    monkeypatch.setattr(propagate, "_S_PER_INSTRUCTION", 0.0)
    assert record.hlo is not None
    assert "needs about 6 s (modelled) for a program of 2 arrays" in why_unasked(record.data, record.hlo)


def test_the_inspector_says_that_it_is_not_known_yet(record, asked):
    words = unasked(record)
    assert "Why the collectives are there is " in words
    assert "not known yet: XLA's partitioner needs about" in words
    record.ask_partitioner()
    assert unasked(record) == "[]"


def unasked(record) -> str:
    report = report_for_display(record.state.displayed)
    return str(inspector_payload(InspectorInput(report=report)).first["unasked"])
