"""Bytes of arrays with their tiles, as XLA printed them for a v5e (`scripts/memory_padding` compares hundreds)."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.memory.fits import least_tpu_bytes, tpu_bytes
from pjit_inspect.model.program.shape import COMBINED, Layout, Shape


@pytest.mark.parametrize(
    ("dtype", "dimensions", "order", "tiles", "expected"),
    [
        ("f32", (512, 1), (0, 1), ((1, 128),), 2048),
        ("f32", (512, 1), (1, 0), ((8, 128),), 512 * 128 * 4),
        ("bf16", (130, 100), (1, 0), ((8, 128), (2, 1)), 136 * 128 * 2),
        ("s32", (), (), ((128,),), 512),
        ("f32", (513,), (0,), ((1024,),), 4096),
        ("f32", (3, 5), (1, 0), (), 60),
        ("f32", (5, 3, 9), (2, 1, 0), ((COMBINED, 8),), 5 * 32 * 4),
    ],
)
def test_tiles_are_filled(dtype, dimensions, order, tiles, expected):
    layout = Layout(minor_to_major=order, tiles=tiles)
    assert Shape(dtype=dtype, dimensions=dimensions, layout=layout).padded_bytes == expected


@pytest.mark.parametrize(
    ("dimensions", "bits", "expected"),
    [
        ((4096, 1), 32, 4096 * 4),
        ((4096, 4), 32, 4096 * 4 * 4),
        ((), 32, 512),
        ((3, 4), 8, 4 * 128),
        ((1025,), 16, 4096),
    ],
)
def test_an_argument_lies_so_that_it_takes_least(dimensions, bits, expected):
    assert least_tpu_bytes(dimensions, bits) == expected


def test_a_layout_that_is_asked_for_may_pad_32_times():
    """Four numbers in rows of 128 lanes."""
    assert tpu_bytes((4096, 4), 32, (1, 0)) == 32 * 4096 * 4 * 4
