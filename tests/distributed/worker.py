"""One of several processes that run a sharded program together, over loopback; `processes.py` starts them all.

Each scenario is compiled under its own capture and saved to its own folder. What the odd process (the last one) does
differently is only compiled, never run, so that nobody waits for ever.

    worker.py INDEX COUNT PORT FOLDER
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

INDEX, COUNT, PORT = (int(argument) for argument in sys.argv[1:4])
FOLDER = Path(sys.argv[4])
IS_ODD = INDEX == COUNT - 1
os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "2"}

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402

import pjit_inspect as pi  # noqa: E402

jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"127.0.0.1:{PORT}", num_processes=COUNT, process_id=INDEX, initialization_timeout=60)
MESH = Mesh(np.array(jax.devices()).reshape(COUNT, 2), ("data", "model"))


def place(shape: tuple[int, ...], *spec: str | None) -> jax.Array:
    sharding = NamedSharding(MESH, P(*spec))
    return jax.make_array_from_callback(shape, sharding, lambda index: np.ones(shape, np.float32)[index])


def struct(shape: tuple[int, ...], *spec: str | None, mesh: Mesh = MESH) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def compiled(function: Callable[..., object], *arguments: object) -> None:
    jax.jit(function).lower(*arguments).compile()


X = ((COUNT * 8, 32), "data", "model")


def same() -> None:
    """The same two programs in every process, run to the end."""

    @jax.jit
    def mlp(w1, w2, x):
        return jax.nn.relu(x @ w1) @ w2

    @jax.jit
    def total(x):
        return x.sum()

    weights = place((32, 128), None, "model"), place((128, 32), "model", None)
    result = total(mlp(*weights, place((COUNT * 8, 32), "data", None)))
    # Each element is 128 * 32, of COUNT * 8 rows and 32 columns.
    assert float(result) == COUNT * 8 * 32 * 128 * 32


def first(x):
    return x.sum(0)


def second(x):
    return x.sum(1)


def extra(x):
    return x.max()


def extra_program() -> None:
    """The odd process compiles one program more."""
    compiled(first, struct(*X))
    if IS_ODD:
        compiled(extra, struct(*X))
    compiled(second, struct(*X))


def missing_program() -> None:
    """All but the odd process compile one program more."""
    compiled(first, struct(*X))
    if not IS_ODD:
        compiled(extra, struct(*X))
    compiled(second, struct(*X))


def shape() -> None:
    """The odd process has twice as many rows."""
    compiled(first, struct(*X))
    compiled(second, struct((COUNT * (16 if IS_ODD else 8), 32), "data", "model"))


def sharding() -> None:
    """The odd process splits columns where the others split rows."""
    compiled(first, struct(X[0], *((None, "data") if IS_ODD else ("data", None))))


def order() -> None:
    """The odd process compiles the same programs the other way round."""
    for function in (second, first) if IS_ODD else (first, second):
        compiled(function, struct(*X))


def operation() -> None:
    """The odd process subtracts where the others add."""

    def step(x):
        return (x - 1.5 if IS_ODD else x + 1.5).sum()

    compiled(step, struct(*X))


def devices() -> None:
    """The odd process has its devices in another order."""
    order = MESH.devices[::-1] if IS_ODD else MESH.devices
    compiled(first, struct(*X, mesh=Mesh(order, MESH.axis_names)))


def nothing() -> None:
    """The odd process compiles nothing."""
    if not IS_ODD:
        compiled(first, struct(*X))


def legal() -> None:
    """What may differ: the path of the source, the number of a callback, programs on the process's own devices."""
    if IS_ODD:
        jax.jit(lambda x: jax.debug.print("{}", x))(jnp.ones(3))
        jax.jit(lambda x: x * 3)(jnp.ones(5))
    code = "def told(x):\n    jax.debug.print('{}', x.sum())\n    return x * 2\n"
    names: dict[str, object] = {"jax": jax}
    exec(compile("\n" * INDEX + code, f"/engine/{INDEX}.py", "exec"), names)
    compiled(names["told"], struct(*X))  # type: ignore[arg-type]
    # Who compiles a program again calls it no more often.
    for _ in range(1 + IS_ODD):
        jax.clear_caches()
        compiled(first, struct(*X))


SCENARIOS = (
    same, extra_program, missing_program, shape, sharding, order, operation, devices, nothing, legal,
)  # fmt: skip


def wait_for_ever() -> None:
    """All but the odd process run a program that it does not; another thread saves what led there.

    Then the odd process is killed. JAX tells some of the others, whose call fails; the rest wait on.
    """

    @jax.jit
    def alone(x):
        return x.sum()

    with pi.capture() as log:
        if IS_ODD:
            save(log, "waiting", COUNT)
            os.kill(os.getpid(), signal.SIGKILL)
        threading.Thread(target=save_and_leave, args=(log,)).start()
        with suppress(RuntimeError):
            jax.block_until_ready(alone(place(*X)))
            os._exit(2)
    threading.Event().wait()


def save_and_leave(log: pi.Log) -> None:
    # Until it is compiled, however busy the machine is.
    while not any(record.name == "alone" for record in log):
        time.sleep(0.05)
    save(log, "waiting", COUNT)
    # Until the odd process has gone, and JAX has said so.
    time.sleep(2)
    save(log, "died", COUNT - 1)
    # Process 0 is the others' coordinator and leaves last.
    if INDEX == 0:
        time.sleep(0.5)
    os._exit(0)


def save(log: pi.Log, folder: str, count: int) -> None:
    """Save a log, and wait until the first `count` processes have saved theirs."""
    log.save(FOLDER / folder)
    marks = [FOLDER / f"{folder}-{index}" for index in range(count)]
    marks[INDEX].touch()
    while not all(mark.exists() for mark in marks):
        time.sleep(0.05)


def main() -> None:
    """Every scenario, each into a folder of its name."""
    for scenario in SCENARIOS:
        # Otherwise JAX would know functions of earlier scenarios, and compile nothing.
        jax.clear_caches()
        with pi.capture() as log:
            scenario()
        log.save(FOLDER / scenario.__name__)
    wait_for_ever()


main()
