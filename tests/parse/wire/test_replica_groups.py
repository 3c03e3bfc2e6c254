"""Every form of replica groups expands to the groups XLA means."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import Details
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.replica_groups import (
    expand_iota,
    expand_mesh_axes,
    parse_optional_replica_groups,
    print_groups,
    print_replica_groups,
)

PROGRAM = """HloModule groups, num_partitions={devices}

%add (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}}

ENTRY %main (p: f32[8]) -> f32[8] {{
  %p = f32[8]{{0}} parameter(0)
  ROOT %r = f32[8]{{0}} all-reduce(%p), channel_id=1, replica_groups={groups}, use_global_device_ids=true, to_apply=%add
}}
"""


def details_of(written: str, devices: int) -> Details:
    """An all-reduce over groups written in HLO text, as XLA's parser and our reader find it."""
    found = fixtures.from_text(PROGRAM.format(devices=devices, groups=written)).find("r")
    assert found is not None
    return found.details


def groups_of(written: str, devices: int) -> tuple[tuple[int, ...], ...] | None:
    """The groups alone."""
    return details_of(written, devices).replica_groups


@pytest.mark.parametrize(
    ("written", "devices", "expected"),
    [
        ("{}", 8, ()),
        ("{{0,1,2,3},{4,5,6,7}}", 8, ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("{{3,1},{0,2}}", 4, ((3, 1), (0, 2))),
        ("[2,4]<=[8]", 8, ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("[4,2]<=[2,4]T(1,0)", 8, ((0, 4), (1, 5), (2, 6), (3, 7))),
        ("[2,4]<=[2,2,2]T(2,0,1)", 8, ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("mesh['a'=2,'b'=4] {'b'}", 8, ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("mesh['a'=2,'b'=4] {'a'}", 8, ((0, 4), (1, 5), (2, 6), (3, 7))),
        ("mesh['a'=2,'b'=4] {'b','a'}", 8, ((0, 4, 1, 5, 2, 6, 3, 7),)),
        ("mesh['a'=2,'b'=4] {'b':(1)2}", 8, ((0, 2), (1, 3), (4, 6), (5, 7))),
        ("mesh['a'=2,'b'=4] {'b':(2)2}", 8, ((0, 1), (2, 3), (4, 5), (6, 7))),
        ("mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b'}", 8, ((0, 2, 4, 6), (1, 3, 5, 7))),
        ("mesh['a'=2,'b'=2], device_ids=(3,1,0,2) {'a'}", 4, ((3, 0), (1, 2))),
    ],
)
def test_each_form_expands_as_worked_out_by_hand(written: str, devices: int, expected: tuple[tuple[int, ...], ...]):
    assert groups_of(written, devices) == expected


@pytest.mark.parametrize(
    ("written", "devices"),
    [
        ("{}", 8),
        ("{{0,1,2,3},{4,5,6,7}}", 8),
        ("[2,4]<=[8]", 8),
        ("[4,2]<=[2,4]T(1,0)", 8),
        ("[4,4]<=[2,2,2,2]T(0,2,1,3)", 16),
        ("mesh['a'=2,'b'=4] {'b','a'}", 8),
        ("mesh['a'=2,'b'=4] {'b':(1)2}", 8),
        ("mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b'}", 8),
        ("mesh['a'=2,'b'=2], device_ids=(3,1,0,2) {'a'}", 4),
    ],
)
def test_each_form_prints_back_as_it_was_written(written: str, devices: int):
    assert details_of(written, devices).replica_groups_text == written


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_the_groups_of_real_programs_are_those_of_their_text(name: str):
    module, text = fixtures.module(name), fixtures.text(name)
    lines = re.findall(
        r"^  (?:ROOT )?%([^ ]+) = [^\n]*?[ {](replica_groups|source_target_pairs)=([^\n]*)", text, flags=re.M
    )
    assert lines or name.startswith("permute_")  # these are sends and receives
    for instruction, attribute, rest in lines:
        found = module.find(instruction)
        assert found is not None
        if found.opcode == "async-start":
            found = found.called[0].root
        if attribute == "source_target_pairs":
            assert found.details.source_target_pairs == _listed(rest)
        else:
            assert found.details.replica_groups == _enumerated(rest)
            printed = found.details.replica_groups_text
            assert printed
            assert rest.startswith(printed)
            assert rest[len(printed) :][:2] in (", ", "")


def _listed(rest: str) -> tuple[tuple[int, ...], ...]:
    block = re.match(r"\{(?:\{[\d,]*\},?)*\}", rest)
    assert block
    return tuple(tuple(map(int, group.split(","))) for group in re.findall(r"\{([\d,]+)\}", block[0]))


def _enumerated(rest: str) -> tuple[tuple[int, ...], ...]:
    """Groups from text, one id at a time: nothing here is shared with what is tested."""
    if rest.startswith("{"):
        return _listed(rest)
    if rest.startswith("["):
        parts = re.match(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", rest)
        assert parts
        ids = _iota(parts[3], parts[4])
        size = int(parts[2])
        return tuple(tuple(ids[k : k + size]) for k in range(0, len(ids), size))
    parts = re.match(r"mesh\[([^\]]*)\](?:, device_ids=\(\[([\d,]+)\](?:T\(([\d,]+)\))?\))? \{([^}]*)\}", rest)
    assert parts
    names, sizes = zip(*re.findall(r"'(\w+)'=(\d+)", parts[1]), strict=True)
    sizes = tuple(map(int, sizes))
    ids = _iota(parts[2], parts[3]) if parts[2] else list(range(math.prod(sizes)))
    wanted = [names.index(name) for name in re.findall(r"'(\w+)'", parts[4])]
    return brute_force(sizes, [(axis, 1, sizes[axis]) for axis in wanted], ids)


def _iota(dims: str, order: str | None) -> list[int]:
    sizes = [int(n) for n in dims.split(",")]
    places = [int(n) for n in order.split(",")] if order else list(range(len(sizes)))
    ids = []
    for index in itertools.product(*(range(sizes[axis]) for axis in places)):
        place = dict(zip(places, index, strict=True))
        number = 0
        for axis, size in enumerate(sizes):
            number = number * size + place[axis]
        ids.append(number)
    return ids


def brute_force(
    sizes: tuple[int, ...], axes: list[tuple[int, int, int]], ids: list[int]
) -> tuple[tuple[int, ...], ...]:
    """Groups along (parts of) mesh axes: devices with equal other digits, in the order of the wanted digits."""
    groups: dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]] = {}
    for number, index in zip(ids, itertools.product(*map(range, sizes)), strict=True):
        digits = []
        others = list(index)
        for axis, pre, size in axes:
            rest = sizes[axis] // (pre * size)
            digit = index[axis] // rest % size
            digits.append(digit)
            others[axis] -= digit * rest
        groups.setdefault(tuple(others), []).append((tuple(digits), number))
    return tuple(tuple(number for _, number in sorted(group)) for _, group in sorted(groups.items()))


@st.composite
def meshes(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[int, int, int]], list[int]]:
    sizes = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 4, 6, 8)), min_size=1, max_size=4)))
    axes = []
    for axis in draw(st.lists(st.sampled_from(range(len(sizes))), unique=True, min_size=1)):
        size = sizes[axis]
        pre = draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
        part = draw(st.sampled_from([n for n in range(1, size // pre + 1) if (size // pre) % n == 0]))
        axes.append((axis, pre, part) if draw(st.booleans()) else (axis, 1, size))
    return sizes, axes, draw(st.permutations(range(math.prod(sizes))))


@given(meshes())
def test_mesh_axes_expand_to_what_enumeration_gives(
    case: tuple[tuple[int, ...], list[tuple[int, int, int]], list[int]],
):
    sizes, axes, ids = case
    found = expand_mesh_axes(sizes, axes, np.array(ids))
    assert set(found) == set(brute_force(sizes, axes, ids))


@settings(max_examples=30)
@given(meshes())
def test_mesh_axes_that_xla_itself_has_parsed_expand_to_what_enumeration_gives(
    case: tuple[tuple[int, ...], list[tuple[int, int, int]], list[int]],
):
    sizes, axes, ids = case
    # XLA refuses parts of an axis that are the whole axis or a single device.
    axes = [(a, 1, sizes[a]) if size in (1, sizes[a]) else (a, pre, size) for a, pre, size in axes]
    assume(math.prod(size for _, _, size in axes) > 1)
    named = ",".join(f"'n{k}'={size}" for k, size in enumerate(sizes))
    wanted = ",".join(f"'n{a}'" + ("" if size == sizes[a] else f":({pre}){size}") for a, pre, size in axes)
    order = "" if ids == list(range(len(ids))) else f", device_ids=({','.join(map(str, ids))})"
    found = details_of(f"mesh[{named}]{order} {{{wanted}}}", len(ids))
    assert found.replica_groups is not None
    assert set(found.replica_groups) == set(brute_force(sizes, axes, ids))
    # What is printed means the same to XLA, and prints as itself again.
    again = details_of(found.replica_groups_text, len(ids))
    assert (again.replica_groups, again.replica_groups_text) == (found.replica_groups, found.replica_groups_text)


@settings(max_examples=30)
@given(st.integers(1, 4), st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_iota_groups_print_back_to_what_xla_prints(size: int, dims: list[int], data: st.DataObject):
    order = data.draw(st.permutations(range(len(dims))))
    written = (
        f"[{math.prod(dims)},{size}]<=[{','.join(map(str, [*dims, size]))}]T({','.join(map(str, [*order, len(dims)]))})"
    )
    module = fixtures.xla_module(PROGRAM.format(devices=math.prod(dims) * size, groups=written))
    printed = re.search(r"replica_groups=(.*?), use_global", module.to_string())
    assert printed
    found = parse_program(module.as_serialized_hlo_module_proto()).find("r")
    assert found
    assert found.details.replica_groups_text == printed[1]
    assert found.details.replica_groups == groups_of(printed[1], math.prod(dims) * size)


@settings(max_examples=30)
@given(st.permutations(range(12)), st.sampled_from([1, 2, 3, 4, 6, 12]))
def test_the_normal_form_prints_to_text_that_xla_reads_as_the_same_groups(ids: list[int], size: int):
    groups = tuple(tuple(ids[k : k + size]) for k in range(0, 12, size))
    assert groups_of(print_groups(groups), 12) == groups


def test_groups_that_are_not_understood_print_as_nothing():
    assert print_replica_groups(instruction(b"\x1a\x02\x08\x01")) == ""
    assert print_replica_groups(message_class("Instruction")(opcode="all-reduce")) == ""


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4).flatmap(
        lambda d: st.tuples(st.just(d), st.permutations(range(len(d))))
    ),
    st.data(),
)
def test_iota_groups_expand_to_what_enumeration_gives(case: tuple[list[int], list[int]], data: st.DataObject):
    dims, order = case
    count = math.prod(dims)
    size = data.draw(st.sampled_from([n for n in range(1, count + 1) if count % n == 0]))
    ids = _iota(",".join(map(str, dims)), ",".join(map(str, order)))
    expected = tuple(tuple(ids[k : k + size]) for k in range(0, count, size))
    assert expand_iota((count // size, size), dims, order) == expected


@pytest.mark.parametrize(
    ("shape", "reshape", "transpose"),
    [
        ((2, 4), (4,), ()),
        ((2, 4), (2, 4), (0, 0)),
        ((1, 2**40), (2**40,), ()),
        ((-2, -4), (8,), ()),
        ((2, 4), (0, 8), ()),
    ],
)
def test_iota_groups_that_contradict_themselves_are_refused(
    shape: tuple[int, int], reshape: tuple[int, ...], transpose: tuple[int, ...]
):
    with pytest.raises(ParseError):
        expand_iota(shape, reshape, transpose)


@pytest.mark.parametrize(
    ("sizes", "axes", "devices"),
    [
        ((2, 4), [(1, 3, 2)], None),
        ((2, 4), [(1, 2, 4)], None),
        ((2, 4), [(1, 1, 2), (1, 1, 2)], None),
        ((2, 4), [(0, 1, 2)], np.arange(6)),
        ((-2, -4), [(0, 1, 2)], np.arange(8)),
    ],
)
def test_mesh_axes_that_contradict_themselves_are_refused(
    sizes: tuple[int, ...], axes: list[tuple[int, int, int]], devices: np.ndarray | None
):
    with pytest.raises(ParseError):
        expand_mesh_axes(sizes, axes, devices)


def instruction(groups: bytes) -> Any:
    """A decoded all-reduce with `groups` as its `collective_device_list`, written as protobuf does."""
    message = message_class("Instruction")(name="r", opcode="all-reduce")
    return message_class("Instruction").FromString(
        message.SerializeToString() + b"\xba\x05" + bytes([len(groups)]) + groups
    )


def test_the_iota_form_of_jax_0_8_is_read():
    iota = message_class("IotaReplicaGroupList")(
        num_replica_groups=4, num_devices_per_group=2, iota_reshape_dims=[2, 4], iota_transpose_perm=[1, 0]
    ).SerializeToString()
    found = instruction(b"\x12" + bytes([len(iota)]) + iota)
    assert parse_optional_replica_groups(found) == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert print_replica_groups(found) == "[4,2]<=[2,4]T(1,0)"


def test_groups_in_a_form_of_the_future_are_unknown_and_not_everybody():
    assert parse_optional_replica_groups(instruction(b"\x1a\x02\x08\x01")) is None
    assert parse_optional_replica_groups(instruction(b"")) == ()
    assert parse_optional_replica_groups(message_class("Instruction")(opcode="all-reduce")) is None
