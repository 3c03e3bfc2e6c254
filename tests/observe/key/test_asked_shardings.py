"""Of every argument and result: who asked for its sharding and its layout, what a call sends, what is an argument."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh, put

import pjit_inspect as pi
from pjit_inspect.model.program.layout import ArrayLayout

X, W = np.ones((16, 8), np.float32), np.ones((8, 4), np.float32)


@pytest.fixture
def mesh() -> Mesh:
    return auto_mesh()


def typed_mesh(*kinds: AxisType) -> Mesh:
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=kinds)


def asked(arrays: Sequence[ArrayLayout]) -> list[str | None]:
    return [one.asked for one in arrays]


def constrained(mesh, spec, x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, spec))


def test_arguments_come_as_in_shardings_as_they_are_or_as_xla_chooses(mesh):
    placed = put(mesh, X, "data", None)
    record = pi.inspect(jax.jit(lambda x, w, n, unused: (x @ w) * n), placed, jnp.asarray(W), 2.0, jnp.ones(3))
    assert asked(record.inputs) == ["argument", "", "", None]
    own = NamedSharding(mesh, P(None, "model"))
    record = pi.inspect(jax.jit(jnp.matmul, in_shardings=(NamedSharding(mesh, P("data")), own)), X, W)
    assert asked(record.inputs) == ["in_shardings", "in_shardings"]
    described = jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=NamedSharding(mesh, P("data")))
    record = pi.inspect(jax.jit(jnp.matmul), described, jax.ShapeDtypeStruct(W.shape, W.dtype))
    assert asked(record.inputs) == ["argument", ""]


def test_results_come_as_out_shardings_as_an_operation_says_or_as_xla_chooses(mesh):
    def f(x):
        whole = constrained(mesh, P("data", None), x * 2)
        part = constrained(mesh, P("data", P.UNCONSTRAINED), x * 3)
        cut = jax.shard_map(lambda a: a * 4, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
        moved = jax.device_put(x * 5, NamedSharding(mesh, P("data", None)))
        inner = jax.jit(lambda a: a * 6, out_shardings=NamedSharding(mesh, P("data", None)))(x)
        return x * 7, whole, part, cut, moved, inner, whole + 1, 3.0, x * 8

    outs = (None,) * 8 + (NamedSharding(mesh, P("data", None)),)
    record = pi.inspect(jax.jit(f, out_shardings=outs), put(mesh, X, "data", None))
    assert asked(record.outputs) == [
        "", "with_sharding_constraint", "with_sharding_constraint, in part", "shard_map", "device_put", "out_shardings",
        "", "", "out_shardings",
    ]  # fmt: skip


def test_what_asks_is_found_through_calls(mesh):
    @jax.custom_vjp
    def own(x):
        return constrained(mesh, P("data", None), x * 2)

    own.defvjp(lambda x: (own(x), None), lambda _, g: (g,))

    def f(x):
        asks = jax.jit(lambda a: constrained(mesh, P("data", None), a * 3))(x)
        return jax.checkpoint(lambda a: (a, constrained(mesh, P("data", None), a * 4)))(asks), own(x)

    record = pi.inspect(jax.jit(f), put(mesh, X, "data", None))
    assert asked(record.outputs) == ["with_sharding_constraint"] * 3


def test_an_operation_that_asks_in_vain_has_not_chosen(mesh):
    wanted = NamedSharding(mesh, P("model", None))
    record = pi.inspect(jax.jit(lambda x: jax.device_put(x * 2, wanted)), put(mesh, X, "data", None))
    (result,) = record.outputs
    assert result.asked == ("device_put" if result.spec == ("model", None) else "")


@pytest.mark.parametrize("kinds", [(AxisType.Explicit, AxisType.Explicit), (AxisType.Explicit, AxisType.Auto)])
def test_explicit_axes_are_asked_for_in_the_type(kinds):
    mesh = typed_mesh(*kinds)
    with jax.set_mesh(mesh):
        record = pi.inspect(jax.jit(lambda x: x * 2), put(mesh, X, "data", None))
    assert asked(record.inputs) == ["argument"]
    # An axis that is Auto leaves the second dimension to XLA.
    assert asked(record.outputs) == ["type" if kinds[1] is AxisType.Explicit else "type, in part"]


def test_a_context_mesh_of_auto_axes_asks_for_nothing(mesh):
    with jax.set_mesh(mesh):
        f = jax.jit(lambda x: (x * 2, jax.lax.with_sharding_constraint(x * 3, P("data", None))))
        record = pi.inspect(f, put(mesh, X, "data", None))
    assert asked(record.outputs) == ["", "with_sharding_constraint"]


@pytest.mark.parametrize("how", [{"device": True}, {"backend": "cpu"}])
def test_the_device_given_to_jit_says_so(how):
    if "device" in how:
        how = {"device": jax.devices()[3]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        record = pi.inspect(jax.jit(lambda x: x + 1, **how), X)
    assert (asked(record.inputs), asked(record.outputs)) == (["device"], ["device"])
    assert "shardings: jit's device" in str(record.show("text"))


def test_pmap_asks_for_all_of_it():
    with pi.capture() as log:
        jax.pmap(lambda x, s: (x * s, x), in_axes=(0, None))(np.ones((8, 3), np.float32), 2.0)
    (record,) = [one for one in log if one.transform == "pmap"]
    assert asked((*record.inputs, *record.outputs)) == ["pmap"] * 4


def test_calls_say_what_they_send_from_the_host(mesh):
    f = jax.jit(lambda placed, x, n, *, k: placed.sum() + x.sum() * n * k, static_argnames="k")
    arguments = put(mesh, X, "data", None), X, 2.0
    with pi.capture() as log:
        f(*arguments, k=3)
    called, inspected = log[-1], pi.inspect(f, *arguments, k=3)
    for record in (called, inspected):
        assert [one.passed for one in record.inputs] == ["jax.Array", "numpy.ndarray", "float"]
        # A number goes to each of the eight devices, as does what they hold of the array.
        held = record.inputs[1].bytes_per_device
        assert [one.host_bytes for one in record.inputs] == [0, held * 8, 4 * 8]
    lowered = pi.inspect(f.lower(jax.ShapeDtypeStruct(X.shape, X.dtype), X, 2.0, k=3))
    # It was lowered before anybody watched.
    assert [(one.passed, one.host_bytes) for one in lowered.inputs] == [("", None)] * 3
    assert [(one.name, one.text) for one in called.data.key.statics] == [("k", "3")]
    assert "static: k = 3" in str(called.show("text"))


def test_arguments_that_come_back_are_results_that_say_so(mesh):
    def f(x, tree, unused):
        return jax.jit(lambda a: a)(x), x + 1, tree["w"], 1.0

    record = pi.inspect(jax.jit(f, donate_argnums=0), put(mesh, X, "data", None), {"w": W}, 0.0)
    assert [one.returned for one in record.outputs] == ["x", None, "tree['w']", None]
    assert "argument tree['w'], unchanged" in str(record.show("text"))


def test_layouts_in_memory_are_as_asked_and_auto_became_one(mesh):
    rows = NamedSharding(mesh, P("data", None))
    wanted = Format(Layout(major_to_minor=(1, 0)), rows)
    f = jax.jit(
        lambda x: (x.T @ x, x + 1, x + 2), in_shardings=Format(Layout.AUTO, rows), out_shardings=(None, wanted, rows)
    )
    described = jax.ShapeDtypeStruct((64, 32), np.float32)
    compiled = f.lower(described).compile()
    record = pi.inspect(f, described)
    (x,), (_, columns, plain) = record.inputs, record.outputs
    assert (x.layout_asked, x.asked) == ("AUTO", "in_shardings")
    (became,) = jax.tree.leaves(compiled.input_formats)
    assert x.layout == f"major_to_minor={became.layout.major_to_minor}"
    assert (columns.layout_asked, columns.layout) == ("major_to_minor=(1, 0)", "major_to_minor=(1, 0)")
    assert (plain.layout_asked, plain.layout) == ("", "")
    assert f"layout AUTO became {x.layout}" in str(record.show("text"))


def test_a_program_that_is_known_already_says_the_same(mesh):
    f = jax.jit(
        lambda x, w, n: (x @ w * n, constrained(mesh, P("data", None), x + 1), x),
        out_shardings=(NamedSharding(mesh, P("data", "model")), None, None),
    )
    arguments = put(mesh, X, "data", None), W, 2.0
    with pi.capture() as log:
        f(*arguments)
    with pi.capture(calls=True) as again:
        f(*arguments)
    for record in (log[-1], again[-1], pi.inspect(f, *arguments)):
        assert asked(record.inputs) == ["argument", "", ""]
        assert [one.passed for one in record.inputs] == ["jax.Array", "numpy.ndarray", "float"]
        assert asked(record.outputs) == ["out_shardings", "with_sharding_constraint", ""]
        assert record.outputs[2].returned == "x"


@pytest.mark.parametrize("is_compiled", [False, True])
def test_of_what_was_lowered_before_anybody_watched_a_part_is_known(mesh, is_compiled):
    f = jax.jit(lambda x, w: (x @ w, x + 1), out_shardings=(NamedSharding(mesh, P("data", "model")), None))
    lowered = f.lower(put(mesh, X, "data", None), W)
    if is_compiled:
        lowered.compile()
    record = pi.inspect(lowered)
    # XLA chose for the second argument; of the second result, within the function something may have asked.
    assert asked(record.inputs) == [None, ""]
    assert asked(record.outputs) == ["out_shardings", None]


def test_a_compile_ahead_of_time_says_it(mesh):
    f = jax.jit(lambda x, w: (x @ w, x), out_shardings=(NamedSharding(mesh, P("data", None)), None))
    with pi.capture() as log:
        f.lower(put(mesh, X, "data", None), W).compile()
    assert asked(log[-1].inputs) == ["argument", ""]
    assert [one.passed for one in log[-1].inputs] == ["", "numpy.ndarray"]
    assert asked(log[-1].outputs) == ["out_shardings", ""]
    assert log[-1].outputs[1].returned == "x"


def test_files_keep_it_and_older_ones_do_not_know(mesh, tmp_path):
    record = pi.inspect(jax.jit(lambda x: (x * 2, x)), put(mesh, X, "data", None))
    record.save(tmp_path / "f.pjit")
    loaded = pi.load(tmp_path / "f.pjit")
    assert (loaded.inputs, loaded.outputs) == (record.inputs, record.outputs)
    assert asked(loaded.inputs) == ["argument"]
    old = pi.load("tests/data/total.version_2.pjit")
    assert set(asked((*old.inputs, *old.outputs))) == {None}
    assert not any(one.passed or one.returned or one.layout_asked for one in (*old.inputs, *old.outputs))


def test_hlo_that_somebody_pasted_does_not_say_who_asked(tmp_path):
    text = """HloModule jit_f, is_scheduled=true, num_partitions=2,
  entry_computation_layout={(f32[256,8]{0,1:T(8,128)})->f32[256,8]{1,0:T(8,128)}}

ENTRY main {
  x = f32[256,8]{0,1:T(8,128)} parameter(0), sharding={replicated}
  ROOT n = f32[256,8]{1,0:T(8,128)} negate(x), sharding={replicated}
}
"""
    (tmp_path / "f.hlo").write_text(text)
    record = pi.open(tmp_path / "f.hlo")
    assert asked((*record.inputs, *record.outputs)) == [None, None]
    assert [one.layout for one in record.inputs] == ["major_to_minor=(1, 0), tiling=((8, 128),)"]
    # Row by row, in the chip's own tiles: nothing special.
    assert [one.layout for one in record.outputs] == [""]
