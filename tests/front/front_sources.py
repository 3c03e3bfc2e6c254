"""The inspector's JavaScript as tests see it: its folder, its files, what each imports, and node to run them.

Not its job: expectations.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pjit_inspect.view.inspector.page import BUNDLE

__all__ = ["FRONT", "SOURCES", "FrontImport", "address", "import_all", "read_imports", "run_node"]

FRONT = BUNDLE.parent
SOURCES = FRONT / "src"

# `import ... from "x"`, `export ... from "x"`, `import "x"`, and a type of a doc comment, `import("x").Name`.
_IMPORT = re.compile(r"""\b(?:from|import)\s*\(?\s*["'](\.[^"']*)["']""")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontImport:
    """One file that another names: both as paths in `src`; `is_type` where only a doc comment does."""

    importer: str
    imported: str
    is_type: bool

    def __str__(self) -> str:
        return f"{self.importer} imports {self.imported}"


def read_imports(importer: str, text: str) -> list[FrontImport]:
    """Every import of one file.

    Args:
      importer: its path in `src`.
      text: its source.
    """
    folder = SOURCES / Path(importer).parent
    return [
        FrontImport(
            importer=importer,
            imported=(folder / match[1]).resolve().relative_to(SOURCES.resolve()).as_posix(),
            is_type="(" in match[0],
        )
        for match in _IMPORT.finditer(text)
    ]


def address(module: str) -> str:
    """The address of a module that is named without its ending: "core/blob"."""
    return (SOURCES / f"{module}.js").as_uri()


def import_all(modules: Mapping[str, str]) -> str:
    """Import statements; `modules` has the name of each in the script, and its path: {"blob": "core/blob"}."""
    return "".join(f'import * as {name} from "{address(path)}";\n' for name, path in modules.items())


def run_node(program: str, given: str | None = None) -> Any:
    """What a module script prints as JSON; `given` is its standard input."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node (Debian: nodejs)")
    command = [node, "--input-type=module", "-e", program]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
