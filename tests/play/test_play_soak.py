"""Many changes of one playground, with all that goes wrong meanwhile: 60 always, 1,000 with `--all`.

Other meshes, settings that are refused, questions taken back, servers and their children killed. Afterwards no process,
thread, file or descriptor is left, memory has not grown with the changes, and no answer was told out of order.
"""

from __future__ import annotations

import ctypes
import gc
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.play.variant import Variant
from pjit_inspect.observe.partitioner import service
from play import steps

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")

SPECS = [P(), P("data"), P("model"), P(None, "data"), P(None, "model"), P("data", "model"), P("model", "data")]
MESHES = [{"data": 2, "model": 4}, {"data": 4, "model": 2}, {"data": 8, "model": 1}, {"data": 4, "model": 8}]
REFUSED = {"data": 3, "model": 5}
_MOST_GROWTH = 96 << 20


class Week:
    """One playground, and what is done to it; the seed says in which order."""

    def __init__(self, play: pi.Playground, seed: int) -> None:
        self.play = play
        self.chance = random.Random(seed)
        self.heard: list[Variant] = []
        self.processes: set[int] = set()
        self.killed = self.taken_back = self.refused = 0
        play.observe(self.heard.append)

    def change(self) -> None:
        step = self.chance.choices(
            ["spec", "mesh", "refused", "wrong", "stop", "kill", "kill child", "back", "full", "wait"],
            [30, 8, 4, 4, 6, 2, 2, 8, 2, 14],
        )[0]
        play = self.play
        if step == "spec":
            play.set(specs={self.chance.choice(["params['w1']", "params['w2']", "x"]): self.chance.choice(SPECS)})
        elif step == "mesh":
            play.set(mesh=self.chance.choice(MESHES))
        elif step == "refused":
            play.set(mesh=REFUSED, specs={"x": P("data")})
            self.refused += 1
        elif step == "wrong":
            with pytest.raises(ChangeError):
                play.set(specs={"nothing": P()})
        elif step == "stop":
            play.stop()
            self.taken_back += 1
        elif step.startswith("kill"):
            self.kill(is_child=step == "kill child")
        elif step == "back":
            play.go_back(self.chance.choice([row.number for row in play.history]))
        elif step == "full":
            play.full()
        else:
            self.wait()

    def wait(self) -> None:
        # What was stopped is not answered.
        with suppress(CaptureError):
            assert self.play.wait(120).is_answered

    def kill(self, *, is_child: bool) -> None:
        """A server in the midst of what it does, or what it started for that."""
        server = service._here.lanes[0].helper
        process = server.facts.get("process") if server is not None else None
        if process is None:
            return
        self.processes.add(process)
        self.play.set(specs={"x": self.chance.choice(SPECS)})
        time.sleep(self.chance.random() * 0.05)
        for own in children_of(process) if is_child else [process]:
            self.processes.add(own)
            with suppress(ProcessLookupError):
                os.kill(own, signal.SIGKILL)
                self.killed += 1


def children_of(process: int) -> list[int]:
    with suppress(OSError):
        return [int(own) for own in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


def is_running(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def memory_bytes() -> int:
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) << 10


def folders_of(processes: set[int]) -> list[str]:
    """Folders of dumps that these processes left."""
    names = {f"pjit_inspect_partitioner_{process}_" for process in (*processes, os.getpid())}
    found = [path.name for path in (*Path("/dev/shm").glob("pjit_*"), *Path("/tmp").glob("pjit_inspect_partitioner_*"))]
    return [name for name in found if any(name.startswith(own) for own in names)]


def eventually(holds: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_many_changes_and_kills_leave_nothing_and_answers_come_in_order(request: pytest.FixtureRequest):
    changes = 1000 if request.config.getoption("--all") else 60
    step, arguments = steps.mlp((2, 4), is_by_hand=True)
    play = pi.playground(step, *arguments)
    assert play.wait(120).stage == "partitioned"
    threads, files = set(threading.enumerate()), descriptors()
    week = Week(play, seed=changes)
    for number in range(changes):
        if number == changes // 3:
            week.wait()
            grown_from = memory_bytes()
        week.change()
    play.set(mesh=MESHES[0], specs={"params['w1']": P(None, "model"), "params['w2']": P("model"), "x": P("data")})
    last = play.wait(120)
    if last.problem is not None and last.problem.may_pass:
        # The server was killed by the last change but one.
        play.set(specs={"x": P("data")})
        last = play.wait(120)
    assert (last.stage in ("partitioned", "full"), last.problem) == (True, None)
    assert week.refused
    assert week.killed
    assert week.taken_back
    check_answers(play, week.heard)
    eventually(lambda: not set(threading.enumerate()) - threads, "threads are left")
    assert descriptors() <= files + 4
    assert memory_bytes() - grown_from < _MOST_GROWTH
    server = service._here.lanes[0].helper
    assert server is not None
    week.processes |= {server.facts["process"], *children_of(server.facts["process"])}
    play.close()
    service.stop_server()
    eventually(lambda: not any(map(is_running, week.processes)), "processes are left")
    eventually(lambda: not folders_of(week.processes), "folders are left")


def answer(play: pi.Playground, setting: PlaySetting) -> Variant:
    """XLA's answer; asked again where the server was killed last, and dies only now."""
    for _ in range(2):
        play.add(setting, origin="user", is_chosen=True)
        found = play.wait(120)
        if found.problem is None or not found.problem.may_pass:
            break
    return found


def check_answers(play: pi.Playground, heard: list[Variant]) -> None:
    """A setting has one answer, whenever it was asked, and its news come in order."""
    known: dict[int, Variant] = {}
    ranks = {"arguments": 0, "partitioned": 1, "full": 2, "refused": 3}
    for row in heard:
        before = known.get(row.number)
        if before is not None and before.stage != "refused":
            assert ranks[row.stage] >= ranks[before.stage], (before.number, before.stage, row.stage)
            if before.sent_bytes is not None and row.stage != "refused":
                assert row.sent_bytes == before.sent_bytes
        known[row.number] = row
    for row in play.history:
        assert row.is_answered or row.number in (0, play.variant.number)
    # What was answered under fire is what a quiet playground answers.
    step, arguments = steps.mlp((2, 4), is_by_hand=True)
    quiet = pi.playground(step, *arguments)
    chosen = [row for row in play.history if row.stage == "partitioned"][:8]
    for row in chosen:
        found = answer(quiet, play.setting_of(row.number))
        assert (found.sent_bytes, found.collectives) == (row.sent_bytes, row.collectives)
    quiet.close()
