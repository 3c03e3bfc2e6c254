"""A session log: a row for each of the user's compiles, the others in one line."""

from __future__ import annotations

import dataclasses

import view_reports

from pjit_inspect.model.record.record import RecordData, Timings
from pjit_inspect.view.pages.session import log_view
from pjit_inspect.view.record.record import ViewOptions
from pjit_inspect.view.render.text import to_text

MLP = view_reports.mlp("tensor").data


def test_a_row_says_index_name_transform_place_mesh_collectives_and_seconds():
    eager = RecordData(name="add", transform="eager", primitive="add", origin="eager")
    text = to_text(log_view([eager, MLP], collectives=[None, 1])).splitlines()
    assert text[0] == "1 record of your functions"
    assert text[2].split() == ["#", "name", "transform", "where", "mesh", "collectives", "compile"]
    assert text[3].split() == ["1", "mlp", "jit", "In", "[4]:1", "X=8", "1", "49", "ms"]


def test_small_fry_is_one_line():
    eager = RecordData(name="add", transform="eager", origin="eager")
    library = RecordData(name="_where", origin="library")
    text = to_text(log_view([*[eager] * 13, library, MLP]))
    assert text.endswith("... and 13 of eager operations (add x13), 1 of libraries (_where)")
    assert to_text(log_view([eager])).endswith("... and 1 of eager operations (add)")


def test_what_nobody_counted_is_a_dash():
    assert to_text(log_view([MLP])).splitlines()[3].split()[-3] == "-"


def test_a_program_that_jax_held_already_was_compiled_before():
    held = dataclasses.replace(MLP, timings=Timings(), cached="memory")
    unseen = dataclasses.replace(MLP, timings=Timings())
    text = to_text(log_view([held, unseen])).splitlines()
    assert [line.split()[-1] for line in text[3:5]] == ["before", "unknown"]


def test_seconds_can_be_left_out():
    assert "compile" not in to_text(log_view([MLP], options=ViewOptions(show_times=False))).splitlines()[2].split()


def test_an_empty_log_says_so():
    assert to_text(log_view([])) == "nothing compiled"


def test_a_long_log_shows_the_newest():
    rows = [dataclasses.replace(MLP, name=f"f{i}") for i in range(100)]
    text = to_text(log_view(rows))
    assert "the first 60 are left out" in text
    assert "f99" in text
    assert "f59 " not in text
