"""Programs of every sort, compiled here for 8 fake devices: what `GRAPH.md` had not tried (its section 9).

Expected rows are the scopes the program is written with.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter
from importlib.metadata import version
from typing import Any

import pytest
from data import hlo_fixtures as fixtures
from graph_cases import arrows, box, graph_of, path, rows, where

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.graph.build import find_graph
from pjit_inspect.analyze.graph.fold import count_shown
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.parse.hlo_proto.hlo import parse_program

WIDTH, HIDDEN, BATCH = 32, 64, 16


@functools.cache
def mesh() -> Any:
    import jax
    import numpy as np

    return jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))


def array(shape: tuple[int, ...], *spec: str | None) -> Any:
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    return jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(mesh(), PartitionSpec(*spec)))


def block(p: dict[str, Any], x: Any) -> Any:
    import jax.numpy as jnp

    return x + jnp.tanh(x @ p["w1"]) @ p["w2"]


def weights(count: int) -> list[dict[str, Any]]:
    one = {"w1": array((WIDTH, HIDDEN), "data", "model"), "w2": array((HIDDEN, WIDTH), "model", "data")}
    return [dict(one) for _ in range(count)]


def stacked(count: int) -> dict[str, Any]:
    return {
        "w1": array((count, WIDTH, HIDDEN), None, "data", "model"),
        "w2": array((count, HIDDEN, WIDTH), None, "model", "data"),
    }


def step(loss: Any) -> Any:
    import jax

    def train(ps, x):
        value, gradients = jax.value_and_grad(loss)(ps, x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, ps, gradients), value

    return train


def compiled(function: Any, *arguments: Any) -> ProgramGraph:
    """The graph, checked for what holds always."""
    import jax

    executable = jax.jit(function).lower(*arguments).compile().runtime_executable()
    module = parse_program(executable.hlo_modules()[0].as_serialized_hlo_module_proto())
    table = find_collectives(module, fixtures.mesh_of(mesh()))
    graph = find_graph(module, table)
    assert count_shown(graph) == len(table)
    return graph


def x_in() -> Any:
    return array((BATCH, WIDTH), "data", None)


def phases(graph: ProgramGraph, row: str) -> set[str]:
    return {PHASES[b.phase] for b in graph.boxes if path(graph, b.row) == row}


def test_inference_has_one_column_and_folded_layers():
    import jax

    def infer(ps, x):
        for k, p in enumerate(ps):
            with jax.named_scope(f"layer{k}"):
                x = block(p, x)
        with jax.named_scope("logits"):
            return jax.nn.softmax(x @ ps[0]["w1"])

    graph = compiled(infer, weights(4), x_in())
    assert (graph.phases, graph.is_differentiated) == ((0,), False)
    assert [row for row in rows(graph) if "/" not in row][:5] == ["layer0", "layer1", "layer2", "layer3", "logits"]
    [fold] = graph.folds
    assert len(fold.members) == 4


def scan_loss(ps: Any, x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    with jax.named_scope("embed"):
        x = jnp.sin(x) @ ps["e"]

    def body(x, p):
        with jax.named_scope("mlp"):
            x = block(p, x)
        with jax.named_scope("attn"):
            return x + jnp.cos(x) @ p["w1"] @ p["w2"], None

    x, _ = jax.lax.scan(jax.checkpoint(body), x, ps["s"])
    with jax.named_scope("logits"):
        return ((x @ ps["o"]) ** 2).mean()


def test_a_checkpointed_scan_has_a_loop_with_four_phases():
    ps = {"s": stacked(4), "e": array((WIDTH, WIDTH), None, "model"), "o": array((WIDTH, HIDDEN), "model", None)}
    graph = compiled(step(scan_loss), ps, x_in())
    loop = next(number for number, row in enumerate(graph.rows) if row.kind == "loop")
    assert graph.rows[loop].loop_trips == 4
    inner = [graph.rows[child].name for child in graph.rows[loop].children]
    assert [name for name in inner if name in ("mlp", "attn")] == ["mlp", "attn"]
    assert {"forward", "recompute", "backward"} <= phases(graph, "loop/mlp")
    assert box(graph, "loop/mlp", "forward").iterations == 4
    within = [held for each in graph.boxes if each.row in graph.rows[loop].children for held in each.collectives]
    assert within
    assert [held.runs for held in within] == [4 * len(held.collectives) for held in within]
    # Values enter the forward loop, and leave it for what comes after.
    forward = [pair for pair in arrows(graph) if pair[0].endswith("forward") and pair[1].endswith("forward")]
    out = [pair for pair in forward if pair[0].startswith("loop") and not pair[1].startswith("loop")]
    into = [pair for pair in forward if not pair[0].startswith("loop") and pair[1].startswith("loop")]
    assert out
    assert into


def test_a_checkpoint_does_not_write_its_scopes_twice():
    import jax

    def loss(ps, x):
        with jax.named_scope("model"):
            for k, p in enumerate(ps):
                with jax.named_scope(f"layer{k}"):
                    x = jax.checkpoint(block)(p, x)
        return (x**2).mean()

    graph = compiled(step(loss), weights(3), x_in())
    names = [row.name for row in graph.rows]
    assert [names.count(f"layer{k}") for k in range(3)] == [1, 1, 1]
    assert names.count("model") == 1
    assert {"forward", "recompute", "backward", "update"} <= {
        PHASES[b.phase] for b in graph.boxes if "layer1" in path(graph, b.row)
    }


def test_loops_in_loops_count_together():
    import jax
    import jax.numpy as jnp

    def nested(ps, x):
        def outer(x, p):
            def inner(x, _):
                with jax.named_scope("inner"):
                    return jnp.tanh(x @ p["w1"] @ p["w2"]), None

            with jax.named_scope("outer"):
                return jax.lax.scan(inner, x, None, length=3)[0], None

        return (jax.lax.scan(outer, x, ps)[0] ** 2).mean()

    graph = compiled(step(nested), stacked(4), x_in())
    assert box(graph, "loop/outer/loop/inner", "forward").iterations == 12
    trips = {path(graph, number): row.loop_trips for number, row in enumerate(graph.rows) if row.kind == "loop"}
    assert trips == {"loop": 4, "loop/outer/loop": 3}
    # XLA moves what does not change from the inner loop into the outer one.
    moved = [row for row in rows(graph) if row.endswith(", outside the loop")]
    assert moved
    assert all(row.count("loop") < "loop/outer/loop/inner, outside the loop".count("loop") for row in moved)


def test_a_mixture_of_experts_has_its_scopes_in_order():
    import jax
    import jax.numpy as jnp

    def moe(ps, x):
        with jax.named_scope("router"):
            gate = jax.nn.softmax(x @ ps["r"], -1)
            _, chosen = jax.lax.top_k(gate, 2)
        with jax.named_scope("dispatch"):
            share = jax.nn.one_hot(chosen, 8).sum(1)
            sent = jnp.einsum("be,bd->ebd", share, x)
        with jax.named_scope("experts"):
            hidden = jax.nn.gelu(jnp.einsum("ebd,edf->ebf", sent, ps["w1"]))
            out = jnp.einsum("ebf,efd->ebd", hidden, ps["w2"])
        with jax.named_scope("combine"):
            return (jnp.einsum("ebd,be->bd", out, share * gate) ** 2).mean()

    ps = {
        "r": array((WIDTH, 8), None, None),
        "w1": array((8, WIDTH, HIDDEN), "model", None, None),
        "w2": array((8, HIDDEN, WIDTH), "model", None, None),
    }
    graph = compiled(step(moe), ps, x_in())
    order = [row for row in rows(graph) if row in ("router", "dispatch", "experts", "combine")]
    assert order == ["router", "dispatch", "experts", "combine"]
    assert {"forward", "backward", "update"} <= phases(graph, "experts")


def test_shard_map_keeps_the_scopes_around_and_in_it():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    @functools.partial(
        jax.shard_map,
        mesh=mesh(),
        in_specs=({"w1": P(None, "model"), "w2": P("model", None)}, P("data", None)),
        out_specs=P("data", None),
    )
    def manual(p, x):
        with jax.named_scope("up"):
            h = jnp.tanh(x @ p["w1"])
        with jax.named_scope("down"):
            return jax.lax.psum(h @ p["w2"], "model")

    def loss(ps, x):
        for k, p in enumerate(ps):
            with jax.named_scope(f"block_{k}"):
                x = manual(p, x)
        return (x**2).mean()

    graph = compiled(step(loss), weights(3), x_in())
    found = rows(graph)
    assert [row for row in found if row.startswith("block_1")][:1] == ["block_1"]
    assert {"block_1/up", "block_1/down"} <= set(found)
    sums = box(graph, "block_1/down", "forward").collectives
    found = [(held.axes, len(held.collectives)) for held in sums if held.kind == "all-reduce"]
    assert found == [(("model",), 1)]


def test_branches_of_a_conditional_are_rows_that_run_at_most_once():
    import jax
    import jax.numpy as jnp

    def choose(ps, x):
        for k, p in enumerate(ps):
            with jax.named_scope(f"layer{k}"):
                x = jax.lax.cond(x.sum() > 0, lambda x, p=p: jnp.sin(x @ p["w1"]) @ p["w2"], lambda x: x - 1.0, x)
        return x

    graph = compiled(choose, weights(2), x_in())
    assert {"layer0/branch 0", "layer0/branch 1", "layer1/branch 1"} <= set(rows(graph))
    assert {row.kind for row in graph.rows} >= {"branch"}
    [fold] = graph.folds
    assert len(fold.members) == 2


def test_a_pipeline_sends_in_a_loop():
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(ps, x):
        @functools.partial(
            jax.shard_map,
            mesh=mesh(),
            in_specs=(P("model"), P("data", None)),
            out_specs=P("data", None),
            check_vma=False,
        )
        def stages(w, x):
            def tick(c, _):
                return jax.lax.ppermute(jnp.tanh(c @ w[0]), "model", [(i, (i + 1) % 4) for i in range(4)]), None

            return jax.lax.scan(tick, x, None, length=7)[0]

        return (stages(ps, x) ** 2).mean()

    graph = compiled(step(loss), array((4, WIDTH, WIDTH), "model", None, None), x_in())
    forward = box(graph, "loop", "forward")
    assert [(held.kind, held.runs) for held in forward.collectives] == [("collective-permute", 7)]


def test_an_optimizer_with_a_scope_of_its_own_updates_layer_by_layer():
    import jax
    import jax.numpy as jnp

    def loss(ps, x):
        for k, p in enumerate(ps):
            with jax.named_scope(f"layer{k}"):
                x = block(p, x)
        return (x**2).mean()

    def train(state, x):
        gradients = jax.grad(loss)(state["params"], x)
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(gradients)))
        with jax.named_scope("optimizer"):
            mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g / norm, state["mu"], gradients)
            return {"params": jax.tree.map(lambda p, m: p - 0.1 * m, state["params"], mu), "mu": mu}

    graph = compiled(train, {"params": weights(4), "mu": weights(4)}, x_in())
    updated = {path(graph, b.row): b.kernels for b in graph.boxes if PHASES[b.phase] == "update"}
    assert {f"layer{k}" for k in range(4)} <= set(updated)
    assert sum(updated[f"layer{k}"] for k in range(4)) > 0.5 * sum(updated.values())


@pytest.mark.parametrize("is_checkpointed", [False, True])
def test_layers_without_scopes_are_found_by_their_arguments(is_checkpointed: bool):
    """Against the same program with scopes: a kernel's name is the same in both."""
    import jax

    def loss(ps, x, *, named: bool):
        one = jax.checkpoint(block) if is_checkpointed else block
        for k, p in enumerate(ps):
            with jax.named_scope(f"ps[{k}]") if named else contextlib.nullcontext():
                x = one(p, x)
        return (x**2).mean()

    guessed = compiled(step(functools.partial(loss, named=False)), weights(6), x_in())
    true = compiled(step(functools.partial(loss, named=True)), weights(6), x_in())
    assert (guessed.has_scopes, true.has_scopes) == (False, True)
    right, total = Counter[str](), Counter[str]()
    for kernel in set(guessed.kernels.names) & set(true.kernels.names):
        row, phase, _ = where(guessed, kernel)
        truth = where(true, kernel)[0].split("/")[0]
        if truth.startswith("ps["):
            total[phase] += 1
            right[phase] += row.split("/")[0] == truth
    assert all(right[phase] >= 0.8 * total[phase] for phase in total)
    assert sum(right.values()) >= 0.9 * sum(total.values())
    assert "argument" in {row.kind for row in guessed.rows}


def test_a_program_of_one_operation():
    import jax.numpy as jnp

    graph = graph_of(fixtures.compiled(jnp.sin, jnp.ones(3)))
    assert rows(graph) == ["all"]
    assert len(graph.kernels) == 1


# One function that does everything: its lines are rows.


def scaled(x: Any) -> Any:
    import jax

    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def everything(p: dict[str, Any], x: Any) -> Any:
    import jax

    x = scaled(x)  # two lines call the helper: it alone would name every row
    hidden = x @ p["w1"]
    x = scaled(jax.lax.sort(hidden)) @ p["w2"]
    return jax.lax.cumsum(x, 0)


@pytest.mark.skipif(
    version("jaxlib") == "0.8.1", reason="jaxlib 0.8.1 does not tell which of two calls of a helper an operation is of"
)
def test_where_one_function_does_everything_its_lines_are_rows_and_a_helper_stands_on_its_own():
    start = everything.__code__.co_firstlineno
    graph = compiled(everything, weights(1)[0], array((BATCH, WIDTH), "data", None))
    labels = [row.label for row in graph.rows if row.label]
    assert f"line {start + 4}" in labels  # the first product
    assert f"line {start + 5}" in labels  # the sort, the helper and the second product together
    assert f"line {start + 6}" in labels
    products = {graph.rows[one.row].label for one in graph.boxes if one.matmuls}
    assert products == {f"line {start + 4}", f"line {start + 5}"}
