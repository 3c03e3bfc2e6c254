"""JAX's names tell the phase of training, and who wrote a collective."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pjit_inspect
from pjit_inspect.analyze.program.phases import find_implicit, find_phase, split_op_names, transposed, untransposed
from pjit_inspect.model.program.source import Frame


@pytest.mark.parametrize(
    ("op_name", "expected"),
    [
        ("", ()),
        ("jit(f)/dot_general", ("jit(f)/dot_general",)),
        ("jit(f)/jvp(up)/dot_general", ("jit(f)/jvp(up)/dot_general",)),
        (
            "jit(step)/(jvp()/reduce_sum:transpose(jvp(up))/dot_general)",
            ("jit(step)/jvp()/reduce_sum", "jit(step)/transpose(jvp(up))/dot_general"),
        ),
        ("(jit(f)/a:jit(f)/b)", ("jit(f)/a", "jit(f)/b")),
        ("jit(f)/mul;jit(f)/add", ("jit(f)/mul", "jit(f)/add")),
        ("jit(f)/btd,dhk->bthk/dot_general", ("jit(f)/btd,dhk->bthk/dot_general",)),
        ("jit(f)/scope:0/add", ("jit(f)/scope:0/add",)),
        ("params['w:0']", ("params['w:0']",)),
        ("params['w'];jit(f)/add", ("params['w']", "jit(f)/add")),
        ("jit(f)/add;params['w']", ("jit(f)/add", "params['w']")),
        ("jit(f)/shard_map/a;b/psum", ("jit(f)/shard_map/a;b/psum",)),  # a scope of the user
    ],
)
def test_names_of_combined_operations_come_apart(op_name: str, expected: tuple[str, ...]):
    assert split_op_names(op_name) == expected


@pytest.mark.parametrize(
    ("forward", "backward", "is_its"),
    [
        ("jit(f)/jvp()/tanh", "jit(f)/transpose(jvp())/mul", True),
        ("jit(f)/jvp(metrics)/sum", "jit(f)/transpose(jvp(layer))/dot_general", True),
        ("jit(f)/vmap(jvp())/tanh", "jit(f)/vmap(transpose(jvp()))/mul", True),
        ("jit(f)/jvp(vmap())/tanh", "jit(f)/transpose(jvp(vmap()))/mul", True),
        ("jit(f)/jvp()/tanh", "jit(f)/vmap(transpose(jvp()))/mul", False),  # another differentiation
        ("jit(f)/a/jvp()/tanh", "jit(f)/b/transpose(jvp())/mul", False),
        ("jit(f)/jvp(jvp())/tanh", "jit(f)/jvp(transpose(jvp()))/mul", False),  # the outer one has tangents
        ("jit(f)/jvp()/tanh", "jit(f)/transpose", False),
    ],
)
def test_what_is_forward_of_a_gradient_is_known_by_its_transposition(forward: str, backward: str, is_its: bool):
    assert (untransposed(forward) <= transposed(backward)) is is_its
    assert not untransposed("jit(f)/tanh")


@pytest.mark.parametrize(
    ("op_name", "expected"),
    [
        ("jit(step)/jvp(layer0)/mlp/dot_general", "forward"),
        ("jit(step)/transpose(jvp(layer0))/mlp/dot_general", "backward"),
        ("jit(step)/transpose(jvp(layer0))/rematted_computation/dot_general", "recompute"),
        ("jit(step)/optimizer/add", "optimizer"),
        ("jit(step)/add", None),
        ("jit(f)/jit(optimizer_step)/add", None),  # a name that only resembles
        ("", None),
        ("jit(f)/(transpose(jvp())/a:transpose(jvp())/b)", "backward"),
        ("jit(f)/(jvp()/a:transpose(jvp())/b)", None),
        ("jit(f)/transpose", None),  # the operation, not differentiation
        ("jit(f)/transpose(q)/psum", None),  # a scope of the user
        ("jit(f)/vmap(transpose(jvp(layer)))/dot_general", "backward"),
        ("jit(f)/transpose(jvp(layer/up))/dot_general", "backward"),
        ("jit(f)/jvp(jit(sgd))/add", "forward"),
        ("jit(f)/shard_map/step/transpose(step)/jvp(gather)/reduce_scatter", "backward"),
        ("jit(f)/step/jvp(gather)/transpose(x)/mul", "forward"),
        ("jit(sgd)/shard_map/psum", None),  # the name of a function, not of a scope
        ("jit(f)/jit(adam)/add", None),
        ("jit(f)/vmap(optimizer)/add", "optimizer"),
        ("jit(f)/vmap(adam)/add", None),  # somebody's scope may be called anything
        ("jit(f)/adam/dot_general", None),
        ("jit(f)/sgd/dot_general", None),
        ("jit(f)/optim/dot_general", None),
        ("jit(f)/apply_updates/dot_general", None),
        ("jit(f)/momentum_encoder/dot_general", None),
        ("jit(f)/adapter/dot_general", None),
        ("jit(f)/jvp(adam)/dot_general", "forward"),
    ],
)
def test_the_phase_is_what_the_name_says(op_name: str, expected: str | None):
    assert find_phase(op_name) == expected


OPTAX = "/env/lib/python3.11/site-packages/optax"


@pytest.mark.parametrize(
    ("op_name", "file", "function", "expected"),
    [
        (
            "jit(step)/mul",
            f"{OPTAX}/_src/transform.py",
            "scale_by_adam.<locals>.update_fn.<locals>.<lambda>",
            "optimizer",
        ),
        ("jit(step)/add", f"{OPTAX}/_src/update.py", "apply_updates.<locals>.<lambda>", "optimizer"),
        ("jit(step)/mul", f"{OPTAX}/transforms/_adding.py", "add_decayed_weights.<locals>.update_fn", "optimizer"),
        ("jit(step)/mul", "C:\\env\\optax\\_src\\transform.py", "scale.<locals>.update_fn", "optimizer"),
        # What optax does inside a differentiated function belongs to that.
        ("jit(step)/jvp()/mul", f"{OPTAX}/_src/transform.py", "scale.<locals>.update_fn", "forward"),
        # A loss and a new state are no update; nor is what only bears such a name.
        ("jit(f)/mul", f"{OPTAX}/losses/_regression.py", "l2_loss", None),
        ("jit(f)/mul", f"{OPTAX}/_src/transform.py", "scale_by_adam.<locals>.init_fn", None),
        ("jit(f)/mul", "/home/me/optax_tricks/model.py", "update_fn", None),
        ("jit(f)/mul", "/home/me/adam.py", "update_fn", None),
        # One place of several operations does not tell of the others.
        ("jit(f)/(reduce_sum:reduce_max)", f"{OPTAX}/_src/transform.py", "scale.<locals>.update_fn", None),
    ],
)
def test_an_update_of_optax_is_known_by_its_frames(op_name: str, file: str, function: str, expected: str | None):
    frames = (
        Frame(file="/x/jax/_src/tree_util.py", line=3, function="tree_map"),
        Frame(file=file, line=7, function=function),
    )
    assert find_phase(op_name, frames) == expected


def test_the_updates_of_a_step_are_the_optimizers_and_a_loss_outside_of_it_is_not():
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    spec, auto = jax.sharding.PartitionSpec, jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((8,), ("data",), axis_types=(auto,))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))

    def placed(*entries: str | None):
        return jax.device_put(np.ones((16, 16), np.float32), jax.sharding.NamedSharding(mesh, spec(*entries)))

    def update(reduced, grads, state, params):
        changes, state = tx.update(grads, state, params)
        return optax.apply_updates(params, changes), state, reduced(optax.l2_loss(params["w"]))

    params = {"w": placed("data")}
    given = params, tx.init(params), params
    record = pjit_inspect.inspect(functools.partial(update, jax.numpy.max), *given)
    phases = {(row.phase, row.op_name.rpartition("/")[2]) for row in record.shardings}
    assert ("optimizer", "sqrt") in phases
    assert {(row.op_name.rpartition("/")[2], row.phase) for row in record.collectives} == {
        ("reduce_sum", "optimizer"),  # the norm for clipping
        ("reduce_max", None),
    }
    # XLA sums both norm and loss at once.
    (combined,) = pjit_inspect.inspect(functools.partial(update, jax.numpy.mean), *given).collectives
    assert (combined.operands, combined.phase) == (2, None)


@pytest.mark.parametrize(
    ("op_name", "attributes", "expected"),
    [
        ("jit(f)/dot_general", {}, True),
        ("jit(f)/reshard", {}, True),
        ("jit(f)/shard_map/psum_invariant", {}, False),
        ("jit(f)/jvp()/shard_map/while/body/all_gather", {}, False),
        ("jit(f)/shard_map/dot_general", {}, True),
        ("", {}, None),
        ("x", {"is_spmd_generated": "true"}, True),
        ("jit(f)/shard_map/psum", {"is_spmd_generated": "true"}, True),
        ("jit(f)/(shard_map/psum:dot_general)", {}, None),
    ],
)
def test_who_wrote_a_collective(op_name: str, attributes: dict[str, str], expected: bool | None):
    kind = "all-gather" if op_name.endswith("all_gather") else "all-reduce"
    assert find_implicit(op_name, attributes, kind, {1}) is expected


@pytest.mark.parametrize(
    ("op_name", "kind", "channels", "expected"),
    [
        ("jit(f)/shard_map/psum", "all-reduce", {1}, False),
        ("jit(f)/shard_map/psum", "all-reduce", {None}, False),  # replicas, as in the old pmap
        ("jit(f)/shard_map/psum", "all-reduce", {2}, None),  # made for what is summed, or by the backend
        ("jit(f)/shard_map/psum", "reduce-scatter", {1}, False),
        ("jit(f)/shard_map/psum", "all-gather", {1}, None),
        ("jit(f)/shard_map/pmax", "reduce-scatter", {1}, None),
        ("jit(f)/shard_map/reduce_scatter", "reduce-scatter", {1}, False),
        ("jit(f)/shard_map/reduce_scatter", "all-reduce", {1}, False),
        ("jit(f)/shard_map/all_to_all", "all-to-all", {1}, False),
        ("jit(f)/shard_map/all_to_all", "collective-permute", {3}, None),
        ("jit(f)/shard_map/ppermute", "collective-permute", {1, 2}, False),  # sends of one permute
        ("jit(f)/shard_map/dynamic_slice", "reduce-scatter", {4}, None),  # a psum may have become one
        ("jit(f)/dynamic_slice", "reduce-scatter", {4}, True),
        ("jit(f)/psum_invariant", "all-reduce", {1}, False),  # on a mesh of one device there is no shard_map
        ("jit(psum)/dot_general", "all-reduce", {1}, True),  # the name of a function
        ("jit(f)/shard_map/a;b/psum", "all-reduce", {1}, False),  # a scope of the user
        ("jit(f)/shard_map/f(x/psum", "all-reduce", {1}, False),  # a scope of the user
    ],
)
def test_a_name_proves_that_a_collective_was_written_only_with_kind_and_channel(
    op_name: str, kind: str, channels: set[int | None], expected: bool | None
):
    assert find_implicit(op_name, {}, kind, channels) is expected
