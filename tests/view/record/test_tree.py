"""The skeleton of a program as text: loops and scopes, kernels folded, collectives with axes, bytes and cause."""

from __future__ import annotations

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect


@functools.cache
def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))


def put(shape: tuple[int, ...], *spec: str | None) -> jax.Array:
    return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh(), P(*spec)))


def tree_of(record) -> list[str]:
    return repr(record.show("tree")).splitlines()


def mlp(x, w1, w2):
    with jax.named_scope("mlp"):
        h = jnp.tanh(x @ w1)
        return h @ w2


def layers(x, ws):
    def body(h, w):
        with jax.named_scope("layer"):
            return jnp.tanh(h @ w), None

    return jax.lax.scan(body, x, ws)[0].sum()


@functools.cache
def record_of(name: str):
    if name == "mlp":
        sizes = (put((256, 512), "data", None), put((512, 2048), None, "model"), put((2048, 512), "model", None))
        return pjit_inspect.inspect(mlp, *sizes)
    return pjit_inspect.inspect(layers, put((64, 64), "data", None), put((5, 64, 64), None, "model", None))


def test_a_matmul_and_its_sum_are_one_line_with_axis_bytes_and_cause():
    # `h @ w2` sums over 2,048 hidden units on `model`; a ring over 4 sends 2 x 3/4 of 128 x 512 floats: 384 KiB.
    line = mlp.__code__.co_firstlineno + 3
    found = [one for one in tree_of(record_of("mlp")) if "all-reduce" in one]
    assert len(found) == 1
    assert found[0].startswith("  mlp: ")
    assert found[0].endswith(f"-> all-reduce model 384 KiB [implicit: contraction, line {line}]")
    # Its two matmuls stand before it, in order.
    assert found[0].count("dot_general") == 2 or "2 dot_general" in found[0]


def test_the_head_is_that_of_the_display():
    text = " ".join(line.strip() for line in tree_of(record_of("mlp")))
    assert text.startswith("mlp  jit  called at ")
    assert "mesh data=2 x model=4, 8 cpu devices 1 collective; each device sends 384 KiB per call" in text


def test_a_loop_has_its_trip_count_and_what_runs_in_it_is_indented():
    lines = tree_of(record_of("layers"))
    at = next(i for i, line in enumerate(lines) if re.search(r", 5 times\b", line))
    depth = len(lines[at]) - len(lines[at].lstrip())
    inside = lines[at + 1]
    assert len(inside) - len(inside.lstrip()) > depth
    # Each device has 16 of 64 rows of every weight: gathered, or summed after the matmul, in every turn.
    moved = [line for line in lines[at + 1 :] if re.search("(all-gather|all-reduce|reduce-scatter) model ", line)]
    assert any(len(line) - len(line.lstrip()) > depth for line in moved)
    # The sum at the end runs once, outside.
    (once,) = (line for line in lines if "reduce_sum" in line and "all-reduce" in line)
    assert len(once) - len(once.lstrip()) <= depth


@pytest.mark.parametrize("name", ["mlp", "layers"])
def test_every_collective_stands_once(name):
    kinds = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
    number = 0
    for line in tree_of(record_of(name)):
        alike = re.search(r"\((\d+) alike\)", line)
        assert alike is None
        for found in re.finditer(rf"(?:{kinds}) [^\[]*?(?: x (\d+))? \[", line):
            number += int(found[1] or 1)
    assert number == len(record_of(name).collectives)


@pytest.mark.parametrize("name", ["mlp", "layers"])
def test_lines_are_at_most_a_hundred_columns_and_the_same_each_time(name):
    lines = tree_of(record_of(name))
    assert max(map(len, lines)) <= 100
    assert lines == tree_of(record_of(name))
    assert lines == [line.rstrip() for line in lines]


def test_equal_layers_are_shown_once_with_their_number():
    def step(x, ws):
        for i, w in enumerate(ws):
            with jax.named_scope(f"layer{i}"):
                x = jnp.sin(jnp.tanh(x @ w[0]) @ w[1])
        return x

    ws = [(put((64, 64), None, "model"), put((64, 64), "model", None)) for _ in range(6)]
    record = pjit_inspect.inspect(step, put((64, 64), "data", None), ws)
    lines = tree_of(record)
    folded = [line for line in lines if "alike" in line]
    assert folded, lines
    # Shown layers times their number, and the rest, are all six sums.
    shown = 0
    times = 1
    for line in lines[2:]:
        alike = re.search(r"\((\d+) alike\)", line)
        if not line.startswith("    "):
            times = int(alike[1]) if alike else 1
        shown += line.count("all-reduce model") * times
    assert shown == len(record.collectives) == 6


def test_a_record_without_hlo_says_why():
    record = pjit_inspect.CompileRecord(record_of("mlp").data)
    record.forget_programs("tried in a test")
    assert "tried in a test" in repr(record.show("tree"))
