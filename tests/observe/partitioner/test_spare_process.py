"""After a question about fake CPU devices, a process with as many waits for the next: one, for one question."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from pjit_inspect.observe.partitioner import dump as partitioner_dump
from pjit_inspect.observe.partitioner import service
from pjit_inspect.observe.shardy import _mlir

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")


@pytest.fixture(autouse=True)
def no_known_answers() -> None:
    service._here.answers.found.clear()


def ask(devices: int, rows: int = 1024) -> service.Partitioned:
    """One product that is summed over `model`."""
    mesh = AbstractMesh((devices // 4, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    x = jax.ShapeDtypeStruct((rows, 64), jnp.float32, sharding=NamedSharding(mesh, P("data", "model")))
    w = jax.ShapeDtypeStruct((64, 32), jnp.float32, sharding=NamedSharding(mesh, P("model", None)))
    lowered = jax.jit(lambda x, w: x @ w).trace(x, w).lower(lowering_platforms=("cpu",))
    return service.ask_partitioner(_mlir.bytecode(lowered.compiler_ir("stablehlo")), devices=devices)


def children() -> list[int]:
    """The processes that the server has started, and that have not ended."""
    server = service._here.lanes[0].helper
    assert server is not None
    process = server.facts["process"]
    found = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    return [own for own in found if Path(f"/proc/{own}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"]


def spare() -> int:
    """The process that waits, when the one that answered is gone; a minute is for a machine that is busy."""
    # It is started after the folder of the answer was removed.
    eventually(lambda: not list(Path("/dev/shm").glob(f"{partitioner_dump._PREFIX}{os.getpid()}_*")))
    eventually(lambda: len(children()) == 1)
    return children()[0]


def eventually(claim: Callable[[], Any]) -> None:
    for _ in range(6000):
        if claim():
            return
        time.sleep(0.01)
    raise AssertionError("never")


def test_one_process_waits_after_a_question_and_another_after_the_next() -> None:
    assert len(ask(128).devices) == 128
    first = spare()
    assert len(ask(128, 2048).devices) == 128
    # It has answered, and was ended as soon as it had.
    assert spare() != first


def test_a_question_about_other_devices_ends_it() -> None:
    ask(128)
    first = spare()
    assert len(ask(8).devices) == 8
    assert spare() != first


def test_one_that_was_killed_meanwhile_is_not_asked() -> None:
    ask(128)
    os.kill(spare(), signal.SIGKILL)
    eventually(lambda: children() == [])
    assert len(ask(128, 2048).devices) == 128


def test_it_ends_with_the_server() -> None:
    ask(128)
    waiting = spare()
    service.stop_server()
    eventually(lambda: not Path(f"/proc/{waiting}").exists() or "Z" in Path(f"/proc/{waiting}/stat").read_text())
