"""`docs/api.md` is what the docstrings say, it leaves nothing out that users hold, and every option is told of.

Not its job: whether docstrings are there at all (test_public_api).
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import pjit_inspect
from pjit_inspect import cli
from pjit_inspect.ipython import command
from pjit_inspect.ipython.magics import PjitMagics

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
api_reference = importlib.import_module("api_reference")

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
USAGE = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
MAGIC = inspect.getdoc(PjitMagics.pjit) or ""
HELD = api_reference.held_classes()

READS_FILES = "HloReader"
"""How a module reads its file: users never call it."""


def entry(name: str) -> str:
    """What the page says under a heading of its own."""
    found = re.search(rf"^### `(?:pi\.)?{name}`\n(.*?)(?=^##)", PAGE, flags=re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def magic_options() -> set[str]:
    """Every `--option` that stands in a string of the magic's parser, but for IPython's own help."""
    strings = (node.value for node in ast.walk(ast.parse(inspect.getsource(command))) if isinstance(node, ast.Constant))
    found = {option for text in strings if isinstance(text, str) for option in re.findall(r"--[a-z][a-z-]*", text)}
    return found - {"--help"}


def test_the_page_is_what_the_docstrings_say():
    assert api_reference.reference() == PAGE, "renew it: python scripts/api_reference.py"


@pytest.mark.parametrize("name", pjit_inspect.__all__)
def test_every_public_name_has_an_entry_that_says_what_it_is(name: str):
    claim = (inspect.getdoc(getattr(pjit_inspect, name)) or "").split("\n")[0]
    assert len(claim) > 20
    assert claim in entry(name)


@pytest.mark.parametrize("kind", HELD, ids=lambda kind: kind.__name__)
def test_every_field_of_what_users_hold_is_explained(kind: type):
    names = [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
    names += [name for name, _ in api_reference.members_of(kind)]
    text = entry(kind.__name__)
    assert text
    # A field that only displays use is left out unless its class says something of it.
    hidden = {f.name for f in dataclasses.fields(kind) if not f.repr} if dataclasses.is_dataclass(kind) else set()
    rows = dict(re.findall(r"^- \*\*`\[?(\w+)[^`]*`\*\*(.*)$", text, flags=re.MULTILINE))
    assert [n for n in names if n != "__getitem__" and len(rows.get(n, "")) < 3 and n not in hidden] == []


@pytest.mark.parametrize("kind", HELD, ids=lambda kind: kind.__name__)
def test_every_word_of_a_class_is_on_the_page(kind: type):
    words = re.findall(r"\w+", inspect.getdoc(kind) or "")
    assert set(words) - {"Attributes"} <= set(re.findall(r"\w+", entry(kind.__name__)))


def test_every_class_that_an_entry_names_has_an_entry():
    lacking = set()
    for kind in HELD:
        for member, annotation, names in api_reference.annotations_of(kind):
            for word in re.findall(r"[A-Za-z_]\w*", annotation):
                found = names.get(word)
                ours = inspect.isclass(found) and found.__module__.startswith("pjit_inspect")
                if ours and found not in HELD and word != READS_FILES:
                    lacking.add(f"{word}, of {kind.__name__}.{member}")
    assert lacking == set()


def test_what_may_fail_says_how():
    for name in ("inspect", "load", "open", "merge"):
        assert "Raises" in entry(name)
    for promised in re.findall(r"Raises\s+`?(\w*Error)\b", PAGE):
        assert promised in pjit_inspect.__all__ or promised in dir(__import__("builtins")), promised


def test_the_magic_knows_these_options():
    shown = {"--view", "--no-times", "--measure", "--cell", "--watch", "--limit", "--line", "--on", "--quick"}
    assert magic_options() == shown | {"--target", "--mesh", "--effort"}


@pytest.mark.parametrize("word", sorted(magic_options()))
def test_every_option_of_the_magic_is_told_of(word: str):
    assert word in MAGIC
    assert word in PAGE
    assert word == "--cell" or word in USAGE  # It is how `%%pjit` works inside.


@pytest.mark.parametrize("word", command.SUBCOMMANDS)
def test_every_subcommand_of_the_magic_is_told_of(word: str):
    assert re.search(rf"^ *%pjit {word}\b.*  \w", MAGIC, flags=re.MULTILINE)
    assert f"%pjit {word}" in PAGE
    assert f"%pjit {word}" in USAGE


def test_every_view_and_every_setting_of_the_magic_is_told_of():
    assert f"--view {'|'.join(command.VIEWS)}" in MAGIC
    for name in PjitMagics.class_own_traits(config=True):
        assert f"%config PjitMagics.{name}" in MAGIC
        assert f"`PjitMagics.{name} = " in PAGE


def test_every_option_of_the_command_line_is_told_of():
    told = {
        name: [option for action in parser._actions for option in action.option_strings if action.dest != "help"]
        for name, parser in api_reference._subcommands(cli._parser())
    }
    assert told == {
        "report": ["-o", "--output", "--text", "--json", "--only", "--mesh"],
        "diff": ["-o", "--output", "--text", "--json", "--only", "--mesh", "--exit-zero"],
        "upgrade": ["--with", "--python", "--devices", "--only", "-o", "--output", "--text", "--json"],
        "check": [
            *("--budget", "--base", "--target", "--devices", "--only", "--mesh", "--json", "--markdown"),
            *("-o", "--output"),
        ],
        "query": ["--over", "--kind", "--top", "--after", "--columns", "--only", "--mesh", "--json", "--out"],
        "skill": ["--json"],
    }
    assert [option for options in told.values() for option in options if option not in PAGE] == []
