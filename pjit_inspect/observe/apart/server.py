"""The far end of `observe.apart.call`: a process that imports what a task needs once, and forks a process per question.

It has one thread, starts no backend, imports nothing of the user's, and ends with the process that asks. A process that
it forked may be kept for the next question of its kind, or be made before the question comes. Not its job: what is done
(`tasks` names it), or when to ask.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect.errors import CaptureError, ChangeError, PjitInspectError
from pjit_inspect.guard import one_line
from pjit_inspect.observe.apart.interpreter import start_time
from pjit_inspect.observe.apart.messages import Owned, close_all, new_file, pair, receive, send
from pjit_inspect.observe.apart.tasks import TASKS, Task, first_words, load
from pjit_inspect.observe.apart.worker import be_worker

_SHORT_PAUSE_S, _LONG_PAUSE_S = 0.002, 0.05
_OWNER_CHECK_S = 5.0
"""Interval of checks for the owner if the system cannot report its end."""
_MOST_SAID = 1 << 16
_KILLED_AFTER_S = 1.0


class _OwnerGoneError(Exception):
    """The process that asks closed the socket, or is there no more."""


class _CancelledError(Exception):
    """The process that asks wants this question answered no more."""


def serve(owner: int, started: int, task: str) -> None:
    """Answer the questions of a process on descriptor 0, a socket, until either ends; imports for `task` first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    server = _Server(owner, started)
    try:
        send(server.link, {"process": os.getpid(), "parent": os.getppid(), "started": start_time(os.getpid())})
        try:
            _import(TASKS[task])
        except Exception as error:
            send(server.link, {"failed": f"could not import what it needs: {one_line(error)}"})
            return
        send(server.link, {"threads": _count_threads()})
        server.serve()
    except (_OwnerGoneError, EOFError, OSError):
        return
    finally:
        server.drop_all()


def _wake_at_end() -> None:
    """Have the system wake this process, should it be stopped, when its owner closes a socket, or ends (on Linux).

    It comes as descriptor 1, and nothing is ever sent by it.
    """
    alive = os.dup(1)
    os.dup2(2, 1)
    with suppress(OSError, AttributeError):
        fcntl.fcntl(alive, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(alive, fcntl.F_SETSIG, signal.SIGCONT)
        fcntl.fcntl(alive, fcntl.F_SETFL, os.O_ASYNC)


def _import(task: Task) -> None:
    is_new = [name for name in task.imports if name not in sys.modules]
    for name in is_new:
        importlib.import_module(name)
    if is_new:
        gc.collect()
        gc.freeze()


def _count_threads() -> int:
    """The number of threads of this process, including those of libraries; 0 if the system does not say."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/task"))
    return 0


@dataclass(slots=True, kw_only=True)
class _Worker:
    """A process that was forked, the socket by which it gets questions, and the file it writes errors to."""

    process: int
    link: Owned
    stderr: int
    fit: Any
    status: int | None = field(default=None)

    def has_ended(self) -> bool:
        """True if it is gone; then `status` is how, as `os.waitpid` says."""
        if self.status is None:
            ended, status = os.waitpid(self.process, os.WNOHANG)
            self.status = status if ended else None
        return self.status is not None

    def end(self) -> None:
        """Kill it, and release its resources."""
        if not self.has_ended():
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.status = 0
        self.link.close()
        if self.stderr >= 0:
            os.close(self.stderr)
            self.stderr = -1

    def said(self) -> str:
        """Everything that it and its libraries wrote to stderr."""
        return os.pread(self.stderr, _MOST_SAID, 0).decode("utf-8", "replace")

    def how(self) -> str:
        """The way it ended by itself."""
        status = self.status or 0
        first = first_words(self.said())
        words = f": {first}" if first else ""
        if not os.WIFSIGNALED(status):
            return f"ended with status {os.waitstatus_to_exitcode(status)}{words}"
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL:
            return f"was killed (signal 9), and not by this package; memory may be short{words}"
        return f"ended by signal {number}{words}"


class _Server:
    """One server. `link` leads to its owner, whose end is watched with `owner`, a descriptor of that process."""

    def __init__(self, owner: int, started: int) -> None:
        self.link = Owned(0)
        self._owner, self._started = owner, started
        self._death: Owned | None = None
        self._kept: dict[str, _Worker] = {}
        _wake_at_end()
        with suppress(OSError, AttributeError):
            self._death = Owned(os.pidfd_open(owner))
        if self._is_owner_gone():
            raise SystemExit

    def serve(self) -> None:
        """Answers questions one after the other."""
        while True:
            if not self._has_news(_OWNER_CHECK_S):
                continue
            message, files = receive(self.link)
            if "task" not in message:
                # A question that was cancelled after its answer had gone.
                close_all(files)
                continue
            self._serve(message, files)

    def drop_all(self) -> None:
        """End every process that is kept."""
        while self._kept:
            self._kept.popitem()[1].end()

    def _is_owner_gone(self) -> bool:
        # The same number with another start time is another process.
        if self._started and start_time(self._owner) != self._started:
            return True
        with suppress(PermissionError):
            try:
                os.kill(self._owner, 0)
            except ProcessLookupError:
                return True
        return False

    def _has_news(self, patience_s: float, other: Owned | None = None) -> bool:
        """Waits for a message of the owner, or of `other`; returns whether the owner sent one."""
        waiting = select.poll()
        watched = [own.checked() for own in (self.link, self._death, other) if own is not None]
        for number in watched:
            waiting.register(number, select.POLLIN)
        ready = {number for number, _ in waiting.poll(patience_s * 1e3)}
        is_told = self._death is not None and self._death.number in ready
        # A program that the owner started may hold a copy of the socket, which then never closes.
        if is_told or (self._death is None and not ready and self._is_owner_gone()):
            raise _OwnerGoneError
        return self.link.number in ready

    # ------------------------------------------------------------ one question

    def _serve(self, message: dict[str, Any], files: list[int]) -> None:
        opened: list[int] = []
        # Resources of the answer are released after it is sent.
        with ExitStack() as used:
            try:
                answer, opened = self._ask(message, files, used)
            except _CancelledError:
                answer = {"refused": "it was cancelled", "kind": ""}
            except (PjitInspectError, OSError, ValueError, ImportError) as error:
                is_change = isinstance(error, ChangeError)
                answer = {"refused": str(error), "kind": ChangeError.__name__ if is_change else ""}
            finally:
                close_all(files)
            try:
                send(self.link, {**answer, "number": message["number"]}, opened)
            finally:
                close_all(opened)
        if message["ahead"]:
            # The next question is often of the same kind.
            kind = message["key"]
            self._drop(kind)
            self._kept[kind] = self._fork(TASKS[message["task"]], message["fit"], ())

    def _ask(self, message: dict[str, Any], files: list[int], used: ExitStack) -> tuple[dict[str, Any], list[int]]:
        if (task := TASKS.get(message["task"])) is None:
            raise CaptureError(f"there is no task {message['task']!r}")
        _import(task)
        watch = load(task.watch)(self._owner, message["question"]) if task.watch else None
        if watch is not None:
            used.callback(watch.clear)
        worker = self._take(message["key"], message["fit"]) or self._fork(task, None, files)
        has_answered = False

        def let_go() -> None:
            if has_answered and message["keep"]:
                worker.fit = message["fit"]
                self._kept[message["key"]] = worker
            else:
                worker.end()

        used.callback(let_go)
        # A process that died meanwhile is noticed below.
        with suppress(BrokenPipeError, ConnectionResetError):
            send(worker.link, {**message, "question": watch.question if watch else message["question"]}, files)
        said = self._watch(worker, message, watch)
        has_answered = said is not None
        how = "" if worker.status is None else worker.how()
        if watch is None and said is None:
            raise CaptureError(f"the process for this question {how}")
        answer, opened = said or ({"said": {}}, [])
        if watch is None or "refused" in answer:
            return answer, opened
        try:
            facts, more = watch.answer(answer["said"], "" if has_answered else how)
        except BaseException:
            close_all(opened)
            raise
        return {"said": facts}, more + opened

    def _watch(self, worker: _Worker, message: dict[str, Any], watch: Any) -> tuple[dict[str, Any], list[int]] | None:
        """The answer of the process; None if it ended without one, or if the files it left are enough."""
        start, timeout_s = time.monotonic(), message["timeout_s"]
        while True:
            passed = time.monotonic() - start
            left = timeout_s - passed
            # Small programs take milliseconds, for which a pause would show; large ones do not notice a longer one.
            pause = min(max(_SHORT_PAUSE_S, passed / 200), _LONG_PAUSE_S) if watch is not None else _OWNER_CHECK_S
            if self._has_news(max(0.0, min(pause, left)), worker.link):
                self._hear(message["number"])
            if (said := self._said(worker)) is not None or worker.has_ended():
                return said
            if watch is not None:
                if (half := watch.half()) is not None:
                    self._send_half(message["number"], half)
                if watch.is_enough():
                    return None
            if left <= 0:
                raise CaptureError(f"there was no answer after {timeout_s:.3g} s; give it more time, or ask for less")

    def _said(self, worker: _Worker) -> tuple[dict[str, Any], list[int]] | None:
        """The answer of a process, where it has come; None where it has not, or where the process is gone."""
        waiting = select.poll()
        waiting.register(worker.link.number, select.POLLIN)
        if not waiting.poll(0):
            return None
        try:
            return receive(worker.link, deadline=time.monotonic() + _KILLED_AFTER_S)
        except (EOFError, ConnectionResetError):
            # It closed its end: it is gone within a moment.
            until = time.monotonic() + _KILLED_AFTER_S
            while not worker.has_ended() and time.monotonic() < until:
                time.sleep(_SHORT_PAUSE_S)
            return None

    def _send_half(self, number: int, half: int) -> None:
        """Sends half of the answer, which can be read while the rest is made."""
        try:
            send(self.link, {"number": number, "is_partial": True}, [half])
        finally:
            close_all([half])

    def _hear(self, number: int) -> None:
        """Receives a message during a question: only a cancellation can come, perhaps of an earlier question."""
        try:
            message, files = receive(self.link)
        except EOFError:
            raise _OwnerGoneError from None
        close_all(files)
        if message.get("cancel") == number:
            raise _CancelledError

    # ------------------------------------------------------------ processes

    def _take(self, key: str, fit: Any) -> _Worker | None:
        """The process kept for this kind of question; None if there is none, or it was made for another purpose."""
        worker = self._kept.pop(key, None)
        if worker is None:
            return None
        if worker.has_ended() or worker.fit != fit:
            worker.end()
            return None
        return worker

    def _drop(self, key: str) -> None:
        if (worker := self._kept.pop(key, None)) is not None:
            worker.end()

    def _fork(self, task: Task, fit: Any, files: Sequence[int]) -> _Worker:
        """A new process, which makes ready for `fit`; `files` are open here alone."""
        near, far = pair()
        stderr = new_file(b"")
        server, process = os.getpid(), os.fork()
        if not process:
            try:
                # Its copies are closed: the owner is to hear when this server dies, and others when their link closes.
                for own in (near, self._death, *(kept.link for kept in self._kept.values())):
                    if own is not None:
                        own.close()
                close_all(files)
                be_worker(server, far, stderr, task, fit)
            finally:
                # Whatever fails, it must never continue as a second server.
                os._exit(1)
        far.close()
        return _Worker(process=process, link=near, stderr=stderr, fit=fit)
