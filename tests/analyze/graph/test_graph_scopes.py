"""JAX's names tell scopes and phases. The names are ones that XLA printed; JAX 0.12 writes `eval_jaxpr`."""

from __future__ import annotations

import pytest
from graph_cases import op, program

from pjit_inspect.analyze.graph.scopes import Name, Scopes, read_names
from pjit_inspect.model.report.graph_columns import PHASES

DEEP = "/".join(f"s{k}" for k in range(10_000))


def read(*names: str) -> tuple[list[tuple[Name, ...]], Scopes]:
    module = program("\n".join(op(f"k{n}", "negate", "q", at=name) for n, name in enumerate(names)))
    scopes = Scopes()
    found = dict(zip(module.op_names, read_names(module, scopes), strict=True))
    return [found[name] for name in names], scopes


def told(name: str) -> list[tuple[str, str, str]]:
    """Scope, phase and label of every operation a name stands for."""
    [members], scopes = read(name)
    return [
        (
            "/".join(scopes.names[row] for row in scopes.path(member.scope)),
            PHASES[member.phase] if member.phase >= 0 else "",
            member.label,
        )
        for member in members
    ]


@pytest.mark.parametrize(("name", "scope", "phase", "label"), [
    ("jit(step)/mul", "", "", "mul"),
    ("jit(step)/jvp()/gather", "", "forward", "gather"),
    ("jit(step)/jvp(layer0)/attn/btd,dhk->bthk/dot_general", "layer0/attn", "forward", "btd,dhk->bthk"),
    ("jit(step)/transpose(jvp(layer0))/mlp/dot_general", "layer0/mlp", "backward", "dot_general"),
    ("jit(step)/jvp(jit(take_along_axis))/gather", "", "forward", "take_along_axis"),
    ("jit(step)/jvp(layer1)/attn/jit(_where)/select_n", "layer1/attn", "forward", "_where"),
    ("jit(step)/optimizer/mul", "optimizer", "update", "mul"),
    ("jit(f)/encoder/layers_0/ffn/dot_general", "encoder/layers_0/ffn", "", "dot_general"),
    ("jit(f)/jvp(a/b)/dot_general", "a/b", "forward", "dot_general"),
    ("jit(f)/vmap(jvp(a))/sin", "a", "forward", "sin"),
    ("jit(f)/shard_map/up/dot_general", "up", "", "dot_general"),
    ("jit(f)/jvp()/while/body/closed_call/mlp/tanh", "loop/mlp", "forward", "tanh"),
    ("jit(f)/jvp()/while/body/eval_jaxpr/mlp/tanh", "loop/mlp", "forward", "tanh"),
    ("jit(f)/jvp()/while/body/eval_jaxpr/outer/while/body/eval_jaxpr/inner/tanh", "loop/outer/loop/inner", "forward",
     "tanh"),
    ("jit(f)/while/cond/lt", "loop", "", "lt"),
    ("jit(f)/layer0/cond/branch_1_fun/sin", "layer0/branch 1", "", "sin"),
    ("jit(f)/body/cond/sin", "body/cond", "", "sin"),
    ("jit(f)/transpose(jvp())/while/body/closed_call/checkpoint/rematted_computation/attn/dot_general", "loop/attn",
     "recompute", "dot_general"),
    ("jit(f)/transpose(jvp(model))/layer0/jvp(model)/layer0/checkpoint/mlp/mul", "model/layer0/mlp", "backward", "mul"),
    ("jit(f)/transpose(jvp(model))/layer0/jvp(model)/layer0/checkpoint/rematted_computation/mlp/sin",
     "model/layer0/mlp", "recompute", "sin"),
    ("jit(f)/transpose(jvp(m))/while/body/eval_jaxpr/in/in/checkpoint/attn/mul", "m/loop/in/attn", "backward", "mul"),
    ("jit(f)/jvp(m)/twice/twice/mul", "m/twice/twice", "forward", "mul"),
    ("jit(f)/a(b/c/d", "a(b/c", "", "d"),
])  # fmt: skip
def test_a_name_tells_scope_and_phase(name: str, scope: str, phase: str, label: str):
    assert told(name) == [(scope, phase, label)]


@pytest.mark.parametrize("name", ["broadcast.12", "iota.3", "params['layers'][3]['w1']", "x", "params['a/b']"])
def test_what_is_no_path_tells_nothing(name: str):
    assert told(name) == []


def test_a_combined_name_stands_for_several_operations():
    assert told("jit(f)/(jvp(a)/dot:transpose(jvp(b))/dot)") == [
        ("a", "forward", "dot"),
        ("b", "backward", "dot"),
    ]
    assert told("jit(f)/jvp(a)/mul;jit(f)/jvp(b)/add") == [("a", "forward", "mul"), ("b", "forward", "add")]


def test_a_jitted_function_with_scopes_in_it_is_the_users():
    (plain, scoped), scopes = read("jit(f)/jit(helper)/mul", "jit(f)/jit(block)/attn/mul")
    assert (plain[0].scope, plain[0].label) == (0, "helper")
    assert [scopes.names[row] for row in scopes.path(scoped[0].scope)] == ["block", "attn"]
    assert scopes.kinds[scopes.path(scoped[0].scope)[0]] == "function"


def test_a_jitted_function_in_a_users_file_is_the_users():
    import jax
    import jax.numpy as jnp
    from graph_cases import compiled, rows

    @jax.jit
    def own_block(x):
        return jnp.where(x > 0, jnp.tanh(x), 0.0)

    graph = compiled(lambda x: own_block(x @ x) @ x, jnp.ones((4, 4)))
    assert any("own_block" in row for row in rows(graph))
    assert not any("where" in row for row in rows(graph))


def test_equal_scopes_are_one_and_parents_stand_first():
    (first, second), scopes = read("jit(f)/jvp(a)/b/mul", "jit(f)/transpose(jvp(a))/b/add")
    assert first[0].scope == second[0].scope
    assert all(parent < row for row, parent in enumerate(scopes.parents))


def test_scopes_too_deep_are_one_with_the_last_that_is_not():
    [members], scopes = read(f"jit(f)/{DEEP}/mul")
    assert 0 < len(scopes.path(members[0].scope)) < 100
    assert members[0].label == "mul"
