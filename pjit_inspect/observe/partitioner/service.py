"""XLA's own partitioner, asked about a captured program in a process apart from the user's.

A server (`observe.partitioner.server`) is started with the first question: a process that has JAX imported, holds no
device and is no child of the user's. It compiles a copy of the program, for fake CPU devices or for chips that need not
be attached, until the partitioner has answered or to the end. Answers are kept, by program, devices and options. Not
its job: what an answer means (`parse`, `analyze`), or propagation without XLA's partitioner
(`observe.shardy.propagation`).
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import json
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.model.record.record import MemoryStats
from pjit_inspect.model.record.target import Effort
from pjit_inspect.model.sharding.mesh import Device
from pjit_inspect.observe.partitioner.messages import close_all, receive, send
from pjit_inspect.observe.partitioner.targets import MOST_CPU_DEVICES

__all__ = [
    "LANES",
    "Compiled",
    "Partitioned",
    "Ticket",
    "ask_partitioner",
    "cancel",
    "start_server",
    "stop_server",
]

LANES = 2
"""Servers that one process may have, each of which answers one question at a time."""

_SERVER = Path(__file__).with_name("start.py")
_HOME = str(Path(__file__).parents[3])
_MAX_ANSWERS, _MAX_ANSWER_BYTES = 32, 256 << 20
_MAX_PROGRAM_BYTES = 1 << 30
_LONGEST_S = 86_400.0
_GRACE_S = 10.0
"""How much longer than its own limit the server may take to say so."""
_OWN_FLAGS = re.compile(
    r"""(?:^|\s)--xla_(?:dump_\w+|force_host_platform_device_count)(?:=(?:"[^"]*"|'[^']*'|\S*))?(?=\s|$)"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A program that was compiled to the end, or until its buffers were placed and did not fit, and never ran.

    Attributes:
      hlo: the optimized program, a serialized `xla.HloModuleProto`.
      buffers: XLA's own account of its memory; b"" where it gives none.
      header: the first line of it as XLA prints it; None where that could not be had.
      cost: XLA's cost analysis.
      memory: bytes per device; None where XLA does not say.
      missing: which of these could not be had, and why.
    """

    hlo: bytes
    buffers: bytes
    header: str | None
    cost: dict[str, float]
    memory: MemoryStats | None
    missing: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioned:
    """A program right before and right after XLA's partitioner.

    Attributes:
      before: a serialized `xla.HloModuleProto`; every instruction has the sharding that partitioning begins with. b""
        where there is one partition, and nothing to split.
      after: the same as the partitioner left it, on one device: local shapes, collectives with their channel ids.
      partitioner: which propagation XLA used.
      partitions: how many the program was split into; a module's proto does not say it.
      free_inputs, free_outputs: for each argument and result, whether its sharding was left to the partitioner.
      result_names: JAX's names of the results (`result[0]`); "" where it has none.
      devices: the devices it was compiled for, in the order of partitions.
      notice: XLA's warning that it left Shardy for GSPMD, in its own words; "" when it did not.
      compiled: what XLA made of it in the end; None where only its partitioner was asked, or a failure left nothing.
      failure: why it was not compiled to the end, in XLA's words, all lines of it: memory is short; "" otherwise.
    """

    before: bytes
    after: bytes
    partitioner: Literal["shardy", "gspmd"]
    partitions: int
    free_inputs: tuple[bool, ...]
    free_outputs: tuple[bool, ...]
    result_names: tuple[str, ...]
    devices: tuple[Device, ...] = ()
    notice: str = ""
    compiled: Compiled | None = None
    failure: str = ""


def ask_partitioner(
    stablehlo: bytes,
    *,
    devices: int,
    flags: Mapping[str, str] = MappingProxyType({}),
    target: Mapping[str, Any] = MappingProxyType({}),
    effort: Effort = "partition",
    timeout_s: float = 120.0,
    ticket: Ticket | None = None,
    on_before: Callable[[bytes], object] | None = None,
) -> Partitioned:
    """What XLA's partitioner makes of a captured program, on as many fake CPU devices as it was compiled for.

    One question is answered at a time on each lane; others wait. Nothing is run, and nothing of it is seen by this
    process's JAX.

    Args:
      stablehlo: the program as MLIR bytecode, as JAX gave it to XLA.
      devices: how many the program is for: partitions times replicas.
      flags: a record's flags; the compiler options among them are used again, those of other platforms dropped.
      target: other devices, as `observe.partitioner.targets.question` describes them; {} for fake CPU devices.
      effort: how far to compile; with "full" the answer has the optimized program, too.
      timeout_s: how long to wait, the start of the server and the questions before this one included.
      ticket: by which the question can be taken back, and which lane it is asked on; the first by default.
      on_before: is given `Partitioned.before`, where that comes earlier than the rest, while XLA goes on; must not
        raise.

    Raises CaptureError with the reason when there is no answer: no server, time over, `cancel()`, a program that has
    one partition (but with "full"), is too large, or that XLA refuses or dies of. ChangeError where there are no such
    devices as `target` says, or JAX lays no such mesh over them.
    """
    if len(stablehlo) > _MAX_PROGRAM_BYTES:
        raise CaptureError(f"the program has {len(stablehlo)} bytes, more than XLA's partitioner is asked about")
    if not target and not 1 <= devices <= MOST_CPU_DEVICES:
        raise CaptureError(
            f"the program is for {devices:,} devices, and XLA's partitioner is asked with fake CPU devices, of which "
            f"there can be 1 to {MOST_CPU_DEVICES:,}; ask about a smaller mesh"
        )
    how = {"devices": devices, "flags": dict(flags), "target": dict(target), "effort": effort}
    key = _key(stablehlo, how)
    known = _here.answers.get(key)
    if known is None:
        known = _ask(stablehlo, how, time.monotonic() + min(timeout_s, _LONGEST_S), ticket or Ticket(), on_before)
        _here.answers.put(key, known)
    return known


def cancel() -> None:
    """Make every question of this process that has no answer yet raise CaptureError; to be called in another thread."""
    _here.cancelled = next(_here.counter)
    for lane in _here.lanes:
        server = lane.server
        asked = server.asked if server is not None else None
        if server is not None and asked is not None:
            server.cancel(asked)


def start_server(lane: int = 0) -> None:
    """Start a server without waiting for it, so that the first question need not wait for its import of JAX."""
    with _here.lanes[lane].lock:
        _server(_here.lanes[lane])


def stop_server(lane: int | None = None) -> None:
    """End this process's servers, or that of one lane, and what they are doing; the next question starts another."""
    for own in _here.lanes if lane is None else (_here.lanes[lane],):
        own.stop()


class Ticket:
    """One question to XLA's partitioner, which another thread may take back.

    Attributes:
      lane: the server that is asked, from 0 to `LANES` - 1.
      is_cancelled: whether it was taken back.
    """

    def __init__(self, lane: int = 0) -> None:
        """Ask on this lane; a server is started there with the first question."""
        self.lane: int = lane
        self.is_cancelled: bool = False
        self._number: int | None = None

    def cancel(self) -> None:
        """Make the question raise CaptureError, at once where XLA is at it."""
        self.is_cancelled = True
        server, number = _here.lanes[self.lane].server, self._number
        if server is not None and number is not None and server.asked == number:
            server.cancel(number)

    def begin(self, number: int) -> None:
        """The question has this number from now on."""
        self._number = number


# ---------------------------------------------------------------- one question


def _ask(
    stablehlo: bytes,
    how: dict[str, Any],
    deadline: float,
    ticket: Ticket,
    on_before: Callable[[bytes], object] | None = None,
) -> Partitioned:
    here, lane = _here, _here.lanes[ticket.lane]
    number = next(here.counter)
    ticket.begin(number)

    def is_cancelled() -> bool:
        return ticket.is_cancelled or number < here.cancelled

    if not lane.lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
        raise CaptureError("XLA's partitioner was busy with other programs; give it more time, or ask again")
    try:
        if is_cancelled():
            raise CaptureError("XLA's partitioner was not asked: it was cancelled")
        question = {"number": number, "program": len(stablehlo), **how}
        with _as_file(stablehlo) as program:
            message, files = _exchange(lane, question, program.fileno(), deadline, is_cancelled, on_before)
    except OSError as error:
        raise CaptureError(f"XLA's partitioner could not be asked: {error}") from error
    finally:
        lane.lock.release()
    try:
        return _read(message, files)
    finally:
        close_all(files)


def _exchange(
    lane: _Lane,
    question: dict[str, Any],
    program: int,
    deadline: float,
    is_cancelled: Callable[[], bool],
    on_before: Callable[[bytes], object] | None,
) -> tuple[dict[str, Any], list[int]]:
    server = _server(lane)
    left = deadline - time.monotonic()
    try:
        question = {**question, "timeout_s": max(left, 0.1)}
        return server.ask(question, program, deadline + _GRACE_S, is_cancelled, on_before)
    except (EOFError, OSError, ValueError) as error:
        lane.stop()
        if isinstance(error, TimeoutError):
            raise CaptureError(
                f"the process that asks XLA's partitioner gave no answer in {left:.0f} s; give it more time"
            ) from error
        said = server.refusal or "it ended before it answered; memory may be short"
        raise CaptureError(f"the process that asks XLA's partitioner could not help: {said}") from error


def _read(message: dict[str, Any], files: list[int]) -> Partitioned:
    if "unfit" in message:
        raise ChangeError(message["unfit"])
    has_program = message.get("partitions") != 1
    if "refused" in message or len(files) != 2 * (has_program + ("compiled" in message)):
        raise CaptureError(f"XLA's partitioner gave no answer: {message.get('refused', 'its files did not come')}")
    contents = list(map(_content, files))
    before, after = contents[:2] if has_program else (b"", b"")
    compiled = contents[2 * has_program :]
    return Partitioned(
        before=before,
        after=after,
        partitioner=message["partitioner"],
        partitions=message["partitions"],
        free_inputs=tuple(message["free_inputs"]),
        free_outputs=tuple(message["free_outputs"]),
        result_names=tuple(message["result_names"]),
        devices=tuple(map(_device, message["devices"])),
        notice=message["notice"],
        compiled=_compiled(message["compiled"], *compiled) if compiled else None,
        failure=message.get("failure", ""),
    )


def _device(facts: list[Any]) -> Device:
    number, platform, kind, process, coords = facts
    return Device(id=number, platform=platform, kind=kind, process=process, coords=coords and tuple(coords))


def _compiled(facts: dict[str, Any], hlo: bytes, buffers: bytes) -> Compiled:
    memory = facts["memory"]
    return Compiled(
        hlo=hlo,
        buffers=buffers,
        header=facts["hlo_header"],
        cost=facts["cost"],
        memory=None if memory is None else MemoryStats(**memory),
        missing=facts["missing"],
    )


def _content(file: int) -> bytes:
    with os.fdopen(file, "rb", closefd=False) as opened:
        return opened.read()


def _as_file(content: bytes) -> Any:
    """An open file without a name."""
    memory = getattr(os, "memfd_create", None)
    file = os.fdopen(memory("program"), "w+b") if memory else tempfile.TemporaryFile()  # noqa: SIM115  (the caller's)
    try:
        file.write(content)
        file.flush()
    except BaseException:
        file.close()
        raise
    return file


def _key(stablehlo: bytes, how: Mapping[str, Any]) -> bytes:
    digest = hashlib.sha256(stablehlo)
    digest.update(json.dumps(how, sort_keys=True).encode())
    return digest.digest()


# ---------------------------------------------------------------- the server's near end


class _Server:
    """A started server. `asked` is the number of the question it has now; `refusal` why it could not start."""

    def __init__(self) -> None:
        self.asked: int | None = None
        self.refusal = ""
        self.facts: dict[str, Any] = {}
        self._is_midway = False
        self.link = _start()

    def ask(
        self,
        question: dict[str, Any],
        program: int,
        deadline: float,
        is_cancelled: Callable[[], bool],
        on_before: Callable[[bytes], object] | None,
    ) -> tuple[dict[str, Any], list[int]]:
        """The answer and its files. Raises EOFError, OSError or ValueError when the server is of no use any more."""
        self.asked = number = question["number"]
        try:
            self.link.settimeout(max(deadline - time.monotonic(), 0.001))
            # A server that could not start has said why, and hears nothing any more.
            with suppress(BrokenPipeError, ConnectionResetError):
                send(self.link, question, [program])
            if is_cancelled():
                # It was cancelled after its turn had come and before the server could be told.
                self.cancel(number)
            while True:
                message, files = self._receive(deadline)
                if "start" in message:
                    self.refusal, self.facts = message["start"], message
                elif message.get("number") == number and "is_before" not in message:
                    return message, files
                else:
                    # Half of the answer, or that of a question that was interrupted.
                    try:
                        if message.get("number") == number and on_before is not None:
                            on_before(b"".join(map(_content, files)))
                    finally:
                        close_all(files)
        except BaseException:
            if self._is_midway:
                self.end()
            self.cancel(number)
            raise
        finally:
            self.asked = None

    def cancel(self, number: int) -> None:
        with suppress(OSError):
            send(self.link, {"cancel": number})

    def _receive(self, deadline: float) -> tuple[dict[str, Any], list[int]]:
        # Not `select`, which takes no file above 1,023. The wait may be interrupted; a message half read is lost.
        waiting = select.poll()
        waiting.register(self.link, select.POLLIN)
        if not waiting.poll(1e3 * max(deadline - time.monotonic(), 0.001)):
            raise TimeoutError
        self._is_midway = True
        message = receive(self.link)
        self._is_midway = False
        return message

    def is_alive(self) -> bool:
        try:
            self.link.setblocking(False)
            return self.link.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def end(self) -> None:
        """End the server, also where a program that was started meanwhile has a copy of the socket."""
        with suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)
        self.forget()

    def forget(self) -> None:
        """Leave the server to the process that started it."""
        self.link.close()


def _server(lane: _Lane) -> _Server:
    """The running server of a lane, or a new one; its lock is held."""
    if lane.server is not None and not lane.server.is_alive():
        lane.stop()
    if lane.server is None:
        try:
            lane.server = _Server()
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            raise CaptureError(f"the process that asks XLA's partitioner cannot be started: {error}") from error
    return lane.server


def _start() -> socket.socket:
    if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
        raise OSError("this system cannot fork a process or pass it files")
    if not sys.executable:
        raise OSError("this Python does not know its own program")
    near, far = (_above_standard(end) for end in socket.socketpair())
    try:
        command = [sys.executable, "-P", "-W", "ignore", str(_SERVER), str(os.getpid()), _HOME]
        quiet = subprocess.DEVNULL
        # It forks itself off and ends at once: nobody has to wait for the server, nor can by accident.
        starter = subprocess.Popen(
            command,
            stdin=far.fileno(),
            stdout=quiet,
            stderr=quiet,
            env=_environment(),
            start_new_session=True,
        )
        starter.wait()
    except BaseException:
        near.close()
        raise
    finally:
        far.close()
    return near


def _above_standard(end: socket.socket) -> socket.socket:
    """The same socket with a number above those of standard input, output and error, which may have been closed."""
    import fcntl

    with end:
        return socket.socket(fileno=fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, 3))


def _environment() -> dict[str, str]:
    """The user's environment, so that the same jax is found and XLA's flags hold; but nothing of dumps or devices."""
    own = {name: value for name, value in os.environ.items() if name not in ("TF_CPP_MAX_VLOG_LEVEL", "TF_CPP_VMODULE")}
    flags = _OWN_FLAGS.sub(" ", _xla_flags(own.pop("XLA_FLAGS", ""))).strip()
    if flags:
        own["XLA_FLAGS"] = flags
    # One thread for numpy's libraries: a process with several cannot be forked safely. Level 1 prints warnings.
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = os.pathsep.join(filter(None, sys.path))
    return own | single | {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "1"}


def _xla_flags(value: str) -> str:
    """XLA's flags; a value that does not begin as one is the name of a file that has them."""
    if value.strip().startswith("--"):
        return value
    with suppress(OSError, ValueError):
        return Path(value).read_text(encoding="utf-8", errors="surrogateescape")
    return value


# ---------------------------------------------------------------- what this process holds


def _size(answer: Partitioned) -> int:
    return len(answer.before) + len(answer.after) + (len(answer.compiled.hlo) if answer.compiled is not None else 0)


@dataclass(slots=True)
class _Answers:
    """The answers used last, as many as fit."""

    found: OrderedDict[bytes, Partitioned] = field(default_factory=OrderedDict)
    lock: Any = field(default_factory=threading.Lock)

    def get(self, key: bytes) -> Partitioned | None:
        with self.lock:
            if key in self.found:
                self.found.move_to_end(key)
            return self.found.get(key)

    def put(self, key: bytes, answer: Partitioned) -> None:
        with self.lock:
            self.found[key] = answer
            while len(self.found) > _MAX_ANSWERS or self._size() > _MAX_ANSWER_BYTES:
                self.found.popitem(last=False)

    def _size(self) -> int:
        return sum(map(_size, self.found.values()))


@dataclass(slots=True)
class _Lane:
    """One server, and the lock of who asks it."""

    lock: Any = field(default_factory=threading.Lock)
    server: _Server | None = None

    def stop(self) -> None:
        server, self.server = self.server, None
        if server is not None:
            server.end()


@dataclass(slots=True)
class _Here:
    """What one process has: a process that was forked off starts with nothing."""

    lanes: tuple[_Lane, ...] = field(default_factory=lambda: tuple(_Lane() for _ in range(LANES)))
    counter: Any = field(default_factory=lambda: itertools.count(1))
    cancelled: int = 0
    answers: _Answers = field(default_factory=_Answers)

    @property
    def server(self) -> _Server | None:
        """That of the first lane."""
        return self.lanes[0].server


_here = _Here()


def _begin_anew() -> None:
    """In a process that was forked off: the server is the parent's, and threads that hold a lock are not here."""
    global _here
    before, _here = _here, _Here()
    for lane in before.lanes:
        if lane.server is not None:
            lane.server.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
atexit.register(stop_server)
