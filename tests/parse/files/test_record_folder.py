"""Folders of records, one for each process: names any system takes, and finding files by them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.files import record_folder
from pjit_inspect.parse.files.record_folder import (
    FoundFolder,
    file_name,
    find_records,
    folder_name,
    save_records,
)


def touched(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_names_say_the_process_and_the_place_in_the_log():
    assert folder_name(1, 4) == "process-1-of-4"
    assert file_name(7, "train_step") == "0007_train_step.pjit"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("<lambda>", "0000__lambda_.pjit"),
        ("../../etc/passwd", "0000_.._.._etc_passwd.pjit"),
        ("a\\b:c\n\0", "0000_a_b_c_.pjit"),
        ("größe", "0000_gr_e.pjit"),
        ("x" * 500, f"0000_{'x' * 60}.pjit"),
        ("", "0000_.pjit"),
    ],
)
def test_a_name_never_leads_out_of_its_folder(name: str, expected: str):
    assert file_name(0, name) == expected
    assert Path(file_name(0, name)).name == expected


def test_files_are_found_at_any_depth_with_their_process_in_the_order_of_numbers(tmp_path: Path):
    for process in (0, 2, 10):
        touched(tmp_path / f"process-{process}-of-11" / "0000_f.pjit")
    touched(tmp_path / "process-2-of-11" / "10000_g.pjit")
    touched(tmp_path / "process-2-of-11" / "9999_h.pjit")
    touched(tmp_path / "notes.txt")
    touched(tmp_path / "loose.pjit")
    (tmp_path / "process-3-of-11").mkdir()
    files, folders = find_records([tmp_path])
    assert [file.path.relative_to(tmp_path).as_posix() for file in files] == [
        "loose.pjit",
        "process-0-of-11/0000_f.pjit",
        "process-2-of-11/0000_f.pjit",
        "process-2-of-11/9999_h.pjit",
        "process-2-of-11/10000_g.pjit",
        "process-10-of-11/0000_f.pjit",
    ]
    assert files[0].folder is None
    assert [file.folder.process for file in files[1:] if file.folder] == [0, 2, 2, 2, 10]
    assert folders == tuple(FoundFolder(process=process, count=11) for process in (0, 2, 3, 10))


def test_a_file_that_is_given_twice_is_read_once(tmp_path: Path):
    path = touched(tmp_path / "process-0-of-1" / "0000_f.pjit")
    assert len(find_records([path, tmp_path, path])[0]) == 1


def test_a_path_that_is_not_there_is_an_error_that_says_what_was_expected(tmp_path: Path):
    with pytest.raises(ParseError, match=r"no such file or folder \(expected \.pjit files"):
        find_records([tmp_path / "gone"])


def test_processes_that_save_into_one_folder_leave_the_log_of_one(tmp_path: Path) -> None:
    folder = tmp_path / "process-0-of-1"
    code = f"""
import pathlib, sys
sys.path.append({str(Path(record_folder.__file__).parents[3])!r})
from pjit_inspect.parse.files.record_folder import save_records
own = sys.argv[1]
for _ in range(20):
    files = {{f"{{number:04}}_{{own}}.pjit": own.encode for number in range(3)}}
    save_records({{pathlib.Path({str(folder)!r}): files}})
"""
    others = [subprocess.Popen([sys.executable, "-c", code, name]) for name in "abc"]
    assert [other.wait() for other in others] == [0, 0, 0]
    names = sorted(os.listdir(folder))
    assert names in [[*(f"{number:04}_{name}.pjit" for number in range(3)), "saved.json"] for name in "abc"]
    save_records({folder: {"0000_mine.pjit": lambda: b"mine"}})
    assert sorted(os.listdir(folder)) == ["0000_mine.pjit", "saved.json"]
