"""The folder that XLA writes into is its server's from the first moment, whatever another server does that starts."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjit_inspect.observe.partitioner import dump


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where all folders are made."""
    monkeypatch.setattr(dump, "_MEMORY", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def once_after(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, work: Callable[[], Any]) -> None:
    """Have the other server do this after the first call of a function."""
    function, left = getattr(module, name), [work]

    def then(*args: Any, **kwargs: Any) -> Any:
        done = function(*args, **kwargs)
        while left:
            left.pop()()
        return done

    monkeypatch.setattr(module, name, then)


def once_before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, work: Callable[[], Any]) -> None:
    """The same before it."""
    function, left = getattr(module, name), [work]

    def after(*args: Any, **kwargs: Any) -> Any:
        while left:
            left.pop()()
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, after)


def only(home: Path) -> Path:
    (folder,) = home.iterdir()
    return folder


def is_held(home: Path) -> bool:
    """Whether a server that starts leaves the folder that is there, and the one made is that."""
    folder, held = dump.make_folder(os.getpid(), 1)
    try:
        dump.remove_left_over()
        return folder.is_dir() and os.path.samestat(os.stat(folder), os.fstat(held))
    finally:
        os.close(held)


def test_a_folder_is_left_alone_while_it_is_held_and_removed_afterwards(home: Path) -> None:
    assert is_held(home)
    dump.remove_left_over()
    assert not list(home.iterdir())


def test_one_that_was_removed_before_it_was_held_is_made_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once_after(monkeypatch, tempfile, "mkdtemp", dump.remove_left_over)
    assert is_held(home)


def test_one_that_is_just_being_removed_is_made_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others: list[int] = []
    once_after(monkeypatch, tempfile, "mkdtemp", lambda: others.append(dump.hold(only(home))))
    assert is_held(home)
    os.close(others[0])


def test_one_that_was_removed_while_it_was_being_held_is_made_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It is open already, and the other server has let go of it: the lock itself succeeds.
    once_before(monkeypatch, fcntl, "flock", lambda: shutil.rmtree(only(home)))
    assert is_held(home)


def test_a_text_that_is_left_is_whole_whenever_somebody_looks(tmp_path: Path) -> None:
    """The service looks for the facts while the child writes them: of a large program they are more than a buffer."""
    text = json.dumps({"names": ["x" * 40] * 50_000})
    written = threading.Event()

    def write() -> None:
        for _ in range(50):
            dump.leave_text(tmp_path, dump.FACTS, text)
        written.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not written.is_set():
        assert dump.read_text(tmp_path / dump.FACTS) in ("", text)
        dump.size_bytes(tmp_path)
    thread.join()
