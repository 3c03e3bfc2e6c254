"""What it costs to see the collectives of a captured program on a mesh that is not here.

    python benchmarks/what_if.py                    # minutes; machines whose compiler is missing are left out
    python benchmarks/what_if.py --only cpu:256     # one machine
    python benchmarks/what_if.py --quick            # a smoke test: 16 devices, one repeat

Measured in this one run, for a training step of 4 scanned layers: seconds from `record.what_if(mesh=..., target=...)`
to counted collectives in the user's axes, by a process that is warm and does not know the answer. For TPUs beside it:
the bare compile of the same program with the same options, in a process of its own that is warm, too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.handles.asked.what_if import change_program
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.partitioner import service, targets
from pjit_inspect.observe.shardy import _mlir, how_compiled

LAYERS, BATCH, LENGTH, WIDTH, HEADS, HIDDEN, VOCABULARY = 4, 512, 64, 1024, 64, 4096, 4096
MESHES = {
    "cpu:256": {"data": 16, "model": 16},
    "cpu:2048": {"data": 32, "model": 64},
    "tpu:v5e:16x16": {"data": 16, "model": 16},
    "tpu:v5p:16x16x16": {"data": 256, "model": 16},
}
LIMITS = {"cpu:256": 0.4, "cpu:2048": 0.8}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="16 fake devices, one repeat")
    parser.add_argument("--only", default="", help="one machine")
    parser.add_argument("--profile", action="store_true", help="where this process spends its time")
    parser.add_argument("--bare", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare(json.loads(Path(options.bare).read_text()))
        return
    meshes = {"cpu:16": {"data": 4, "model": 4}} if options.quick else MESHES
    rounds = 1 if options.quick else 5
    step, arguments = train_step(Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model")))
    record = pi.inspect(step, *arguments)
    print(f"jax {jax.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of {rounds}")
    taken: dict[str, float] = {}
    for target, mesh in meshes.items():
        if options.only not in target or targets.why_missing(target.partition(":")[0]):
            continue
        taken[target] = measure(record, target, mesh, rounds, profile=options.profile)
        if target.startswith("tpu:"):
            seconds = bare_seconds(record, target, mesh, rounds)
            print(f"  bare compile       {seconds * 1e3:8.0f} ms; ratio {taken[target] / seconds:.2f}   target 1.5")
    large, small = taken.get("tpu:v5p:16x16x16"), taken.get("tpu:v5e:16x16")
    if large and small:
        print(f"4,096 devices against 256: {large / small:.2f}   target 3")


def measure(record: pi.CompileRecord, target: str, mesh: dict[str, int], rounds: int, *, profile: bool) -> float:
    """Print what one machine takes; the median of the warm questions."""
    first, count = ask(record, target, mesh)
    answers = service._here.answers.found  # noqa: SLF001
    known = set(answers)

    def again() -> float:
        # The last is the one that was asked for; those before it are of the record it came from.
        for key in set(answers) - known | {list(answers)[-1]}:
            answers.pop(key, None)
        return ask(record, target, mesh)[0]

    if profile:
        import cProfile
        import pstats

        with cProfile.Profile(time.process_time) as profiler:
            again()
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(45)
    before, began = time.process_time(), time.perf_counter()
    later = statistics.median(again() for _ in range(rounds))
    share = (time.process_time() - before) / (time.perf_counter() - began)
    limit = f"   target {LIMITS[target] * 1e3:.0f} ms" if target in LIMITS else ""
    print(f"{target}, {count} collectives")
    print(f"  first what_if      {first * 1e3:8.0f} ms")
    print(f"  later ones         {later * 1e3:8.0f} ms; this process computed {share:.0%} of it{limit}", flush=True)
    return later


def ask(record: pi.CompileRecord, target: str, mesh: dict[str, int]) -> tuple[float, int]:
    """How long a question takes, and how many collectives the answer has."""
    start = time.perf_counter()
    count = len(record.what_if(mesh=mesh, target=target).collectives)
    return time.perf_counter() - start, count


# ---------------------------------------------------------------- the same compile without us


def bare_seconds(record: pi.CompileRecord, target: str, mesh: dict[str, int], rounds: int) -> float:
    """The median seconds that XLA takes for the changed program, in a process of its own."""
    change = change_program(record.data, mesh=mesh, target=target)
    with tempfile.TemporaryDirectory() as folder:
        program, question = Path(folder, "program"), Path(folder, "question")
        program.write_bytes(change.program)
        how = dict(targets.question(change.target, tuple(mesh.values())))
        question.write_text(json.dumps({"program": str(program), "target": how, "rounds": rounds}))
        command = [sys.executable, __file__, "--bare", str(question)]
        done = subprocess.run(command, env=os.environ | how["environment"], capture_output=True, text=True, check=True)
    return statistics.median(json.loads(done.stdout.splitlines()[-1]))


def bare(question: dict[str, Any]) -> None:
    """Compile again and again, and print the seconds of each but the first."""
    target, taken = question["target"], []
    devices = _jax.target_devices(target["platform"], target["topology"], target["options"], target["mesh"])
    for _ in range(question["rounds"] + 1):
        start = time.perf_counter()
        with _mlir.open_module(Path(question["program"]).read_bytes()) as module:
            is_open = how_compiled.open_borders(module)
            _jax.compile_unseen(module, devices, {"xla_early_exit_with_layouts": True}, is_open)
        taken.append(time.perf_counter() - start)
    print(json.dumps(taken[1:]))


# ---------------------------------------------------------------- the program


def train_step(mesh: Mesh) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A step of scanned and rematerialized layers: FSDP over `data`, tensor parallelism over `model`."""

    def array(shape: tuple[int, ...], *spec: str | None, dtype: Any = jnp.bfloat16) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*spec)))

    head = WIDTH // HEADS
    layers = {
        "norm": array((LAYERS, WIDTH)),
        **{name: array((LAYERS, WIDTH, HEADS, head), None, "data", "model") for name in "qkv"},
        "out": array((LAYERS, HEADS, head, WIDTH), None, "model", None, "data"),
        "up": array((LAYERS, WIDTH, HIDDEN), None, "data", "model"),
        "down": array((LAYERS, HIDDEN, WIDTH), None, "model", "data"),
    }
    params = {
        "table": array((VOCABULARY, WIDTH), "model", "data"),
        "head": array((WIDTH, VOCABULARY), "data", "model"),
        "layers": layers,
    }
    tokens = array((BATCH, LENGTH), "data", None, dtype=jnp.int32)

    def by_batch(x: Any) -> Any:
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data", None, None)))

    def layer(x: Any, w: dict[str, Any]) -> tuple[Any, None]:
        h = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w["norm"]
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, w[name]) for name in "qkv")
        scores = jnp.einsum("bqhk,bthk->bhqt", q, k) / head**0.5
        scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
        o = jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(scores), v)
        x = by_batch(x + jnp.einsum("bqhk,hkd->bqd", o, w["out"]))
        return by_batch(x + jax.nn.gelu(x @ w["up"]) @ w["down"]), None

    def loss(params: Any, tokens: Any) -> Any:
        x, _ = jax.lax.scan(jax.checkpoint(layer), by_batch(params["table"][tokens]), params["layers"])
        scores = jax.nn.log_softmax((x @ params["head"]).astype(jnp.float32))
        return -jnp.take_along_axis(scores, tokens[..., None], -1).mean()

    def step(params: Any, momentum: Any, tokens: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(params, tokens)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, slope)
        return jax.tree.map(lambda w, m: w - 1e-3 * m, params, momentum), momentum, value

    return jax.jit(step), (params, params, tokens)


if __name__ == "__main__":
    main()
