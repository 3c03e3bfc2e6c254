"""Kernels that are built alike are looked into once, and what is found is what looking into each would find."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.program.body_forms import BodyForms
from pjit_inspect.analyze.program.fusions import find_fusions

PROGRAM = """HloModule alike, is_scheduled=true

%add_one (p: f32[4,8]) -> f32[4,8] {
  %p = f32[4,8]{1,0} parameter(0)
  %one = f32[] constant(1)
  %ones = f32[4,8]{1,0} broadcast(%one), dimensions={}
  ROOT %a = f32[4,8]{1,0} add(%p, %ones)
}

%add_two (p2: f32[4,8]) -> f32[4,8] {
  %p2 = f32[4,8]{1,0} parameter(0)
  %two = f32[] constant(2)
  %twos = f32[4,8]{1,0} broadcast(%two), dimensions={}
  ROOT %a2 = f32[4,8]{1,0} add(%p2, %twos)
}

%the_other_way (p3: f32[4,8]) -> f32[4,8] {
  %p3 = f32[4,8]{1,0} parameter(0)
  %three = f32[] constant(3)
  %threes = f32[4,8]{1,0} broadcast(%three), dimensions={}
  ROOT %a3 = f32[4,8]{1,0} add(%threes, %p3)
}

%first_row (p4: f32[4,8]) -> f32[1,8] {
  %p4 = f32[4,8]{1,0} parameter(0)
  ROOT %row = f32[1,8]{1,0} slice(%p4), slice={[0:1], [0:8]}
}

ENTRY %main (x: f32[4,8]) -> f32[1,8] {
  %x = f32[4,8]{1,0} parameter(0)
  %k1 = f32[4,8]{1,0} fusion(%x), kind=kLoop, calls=%add_one
  %k2 = f32[4,8]{1,0} fusion(%k1), kind=kLoop, calls=%add_two
  %k3 = f32[4,8]{1,0} fusion(%k2), kind=kLoop, calls=%the_other_way
  ROOT %k4 = f32[1,8]{1,0} fusion(%k3), kind=kLoop, calls=%first_row
}
"""


def test_bodies_are_of_one_form_when_opcodes_shapes_and_operands_are_equal():
    module = fixtures.from_text(PROGRAM)
    forms, names = BodyForms(module), module.computations.names
    one, two, other, row = (
        forms.of(names.index(name)) for name in ("add_one", "add_two", "the_other_way", "first_row")
    )
    assert one is not None
    assert one == two
    assert len({one, other, row}) == 3


@pytest.mark.parametrize(
    "name",
    ["transformer_step.cpu_8", "train_step_16_layers.cpu_8", "transformer_step.v5e_2x4", "transformer_step.h100_1x1x8"],
)
def test_kernels_are_the_same_as_when_each_is_looked_into(name: str, monkeypatch: pytest.MonkeyPatch):
    module = fixtures.module(name)
    found = find_fusions(module)
    monkeypatch.setattr(BodyForms, "of_each", lambda _, computations: [None] * len(computations))
    alone = find_fusions(module)
    assert found == alone
    assert len(found.distinct) < len(alone.distinct) == len(found)
    assert sorted(place for one in found.distinct for place in one.places) == list(range(len(found)))
    assert all(replace(one.first, name=found[k].name) == found[k] for one in found.distinct for k in one.places)
    assert all(one.first == found[one.places[0]] for one in found.distinct)


def test_of_a_part_of_a_table_each_kernel_stands_alone():
    found = find_fusions(fixtures.module("train_step_16_layers.cpu_8"))
    assert [(one.first, one.places) for one in found[2:4].distinct] == [(found[2], (0,)), (found[3], (1,))]
    assert found[:] == found == pickle.loads(pickle.dumps(found))


def test_a_kernel_that_reads_a_slice_reads_no_more():
    rows = find_fusions(fixtures.from_text(PROGRAM))
    assert [row.bytes_read for row in rows] == [128, 128, 128, 32]
    assert [row.bytes_written for row in rows] == [128, 128, 128, 32]


def test_a_kernel_that_takes_one_array_twice_reads_it_once():
    text = """HloModule twice, is_scheduled=true

%sum (p: f32[4,8], q: f32[4,8]) -> f32[4,8] {
  %p = f32[4,8]{1,0} parameter(0)
  %q = f32[4,8]{1,0} parameter(1)
  ROOT %a = f32[4,8]{1,0} add(%p, %q)
}

%sum_again (p2: f32[4,8], q2: f32[4,8]) -> f32[4,8] {
  %p2 = f32[4,8]{1,0} parameter(0)
  %q2 = f32[4,8]{1,0} parameter(1)
  ROOT %a2 = f32[4,8]{1,0} add(%p2, %q2)
}

ENTRY %main (x: f32[4,8], y: f32[4,8]) -> f32[4,8] {
  %x = f32[4,8]{1,0} parameter(0)
  %y = f32[4,8]{1,0} parameter(1)
  %k1 = f32[4,8]{1,0} fusion(%x, %y), kind=kLoop, calls=%sum
  ROOT %k2 = f32[4,8]{1,0} fusion(%k1, %k1), kind=kLoop, calls=%sum_again
}
"""
    assert [row.bytes_read for row in find_fusions(fixtures.from_text(text))] == [256, 128]
