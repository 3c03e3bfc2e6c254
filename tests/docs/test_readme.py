"""What the README and the page of usage say is so: examples print what they show, names and commands exist.

Not its job: the tutorials (nbval compares them).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from code_blocks import ROOT, blocks, printed_one_after_the_other, read_page

import pjit_inspect
from pjit_inspect.api import CompileRecord
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.sharding_table import ValueSharding

README = read_page("README.md")
USAGE = read_page("docs/usage.md")


def without_kernels(text: str) -> list[str]:
    """The lines of a record's text that do not depend on how this XLA fuses and allocates."""
    sections = [section for section in text.strip().split("\n\n") if "fused kernel" not in section.split("\n")[0]]
    return [line for section in sections for line in section.split("\n") if not line.startswith("memory per device")]


def test_it_opens_with_the_two_commands():
    first = blocks(README, "")[0]
    commands = [line.split()[0] for line in first.splitlines()]
    assert commands == ["scripts/demo", "scripts/test"]
    assert all(os.access(ROOT / command, os.X_OK) for command in commands)
    assert README.index(first) < README.index("\n## ")


def test_its_example_prints_what_it_shows(tmp_path: Path):
    example, (_, explain, again) = blocks(README, "python")[0], blocks(USAGE, "python")
    shown, explained, compiled_again = printed_one_after_the_other([example, explain, again], tmp_path)
    beginning = without_kernels(blocks(README, "text")[0].removesuffix("...\n"))
    assert without_kernels(shown)[: len(beginning)] == beginning
    assert [explained, compiled_again] == blocks(USAGE, "text")


def test_it_is_read_in_a_minute():
    assert len(README.encode()) <= 9_000


def test_every_name_of_a_record_exists():
    table = USAGE[USAGE.index("| on a record |") : USAGE.index("## Why is it there")]
    names = [name for line in table.splitlines()[2:] if line for name in re.findall(r"`(\w+)", line.split("|")[1])]
    assert len(names) > 15
    assert [name for name in names if not hasattr(CompileRecord, name)] == []


@pytest.mark.parametrize(
    ("first_cell", "kind"),
    [
        ("inputs", ArrayLayout),
        ("mesh", Mesh),
        ("collectives", Collective),
        ("shardings", ValueSharding),
        ("fusions", Fusion),
    ],
)
def test_every_attribute_of_a_row_exists(first_cell: str, kind: type):
    line = next(line for line in USAGE.splitlines() if line.startswith(f"| `{first_cell}`"))
    names = re.findall(r"`(\w+)`", line.split("|")[2])
    assert len(names) >= 3
    assert [name for name in names if not hasattr(kind, name)] == []


def test_every_function_of_the_package_it_calls_is_public():
    called = set(re.findall(r"\bpi\.(\w+)", README + USAGE))
    assert called >= {"capture", "inspect", "load", "start", "stop"}
    assert called <= set(pjit_inspect.__all__)


def test_every_subcommand_and_option_is_named():
    from pjit_inspect.ipython.command import OPTIONS, SUBCOMMANDS

    table = USAGE[USAGE.index("## In a notebook") : USAGE.index("## In Python")]
    assert [name for name in SUBCOMMANDS if f"%pjit {name}" not in table] == []
    assert [name for name in OPTIONS if name not in table] == []
