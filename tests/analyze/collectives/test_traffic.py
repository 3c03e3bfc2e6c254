"""Bytes on the wire follow the ring model, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pjit_inspect.analyze.collectives.traffic import RING, total_by_axes, wire_bytes
from pjit_inspect.model.report.collective import KINDS, Collective


@pytest.mark.parametrize(
    ("kind", "payload", "size", "expected"),
    [
        ("all-gather", 100, 4, 300),  # each shard of the others passes once
        ("reduce-scatter", 400, 4, 300),  # three of four quarters
        ("all-reduce", 400, 4, 600),  # a reduce-scatter and an all-gather of the quarters
        ("all-reduce", 10, 3, 14),  # 40 / 3, rounded up
        ("all-to-all", 400, 4, 300),  # its own quarter stays
        ("ragged-all-to-all", 400, 4, 300),
        ("collective-permute", 400, 2, 400),
        ("collective-broadcast", 400, 4, 400),
        ("all-gather", 100, 1, 0),
        ("all-reduce", 400, 1, 0),
        ("collective-permute", 400, 1, 0),
        ("all-reduce", 0, 8, 0),
        ("all-reduce", 3 * 2**60, 2, 3 * 2**60),
    ],
)
def test_wire_bytes_by_hand(kind: str, payload: int, size: int, expected: int):
    assert wire_bytes(kind, payload, size) == expected


def test_every_kind_has_a_formula():
    assert set(RING) == set(KINDS)


def collective(axes: tuple[str, ...] | None, payload: int, wire: int, count: int | None) -> Collective:
    return Collective(
        kind="all-reduce",
        axes=axes,
        groups=(),
        dtype="f32",
        local_shape=(),
        payload_bytes=payload,
        wire_bytes=wire,
        count=count,
        count_min=count,
    )


def test_totals_add_up_per_set_of_axes():
    rows = [
        collective(("data",), 10, 20, 3),
        collective(("model",), 1000, 1500, 1),
        collective(("data",), 1, 2, 1),
        collective(None, 5, 5, 1),
        collective(("data", "model"), 7, 9, None),
    ]
    model, data, both, none = total_by_axes(rows)
    assert (model.axes, model.collectives, model.runs, model.payload_bytes, model.sent_bytes) == (
        ("model",),
        1,
        1,
        1000,
        1500,
    )
    assert (data.axes, data.collectives, data.runs, data.payload_bytes, data.sent_bytes) == (("data",), 2, 4, 31, 62)
    assert (both.runs, both.payload_bytes, both.sent_bytes) == (None, 7, 9)
    assert (none.axes, none.sent_bytes) == (None, 5)
    assert total_by_axes([]) == ()


def test_a_sum_is_a_bound_where_a_device_may_send_less():
    everybody = replace(collective(("x",), 8, 8, 1), groups=((0, 1), (2, 3)))
    some = replace(everybody, groups=((0, 1),))
    skipped = replace(everybody, count_min=0)
    one_pair = replace(everybody, kind="collective-permute", groups=((0, 1),))
    ring = replace(everybody, kind="collective-permute", groups=((0, 1), (1, 2), (2, 3), (3, 0)))
    bounds = [total_by_axes([row], 4)[0].is_bound for row in (everybody, some, skipped, one_pair, ring)]
    assert bounds == [False, True, True, True, False]


def test_axes_of_the_same_name_in_two_meshes_are_not_added():
    rows = [collective(("x",), 8, 8, 1), replace(collective(("x",), 8, 8, 1), mesh=1)]
    assert [(total.axes, total.mesh, total.sent_bytes) for total in total_by_axes(rows)] == [
        (("x",), 0, 8),
        (("x",), 1, 8),
    ]


@pytest.mark.parametrize(
    ("kind", "groups", "wire", "count", "expected"),
    [
        ("all-gather", ((0, 1, 2, 3), (4, 5, 6, 7)), 300, 1, 8 * 300),
        ("all-reduce", ((0, 1), (2, 3)), 100, 5, 4 * 100 * 5),
        ("collective-permute", ((0, 1), (1, 2), (3, 3)), 100, 2, 2 * 100 * 2),  # what stays is not sent
        ("collective-broadcast", ((0, 1, 2),), 100, 1, 2 * 100),  # passed on twice
        ("all-gather", (), 300, 1, None),
        ("all-gather", ((0, 1),), 300, None, None),
    ],
)
def test_all_devices_together_send_what_each_of_them_does(
    kind: str, groups: tuple[tuple[int, ...], ...], wire: int, count: int | None, expected: int | None
):
    row = Collective(
        kind=kind,
        axes=None,
        groups=groups,
        dtype="f32",
        local_shape=(25,),
        payload_bytes=100,
        wire_bytes=wire,
        count=count,
    )
    assert row.global_bytes == expected
