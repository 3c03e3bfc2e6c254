"""One question asked of a process apart: its own answer or a true reason, whatever happens meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError
from pjit_inspect.handles import analyses
from pjit_inspect.observe.apart import call
from pjit_inspect.observe.apart.messages import pair, receive, send
from pjit_inspect.observe.apart.tasks import first_words
from pjit_inspect.observe.shardy import mlir_process
from pjit_inspect.observe.shardy.mlir_process import print_hlo_apart

ROOT = Path(pi.__file__).parents[1]
WHAT = "the process that reads programs of files"
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


def program(name: str) -> bytes:
    def own(x: jax.Array) -> jax.Array:
        return jnp.sin(x) @ x

    own.__name__ = name
    record = pi.inspect(jax.jit(own), jnp.ones((8, 8)))
    assert record.data.hlo is not None
    return record.data.hlo.read()


@pytest.fixture(autouse=True)
def no_helper() -> Iterator[None]:
    mlir_process.stop_child()
    yield
    mlir_process.stop_child()


def helper() -> Any:
    return mlir_process._channels[0].helper


def is_there(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def eventually(claim: Callable[[], Any]) -> None:
    """Wait until it is true; a minute is for a machine that is busy."""
    until = time.monotonic() + 60
    while not claim():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_questions_are_answered_by_one_helper() -> None:
    first, second = program("first"), program("second")
    assert "jit_first" in print_hlo_apart(first)
    known = helper()
    assert "jit_second" in print_hlo_apart(second)
    assert helper() is known


def test_path_entries_that_are_no_text_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [Path("src"), *sys.path, b"src", None])
    assert "jit_own" in print_hlo_apart(program("own"))


def test_an_answer_to_another_question_is_dropped() -> None:
    near, far = pair()
    asked = object.__new__(call._Helper)
    asked.asked, asked._link, asked._sending = None, near, threading.Lock()

    def answer() -> None:
        number = receive(far)[0]["number"]
        send(far, {"number": number - 1, "said": {"of": "the one before"}})
        send(far, {"number": number, "said": {"of": "this"}})

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        message, _ = asked.ask({"timeout_s": 60.0}, [], call.Ticket(), None)
    finally:
        thread.join()
        near.close()
        far.close()
    assert message["said"] == {"of": "this"}


@needs_proc
def test_an_interrupted_question_leaves_no_answer_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = program("first"), program("second")
    print_hlo_apart(first)
    process = helper().facts["process"]
    with monkeypatch.context() as changed:

        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        changed.setattr(call, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            print_hlo_apart(first)
    assert helper() is None
    assert "jit_second" in print_hlo_apart(second)
    eventually(lambda: not is_there(process))


@needs_proc
def test_a_helper_that_is_stopped_costs_its_answer_keeps_no_other_waiting_and_ends() -> None:
    first, second = program("first"), program("second")
    print_hlo_apart(first)
    process = helper().facts["process"]
    os.kill(process, signal.SIGSTOP)
    outcome: list[str] = []

    def ask() -> None:
        try:
            outcome.append(print_hlo_apart(first, timeout_s=2.0))
        except CaptureError as error:
            outcome.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    eventually(mlir_process._channels[0].is_busy)
    assert "jit_second" in print_hlo_apart(second)
    thread.join()
    assert outcome == [f"{WHAT} gave no answer in time; give it more time"]
    eventually(lambda: not is_there(process))
    assert "jit_first" in print_hlo_apart(first)


@needs_proc
def test_a_display_waits_for_no_text_and_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pi.inspect(jax.jit(lambda x: jnp.sin(x) @ x), jnp.ones((8, 8))).save(tmp_path / "own.pjit")
    record = pi.load(tmp_path / "own.pjit")
    print_hlo_apart(program("first"))
    os.kill(helper().facts["process"], signal.SIGSTOP)
    monkeypatch.setattr(analyses, "_PRINT_SOON_S", 0.1)
    record.to_html(tmp_path / "page.html")
    text, why = record.state.analyses.hlo_text_for_display
    assert text is None
    assert "gave no answer in time" in why
    # Who asks for the text has time, and a display has it from then on.
    assert record.hlo_text is not None
    assert record.state.analyses.hlo_text_for_display == (record.hlo_text, "")


@needs_proc
def test_a_helper_that_was_killed_is_told_of_and_replaced() -> None:
    first = program("first")
    print_hlo_apart(first)
    known = helper()
    os.kill(known.facts["process"], signal.SIGKILL)
    eventually(lambda: not is_there(known.facts["process"]))
    assert "jit_first" in print_hlo_apart(first)
    assert helper() is not known


def test_what_xla_refuses_is_said_and_costs_no_helper() -> None:
    print_hlo_apart(program("first"))
    known = helper()
    with pytest.raises(CaptureError, match=r"Failed to deserialize|No program shape"):
        print_hlo_apart(b"\xff" * 100)
    assert helper() is known


@pytest.mark.parametrize("error", [OSError("no"), TypeError("no"), ValueError("no"), RuntimeError("no")])
def test_whatever_fails_at_the_start_costs_one_fact_and_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    def fails() -> list[str]:
        raise error

    record = pi.inspect(jax.jit(lambda x: jnp.sin(x) @ x), jnp.ones((8, 8)))
    record.save(tmp_path / "own.pjit")
    mlir_process.stop_child()
    monkeypatch.setattr(call, "package_folders", fails)
    with pytest.raises(CaptureError, match=r"cannot be started: .*no"):
        print_hlo_apart(b"")
    loaded = pi.load(tmp_path / "own.pjit")
    loaded.to_html(tmp_path / "page.html")
    loaded.save(tmp_path / "again.pjit")


def test_an_unknown_task_is_refused() -> None:
    channel = call.Channel("it")
    with pytest.raises(CaptureError, match=r"KeyError: 'os\.system'"):
        channel.ask("os.system", {}, timeout_s=1.0)


# ---------------------------------------------------------------- other processes of users


def run(tmp_path: Path, body: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A script of the user's that has a program to print, in a process of its own."""
    (tmp_path / "program").write_bytes(program("first"))
    head = f"""
        import os, pathlib, signal, sys
        sys.path.append({str(ROOT)!r})
        from pjit_inspect.observe.shardy import mlir_process
        content = pathlib.Path({str(tmp_path)!r}, "program").read_bytes()
        ask = lambda: "jit_first" in mlir_process.print_hlo_apart(content)
        server = lambda: mlir_process._channels[0].helper.facts["process"]
    """
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(head) + textwrap.dedent(body))
    return subprocess.run([sys.executable, *options, str(script)], capture_output=True, text=True, check=False)


def test_the_helper_is_no_child_and_whoever_reaped_all_is_answered_again(tmp_path: Path) -> None:
    body = """
        print(ask())
        try:
            os.wait()
        except ChildProcessError:
            print("no child")
        print(ask())
    """
    done = run(tmp_path, body)
    assert (done.stdout, done.stderr) == ("True\nno child\nTrue\n", "")


def test_descriptors_that_became_the_users_are_left_alone(tmp_path: Path) -> None:
    body = f"""
        import socket
        ask()
        os.closerange(3, 4096)
        pairs = [socket.socketpair() for _ in range(20)]
        files = [open({str(tmp_path)!r} + f"/file{{number}}", "w+") for number in range(20)]
        print(ask())
        mlir_process.stop_child()
        for near, far in pairs:
            near.sendall(b"mine")
            assert far.recv(100) == b"mine"
        for file in files:
            file.write("mine")
            file.flush()
            assert os.pread(file.fileno(), 100, 0) == b"mine"
        print("whole")
    """
    done = run(tmp_path, body)
    assert (done.stdout, done.stderr, done.returncode) == ("True\nwhole\n", "", 0)


def test_a_program_that_wants_to_be_ended_by_a_broken_pipe_is_not_by_ours(tmp_path: Path) -> None:
    body = """
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        ask()
        os.kill(server(), signal.SIGSTOP)
        os.kill(server(), signal.SIGKILL)
        try:
            ask()
        except mlir_process.CaptureError:
            # It may have died after it was asked.
            pass
        print(ask())
    """
    done = run(tmp_path, body)
    assert (done.stdout, done.returncode) == ("True\n", 0)


def test_a_program_that_ignores_the_end_of_its_children_is_answered_again(tmp_path: Path) -> None:
    body = """
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print(ask(), ask())
    """
    done = run(tmp_path, body)
    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_a_signal_handler_that_asks_is_refused_at_once_and_the_question_goes_on(tmp_path: Path) -> None:
    body = """
        from pjit_inspect.observe.apart.call import Channel
        channel = Channel("it")
        task = lambda: channel.ask("print", {}, [content], timeout_s=600).blobs[0]
        task()
        helper = channel.helper.facts["process"]

        def asks(*_):
            try:
                task()
            except mlir_process.CaptureError as error:
                print(error)
            os.kill(helper, signal.SIGCONT)

        # The answer comes when the handler has come first.
        os.kill(helper, signal.SIGSTOP)
        signal.signal(signal.SIGALRM, asks)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        print(b"jit_first" in task())
    """
    done = run(tmp_path, body)
    said = "it is at a question that this thread asked before, and a signal interrupted"
    assert (done.stdout, done.stderr) == (f"{said}\nTrue\n", "")


def test_what_a_library_says_before_all_is_no_reason() -> None:
    noise = "ERROR: ld.so: object 'x' cannot be preloaded: ignored.\nWARNING: All log messages before absl::Init\n"
    assert first_words(f"{noise}\n  F0 flags.cc:1] Unknown flag\nmore") == "F0 flags.cc:1] Unknown flag"
    assert first_words(noise) == ""


ODD = {
    "no message": "end.send(b'garbage')",
    "no facts": "say({})",
    "odd facts": "say({'process': 'a', 'parent': [], 'started': None}); say({'threads': 1}); end.recv(9999)",
    "no said": "hello(); say({'number': number})",
    "odd said": "hello(); say({'number': number, 'said': 5})",
    "odd refused": "hello(); say({'number': number, 'refused': [1]})",
    "no file": "hello(); say({'number': number, 'said': {}})",
    "killed": "hello(); os.kill(os.getpid(), 9)",
}


@pytest.mark.parametrize("does", ODD.values(), ids=ODD)
def test_whatever_a_helper_says_costs_one_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, does: str) -> None:
    script = """
        import json, os, socket, time
        if os.fork():
            os._exit(0)
        end = socket.socket(fileno=0)

        def say(message):
            text = json.dumps(message).encode()
            end.sendall(len(text).to_bytes(4, "big") + text)

        def hello():
            global number
            say({"process": os.getpid(), "parent": 1, "started": 0})
            say({"threads": 1})
            length = int.from_bytes(end.recv(4), "big")
            number = json.loads(end.recv(length))["number"]

    """
    path = tmp_path / "odd.py"
    path.write_text(textwrap.dedent(script) + does)
    first = program("first")
    with monkeypatch.context() as changed:
        changed.setattr(call, "_SCRIPT", path)
        with pytest.raises(CaptureError, match=f"^{WHAT} "):
            print_hlo_apart(first)
    mlir_process.stop_child()
    assert "jit_first" in print_hlo_apart(first)


def test_a_process_that_fails_as_it_is_forked_never_becomes_a_second_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = f"""
        import os
        import sys
        sys.path.append({str(Path(call.__file__).parent)!r})
        import start

        def load(folder, whole=start._load_package):
            whole(folder)
            from pjit_inspect.observe.apart import server

            def fails(*_):
                raise OSError("no room")

            server.be_worker = fails

        start._load_package = load
        start.main()
    """
    path = tmp_path / "odd.py"
    path.write_text(textwrap.dedent(script))
    first = program("first")
    with monkeypatch.context() as changed:
        changed.setattr(call, "_SCRIPT", path)
        for _ in range(3):
            with pytest.raises(CaptureError, match="the process for this question ended with status 1"):
                print_hlo_apart(first)
    mlir_process.stop_child()
    assert "jit_first" in print_hlo_apart(first)


@needs_proc
@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_no_helper_outlives_its_owner_not_even_a_stopped_one(tmp_path: Path, end: str) -> None:
    body = f"""
        ask()
        print(server(), flush=True)
        copy = os.dup(mlir_process._channels[0].helper._link.number)
        os.kill(server(), signal.SIGSTOP)
        {end}
    """
    process = int(run(tmp_path, body).stdout)
    eventually(lambda: not is_there(process))


def test_a_package_that_cannot_be_imported_is_the_reason(tmp_path: Path) -> None:
    for name in ("jax", "jaxlib"):
        (tmp_path / name).mkdir()
    (tmp_path / "jax" / "__init__.py").write_text("")
    (tmp_path / "jaxlib" / "__init__.py").write_text("raise ImportError('this jaxlib is broken')")
    body = """
        try:
            ask()
        except Exception as error:
            print(error)
    """
    # The script's own folder is the first on the path, and neither is loaded.
    said = run(tmp_path, body).stdout
    assert said == (f"{WHAT} could not import what it needs: ImportError: this jaxlib is broken\n")
