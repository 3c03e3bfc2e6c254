"""Shardy's attributes are read as jaxlib prints them. Expectations are the attributes' own parts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pjit_inspect.observe.shardy.shardy_attributes import (
    read_mesh,
    read_names,
    read_shardings,
    read_tensor,
)


def reprinted(text: str) -> str:
    """An attribute as jaxlib prints it after reading it."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        return str(ir.Attribute.parse(text))


def quoted(name: str) -> str:
    content = "".join(
        char if char.isascii() and char.isprintable() and char not in '"\\' else _bytes(char) for char in name
    )
    return f'"{content}"'


def _bytes(char: str) -> str:
    return "".join(f"\\{byte:02X}" for byte in char.encode())


@pytest.mark.parametrize(
    ("text", "dimensions"),
    [
        ('#sdy.sharding<@mesh, [{"x"}, {}]>', (("x",), ())),
        ('#sdy.sharding<@mesh, [{"x", ?}, {?}]>', (("x",), ())),
        ('#sdy.sharding<@mesh, [{"y", "x"}]>', (("y", "x"),)),
        ('#sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4, "y"}]>', (("x:(1)2",), ("x:(2)4", "y"))),
        ('#sdy.sharding<@mesh, [{"x"}p1, {"y", ?}p3]>', (("x",), ("y",))),
        ("#sdy.sharding<@mesh, []>", ()),
        ('#sdy.sharding<@mesh, [{}, {"x"}], replicated={"y"}>', ((), ("x",))),
        ('#sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>', (("x",),)),
        ('#sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {"y"}]>', (("x",), ("y",))),
        ('#sdy.sharding<mesh<["x"=4], device_ids=[0, 2, 1, 3]>, [{"x"}]>', (("x",),)),
        ('#sdy.sharding<@"my mesh, [odd]", [{"a b"}]>', (("a b",),)),
        ('#sdy.sharding<@mesh, [{"?"}, {"}, {"}]>', (("?",), ("}, {",))),
    ],
)
def test_a_sharding_is_read_as_it_is_printed(text: str, dimensions: tuple[tuple[str, ...], ...]) -> None:
    assert read_shardings(text) == (dimensions,)
    assert read_shardings(reprinted(text)) == (dimensions,)


def test_an_op_of_two_results_has_two_shardings() -> None:
    text = '#sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{?}]>]>'
    assert read_shardings(reprinted(text)) == ((("x",), ()), ((),))


_NAME = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), min_size=1, max_size=8)


@settings(max_examples=150)
@given(st.lists(_NAME, min_size=1, max_size=4, unique=True), st.booleans())
def test_axes_of_any_name_are_read_back(names: list[str], is_open: bool) -> None:
    dimensions = ", ".join("{" + quoted(name) + (", ?" if is_open else "") + "}" for name in names)
    text = reprinted(f"#sdy.sharding<@mesh, [{dimensions}]>")
    assert read_shardings(text) == (tuple((name,) for name in names),)


@settings(max_examples=100)
@given(st.dictionaries(_NAME, st.integers(1, 64), min_size=1, max_size=4))
def test_a_mesh_of_any_names_is_read_back(sizes: dict[str, int]) -> None:
    axes = ", ".join(f"{quoted(name)}={size}" for name, size in sizes.items())
    assert read_mesh(reprinted(f"#sdy.mesh<[{axes}]>")) == sizes


@settings(max_examples=100)
@given(_NAME)
def test_shardings_on_an_inlined_mesh_of_any_name_are_read_back(name: str) -> None:
    text = reprinted(f"#sdy.sharding<mesh<[{quoted(name)}=2]>, [{{{quoted(name)}}}, {{}}]>")
    assert read_shardings(text) == (((name,), ()),)


def test_a_mesh_of_one_device_has_no_axes() -> None:
    assert read_mesh(reprinted("#sdy.mesh<[], device_ids=[3]>")) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tensor<f32>", ("f32", ())),
        ("tensor<2x3xbf16>", ("bf16", (2, 3))),
        ("tensor<0x3xi1>", ("pred", (0, 3))),
        ("tensor<4xi32>", ("s32", (4,))),
        ("tensor<4xui8>", ("u8", (4,))),
        ("tensor<4xi4>", ("s4", (4,))),
        ("tensor<4xf8E4M3FN>", ("f8e4m3fn", (4,))),
        ("tensor<2xcomplex<f32>>", ("c64", (2,))),
        ("tensor<2xcomplex<f64>>", ("c128", (2,))),
        ("tensor<2x3xf32, #stablehlo.bounds<?, 3>>", ("f32", (2, 3))),
        ("tensor<?x3xf32>", None),
        ("!stablehlo.token", None),
        ("tuple<tensor<2xf32>>", None),
    ],
)
def test_a_tensor_type_is_read(text: str, expected: tuple[str, tuple[int, ...]] | None) -> None:
    assert read_tensor(text) == expected


def test_every_quoted_string_is_a_name() -> None:
    assert read_names(r'{"a", "b\22c", "d, e"}') == ("a", 'b"c', "d, e")
