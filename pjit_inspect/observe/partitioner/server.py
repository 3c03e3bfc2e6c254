"""The other end of `observe.partitioner.service`: a process that has imported JAX, and forks a child per question.

Started by `partitioner_start.py`. It never starts a backend, never has a second thread, never imports the user's
program, and ends when its socket closes. A child is killed as soon as the partitioner's files are complete: what
follows them, code generation above all, is never waited for. After a question about many devices a child makes as many
for the next one. Not its job: when to ask, and what the answer means.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import socket
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from pjit_inspect.model.record.shortage import NO_MEMORY
from pjit_inspect.observe.partitioner import dump as partitioner_dump
from pjit_inspect.observe.partitioner.messages import close_all, receive, send

__all__ = ["serve"]

_WHY = "the compiler refused the program for its memory"
_REFUSED = {"hlo_header": None, "cost": {}, "memory": None, "missing": {"cost": _WHY, "memory": _WHY}}
"""What is known of a program that was scheduled and then refused, beside itself and its buffers."""
_NOTICE = "Module has GSPMD attrs or ops"
_SHORT_PAUSE_S, _LONG_PAUSE_S = 0.002, 0.05
_OWNER_CHECK_S = 60.0


class _OwnerGoneError(Exception):
    """The user's process closed the socket, or is there no more."""


class _RefusedError(Exception):
    """The question has no answer, for the reason that this says."""


class _UnfitError(Exception):
    """There are no such devices, or no such mesh of them: the question itself has to be another."""


class _CancelledError(Exception):
    """The user's process wants this question answered no more."""


# ---------------------------------------------------------------- the server


def serve(owner: int) -> None:
    """Answer the questions of the process `owner` on file descriptor 0, a socket, until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    link = socket.socket(fileno=0)
    try:
        _import_jax()
    except Exception as error:
        with suppress(OSError):
            send(link, {"start": f"{type(error).__name__}: {error}"})
        return
    try:
        send(link, {"start": "", "threads": _count_threads(), "process": os.getpid()})
        while True:
            _wait_for_question(link, owner)
            _serve(link, owner, *receive(link))
    except (_OwnerGoneError, EOFError, OSError):
        return


def _import_jax() -> None:
    """Import once what each child needs."""
    import jaxlib.mlir.dialects.stablehlo  # noqa: F401
    from jax._src import compiler  # noqa: F401
    from jax._src.interpreters import mlir  # noqa: F401

    from pjit_inspect.observe.partitioner import child as partitioner_child  # noqa: F401

    partitioner_dump.remove_left_over()
    # Python's path may have been relative to the user's folder; nothing after this is.
    os.chdir("/")
    gc.collect()
    gc.freeze()


def _count_threads() -> int:
    """Threads of this process, those of libraries among them; 0 where the system does not say."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/task"))
    return 0


def _wait_for_question(link: socket.socket, owner: int) -> None:
    # A program that the user's process started may hold a copy of the socket, which then never closes.
    while not select.select([link], [], [], _OWNER_CHECK_S)[0]:
        try:
            os.kill(owner, 0)
        except ProcessLookupError:
            raise _OwnerGoneError from None
        except PermissionError:
            continue


def _serve(link: socket.socket, owner: int, message: dict[str, Any], files: list[int]) -> None:
    if "program" not in message or not files:
        # A question that was cancelled after its answer had gone.
        close_all(files)
        return
    number, opened = message["number"], list[int]()
    # What was used for the answer is cleared away when that is on its way.
    with ExitStack() as used:
        try:
            answer, opened = _ask_child(link, owner, message, files[0], used)
        except (_RefusedError, OSError, ValueError) as error:
            answer = {"refused": str(error)}
        except _UnfitError as error:
            answer = {"unfit": str(error)}
        except _CancelledError:
            answer = {"refused": "it was cancelled", "cancelled": True}
        finally:
            close_all(files)
        try:
            send(link, {"number": number, **answer}, opened)
        finally:
            close_all(opened)
    if not message["target"]:
        # The next question often is about as many devices: another mesh of them, or other shardings.
        _spare.make(link, message["devices"])


# ---------------------------------------------------------------- one question


def _ask_child(
    link: socket.socket, owner: int, question: dict[str, Any], program: int, used: ExitStack
) -> tuple[dict[str, Any], list[int]]:
    """The answer and its files; `used` gets what is to be cleared away afterwards."""
    folder, held = partitioner_dump.make_folder(owner, question["program"])
    used.callback(os.close, held)
    used.callback(shutil.rmtree, folder, ignore_errors=True)
    child = (_tell_worker if question["target"] else _fork_child)(link, question, program, folder)
    is_running = True
    try:
        ended = _watch(link, child, folder, question)
        # A worker that answered stays for the next question.
        is_running = ended is None and not (question["target"] and (folder / partitioner_dump.DONE).exists())
    finally:
        if is_running:
            used.callback(_end, child)
    return _answer(folder, ended, question["effort"])


def _fork_child(link: socket.socket, question: dict[str, Any], program: int, folder: Path) -> int:
    from pjit_inspect.observe.partitioner.child import be_child

    if (waiting := _spare.ask(question, program, folder)) is not None:
        return waiting
    server, child = os.getpid(), os.fork()
    if not child:
        be_child(server, link, question, program, folder)
    return child


def _watch(link: socket.socket, child: int, folder: Path, question: dict[str, Any]) -> int | None:
    """Wait until the files are complete (None) or the child has ended (how, as `os.waitpid` says)."""
    start, number, timeout_s = time.monotonic(), question["number"], question["timeout_s"]
    # A child that is killed afterwards need not come to its end; the compiler for TPUs comes to it by itself.
    is_enough = question["effort"] == "partition" and question["target"].get("platform") != "tpu"
    is_told = not is_enough
    while True:
        now = time.monotonic()
        # Small programs take milliseconds, for which a pause would show; large ones do not notice a longer one.
        pause = min(max(_SHORT_PAUSE_S, (now - start) / 200), _LONG_PAUSE_S)
        if select.select([link], [], [], pause)[0]:
            _hear(link, number)
        # Asked in this order: a child that ended in between has written all it wrote.
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _workers.forget(child)
        if not is_told and (before := partitioner_dump.find_before(folder)) is not None:
            is_told = True
            _tell_before(link, number, before)
        is_whole = is_enough and partitioner_dump.find_modules(folder) is not None
        if is_whole or (folder / partitioner_dump.DONE).exists():
            return None
        if ended:
            return status
        if now - start > timeout_s:
            raise _RefusedError(
                f"XLA had no answer after {timeout_s:g} s; give it more time, or ask about fewer layers"
            )
        if partitioner_dump.size_bytes(folder) > partitioner_dump.MAX_BYTES:
            raise _RefusedError(
                f"XLA writes more than {partitioner_dump.MAX_BYTES >> 30} GiB about this program, more than is read; "
                f"ask about fewer layers"
            )


def _tell_before(link: socket.socket, number: int, path: Path) -> None:
    """Half of the answer, which can be read while XLA makes the other."""
    file = partitioner_dump.open_module(path)
    try:
        send(link, {"number": number, "is_before": True}, [file])
    finally:
        close_all([file])


def _hear(link: socket.socket, number: int) -> None:
    """While a question is answered only a cancelling can come, perhaps of an earlier one: others wait."""
    try:
        message, files = receive(link)
    except EOFError:
        raise _OwnerGoneError from None
    close_all(files)
    if message.get("cancel") == number:
        raise _CancelledError


def _end(child: int) -> None:
    _workers.forget(child)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


def _answer(folder: Path, ended: int | None, effort: str) -> tuple[dict[str, Any], list[int]]:
    stderr = partitioner_dump.read_text(folder / partitioner_dump.STDERR)
    failure = partitioner_dump.read_text(folder / partitioner_dump.FAILURE)
    if unfit := partitioner_dump.read_text(folder / partitioner_dump.UNFIT):
        raise _UnfitError(unfit)
    facts = json.loads(partitioner_dump.read_text(folder / partitioner_dump.FACTS) or "{}")
    # Programs of one partition are not partitioned.
    files = partitioner_dump.find_modules(folder) if facts.get("partitions") != 1 else ()
    # A program for which memory is short was partitioned nevertheless.
    if ended is not None or files is None or not facts or (failure and NO_MEMORY not in failure):
        raise _RefusedError(_why(ended, failure, stderr))
    answer = {
        **facts,
        "devices": json.loads(partitioner_dump.read_text(folder / partitioner_dump.DEVICES)),
        "partitioner": "shardy" if partitioner_dump.used_shardy(folder) else "gspmd",
        "notice": next((line.partition("] ")[2] for line in stderr.splitlines() if _NOTICE in line), ""),
    }
    opened = [partitioner_dump.open_module(path) for path in files]
    if failure:
        answer["failure"] = failure
        if (folder / partitioner_dump.OPTIMIZED).exists():
            answer["compiled"] = _REFUSED
            opened += map(
                partitioner_dump.open_whole, (folder / partitioner_dump.OPTIMIZED, folder / partitioner_dump.BUFFERS)
            )
    elif effort == "full":
        answer["compiled"] = json.loads(partitioner_dump.read_text(folder / partitioner_dump.COMPILED))
        opened.append(partitioner_dump.open_whole(folder / partitioner_dump.OPTIMIZED))
        opened.append(partitioner_dump.open_whole(folder / partitioner_dump.BUFFERS))
    return answer, opened


def _why(ended: int | None, failure: str, stderr: str) -> str:
    """Why a child gave no answer."""
    if failure:
        return failure
    if ended is None:
        return "XLA compiled the program but wrote no program before and after partitioning"
    how = f"signal {os.WTERMSIG(ended)}" if os.WIFSIGNALED(ended) else f"exit status {os.waitstatus_to_exitcode(ended)}"
    if how == "exit status 0":
        return "XLA compiled the program but wrote no program before and after partitioning"
    said = next((line for line in reversed(stderr.splitlines()) if line.startswith(("F", "E"))), "")
    return f"the process that asked XLA's partitioner ended by {how}" + (f": {said[:300]}" if said else "")


# ---------------------------------------------------------------- a process that has its devices already


class _Spare:
    """At most one process that has made fake CPU devices and waits for a question about as many."""

    def __init__(self) -> None:
        self._process: int | None = None
        self._devices = 0
        self._questions: socket.socket | None = None

    def ask(self, question: dict[str, Any], program: int, folder: Path) -> int | None:
        """The process that has got the question now; None where none waits for such a one."""
        process, questions = self._process, self._questions
        if process is None or questions is None:
            return None
        if question["devices"] != self._devices or os.waitpid(process, os.WNOHANG)[0]:
            self._drop()
            return None
        self._process = self._questions = None
        # One that died meanwhile is heard of by who watches it.
        with suppress(BrokenPipeError, ConnectionResetError):
            send(questions, {**question, "folder": str(folder)}, [program])
        questions.close()
        return process

    def make(self, link: socket.socket, devices: int) -> None:
        """Start the process, in the place of another."""
        from pjit_inspect.observe.partitioner.child import be_spare

        self._drop()
        near, far = socket.socketpair()
        server, child = os.getpid(), os.fork()
        if not child:
            near.close()
            be_spare(server, link, far, devices)
        far.close()
        self._process, self._devices, self._questions = child, devices, near

    def _drop(self) -> None:
        process, questions, self._process, self._questions = self._process, self._questions, None, None
        if process is not None and questions is not None:
            questions.close()
            _end(process)


_spare = _Spare()


# ---------------------------------------------------------------- workers for chips that are not attached


class _Workers:
    """One process for each platform, which has that platform's compiler, and the socket it gets questions by."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, socket.socket]] = {}

    def ask(self, link: socket.socket, question: dict[str, Any], program: int) -> int:
        """The process that has got the question now."""
        platform = question["target"]["platform"]
        if platform in self._known and os.waitpid(self._known[platform][0], os.WNOHANG)[0]:
            # It died between two questions.
            self.forget(self._known[platform][0])
        if platform not in self._known:
            self._known[platform] = self._start(link, question["target"]["environment"])
        child, questions = self._known[platform]
        # One that died meanwhile is heard of by who watches it.
        with suppress(BrokenPipeError, ConnectionResetError):
            send(questions, question, [program])
        return child

    def forget(self, child: int) -> None:
        for platform, (known, questions) in list(self._known.items()):
            if known == child:
                questions.close()
                del self._known[platform]

    def _start(self, link: socket.socket, environment: dict[str, str]) -> tuple[int, socket.socket]:
        from pjit_inspect.observe.partitioner.child import be_worker

        near, far = socket.socketpair()
        server, child = os.getpid(), os.fork()
        if not child:
            near.close()
            be_worker(server, link, far, environment)
        far.close()
        return child, near


_workers = _Workers()


def _tell_worker(link: socket.socket, question: dict[str, Any], program: int, folder: Path) -> int:
    return _workers.ask(link, {**question, "folder": str(folder)}, program)
