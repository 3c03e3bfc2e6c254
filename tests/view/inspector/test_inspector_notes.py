"""The inspector's notes and the rows each is about."""

from __future__ import annotations

import dataclasses

import pytest
import view_reports

from pjit_inspect.analyze.report.notes import collective_notes
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.model.report.report import Note, RecordReport
from pjit_inspect.view.inspector.notes import note_list
from pjit_inspect.view.inspector.rows import array_groups
from pjit_inspect.view.record.collectives import group_collectives

MESH = view_reports.mesh_of(data=2, model=4)


def collective(name: str, **more) -> Collective:
    """A collective of a row of its own."""
    given = {"axes": ("model",), "groups": ((0, 1, 2, 3), (4, 5, 6, 7)), **more}
    return Collective(
        kind="all-reduce", dtype="f32", local_shape=(8,), payload_bytes=32, wire_bytes=48, op_name=f"jit(f)/{name}",
        instructions=(name,), **given,
    )  # fmt: skip


def report_of(*rows: Collective, **more) -> RecordReport:
    report = view_reports.train_step()
    return dataclasses.replace(report, collectives=CollectiveTable(rows), notes=(), **more)


def notes_of(report: RecordReport) -> dict[str, tuple[str, list[str]]]:
    """Words -> the list a note is about, and the names of its rows."""
    groups, arrays = group_collectives(report.collectives or ()), array_groups(report.data)
    names = {
        "collectives": [group.first.op_name for group in groups],
        "arrays": [group.name for _, group in arrays],
        "": [],
    }
    found = note_list(report, groups, arrays)
    return {note["words"]: (note["list"], [names[note["list"]][row] for row in note["rows"]]) for note in found}


@pytest.mark.parametrize(
    "odd",
    [{"axes": None}, {"other_axes": (("x",),)}, {"groups": ()}, {"count": None, "count_min": None}],
    ids=lambda odd: next(iter(odd)),
)
def test_every_sentence_about_collectives_finds_them(odd):
    rows = (collective("odd", **odd), collective("plain"))
    sentences = collective_notes(rows, view_reports.train_step().data)
    assert len(sentences) == 1
    report = dataclasses.replace(report_of(*rows), notes=sentences)
    assert notes_of(report)[sentences[0]] == ("collectives", ["jit(f)/odd"])


def test_widened_collectives_are_found_by_their_instructions():
    words = "1 collective sends f32 where the program has bf16"
    report = report_of(collective("wide"), collective("plain"))
    note = Note.about(words, instructions=("wide",))
    assert notes_of(dataclasses.replace(report, notes=(note,)))[words] == ("collectives", ["jit(f)/wide"])


def test_an_argument_that_is_copied_is_found_by_its_path():
    words = "`params['emb']` arrives as P(), the program takes P('model', 'data'): every such call copies it"
    note = Note.about(words, paths=("params['emb']",))
    report = dataclasses.replace(report_of(collective("plain")), notes=(note,))
    assert notes_of(report)[words] == ("arrays", ["params['emb']"])


def test_what_xla_warned_of_finds_the_collectives_of_its_operation():
    warning = XlaWarning(
        kind="full_rematerialization", text="", where="spmd_partitioner.cc:656", op_name="jit(f)/odd",
        from_sharding="{}", to_sharding="{}",
    )  # fmt: skip
    report = report_of(collective("odd"), collective("plain"), warnings=(warning,))
    assert notes_of(report)[warning.sentence] == ("collectives", ["jit(f)/odd"])


def test_a_note_about_nothing_in_the_lists_is_text():
    words = "source lines may be stale: executable came from the persistent cache"
    report = dataclasses.replace(report_of(collective("plain")), notes=(words,))
    assert notes_of(report)[words] == ("", [])


def test_facts_are_counted():
    rows = (
        collective("two", operands=2),
        collective("loop", count=7, count_min=7),
        collective("far", is_cross_host=True),
    )
    found = notes_of(report_of(*rows))
    assert found["1 collective combines several arrays"] == ("collectives", ["jit(f)/two"])
    assert found["1 collective runs more than once per call"] == ("collectives", ["jit(f)/loop"])
    assert found["1 collective talks to another host"] == ("collectives", ["jit(f)/far"])


def test_inputs_that_every_device_holds_whole_are_counted_with_their_bytes():
    """Two norms of 1,024 in each of four layers, of `params` in bf16 (2 KiB) and of `mu` in f32 (4 KiB)."""
    words, (list_name, names) = next(
        item for item in notes_of(report_of(collective("plain"))).items() if item[0].startswith("Replicated: ")
    )
    assert "16 of" in words
    assert "(48 KiB on every device)" in words
    assert list_name == "arrays"
    assert len(names) == 4
    assert all("ln" in name for name in names)
