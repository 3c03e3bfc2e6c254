"""Threads, tasks, callbacks, tracing, interrupts, other processes: no record is lost or mixed up, nothing hangs."""

from __future__ import annotations

import asyncio
import multiprocessing
import subprocess
import sys
import threading
from pathlib import Path
from types import CodeType

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from faults import failing, title
from test_faults import call, state, steps_of, watched

import pjit_inspect as pi
from pjit_inspect import guard

ONE = np.ones(3, np.float32)


def named(name: str):
    """A function that JAX has not seen, of this name."""

    def function(x):
        return jnp.tanh(x) * len(name)

    function.__name__ = function.__qualname__ = name
    return jax.jit(function)


def test_eight_threads_lose_no_record_and_mix_none_up():
    start = threading.Barrier(8)
    inner: dict[int, tuple[str, ...]] = {}

    def work(thread: int) -> None:
        start.wait()
        with pi.capture() as log:
            for i in range(4):
                named(f"thread{thread}_{i}")(ONE)
        inner[thread] = log.names()

    with pi.capture() as log:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    wanted = sorted(f"thread{n}_{i}" for n in range(8) for i in range(4))
    assert sorted(record.name for record in log if record.name.startswith("thread")) == wanted
    for thread, names in inner.items():
        assert {f"thread{thread}_{i}" for i in range(4)} <= set(names)
    assert all(record.reason.kind == "first" for record in log if record.name.startswith("thread"))


def test_tasks_of_an_event_loop_each_have_their_scope():
    async def cell(name: str) -> pi.Log:
        with pi.capture() as log:
            await asyncio.to_thread(lambda: named(name)(ONE))
            await asyncio.sleep(0)
        return log

    async def both() -> list[pi.Log]:
        return await asyncio.gather(cell("first_cell"), cell("second_cell"))

    first, second = asyncio.run(both())
    assert "first_cell" in first.names()
    assert "second_cell" in second.names()


def test_a_scope_that_is_opened_while_jax_traces_sees_what_compiles_in_it():
    seen: list[pi.Log] = []

    def traced(x):
        # Without it, what is called here becomes a part of what is traced.
        with pi.capture() as log, jax.ensure_compile_time_eval():
            named("within_tracing")(ONE)
        seen.append(log)
        return x + 1

    with pi.capture() as log:
        assert float(jax.jit(traced)(1.0)) == 2
    assert "within_tracing" in seen[0].names()
    assert {"within_tracing", "traced"} <= set(log.names())


CALLBACK = """
import jax, numpy as np
import pjit_inspect as pi

def host(x):
    return np.asarray(jax.jit(lambda y: y * 3)(np.asarray(x)))

@jax.jit
def outer(x):
    return jax.pure_callback(host, jax.ShapeDtypeStruct((3,), np.float32), x) + 1

with pi.capture() as log:
    print(outer(np.ones(3, np.float32)).tolist())
print(sorted(log.names()))
"""


def test_a_jit_within_a_callback_is_recorded_and_nothing_hangs():
    run = subprocess.run([sys.executable, "-c", CALLBACK], capture_output=True, text=True, timeout=120, check=True)
    result, names = run.stdout.splitlines()
    assert result == "[4.0, 4.0, 4.0]"
    assert names == "['<lambda>', 'outer']"


def worker(path: str) -> None:
    """Runs in a process of its own."""
    with pi.capture() as log:
        named("in_the_worker")(ONE)
    log["in_the_worker"].save(path)


def test_a_worker_process_has_a_log_of_its_own(tmp_path: Path):
    path = tmp_path / "worker.pjit"
    with pi.capture() as log:
        process = multiprocessing.get_context("spawn").Process(target=worker, args=(str(path),))
        process.start()
        process.join(120)
    assert process.exitcode == 0
    assert pi.load(path).name == "in_the_worker"
    assert "in_the_worker" not in log.names()


def test_an_interrupt_anywhere_reaches_the_user_and_leaves_no_mess(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    monkeypatch.setattr(guard, "_warned", set())
    before, codes = state(), steps_of(call)
    chosen: list[CodeType] = codes if request.config.getoption("--all") else codes[::12]
    interrupted = 0
    for code in chosen:
        with pi.capture(calls=True):
            try:
                with failing(code, KeyboardInterrupt()) as hit:
                    call(2)
            except KeyboardInterrupt:
                interrupted += 1
            else:
                assert not hit[0], title(code)
        assert state() == before, title(code)
    assert interrupted > 0.9 * len(chosen)
    assert watched(call).user_records()
    assert not guard._warned
