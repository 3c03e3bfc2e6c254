"""The data of the memory pane: compact columns, from which every moment can be told.

Not its job: what is alive (tests/analyze/memory), how it is drawn (tests/browser/memory).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from blob_reader import read_blob

sys.path.insert(0, str(Path(__file__).parents[2]))
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.handles.memory.shown import memory_blob
from pjit_inspect.model.memory.fit import MemoryFit
from pjit_inspect.model.memory.memory_use import (
    LiveTable,
    LiveValue,
    MemoryCurve,
    MemoryTimeline,
    MemoryUse,
    Moment,
    TimedValue,
)
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.view.inspector.blob import deflated
from pjit_inspect.view.memory.payload import MemoryInput, memory_payload

DATA = RecordData(name="step")
SAVED = [
    TimedValue(
        value=LiveValue(name=f"layer{k}/h", bytes=8, kind="saved for backward", scope=f"layer{k}/mlp", layers=(k,)),
        spans=((k, 5 - k),),
        maker=k,
        last_user=5 - k,
    )
    for k in (0, 1)
]
ARGUMENT = TimedValue(value=LiveValue(name="x", bytes=4, kind="argument", made_by="param.0"), spans=((0, 5),))
CURVE = MemoryCurve(space=0, name="HBM", bytes=(12, 20, 20, 20, 20, 12))
USE = MemoryUse(peak_bytes=20, at=Moment(kernel=1, kernels=6), curves=(CURVE,))
TIMELINE = MemoryTimeline(curve=CURVE, values=(*SAVED, ARGUMENT))


def test_equal_layers_are_one_row_and_every_value_has_its_spans():
    header, columns = read_blob(memory_payload(MemoryInput(use=USE, timelines=(TIMELINE,), data=DATA)))
    assert [(row["name"], row["number"], row["bytes"], row["layers"]) for row in header["groups"]] == [
        ("layer*/h", 2, 8.0, "0 to 1"),
        ("x", 1, 4.0, ""),
    ]
    assert header["groups"][1]["names"] == ["param.0"]
    assert columns["value.group"].tolist() == [0, 0, 1]
    assert [header["kinds"][kind] for kind in columns["value.kind"]] == ["saved for backward"] * 2 + ["argument"]
    assert [header["scopes"][scope] for scope in columns["value.scope"]] == ["layer0", "layer1", ""]
    assert (columns["span.from"].tolist(), columns["span.to"].tolist()) == ([0, 1, 0], [5, 4, 5])
    assert columns["value.ends"].tolist() == [1, 2, 3]
    assert (columns["value.maker"].tolist(), columns["value.user"].tolist()) == ([0, 1, -1], [5, 4, -1])
    assert columns["bytes.0"].tolist() == list(CURVE.bytes)
    assert header["spaces"] == [{"name": "HBM", "peak": 1, "most": 20.0, "nameless": 0, "first": 0, "end": 3}]
    assert (header["kernels"], header["peak"], header["missing"]) == (6, 1, "")


def test_each_memory_has_its_own_values():
    host = MemoryTimeline(
        curve=MemoryCurve(space=5, name="host", bytes=(0, 0, 4, 4, 0, 0)),
        values=(TimedValue(value=LiveValue(name="x", bytes=4, kind="argument", space=5), spans=((2, 3),)),),
    )
    header, columns = read_blob(memory_payload(MemoryInput(use=USE, timelines=(TIMELINE, host), data=DATA)))
    assert [(one["name"], one["peak"], one["first"], one["end"]) for one in header["spaces"]] == [
        ("HBM", 1, 0, 3),
        ("host", 2, 3, 4),
    ]
    assert columns["bytes.1"].tolist() == [0, 0, 4, 4, 0, 0]


def test_a_chip_is_said_with_what_it_has_and_how_that_is_known():
    fit = MemoryFit(
        chip="v5e",
        available_bytes=int(15.75 * 2**30),
        available_source="libtpu",
        argument_bytes=2**30,
        result_bytes=0,
        temporary_bytes=round(0.7 * 2**30),
        source="modelled",
    )
    header, _ = read_blob(memory_payload(MemoryInput(use=USE, timelines=(TIMELINE,), data=DATA, fits=(fit,))))
    [found] = header["fits"]
    assert (found["words"], found["how"], found["fits"], found["is_own"]) == (
        "1.7 of 15.75 GiB on v5e",
        "modelled",
        True,
        False,
    )


def test_without_a_schedule_there_are_arguments_and_the_reason():
    use = MemoryUse(live=LiveTable(rows=(ARGUMENT.value,)), missing="the program has no schedule")
    header, columns = read_blob(memory_payload(MemoryInput(use=use, timelines=(), data=DATA)))
    assert (header["kernels"], header["missing"]) == (0, "the program has no schedule")
    assert [row["name"] for row in header["groups"]] == ["x"]
    assert columns["value.ends"].tolist() == [0]


def test_hostile_names_are_shown_as_they_are_and_cannot_leave_their_place():
    value = LiveValue(name="</script><b>\u202e" + "a" * 999, bytes=4, kind="temporary", scope="<i>")
    timeline = MemoryTimeline(curve=CURVE, values=(TimedValue(value=value, spans=((0, 0),)),))
    blob = memory_payload(MemoryInput(use=USE, timelines=(timeline,), data=DATA))
    assert b"</script" not in blob
    header, _ = read_blob(blob)
    assert "\u202e" not in header["groups"][0]["name"]
    assert len(header["groups"][0]["name"]) <= 200


def test_a_large_program_takes_little_and_its_display_under_a_cell_goes_without(tmp_path: Path):
    record = pi.open(fixtures.HERE / f"{fixtures.LARGE}.hlo.gz")
    assert isinstance(record, pi.CompileRecord)
    shown = record.show()._repr_mimebundle_()["text/html"]
    assert "_memory" not in record.state.analyses.known
    assert "as the program is large" in shown
    blob = memory_blob(record.state.analyses)
    assert len(deflated(blob)) < 60_000
    header, columns = read_blob(blob)
    assert len(columns["value.group"]) == 2000
    assert header["spaces"][0]["nameless"] == 1333
    # The page that is a file has it.
    record.to_html(tmp_path / "step.html")
    assert 'id="pjit-memory"' in (tmp_path / "step.html").read_text(encoding="utf-8")


def test_the_values_of_every_moment_and_the_nameless_add_up_to_the_curve():
    record = pi.open(fixtures.HERE / "transformer_step.cpu_8.hlo.gz")
    assert isinstance(record, pi.CompileRecord)
    header, columns = read_blob(memory_blob(record.state.analyses))
    sizes = np.array([row["bytes"] for row in header["groups"]])[columns["value.group"]]
    change = np.zeros(header["kernels"] + 1)
    start = 0
    for end, size in zip(columns["value.ends"].tolist(), sizes.tolist(), strict=True):
        for span in range(start, end):
            change[columns["span.from"][span]] += size
            change[columns["span.to"][span] + 1] -= size
        start = end
    assert np.cumsum(change)[:-1].tolist() == columns["bytes.0"].tolist()


def test_a_small_program_on_a_large_chip_is_not_a_fraction_of_a_gibibyte():
    fit = MemoryFit(
        chip="v5e",
        available_bytes=int(15.75 * 2**30),
        available_source="libtpu",
        argument_bytes=5 * 2**20,
        result_bytes=0,
        temporary_bytes=0,
        source="modelled",
    )
    header, _ = read_blob(memory_payload(MemoryInput(use=USE, timelines=(TIMELINE,), data=DATA, fits=(fit,))))
    assert header["fits"][0]["words"] == "5 MiB of 15.75 GiB on v5e"
    assert fit.sentence.startswith("fits v5e: 5 MiB of 15.75 GiB (")


def test_a_program_of_one_device_without_a_mesh_has_no_specs():
    record = fixtures.on_h200("linalg")
    header, _ = read_blob(memory_payload(MemoryInput(use=record.memory_use, timelines=(), data=record.data)))
    assert {row["spec"] for row in header["groups"]} == {"not known"}
