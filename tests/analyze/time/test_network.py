"""Seconds of collectives, recomputed by hand: every kind, in one and two dimensions, wrapped or not, between hosts."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pjit_inspect.analyze.time.network import NetworkModel
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.time.hardware import BySource, Hardware, Sourced

MIB = 1 << 20
W = 45e9
"""One link in one direction."""


def figure(value: float) -> BySource:
    return (Sourced(value, "a test"),)


TORUS = Hardware(name="torus", network="torus", link_bytes_per_s=figure(W), rings_from=4)
GPUS = Hardware(name="gpu", network="switch", link_bytes_per_s=figure(450e9), between_hosts=figure(50e9))


def torus(*lengths: int) -> list[Device]:
    """Chips of a slice in row-major order."""
    places = [()]
    for length in lengths:
        places = [(*place, own) for place in places for own in range(length)]
    return [Device(id=number, platform="tpu", kind="a test", coords=place) for number, place in enumerate(places)]


def hosts(count: int, each: int) -> list[Device]:
    return [Device(id=k, platform="gpu", kind="a test", process=k // each) for k in range(count * each)]


def row(kind: str, groups: list[list[int]], payload: int = MIB) -> Collective:
    return Collective(
        kind=kind, axes=("x",), groups=tuple(map(tuple, groups)), dtype="bf16", local_shape=(1,), payload_bytes=payload,
        wire_bytes=payload,
    )  # fmt: skip


def seconds(devices: list[Device], kind: str, groups: list[list[int]], hardware: Hardware = TORUS) -> float:
    found = NetworkModel(hardware, devices).transfer(row(kind, groups))
    assert found.seconds is not None, found.formula
    return found.seconds


ALL_8 = [list(range(8))]
ROWS_OF_4 = [[0, 1, 2, 3], [4, 5, 6, 7]]
COLUMNS_OF_2 = [[0, 4], [1, 5], [2, 6], [3, 7]]


@pytest.mark.parametrize(
    ("kind", "devices", "groups", "expected"),
    [
        # A ring of 8, both directions; 8 is a multiple of 4.
        ("all-gather", torus(8), ALL_8, 8 * MIB * 7 / 8 / (2 * W)),
        ("reduce-scatter", torus(8), ALL_8, MIB * 7 / 8 / (2 * W)),
        ("all-reduce", torus(8), ALL_8, 2 * MIB * 7 / 8 / (2 * W)),
        ("all-to-all", torus(8), ALL_8, MIB * 4 * 4 / 8 / (2 * W)),
        ("collective-broadcast", torus(8), ALL_8, MIB / W),
        # A line of 6: its ends have one link.
        ("all-gather", torus(6), [list(range(6))], 6 * MIB * 5 / 6 / W),
        ("reduce-scatter", torus(6), [list(range(6))], MIB * 5 / 6 / W),
        ("all-reduce", torus(6), [list(range(6))], 2 * MIB * 5 / 6 / W),
        ("all-to-all", torus(6), [list(range(6))], MIB * 3 * 3 / 6 / W),
        # A line of 5: the middle has 2 on one side and 3 on the other.
        ("all-to-all", torus(5), [list(range(5))], MIB * 2 * 3 / 5 / W),
        # 2 x 4: one dimension, a line of 2 or a ring of 4; and both, whose links add up.
        ("all-gather", torus(2, 4), COLUMNS_OF_2, 2 * MIB / 2 / W),
        ("all-gather", torus(2, 4), ROWS_OF_4, 4 * MIB * 3 / 4 / (2 * W)),
        ("all-reduce", torus(2, 4), ALL_8, 2 * MIB * 7 / 8 / (3 * W)),
        ("all-to-all", torus(2, 4), ALL_8, max(MIB * 1 * 1 / 2 / W, MIB * 2 * 2 / 4 / (2 * W))),
        # Half of a ring of 8 is a line, and every second chip of it a ring whose links two groups share.
        ("all-gather", torus(8), ROWS_OF_4, 4 * MIB * 3 / 4 / W),
        ("all-gather", torus(8), [[0, 2, 4, 6], [1, 3, 5, 7]], 4 * MIB * 3 / 4 / (2 * W / 2)),
        # 4 x 4 x 4, all wrapped.
        ("all-reduce", torus(4, 4, 4), [list(range(64))], 2 * MIB * 63 / 64 / (6 * W)),
    ],
)
def test_a_torus_is_as_by_hand(kind, devices, groups, expected):
    assert seconds(devices, kind, groups) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "groups", "expected"),
    [
        # All 8 devices of a ring of 4 chips: what comes into a chip is for both.
        ("all-gather", ALL_8, 8 * MIB * 3 / 4 / (2 * W)),
        ("all-reduce", ALL_8, 2 * MIB * 3 / 4 / (2 * W)),
        ("all-to-all", ALL_8, 2 * MIB * 2 * 2 / 4 / (2 * W)),
        # One device of each chip: the groups share the links.
        ("all-gather", [[0, 2, 4, 6], [1, 3, 5, 7]], 4 * MIB * 3 / 4 / (2 * W / 2)),
        ("all-to-all", [[0, 2, 4, 6], [1, 3, 5, 7]], 2 * MIB * 2 * 2 / 4 / (2 * W)),
        # Both devices send to the next chip, or to each other.
        ("collective-permute", [[k, (k + 2) % 8] for k in range(8)], 2 * MIB / W),
        ("collective-permute", [[0, 1], [1, 0]], 0.0),
    ],
)
def test_devices_of_one_chip_share_its_links(kind, groups, expected):
    devices = [replace(chip, id=2 * chip.id + core) for chip in torus(4) for core in range(2)]
    found = seconds(devices, kind, groups, replace(TORUS, per_chip=2))
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_permute_takes_as_long_as_its_busiest_link():
    shifted = [[k, (k + 1) % 8] for k in range(8)]
    assert seconds(torus(8), "collective-permute", shifted) == pytest.approx(MIB / W)
    # On a line, the way back passes all others' links, in the other direction.
    assert seconds(torus(6), "collective-permute", [[k, (k + 1) % 6] for k in range(6)]) == pytest.approx(MIB / W)
    # By three each: three ways share every link.
    assert seconds(torus(8), "collective-permute", [[k, (k + 3) % 8] for k in range(8)]) == pytest.approx(3 * MIB / W)
    assert seconds(torus(8), "collective-permute", [[k, k] for k in range(8)]) == 0.0


def test_a_group_that_is_no_block_is_a_ring_in_its_order():
    # (0,0) -> (0,1) -> (1,1) -> (1,2) and the long way back: no link is used twice in one direction.
    found = seconds(torus(3, 3), "all-reduce", [[0, 1, 4, 5]])
    assert found == pytest.approx(2 * MIB * 3 / 4 / W)


@pytest.mark.parametrize(
    ("kind", "times", "whole"), [("all-gather", 1, 8), ("reduce-scatter", 1, 1), ("all-reduce", 2, 1)]
)
def test_within_a_host_the_switch_and_between_hosts_the_network_card_counts(kind, times, whole):
    inside = seconds(hosts(1, 8), kind, ALL_8, GPUS)
    assert inside == pytest.approx(times * whole * MIB * 7 / 8 / 450e9)
    # Two hosts of 4: half of it comes from outside, over 4 cards.
    across = seconds(hosts(2, 4), kind, ALL_8, GPUS)
    assert across == pytest.approx(times * whole * MIB / 2 / (4 * 50e9))
    # One of each host: one card.
    one = seconds(hosts(2, 4), kind, COLUMNS_OF_2, GPUS)
    assert one == pytest.approx(times * (2 if kind == "all-gather" else 1) * MIB / 2 / 50e9)


def test_an_exchange_between_hosts_sends_what_is_for_others_outside():
    assert seconds(hosts(1, 8), "all-to-all", ALL_8, GPUS) == pytest.approx(MIB * 7 / 8 / 450e9)
    assert seconds(hosts(2, 4), "all-to-all", ALL_8, GPUS) == pytest.approx(MIB * 4 / 8 / 50e9)
    assert seconds(hosts(2, 4), "collective-permute", [[3, 4]], GPUS) == pytest.approx(MIB / 50e9)
    assert seconds(hosts(2, 4), "collective-permute", [[2, 3]], GPUS) == pytest.approx(MIB / 450e9)


def test_nothing_is_guessed():
    def why(hardware: Hardware, devices: list[Device], asked: Collective) -> str:
        found = NetworkModel(hardware, devices).transfer(asked)
        assert found.seconds is None
        return found.formula

    without = [Device(id=k, platform="tpu", kind="a test") for k in range(8)]
    # Of devices without places, each sends over one link.
    placeless = NetworkModel(TORUS, without).transfer(replace(row("all-gather", ALL_8), wire_bytes=7 * MIB))
    assert placeless.seconds == pytest.approx(7 * MIB / W)
    assert "the places of the devices on the torus are unknown" in placeless.formula
    # Two slices have chips of the same place.
    twice = torus(4) + torus(4)
    assert "unknown" in why(TORUS, twice, row("all-gather", ALL_8))
    assert why(Hardware(name="?"), torus(8), row("all-gather", ALL_8)) == "the speed of the links is unknown"
    assert why(
        Hardware(name="?", network="switch", link_bytes_per_s=figure(1.0)), hosts(2, 4), row("all-gather", ALL_8)
    )
    assert why(TORUS, torus(4), row("all-gather", ALL_8)) == "its devices are unknown"


def test_what_was_measured_over_an_axis_comes_first():
    hardware = Hardware(name="here", by_axis={("x",): Sourced(1e9, "measured")})
    assert seconds(torus(8), "all-gather", ALL_8, hardware) == pytest.approx(MIB / 1e9)
    assert seconds(torus(8), "all-gather", [[0]], hardware) == 0.0


def test_the_formulas_say_what_they_take():
    found = NetworkModel(TORUS, torus(2, 4)).transfer(row("all-reduce", ALL_8))
    assert found.formula == "2 V (n - 1) / n / 135 GB/s: a line of 2 and a ring of 4"
    assert math.isclose(found.seconds or 0.0, 2 * MIB * 7 / 8 / 135e9)
