"""Programs are compiled for chips that are not attached by one process, which stays; whatever happens to it.

Skipped where the compiler of TPUs is not installed.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError
from pjit_inspect.observe.partitioner import service, targets
from pjit_inspect.observe.shardy import _mlir

TARGET = targets.find_target("tpu:v5e:2x4")

pytestmark = [
    pytest.mark.skipif(bool(targets.why_missing("tpu")), reason="libtpu is not installed"),
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc"),
]


@pytest.fixture(autouse=True)
def no_known_answers() -> None:
    service._here.answers.found.clear()


def program(rows: int = 16) -> bytes:
    """One product that is summed over `model`; lowered for CPU, which makes no difference to it."""
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    x = jax.ShapeDtypeStruct((rows, 64), jnp.float32, sharding=NamedSharding(mesh, P("data", "model")))
    w = jax.ShapeDtypeStruct((64, 32), jnp.float32, sharding=NamedSharding(mesh, P("model", None)))
    lowered = jax.jit(lambda x, w: x @ w).trace(x, w).lower(lowering_platforms=("cpu",))
    return _mlir.bytecode(lowered.compiler_ir("stablehlo"))


def ask(rows: int = 16, **options: Any) -> service.Partitioned:
    return service.ask_partitioner(program(rows), devices=8, target=targets.question(TARGET, (2, 4)), **options)


def worker() -> int:
    """The process that is kept: the one that has libtpu. Another stands ready for the next question."""
    server = service._here.lanes[0].helper
    assert server is not None
    process = server.facts["process"]
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    (found,) = (child for child in children if "libtpu" in Path(f"/proc/{child}/maps").read_text())
    return int(found)


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        threads = len(os.listdir(f"/proc/{process}/task"))
    except OSError:
        return False
    # It can be waited for only when its last thread has ended.
    return state not in "ZX" or threads > 1


def eventually(claim: Callable[[], Any]) -> None:
    """Wait until a claim is true; a minute is for a machine that is busy."""
    for _ in range(6000):
        if claim():
            return
        time.sleep(0.01)
    raise AssertionError("never")


def test_the_devices_are_those_of_the_target_and_none_is_attached_here() -> None:
    found = ask()
    assert [device.platform for device in found.devices] == ["tpu"] * 8
    assert len({device.coords for device in found.devices}) == 8
    assert {device.platform for device in jax.devices()} == {"cpu"}


def test_one_process_answers_one_question_after_another() -> None:
    ask(16)
    first = worker()
    ask(32)
    assert worker() == first
    # A program for fake CPU devices is asked about in a process of its own, which ends.
    service.ask_partitioner(program(), devices=8)
    eventually(lambda: worker() == first)


def test_a_process_that_was_killed_is_replaced_for_the_next_question() -> None:
    ask(16)
    first = worker()
    os.kill(first, signal.SIGKILL)
    eventually(lambda: not is_running(first))
    assert ask(32).after
    assert worker() != first


def test_a_process_that_is_killed_while_it_answers_is_told_of() -> None:
    ask(16)
    first = worker()
    os.kill(first, signal.SIGSTOP)
    killer = threading.Timer(0.3, os.kill, (first, signal.SIGKILL))
    killer.start()
    with pytest.raises(CaptureError, match=r"was killed \(signal 9\)"):
        ask(32)
    killer.join()
    assert ask(32).after


def test_a_question_can_be_cancelled_and_the_next_one_is_answered() -> None:
    ask(16)
    first = worker()
    os.kill(first, signal.SIGSTOP)
    canceller = threading.Timer(0.3, service.cancel)
    canceller.start()
    with pytest.raises(CaptureError, match="cancelled"):
        ask(32)
    canceller.join()
    eventually(lambda: not is_running(first))
    assert ask(32).after


def test_a_question_takes_no_longer_than_it_may_and_the_next_one_is_answered() -> None:
    ask(16)
    first = worker()
    os.kill(first, signal.SIGSTOP)
    with pytest.raises(CaptureError, match=r"there was no answer after 0\.5 s"):
        ask(32, timeout_s=0.5)
    eventually(lambda: not is_running(first))
    assert ask(32).after


def test_the_process_ends_with_the_server() -> None:
    ask(16)
    first = worker()
    service.stop_server()
    eventually(lambda: not is_running(first))


def test_what_is_compiled_to_the_end_has_its_memory_and_kernels() -> None:
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    x = jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=NamedSharding(mesh, P("data", "model")))
    record = pi.inspect(jax.jit(lambda x: jnp.tanh(x).sum()), x, target="tpu:v5e:2x4", effort="full")
    assert record.data.hypothesis.effort == "full"
    # 32 x 16 numbers of 4 bytes on each device.
    assert record.memory.argument_bytes >= 32 * 16 * 4
    assert len(record.fusions) >= 1
    assert {row.kind for row in record.collectives} == {"all-reduce"}
