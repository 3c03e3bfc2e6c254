"""A week in one notebook, in a process of its own: compiles, displays, reloads, interrupts. Prints what is left.

    week.py OPTIONS    (a JSON object: the fields of `Week`)

The same cells run bare and watched; bare, only the lines that name this package are left out. Not its job: what the
figures must be (`test_long_life.py`).
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8"}
TEMPORARY = Path(os.environ["TMPDIR"])

import jax  # noqa: E402
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from IPython.utils.capture import capture_output  # noqa: E402
from traitlets.config import Config  # noqa: E402


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """What happens, evenly spread over the compiles.

    Attributes:
      watched: whether this package is loaded.
      compiles: compiles of small functions that JAX has not seen.
      displays: compiles of a sharded function with a collective, shown in the notebook.
      reloads: `%reload_ext pjit_inspect`, and `%pjit on` again.
      interrupts: Ctrl-C, in turn while a function compiles and while one is shown.
      records, program_bytes: what the session's log holds at the most; 0 for what it holds by itself.
      keys: of how many compiles of one function their keys are kept; 0 for as many as by itself.
      points: how often memory is measured.
    """

    watched: bool
    compiles: int
    displays: int = 0
    reloads: int = 0
    interrupts: int = 0
    records: int = 0
    program_bytes: int = 0
    keys: int = 0
    points: int = 10


DEFINE = """
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(np.ones((8, 16), np.float32), NamedSharding(mesh, P("data", "model")))
w = jax.device_put(np.ones((16, 4), np.float32), NamedSharding(mesh, P("model", None)))
one = np.ones(3, np.float32)
"""
# Nine of ten have no kernel: they compile in half the time.
SMALL = "jax.jit(lambda x: x[None])(one)"
KERNEL = "jax.jit(lambda x: x * number)(one)"
SHARDED = "jax.jit(lambda x, w: (x @ w) * number)(x, w)"


class Notebook:
    """A shell, and what the user does in it."""

    def __init__(self, week: Week) -> None:
        self.week = week
        config = Config()
        config.HistoryManager.enabled = False
        # Otherwise IPython keeps the last results, which are the user's.
        config.InteractiveShell.cache_size = 0
        self.shell = InteractiveShell.instance(config=config)
        self.seconds = {"compile": 0.1, "show": 1.0}
        self.interrupted = 0
        self.shown = 0
        self.run(DEFINE)

    def run(self, cell: str) -> BaseException | None:
        """The error of a cell that a user typed, if there was one; what it shows is not looked at."""
        with capture_output() as output:
            result = self.shell.run_cell(cell, store_history=False)
        self.shown += len(output.outputs)
        return result.error_before_exec or result.error_in_exec

    def must(self, cell: str, number: int = 0) -> None:
        """Run a cell that has no reason to fail; with another `number` it is another program."""
        self.shell.user_ns["number"] = number
        error = self.run(cell)
        if error is not None:
            raise RuntimeError(f"{cell}: {error!r}") from error

    def load(self, command: str = "load_ext") -> None:
        """What a user does at the begin, and again after having changed something."""
        if self.week.watched:
            self.must(f"%{command} pjit_inspect")
            self.must("%pjit on")

    def forget(self) -> None:
        """Let go of the last result, and of the last error, whose frames have the arrays of an interrupted call."""
        self.run("1 / 0")

    def compile(self, number: int) -> None:
        self.timed("compile", KERNEL, number) if number % 10 == 0 else self.must(SMALL)

    def show(self, number: int) -> None:
        self.timed("show", f"%pjit {SHARDED}" if self.week.watched else SHARDED, number)

    def timed(self, what: str, cell: str, number: int) -> None:
        began = time.perf_counter()
        self.must(cell, number)
        self.seconds[what] = time.perf_counter() - began

    def interrupt(self, number: int) -> None:
        """Ctrl-C at another moment each time: of a compile, then of a display."""
        what, cell = ("show", f"%pjit {SHARDED}") if number % 2 and self.week.watched else ("compile", KERNEL)
        share = (number // 2 % 10 + 0.5) / 10
        self.shell.user_ns["number"] = 1_000_000 + number
        error: BaseException | None = None
        with suppress(KeyboardInterrupt), interrupt_after(share * self.seconds[what]):
            error = self.run(cell)
        self.interrupted += error is None or isinstance(error, KeyboardInterrupt)


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt in the block, wherever it is by then, if it still runs."""
    is_open = [True]

    def stop(*_: object) -> None:
        if is_open[0]:
            is_open[0] = False
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        is_open[0] = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---------------------------------------------------------------- what a process holds


def resident_bytes() -> int:
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def own_objects() -> int:
    """Living objects of this package's types."""
    return sum(str(type(item).__module__).startswith("pjit_inspect") for item in gc.get_objects())


def descriptors() -> list[str]:
    """What every open file is, without what numbers it."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{name}").partition(":[")[0])
    return sorted(found)


def processes() -> list[str]:
    """The processes of this package that serve this one, children or not."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            mine = parent == str(os.getpid()) or str(os.getpid()) in command
            if mine and any("pjit_inspect" in part for part in command):
                found.append(" ".join(command)[:200])
    return found


def held() -> dict[str, Any]:
    """What must be at the end as it was at the begin."""
    gc.collect()
    return {
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "system_threads": len(os.listdir("/proc/self/task")),
        "descriptors": descriptors(),
        "files": sorted(path.name for path in TEMPORARY.iterdir()),
        "arrays": len(jax.live_arrays()),
        "executables": len(jax.devices()[0].client.live_executables()),
    }


def after_a_while(before: dict[str, Any]) -> dict[str, Any]:
    """What is left once what was ended has had time to leave."""
    for _ in range(100):
        found = held() | {"processes": processes()}
        if not found["processes"] and all(found[key] == before[key] for key in before):
            break
        time.sleep(0.1)
    return found


# ---------------------------------------------------------------- the week


def live(week: Week) -> dict[str, Any]:
    notebook = Notebook(week)
    for number in range(3):
        notebook.must(SHARDED, -1 - number)
        notebook.must(KERNEL, -1 - number)
    notebook.forget()
    before = held()
    notebook.load()
    log = bounded_log(week) if week.watched else None
    points = []
    for number in range(week.compiles):
        notebook.compile(number)
        for step, times in ((notebook.show, week.displays), (notebook.interrupt, week.interrupts)):
            if is_due(number, times, week.compiles):
                step(number * times // week.compiles)
        if is_due(number, week.reloads, week.compiles):
            notebook.load("reload_ext")
        if is_due(number, week.points, week.compiles):
            points.append({"compiles": number + 1, **memory(log)})
    found = {"points": points, "interrupted": notebook.interrupted, "shown": notebook.shown, "before": before}
    if log is not None:
        notebook.must("%unload_ext pjit_inspect")
    notebook.forget()
    found["after"] = after_a_while(before)
    if log is not None:
        log.clear()
        found["cleared"] = memory(log)
    return found


def is_due(number: int, times: int, of: int) -> bool:
    """Whether one of `times` evenly spread over `of` comes after step `number`."""
    return (number + 1) * times // of > number * times // of


def bounded_log(week: Week) -> Any:
    """The session's log, with its bounds and the history's as low as asked for, so that they are reached soon."""
    import pjit_inspect as pi
    from pjit_inspect.analyze.recompiles import recompiles

    log = pi.session_log()
    given = {"records": week.records, "program_bytes": week.program_bytes}
    log.limit = replace(log.limit, **{name: value for name, value in given.items() if value})
    recompiles._MAX_KEYS = week.keys or recompiles._MAX_KEYS
    return log


def memory(log: Any) -> dict[str, int]:
    """What this process holds, and what of it the log says it holds."""
    found = {"resident": resident_bytes(), "objects": own_objects()}
    if log is None:
        return found
    held_bytes = sum(record.held_bytes for record in log)
    return {**found, "records": len(log), "dropped": log.dropped, "program_bytes": held_bytes}


if __name__ == "__main__":
    sys.stdout.write(f"\n{json.dumps(live(Week(**json.loads(sys.argv[1]))))}\n")
