"""Shapes are printed as XLA prints them, and weigh what they hold."""

from __future__ import annotations

import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.model.program.shape import UNBOUNDED, Layout, Shape
from pjit_inspect.parse.hlo_proto.reader import ELEMENT_TYPES, parse_shape
from pjit_inspect.parse.wire.hlo_schema import message_class

PROGRAM = """HloModule shapes

ENTRY %main () -> {shape} {{
  ROOT %r = {shape} custom-call(), custom_call_target="make"
}}
"""


def read(shape: str) -> Shape:
    """A shape from HLO text, through XLA's parser."""
    found = fixtures.from_text(PROGRAM.format(shape=shape)).find("r")
    assert found is not None
    return found.shape


@pytest.mark.parametrize(
    "shape",
    [
        "f32[]",
        "f32[16,32]{1,0}",
        "bf16[16,32]{0,1:T(8,128)(2,1)S(1)}",
        "f32[]{:T(128)}",
        "u4[8]{0:E(4)}",
        "f32[8,3]{1,0:T(8,128)L(1024)}",
        "f32[<=8,3]{1,0}",
        "f32[16384]{0:SC(0:8192)}",
        "token[]",
        "()",
        "(f32[2]{0}, (s32[], pred[3]{0}))",
        "(f32[], f32[], f32[], f32[], f32[], /*index=5*/s32[])",
        "bf16[8,128]{1,0:T(8,128)(2,1)M(4)}",
    ],
)
def test_a_shape_is_printed_as_xla_prints_it(shape: str):
    assert read(shape).text() == shape


def test_a_shape_without_layouts_is_short():
    assert str(read("(bf16[16,32]{0,1:T(8,128)(2,1)S(1)}, f32[<=4]{0})")) == "(bf16[16,32], f32[<=4])"


@pytest.mark.parametrize("dtype", sorted(set(ELEMENT_TYPES.values()) - {"tuple", "token", "opaque", "buffer"}))
def test_every_element_type_is_read_under_xlas_name(dtype: str):
    try:
        found = read(f"{dtype}[3]{{0}}")
    except RuntimeError as error:
        pytest.skip(f"this jaxlib does not know {dtype}: {str(error)[:80]}")
    assert found.dtype == dtype


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("f32[]", 4),
        ("f32[16,32]{1,0}", 2048),
        ("bf16[16,32]{1,0:T(8,128)(2,1)}", 1024),
        ("pred[5]{0}", 5),
        ("c128[2]{0}", 32),
        ("u4[7]{0}", 7),  # a byte each unless the layout packs them
        ("u4[7]{0:E(4)}", 4),
        ("f32[0,4]{1,0}", 0),
        ("f32[<=8]{0}", 32),
        ("token[]", 0),
        ("(f32[2]{0}, (s32[], pred[3]{0}))", 15),
        ("()", 0),
    ],
)
def test_bytes_are_counted_from_the_shape(shape: str, expected: int):
    assert read(shape).bytes == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        # As XLA's compiler for v5e counts the arguments of a program (libtpu 0.0.42).
        ("f32[8,1024,8,16]{1,3,2,0:T(8,128)}", 8 * 1024 * 8 * 16 * 4),
        ("f32[8,1,8,16]{3,2,1,0:T(8,128)}", 8 * 1 * 8 * 128 * 4),
        ("s32[]{:T(128)}", 512),
        # Two rows of 16 bits share a word: tiles of tiles.
        ("bf16[16,32]{1,0:T(8,128)(2,1)}", 16 * 128 * 2),
        ("bf16[9,128]{1,0:T(8,128)(2,1)}", 16 * 128 * 2),
        ("f32[3,100]{0,1:T(4,128)}", 100 * 128 * 4),
        ("f32[3,100]{1,0}", 1200),
        ("f32[0,4]{1,0:T(8,128)}", 0),
        ("(f32[2]{0:T(128)}, f32[2]{0})", 520),
        ("token[]", 0),
    ],
)
def test_bytes_in_tiles_are_those_of_whole_tiles(shape: str, expected: int):
    assert read(shape).padded_bytes == expected


def test_what_tiles_take_is_unknown_for_a_dimension_without_bound_or_a_tile_without_length():
    assert Shape(dtype="f32", dimensions=(UNBOUNDED,), layout=Layout(tiles=((128,),))).padded_bytes is None
    empty = Layout(minor_to_major=(1, 0), tiles=((0, 128),))
    assert Shape(dtype="f32", dimensions=(3, 4), layout=empty).padded_bytes is None


def test_dimensions_that_a_tile_combines_are_one():
    """3 x 4 numbers are 12 in a row, in one tile of 128."""
    combined = Layout(minor_to_major=(1, 0), tiles=((-(2**63), 128),))
    assert Shape(dtype="f32", dimensions=(3, 4), layout=combined).padded_bytes == 128 * 4


def test_bytes_are_unknown_without_a_bound_or_a_known_width():
    assert Shape(dtype="f32", dimensions=(UNBOUNDED,)).bytes is None
    assert str(Shape(dtype="f32", dimensions=(UNBOUNDED, 2), dynamic=(True, False))) == "f32[?,2]"
    unknown = parse_shape(message_class("Shape")(element_type=77, dimensions=[3]))
    assert (unknown.dtype, unknown.bytes) == ("type 77", None)
    assert Shape(dtype="tuple", elements=(unknown, Shape(dtype="f32"))).bytes is None


def test_leaves_are_the_arrays_in_order():
    assert [str(leaf) for leaf in read("(f32[2]{0}, (), (s32[], pred[3]{0}))").leaves] == ["f32[2]", "s32[]", "pred[3]"]
    assert [str(leaf) for leaf in read("f32[2]{0}").leaves] == ["f32[2]"]


def test_a_combined_tile_dimension_is_printed_as_a_star():
    assert str(Layout(minor_to_major=(1, 0), tiles=((-(2**63), 8),))) == "{1,0:T(*,8)}"
