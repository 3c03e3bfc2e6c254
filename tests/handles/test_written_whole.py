"""Every page, picture and record that a user names is written whole: a failure leaves the old file as it was."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import pjit_inspect as pi
from pjit_inspect.cli import main

Write = Callable[[Path], object]


@pytest.fixture(scope="module")
def records() -> list[pi.CompileRecord]:
    with pi.capture() as log:
        jax.jit(lambda x: x * 2)(jnp.ones(3))
        jax.jit(lambda x: x + 2)(jnp.ones(3))
    return list(log)[-2:]


@pytest.fixture(scope="module")
def writers(records: list[pi.CompileRecord], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Write]:
    saved = tmp_path_factory.mktemp("saved") / "saved.pjit"
    records[0].save(saved)
    return {
        "record": records[0].save,
        "page": records[0].to_html,
        "picture": records[0].to_svg,
        "comparison": pi.diff(*records).to_html,
        "command line": lambda path: main(["report", str(saved), "-o", str(path)]),
        "command line, diff": lambda path: main(["diff", str(saved), str(saved), "-o", str(path)]),
    }


KINDS = ("record", "page", "picture", "comparison", "command line", "command line, diff")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("failing", ["os.fsync", "os.replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    writers: dict[str, Write], kind: str, failing: str, tmp_path: Path, monkeypatch, capsys
):
    path = tmp_path / "there"
    path.write_bytes(b"old")

    def fails(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(failing, fails)
    if kind.startswith("command line"):
        assert writers[kind](path) == (2 if kind.endswith("diff") else 1)
        assert capsys.readouterr().err == f"pjit_inspect: {path}: No space left on device\n"
    else:
        with pytest.raises(OSError, match=r"No space left on device.*there"):
            writers[kind](path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["there"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_and_permissions_stay_and_a_pipe_is_refused(
    writers: dict[str, Write], kind: str, tmp_path: Path, capsys
):
    path, link, pipe = tmp_path / "there", tmp_path / "link", tmp_path / "pipe"
    path.write_bytes(b"old")
    path.chmod(0o600)
    link.symlink_to("there")
    os.mkfifo(pipe)
    writers[kind](link)
    assert path.read_bytes() != b"old"
    assert path.stat().st_mode & 0o777 == 0o600
    assert link.is_symlink()
    if kind.startswith("command line"):
        assert writers[kind](pipe) == (2 if kind.endswith("diff") else 1)
        assert "this is a pipe, and only a regular file is replaced" in capsys.readouterr().err
    else:
        with pytest.raises(OSError, match="this is a pipe, and only a regular file is replaced"):
            writers[kind](pipe)
    assert pipe.is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe", "there"]
