"""A report holds every analysis of a record, and says only what the program proves."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.report.report import report as report_of
from pjit_inspect.model.program.mesh import Device, Mesh
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.parse.hlo_proto.hlo import parse_program


def report(data: RecordData) -> RecordReport:
    return report_of(data, None if data.hlo is None else parse_program(data.hlo.read()))


def record(name: str, platform: str = "cpu", **more: Any) -> RecordData:
    return RecordData(
        name="step",
        mesh=fixtures.MESH,
        meshes=(fixtures.MESH,),
        devices=tuple(Device(id=k, platform=platform, kind=platform) for k in range(8)),
        hlo=Blob(fixtures.proto(name)),
        **more,
    )


def test_a_report_holds_all_analyses():
    found = report(record("mlp_step.cpu_8"))
    assert found.collectives is not None
    assert found.fusions is not None
    assert (len(found.collectives), len(found.fusions), found.instructions) == (2, 19, 207)
    assert [total.axes for total in found.totals] == [("data",), ("model",)]
    assert found.sent_bytes == sum(row.wire_bytes for row in found.collectives)


def test_a_record_without_hlo_has_no_analyses():
    found = report(RecordData(name="f"))
    assert (found.collectives, found.fusions, found.instructions, found.totals, found.notes) == (
        None,
        None,
        None,
        (),
        (),
    )


def test_notes_count_collectives_that_follow_no_axis_or_are_wider_than_the_program():
    # One gather runs over half of model, which has a name; 45 collectives sum or move f32 that was converted from
    # bf16 right before, and is converted back right after.
    notes = report(record("transformer_step.cpu_8")).notes
    assert notes == ("45 collectives send f32 where the program has bf16 (CPU backend)",)
    # 0 and 4 lie at 0 and 3 of the first row here: an end of each half of model.
    mixed = dataclasses.replace(fixtures.MESH, device_ids=(0, 5, 1, 4, 2, 7, 3, 6))
    notes = report(dataclasses.replace(record("mlp_step.cpu_8"), mesh=mixed, meshes=(mixed,))).notes
    assert notes == ("1 collective follows no mesh axis",)


def test_a_note_says_that_axes_of_another_mesh_fit_too():
    # Of mlp_step's two collectives, one runs along data, which is x in the cube, and one along model, which is y and z.
    cube = Mesh(axis_names=("x", "y", "z"), shape=(2, 2, 2), device_ids=tuple(range(8)))
    data = dataclasses.replace(record("mlp_step.cpu_8"), meshes=(fixtures.MESH, cube))
    note = "2 collectives fit axes of several meshes; they are named after data=2 x model=4"
    assert note in report(data).notes
    line = Mesh(axis_names=("all",), shape=(8,), device_ids=tuple(range(8)))
    assert note not in report(dataclasses.replace(data, meshes=(fixtures.MESH, line))).notes


WIDE = """HloModule m, num_partitions=8

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (p: bf16[8]) -> (f32[8], bf16[8]) {
  %p = bf16[8]{0} parameter(0)
  %wide = f32[8]{0} convert(%p)
  %r = f32[8]{0} all-reduce(%wide), channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true, to_apply=%add
  %flat = f32[8]{0} copy(%r)
  %n = AFTER
  %o = bf16[8]{0} convert(%flat)
  ROOT %t = (f32[8]{0}, bf16[8]{0}) tuple(%n, %o)
}
"""


@pytest.mark.parametrize(
    ("after", "name", "expected"),
    [
        ("f32[8]{0} negate(%wide)", "jit(f)/dot_general", True),
        # The sum goes on in f32 elsewhere: the program may have asked for it.
        ("f32[8]{0} negate(%r)", "jit(f)/dot_general", False),
        # What was written is sent as it was written.
        ("f32[8]{0} negate(%wide)", "jit(f)/shard_map/psum", False),
    ],
)
def test_a_collective_is_called_wider_than_the_program_only_between_two_converts(after: str, name: str, expected: bool):
    source = WIDE.replace("AFTER", after).replace("to_apply=%add\n", f'to_apply=%add, metadata={{op_name="{name}"}}\n')
    proto = fixtures.xla_module(source).as_serialized_hlo_module_proto()
    notes = report(RecordData(name="f", mesh=fixtures.MESH, meshes=(fixtures.MESH,), hlo=Blob(proto))).notes
    assert notes == (("1 collective sends f32 where the program has bf16",) if expected else ())


def test_notes_are_silent_where_there_is_nothing_to_say():
    assert report(record("mlp_step.v5e_2x4", "tpu")).notes == ()


def test_a_note_says_that_lines_of_a_cached_executable_may_be_stale():
    assert report(record("pallas.v5e", "tpu", cached="persistent")).notes == (
        "source lines may be stale: executable came from the persistent cache",
    )
    assert report(record("pallas.v5e", "tpu", cached="memory")).notes == ()


def test_a_note_says_which_loops_are_not_counted():
    source = """HloModule m, num_partitions=8

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

%body (s: f32[8]) -> f32[8] {
  %s = f32[8]{0} parameter(0)
  ROOT %r = f32[8]{0} all-reduce(%s), channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true, to_apply=%add
}

%condition (c: f32[8]) -> pred[] {
  %c = f32[8]{0} parameter(0)
  ROOT %go = pred[] custom-call(%c), custom_call_target="ask"
}

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %w = f32[8]{0} while(%p), condition=%condition, body=%body
}
"""
    proto = fixtures.xla_module(source).as_serialized_hlo_module_proto()
    found = report(RecordData(name="f", mesh=fixtures.MESH, hlo=Blob(proto)))
    assert found.notes == ("the loop around 1 collective has no known trip count",)
    assert found.totals[0].runs is None


def test_a_note_says_which_collectives_name_no_devices():
    # With a channel, and ids that are not flattened, a group spans all partitions: nobody says how many there are.
    source = """HloModule m

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %r = f32[8]{0} all-reduce(%p), channel_id=1, replica_groups={{0}}, to_apply=%add
}
"""
    proto = fixtures.xla_module(source).as_serialized_hlo_module_proto()
    assert report(RecordData(name="f", hlo=Blob(proto))).notes == (
        "1 collective names no devices that are known: its bytes on the wire are not counted",
    )


def test_frames_in_notebook_cells_carry_the_cells_label():
    text = fixtures.text("mlp_step.cpu_8")
    assert '"notebook/models.py"' in text
    cell = SourceText(file="notebook/models.py", cell="In [7]", lines=())
    frame = Frame(file="notebook/t08_cpu_scale.py", line=1, cell="In [8]")
    found = report(record("mlp_step.cpu_8", sources=(cell,), user_frame=frame))
    assert found.collectives is not None
    places = {place.where.partition(":")[0] for row in found.collectives for place in row.source}
    assert places == {"In [7]", "In [8]"}
    assert found.fusions is not None
    assert any(place.cell == "In [7]" for row in found.fusions for place in row.source)
