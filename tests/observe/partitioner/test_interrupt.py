"""An interrupt, as a notebook sends it, ends the wait for an answer and the compile; the next question is answered."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")

PROGRAM = """
import glob, os, signal, tempfile, threading, time
from pathlib import Path

import jax, jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.observe.partitioner import dump, service

mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
x = jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=NamedSharding(mesh, P("data", "model")))

def step(x):
    for _ in range(20):
        x = jnp.tanh(x @ x.T) @ x
    return x.sum()

def inspect(**asked):
    return pi.inspect(jax.jit(step), x, **asked)

# A shell that starts this in the background makes Python ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
record = inspect(target="cpu:8")
server = service._here.lanes[0].helper.facts["process"]
children = Path(f"/proc/{server}/task/{server}/children")

def is_answering():
    homes = "/dev/shm", tempfile.gettempdir()
    return any(glob.glob(f"{own}/{dump._PREFIX}{os.getpid()}_*/{dump.FACTS}") for own in homes)

while is_answering():
    time.sleep(0.0005)

def stop_the_compile():
    # It stays in the middle of its work until it is ended.
    while not is_answering():
        time.sleep(0.0005)
    child = int(children.read_text().split()[0])
    os.kill(child, signal.SIGSTOP)
    print("compiling", child, flush=True)

threading.Thread(target=stop_the_compile, daemon=True).start()
try:
    record.what_if(mesh={"data": 4, "model": 4}, effort="full")
    print("answered", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(len(record.what_if(mesh={"data": 4, "model": 8}).data.devices), "devices", flush=True)
"""


def is_there(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_an_interrupt_ends_the_wait_and_the_compile_and_the_next_question_is_answered() -> None:
    program = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    try:
        word, _, number = program.stdout.readline().strip().partition(" ")
        assert word == "compiling"
        child = int(number)
        assert is_there(child)
        # Somebody waits for it by now.
        time.sleep(0.2)
        os.kill(program.pid, signal.SIGINT)
        assert program.stdout.readline().strip() == "interrupted"
        assert program.stdout.readline().strip() == "32 devices"
        assert program.wait() == 0
        assert not is_there(child)
    finally:
        program.kill()
        program.wait()
        program.stdout.close()
