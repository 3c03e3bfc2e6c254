"""What jaxlib does that can end the process, done in a process of its own: some MLIR passes, and reading files.

Asked where shardings come from, Shardy may get a segmentation fault: at a reshape that cuts a dimension into three or
more (seen on JAX 0.8.2, 0.10.2 and 0.12), at a `shard_map` in a loop (0.10.2), and who knows where else. So that
question is asked in a child process, which is started when it is first needed (about 0.3 s), answers one request after
the other, and ends with this process. A program from a file is printed there too: XLA checks what it reads with
assertions. Not its job: which passes to run (`observe.shardy.propagation`).
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

__all__ = ["print_hlo_apart", "run_passes_apart", "stop_child"]

_CHILD = Path(__file__).with_name("mlir_child.py")
_TIMEOUT_S = 120.0

PRINT_HLO = "print HLO"
"""What stands in the place of the passes where a program is to be printed."""

_lock = threading.Lock()
_children: dict[int, subprocess.Popen[bytes]] = {}
"""The child of each process: one that was forked off must not talk to its parent's."""


def run_passes_apart(bytecode: bytes, passes: Sequence[str]) -> bytes | None:
    """MLIR bytecode after the passes; None when one fails, or the child dies, cannot start or takes two minutes."""
    return _answer(f"builtin.module({','.join(passes)})", bytecode)


def print_hlo_apart(proto: bytes) -> str | None:
    """A serialised `xla.HloModuleProto` as XLA prints it; None when it is none, or where there is no jaxlib."""
    if importlib.util.find_spec("jaxlib") is None:
        return None
    text = _answer(PRINT_HLO, proto)
    return None if text is None else text.decode("utf-8", "replace")


def _answer(task: str, program: bytes) -> bytes | None:
    request = b"%d %d\n%s%s" % (len(task), len(program), task.encode(), program)
    with _lock:
        try:
            word, content = _ask(_child(), request)
        except (OSError, ValueError, subprocess.SubprocessError):
            _stop()
            return None
    return content if word == b"ok" else None


def stop_child() -> None:
    """End the child process, if there is one; the next request starts another."""
    with _lock:
        _stop()


def _child() -> subprocess.Popen[bytes]:
    child = _children.get(os.getpid())
    if child is not None and child.poll() is None:
        return child
    if not sys.executable:
        raise OSError("this Python does not know its own program")
    # The child finds the same jaxlib; its own folder stays out of the way.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if not _children:
        atexit.register(stop_child)
    _stop()
    child = subprocess.Popen(
        [sys.executable, "-P", str(_CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    _children[os.getpid()] = child
    return child


def _ask(child: subprocess.Popen[bytes], request: bytes) -> tuple[bytes, bytes]:
    if child.stdin is None or child.stdout is None:
        raise OSError("the child has no pipes")
    timer = threading.Timer(_TIMEOUT_S, child.kill)
    timer.daemon = True
    timer.start()
    try:
        child.stdin.write(request)
        child.stdin.flush()
        # A child that died answers with nothing, which does not split.
        word, length = child.stdout.readline().split()
        content = child.stdout.read(int(length))
    finally:
        timer.cancel()
    if len(content) != int(length):
        raise OSError("the child died while it answered")
    return word, content


def _stop() -> None:
    child = _children.pop(os.getpid(), None)
    if child is None:
        return
    child.kill()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                # What was written last did not reach the child.
                continue
    child.wait()
