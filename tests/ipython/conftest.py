"""A fresh IPython for each test, and what it printed."""

from __future__ import annotations

import atexit
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from pjit_inspect import api

PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P("data", "model")))

@jax.jit
def total(x):
    return (x * 2).sum()

def fails(x):
    raise ValueError("too small")
"""


@dataclass(frozen=True, slots=True)
class Session:
    """A shell with the extension loaded, and its output."""

    shell: Any
    capsys: pytest.CaptureFixture[str]

    def run(self, cell: str, *, silent: bool = False) -> Any:
        """The result of one cell, as typed by a user."""
        return self.shell.run_cell(cell, store_history=not silent, silent=silent)

    def value(self, cell: str) -> Any:
        """The value a cell displays; its error, if any, is raised."""
        result = self.run(cell)
        result.raise_error()
        return result.result

    def printed(self, cell: str) -> str:
        """Everything a cell prints and displays, as a terminal without colours shows it."""
        self.capsys.readouterr()
        self.run(cell)
        out, err = self.capsys.readouterr()
        return re.sub(r"\x1b\[[0-9;]*m", "", out + err)


@pytest.fixture
def bare_shell(tmp_path, monkeypatch) -> Iterator[Any]:
    """An IPython without our extension; afterwards Python is as it was before."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    for name in ("excepthook", "displayhook", "ps1", "ps2", "ps3"):
        monkeypatch.setattr(sys, name, getattr(sys, name, None), raising=False)
    # IPython puts its own module in the place of `__main__`.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    yield shell
    shell.extension_manager.unload_extension("pjit_inspect")
    # What IPython does when Python exits keeps the shell alive until then, and collects garbage for each one.
    atexit.unregister(shell.atexit_operations)
    shell.user_ns.clear()
    InteractiveShell.clear_instance()
    api.stop()
    api.session_log().clear()


@pytest.fixture
def session(bare_shell, capsys) -> Session:
    """A shell with the extension loaded and nothing else."""
    session = Session(bare_shell, capsys)
    session.value("%load_ext pjit_inspect")
    capsys.readouterr()
    return session


@pytest.fixture
def program(session) -> Session:
    """A session in which `total(x)`, a sharded program, is defined and not compiled yet."""
    session.value(PROGRAM)
    session.capsys.readouterr()
    return session
