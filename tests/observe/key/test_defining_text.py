"""The text that functions are defined in is looked through once for all of them, and anew when it changes."""

from __future__ import annotations

import ast
import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from pjit_inspect.observe.key import definitions as module
from pjit_inspect.observe.key.definitions import defined_names, text_of

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
    looked: list[str] = []
    names = module.defined_names
    monkeypatch.setattr(module, "defined_names", lambda text: looked.append(text) or names(text))
    found = [text_of(str(file)) for _ in range(3)]
    names_of_each = ("one", "Model.one", "Model.two", "one.<locals>.inner", "gone")
    assert [found[0].defined[name] for name in names_of_each] == [1, 1, 1, 1, 0]
    assert len({text.version for text in found}) == 1
    assert len(looked) == 1


def test_a_text_that_changed_is_another(file: Path) -> None:
    old = text_of(str(file))
    file.write_text(TEXT + "\ndef two(): ...\nclass Model:\n    def two(self): ...\n")
    os.utime(file, (1, 1))
    new = text_of(str(file))
    assert (old.defined["Model.two"], new.defined["Model.two"]) == (1, 2)
    assert old.version != new.version
    assert new.lines[-1] == "    def two(self): ..."


def test_a_file_that_is_not_there_has_no_text() -> None:
    assert text_of("/there/is/none.py").version is None


UGLY = '''
def outer(text="""
def not_one(): ...
"""):  # def nor_this(): ...
    async def waits(): ...
    "def in_a_string(): ..."
    if text:
        class Model:
            @property
            def one(self): ...
    else:
        def one(): ...
    return f"it\'s {text!r}" + 'def quoted(): ...\\\''

def after(): ...
'''


def test_names_are_those_of_code_and_not_of_strings_or_comments() -> None:
    names = ["outer", "outer.<locals>.waits", "outer.<locals>.Model.one", "outer.<locals>.one", "after"]
    assert list(defined_names(UGLY)) == names


def test_a_cell_with_magics_has_names() -> None:
    assert list(defined_names("%load_ext pjit_inspect\ndef f(x): ...\n!ls\n%pjit f(x)\n")) == ["f"]


@pytest.mark.parametrize("folder", ["asyncio", "email", "unittest", "json"])
def test_names_are_those_that_python_parses(folder: str) -> None:
    files = sorted(Path(sysconfig.get_path("stdlib"), folder).glob("*.py"))[:60]
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        assert sorted(defined_names(text)) == sorted(parsed_names(tree)), path


def parsed_names(tree: ast.AST, prefix: str = "") -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        inner = prefix
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name
            inner = f"{prefix}{node.name}.<locals>."
        elif isinstance(node, ast.ClassDef):
            inner = f"{prefix}{node.name}."
        yield from parsed_names(node, inner)
