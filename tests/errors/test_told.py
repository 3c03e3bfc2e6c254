"""Refusals that need more than a program and a sentence: advice that must not be given, and code that must not run."""

# ruff: noqa: E501

from __future__ import annotations

import jax
import numpy as np
import pytest

import pjit_inspect as pi

from .case import EX, MESH, Case, mended, refusal, run


def on(name: str, code: str, kind: str, **more: object) -> Case:
    """A program."""
    return Case(name=name, code=code, kind=kind, **more)  # type: ignore[arg-type]


JIT = "@jax.jit\ndef f(x, n):\n    return {}\nresult = f({}, 3)\n"
OBJECT = (
    "class M:\n    w = 2.\n    @jax.jit\n    def f(self, x):\n        return self.w * x\nresult = M().f(np.ones(3))\n"
)


@pytest.mark.parametrize(
    ("code", "said", "unsaid"),
    [
        # What runs while it is traced prints no value.
        (JIT.format("print('loss', float(x))", "1."), "use `jax.debug.print`", "asarray"),
        (JIT.format("print('loss', x.item())", "1."), "use `jax.debug.print`", "write"),
        (JIT.format("print('loss', np.asarray(x))", "1."), "use `jax.debug.print`", "asarray"),
        # A program that knows the object goes on with the old `w`.
        (OBJECT, "register the class as a tree", "for objects with a hash"),
        (OBJECT, "a later change of what the object holds is not seen", "for objects with a hash"),
        # No loop of JAX's makes a list, and no slice of JAX's has a length that is traced.
        (JIT.format("[x * i for i in range(n)]", "1."), "static_argnames='n'", "fori_loop"),
        (JIT.format("x[n:n + n]", "np.ones(9)"), "static_argnames='n'", "dynamic_slice"),
        (
            "@jax.jit\ndef f(x, y):\n    if x > 0:\n        x = y\n    return x\nresult = f(jnp.arange(4.), jnp.arange(4.))\n",
            "`jnp.all` or `jnp.any`",
            "static_argnames",
        ),
    ],
)
def test_what_is_advised_is_what_the_line_is_for(code: str, said: str, unsaid: str):
    found = pi.explain_error(refusal(on("advice", code, "traced value")))
    told = " ".join(f"{fit.edit} {fit.effect}" for fit in found.fits)
    assert said in told
    assert unsaid not in told


# ---------------------------------------------------------------- values


PARTS = "result = jax.shard_map(lambda x: {}, mesh=MESH, in_specs=P('data'), out_specs={}, check_vma=False)(np.ones(8, np.float32))\n"


@pytest.mark.parametrize("result", ["x.sum()", "jnp.stack([x.sum()])"])
def test_a_result_of_shard_map_is_offered_no_spec_that_takes_one_device_for_all(result: str):
    # Each of two devices has four ones: their sum is 8. With `check_vma=False` the spec P() returns 4, one device's.
    found = pi.explain_error(refusal(on("parts", PARTS.format(result, "P('data', 'model')"), "rank")))
    assert found.kind == "rank"
    for fit in found.fits:
        assert fit.spec is None or "data" in str(fit.spec)
        assert not fit.is_code or "P()" not in fit.edit


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="the `shard_map` of JAX 0.8's pmap names its own axis")
def test_pmap_speaks_of_the_one_argument_that_there_is():
    x = jax.numpy.ones((9, 3))
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        jax.pmap(lambda x: x)(x)
    found = pi.explain_error(caught.value)
    assert found.kind == "pmap"
    assert "9" in found.sentence
    assert "another" not in found.sentence


def test_the_line_of_a_constraint_on_other_devices_is_told():
    code = """\
four = jax.sharding.Mesh(np.array(jax.devices()[:4]), ('x',))
def f(x):
    return lax.with_sharding_constraint(x.sum(0), NamedSharding(four, P('x')))
x = counted(8, 8, spec=P('data'), mesh=MESH)
result = jax.jit(f)(x)
"""
    case = on("elsewhere", code, "devices", since=(0, 10, 0))
    if not case.is_here:
        return
    found = pi.explain_error(refusal(case))
    assert "the sharding is at elsewhere_0.py:3" in found.notes
    assert any("one of `MESH`" in fit.edit for fit in found.fits)


def test_an_array_whose_sum_is_asked_for_is_not_proposed_as_static():
    found = pi.explain_error(refusal(on("a sum", JIT.format("x * int(x.sum())", "np.ones(3)"), "traced value")))
    assert found.kind == "traced value"
    assert not [fit for fit in found.fits if "static" in fit.edit]


def test_what_a_library_or_a_choice_asks_of_an_argument_alone_can_be_static():
    for code, names in (("lax.top_k(x, n)", "n"), ("jnp.maximum(x, 0) if n else x", "n")):
        found = pi.explain_error(refusal(on("static", JIT.format(code, "np.ones(8)"), "traced value")))
        assert [fit.edit for fit in found.fits if "static_argnames" in fit.edit] == [
            f"name it in the `jax.jit` of `f`: `static_argnames='{names}'`"
        ]
        assert not [fit for fit in found.fits if "lax.cond" in fit.edit]


def test_what_is_made_of_an_array_by_a_function_is_not_proposed_as_static():
    found = pi.explain_error(refusal(on("argmax", JIT.format("int(jnp.argmax(x))", "np.ones(8)"), "traced value")))
    assert not [fit for fit in found.fits if "static" in fit.edit]


def test_each_of_two_arguments_that_are_alike_is_placed():
    code = """\
sh = NamedSharding(MESH, P('data'))
f = jax.jit(lambda p, x: p['w'] + x).lower({'w': counted(8, spec=P('data'), mesh=MESH)}, counted(8, spec=P('data'), mesh=MESH)).compile()
p, x = {'w': counted(8, spec=P('model'), mesh=MESH)}, counted(8, spec=P('model'), mesh=MESH)
result = f(p, x)
"""
    found = pi.explain_error(refusal(on("both", code, "compiled")))
    assert [fit.target for fit in found.fits if fit.is_code] == ["p['w']", "x"]
    assert "every argument needs its own change" in found.notes


def test_an_only_argument_of_a_compiled_program_is_named_as_it_is_written():
    code = """\
f = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((8, 8), np.float32, sharding=NamedSharding(MESH, P('data')))).compile()
result = f(counted(8, 8, spec=P(None, 'model'), mesh=MESH))
"""
    case = on("inline", code, "compiled")
    found = pi.explain_error(refusal(case))
    fit = next(fit for fit in found.fits if fit.is_code)
    assert fit.edit.startswith(
        "jax.device_put(counted(8, 8, spec=P(None, 'model'), mesh=MESH), NamedSharding(MESH, P('data', None)))"
    )
    assert run(case, mended(case, code, fit, found), 1)["result"].shape == (8, 8)


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 does not say how the indices are split")
def test_a_gather_by_split_indices_keeps_their_split():
    code = "t, i = jnp.ones((8, 2)), jax.device_put(jnp.arange(8), P('model'))\nresult = t[i, :]\n"
    case = on("gather", code, "indexing", mesh=EX)
    with jax.set_mesh(EX):
        found = pi.explain_error(refusal(case))
    assert found.fits[0].edit == "t.at[i, :].get(out_sharding=P('model', None))"
    assert "`i` is `P('model')`" in found.sentence


# ---------------------------------------------------------------- what is tried, and what is not


def test_no_function_of_the_user_runs_to_try_a_fit():
    ran = []

    def own(x):
        ran.append(1)
        return x

    x, w = jax.device_put(jax.numpy.ones((8, 8)), jax.sharding.NamedSharding(EX, jax.P("data"))), jax.numpy.ones((8, 8))
    w = jax.device_put(w, jax.sharding.NamedSharding(EX, jax.P("model")))
    with pytest.raises(Exception) as caught:  # noqa: PT011
        _ = own(x) + w
    before = len(ran)
    found = pi.explain_error(caught.value)
    assert len(ran) == before
    assert found.kind == "conflict"
    assert all(fit.is_checked for fit in found.fits)


def test_an_unknown_error_of_several_lines_is_its_first_line():
    found = pi.explain_error(RuntimeError("first\nsecond"))
    assert (found.kind, found.sentence, found.notes) == ("unknown", "`RuntimeError`: first", ())


def test_a_callback_that_returns_another_shape_is_read_as_every_version_writes_it():
    for compute in ("", "Compute error: "):
        said = (
            f"INTERNAL: {compute}CpuCallback error calling callback: Traceback (most recent call last):\n  File "
            '"/jax/_src/callback.py", line 793, in _wrapped_callback\nRuntimeError: Incorrect output shape for return value '
            "#0: Expected: (8, 8), Actual: (4, 8)"
        )
        found = pi.explain_error(RuntimeError(said))
        assert (found.kind, found.sentence) == (
            "callback",
            "the result of the function that the callback calls has the shape `[4,8]`, but `[8,8]` was declared",
        )
        assert "sees one device's part" in found.notes[0]


def test_what_is_the_user_s_is_not_changed_to_try_a_fit():
    code = """\
specs = ['data', 'model']
state = {'n': 3}
x, y = counted(8, 8, spec=P('data')), counted(8, 8, spec=P('model'))
result = jnp.add(x, jnp.multiply(y, state.pop('n') if 'n' in state else 1))
"""
    case = on("a pop", code, "conflict", mesh=EX)
    with jax.set_mesh(EX):
        error = refusal(case)
        frame = error.__traceback__.tb_next.tb_next.tb_frame  # type: ignore[union-attr]
        frame.f_globals["state"]["n"] = 3
        found = pi.explain_error(error)
    assert frame.f_globals["state"] == {"n": 3}
    assert found.kind == "conflict"


def test_numbers_that_numpy_draws_are_not_drawn_again():
    code = """\
x, y = counted(8, 8, spec=P('data')), counted(8, 8, spec=P('model'))
result = jnp.add(x * np.random.rand(), y)
"""
    with jax.set_mesh(EX):
        error = refusal(on("drawn", code, "conflict", mesh=EX))
        before = np.random.get_state(legacy=False)["state"]["pos"]  # type: ignore[index]
        pi.explain_error(error)
    assert np.random.get_state(legacy=False)["state"]["pos"] == before  # type: ignore[index]


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
