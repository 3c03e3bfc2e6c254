"""What the package imports late is the standard library's, and hides no file of the user's."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pjit_inspect
from pjit_inspect.standard import load_standard

PACKAGE = Path(pjit_inspect.__file__).parent

ELSEWHERE = {
    "observe/apart/server.py": "runs in a helper",
    "observe/apart/worker.py": "runs in a helper",
    "observe/apart/start.py": "runs in a helper",
}
"""Modules that may import what they like."""


def imported(source: str) -> Iterator[str]:
    """Modules a text imports, `importlib.import_module("name")` too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (own.name for own in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
            given = node.args[0]
            if isinstance(given, ast.Constant):
                yield str(given.value)


def test_modules_of_the_standard_library_are_those_that_jax_loads_or_are_loaded_by_name() -> None:
    script = "import sys, jax; jax.devices(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    late = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).as_posix() not in ELSEWHERE
        for name in imported(path.read_text(encoding="utf-8"))
        if name.split(".")[0] in sys.stdlib_module_names and name not in loaded
    }
    assert late == set()


@pytest.mark.parametrize("name", ["fcntl", "mmap", "resource", "sqlite3", "termios", "tomllib", "unicodedata"])
def test_a_module_is_the_standard_one_and_the_users_of_that_name_stays_importable(name: str, tmp_path: Path) -> None:
    if name in sys.builtin_module_names:
        pytest.skip("it is within this Python itself, so that no file can hide it")
    (tmp_path / f"{name}.py").write_text("mine = True")
    script = f"""
import sys
sys.modules.pop({name!r}, None)
sys.path.insert(0, {str(tmp_path)!r})
from pjit_inspect.standard import load_standard
ours = load_standard({name!r})
assert ours is load_standard({name!r})
import {name}
print(hasattr(ours, "mine"), {name}.mine)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "False True\n", done.stderr


def test_a_module_that_is_loaded_is_used_as_it_is() -> None:
    import json

    assert load_standard("json") is json


def test_a_module_that_there_is_not_is_told() -> None:
    with pytest.raises(ModuleNotFoundError, match="has no no_such_module"):
        load_standard("no_such_module")
