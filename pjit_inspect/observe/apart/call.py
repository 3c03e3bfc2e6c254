"""Asks a question of a helper process, and reads the answer: the near end of `observe.apart.server`.

A channel is one helper, asked one question at a time. It starts with the first question and ends with this process. A
failure in starting, asking or reading costs only that answer, as a CaptureError with the reason. A helper with an
unfinished question, as after an interrupt, is ended and never asked again. Not its job: the questions.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import select
import signal
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.guard import is_interrupt, one_line
from pjit_inspect.observe.apart.interpreter import START_S, package_folders, start_detached, start_time
from pjit_inspect.observe.apart.messages import Owned, close_all, new_file, pair, read_file, receive, send
from pjit_inspect.observe.apart.tasks import first_words

_SCRIPT = Path(__file__).with_name("start.py")
_PACKAGE = str(Path(__file__).parents[2])
_LONGEST_S = 86_400.0
_MOST_GRACE_S = 10.0
"""Extra time beyond its limit in which a helper may report a timeout; at most as long as that limit."""
_MOST_SAID = 1 << 12

_numbers = itertools.count(1)


class RefusedError(CaptureError):
    """The helper's reason for having no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A helper's answer: facts, and bytes that come with them."""

    said: dict[str, Any]
    blobs: tuple[bytes, ...]


class Ticket:
    """One question, which another thread may withdraw.

    Attributes:
      is_cancelled: whether it was withdrawn.
    """

    def __init__(self) -> None:
        self.is_cancelled: bool = False
        self._asked: tuple[_Helper, int] | None = None

    def cancel(self) -> None:
        """Make the question raise CaptureError, at once where the helper is at it."""
        self.is_cancelled = True
        if (asked := self._asked) is not None:
            asked[0].cancel(asked[1])

    def begin(self, helper: _Helper, number: int) -> None:
        """The question was sent, with this number."""
        self._asked = helper, number
        if self.is_cancelled:
            # It was cancelled after its turn had come and before the helper was told.
            helper.cancel(number)

    def finish(self) -> None:
        """The question is over."""
        self._asked = None


class Channel:
    """A helper of this process, and who may ask it.

    Attributes:
      helper: the one that is running; None before the first question.
    """

    def __init__(self, what: str) -> None:
        """`what` names the helper in errors: "the process that asks XLA's partitioner"."""
        self._what = what
        self._unusable = ""
        self.begin_anew()
        _channels.add(self)

    def begin_anew(self) -> None:
        """In a process that was forked off: the helper is the parent's, and who holds the lock may not be here."""
        helper: _Helper | None = getattr(self, "helper", None)
        self._lock = threading.Lock()
        self._asker = 0
        self._tickets: set[Ticket] = set()
        self.helper: _Helper | None = None
        if helper is not None:
            helper.forget()

    def __del__(self) -> None:
        """End the helper with the channel."""
        with suppress(Exception):
            self.end()

    def is_busy(self) -> bool:
        """True if a question is open."""
        return self._lock.locked()

    def ask(
        self,
        task: str,
        question: Mapping[str, Any],
        blobs: Sequence[bytes] = (),
        *,
        timeout_s: float,
        start_s: float = 0.0,
        ticket: Ticket | None = None,
        on_half: Callable[[bytes], object] | None = None,
        key: str = "",
        fit: Any = None,
        keep: bool = False,
        ahead: bool = False,
    ) -> Answer:
        """The answer of a task to a question; see `tasks`.

        Args:
          task: a row of `tasks.TASKS`.
          question: the task's question, as JSON data.
          blobs: bytes that go with it.
          timeout_s: time limit, including earlier questions and the start of the helper.
          start_s: additional time limit for the start.
          ticket: lets another thread withdraw the question.
          on_half: receives half of the answer, if that comes earlier; must not raise.
          key: the kind of process; one may have been kept or made ahead.
          fit: the purpose that process must have been made for; if it differs, the process is ended.
          keep: keep the process that answers for the next question of this key.
          ahead: make a process for the next question of this key when this one is answered.

        Raises CaptureError with the reason if there is no answer: RefusedError (a subclass) if the helper gives the
        reason, and ChangeError if the task raised that.
        """
        deadline = time.monotonic() + min(timeout_s, _LONGEST_S)
        ticket = ticket or Ticket()
        self._tickets.add(ticket)
        try:
            with self._turn(deadline):
                if ticket.is_cancelled:
                    raise CaptureError(f"{self._what} was not asked: it was cancelled")
                with self._failures():
                    start = time.monotonic()
                    helper = self._ready(task, deadline + start_s)
                    deadline += min(time.monotonic() - start, start_s)
                    left = max(deadline - time.monotonic(), 0.1)
                    given = {"task": task, "question": dict(question), "timeout_s": left}
                    given |= {"key": key, "fit": fit, "keep": keep, "ahead": ahead}
                    message, results = helper.ask(given, blobs, ticket, on_half)
                    if not isinstance(message.get("refused", ""), str):
                        raise ValueError("this is no answer")
                    answer = Answer(said=dict(message.get("said", ())), blobs=results)
        finally:
            self._tickets.discard(ticket)
        if "refused" in message:
            raise (ChangeError if message.get("kind") == ChangeError.__name__ else RefusedError)(message["refused"])
        return answer

    def cancel_all(self) -> None:
        """Take back every question that has no answer yet; to be called in another thread."""
        for ticket in list(self._tickets):
            ticket.cancel()

    def end(self) -> None:
        """End the helper with its work; the next question starts another."""
        helper, self.helper = self.helper, None
        if helper is not None:
            helper.end()

    # ------------------------------------------------------------ in turn, and whatever fails

    @contextmanager
    def _turn(self, deadline: float) -> Iterator[None]:
        lock, thread = self._lock, threading.get_ident()
        if self._asker == thread:
            raise CaptureError(f"{self._what} is at a question that this thread asked before, and a signal interrupted")
        if not lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise CaptureError(f"{self._what} was busy with other questions; give it more time, or ask again")
        try:
            self._asker = thread
            yield
        finally:
            self._asker = 0
            lock.release()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Any failure ends the channel, and becomes a CaptureError with the reason."""
        try:
            yield
        except BaseException as error:
            helper = self.helper
            said = helper.last_words() if helper is not None else ""
            with suppress(Exception):
                self.end()
            if isinstance(error, CaptureError) or is_interrupt(error):
                raise
            raise CaptureError(f"{self._what} {_reason(error, said, is_started=helper is not None)}") from error

    def _ready(self, task: str, deadline: float) -> _Helper:
        if self._unusable:
            raise CaptureError(self._unusable)
        if self.helper is not None and not self.helper.is_alive():
            self.end()
        start = time.monotonic()
        self.helper = self.helper or _Helper(task)
        try:
            self.helper.wait_until_ready(deadline)
        except TimeoutError as error:
            if is_interrupt(error):
                raise
            took = time.monotonic() - start
            said = f"{self._what} was not ready after {took:.0f} s"
            if took >= START_S:
                # Not for each display again.
                self._unusable = f"{said}, and is not started again by this process"
            raise CaptureError(f"{said}; give it more time") from None
        return self.helper


def _reason(error: BaseException, said: str, *, is_started: bool) -> str:
    if not is_started:
        return f"cannot be started: {_os_words(error)}"
    if isinstance(error, ImportError):
        return str(error)
    if isinstance(error, TimeoutError):
        return "gave no answer in time; give it more time"
    if isinstance(error, (EOFError, ConnectionError)):
        return f"ended before it answered{f': {said}' if said else ''}"
    return f"could not be asked: {_os_words(error)}"


def _os_words(error: BaseException) -> str:
    # Ours have words alone; those of the system have a number, too.
    return str(error) if isinstance(error, OSError) and error.errno is None else one_line(error)


# ---------------------------------------------------------------- one helper


class _Helper:
    """A started helper.

    Attributes:
      asked: the number of its present question.
      facts: its report about itself: process, parent, started, threads.
    """

    def __init__(self, task: str) -> None:
        self.asked: int | None = None
        self.facts: dict[str, Any] = {}
        self._sending = threading.Lock()
        self._until = time.monotonic() + START_S
        with ExitStack() as kept, ExitStack() as passed:

            def linked() -> tuple[Owned, Owned]:
                near, far = pair()
                kept.callback(near.close)
                passed.callback(far.close)
                return near, far

            self._link, link = linked()
            # Nothing is sent through the second one: its end wakes the helper if that is stopped.
            _, alive = linked()
            self._stderr = Owned(new_file(b""))
            kept.callback(self._stderr.close)
            given = {"folders": package_folders(), "package": _PACKAGE, "task": task}
            arguments = [str(os.getpid()), str(start_time(os.getpid())), json.dumps(given)]
            start_detached(_SCRIPT, arguments, stdin=link.number, stdout=alive.number, stderr=self._stderr.number)
            self._kept = kept.pop_all()

    def wait_until_ready(self, deadline: float) -> None:
        """Wait until it has imported its modules. Raises ImportError if it could not, TimeoutError if it is late."""
        while "threads" not in self.facts:
            self.facts |= receive(self._link, deadline=deadline if self.facts else min(deadline, self._until))[0]
            if "failed" in self.facts:
                raise ImportError(self.facts["failed"])
            if self.facts["parent"] == os.getpid():
                self.end()
                with suppress(OSError):
                    os.waitpid(self.facts["process"], 0)
                raise OSError("it would be a child of this process")

    def ask(
        self,
        given: dict[str, Any],
        blobs: Sequence[bytes],
        ticket: Ticket,
        on_half: Callable[[bytes], object] | None,
    ) -> tuple[dict[str, Any], tuple[bytes, ...]]:
        """The answer and its bytes. After an exception this helper is of no use any more."""
        number, timeout_s = next(_numbers), given["timeout_s"]
        deadline = time.monotonic() + timeout_s + min(_MOST_GRACE_S, timeout_s)
        files: list[int] = []
        self.asked = number
        try:
            for blob in blobs:
                files.append(new_file(blob))
            with self._sending:
                send(self._link, {**given, "number": number}, files, deadline=deadline)
            close_all(files)
            files = []
            ticket.begin(self, number)
            while True:
                message, files = receive(self._link, deadline=deadline)
                contents = tuple(map(read_file, files))
                close_all(files)
                files = []
                if message.get("number") != number:
                    continue
                if "is_partial" not in message:
                    return message, contents
                if on_half is not None:
                    on_half(b"".join(contents))
        finally:
            self.asked = None
            ticket.finish()
            close_all(files)

    def cancel(self, number: int) -> None:
        """Tell it that the answer is not wanted any more."""
        with suppress(OSError), self._sending:
            send(self._link, {"cancel": number}, deadline=time.monotonic() + START_S)

    def is_alive(self) -> bool:
        """True if its end of the socket is open."""
        waiting = select.poll()
        try:
            waiting.register(self._link.checked(), 0)
            return not waiting.poll(0)
        except OSError:
            return False

    def last_words(self) -> str:
        """The first line that it wrote as an error, "" for none."""
        with suppress(OSError):
            text = os.pread(self._stderr.checked(), _MOST_SAID, 0).decode("utf-8", "replace")
            return first_words(text)
        return ""

    def end(self) -> None:
        """End it, also where it is stopped, or a program that was started meanwhile has a copy of the socket."""
        with suppress(OSError), self._link.as_socket() as end:
            end.shutdown(socket.SHUT_RDWR)
        process = self.facts.get("process", 0)
        if process and start_time(process) == self.facts["started"]:
            for number in (signal.SIGTERM, signal.SIGCONT):
                with suppress(OSError):
                    os.kill(process, number)
        self.forget()

    def forget(self) -> None:
        """Leave the helper to the process that started it."""
        self._kept.close()


# ---------------------------------------------------------------- what this process has

_channels: weakref.WeakSet[Channel] = weakref.WeakSet()


def end_all() -> None:
    """End every helper of this process."""
    for channel in list(_channels):
        channel.end()


def _begin_anew() -> None:
    for channel in list(_channels):
        channel.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
atexit.register(end_all)
