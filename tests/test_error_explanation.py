"""JAX's own refusals, explained: names, numbers and ways to fix it, each tried on eight devices.

The numbers are worked out by hand. The mesh is data=2 x model=4; `fitting` runs what an explanation proposes.
"""

from __future__ import annotations

import gc
import itertools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.handles import error as error_explanation

MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
EXPLICIT = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
FOUR = Mesh(np.array(jax.devices()[:4]), ("model",), axis_types=(AxisType.Auto,))


@pytest.fixture
def explicit() -> Iterator[None]:
    with jax.set_mesh(EXPLICIT):
        yield


WHOLE = P()


def array(*shape: int, spec: P = WHOLE, mesh: Mesh = EXPLICIT, dtype: Any = np.float32) -> Any:
    return jax.device_put(np.zeros(shape, dtype), NamedSharding(mesh, spec))


def explained(call: Callable[[], Any]) -> pi.ErrorExplanation:
    """The explanation of the error that a call raises."""
    return pi.explain_error(error_of(call))


def error_of(call: Callable[[], Any]) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call()
    return caught.value


def edits(explanation: pi.ErrorExplanation) -> list[str]:
    return [fit.edit for fit in explanation.fits]


def run_all(explanation: pi.ErrorExplanation, **names: Any) -> None:
    """Every proposed call runs, and compiles within jit, with the operands as they were."""
    assert explanation.fits
    space = {"jax": jax, "jnp": jnp, "NamedSharding": NamedSharding, "P": P, "EXPLICIT": EXPLICIT, "MESH": MESH}
    for fit in explanation.fits:
        result = eval(fit.edit, {**space, **names})
        traced = eval(f"jax.jit(lambda {', '.join(names)}: {fit.edit})", space)(*names.values())
        assert result.shape == traced.shape
        if fit.target == "result" and fit.spec is not None and any(fit.spec):
            assert result.sharding.spec == P(*fit.spec)


# ---------------------------------------------------------------- a dimension that is not divided


def test_an_argument_of_jit_has_its_arithmetic_and_four_ways_out():
    # 6 / 4 = 1.5. data (2) divides 6: 6/2 = 3. model (4) divides the other dimension, 8: 8/4 = 2. 6 -> 8 = 2 x 4.
    place = NamedSharding(MESH, P("model", None))
    step = jax.jit(lambda params, x: x @ params["w"], in_shardings=({"w": place}, None))
    params, x = {"w": np.zeros((6, 8), np.float32)}, np.zeros((4, 6), np.float32)
    found = explained(lambda: step(params, x))
    assert found.kind == "indivisible"
    assert "is 6, and `P('model', None)` splits it over `model` (4): 6 / 4 = 1.5" in found.sentence
    assert [(fit.edit, fit.spec) for fit in found.fits] == [
        ("P('data', None)", ("data", None)),
        ("P(None, 'model')", (None, "model")),
        ("pad dimension 0 from 6 to 8", None),
        ("P(None, None)", (None, None)),
    ]
    assert [fit.effect.rpartition("holds ")[2] for fit in found.fits] == ["[3,8]", "[6,2]", "[2,8]", "[6,8]"]
    assert "params['w']" in repr(found)
    assert found.frame is not None
    assert found.frame.file == __file__


def test_where_jax_left_its_frames_out_the_way_to_keep_them_is_told():
    # As in a script; in IPython and under pytest JAX keeps them.
    place = NamedSharding(MESH, P("model", None))
    step = jax.jit(lambda params: params["w"] * 2, in_shardings=({"w": place},))
    params = {"w": np.zeros((6, 8), np.float32)}
    before = jax.config.values["jax_traceback_filtering"]
    jax.config.update("jax_traceback_filtering", "quiet_remove_frames")
    try:
        found = explained(lambda: step(params))
    finally:
        jax.config.update("jax_traceback_filtering", before)
    if found.arrays[0].is_named:  # 0.8 and 0.12 say the name in the message
        assert found.arrays[0].name == "params['w']"
        assert not found.notes
    else:
        assert found.notes == (
            "JAX does not say which array it is; `params['w']` has that shape",
            "JAX left its own lines out of the traceback; with JAX_TRACEBACK_FILTERING=off they may tell more",
        )


def test_a_placed_array_has_the_name_of_the_variable():
    w = np.zeros((6, 10), np.float32)
    found = explained(lambda: jax.device_put(w, NamedSharding(MESH, P(None, ("data", "model")))))
    # 10 / 8 = 1.25. model (4) divides neither; data (2) divides 10: 5. 8 does not divide 6. 10 -> 16 = 2 x 8.
    assert found.sentence == (
        "dimension 1 of `w` is 10, and `P(None, ('data', 'model'))` splits it over `data` x `model` (2 x 4 = 8): "
        "10 / 8 = 1.25"
    )
    assert edits(found) == ["P(None, 'data')", "pad dimension 1 from 10 to 16", "P(None, None)"]


def test_a_variable_beside_an_expression_that_is_not_known_is_not_blamed():
    # `x` fits: 8 / 4. It is `y.T` that does not, and both are [6,8].
    x, y = np.zeros((6, 8), np.float32), np.zeros((8, 6), np.float32)
    good, bad = NamedSharding(MESH, P(None, "model")), NamedSharding(MESH, P("model"))
    found = explained(lambda: jax.device_put((x, y.T), (good, bad)))
    assert found.sentence.startswith("dimension 0 of the array [6,8] is 6")
    assert not found.arrays[0].is_named
    assert found.notes == (
        "JAX does not say which array it is; `x` has that shape, and not every shape in the line is known",
    )
    # What is no array does not matter: how the sharding is written, above all.
    named = explained(lambda: jax.device_put(x, NamedSharding(MESH, P("model"))))
    assert named.arrays[0].name == "x"


def test_two_dimensions_that_are_not_divided_are_both_mended():
    x = np.zeros((5, 6), np.float32)
    found = explained(lambda: jax.device_put(x, NamedSharding(MESH, P("data", "model"))))
    # 5 is odd, so data fits nowhere there; 6 = 3 x 2, so data fits dimension 1 once dimension 0 stays whole.
    specs = [fit.spec for fit in found.fits if fit.spec is not None]
    assert specs == [(None, "data"), (None, None)] or specs == [(None, None)]
    assert "pad dimension 0 from 5 to 6 and dimension 1 from 6 to 8" in edits(found)


def test_a_result_is_not_taken_for_an_argument_of_its_shape(explicit):
    x, w = array(6, 8), array(8, 8)
    found = explained(lambda: jnp.einsum("ij,jk->ik", x, w, out_sharding=P("model", None)))
    assert found.sentence.startswith("dimension 0 of `result` is 6")


def test_shard_map_tells_every_argument_and_what_the_function_then_sees():
    body = jax.shard_map(lambda p, x: x, mesh=MESH, in_specs=({"w": P("model")}, P("data")), out_specs=P("data"))
    found = explained(lambda: body({"w": np.zeros((6, 4))}, np.zeros((5, 4))))
    assert [one.name for one in found.arrays] == ["p['w']", "x"]
    assert "6 / 4 = 1.5; dimension 0 of `x` is 5" in found.sentence
    assert "5 / 2 = 2.5" in found.sentence
    assert any("`out_specs`" in str(fit.edit) for fit in found.fits)


@pytest.mark.parametrize(
    "call",
    [
        lambda w: NamedSharding(MESH, P("model")).shard_shape((6, 4)),
        lambda w: jax.make_array_from_callback((6, 4), NamedSharding(MESH, P("model")), lambda i: w[i]),
        lambda w: jax.make_array_from_process_local_data(NamedSharding(MESH, P("model")), w),
        lambda w: jax.lax.with_sharding_constraint(w, NamedSharding(MESH, P("model"))),
        lambda w: jax.jit(lambda w: w, out_shardings=NamedSharding(MESH, P("model")))(w),
    ],
)
def test_the_same_dimension_is_explained_wherever_it_is_refused(call):
    found = explained(lambda: call(np.zeros((6, 4), np.float32)))
    assert found.sentence.endswith("is 6, and `P('model', None)` splits it over `model` (4): 6 / 4 = 1.5")
    assert edits(found) == ["P('data', None)", "P(None, 'model')", "pad dimension 0 from 6 to 8", "P(None, None)"]


@settings(max_examples=60)
@given(
    shape=st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple),
    entries=st.permutations([None, "data", "model"]),
    joined=st.booleans(),
)
def test_everything_that_is_said_to_fit_fits_and_what_one_axis_can_do_is_not_missed(shape, entries, joined):
    spec = P(("data", "model")) if joined else P(*entries[: len(shape)])
    x = np.zeros(shape, np.float32)
    try:
        jax.device_put(x, NamedSharding(MESH, spec))
    except ValueError as error:
        found = pi.explain_error(error)
    else:
        return
    fits = [fit for fit in found.fits if fit.spec is not None]
    for fit in fits:
        placed = jax.device_put(x, NamedSharding(MESH, P(*(fit.spec or ()))))
        held = placed.sharding.shard_shape(shape)
        assert fit.effect.endswith("[" + ",".join(map(str, held)) + "]")
    pad = next(fit.edit for fit in found.fits if fit.edit.startswith("pad"))
    longer = list(shape)
    for part in pad.removeprefix("pad ").split(" and "):
        _, number, _, before, _, after = part.split()
        assert shape[int(number)] == int(before)
        longer[int(number)] = int(after)
    NamedSharding(MESH, spec).shard_shape(tuple(longer))
    # Brute force: when some axis does divide the dimension and no other dimension has it, one such spec is listed.
    dimension = next(i for i, e in enumerate(spec) if shape[i] % parts(e))
    others = {axis for i, e in enumerate(spec) if i != dimension for axis in ((e,) if isinstance(e, str) else e or ())}
    can = [a for a, n in (("data", 2), ("model", 4)) if shape[dimension] % n == 0 and a not in others]
    assert not can or any((fit.spec or ())[dimension] for fit in fits)


def parts(entry: Any) -> int:
    sizes = {"data": 2, "model": 4}
    return int(np.prod([sizes[axis] for axis in ((entry,) if isinstance(entry, str) else entry or ())], dtype=int))


# ---------------------------------------------------------------- an Explicit mesh


def test_a_contraction_of_two_split_dimensions_has_each_way_to_sum(explicit):
    x, w = array(4, 8, spec=P("data", "model")), array(8, 16, spec=P("model", None))
    found = explained(lambda: x @ w)
    assert found.kind == "contraction"
    assert found.sentence == (
        "`@` sums over a dimension that both operands split (`x` is `P('data', 'model')` and `w` is `P('model', None)`)"
        ": say whether to add the partial sums, or to keep them split"
    )
    assert [one.local_shape for one in found.arrays] == [(2, 2), (2, 16)]
    assert edits(found) == [
        "jnp.matmul(x, w, out_sharding=P('data', None))",
        "jnp.matmul(x, w, out_sharding=P('data', 'model'))",
        "jax.sharding.reshard(x, P('data', None)) @ w",
        "x @ jax.sharding.reshard(w, P(None, None))",
    ]
    assert [fit.effect for fit in found.fits] == [
        "each device multiplies its parts, and the partial sums are added over `model`",
        "the same sum; each device keeps 1/4 of dimension 1",
        "gathers `x` over `model`",
        "gathers `w` over `model`",
    ]
    run_all(found, x=x, w=w)


def test_the_cost_of_each_way_is_what_xla_does(explicit):
    x, w = array(4, 8, spec=P("data", "model")), array(8, 16, spec=P("model", None))
    summed, scattered, gathered, _ = explained(lambda: x @ w).fits
    space = {"jax": jax, "jnp": jnp, "P": P}

    def text(edit: str) -> str:
        return jax.jit(eval(f"lambda x, w: {edit}", space)).lower(x, w).compile().as_text() or ""

    assert "all-reduce" in text(summed.edit)
    assert "all-gather" not in text(summed.edit)
    assert "all-reduce" in text(scattered.edit) or "reduce-scatter" in text(scattered.edit)
    assert "all-gather" in text(gathered.edit.partition(" @ ")[0])


def test_an_intermediate_value_has_the_words_of_its_expression(explicit):
    x, b = array(4, 8, spec=P("data", None)), array(4, 8, spec=P("model", None))
    found = explained(lambda: jax.jit(lambda x, b: (x * 2) + b)(x, b))
    assert [one.name for one in found.arrays] == ["(x * 2)", "b"]
    assert edits(found)[0] == "(x * 2) + jax.sharding.reshard(b, P('data', None))"
    run_all(found, x=x, b=b)


PAIRS: dict[str, tuple[tuple[int, ...], P, tuple[int, ...], P, str]] = {
    "contracted, not alike": ((4, 8), P(None, "model"), (8, 16), P("data", None), "x @ w"),
    "both axes used by rows and columns": ((4, 8), P("model", None), (8, 16), P(None, "model"), "x @ w"),
    "both contracted and an axis twice": ((8, 8), P("model", "data"), (8, 16), P("data", "model"), "x @ w"),
    "a batch of matrices": ((4, 8, 8), P("data"), (8, 16), P(None, "data"), "x @ w"),
    "batches that differ": ((4, 8, 8), P("data"), (4, 8, 16), P("model"), "jnp.einsum('bij,bjk->bik', x, w)"),
    "einsum, summed": ((4, 8), P("data", "model"), (16, 8), P(None, "model"), "jnp.einsum('ij,kj->ik', x, w)"),
    "einsum, two contracted": ((4, 8), P("data", "model"), (4, 8), P("data", "model"), "jnp.einsum('ij,ij->', x, w)"),
    "jnp.matmul": ((4, 8), P("data", "model"), (8, 16), P("model", None), "jnp.matmul(x, w)"),
    "jnp.dot": ((4, 8), P("data", "model"), (8,), P("model"), "jnp.dot(x, w)"),
    "elementwise": ((4, 8), P("data", "model"), (4, 8), P("model", "data"), "x * w"),
    "elementwise, one axis twice": ((8, 8), P("data", None), (8, 8), P(None, "data"), "x - w"),
    "a row": ((4, 8), P("data", "model"), (1, 8), P(None, "data"), "x + w"),
    "a vector": ((4, 8), P("data", "model"), (8,), P("data"), "x + w"),
    "compared": ((4, 8), P("data", None), (4, 8), P("model", None), "x < w"),
    "a column and a row": ((8, 1), P("data", None), (1, 8), P(None, "data"), "x * w"),
    "three dimensions": ((2, 4, 8), P("data", "model"), (4, 8), P("data", None), "x + w"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_what_would_fit_two_operands_runs_and_compiles(case, explicit):
    one, one_spec, other, other_spec, code = PAIRS[case]
    x, w = array(*one, spec=one_spec), array(*other, spec=other_spec)
    run: Callable[[], Any] = eval(f"lambda: {code}", {"jnp": jnp, "x": x, "w": w})
    with pytest.raises(Exception) as caught:  # noqa: PT011
        run()
    # `eval` has no source to read: the operands are given as the line would.
    found = explain_with(caught.value, code, x=x, w=w)
    assert found.kind in ("contraction", "conflict", "axis twice")
    plain = [fit for fit in found.fits if fit.target == "result" or code.split("(")[0] in fit.edit or " " in fit.edit]
    assert plain
    run_all(found, x=x, w=w)


def explain_with(error: BaseException, code: str, **names: Any) -> pi.ErrorExplanation:
    """The explanation of an error as if `code` had been a line with these variables."""
    import linecache

    # A file name of its own, so that the line can be read.
    file = f"/tmp/line_{abs(hash(code))}.py"
    linecache.cache[file] = (len(code), None, [f"{code}\n"], file)
    with pytest.raises(type(error)) as caught:
        exec(compile(code, file, "exec"), {"jnp": jnp, "jax": jax, **names})
    return pi.explain_error(caught.value)


@settings(max_examples=16)
@given(
    specs=st.tuples(*[st.sampled_from([P(*e) for e in itertools.permutations([None, "data", "model"], 2)])] * 2),
    code=st.sampled_from(["x @ w", "x + w", "jnp.einsum('ij,kj->ik', x, w)"]),
)
def test_what_would_fit_any_two_square_operands_runs(specs, code):
    with jax.set_mesh(EXPLICIT):
        x, w = array(8, 8, spec=specs[0]), array(8, 8, spec=specs[1])
        try:
            eval(code, {"jnp": jnp, "x": x, "w": w})
        except Exception as error:
            found = explain_with(error, code, x=x, w=w)
            run_all(found, x=x, w=w)


def test_a_table_is_looked_up_by_an_out_sharding(explicit):
    table, ids = array(16, 8, spec=P("model", None)), array(4, spec=P("data"), dtype=np.int32)
    found = explained(lambda: table[ids])
    assert found.kind == "indexing"
    assert edits(found) == [
        "table.at[ids].get(out_sharding=P('data', None))",
        "table.at[ids].get(out_sharding=P())",
    ]
    run_all(found, table=table, ids=ids)
    with pytest.raises(Exception, match="out_sharding"):
        # Why the table on every device is not proposed: the indices are split, too.
        jax.sharding.reshard(table, P(None, None))[ids]


def test_an_update_keeps_the_split_of_what_it_updates(explicit):
    table, ids = array(16, 8, spec=P("model", None)), array(4, spec=P("data"), dtype=np.int32)
    found = explained(lambda: table.at[ids].add(1.0))
    assert edits(found) == ["table.at[ids].add(1.0, out_sharding=P('model', None))"]
    run_all(found, table=table, ids=ids)


def test_a_reshape_says_which_new_dimensions_the_axes_divide(explicit):
    x = array(8, 16, spec=P(None, "model"))
    found = explained(lambda: x.reshape(8, 2, 8))
    # model (4) divides 8 and 8, not 2.
    assert edits(found) == [
        "jnp.reshape(x, (8, 2, 8), out_sharding=P('model', None, None))",
        "jnp.reshape(x, (8, 2, 8), out_sharding=P(None, None, 'model'))",
        "jnp.reshape(x, (8, 2, 8), out_sharding=P(None, None, None))",
    ]
    run_all(found, x=x)


def test_a_reshape_keeps_the_axes_that_it_can(explicit):
    # In their order, model (4) would have to divide 2 or 6, and does not: one is kept. data (2) divides 8, 2 and 6.
    x = array(8, 12, spec=P("data", "model"))
    found = explained(lambda: x.reshape(8, 2, 6))
    assert edits(found) == [
        "jnp.reshape(x, (8, 2, 6), out_sharding=P('data', None, None))",
        "jnp.reshape(x, (8, 2, 6), out_sharding=P(None, 'data', None))",
        "jnp.reshape(x, (8, 2, 6), out_sharding=P(None, None, None))",
    ]
    run_all(found, x=x)


def test_a_sum_that_also_gathers_says_both(explicit):
    # Over model the sum; data splits rows of x and columns of w, of which the result can keep one.
    x, w = array(4, 8, spec=P("data", "model")), array(8, 16, spec=P("model", "data"))
    effects = [fit.effect for fit in explained(lambda: x @ w).fits if fit.target == "result"]
    assert len(effects) == 2
    words = "each device multiplies its parts, and the partial sums are added over `model`"
    assert set(effects) == {f"{words}; communicates over `data`, too"}


def test_where_no_mesh_is_set_a_spec_is_given_with_its_mesh():
    x, w = array(4, 8, spec=P("data", "model")), array(8, 16, spec=P("model", None))
    found = explained(lambda: x @ w)
    assert edits(found)[0] == "jnp.matmul(x, w, out_sharding=NamedSharding(EXPLICIT, P('data', None)))"
    assert not found.notes
    run_all(found, x=x, w=w)
    with jax.set_mesh(EXPLICIT):
        run_all(found, x=x, w=w)
        assert edits(explained(lambda: x @ w))[0] == "jnp.matmul(x, w, out_sharding=P('data', None))"


def test_where_no_variable_holds_the_mesh_it_says_what_a_spec_alone_needs():
    other = Mesh(EXPLICIT.devices.reshape(4, 2), ("rows", "columns"), axis_types=(AxisType.Explicit,) * 2)
    x, w = array(4, 8, spec=P("rows", "columns"), mesh=other), array(8, 16, spec=P("columns", None), mesh=other)
    product = _product()
    found = explained(lambda: product(x, w))
    assert found.notes == (
        "a spec alone needs a mesh that is set, as by `jax.set_mesh`; elsewhere it goes into a `NamedSharding`",
    )
    with jax.set_mesh(other):
        for fit in found.fits:
            assert eval(fit.edit, {"jax": jax, "jnp": jnp, "P": P, "x": x, "w": w}).shape == (4, 16)


def _product() -> Callable[[Any, Any], Any]:
    """A function that sees no mesh of its callers."""
    return lambda x, w: x @ w


def test_a_sort_and_a_constraint_name_the_reshard(explicit):
    x = array(8, 8, spec=P("model", None))
    if jax.__version_info__ >= (0, 9, 2):  # before, it is sorted along a split dimension
        found = explained(lambda: jnp.sort(x, axis=0))
        assert found.sentence == "`sort` works along dimension 0, which must not be split: `x` is `P('model', None)`"
        assert edits(found) == ["jax.sharding.reshard(x, P(None, None))"]
        run_all(found, x=x)
    found = explained(lambda: jax.lax.with_sharding_constraint(x, P("data", None)))
    assert found.sentence == "`x` is `P('model', None)`, but `with_sharding_constraint` asks for `P('data', None)`"
    run_all(found, x=x)


def test_an_operand_on_another_mesh_is_moved_to_the_one_that_is_set(explicit):
    turned = Mesh(np.array(jax.devices()).reshape(4, 2), ("model", "data"), axis_types=(AxisType.Explicit,) * 2)
    x, w = array(4, 8, spec=P("data", None)), array(8, 16, spec=P("model", None), mesh=turned)
    found = explained(lambda: x @ w)
    assert found.sentence == "`w` is on the mesh model=4 x data=2, but the mesh that is set is data=2 x model=4"
    assert edits(found) == ["jax.device_put(w, NamedSharding(EXPLICIT, P('model', None)))"]
    assert (x @ jax.device_put(w, NamedSharding(EXPLICIT, P("model", None)))).shape == (4, 16)


# ---------------------------------------------------------------- devices


def test_the_argument_on_fewer_devices_is_moved_to_the_mesh_of_the_other():
    step = jax.jit(lambda params, x: x @ params["w"])
    params = {"w": array(8, 16, spec=P("model", None), mesh=FOUR)}
    x = array(4, 8, spec=P("data", None), mesh=MESH)
    found = explained(lambda: step(params, x))
    assert found.sentence == "`params['w']` is on devices 0-3, `x` on devices 0-7"
    (fit,) = found.fits
    assert fit.edit == "jax.device_put(params['w'], NamedSharding(MESH, P('model', None)))"
    params["w"] = eval(fit.edit, {"jax": jax, "NamedSharding": NamedSharding, "P": P, "MESH": MESH, "params": params})
    assert step(params, x).shape == (4, 16)


def test_the_caller_s_own_names_are_used_where_the_call_builds_the_argument():
    step = jax.jit(lambda params, x: x @ params["w"])
    w, x = jax.device_put(np.zeros((8, 16), np.float32), jax.devices()[3]), array(4, 8, spec=P("data"), mesh=MESH)
    found = explained(lambda: step({"w": w}, x))
    assert found.sentence == "`w` is on device 3, `x` on devices 0-7"
    assert edits(found) == ["jax.device_put(w, NamedSharding(MESH, P()))"]


def test_two_single_devices_and_another_order():
    a, b = (jax.device_put(np.zeros(8, np.float32), jax.devices()[i]) for i in (0, 1))
    found = explained(lambda: a + b)
    assert found.sentence == "`a` is on device 0, `b` on device 1"
    assert edits(found) == ["jax.device_put(b, a.sharding)"]
    assert (a + jax.device_put(b, a.sharding)).shape == (8,)
    turned = Mesh(np.array(jax.devices()[::-1]).reshape(2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    x, w = array(4, 8, mesh=MESH, spec=P("data")), array(4, 8, mesh=turned, spec=P("model"))
    found = explained(lambda: w + x)
    assert found.sentence == "`w` is on devices 7 6 5 4 ..., `x` on devices 0-7: the same devices in another order"
    assert edits(found) == ["jax.device_put(w, NamedSharding(MESH, P('model', None)))"]


def test_a_constraint_on_other_devices_is_one_of_the_two_sides():
    step = jax.jit(lambda w: jax.lax.with_sharding_constraint(w * 2, NamedSharding(FOUR, P("model"))))
    w = array(8, 16, spec=P("model", None), mesh=MESH)
    found = explained(lambda: step(w))
    assert found.sentence == "`w` is on devices 0-7, the sharding in `with_sharding_constraint` on devices 0-3"
    assert edits(found) == [
        "make the sharding in `with_sharding_constraint` one of `MESH`",
        "jax.device_put(w, NamedSharding(FOUR, P('model', None)))",
    ]
    assert step(jax.device_put(w, NamedSharding(FOUR, P("model", None)))).shape == (8, 16)


# ---------------------------------------------------------------- specs and meshes


def test_a_spec_that_is_too_long_is_shortened_where_that_divides():
    b = np.zeros(6, np.float32)
    found = explained(lambda: jax.device_put(b, NamedSharding(MESH, P("data", "model"))))
    assert found.sentence == "`P('data', 'model')` has 2 entries, but `b` has 1 dimension"
    # data (2) divides 6, model (4) does not.
    assert edits(found) == ["P('data')", "P(None)"]


def test_a_spec_of_one_entry_is_one_too_many_for_a_scalar():
    found = explained(lambda: jax.device_put(np.float32(0.1), NamedSharding(MESH, P("data"))))
    assert found.sentence == "`P('data')` has 1 entry, but `np.float32(0.1)` has 0 dimensions"
    assert edits(found) == ["P()"]


def test_a_mistyped_axis_has_its_nearest_name_and_the_sizes_of_the_mesh():
    found = explained(lambda: NamedSharding(MESH, P("modle", None)))
    assert found.sentence.startswith("`P('modle', None)` names the axis `modle`, which the mesh does not have: it has ")
    assert edits(found) == ["P('model', None)"]
    assert edits(explained(lambda: NamedSharding(MESH, P("experts")))) == []


def test_an_axis_that_stands_twice_is_left_where_it_stood():
    found = explained(lambda: NamedSharding(MESH, P(("data", "model"), "model")))
    assert edits(found) == ["P(('data', 'model'), None)", "P('data', 'model')"]


def test_a_mesh_that_needs_more_devices_has_shapes_that_use_them_all():
    found = explained(lambda: jax.make_mesh((3, 4), ("data", "model")))
    assert found.sentence == "a mesh of shape (3, 4) needs 3 x 4 = 12 devices; there are 8"
    assert edits(found)[0] == "(2, 4)"
    assert all(np.prod(eval(edit)) == 8 for edit in edits(found))


# ---------------------------------------------------------------- the rest


def test_an_error_that_is_not_known_says_its_first_line_and_nothing_else():
    found = pi.explain_error(KeyError("w"))
    assert (found.kind, found.fits) == ("unknown", ())
    assert found.sentence == "`KeyError`: 'w'"
    assert found.notes == ()


def test_the_last_uncaught_error_is_taken_and_none_at_all_is_said(monkeypatch):
    monkeypatch.delattr(sys, "last_exc", raising=False)
    monkeypatch.delattr(sys, "last_value", raising=False)
    with pytest.raises(pi.PjitInspectError, match="no exception went uncaught"):
        pi.explain_error()
    monkeypatch.setattr(sys, "last_exc", ValueError("x"), raising=False)
    assert pi.explain_error().kind == "unknown"
    with pytest.raises(TypeError, match="not str"):
        pi.explain_error("message")  # type: ignore[arg-type]


def test_an_error_is_found_behind_those_that_were_raised_from_it():
    def restore() -> None:
        try:
            jax.device_put(np.zeros(6), NamedSharding(MESH, P("model")))
        except ValueError as inner:
            raise RuntimeError("the checkpoint could not be restored") from inner

    found = explained(restore)
    assert found.kind == "indivisible"
    assert found.notes == ("what was raised in the end is `RuntimeError`; the error explained stands behind it",)


def test_nothing_of_the_error_is_kept_and_the_error_is_as_it_was(explicit):
    def state(error: BaseException) -> tuple[Any, ...]:
        notes = tuple(getattr(error, "__notes__", ()))
        return str(error), id(error.__traceback__), error.__cause__, error.__context__, notes

    x, w = array(4, 8, spec=P("data", "model")), array(8, 16, spec=P("model", None))
    held, found, same = weakref.ref(x), None, False
    try:
        x @ w
    except Exception as error:
        gone, before = weakref.ref(error), state(error)
        found = pi.explain_error(error)
        same = state(error) == before
        del before
    # The function goes on, as a training loop does: its frame must not keep what was read from it.
    del x
    gc.collect()
    assert held() is None
    assert gone() is None
    assert same
    assert found is not None
    assert found.arrays[0].name == "x"


def test_the_locals_that_a_function_holds_itself_stay_as_they_are():
    x = np.zeros(6, np.float32)
    mine = locals()
    found = explained(lambda: jax.device_put(x, NamedSharding(MESH, P("model"))))
    assert found.arrays[0].name == "x"
    assert mine["x"] is x


def test_an_explanation_does_not_change_and_equals_its_like():
    one, other = (pi.explain_error(KeyError("w")) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    with pytest.raises(AttributeError, match="does not change"):
        one.kind = "mesh"  # type: ignore[misc]


def test_names_that_cannot_be_read_cost_only_the_names(monkeypatch):
    from pjit_inspect import guard
    from pjit_inspect.observe.errors import scene as error_scene

    def fail(*_: Any) -> Any:
        raise RuntimeError("no frames today")

    monkeypatch.setattr(guard, "_warned", set())
    monkeypatch.setattr(error_scene, "_steps", fail)
    with pytest.warns(RuntimeWarning, match="could not make the names in an explained error"):
        found = explained(lambda: jax.device_put(np.zeros(6), NamedSharding(MESH, P("model"))))
    assert found.sentence.startswith("dimension 0 of the array [6] is 6")


def test_an_error_that_cannot_say_what_it_is_is_not_known():
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert pi.explain_error(Mute()).kind == "unknown"
    assert error_explanation.explain_known_error(Mute()) is None


@pytest.mark.parametrize("where", ["in_specs", "out_specs"])
def test_an_axis_that_shard_map_is_not_manual_over_has_the_nearest_name(where: str):
    specs = {"in_specs": P("data"), "out_specs": P("data"), where: P("dta")}
    found = explained(lambda: jax.shard_map(lambda x: x, mesh=MESH, **specs)(np.zeros((8, 8), np.float32)))
    assert found.kind == "unknown axis"
    assert found.sentence == f"`{where}` names `dta`, but the axes `shard_map` is manual over are `data`, `model`"
    assert [(fit.edit, fit.replaces) for fit in found.fits] == [("'data'", "'dta'")]


def test_of_a_region_that_is_partly_manual_only_its_own_axes_are_told():
    """`model` is in the mesh: it is not said that it is not."""
    specs = {"in_specs": P("model"), "out_specs": P("data"), "axis_names": {"data"}}
    found = explained(lambda: jax.shard_map(lambda x: x, mesh=MESH, **specs)(np.zeros((8, 8), np.float32)))
    assert found.sentence == "`in_specs` names `model`, but the axes `shard_map` is manual over are `data`"
