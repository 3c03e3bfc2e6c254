"""Shardy's attributes are read as jaxlib prints them. Expectations are the attributes' own parts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pjit_inspect.observe.shardy.shardy_attributes import (
    Spec,
    read_mesh,
    read_names,
    read_origins,
    read_rule,
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
    ("text", "dimensions", "closed"),
    [
        ('#sdy.sharding<@mesh, [{"x"}, {}]>', (("x",), ()), (True, True)),
        ('#sdy.sharding<@mesh, [{"x", ?}, {?}]>', (("x",), ()), (False, False)),
        ('#sdy.sharding<@mesh, [{"y", "x"}]>', (("y", "x"),), (True,)),
        ('#sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4, "y"}]>', (("x:(1)2",), ("x:(2)4", "y")), (True, True)),
        ('#sdy.sharding<@mesh, [{"x"}p1, {"y", ?}p3]>', (("x",), ("y",)), (True, False)),
        ("#sdy.sharding<@mesh, []>", (), ()),
        ('#sdy.sharding<@mesh, [{}, {"x"}], replicated={"y"}>', ((), ("x",)), (True, True)),
        ('#sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>', (("x",),), (True,)),
        ('#sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {"y"}]>', (("x",), ("y",)), (True, True)),
        ('#sdy.sharding<mesh<["x"=4], device_ids=[0, 2, 1, 3]>, [{"x"}]>', (("x",),), (True,)),
        ('#sdy.sharding<@"my mesh, [odd]", [{"a b"}]>', (("a b",),), (True,)),
        ('#sdy.sharding<@mesh, [{"?"}, {"}, {"}]>', (("?",), ("}, {",)), (True, True)),
    ],
)
def test_a_sharding_is_read_as_it_is_printed(
    text: str, dimensions: tuple[tuple[str, ...], ...], closed: tuple[bool, ...]
) -> None:
    expected = (Spec(dimensions=dimensions, closed=closed),)
    assert read_shardings(text) == expected
    assert read_shardings(reprinted(text)) == expected


def test_an_op_of_two_results_has_two_shardings() -> None:
    text = '#sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{?}]>]>'
    found = read_shardings(reprinted(text))
    assert [spec.dimensions for spec in found] == [(("x",), ()), ((),)]


_NAME = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), min_size=1, max_size=8)


@settings(max_examples=150)
@given(st.lists(_NAME, min_size=1, max_size=4, unique=True), st.booleans())
def test_axes_of_any_name_are_read_back(names: list[str], is_open: bool) -> None:
    dimensions = ", ".join("{" + quoted(name) + (", ?" if is_open else "") + "}" for name in names)
    text = reprinted(f"#sdy.sharding<@mesh, [{dimensions}]>")
    assert read_shardings(text) == (
        Spec(dimensions=tuple((name,) for name in names), closed=(not is_open,) * len(names)),
    )


@settings(max_examples=100)
@given(st.dictionaries(_NAME, st.integers(1, 64), min_size=1, max_size=4))
def test_a_mesh_of_any_names_is_read_back(sizes: dict[str, int]) -> None:
    axes = ", ".join(f"{quoted(name)}={size}" for name, size in sizes.items())
    assert read_mesh(reprinted(f"#sdy.mesh<[{axes}]>")) == sizes


@settings(max_examples=100)
@given(_NAME)
def test_shardings_on_an_inlined_mesh_of_any_name_are_read_back(name: str) -> None:
    text = reprinted(f"#sdy.sharding<mesh<[{quoted(name)}=2]>, [{{{quoted(name)}}}, {{}}]>")
    assert [spec.dimensions for spec in read_shardings(text)] == [((name,), ())]


def test_a_mesh_of_one_device_has_no_axes() -> None:
    assert read_mesh(reprinted("#sdy.mesh<[], device_ids=[3]>")) == {}


def test_origins_are_read_for_each_value() -> None:
    text = '[{data = "input: 0", model = "constraint_2"}, {}, {"x:(1)2" = "output: 1"}]'
    assert read_origins(reprinted(text)) == (
        {"data": "input: 0", "model": "constraint_2"},
        {},
        {"x:(1)2": "output: 1"},
    )


def test_axes_in_origins_are_escaped_twice() -> None:
    # Shardy prints the axis, takes the quotes off and uses that as a name: `a"b` is `a\\22b` in it.
    assert read_origins(r'[{"a\\22b" = "self", "\\C3\\BC" = "input: 0"}]') == ({'a"b': "self", "ü": "input: 0"},)


def test_a_rule_is_read_with_its_sets() -> None:
    text = "#sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}>"
    rule = read_rule(reprinted(text))
    assert rule is not None
    assert rule.operands == ((("i",), ("k",)), (("k",), ("j",)))
    assert rule.results == ((("i",), ("j",)),)
    assert rule.sizes == {"i": 8, "j": 16, "k": 32}
    assert tuple(map(set, (rule.reduction, rule.need_replication, rule.permutation))) == ({"k"}, set(), set())


def test_factors_of_one_dimension_are_told_apart() -> None:
    text = "#sdy.op_sharding_rule<([ij, z_1z_2], [])->([i, j, z_1, z_2]) {i=2, j=4, z_1=3, z_2=5} need_replication={j}>"
    rule = read_rule(text)
    assert rule is not None
    assert rule.operands == ((("i", "j"), ("z_1", "z_2")), ())
    assert set(rule.need_replication) == {"j"}


def test_blocked_and_permuted_factors_do_not_disturb() -> None:
    text = "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=16, j=32} permutation={j} blocked_propagation={j}, custom>"
    rule = read_rule(text)
    assert rule is not None
    assert set(rule.permutation) == {"j"}


def test_text_that_is_no_rule_is_none() -> None:
    assert read_rule("#sdy.nothing") is None


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
