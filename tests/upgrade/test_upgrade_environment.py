"""An environment is made once, with the commands of pip or uv, and what they refuse is said so that it helps."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pjit_inspect.errors import CaptureError
from pjit_inspect.handles.upgrade.environment import cache_folder, make_environment

_PIP = """\
WARNING: Location 'file:///x' is ignored
ERROR: Ignored the following versions that require a different python version: 0.11.0 Requires-Python >=3.12; \
0.12.0.1 Requires-Python >=3.12
ERROR: Could not find a version that satisfies the requirement jax==0.12.0.1 (from versions: 0.10.1, 0.10.2)
ERROR: No matching distribution found for jax==0.12.0.1
"""
_UV = """\
  × No solution found when resolving dependencies:
  ╰─▶ Because the current Python version (3.11.7) does not satisfy Python>=3.12 and jax==0.12.0.1 depends on \
Python>=3.12, we can conclude that jax==0.12.0.1 cannot be used.
"""


class Runs:
    """Stands in for processes: makes what a `venv` command would make, and fails where it is told to."""

    def __init__(self, refuse: Callable[[Sequence[str]], str] = lambda _: "") -> None:
        self.commands: list[list[str]] = []
        self.refuse = refuse

    def __call__(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        self.commands.append(list(command))
        if command[1] == "-c":
            return subprocess.CompletedProcess(command, 0, "3.11\n", "")
        if "venv" in command:
            made = Path(command[-1]) / "bin" / "python"
            made.parent.mkdir(parents=True)
            made.touch()
        said = self.refuse(command)
        return subprocess.CompletedProcess(command, int(bool(said)), "", said)


def test_pip_fills_a_fresh_environment_and_the_next_time_nothing_runs(tmp_path: Path):
    runs = Runs()
    python = make_environment(["jax==0.9.2"], python="py", folder=tmp_path, run=runs, uv="")
    assert python.exists()
    assert python.parts[-3].startswith("jax_0.9.2-python3.11-")
    (version, venv, pip) = runs.commands
    assert version[:2] == ["py", "-c"]
    assert venv[:3] == ["py", "-m", "venv"]
    assert pip[1:4] == ["-m", "pip", "install"]
    assert pip[-3:] == ["jax==0.9.2", "numpy>=2.0", "protobuf>=4.25"]
    assert make_environment(["jax==0.9.2"], python="py", folder=tmp_path, run=runs, uv="") == python
    assert len(runs.commands) == 4
    other = make_environment(["jax==0.9.2", "flax"], python="py", folder=tmp_path, run=runs, uv="")
    assert other != python


def test_uv_is_taken_where_there_is_one(tmp_path: Path):
    runs = Runs()
    make_environment(["jax==0.9.2"], python="py", folder=tmp_path, run=runs, uv="/bin/uv")
    assert [command[:3] for command in runs.commands[1:]] == [
        ["/bin/uv", "venv", "--quiet"],
        ["/bin/uv", "pip", "install"],
    ]


@pytest.mark.parametrize(("uv", "said"), [("", _PIP), ("/bin/uv", _UV)])
def test_a_version_for_a_newer_python_says_which_and_how_to_name_one(uv: str, said: str, tmp_path: Path):
    runs = Runs(lambda command: said if "install" in command else "")
    with pytest.raises(CaptureError) as caught:
        make_environment(["jax==0.12.0.1"], python="/usr/bin/py", folder=tmp_path, run=runs, uv=uv)
    assert str(caught.value) == (
        "jax==0.12.0.1 cannot be installed for Python 3.11 (/usr/bin/py): it needs Python >=3.12; name such an "
        "interpreter with --python PATH"
    )
    assert list(tmp_path.iterdir()) == []


def test_anything_else_is_said_in_pips_words_and_leaves_no_environment(tmp_path: Path):
    runs = Runs(lambda command: "WARNING: x\nERROR: no network\n" if "install" in command else "")
    with pytest.raises(CaptureError) as caught:
        make_environment(["jax==0.9.2"], python="py", folder=tmp_path, run=runs, uv="")
    assert str(caught.value) == (
        "no environment with jax==0.9.2 could be made with py (Python 3.11): ERROR: no network"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_interpreter_that_does_not_run_is_named(tmp_path: Path):
    with pytest.raises(CaptureError, match=r"^/no/python is no Python that runs: .*No such file"):
        make_environment(["jax==0.9.2"], python="/no/python", folder=tmp_path)


def test_environments_lie_in_the_users_cache(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert cache_folder() == Path("/cache/pjit_inspect/environments")
