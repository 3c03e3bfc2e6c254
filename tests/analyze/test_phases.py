"""JAX's names tell the phase of training, and who wrote a collective."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.phases import find_implicit, find_phase, split_op_names


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
    ],
)
def test_names_of_combined_operations_come_apart(op_name: str, expected: tuple[str, ...]):
    assert split_op_names(op_name) == expected


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
    ],
)
def test_the_phase_is_what_the_name_says(op_name: str, expected: str | None):
    assert find_phase(op_name) == expected


@pytest.mark.parametrize(
    ("op_name", "attributes", "expected"),
    [
        ("jit(f)/dot_general", {}, True),
        ("jit(f)/reshard", {}, True),
        ("jit(f)/shard_map/psum_invariant", {}, False),
        ("jit(f)/jvp()/shard_map/while/body/all_gather", {}, False),
        ("jit(f)/shard_map/dot_general", {}, True),
        ("jit(f)/psum", {}, True),  # a scope of that name outside any shard_map
        ("", {}, None),
        ("x", {"is_spmd_generated": "true"}, True),
        ("jit(f)/shard_map/psum", {"is_spmd_generated": "true"}, True),
        ("jit(f)/(shard_map/psum:dot_general)", {}, None),
    ],
)
def test_who_wrote_a_collective(op_name: str, attributes: dict[str, str], expected: bool | None):
    assert find_implicit(op_name, attributes) is expected
