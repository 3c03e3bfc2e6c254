"""Measured times of one device: each test is one body, run on a CPU here and on a GPU with `--gpu`.

What is compared are counts and sums of one run: that all of the time has an owner, and that none is given twice. No
test says how long something takes. Not its job: reading traces that were kept (`test_traces.py`).
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl

import pjit_inspect as pi
from pjit_inspect.model.record.kernel_times import REGIONS, KernelTimes

Keep = Callable[..., None]

CALLS = 4
LAYERS = 3

Tree = dict[str, jax.Array]


def chain(x: jax.Array, w: jax.Array) -> jax.Array:
    # Eight kernels or so: XLA makes no command buffer of fewer than five.
    for _ in range(4):
        x = jnp.tanh(x @ w)
    return x


def layer(x: jax.Array, w: Tree) -> tuple[jax.Array, None]:
    heads = (x @ w["qkv"]).reshape(*x.shape[:2], 3, 4, -1)
    seen = jax.nn.dot_product_attention(heads[:, :, 0], heads[:, :, 1], heads[:, :, 2], is_causal=True)
    x = x + seen.reshape(x.shape) @ w["out"]
    return x + jax.nn.gelu(x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) @ w["up"]) @ w["down"], None


def loss(weights: Tree, tokens: jax.Array) -> jax.Array:
    x = weights["emb"][tokens[:, :-1]]
    x, _ = jax.lax.scan(jax.checkpoint(layer), x, {name: weights[name] for name in ("qkv", "out", "up", "down")})
    scores = jax.nn.log_softmax((x @ weights["emb"].T).astype(jnp.float32))
    return -jnp.take_along_axis(scores, tokens[:, 1:, None], -1).mean()


def train_step(weights: Tree, momentum: Tree, tokens: jax.Array) -> tuple[Tree, Tree, jax.Array]:
    value, gradient = jax.value_and_grad(loss)(weights, tokens)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradient)
    return jax.tree.map(lambda w, m: w - 0.01 * m, weights, momentum), momentum, value


def branch(x: jax.Array) -> jax.Array:
    x = jax.lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, jnp.sin(c[1] @ c[1]) * 0.1), (0, x))[1]
    return jax.lax.cond(x[0, 0] > 2, lambda x: jnp.cos(x) + 1, lambda x: jnp.exp(x) @ x, x)


def libraries(x: jax.Array) -> tuple[Any, ...]:
    top = jax.lax.top_k(x, 8)
    factor = jnp.linalg.cholesky(x @ x.T + x.shape[0] * jnp.eye(x.shape[0]))
    solved = jax.scipy.linalg.solve_triangular(factor, x[:, 0], lower=True)
    image = jax.lax.conv(x[None, None], jnp.ones((4, 1, 3, 3), x.dtype), (1, 1), "SAME")
    return top, solved, jnp.abs(jnp.fft.fft2(x)), image


def attention(weights: Tree, x: jax.Array) -> tuple[jax.Array, Tree]:
    def cost(weights: Tree) -> jax.Array:
        heads = (x @ weights["qkv"]).reshape(*x.shape[:2], 3, 4, -1)
        implementation = "cudnn" if jax.default_backend() == "gpu" else None
        query, key, value = (heads[:, :, row] for row in range(3))
        seen = jax.nn.dot_product_attention(query, key, value, is_causal=True, implementation=implementation)
        return jnp.square((seen.reshape(x.shape) @ weights["out"]).astype(jnp.float32)).mean()

    return jax.value_and_grad(cost)(weights)


def experts(x: jax.Array) -> jax.Array:
    # One long sort, which XLA's own kernels do in stages, and copies around it.
    best = jnp.argmax(x, -1)
    order = jnp.argsort(jnp.tile(best, 32))
    gathered = jnp.tanh(x @ x)[order % x.shape[0]]
    return jnp.zeros_like(x).at[order % x.shape[0]].add(gathered)


def doubled(x: jax.Array) -> jax.Array:
    def double_it(given: Any, out: Any) -> None:
        out[...] = given[...] * 2.0

    block = pl.BlockSpec((64, x.shape[1]), lambda row: (row, 0))
    call = pl.pallas_call(
        double_it,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(x.shape[0] // 64,),
        in_specs=[block],
        out_specs=block,
        interpret=jax.default_backend() == "cpu",
        name="double_it",
    )
    return call(jnp.tanh(call(x @ x)) @ call(x)) @ x


def decode(x: jax.Array) -> jax.Array:
    """A loop whose length depends on what it computes, around one whose length is known."""

    def token(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        def layer(x: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
            return jnp.tanh(x @ w + jnp.sin(x).sum(-1, keepdims=True)), None

        turn, x = state
        return turn + 1, jax.lax.scan(layer, x, jnp.stack([x, x + 1]))[0]

    return jax.lax.while_loop(lambda state: (state[0] < 3) & (state[1] < 9).all(), token, (jnp.int32(0), x))[1]


def arguments(name: str, device: jax.Device) -> tuple[Any, ...]:
    draw = np.random.default_rng(0)

    def numbers(*shape: int) -> jax.Array:
        return jax.device_put(draw.normal(0, 0.1, shape).astype(np.float32), device)

    if name == "train_step":
        width = 256
        blocks = {"qkv": 3 * width, "out": width, "up": 4 * width}
        weights = {key: numbers(LAYERS, width, size) for key, size in blocks.items()}
        weights |= {"down": numbers(LAYERS, 4 * width, width), "emb": numbers(1000, width)}
        tokens = jax.device_put(draw.integers(0, 1000, (4, 129)).astype(np.int32), device)
        return weights, {key: jnp.zeros_like(value) for key, value in weights.items()}, tokens
    if name == "mlp":
        width = 64 if device.platform == "cpu" else 1024
        shapes = {"up": (width, 4 * width), "bias": (4 * width,), "down": (4 * width, width)}
        weights = {key: numbers(LAYERS, *shape) for key, shape in shapes.items()} | {"emb": numbers(1000, width)}
        tokens = jax.device_put(draw.integers(0, 1000, (8, width // 2)).astype(np.int32), device)
        return {key: value.astype(jnp.bfloat16) for key, value in weights.items()}, tokens
    if name == "attention":
        width = 64 if device.platform == "cpu" else 256
        weights = {"qkv": numbers(width, 3 * width), "out": numbers(width, width)}
        return {key: value.astype(jnp.bfloat16) for key, value in weights.items()}, numbers(2, 256, width).astype(
            jnp.bfloat16
        )
    return tuple(numbers(512, 512) for _ in range(2 if name == "chain" else 1))


def mlp(weights: Tree, tokens: jax.Array) -> tuple[jax.Array, Tree]:
    def cost(weights: Tree) -> jax.Array:
        x = weights["emb"][tokens]
        for row in range(LAYERS):
            hidden = jax.nn.relu(x @ weights["up"][row] + weights["bias"][row])
            x = x + hidden @ weights["down"][row]
        return jnp.square(x.astype(jnp.float32)).mean()

    return jax.value_and_grad(cost)(weights)


FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "chain": (chain, {}),
    "train_step": (train_step, {"donate_argnums": (0, 1)}),
    "branch": (branch, {}),
    "libraries": (libraries, {}),
    # Products so large that XLA leaves some of them to cuBLAS, in a command buffer.
    "mlp": (mlp, {}),
    "attention": (attention, {}),
    "experts": (experts, {}),
    "doubled": (doubled, {}),
    "decode": (decode, {}),
}


def measured(name: str, device: jax.Device, **options: Any) -> tuple[pi.CompileRecord, float]:
    """The record of a function, called `CALLS` times under the profiler, and the seconds that these calls took."""
    function, more = FUNCTIONS[name]

    # Anew each time: a program that another test compiled could be this one, for all that the profiler says.
    def fresh(*args: Any) -> Any:
        return function(*args)

    fresh.__name__ = fresh.__qualname__ = name
    jitted, args = jax.jit(fresh, **more, **options), arguments(name, device)
    with pi.capture(measure=True) as log:
        began = time.perf_counter()
        for _ in range(CALLS):
            result = jax.block_until_ready(jitted(*args))
            args = (*result[:2], *args[2:]) if name == "train_step" else args
        seconds = time.perf_counter() - began
    return log[name], seconds


def times_of(record: pi.CompileRecord) -> KernelTimes:
    assert record.kernel_times is not None, record.data.missing
    return record.kernel_times


# Pallas warns on a GPU that its kernels of Triton's are deprecated (JAX 0.11).
@pytest.mark.filterwarnings("ignore:The Pallas Triton backend:DeprecationWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_that_ran_has_a_time_and_together_no_more_than_the_call(name: str, device: jax.Device, keep: Keep):
    if name == "doubled" and device.platform == "cpu":
        pytest.skip("JAX compiles twice what it interprets")
    record, seconds = measured(name, device)
    keep(record, name)
    times = times_of(record)
    assert (times.calls, times.left_out, times.devices) == (CALLS - 1, 0, 1)
    assert record.hlo is not None
    assert all(record.hlo.find(row.instruction) is not None for row in times)
    assert all(row.mean_us > 0 for row in times)
    assert times.call_us * times.calls <= seconds * 1e6
    leaves = sum(row.mean_us for row in times if not row.holds_others)
    regions = [row for row in times if row.holds_others]
    assert all(row.mean_us <= 1.001 * times.mean_call_us for row in regions)
    if device.platform == "cpu":
        # XLA runs what is independent on several cores, and then says too little of the loop around it.
        # Of a product that other threads compute the profiler sees only the begin.
        assert {one.opcode for one in times.unknown} <= REGIONS | {"dot"}
        assert times.busy_us is None
        assert leaves <= 1.001 * (os.cpu_count() or 1) * times.mean_call_us
    else:
        # A sort is a copy and a kernel, and one command.
        assert {one.opcode for one in times.unknown} <= ({"command buffer"} if name == "libraries" else set())
        assert times.busy_us is not None
        assert 0 < times.busy_us <= 1.001 * times.mean_call_us
        # A kernel may begin before the one before it has ended.
        assert 0.8 * times.busy_us <= leaves <= 1.5 * times.busy_us
    fused = {kernel.name: kernel for kernel in record.fusions}
    if name in ("chain", "libraries", "mlp", "attention", "doubled"):
        assert fused.keys() <= {row.instruction for row in times}
    if name == "train_step":
        # Both loops, and in each what has a trip count ran as often.
        assert {row.runs_per_call for row in regions if row.opcode == "while"} <= {1}
        assert Counter(row.opcode for row in (*times, *times.unknown))["while"] == 2
        runs = Counter(row.runs_per_call for row in times)
        assert runs[LAYERS] > 10
        assert set(runs) == {1, LAYERS}
    if name == "decode" and device.platform == "gpu":
        inner, outer = sorted(regions, key=lambda row: row.mean_us)
        assert (inner.runs_per_call, outer.runs_per_call) == (3, 1)
        assert outer.mean_us > 0.8 * times.busy_us
    if name == "branch":
        ran = {row.opcode: row.runs_per_call for row in regions}
        assert ran["while"] == ran["conditional"] == 1
        assert 5 in {row.runs_per_call for row in times}


def test_without_command_buffers_there_are_the_same_kernels_and_all_are_measured(device: jax.Device, keep: Keep):
    usual, _ = measured("chain", device)
    without, _ = measured("chain", device, compiler_options={"xla_gpu_enable_command_buffer": ""})
    # The process holds both, and their instructions are the same: the later one is told by its number.
    keep(without, "chain_without_command_buffers")
    assert "xla_gpu_enable_command_buffer" in str(without.data.flags)
    assert "xla_gpu_enable_command_buffer" not in str(usual.data.flags)
    assert len(usual.fusions) == len(without.fusions)
    assert Counter(row.kind for row in usual.fusions) == Counter(row.kind for row in without.fusions)
    # How long they took is not compared: the machine has other work to do.
    assert _runs(usual) == _runs(without)


def _runs(record: pi.CompileRecord) -> Counter[str]:
    """Instruction -> how often it ran in a call, as measured."""
    return Counter({row.instruction: round(row.runs_per_call) for row in times_of(record)})


def test_a_program_that_was_called_before_is_measured_as_one_that_was_not(device: jax.Device, keep: Keep):
    # On a GPU the profiler did not see its command buffer being made, and names no instruction of it.
    def chain_called_before(x: jax.Array, w: jax.Array) -> jax.Array:
        return chain(x, w)

    function, args = jax.jit(chain_called_before), arguments("chain", device)
    function(*args).block_until_ready()
    with pi.capture(measure=True) as log:
        for _ in range(CALLS):
            function(*args).block_until_ready()
    record = log["chain_called_before"]
    keep(record, "chain_called_before")
    assert {kernel.name for kernel in record.fusions} <= _runs(record).keys()


def test_a_cell_that_is_run_again_is_measured_again(device: jax.Device):
    for _ in range(3):

        def again(x: jax.Array) -> jax.Array:
            return jnp.sin(x @ x) + 1

        with pi.capture(measure=True) as log:
            for _ in range(CALLS):
                jax.jit(again)(*arguments("branch", device)).block_until_ready()
        assert times_of(log["again"]).calls == CALLS - 1


@pytest.mark.filterwarnings("ignore:The Pallas Triton backend:DeprecationWarning")
@pytest.mark.parametrize("name", ["chain", "mlp", "train_step", "attention", "experts", "doubled"])
def test_kernels_of_command_buffers_belong_to_the_instructions_that_xla_launches_them_for(
    name: str, device: jax.Device, keep: Keep, tmp_path: Path
):
    if device.platform == "cpu":
        pytest.skip("a CPU has no command buffers")
    record, _ = measured(name, device, compiler_options={"xla_dump_to": str(tmp_path)})
    launched = launches(tmp_path, f"jit_{name}")
    assert sum(map(len, launched)) > 5
    keep(record, name, launches=launched)
    wanted = {instruction for buffer in launched for _, instruction in buffer}
    assert wanted <= {row.instruction for row in times_of(record)}


@pytest.mark.filterwarnings("ignore:The Pallas Triton backend:DeprecationWarning")
@pytest.mark.parametrize("name", ["mlp", "attention", "experts", "doubled"])
def test_kernels_of_libraries_are_those_that_run_without_command_buffers(name: str, device: jax.Device, keep: Keep):
    if device.platform == "cpu":
        pytest.skip("a CPU has no command buffers")
    usual, _ = measured(name, device)
    without, _ = measured(name, device, compiler_options={"xla_gpu_enable_command_buffer": ""})
    # There XLA names the instruction of every event.
    keep(without, f"{name}_without_command_buffers")
    assert _runs(usual) == _runs(without)


def launches(folder: Path, module: str) -> list[list[tuple[str, str]]]:
    """For each command buffer of a program that XLA dumped what it launches: function or kind, and instruction."""
    instruction_of = {
        int(number or 0): name
        for file in folder.glob(f"*.{module}.*thunk_metadata.txt")
        for name, number in re.findall(r'profile_annotation: "([^"]*)"\s*(?:thunk_id: (\d+))?', file.read_text())
    }
    found: list[list[tuple[str, str]]] = []
    for file in folder.glob(f"*.{module}.*thunk_sequence_after_thunk_passes.txt"):
        depth = None
        for line in file.read_text().splitlines():
            indent = len(line) - len(line.lstrip())
            if "kCommandBuffer" in line:
                depth = indent
                found.append([])
            elif depth is not None and indent <= depth:
                depth = None
            elif depth is not None:
                launch = re.match(r" *(\d+): (k\w+)\s+\[[^]]*\] ?(\S*)", line)
                # What starts and waits launches nothing; a copy without a name is of the slice around it.
                if launch and launch[2] not in ("kAsyncStart", "kAsyncDone") and int(launch[1]) in instruction_of:
                    what = launch[3] if launch[2] == "kCustomKernel" else launch[2]
                    found[-1].append((what, instruction_of[int(launch[1])]))
    return found
