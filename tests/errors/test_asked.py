"""Refusals whose rule is nowhere in the package: JAX is asked which change it takes, and each that is shown runs."""

# ruff: noqa: E501

from __future__ import annotations

import contextlib

import jax
import numpy as np
import pytest

import pjit_inspect as pi

from .case import EX, MESH, Case, mended, refusal, run

X = "x = counted(8, 8, spec=P('data', 'model'))\n"
COUNT = "np.arange(1., 65.).reshape(8, 8)"


def on(name: str, code: str, kind: str, *says: str, **more: object) -> Case:
    return Case(name=name, code=code, kind=kind, says=says, mesh=EX, **more)  # type: ignore[arg-type]


CASES = (
    # Both are batches of four matrices: `data` splits those of `x`, `model` those of `w`.
    on("batches of matrices that differ", """\
x, w = counted(4, 8, 8, spec=P('data')), counted(4, 8, 8, spec=P('model'))
result = x @ w
""", "conflict", "`x` is `P('data', None, None)` and `w` is `P('model', None, None)`",
       fits=("x @ jax.sharding.reshard(w, P('data', None, None))", "jax.sharding.reshard(x, P('model', None, None)) @ w"),
       want="np.arange(1., 257.).reshape(4, 8, 8) @ np.arange(1., 257.).reshape(4, 8, 8)", since=(0, 10, 0)),
    # The product sums over 8, which `model` splits of both: 1/4 of the result's columns is left to a device.
    on("a tensordot", f"{X}w = counted(8, 8, spec=P('model'))\nresult = jnp.tensordot(x, w, axes=1)\n", "contraction",
       "`tensordot` sums over a dimension that both operands split (`x` is `P('data', 'model')` and `w` is `P('model', None)`)",
       fits=("jnp.tensordot(x, w, axes=1, out_sharding=P('data', None))", "jnp.tensordot(x, w, axes=1, out_sharding=P('data', 'model'))",
             "jnp.tensordot(jax.sharding.reshard(x, P('data', None)), w, axes=1)", "jnp.tensordot(x, jax.sharding.reshard(w, P(None, None)), axes=1)"),
       want=f"{COUNT} @ {COUNT}", since=(0, 10, 0)),
    # `model` is 4 of the 8 of the batch: what is left to the result is `data`, in the place where both have rows.
    on("a product whose axes repeat in part", "x, w = counted(8, 8, spec=P(('model', 'data'))), counted(8, 8, spec=P(None, 'model'))\nresult = jnp.matmul(x, w)\n",
       "axis twice", "the result of `matmul` would be `P(('model', 'data'), 'model')`",
       fits=("jnp.matmul(x, w, out_sharding=P(('model', 'data'), None))", "jnp.matmul(x, w, out_sharding=P('data', 'model'))",
             "jnp.matmul(jax.sharding.reshard(x, P(None, None)), w)", "jnp.matmul(x, jax.sharding.reshard(w, P(None, None)))"),
       want=f"{COUNT} @ {COUNT}"),
    # The indices are split: a table on every device is refused as well.
    on("rows by indices that are computed", "x, i = counted(8, 8, spec=P('model')), jax.device_put(jnp.arange(8.), P('data'))\nresult = x[i.astype(int) % 8]\n",
       "indexing", "the result of `x[i.astype(int) % 8]` is split: `x` is", fits=("x.at[i.astype(int) % 8].get(out_sharding=P())",), want=COUNT, since=(0, 10, 0)),
    # All that a quantile without an axis takes is one row: no axis may split it.
    on("a quantile of everything", f"{X}result = jnp.quantile(x, .5)\n", "split dimension", "`quantile`",
       fits=("jax.sharding.reshard(x, P(None, None))",), want="32.5", since=(0, 10, 0)),
    on("a Kronecker product", f"{X}result = jnp.kron(x, x)\n", "axis twice", "an axis can split one dimension only",
       fits=("jax.sharding.reshard(x, P(None, None))",), want=f"np.kron({COUNT}, {COUNT})", since=(0, 10, 0)),
    # Only the last dimension is searched.
    on("the largest, about", f"{X}result = jax.lax.approx_max_k(x, 3)[0]\n", "split dimension",
       "`approx_max_k` does not take this split: `x` is `P('data', 'model')`",
       fits=("jax.sharding.reshard(x, P('data', None))",), want=f"{COUNT}[:, ::-1][:, :3]", since=(0, 10, 0)),
    # Rows by indices: the result has the split of the indices, then that of the columns, and `data` is both.
    on("rows whose columns are split as the indices", """\
t, i = counted(8, 8, spec=P(None, 'data')), jax.device_put(jnp.arange(8)[::-1], P('data'))
result = t[i]
""", "axis twice", "the result of `t[i]` would be `P('data', 'data')`",
       fits=("t.at[i].get(out_sharding=P('data', None))", "t.at[i].get(out_sharding=P())"), want=f"{COUNT}[::-1]", since=(0, 10, 0)),
    # The first is on every device: it is split further, and nothing of the other is gathered.
    on("a choice by a mask on every device", f"{X}mask, y = counted(8, 8) > 3, counted(8, 8, spec=P('model'))\nresult = jnp.where(mask, x, y)\n",
       "conflict", "`select` needs operands that are split alike: `x` is `P('data', 'model')` and `y` is `P('model', None)`",
       fits=("jnp.where(jax.sharding.reshard(mask, P('data', 'model')), x, jax.sharding.reshard(y, P('data', 'model')))",), want=COUNT),
)  # fmt: skip


@pytest.mark.parametrize("case", [case for case in CASES if case.is_here], ids=lambda case: case.name)
def test_a_change_that_jax_takes_is_found_by_asking(case: Case):
    with jax.set_mesh(case.mesh) if case.mesh is not None else contextlib.nullcontext():
        found = pi.explain_error(refusal(case))
    assert found.kind == case.kind
    for words in case.says:
        assert words in found.sentence
    assert [fit.edit for fit in found.fits] == list(case.fits or ())
    assert all(fit.is_checked for fit in found.fits)
    for version, fit in enumerate(found.fits, start=1):
        result = run(case, mended(case, case.code, fit, found), version)["result"]
        np.testing.assert_allclose(np.asarray(result), eval(case.want, {"np": np}), rtol=1e-4)


def test_a_message_of_the_user_s_own_about_shards_is_no_refusal_of_jax_s():
    x = jax.device_put(np.ones((8, 8)), jax.sharding.NamedSharding(EX, jax.P("data")))

    def load(x: jax.Array) -> None:
        raise RuntimeError(f"the checkpoint of {x.shape} is not sharded as it was")

    with pytest.raises(RuntimeError) as caught:
        load(x)
    assert pi.explain_error(caught.value).kind == "unknown"


def test_a_spec_is_tried_where_the_line_cannot_be_read():
    # 6 is no multiple of 4; it is one of 2, and 8 is one of 4.
    names = {"jax": jax, "x": np.ones((6, 8)), "s": jax.sharding.NamedSharding(MESH, jax.P("model"))}
    with pytest.raises(ValueError, match="6") as caught:
        eval("jax.device_put(x, s)", names)
    found = pi.explain_error(caught.value)
    assert [fit.edit for fit in found.fits if fit.is_code] == ["P('data', None)", "P(None, 'model')", "P(None, None)"]
    assert all(fit.is_checked for fit in found.fits if fit.is_code)
