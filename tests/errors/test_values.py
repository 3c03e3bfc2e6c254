"""A change computes what was asked for, or says what it computes; the expectations are worked out by hand.

The mesh is data=2 x model=4 on eight devices.
"""

# ruff: noqa: E501

from __future__ import annotations

import contextlib

import jax
import numpy as np
import pytest

import pjit_inspect as pi

from .case import EX, Case, mended, refusal, run

EXPLICIT = pytest.mark.skipif(
    jax.__version_info__ < (0, 9), reason="JAX 0.8 words what an Explicit mesh refuses otherwise"
)


def explained(code: str, *, is_explicit: bool = True) -> tuple[Case, pi.ErrorExplanation]:
    case = Case(name="values", code=code, kind="", mesh=EX if is_explicit else None)
    with jax.set_mesh(EX) if is_explicit else contextlib.nullcontext():
        return case, pi.explain_error(refusal(case))


def computed(case: Case, found: pi.ErrorExplanation, place: int) -> np.ndarray:
    assert found.fits[place].is_code
    return np.asarray(run(case, mended(case, case.code, found.fits[place], found), place + 1)["result"])


# ---------------------------------------------------------------- arguments of shard_map


@EXPLICIT
@pytest.mark.parametrize("argument", ["jnp.ones((8, 8))", "counted(8, 8, spec=P('model')) * 0 + 1"])
def test_an_argument_is_moved_to_in_specs_and_in_specs_stay(argument: str):
    # Without `in_specs` each of two devices would return all 8 rows, or a quarter of them.
    code = f"y = {argument}\nresult = jax.shard_map(lambda x: x * 2, in_specs=P('data'), out_specs=P('data'))(y)\n"
    for text, name in ((code, "y"), (code.replace("(y)", f"({argument})").replace(f"y = {argument}\n", ""), argument)):
        case, found = explained(text)
        assert found.kind == "other spec"
        if name in ("y", "jnp.ones((8, 8))"):
            assert [fit.edit for fit in found.fits] == [f"jax.sharding.reshard({name}, P('data', None))"]
            np.testing.assert_array_equal(computed(case, found, 0), np.full((8, 8), 2.0))
        assert not any("leave" in fit.edit for fit in found.fits)


@EXPLICIT
@pytest.mark.parametrize(("spec", "edits"), [
    ("P(None, 'model')", ["pass `jax.sharding.reshard(w, P(None, None))` to the function as an argument, with `P(None, None)` in `in_specs`",
                          "pass `w` to the function as an argument, with `P(None, 'model')` in `in_specs`"]),
    ("P()", ["pass `w` to the function as an argument, with `P(None, None)` in `in_specs`"]),
])  # fmt: skip
def test_what_a_function_under_shard_map_takes_from_outside_becomes_an_argument(spec: str, edits: list[str]):
    code = f"w, x = counted(8, 8, spec={spec}), counted(8, 8, spec=P('data'))\nresult = jax.shard_map(lambda x: x @ w, in_specs=P('data'), out_specs=P('data'))(x)\n"
    _, found = explained(code)
    assert found.kind == "manual axes"
    assert "`w`" in found.sentence
    assert [fit.edit for fit in found.fits] == edits
    # The whole of `w` first, as the function is written; then what computes less on each device.
    assert [fit.is_same for fit in found.fits] == [True, False][: len(edits)]


def test_within_a_manual_region_an_array_from_outside_is_not_moved_by_code():
    code = "w, x = counted(8, 8, spec=P(None, 'model')), counted(8, 8, spec=P('data'))\ndef f(x):\n    return x @ w\nresult = jax.shard_map(f, in_specs=P('data'), out_specs=P('data'))(x)\n"
    _, found = explained(code)
    assert not any(fit.is_code for fit in found.fits)


@pytest.mark.parametrize(("code", "edits"), [
    ("(10, 4)", ["write `P('data', None)` in `in_specs`, and in `out_specs`", "write `P(None, 'model')` in `in_specs`, and in `out_specs`"]),
    ("(10, 3)", ["write `P('data', None)` in `in_specs`, and in `out_specs`"]),
])  # fmt: skip
def test_another_spec_for_an_argument_of_shard_map_is_proposed_with_that_of_the_result(code: str, edits: list[str]):
    _, found = explained(
        f"f = jax.shard_map(lambda x: x * 2, mesh=MESH, in_specs=P('model'), out_specs=P('model'))\nresult = f(np.ones({code}))\n",
        is_explicit=False,
    )
    assert found.kind == "indivisible"
    assert not any(fit.is_code for fit in found.fits)
    for fit, start in zip(found.fits, edits, strict=False):
        assert fit.edit.startswith(start)


# ---------------------------------------------------------------- results of shard_map

RETURNS = "def f(w, x):\n    {}\nresult = jax.shard_map(f, mesh=MESH, in_specs=(P(), P('data')), out_specs=P())(np.ones((8, 4)), np.ones((8, 8)))\n"


@pytest.mark.parametrize(("body", "first", "other"), [
    ("return jnp.mean(x @ w)", "pmean", "psum"), ("y = (x @ w).mean()\n    return y", "pmean", "psum"),
    ("return (x @ w).sum()", "psum", "pmean"), ("return jnp.max(x @ w)", "pmax", "psum"),
])  # fmt: skip
def test_what_makes_the_value_of_the_whole_stands_first(body: str, first: str, other: str):
    _, found = explained(RETURNS.format(body), is_explicit=False)
    assert found.kind == "replication"
    assert found.fits[0].edit == f"return it through `jax.lax.{first}` over `data`"
    assert "that is the" in found.fits[0].effect
    last = next(fit for fit in found.fits if f"jax.lax.{other}" in fit.edit)
    assert not last.is_same
    assert "that is not the" in last.effect
    # One device's mean is not the mean.
    assert not any("check_vma" in fit.edit for fit in found.fits)


def test_where_nothing_tells_what_is_returned_each_way_says_what_it_makes():
    _, found = explained(RETURNS.format("return x @ w"), is_explicit=False)
    assert [fit.effect for fit in found.fits[:2]] == [
        "adds the devices' values: for a sum over parts",
        "averages the devices' values: for a mean over equal parts",
    ]


def test_what_is_gathered_is_equal_already():
    # A sum of equal values is twice the value.
    _, found = explained(RETURNS.format("return lax.all_gather(x, 'data', tiled=True)"), is_explicit=False)
    assert found.fits[0].edit == "give `jax.shard_map` `check_vma=False`"
    assert "`all_gather` has made it equal" in found.fits[0].effect
    assert found.fits[-1].edit == "return it through `jax.lax.psum` over `data`"
    assert not found.fits[-1].is_same


def test_one_scalar_of_two_results_has_a_spec_of_its_own():
    _, found = explained(
        "result = jax.shard_map(lambda a: (a, a.sum()), mesh=MESH, in_specs=P('data'), out_specs=P('data'))(np.ones(8))\n",
        is_explicit=False,
    )
    assert found.fits[0].edit == "return `jax.lax.psum(a.sum(), 'data')`, with `(P('data'), P())` in `out_specs`"


def test_a_shard_map_within_another_is_the_function_itself():
    code = "def inner(x):\n    return lax.psum(x, 'data')\ndef f(x):\n    return jax.shard_map(inner, mesh=MESH, in_specs=P('data'), out_specs=P())(x)\nresult = jax.shard_map(f, mesh=MESH, in_specs=P('data'), out_specs=P())(np.ones((8, 8)))\n"
    case, found = explained(code, is_explicit=False)
    assert [fit.edit for fit in found.fits] == ["inner(x)"]
    # Each of two devices has 4 rows of ones.
    np.testing.assert_array_equal(computed(case, found, 0), np.full((4, 8), 2.0))


# ---------------------------------------------------------------- operands


@EXPLICIT
def test_a_mask_and_its_array_are_named_where_their_splits_meet():
    code = "mask, x = counted(8, 8, spec=P(None, 'data')) > 8, counted(8, 8, spec=P('data'))\nresult = jnp.where(mask, x, 0.)\n"
    case, found = explained(code)
    assert found.kind == "axis twice"
    assert "`mask` is `P(None, 'data')` and `x` is `P('data', None)`" in found.sentence
    # A truth is a quarter of a number of 32 bits: it is moved first.
    assert [fit.edit for fit in found.fits] == [
        "jax.sharding.reshard(mask, P('data', None))",
        "jax.sharding.reshard(x, P(None, 'data'))",
    ]
    x = np.arange(1.0, 65.0).reshape(8, 8)
    for place in range(2):
        np.testing.assert_array_equal(computed(case, found, place), np.where(x > 8, x, 0.0))


def test_a_spec_that_the_user_wrote_is_still_what_is_wrong():
    _, found = explained(
        "result = jax.device_put(np.ones((8, 8)), NamedSharding(MESH, P('data', 'data')))\n", is_explicit=False
    )
    assert found.kind == "repeated axis"


@EXPLICIT
def test_a_row_is_moved_and_not_the_cache_that_it_is_written_into():
    code = "cache, row = counted(8, 8, spec=P('data')), counted(8, spec=P('data'))\nresult = cache.at[3].set(row)\n"
    case, found = explained(code)
    assert found.fits[0].edit == "cache.at[3].set(jax.sharding.reshard(row, P(None)), out_sharding=P('data', None))"
    want = np.arange(1.0, 65.0).reshape(8, 8)
    want[3] = np.arange(1.0, 9.0)
    np.testing.assert_array_equal(computed(case, found, 0), want)


def test_one_number_does_not_stand_for_a_tree_of_axes():
    code = "p, x = {'w': np.ones((3, 4)), 'b': np.float32(1)}, np.ones(4)\nresult = jax.vmap(lambda p, x: p['w'] + x, in_axes=({'w': 0}, None))(p, x)\n"
    _, found = explained(code, is_explicit=False)
    assert [fit.edit for fit in found.fits] == ["add `b` to `in_axes[0]`"]


def test_meshes_that_differ_in_the_types_of_their_axes_are_told_by_these():
    explicit = jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    auto = jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    spec = jax.sharding.PartitionSpec("data")
    doubled = jax.shard_map(lambda x: x * 2, mesh=explicit, in_specs=spec, out_specs=spec)
    with jax.set_mesh(auto), pytest.raises(ValueError, match="should match the mesh passed") as caught:
        doubled(jax.numpy.ones((8, 8)))
    sentence = pi.explain_error(caught.value).sentence
    assert "data=4 x model=2 with Explicit axes" in sentence
    assert "data=4 x model=2 with Auto axes" in sentence
