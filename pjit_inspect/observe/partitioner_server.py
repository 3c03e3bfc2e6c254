"""The other end of `observe.partitioner_service`: a process that has imported JAX, and forks a child per question.

A script of its own, which never starts a backend, never has a second thread and never imports the user's program. It
detaches itself first, so that it is no child of the user's process, and ends when its socket closes. A child makes a
client of fake CPU devices, compiles the program with XLA's dump on, and is killed as soon as the partitioner's files
are complete: what follows them, code generation above all, is never waited for.

What it needs of JAX's private names lies in `observe._jax` (`cpu_devices`, `compile_unseen`) and is listed in
`observe.contract`. Not its job: when to ask, and what the answer means.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["main"]

_DUMPED = "spmd-partitioning|sharding-propagation"
"""Not "shardy" too, for which XLA writes five more files, nor "shardy-verbose", which can end the process."""
_AFTER = ".after_spmd-partitioning."
_PROPAGATION = "sharding-propagation"
_BEFORE = (".before_spmd-partitioning.", ".after_shardy-xla.", f".after_{_PROPAGATION}.", f".before_{_PROPAGATION}.")
_MAX_DUMP_BYTES = 1 << 30
_MAX_STDERR_BYTES = 1 << 18
_NOTICE = "Module has GSPMD attrs or ops"
_UNKNOWN_OPTION = "No such compile option: '"
_SHORT_PAUSE_S, _LONG_PAUSE_S = 0.002, 0.05
_OWNER_CHECK_S = 60.0
_MEMORY, _PREFIX = "/dev/shm", "pjit_inspect_partitioner_"
_FACTS, _FAILURE, _STDERR = "pjit_inspect.facts", "pjit_inspect.failure", "pjit_inspect.stderr"


class _OwnerGoneError(Exception):
    """The user's process closed the socket, or is there no more."""


class _RefusedError(Exception):
    """The question has no answer, for the reason that this says."""


class _CancelledError(Exception):
    """The user's process wants this question answered no more."""


# ---------------------------------------------------------------- messages


def send(link: socket.socket, message: Mapping[str, Any], files: list[int] | None = None) -> None:
    """One message: its length in four bytes, then JSON; open files go with it."""
    text = json.dumps(message).encode()
    data = len(text).to_bytes(4, "big") + text
    sent = socket.send_fds(link, [data], files) if files else link.send(data)
    link.sendall(data[sent:])


def receive(link: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The next message and the files that came with it. Raises EOFError when the other end is closed."""
    head, files, _, _ = socket.recv_fds(link, 4, 2)
    try:
        length = int.from_bytes(head + _exactly(link, 4 - len(head)), "big") if head else 0
        if not length:
            raise EOFError("the other end is closed")
        return json.loads(_exactly(link, length)), list(files)
    except BaseException:
        close_all(files)
        raise


def _exactly(link: socket.socket, length: int) -> bytes:
    parts = []
    while length:
        part = link.recv(length)
        if not part:
            raise EOFError("the other end is closed")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def close_all(files: Any) -> None:
    """Close open files, given by their numbers."""
    for file in files:
        with suppress(OSError):
            os.close(file)


# ---------------------------------------------------------------- the server


def main() -> None:
    """Answer questions on file descriptor 0, a socket, until it closes.

    The arguments: the process that asks, and the folder in which this package lies.
    """
    if os.fork():
        os._exit(0)
    owner = int(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    link = socket.socket(fileno=0)
    try:
        _import_jax(sys.argv[2])
    except Exception as error:
        with suppress(OSError):
            send(link, {"start": f"{type(error).__name__}: {error}"})
        return
    try:
        send(link, {"start": "", "threads": _count_threads(), "process": os.getpid()})
        while True:
            _wait_for_question(link, owner)
            _serve(link, *receive(link))
    except (_OwnerGoneError, EOFError, OSError):
        return


def _import_jax(home: str) -> None:
    import gc

    try:
        import pjit_inspect.observe  # noqa: F401
    except ImportError:
        sys.path.append(home)
    # Everything a child imports is imported here, once.
    import jaxlib.mlir.dialects.stablehlo  # noqa: F401
    from jax._src import compiler  # noqa: F401
    from jax._src.interpreters import mlir  # noqa: F401

    from pjit_inspect.observe import _jax, _mlir, how_compiled  # noqa: F401

    _remove_left_over()
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


def _serve(link: socket.socket, message: dict[str, Any], files: list[int]) -> None:
    if "program" not in message or not files:
        # A question that was cancelled after its answer had gone.
        close_all(files)
        return
    number, found = message["number"], []
    try:
        answer, found = _ask_child(link, message, files[0])
    except (_RefusedError, OSError) as error:
        answer = {"refused": str(error)}
    except _CancelledError:
        answer = {"refused": "it was cancelled", "cancelled": True}
    finally:
        close_all(files)
    try:
        send(link, {"number": number, **answer}, found)
    finally:
        close_all(found)


# ---------------------------------------------------------------- one question


def _ask_child(link: socket.socket, question: dict[str, Any], program: int) -> tuple[dict[str, Any], list[int]]:
    import shutil
    import tempfile

    prefix = f"{_PREFIX}{sys.argv[1]}_"
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=_roomy(question["program"])))
    held = _hold(folder)
    try:
        server, child = os.getpid(), os.fork()
        if not child:
            _be_child(server, link, question, program, folder)
        try:
            ended = _watch(link, child, folder, question)
        finally:
            _end(child)
        return _answer(folder, ended)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _hold(folder: str | Path) -> int:
    """A lock on a folder, for as long as this process or a child has it open. Raises BlockingIOError when held."""
    import fcntl

    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(held)
        raise
    return held


def _remove_left_over() -> None:
    """Folders of servers that were killed: nobody holds them."""
    import shutil
    import tempfile

    for home in (_MEMORY, tempfile.gettempdir()):
        with suppress(OSError):
            names = [entry.path for entry in os.scandir(home) if entry.name.startswith(_PREFIX)]
            for name in names:
                with suppress(OSError):
                    if os.lstat(name).st_uid != os.getuid():
                        continue
                    held = _hold(name)
                    shutil.rmtree(name, ignore_errors=True)
                    os.close(held)


def _roomy(size_bytes: int) -> str | None:
    """Memory where there is room for what XLA writes about a program of this size; None for the temporary folder."""
    try:
        room = os.statvfs(_MEMORY)
    except OSError:
        return None
    # 16 layers: 191 KB of bytecode, 5 MB of dump.
    needed = min((32 << 20) + 64 * size_bytes, _MAX_DUMP_BYTES)
    return _MEMORY if os.access(_MEMORY, os.W_OK) and room.f_bavail * room.f_frsize >= needed else None


def _watch(link: socket.socket, child: int, folder: Path, question: dict[str, Any]) -> int | None:
    """Wait until the files are complete (None) or the child has ended (how, as `os.waitpid` says)."""
    start, number, timeout_s = time.monotonic(), question["number"], question["timeout_s"]
    while True:
        now = time.monotonic()
        # Small programs take milliseconds, for which a pause would show; large ones do not notice a longer one.
        pause = min(max(_SHORT_PAUSE_S, (now - start) / 50), _LONG_PAUSE_S)
        if select.select([link], [], [], pause)[0]:
            _hear(link, number)
        # Asked in this order: a child that ended in between has written all it wrote.
        ended, status = os.waitpid(child, os.WNOHANG)
        if _find(folder) is not None:
            return None
        if ended:
            return status
        if now - start > timeout_s:
            raise _RefusedError(
                f"XLA's partitioner had no answer after {timeout_s:g} s; give it more time, or ask about fewer layers"
            )
        if _size(folder) > _MAX_DUMP_BYTES:
            raise _RefusedError(
                f"XLA writes more than {_MAX_DUMP_BYTES >> 30} GiB about this program, more than is read; ask about "
                f"fewer layers"
            )


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
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


def _size(folder: Path) -> int:
    with suppress(OSError), os.scandir(folder) as entries:
        return sum(entry.stat().st_size for entry in entries)
    return 0


def _answer(folder: Path, ended: int | None) -> tuple[dict[str, Any], list[int]]:
    stderr = _read_text(folder / _STDERR)
    if ended is not None:
        raise _RefusedError(_why(folder, ended, stderr))
    files = _find(folder)
    if files is None:
        raise _RefusedError("XLA's files about the partitioner went away while they were read; ask again")
    before, after = files
    answer = {
        **json.loads(_read_text(folder / _FACTS)),
        "partitioner": "shardy" if _used_shardy(folder) else "gspmd",
        "notice": next((line.partition("] ")[2] for line in stderr.splitlines() if _NOTICE in line), ""),
    }
    opened = [_open_module(path) for path in (before, after)]
    return answer, opened


def _open_module(path: Path) -> int:
    """An open file, placed at the module in it."""
    file = os.open(path, os.O_RDONLY)
    os.lseek(file, _frame(path)[0], os.SEEK_SET)
    return file


def _find(folder: Path) -> tuple[Path, Path] | None:
    """The files before and after partitioning, once both are complete."""
    with suppress(OSError):
        # Numbered in the order of passes. A pass that changes nothing writes nothing: then an earlier file holds.
        names = sorted(name for name in os.listdir(folder) if name.endswith(".hlo.pb"))
        after = next((name for name in names if _AFTER in name), None)
        if after is None:
            return None
        own = [name for name in names[: names.index(after)] if name.split(".")[0] == after.split(".")[0]]
        before = next((name for part in _BEFORE for name in own if part in name), None)
        if before is not None and _is_complete(folder / before) and _is_complete(folder / after):
            return folder / before, folder / after
    return None


def _is_complete(path: Path) -> bool:
    start, length = _frame(path)
    return start > 0 and path.stat().st_size >= start + length


def _frame(path: Path) -> tuple[int, int]:
    """Where the module begins in a file of XLA's, and its length; (0, 0) while that is not written.

    The file is a `xla.HloProto`, of which the module is field 1 and comes first: its length is written before it, so
    that no part of a file can be taken for all of it.
    """
    with path.open("rb") as file:
        head = file.read(11)
    length = 0
    if head[:1] != b"\x0a":
        return 0, 0
    for place, byte in enumerate(head[1:]):
        length |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return place + 2, length
    return 0, 0


def _used_shardy(folder: Path) -> bool:
    """Whether no file names GSPMD's propagation, which runs in the place of Shardy's."""
    return not any(_PROPAGATION in name for name in os.listdir(folder))


def _why(folder: Path, ended: int, stderr: str) -> str:
    """Why a child ended without an answer."""
    failure = _read_text(folder / _FAILURE)
    if failure:
        return failure
    how = f"signal {os.WTERMSIG(ended)}" if os.WIFSIGNALED(ended) else f"exit status {os.waitstatus_to_exitcode(ended)}"
    if how == "exit status 0":
        return "XLA compiled the program but wrote no program before and after partitioning"
    said = next((line for line in reversed(stderr.splitlines()) if line.startswith(("F", "E"))), "")
    return f"the process that asked XLA's partitioner ended by {how}" + (f": {said[:300]}" if said else "")


def _read_text(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        return file.read(_MAX_STDERR_BYTES).decode("utf-8", "replace")
    return ""


# ---------------------------------------------------------------- the child


def _be_child(server: int, link: socket.socket, question: dict[str, Any], program: int, folder: Path) -> None:
    """Compile; never returns."""
    status = 1
    try:
        _become_quiet(link, folder, question["timeout_s"])
        _end_with(server)
        with os.fdopen(program, "rb", closefd=False) as file:
            file.seek(0)
            bytecode = file.read()
        _compile(bytecode, question, folder)
        status = 0
    except BaseException as error:
        _write(folder, _FAILURE, _first_line(error))
    finally:
        os._exit(status)


def _become_quiet(link: socket.socket, folder: Path, timeout_s: float) -> None:
    import resource

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Should the server be killed, this process still ends.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(timeout_s) + 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_DUMP_BYTES, _MAX_DUMP_BYTES))
    # The socket is closed here, so that the user's process hears when the server dies.
    link.detach()
    nothing = os.open(os.devnull, os.O_RDONLY)
    stderr = os.open(folder / _STDERR, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    os.nice(5)


def _end_with(server: int) -> None:
    """On Linux a child ends as soon as its server does."""
    import ctypes

    with suppress(OSError, AttributeError):
        set_signal_of_parents_death = 1
        ctypes.CDLL(None).prctl(set_signal_of_parents_death, signal.SIGKILL)
    if os.getppid() != server:
        raise _OwnerGoneError


def _compile(bytecode: bytes, question: dict[str, Any], folder: Path) -> None:
    from pjit_inspect.observe import _jax, _mlir, how_compiled

    flags, devices = question["flags"], question["devices"]
    with _mlir.open_module(bytecode) as module:
        partitions = how_compiled.count_partitions(module)
        if partitions == 1:
            raise _RefusedError("the program has one partition, so XLA runs no partitioner on it")
        if devices % partitions:
            raise _RefusedError(f"{devices} devices do not fit a program of {partitions} partitions")
        is_open = how_compiled.open_borders(module)
        facts = {
            "partitions": partitions,
            "free_inputs": is_open[0],
            "free_outputs": is_open[1],
            "result_names": how_compiled.result_names(module),
        }
        _write(folder, _FACTS, json.dumps(facts))
        found = _jax.cpu_devices(devices)
        options = _options(how_compiled.compiler_options(flags), folder)
        shardy = how_compiled.is_for_shardy(module, flags)
        while True:
            try:
                _jax.compile_unseen(
                    module, found, options, is_open, replicas=devices // partitions, is_for_shardy=shardy
                )
            except RuntimeError as error:
                # An option of another platform, with which the program was compiled there; or one newer than this XLA.
                unknown = str(error).partition(_UNKNOWN_OPTION)[2].partition("'")[0]
                if unknown not in options:
                    raise _RefusedError(
                        f"XLA does not compile the program for CPU devices: {_first_line(error)}"
                    ) from error
                del options[unknown]
            else:
                return


def _options(own: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The user's options but those of dumps, and ours, which also undo what XLA_FLAGS says of dumps."""
    kept = {name: value for name, value in own.items() if not name.startswith("xla_dump_")}
    return kept | {
        "xla_dump_to": str(folder),
        "xla_dump_hlo_pass_re": _DUMPED,
        "xla_dump_hlo_module_re": "",
        "xla_dump_hlo_pipeline_re": "",
        "xla_dump_hlo_as_proto": True,
        "xla_dump_hlo_as_text": False,
        "xla_dump_hlo_as_dot": False,
        "xla_dump_hlo_as_html": False,
        "xla_dump_hlo_as_url": False,
        "xla_dump_hlo_snapshots": False,
        "xla_dump_compress_protos": False,
        "xla_dump_disable_metadata": False,
        "xla_dump_max_hlo_modules": -1,
    }


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_bytes(text.encode("utf-8", "replace"))


def _first_line(error: BaseException) -> str:
    if isinstance(error, _RefusedError):
        return str(error)
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


if __name__ == "__main__":
    main()
    os._exit(0)
