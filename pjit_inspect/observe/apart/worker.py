"""A process forked by a server: it answers one question, or several of one kind, and ends.

A crash, too much memory or too much time costs only its answer. Not its job: forking it (`server`), the questions
(`tasks`).
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

from pjit_inspect.errors import PjitInspectError
from pjit_inspect.observe.apart.messages import Owned, close_all, new_file, read_file, receive, send
from pjit_inspect.observe.apart.tasks import Task, last_line, load

_MOST_FILE_BYTES = 1 << 30
_MEMORY_PER_BYTE = 64
_SPARE_S = 2
_SET_PARENT_DEATH_SIGNAL = 1


def be_worker(server: int, link: Owned, stderr: int, task: Task, fit: Any) -> None:
    """Answer the questions that come on `link`; never returns. `fit` is prepared before the first."""
    status = 1
    try:
        _become_quiet(stderr)
        _end_with(server)
        if task.ahead and fit is not None:
            load(task.ahead)(fit)
        while True:
            question, files = receive(link)
            _answer(link, task, question, files)
            if not question["keep"]:
                break
        status = 0
    except (EOFError, BrokenPipeError, ConnectionResetError):
        status = 0
    except BaseException as error:
        with suppress(OSError):
            os.write(2, f"{last_line(error)}\n".encode("utf-8", "replace"))
    finally:
        os._exit(status)


def _answer(link: Owned, task: Task, question: dict[str, Any], files: list[int]) -> None:
    # If the server is killed or stopped, this process still ends.
    signal.alarm(int(question["timeout_s"]) + _SPARE_S)
    try:
        blobs = [read_file(file) for file in files]
        if task.most_memory:
            _limit(resource.RLIMIT_DATA, task.most_memory + _MEMORY_PER_BYTE * sum(map(len, blobs)))
    finally:
        close_all(files)
    made: list[int] = []
    try:
        said, results = load(task.function)(question["question"], blobs)
        made.extend(map(new_file, results))
        answer = {"said": said}
    except PjitInspectError as error:
        answer = {"refused": str(error), "kind": type(error).__name__}
    except Exception as error:
        answer = {"refused": last_line(error), "kind": ""}
    signal.alarm(0)
    try:
        send(link, answer, made)
    finally:
        close_all(made)


def _become_quiet(stderr: int) -> None:
    for own in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(own, signal.SIG_DFL)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, _MOST_FILE_BYTES)
    for own in (0, 1, 2):
        os.dup2(stderr, own)
    sys.stdout = sys.stderr = open(2, "w", closefd=False, errors="replace")  # noqa: SIM115  (it stays)
    os.nice(5)


def _limit(kind: int, most: int) -> None:
    known = resource.getrlimit(kind)[1]
    most = most if known == resource.RLIM_INFINITY else min(most, known)
    resource.setrlimit(kind, (most, most))


def _end_with(server: int) -> None:
    """On Linux this process ends as soon as its server does."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != server:
        raise EOFError("its server is gone")
