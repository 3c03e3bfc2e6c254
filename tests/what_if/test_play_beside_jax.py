"""What a playground says beside JAX's own answer: donated arguments, written calls, equal stages, layers of one line.

Expectations are counted by hand, or come from the same function with the change written into it. Not its job: what can
be set (`test_playground`), or collectives of ordinary changes (`what_if`).
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.handles.play.search import Search
from pjit_inspect.model.play.search import SearchProgress
from pjit_inspect.model.play.variant import Variant

MESH = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def split(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(MESH, P(*spec)))


def loss(params, x):
    return ((jax.nn.relu(x @ params["a"]) @ params["b"]) ** 2).mean()


def step(params, momentum, x):
    slope = jax.grad(loss)(params, x)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, slope)
    return jax.tree.map(lambda w, m: w - 0.1 * m, params, momentum), momentum, x.sum()


WEIGHTS = {"a": split((64, 128), None, "model"), "b": split((128, 64), "model")}
X = split((16, 64), "data")


def kinds(variant: Variant) -> dict[str, int]:
    return {own.kind: own.collectives for own in variant.by_kind}


# ---------------------------------------------------------------- donated arguments


def test_results_take_the_place_of_donated_arguments_before_xla_has_said_which():
    play = pi.playground(jax.jit(step, donate_argnums=(0, 1)), WEIGHTS, WEIGHTS, X)
    base = play.wait()
    assert base.stage == "partitioned"
    # Four matrices, four results in their place; the sum alone is new.
    held = 4 * (4 * 64 * 128 // 4 + 16 * 64 // 2)
    assert (base.argument_bytes, base.result_bytes, base.memory_bytes) == (held, 4, held + 4)
    play.full()
    stats = play.wait().record.data.memory
    assert stats is not None
    assert stats.alias_bytes == 4 * 4 * 64 * 128 // 4
    assert play.variant.result_bytes == 4
    play.close()


def test_a_donated_argument_gives_its_place_to_a_result_of_as_many_bytes_only():
    play = pi.playground(jax.jit(step, donate_argnums=(0, 1)), WEIGHTS, WEIGHTS, X)
    play.wait()
    play.set(results={"result[0]['a']": P("data", "model"), "result[1]['a']": P(None, "model")})
    found = play.wait()
    # A piece of half the size finds no argument as small.
    assert found.result_bytes == 4 + 4 * 64 * 128 // 8
    play.full()
    stats = play.wait().record.data.memory
    assert stats is not None
    assert stats.alias_bytes == 3 * 4 * 64 * 128 // 4
    play.close()


def test_a_donated_argument_whose_piece_differs_on_another_mesh_is_paired_anew():
    mesh = AbstractMesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    on = functools.partial(NamedSharding, mesh)
    array = jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=on(P("data")))
    more = jax.jit(lambda a: a + 1, donate_argnums=0, out_shardings=on(P("model")))
    play = pi.playground(more, array)
    assert play.wait().result_bytes == 0
    play.set(mesh={"data": 4, "model": 1})
    assert (play.wait().argument_bytes, play.variant.result_bytes) == (4 * 64 * 64 // 4, 4 * 64 * 64)
    # XLA refuses a pair of two sizes; JAX does not make one.
    play.full()
    found = play.wait()
    assert (found.stage, found.problem) == ("full", None)
    assert found.record.data.memory.alias_bytes == 0
    play.close()


def test_what_is_not_donated_is_held_beside_the_results():
    play = pi.playground(jax.jit(step), WEIGHTS, WEIGHTS, X)
    assert play.wait().result_bytes == 4 + 4 * 4 * 64 * 128 // 4
    play.close()


def test_donated_arguments_stay_donated_where_a_result_is_split_otherwise():
    split_so = tuple(NamedSharding(MESH, own.sharding.spec) for own in (WEIGHTS["a"], WEIGHTS["b"]))
    both = jax.jit(lambda a, b: (a + 1, b + 1), donate_argnums=(0, 1), out_shardings=split_so)
    play = pi.playground(both, WEIGHTS["a"], WEIGHTS["b"])
    assert play.wait().result_bytes == 0
    piece = 4 * 64 * 128 // 4
    # Of as many bytes, though split differently: JAX gives the argument to XLA, which finds the place.
    play.set(specs={"a": P("model")})
    assert play.wait().result_bytes == 0
    play.go_back(0)
    play.set(results={"result[0]": None, "result[1]": P("model", "data")})
    assert play.wait().result_bytes == piece // 2
    play.full()
    stats = play.wait().record.data.memory
    assert stats is not None
    assert stats.alias_bytes == piece
    play.close()


# ---------------------------------------------------------------- the written call


@functools.partial(jax.jit, static_argnums=(1,), static_argnames=("kind",), donate_argnums=(3,))
def mixed(x, times, unused, w, *, kind):
    return (x @ w if kind == "product" else x + w) * times, w + 1


def by_keyword(*rest, x, w):
    return x @ w + rest[0]


def run(code: str, **names: Any) -> dict[str, Any]:
    exec(compile(code, "written", "exec"), names)
    return names


def test_the_written_call_has_static_unused_and_donated_arguments():
    w = split((64, 64), None, "model")
    play = pi.playground(mixed, split((64, 64), "data"), 3, split((8,)), w, kind="product")
    play.wait()
    play.set(results={"result[1]": P("data")})
    play.wait()
    names = run(
        play.code().plain,
        mixed=mixed,
        x=jnp.ones((64, 64)),
        times=3,
        unused=jnp.ones(8),
        w=jnp.ones((64, 64)),
        kind="product",
    )
    lowered = names["mixed"].lower(names["x"], 3, names["unused"], names["w"], kind="product")
    assert [own.donated for own in jax.tree.leaves(lowered.args_info)] == [False, False, True]
    first, second = names["mixed"](names["x"], 3, names["unused"], names["w"], kind="product")
    assert second.sharding.is_equivalent_to(NamedSharding(names["mesh"], P("data")), 2)
    assert float(first[0, 0]) == 3 * 64
    play.close()


def test_the_written_call_has_keywords_and_what_is_left_over():
    play = pi.playground(by_keyword, split((16, 128)), x=split((16, 64), "data"), w=split((64, 128), None, "model"))
    play.wait()
    play.set(results={"result": P("model")})
    play.wait()
    given = {"x": jnp.ones((16, 64)), "w": jnp.ones((64, 128)), "rest": (jnp.ones((16, 128)),)}
    names = run(play.code().plain, by_keyword=by_keyword, **given)
    found = names["by_keyword"](*names["rest"], x=names["x"], w=names["w"])
    assert found.sharding.is_equivalent_to(NamedSharding(names["mesh"], P("model")), 2)
    assert float(found[0, 0]) == 65
    play.close()


# ---------------------------------------------------------------- what is left to XLA


def forward(params, x):
    h = jax.lax.with_sharding_constraint(jax.nn.relu(x @ params["a"]), P("data", "model"))
    return h @ params["b"]


def test_an_argument_that_is_left_to_xla_stays_as_it_is_set_though_xla_had_split_it_so():
    params = {"a": jax.ShapeDtypeStruct((64, 128), jnp.float32), "b": jax.ShapeDtypeStruct((128, 64), jnp.float32)}
    x = jax.ShapeDtypeStruct((16, 64), jnp.float32)
    with jax.set_mesh(jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)):
        play = pi.playground(forward, params, x)
    first = play.wait().controls.group("params['a']")
    assert first is not None
    assert first.spec == (None, "model")
    play.set(specs={"x": P(None, "data")})
    assert play.wait().change == ("x: P(None, 'data')",)
    free = play.variant.controls.group("params['a']")
    assert free is not None
    # Split as its product needs it, now that `x` is.
    assert free.spec == ("data", "model")
    play.set(specs={"params['a']": P(None, "model")})
    found = play.wait()
    own = found.controls.group("params['a']")
    assert own is not None
    assert (own.spec, own.bytes_per_device) == ((None, "model"), 4 * 64 * 128 // 4)
    assert found.change == ("params['a']: P(None, 'model')", "x: P(None, 'data')")
    code = play.code()
    assert "1 argument is left to XLA, as captured" in code.notes
    assert "params['b']" not in code.plain
    play.close()


# ---------------------------------------------------------------- equal stages


def test_a_variant_that_was_compiled_to_the_end_is_proved_as_partitioned():
    play = pi.playground(step, WEIGHTS, WEIGHTS, X)
    play.wait()
    play.set(specs={"params['a']": P("data", "model")})
    before = play.wait()
    play.full()
    play.wait()
    proof = play.code(prove=True).proof
    assert proof is not None
    assert (proof.outcome, dict(proof.wanted)) == ("equal", kinds(before))
    play.close()


def test_one_device_alone_is_not_the_best_though_it_sends_nothing():
    play = pi.playground(step, WEIGHTS, WEIGHTS, X)
    base = play.wait()
    assert base.work == 1.0
    play.set(mesh={"data": 1, "model": 1})
    assert play.wait().sent_bytes == 0
    play.go_back(0)
    assert play.best("bytes").number == 0
    play.go_back(1)
    assert play.best("bytes").number == 1
    play.close()


def test_temporaries_of_one_variant_do_not_make_another_the_best_in_memory():
    play = pi.playground(step, WEIGHTS, WEIGHTS, X)
    play.wait()
    play.set(specs={"params['a']": P("data", "model")})
    small = play.wait()
    play.full()
    full = play.wait()
    assert full.memory_bytes is not None
    assert full.memory_bytes > (play.base.memory_bytes or 0) > (small.memory_bytes or 0)
    assert play.best("memory").number == small.number
    play.close()


def test_a_search_holds_memory_against_arguments_and_results_where_the_start_was_compiled_to_the_end():
    play = pi.playground(step, WEIGHTS, WEIGHTS, X)
    play.wait()
    play.full()
    base = play.wait()
    held = (base.argument_bytes or 0) + (base.result_bytes or 0)
    assert (base.memory_bytes or 0) > held
    search = Search(play, budget_s=1)
    search.run()
    assert search.report().most_memory == held
    play.close()


# ---------------------------------------------------------------- what a search keeps


def searched(play: pi.Playground, is_enough: Callable[[SearchProgress], bool], **how: Any) -> Any:
    """What a search has found when that is enough, however slow the machine is."""
    return pi.search(play, budget_s=60, on_progress=lambda now: play.stop() if is_enough(now) else None, **how)


def test_optimizer_state_that_is_kept_does_not_follow_in_a_search():
    play = pi.playground(step, WEIGHTS, WEIGHTS, X)
    history = searched(play, lambda now: now.asked >= 10, keep=("momentum", "mesh"))
    specs = [{path: own.spec for own in row.controls.groups for path in own.paths} for row in history]
    assert any(own["params['a']"] != (None, "model") for own in specs)
    assert {(own["momentum['a']"], own["momentum['b']"]) for own in specs} == {((None, "model"), ("model", None))}
    play.close()


def test_a_result_that_is_kept_is_left_as_it_is_in_a_search():
    play = pi.playground(step, WEIGHTS, WEIGHTS, X)
    history = searched(play, lambda now: now.asked >= 4, keep=("result[0]['a']",))
    assert len(history) > 1
    results = [{path: own for own in row.controls.results for path in own.paths} for row in history]
    assert all(own["result[0]['a']"].is_free for own in results)
    assert any(not own["result[0]['b']"].is_free for own in results)
    play.close()


def test_the_best_of_a_search_keeps_to_its_rules_whatever_else_is_in_the_history():
    play = pi.playground(step, WEIGHTS, WEIGHTS, X)
    play.wait()
    play.set(specs={"params": P(), "momentum": P(), "x": P(("data", "model"))})
    whole = play.wait()
    keep = {"params['b']": P("model"), "mesh": None}
    history = searched(play, lambda now: now.best is not None, keep=keep, most_memory=60_000)
    best = history.best("bytes")
    assert (whole.counted_bytes or 0) > 60_000 >= (best.counted_bytes or 0)
    kept = best.controls.group("params['b']")
    assert kept is not None
    assert kept.spec == ("model", None)
    play.close()


# ---------------------------------------------------------------- sentences


def test_results_are_named_one_by_one_until_all_come_back_as_they_go_in():
    play = pi.playground(step, WEIGHTS, WEIGHTS, X)
    play.wait()
    play.set(results={"result[0]['a']": P(None, "model")})
    assert play.wait().change == ("result[0]['a']: P(None, 'model')",)
    others = {"result[0]['b']": P("model"), "result[1]['a']": P(None, "model"), "result[1]['b']": P("model")}
    play.set(results=others)
    found = play.wait()
    assert (found.change, found.step) == (("results split as their arguments",), ("results split as their arguments",))
    play.set(results={"result[1]['b']": P("data")})
    assert play.wait().change == ("result[1]['b']: P('data', None)", "results split as their arguments")
    play.close()


# ---------------------------------------------------------------- layers of one line


def held(value, spec):
    return value if spec is None else jax.lax.with_sharding_constraint(value, NamedSharding(MESH, P(*spec)))


def adapted(base, low, x, hold=(None, None)):
    """Two layers of one line, split differently each; `hold` is put on both products of the small matrices."""

    def loss(low):
        h = x
        for w, a, b in zip(base, low["a"], low["b"], strict=True):
            small = held(h @ a, hold[0])
            change = held(small @ b, hold[1])
            h = jnp.tanh(h @ w + change)
        return (h**2).mean()

    return jax.tree.map(jnp.subtract, low, jax.grad(loss)(low))


def test_a_new_constraint_is_on_every_layer_of_its_line_however_that_is_split():
    base = (split((64, 64), "data", "model"), split((64, 64), "model", "data"))
    low = {"a": (split((64, 8)),) * 2, "b": (split((8, 64), None, "model"), split((8, 64), None, "data"))}
    play = pi.playground(adapted, base, low, split((32, 64), "data"))
    play.wait()
    play.apply("2-D")
    found = play.wait()
    new = {own.place.partition(" ")[0]: own.spec for own in found.controls.constraints if own.is_new}
    lines = [number for number, line in enumerate(Path(__file__).read_text().splitlines(), 1) if " = held(" in line]
    assert new
    assert len(new) == sum(own.is_new for own in found.controls.constraints)
    hold = tuple(new.get(f"test_play_beside_jax.py:{line}") for line in lines)
    results = {path: own.spec for own in found.controls.results for path in own.paths}
    assert _kinds_as_written(found, (base, low, split((32, 64))), hold, results) == kinds(found)
    play.close()


def dense(x, w):
    return x @ w


def called(params, x):
    def loss(params):
        h = jax.nn.relu(dense(x, params["a"]))
        return (dense(h, params["b"]) ** 2).mean()

    return jax.tree.map(jnp.subtract, params, jax.grad(loss)(params))


def test_new_constraints_in_a_function_of_ones_own_are_told_apart_by_the_lines_that_call_it():
    play = pi.playground(called, WEIGHTS, X)
    play.wait()
    play.apply("FSDP")
    new = [own.place for own in play.wait().controls.constraints if own.is_new]
    lines = Path(__file__).read_text().splitlines()
    line = {text: number for number, text in enumerate(lines, 1)}
    place = f"test_play_beside_jax.py:{line['    return x @ w']} dot_general called in test_play_beside_jax.py:"
    calls = [number for number, text in enumerate(lines, 1) if "(dense(" in text and "in text" not in text]
    assert new == [f"{place}{number}" for number in calls]
    play.close()


def _kinds_as_written(found: Variant, arguments: Any, hold: Any, results: Any) -> dict[str, int]:
    """The collectives of the function with the constraints in it, traced with a variant's shardings."""
    specs = {path: own.spec for own in found.controls.groups for path in own.paths}
    names = dict(zip(("base", "low", "x"), arguments, strict=True))
    split_so = {
        name: jax.tree_util.tree_map_with_path(
            lambda path, leaf, name=name: split(leaf.shape, *(specs[name + jax.tree_util.keystr(path)] or ())), tree
        )
        for name, tree in names.items()
    }
    out = jax.tree_util.tree_map_with_path(
        lambda path, _: NamedSharding(MESH, P(*results["result" + jax.tree_util.keystr(path)])), names["low"]
    )
    written = jax.jit(functools.partial(adapted, hold=hold), out_shardings=out)
    return dict(Counter(row.kind for row in pi.inspect(written, *split_so.values(), effort="partition").collectives))
