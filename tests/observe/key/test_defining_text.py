"""The text that functions are defined in is looked through once for all of them, and anew when it changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pjit_inspect.observe.key import defining_text as module
from pjit_inspect.observe.key.defining_text import NO_TEXT, defining_text

TEXT = """
def one():
    def inner(): ...

class Model:
    def one(self): ...
    def two(self): ...
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(TEXT)
    return path


def test_a_text_is_looked_through_once_for_all_its_functions(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    findall = module.re.findall
    monkeypatch.setattr(module.re, "findall", lambda *given: looked.append(1) or findall(*given))
    found = [defining_text(str(file), name) for name in ("one", "Model.one", "Model.two", "one.<locals>.inner", "gone")]
    assert [text.twins for text in found] == [1, 1, 1, 1, 0]
    assert len({text.version for text in found}) == 1
    assert len(looked) == 1


def test_a_text_that_changed_is_another(file: Path) -> None:
    old = defining_text(str(file), "Model.two")
    file.write_text(TEXT + "\ndef two(): ...\nclass Model:\n    def two(self): ...\n")
    os.utime(file, (1, 1))
    new = defining_text(str(file), "Model.two")
    assert (old.twins, new.twins) == (1, 2)
    assert old.version != new.version
    assert new.lines[-1] == "    def two(self): ..."


def test_a_file_that_is_not_there_has_no_text() -> None:
    assert defining_text("/there/is/none.py", "f") is NO_TEXT
