"""Which program starts a helper, with what, and where none may be started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pjit_inspect.observe.apart import interpreter

ADOPTS = """
import ctypes
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
"""
ASKS = """
import os, sys
from pjit_inspect.observe.apart.call import Channel
try:
    print(Channel("the helper").ask("print", {}, [b"x"], timeout_s=60))
except Exception as error:
    print(type(error).__name__, error)
try:
    print(os.wait())
except ChildProcessError:
    print("no child")
"""


def test_a_program_that_is_another_than_this_python_is_not_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    application = tmp_path / "python3"
    application.write_text("#!/bin/sh\nsleep 1000\n")
    application.chmod(0o755)
    running = os.path.realpath(sys.executable)
    for other in (str(application), "/bin/false", "", None, "python3"):
        monkeypatch.setattr(sys, "executable", other)
        assert os.path.realpath(interpreter.find_interpreter()) == running


@pytest.mark.parametrize("name", ["frozen", "_MEIPASS"])
def test_a_frozen_application_is_told(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(sys, name, "yes", raising=False)
    with pytest.raises(OSError, match="would start the application again"):
        interpreter.find_interpreter()


def test_an_embedded_python_without_a_program_of_its_own_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/blender")
    monkeypatch.setattr(interpreter, "_genuine", lambda: {"/usr/bin/blender"})
    with pytest.raises(OSError, match=r"sys\.executable is '/usr/bin/blender', which is not the Python running here"):
        interpreter.find_interpreter()


def test_a_program_that_hangs_costs_one_start_and_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program, starts = tmp_path / "python3", tmp_path / "starts"
    program.write_text(f"#!/bin/sh\necho $$ >> {starts}\nsleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setattr(interpreter, "_unusable", {})
    monkeypatch.setattr(interpreter, "_candidates", lambda: iter([str(program)]))
    monkeypatch.setattr(interpreter, "_genuine", lambda: {str(program)})
    monkeypatch.setattr(interpreter, "START_S", 0.5)
    for _ in range(3):
        with pytest.raises(OSError, match=r"did not start within 0\.5 s, and is not started again"):
            interpreter.start_detached("script.py", [])
    if starts.exists():
        (process,) = map(int, starts.read_text().split())
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_nothing_of_the_users_python_is_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE"):
        monkeypatch.setenv(name, "/somewhere")
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=/somewhere --xla_cpu_enable_fast_math=true")
    own = interpreter.environment()
    assert [name for name in own if name.startswith("PYTHON")] == []
    assert own["XLA_FLAGS"] == "--xla_cpu_enable_fast_math=true"


def test_packages_are_those_that_are_loaded_whatever_the_path_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import jax

    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [Path("src"), 3, None, str(tmp_path), *sys.path])
    folders = interpreter.package_folders()
    assert os.path.dirname(os.path.dirname(jax.__file__)) == folders[0]
    assert str(tmp_path) not in folders


def test_a_program_that_handles_the_end_of_its_children_gets_no_helper() -> None:
    before = signal.signal(signal.SIGCHLD, lambda *_: None)
    try:
        with pytest.raises(OSError, match="SIGCHLD"):
            interpreter.check_for_reapers()
    finally:
        signal.signal(signal.SIGCHLD, before)
    interpreter.check_for_reapers()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has child subreapers")
def test_a_process_that_adopts_others_gets_no_helper_and_no_child() -> None:
    done = subprocess.run([sys.executable, "-c", ADOPTS + ASKS], capture_output=True, text=True, check=False)
    said, child = done.stdout.splitlines()
    assert said.startswith("CaptureError the helper cannot be started: this process adopts the processes that others")
    assert child == "no child"


def test_the_first_process_of_a_container_gets_no_helper_and_no_child() -> None:
    apart = ["unshare", "--fork", "--pid", "--mount-proc"]
    try:
        subprocess.run([*apart, "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs the right to make a PID namespace")
    done = subprocess.run([*apart, sys.executable, "-c", ASKS], capture_output=True, text=True, check=False)
    said, child = done.stdout.splitlines()
    assert "first of its container" in said
    assert "docker run --init" in said
    assert child == "no child"
