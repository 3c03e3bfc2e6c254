"""The text of the user's files: as it is now, and once in memory for all records of a file."""

from __future__ import annotations

import linecache
import os
from pathlib import Path

from pjit_inspect.observe.live.frames import read_source


def test_the_lines_of_a_file_are_held_once_and_follow_its_changes(tmp_path: Path):
    file = tmp_path / "train.py"
    file.write_text("a = 1\nb = 2\n")
    first, second = read_source(str(file)), read_source(str(file))
    assert first is not None
    assert second is not None
    assert first.lines == ("a = 1", "b = 2")
    assert first.lines is second.lines
    file.write_text("a = 1\nb = 2\nc = 3\n")
    os.utime(file, (1, 1))
    linecache.checkcache(str(file))
    later = read_source(str(file))
    assert later is not None
    assert later.lines == ("a = 1", "b = 2", "c = 3")
    assert first.lines == ("a = 1", "b = 2")
