"""`Log.save`: a folder that `merge` and `load` read back."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import jax
import numpy as np
import pytest

import pjit_inspect as pi
from pjit_inspect.errors import ParseError, RecordNotFoundError
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files import record_folder


def log_of(*names: str) -> pi.Log:
    """A log with one record for each name; the functions are made anew, so that JAX compiles them."""
    with pi.capture() as log:
        for name in names:

            def function(x):
                return x * 2

            function.__name__ = function.__qualname__ = name
            jax.jit(function).lower(jax.ShapeDtypeStruct((3,), np.float32)).compile()
    return log


def test_every_record_has_a_file_in_the_folder_of_its_process(tmp_path: Path):
    log = log_of("double", "triple")
    log.save(tmp_path / "a" / "b")
    folder = tmp_path / "a" / "b" / "process-0-of-1"
    assert sorted(path.name for path in folder.iterdir()) == ["0000_double.pjit", "0001_triple.pjit", "saved.json"]
    assert pi.load(folder / "0001_triple.pjit") == log["triple"]


def test_saving_again_replaces_what_an_earlier_log_left(tmp_path: Path):
    log_of("double", "triple").save(tmp_path)
    folder = tmp_path / "process-0-of-1"
    for name in ("notes.pjit", "0007_mine.pjit"):
        (folder / name).write_text("mine")
    log_of("triple").save(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.pjit")) == [
        "0000_triple.pjit",
        "0007_mine.pjit",
        "notes.pjit",
    ]
    assert [(folder / name).read_text() for name in ("notes.pjit", "0007_mine.pjit")] == ["mine", "mine"]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, with what it holds."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("failing", ["os.replace", "os.fsync"])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_save_that_fails_leaves_the_earlier_log_whole(tmp_path: Path, monkeypatch, failing: str, at: int):
    log_of("double", "triple").save(tmp_path)
    before = contents(tmp_path / "process-0-of-1")
    log, calls, real = log_of("double", "other"), [], getattr(os, failing.removeprefix("os."))

    def fails(*given):
        calls.append(given)
        if len(calls) == at:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(failing, fails)
        with pytest.raises(OSError, match="No space left on device"):
            log.save(tmp_path)
    assert contents(tmp_path / "process-0-of-1") == before
    log.save(tmp_path)
    assert sorted(contents(tmp_path / "process-0-of-1")) == ["0000_double.pjit", "0001_other.pjit", "saved.json"]


def test_threads_that_save_logs_into_one_folder_leave_one_of_them(tmp_path: Path):
    logs, errors = [log_of(*("double", "triple", "other")[:count]) for count in (1, 2, 3)], []

    def save(log: pi.Log) -> None:
        try:
            for _ in range(4):
                log.save(tmp_path)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(log,)) for log in logs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    found = contents(tmp_path / "process-0-of-1")
    records = ["0000_double.pjit", "0001_triple.pjit", "0002_other.pjit"]
    assert sorted(found) in [[*records[:count], "saved.json"] for count in (1, 2, 3)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")
def test_a_forked_child_saves_though_a_thread_of_its_parent_was_saving(tmp_path: Path):
    log = log_of("double")
    with record_folder._lock:
        child = os.fork()
        if not child:
            threading.Timer(30, os._exit, [3]).start()
            thread = threading.Thread(target=log.save, args=(tmp_path,))
            thread.start()
            thread.join()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sorted(contents(tmp_path / "process-0-of-1")) == ["0000_double.pjit", "saved.json"]


def test_a_first_save_that_fails_leaves_no_folder_that_says_nothing_was_recorded(tmp_path: Path, monkeypatch):
    log = log_of("double")

    def fails(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(OSError, match="No space left on device"):
        log.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_ones_own_with_the_name_of_a_record_is_not_replaced(tmp_path: Path):
    log = log_of("double")
    folder = tmp_path / "process-0-of-1"
    folder.mkdir()
    (folder / "0000_double.pjit").write_text("mine")
    with pytest.raises(FileExistsError, match=r"was not written by Log\.save.*0000_double\.pjit"):
        log.save(tmp_path)
    assert contents(folder) == {"0000_double.pjit": b"mine"}


@pytest.mark.parametrize("names", [("double", "triple"), ("double",)])
def test_a_record_that_was_changed_since_stays(tmp_path: Path, names: tuple[str, ...]):
    log_of("double", "triple").save(tmp_path)
    changed = tmp_path / "process-0-of-1" / "0001_triple.pjit"
    changed.write_text("mine")
    log = log_of(*names)
    if len(names) > 1:
        with pytest.raises(FileExistsError):
            log.save(tmp_path)
    else:
        log.save(tmp_path)
    assert changed.read_text() == "mine"


def test_a_list_that_is_not_ours_is_not_replaced(tmp_path: Path):
    folder = tmp_path / "process-0-of-1"
    folder.mkdir()
    (folder / "saved.json").write_text('{"my": "experiments"}')
    with pytest.raises(FileExistsError, match=r"no list that Log\.save wrote.*saved\.json"):
        log_of("double").save(tmp_path)
    assert contents(folder) == {"saved.json": b'{"my": "experiments"}'}


def test_a_list_that_was_tampered_with_removes_nothing_elsewhere(tmp_path: Path):
    log_of("double").save(tmp_path)
    outside = tmp_path / "thesis.txt"
    outside.write_text("mine")
    digest = hashlib.sha256(b"mine").hexdigest()
    listed = {"../thesis.txt": [digest], str(outside): [digest], "..": [digest], "": [digest]}
    path = tmp_path / "process-0-of-1" / "saved.json"
    path.write_text(json.dumps({"format": "pjit_inspect log", "files": listed}))
    (tmp_path / "process-0-of-1" / "0000_double.pjit").unlink()
    log_of("triple").save(tmp_path)
    assert outside.read_text() == "mine"


def test_a_log_without_records_leaves_a_folder_that_says_so(tmp_path: Path):
    pi.Log().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["process-0-of-1"]
    merged = pi.merge(tmp_path)
    assert merged
    assert str(merged).startswith("1 process: no shared programs, nothing to compare")


def test_a_record_that_does_not_know_its_process_lies_in_the_folder_itself(tmp_path: Path):
    from pjit_inspect.api import CompileRecord

    (tmp_path / "0007_mine.pjit").touch()
    pi.Log([CompileRecord(RecordData(name="f"))]).save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0000_f.pjit", "0007_mine.pjit", "saved.json"]
    with pytest.raises(
        ParseError, match=r"there is no record to merge: left out: .*does not say which process made it"
    ):
        pi.merge(tmp_path)


def test_saving_and_merging_need_no_jax(tmp_path: Path):
    log_of("double").save(tmp_path)
    script = (
        "import sys, pjit_inspect as pi\n"
        f"m = pi.merge({str(tmp_path)!r}); print(m); pi.Log().save({str(tmp_path / 'empty')!r})\n"
        "assert 'jax' not in sys.modules and 'jaxlib' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "programs on devices of one process alone, which need not agree: 1 in process 0" in done.stdout


def test_a_record_is_found_by_name_and_process(tmp_path: Path):
    log = log_of("double")
    log.save(tmp_path)
    merged = pi.merge(str(tmp_path))
    assert merged.record("double", process=0) == log["double"]
    with pytest.raises(RecordNotFoundError, match="process 3 has no record of 'double'; it has none at all"):
        merged.record("double", process=3)


@pytest.mark.parametrize("paths", [[], ()])
def test_no_path_is_an_error(paths):
    with pytest.raises(ParseError, match="no record to merge"):
        pi.merge(paths)


def test_what_is_no_record_is_an_error_that_says_so(tmp_path: Path):
    path = tmp_path / "x.pjit"
    path.write_text("nothing")
    with pytest.raises(ParseError, match=r"x\.pjit: there is no record to merge: left out:"):
        pi.merge(path)
