"""What XLA writes to file descriptor 2 is heard, and arrives as if nobody had listened.

Most tests let a stand-in for XLA write between the events that JAX gives for a compile; the last ones run the real one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import tty
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.monitoring
import nbformat
import numpy as np
import pytest
from jax._src import monitoring
from jax._src.dispatch import log_elapsed_time
from nbclient import NotebookClient
from observe.programs import COMPILE_EVENT, recorded

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.watch import listener, stderr_copy, stderr_relay, xla_stderr
from pjit_inspect.observe.watch.record import make_record

WARNING = "W1120 12:00:00.000000 99999999 some_pass.cc:12] This is inefficient.\n"
THREAD = "pjit_inspect stderr"


class Terminal:
    """Whatever descriptor 2 leads to in a test, seen from the other side."""

    def __init__(self) -> None:
        self.read, self.seen = -1, b""

    def install(self, read: int, write: int) -> None:
        self.read = read
        os.dup2(write, 2)
        self.identity = identity(2)

    def text(self) -> str:
        """Everything that has arrived so far."""
        while select.select([self.read], [], [], 0)[0] and (part := os.read(self.read, 1 << 16)):
            self.seen += part
        return self.seen.decode()

    def is_back(self) -> bool:
        return identity(2) == self.identity


def identity(descriptor: int) -> tuple[int, int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_rdev


def opened(kind: str, folder: Path) -> tuple[int, int]:
    if kind == "pipe":
        return os.pipe()
    if kind == "terminal":
        try:
            master, slave = pty.openpty()
        except OSError as error:
            pytest.skip(str(error))
        tty.setraw(slave)
        return master, slave
    append = os.O_APPEND if kind == "log file" else 0
    write = os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | append)
    os.write(write, b"from before\n")
    read = os.open(folder / "stderr", os.O_RDONLY)
    os.lseek(read, 0, os.SEEK_END)
    return read, write


@contextlib.contextmanager
def leading_to(kind: str, folder: Path, terminal: Terminal | None = None) -> Iterator[Terminal]:
    saved = os.dup(2)
    read, write = opened(kind, folder)
    terminal = terminal or Terminal()
    try:
        terminal.install(read, write)
        yield terminal
    finally:
        os.dup2(saved, 2)
        for descriptor in (saved, read, write):
            with contextlib.suppress(OSError):
                os.close(descriptor)


def during_the_test(request: pytest.FixtureRequest, kind: str, folder: Path) -> Terminal:
    """The other side of descriptor 2 while the test's own lines run: around them pytest has a file of its own there."""
    test, terminal = request.node.obj, Terminal()

    def run_test(**arguments: object) -> None:
        with leading_to(kind, folder, terminal):
            try:
                test(**arguments)
            finally:
                xla_stderr.close()

    request.node.obj = run_test
    return terminal


@pytest.fixture
def pipe(request: pytest.FixtureRequest, tmp_path: Path) -> Terminal:
    return during_the_test(request, "pipe", tmp_path)


@pytest.fixture(params=["pipe", "terminal", "file", "log file"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Terminal:
    return during_the_test(request, request.param, tmp_path)


def compiling(name: str = "jit(f)") -> contextlib.AbstractContextManager[None]:
    """The events of a compile around the block, from JAX itself."""
    return log_elapsed_time("{fun_name} {elapsed_time}", fun_name=name, event=COMPILE_EVENT)


def say(text: str) -> None:
    """Write as XLA does: past Python's own streams."""
    os.write(2, text.encode())


def compile_saying(text: str) -> None:
    with compiling():
        say(text)


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def our_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == THREAD]


# ---------------------------------------------------------------- heard, and passed on


def test_a_warning_is_on_the_record_and_arrives_unchanged(anywhere: Terminal) -> None:
    records: list[RecordData] = []
    with recorded(records):
        say("before\n")
        with compiling():
            say("a progress bar 10%\r" + WARNING + "somebody else's line")
        say(", and its end\n")
        assert anywhere.is_back()
    assert anywhere.text() == f"before\na progress bar 10%\r{WARNING}somebody else's line, and its end\n"
    assert [record.compiler_log for record in records] == [f"{WARNING}somebody else's line\n"]


def test_each_compile_has_its_own_warnings(anywhere: Terminal) -> None:
    records: list[RecordData] = []
    with recorded(records):
        for number in range(3):
            with compiling():
                say(WARNING.replace("This", f"Number {number}"))
            say("in between\n")
    assert [record.compiler_log for record in records] == [WARNING.replace("This", f"Number {n}") for n in range(3)]
    assert anywhere.text().count("in between\n") == 3


def test_a_compile_that_says_nothing_has_an_empty_log(anywhere: Terminal) -> None:
    records: list[RecordData] = []
    with recorded(records), compiling():
        say("not of XLA\n")
    assert [record.compiler_log for record in records] == [""]
    assert "compiler_log" not in records[0].missing
    assert anywhere.text() == "not of XLA\n"


def test_a_silent_compile_asks_nobody_once_the_process_is_there(
    pipe: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    ask = stderr_relay.Relay._ask
    monkeypatch.setattr(stderr_relay.Relay, "_ask", lambda *given: asked.append(1) or ask(*given))
    records: list[RecordData] = []
    with recorded(records):
        compile_saying("")
        assert eventually(lambda: not asked or pipe.is_back())
        asked.clear()
        for text in ("", WARNING, "", ""):
            asked.append(0)
            compile_saying(text)
    assert [record.compiler_log for record in records] == ["", "", WARNING, "", ""]
    # Only the one that wrote: for its text, and that all was passed on.
    last = "".join(map(str, asked)).split("0")
    assert last[1] == last[4] == ""
    assert last[2].startswith("1")


def test_the_thread_that_looks_is_woken_once_for_many_compiles_and_rests_when_there_are_no_more(
    pipe: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[int] = []

    class Told(threading.Event):
        def set(self) -> None:
            woken.append(1)
            super().set()

    monkeypatch.setattr(stderr_copy.threading, "Event", Told)
    monkeypatch.setattr(stderr_copy, "_MOST_QUIET", 3)
    with listener.observed(lambda *_: None):
        # With the lock that the thread takes too, it cannot rest in between.
        with xla_stderr._lock:
            for _ in range(5):
                compile_saying("")
        redirect = xla_stderr._redirect
        assert redirect is not None
        # Threads have an event each of their own, which is set when they have started.
        first = len(woken)
        assert first <= 2
        assert eventually(lambda: not redirect._awake.is_set())
        with compiling():
            assert redirect._awake.is_set()
            assert not pipe.is_back()
        assert len(woken) == first + 1
        assert pipe.is_back()


def test_without_shared_memory_the_process_is_asked_each_time(pipe: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    records: list[RecordData] = []
    with recorded(records):
        for text in ("", WARNING, ""):
            compile_saying(text)
    assert [record.compiler_log for record in records] == ["", WARNING, ""]
    assert pipe.text() == WARNING


def test_what_is_written_in_a_long_compile_is_seen_before_it_ends(anywhere: Terminal) -> None:
    with listener.observed(lambda *_: None), compiling():
        say("still compiling\n")
        assert eventually(lambda: anywhere.text() == "still compiling\n")


def test_nothing_is_changed_but_while_xla_compiles(pipe: Terminal) -> None:
    with listener.observed(lambda *_: None):
        jax.jit(lambda a: a * 3).lower(np.float32(1))
        assert pipe.is_back()
        assert our_threads() == []
        with compiling():
            assert not pipe.is_back()
        assert pipe.is_back()
    assert pipe.is_back()
    assert eventually(lambda: our_threads() == [])


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    with leading_to("file", tmp_path) as file, listener.observed(lambda *_: None), compiling():
        assert file.is_back()
        assert our_threads() == []


def test_nothing_is_left_behind(anywhere: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(os.listdir("/proc/self/fd")), os.listdir(tmp_path)
    with listener.observed(lambda *_: None), compiling():
        say(WARNING)
    assert (sorted(os.listdir("/proc/self/fd")), os.listdir(tmp_path)) == before


def test_more_than_a_pipe_holds_arrives_whole(pipe: Terminal) -> None:
    line = "x" * 99 + "\n"
    with listener.observed(lambda *_: None), compiling():
        # Nobody reads yet: with a pipe in its place, XLA would wait here for ever.
        for _ in range(5000):
            say(line)
        reader = threading.Thread(target=eventually, args=(lambda: len(pipe.text()) == 500_000,))
        reader.start()
    reader.join()
    assert pipe.text() == line * 5000


def test_a_pipe_that_does_not_wait_gets_everything_too(pipe: Terminal) -> None:
    os.set_blocking(2, False)
    fcntl.fcntl(2, fcntl.F_SETPIPE_SZ, 4096)
    with listener.observed(lambda *_: None), compiling():
        say("x" * 100_000)
        reader = threading.Thread(target=eventually, args=(lambda: len(pipe.text()) == 100_000,))
        reader.start()
    reader.join()
    assert pipe.text() == "x" * 100_000


# ---------------------------------------------------------------- put back, whatever happens


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, MemoryError])
def test_a_compile_that_raises_leaves_descriptor_2_as_it_was(error: type[BaseException], anywhere: Terminal) -> None:
    def fail() -> None:
        with compiling():
            say(WARNING)
            raise error

    with listener.observed(lambda *_: None):
        with pytest.raises(error):
            fail()
        assert anywhere.is_back()
    assert anywhere.text() == WARNING


def raising(*_: object, **__: object) -> None:
    raise ZeroDivisionError


def test_a_compile_that_never_begins_leaves_descriptor_2_as_it_was(pipe: Terminal) -> None:
    """A second Ctrl-C, or a listener of somebody else's, may come between the event and the compile."""
    with listener.observed(lambda *_: None):
        jax.monitoring.register_scalar_listener(raising)
        try:
            with pytest.raises(ZeroDivisionError):
                compile_saying("never")
        finally:
            monitoring.unregister_scalar_listener(raising)
        say("after\n")
        assert eventually(pipe.is_back)
    assert pipe.text() == "after\n"


def test_a_compile_whose_end_is_not_told_leaves_descriptor_2_as_it_was(pipe: Terminal) -> None:
    jax.monitoring.register_event_duration_secs_listener(raising)
    try:
        with listener.observed(lambda *_: None):
            with pytest.raises(ZeroDivisionError):
                compile_saying(WARNING)
            assert eventually(pipe.is_back)
            assert eventually(lambda: pipe.text() == WARNING)
    finally:
        monitoring.unregister_event_duration_listener(raising)


def test_an_error_of_ours_leaves_descriptor_2_as_it_was(pipe: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla_stderr, "_messages", raising)
    records: list[RecordData] = []
    with recorded(records):
        with compiling():
            say(WARNING)
        assert pipe.is_back()
    assert pipe.text() == WARNING
    assert records[0].compiler_log is None
    assert records[0].missing["compiler_log"].startswith("what was written could not be read")


def test_a_capture_that_ends_in_between_leaves_descriptor_2_as_it_was(anywhere: Terminal) -> None:
    def on_record(*_: object) -> None: ...

    listener.start(on_record)
    with compiling():
        say("one\n")
        listener.stop(on_record)
        assert anywhere.is_back()
        say("two\n")
    assert anywhere.text() == "one\ntwo\n"


def test_a_capture_that_begins_in_between_says_what_it_missed(anywhere: Terminal) -> None:
    records: list[RecordData] = []
    with contextlib.ExitStack() as stack:
        with compiling():
            stack.enter_context(recorded(records))
            say(WARNING)
        assert anywhere.is_back()
    assert [record.compiler_log for record in records] == [None]
    assert "the capture began later" in records[0].missing["compiler_log"]


def test_captures_may_nest(anywhere: Terminal) -> None:
    outer: list[RecordData] = []
    inner: list[RecordData] = []
    with recorded(outer):
        with recorded(inner), compiling():
            say(WARNING)
        with compiling():
            say(WARNING)
    assert [record.compiler_log for record in inner] == [WARNING]
    assert [record.compiler_log for record in outer] == [WARNING, WARNING]
    assert anywhere.text() == WARNING * 2


def test_a_closed_descriptor_stays_closed() -> None:
    saved = os.dup(2)
    os.close(2)
    records: list[RecordData] = []
    try:
        with recorded(records), compiling():
            pass
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(2)
    finally:
        os.dup2(saved, 2)
        os.close(saved)
    assert records[0].compiler_log is None
    assert records[0].missing["compiler_log"].startswith("file descriptor 2 cannot be listened to")


def test_what_is_no_standard_error_is_left_alone(pipe: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one, the first file or socket that the program opens gets the number 2."""
    monkeypatch.setattr(sys, "__stderr__", None)
    records: list[RecordData] = []
    with recorded(records), compiling():
        assert pipe.is_back()
    assert "started without standard error" in records[0].missing["compiler_log"]


def test_a_reader_that_went_away_is_no_error(pipe: Terminal) -> None:
    os.close(pipe.read)
    with listener.observed(lambda *_: None), compiling():
        say(WARNING)
    assert pipe.is_back()


# ---------------------------------------------------------------- others in the same process


def test_threads_that_compile_at_once_each_have_their_own_warnings(anywhere: Terminal) -> None:
    barrier, records = threading.Barrier(4), []

    def compile_one(number: int) -> None:
        with compiling(f"jit(f{number})"):
            barrier.wait()
            for _ in range(20):
                say(WARNING.replace("This", f'op_name="jit(f{number})/dot"'))
            barrier.wait()

    threads = [threading.Thread(target=compile_one, args=(n,)) for n in range(4)]
    with recorded(records):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert anywhere.is_back()
    logs = {record.name: record.compiler_log for record in records}
    expected = {n: WARNING.replace("This", f'op_name="jit(f{n})/dot"') * 20 for n in range(4)}
    assert sorted(logs.values()) == [expected[n] for n in range(4)]
    assert sorted(anywhere.text().splitlines()) == sorted("".join(expected.values()).splitlines())


def test_threads_that_compile_the_same_name_are_told_apart_by_their_numbers(pipe: Terminal) -> None:
    barrier, records = threading.Barrier(2), []

    def compile_one() -> None:
        with compiling():
            barrier.wait()
            say(WARNING.replace("99999999", str(threading.get_native_id())))
            barrier.wait()

    threads = [threading.Thread(target=compile_one) for _ in range(2)]
    with recorded(records):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(record.compiler_log for record in records) == sorted(pipe.text().splitlines(keepends=True))
    assert not any("compiler_log" in record.missing for record in records)


@pytest.mark.parametrize("names", [("jit(f)", "jit(g)"), ("jit(f)", "jit(f)")])
def test_a_warning_that_may_be_another_functions_is_nobodys(names: tuple[str, str], anywhere: Terminal) -> None:
    text = WARNING if names[0] != names[1] else WARNING.replace("This", 'op_name="jit(f)/dot"')
    records: list[RecordData] = []
    with recorded(records), compiling(names[0]), compiling(names[1]):
        say(text)
    assert [record.compiler_log for record in records] == ["", ""]
    assert all("could be any one's" in record.missing["compiler_log"] for record in records)
    assert anywhere.text() == text


def test_what_was_written_arrives_when_its_compile_ends_though_another_goes_on(pipe: Terminal) -> None:
    with listener.observed(lambda *_: None), compiling("jit(long)"):
        with compiling("jit(short)"):
            say(WARNING)
        assert pipe.text() == WARNING


def test_a_replaced_descriptor_stays_replaced(pipe: Terminal) -> None:
    read, write = os.pipe()
    with listener.observed(lambda *_: None):
        with compiling():
            say("one\n")
            os.dup2(write, 2)
            say("two\n")
        assert identity(2) == identity(write)
    assert identity(2) == identity(write)
    assert pipe.text() == "one\n"
    assert os.read(read, 100) == b"two\n"
    os.close(read)
    os.close(write)


def test_a_redirection_that_outlives_the_compile_does_not_bring_ours_back(pipe: Terminal) -> None:
    with listener.observed(lambda *_: None):
        with compiling():
            found = os.dup(2)
        os.dup2(found, 2)
        os.close(found)
        say("after\n")
        assert eventually(pipe.is_back)
    assert pipe.text() == "after\n"


def test_a_process_that_is_started_meanwhile_keeps_a_working_stderr(pipe: Terminal) -> None:
    with listener.observed(lambda *_: None):
        with compiling():
            child = subprocess.Popen(["/bin/sh", "-c", "read -r line; echo late >&2"], stdin=subprocess.PIPE)
        child.communicate(b"go\n")
        assert eventually(lambda: pipe.text() == "late\n")


def test_a_process_that_is_forked_meanwhile_has_the_original(anywhere: Terminal) -> None:
    with listener.observed(lambda *_: None), compiling(), warnings.catch_warnings():
        # JAX and Python warn of forks in a process with threads.
        warnings.simplefilter("ignore")
        say("parent\n")
        child = os.fork()
        if not child:
            say("child\n")
            os._exit(0 if anywhere.is_back() else 1)
        assert os.waitpid(child, 0)[1] == 0
        say("parent again\n")
    assert sorted(anywhere.text().splitlines()) == ["child", "parent", "parent again"]


# ---------------------------------------------------------------- which text is a message of XLA


@pytest.mark.parametrize(
    ("written", "log"),
    [
        ("nothing of the kind\n", ""),
        (WARNING, WARNING),
        ("an unfinished line" + WARNING, WARNING),
        (WARNING.replace("W1120", "I1120"), ""),
        (WARNING.replace("W1120", "E1120"), WARNING.replace("W1120", "E1120")),
        (WARNING.replace(".cc", ".py"), ""),
        ("W0000 00:00:1763640000.000000   12345 gpu.cc:1] x\n",) * 2,
        ("2024-12-21 17:32:07.609345: E external/xla/xla/service/spmd/spmd_partitioner.cc:613] x\n",) * 2,
        ("2024-12-21 17:32:07.609345: I external/xla/xla/a.cc:613] x\n", ""),
        (WARNING + "***\n[Compiling module jit_f] Very slow compile?\n***\n",) * 2,
        (WARNING + WARNING.replace("W1120", "I1120") + WARNING, WARNING * 2),
        (WARNING + "\r 20%|##  |\r 30%|### |", WARNING),
        (WARNING + "line\n" * 1000, WARNING + "line\n" * 49),
    ],
)
def test_warnings_and_errors_of_xla_are_kept_and_nothing_else(written: str, log: str, anywhere: Terminal) -> None:
    records: list[RecordData] = []
    with recorded(records), compiling():
        say(written)
    assert [record.compiler_log for record in records] == [log]
    assert anywhere.text() == written


def test_silence_is_no_clean_bill_where_xla_was_told_to_be_silent(
    pipe: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
    records: list[RecordData] = []
    with recorded(records), compiling():
        pass
    assert pipe.text() == ""
    assert records[0].compiler_log is None
    assert "TF_CPP_MIN_LOG_LEVEL=2" in records[0].missing["compiler_log"]


def test_a_flood_is_cut_on_the_record_and_arrives_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla_stderr, "_MOST_BYTES", 1 << 20)
    records: list[RecordData] = []
    with leading_to("file", tmp_path) as file:
        with recorded(records), compiling():
            say(WARNING * 20_000)
        assert file.text() == WARNING * 20_000
    assert (1 << 20) - len(WARNING) < len(records[0].compiler_log or "") <= (1 << 20) + 1
    assert records[0].missing["compiler_log"] == "XLA wrote more than 1 MiB; only the beginning is kept"


def test_a_log_file_that_is_cut_meanwhile_is_no_silence(tmp_path: Path) -> None:
    records: list[RecordData] = []
    with leading_to("log file", tmp_path), recorded(records), compiling():
        os.truncate(tmp_path / "stderr", 0)
    assert records[0].compiler_log is None
    assert "the file was cut meanwhile" in records[0].missing["compiler_log"]


def test_a_program_from_the_compilation_cache_has_no_log() -> None:
    log = listener._log_of("persistent", xla_stderr.CompilerLog(text=""))
    data, _ = make_record(LiveProgram(name="f"), {}, None, cached="persistent", log=log)
    assert data.compiler_log is None
    assert "compilation cache" in data.missing["compiler_log"]


# ---------------------------------------------------------------- the real XLA


def bad(a: jax.Array) -> jax.Array:
    return jax.ffi.ffi_call("there_is_no_such_call", a)(a)


def failing_traceback() -> str:
    try:
        jax.jit(bad)(np.ones((2, 2), np.float32))
    except Exception as error:
        return "".join(traceback.format_exception(error))
    return "it did not fail"


@pytest.mark.parametrize("filtering", ["off", "remove_frames", "tracebackhide"])
def test_the_traceback_of_a_failing_compile_is_the_same(filtering: str, anywhere: Terminal) -> None:
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", filtering)
    tracebacks = []
    try:
        for watch in (contextlib.nullcontext(), listener.observed(lambda *_: None)):
            with watch:
                tracebacks.append(failing_traceback())
                assert anywhere.is_back()
    finally:
        jax.config.update("jax_traceback_filtering", before)
    assert "there_is_no_such_call" in tracebacks[0]
    assert re.sub("line \\d+, in test_", "", tracebacks[0]) == re.sub("line \\d+, in test_", "", tracebacks[1])


def compile_on(devices: int, **options: str) -> None:
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:devices]), ("data",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    given = jax.ShapeDtypeStruct((8,), np.float32, sharding=sharding)
    jax.jit(lambda a: a * 7).lower(given).compile(compiler_options=options or None)


def test_a_real_warning_is_heard_and_shown_once_for_each_time(anywhere: Terminal) -> None:
    records: list[RecordData] = []
    with recorded(records):
        compile_on(8, xla_cpu_max_isa="NO_SUCH_ISA")
    log = records[-1].compiler_log
    assert log is not None
    assert "Unknown CPU ISA: NO_SUCH_ISA" in log
    assert anywhere.text() == log


PREAMBLE = """
import atexit, json, os, signal, sys, threading
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jax._src.dispatch import log_elapsed_time
from pjit_inspect.observe.watch import listener
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
records = []
def on_record(data, finish):
    records.append(data)
def compiling():
    return log_elapsed_time("", fun_name="jit(f)", event="/jax/core/compile/backend_compile_duration")
"""
RESHARDED = """
def f(x):
    x = jax.lax.with_sharding_constraint(jax.numpy.sin(x), NamedSharding(mesh, P(None, "data", "model")))
    return jax.lax.with_sharding_constraint(jax.numpy.cos(x) * 2, NamedSharding(mesh, P(("data", "model"), None, None)))
def compile_f():
    jax.jit(f).lower(jax.ShapeDtypeStruct((16, 8, 8), np.float32)).compile()
"""


def run(program: str, folder: Path, kind: str = "pipe") -> tuple[int, str, str]:
    """Exit status, standard output, and all that came to standard error, of a new process."""
    with open(folder / "stderr", "w+b") as file:
        done = subprocess.run(
            [sys.executable, "-c", PREAMBLE + RESHARDED + program],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if kind == "pipe" else file,
            timeout=300,
            check=False,
        )
        file.seek(0)
        errors = done.stderr if kind == "pipe" else file.read()
    return done.returncode, done.stdout.decode(), errors.decode()


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_a_full_rematerialization_is_on_the_record_and_on_stderr_byte_for_byte(kind: str, tmp_path: Path) -> None:
    program = """
listener.start(on_record)
compile_f()
listener.stop(on_record)
print(json.dumps([record.compiler_log for record in records]))
jax.clear_caches()
compile_f()
"""
    status, output, errors = run(program, tmp_path, kind)
    assert status == 0
    (log,) = json.loads(output)
    assert "Involuntary full rematerialization" in log
    assert 'op_name="jit(f)/cos"' in log
    # The second compile is nobody's: what it says arrives by itself, and but for the time it is the same.
    assert errors.startswith(log)
    stamp = re.compile(r"^W\d{4} [\d:.]+ +\d+ ")
    assert stamp.sub("", errors[len(log) :]) == stamp.sub("", log)


def test_threads_that_compile_at_once_each_have_their_own_rematerialization(tmp_path: Path) -> None:
    program = """
def compile_named(name):
    def function(x):
        return f(x)
    function.__name__ = name
    barrier.wait()
    jax.jit(function).lower(jax.ShapeDtypeStruct((16, 8, 8), np.float32)).compile()
barrier = threading.Barrier(4)
threads = [threading.Thread(target=compile_named, args=(f"g{n}",)) for n in range(4)]
listener.start(on_record)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
listener.stop(on_record)
print(json.dumps({record.name: [record.compiler_log, record.missing] for record in records}))
"""
    status, output, errors = run(program, tmp_path)
    assert status == 0
    logs = json.loads(output)
    assert sorted(logs) == ["g0", "g1", "g2", "g3"]
    for name, (log, missing) in logs.items():
        assert re.findall(r'op_name="jit\((\w+)\)/', log) == [name]
        assert log.count("Involuntary full rematerialization") == 1
        assert missing == {}
    assert sorted(errors.splitlines()) == sorted(log.rstrip("\n") for log, _ in logs.values())


def test_the_last_words_of_a_process_that_dies_while_it_compiles_arrive(tmp_path: Path) -> None:
    program = """
listener.start(on_record)
with compiling():
    os.write(2, b"one\\n")
with compiling():
    os.write(2, b"F1120 12:00:00.000000 1 x.cc:1] Check failed: the reason\\n")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    status, _, errors = run(program, tmp_path)
    assert status == -signal.SIGKILL
    assert errors == "one\nF1120 12:00:00.000000 1 x.cc:1] Check failed: the reason\n"


def test_a_compile_at_the_very_end_of_the_process_writes_as_ever(tmp_path: Path) -> None:
    program = """
atexit.register(compile_f)
listener.start(on_record)
with compiling():
    os.write(2, b"one\\n")
with compiling():
    sys.exit()
"""
    status, _, errors = run(program, tmp_path)
    assert status == 0
    assert errors.startswith("one\nW")
    assert errors.count("Involuntary full rematerialization") == 1


def test_ctrl_c_pressed_again_and_again_leaves_descriptor_2_as_it_was(tmp_path: Path) -> None:
    program = """
import random, time
random.seed(7)
# A shell starts what runs in the background with this signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
before = os.fstat(2).st_ino
listener.start(on_record)
def press(delays):
    for delay in delays:
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGINT)
def press_while_compiling(number):
    lowered = jax.jit(lambda x: x * number).lower(np.float32(1))
    thread = threading.Thread(target=press, args=([random.random() * 0.02, *(random.random() * 0.002 for _ in "abc")],))
    try:
        thread.start()
        lowered.compile()
    finally:
        while thread.is_alive():
            time.sleep(0.001)
interrupted = 0
for number in range(40):
    try:
        try:
            press_while_compiling(number)
        finally:
            time.sleep(0.02)
    except KeyboardInterrupt:
        interrupted += 1
while signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        pass
deadline = time.monotonic() + 30
while os.fstat(2).st_ino != before and time.monotonic() < deadline:
    time.sleep(0.01)
os.write(2, b"in the end\\n" if os.fstat(2).st_ino == before else b"still redirected\\n")
print(interrupted)
"""
    status, output, errors = run(program, tmp_path)
    assert status == 0, errors
    assert errors.endswith("in the end\n")
    assert int(output) > 0


def test_a_notebook_shows_the_warning_and_the_record_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # With this a kernel does not read descriptor 2.
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    cells = [
        f"{PREAMBLE}{RESHARDED}listener.start(on_record)",
        # The kernel reads descriptor 2 in a thread; what comes after the cell has ended is lost to the notebook.
        "import time\ncompile_f()\nos.write(2, b'the end\\n')\ntime.sleep(2)",
        "print(json.dumps([record.compiler_log for record in records]))",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    streams = {"stdout": "", "stderr": ""}
    for cell in notebook.cells:
        for output in cell.outputs:
            if output.output_type == "stream":
                streams[output.name] += output.text
    (log,) = json.loads(streams["stdout"])
    assert "Involuntary full rematerialization" in log
    assert streams["stderr"] == f"{log}the end\n"


def test_a_program_of_one_device_is_listened_to_only_where_nothing_is_replaced(pipe: Terminal, tmp_path: Path) -> None:
    seen: list[bool] = []

    def on_start(event: str, *_: object, **__: object) -> None:
        if event == COMPILE_EVENT:
            seen.append(pipe.is_back())

    records: list[RecordData] = []
    with recorded(records):
        jax.monitoring.register_scalar_listener(on_start)
        try:
            compile_on(1)
            compile_on(2)
        finally:
            monitoring.unregister_scalar_listener(on_start)
    assert seen == [True, False]
    assert [(record.compiler_log, record.missing) for record in records] == [(None, {}), ("", {})]
    with leading_to("file", tmp_path), recorded(records):
        compile_on(1)
    assert records[-1].compiler_log == ""


# ---------------------------------------------------------------- the process that passes it on


def children() -> list[int]:
    """The processes whose end this one would find when it waits for any."""
    return [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


def relays() -> list[int]:
    """The processes that pass something on for a pipe that this process holds."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"stderr_relay_main" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def test_a_program_that_waits_for_its_children_finds_none_of_ours(pipe: Terminal) -> None:
    before = children()
    with listener.observed(lambda *_: None):
        with compiling():
            say(WARNING)
            assert children() == before
        assert children() == before
        if not before:
            with pytest.raises(ChildProcessError):
                os.wait()


def test_where_the_program_handles_the_end_of_children_none_is_started(pipe: Terminal) -> None:
    told: list[int] = []
    before = signal.signal(signal.SIGCHLD, lambda *_: told.append(1))
    records: list[RecordData] = []
    try:
        with recorded(records), compiling():
            assert pipe.is_back()
            say(WARNING)
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert told == []
    assert pipe.text() == WARNING
    assert "SIGCHLD" in records[0].missing["compiler_log"]


def refuse(*_: object, **__: object) -> None:
    raise OSError(24, "Too many open files")


@pytest.mark.parametrize(("home", "name"), [(stderr_relay.os, "pipe"), (stderr_relay.subprocess, "Popen")])
def test_where_nothing_can_pass_it_on_descriptor_2_is_left_alone(
    home: Any, name: str, pipe: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, name, refuse)
    records: list[RecordData] = []
    with recorded(records):
        for _ in range(2):
            with compiling():
                assert pipe.is_back()
                say(WARNING)
    assert pipe.text() == WARNING * 2
    assert [record.compiler_log for record in records] == [None, None]
    assert all("Too many open files" in record.missing["compiler_log"] for record in records)


def test_a_python_that_does_not_do_it_is_found_out_before_anything_is_replaced(
    pipe: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/true")
    records: list[RecordData] = []
    with recorded(records), compiling():
        assert pipe.is_back()
        say(WARNING)
    assert pipe.text() == WARNING
    assert "does not answer" in records[0].missing["compiler_log"]


def test_nobody_needs_a_place_for_files(pipe: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/there/is/no/such/folder")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    records: list[RecordData] = []
    try:
        with recorded(records), compiling():
            say(WARNING * 500)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert pipe.text() == WARNING * 500
    assert records[0].compiler_log == WARNING * 500


def test_what_is_killed_meanwhile_costs_the_log_and_no_line(pipe: Terminal) -> None:
    known, records = relays(), []
    with recorded(records):
        with compiling():
            say("one\n")
            assert eventually(lambda: pipe.text() == "one\n")
            (ours,) = set(relays()) - set(known)
            os.kill(ours, signal.SIGKILL)
            child = subprocess.Popen(["/bin/sh", "-c", "echo child >&2; read -r line; echo late >&2"], stdin=-1)
            say("two\n")
            # Within 50 ms somebody looks.
            assert eventually(pipe.is_back)
            say("three\n")
        assert pipe.is_back()
        child.communicate(b"go\n")
        with compiling():
            assert pipe.is_back()
            say("four\n")
        assert eventually(lambda: len(pipe.text().splitlines()) == 6)
    assert sorted(pipe.text().splitlines()) == sorted(["one", "two", "child", "three", "late", "four"])
    assert [record.compiler_log for record in records] == [None, None]
    assert all("compiler_log" in record.missing for record in records)


def test_a_descriptor_2_that_leads_elsewhere_later_is_passed_on_there(pipe: Terminal) -> None:
    read, write = os.pipe()
    records: list[RecordData] = []
    with recorded(records):
        with compiling():
            say("one\n")
        os.dup2(write, 2)
        with compiling():
            say(WARNING)
    assert (pipe.text(), os.read(read, 1000).decode()) == ("one\n", WARNING)
    assert records[1].compiler_log == WARNING
    os.close(read)
    os.close(write)


def test_nothing_is_remembered_from_one_compile_to_the_next(pipe: Terminal) -> None:
    reader = threading.Thread(target=eventually, args=(lambda: len(pipe.text()) == 12 << 20,))
    reader.start()
    with listener.observed(lambda *_: None):
        for _ in range(12):
            with compiling():
                say("x" * (1 << 20))
        relay = xla_stderr._redirect._relay
        assert relay is not None
        assert relay.text(0) == (b"", 12 << 20)
    reader.join()


LATE = """
listener.start(on_record)
with compiling():
    import subprocess
    script = "for i in 1 2 3 4 5 6 7 8; do read -r line; echo late $i >&2; done"
    child = subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE)
    os.write(2, b"early\\n")
"""


GO = "child.stdin.write(b'go\\n' * 8); child.stdin.flush(); child.wait()"


@pytest.mark.parametrize(
    "end",
    # Without anybody to write to it, the child reads the end of its input at once.
    [f"listener.stop(on_record); {GO}", "os.kill(os.getpid(), signal.SIGKILL)"],
    ids=["the capture ends", "it dies"],
)
def test_a_process_that_was_started_meanwhile_is_heard_whatever_ends(end: str, tmp_path: Path) -> None:
    _, _, errors = run(f"{LATE}\n{end}", tmp_path)
    assert errors.splitlines() == ["early", *(f"late {n}" for n in range(1, 9))]


ADOPTS = """
import ctypes, time
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
listener.start(on_record)
with compiling():
    os.write(2, b"heard\\n")
print(records[0].missing["compiler_log"])
try:
    print(os.wait())
except ChildProcessError:
    print("no child")
"""


def test_where_a_process_adopts_what_others_leave_it_gets_nothing_of_ours(tmp_path: Path) -> None:
    status, output, errors = run(ADOPTS, tmp_path)
    assert (status, errors) == (0, "heard\n")
    why, child = output.splitlines()
    assert "adopts the processes" in why
    assert child == "no child"
