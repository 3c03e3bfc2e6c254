"""`docs/one_sentence.md`: its code prints what it shows, and the files it names are there.

Not its job: whether causes are right (tests/causes).
"""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from code_blocks import ROOT, blocks, filled_in, printed_each_by_itself, read_page

PAGE = "docs/one_sentence.md"
BASES = ("", "pjit_inspect", "pjit_inspect/view/front/src")


@pytest.mark.skipif(version("jax") == "0.8.1", reason="XLA of jaxlib 0.8.1 makes other kernels than the page shows")
def test_its_code_prints_what_it_shows(tmp_path: Path, request: pytest.FixtureRequest):
    head, *codes = blocks(read_page(PAGE), "python")
    printed = printed_each_by_itself(head, codes, tmp_path)
    if request.config.getoption("--update-golden"):
        filled_in(PAGE, printed)
    assert blocks(read_page(PAGE), "text") == printed


@pytest.mark.parametrize("page", [PAGE, "CONTRIBUTING.md", "docs/architecture.md"])
def test_the_files_it_names_are_there(page: str):
    names = re.findall(r"`((?:[\w.]+/)+[\w.]+\.\w+)`", read_page(page))
    assert len(names) > 8
    assert [name for name in names if not any((ROOT / base / name).exists() for base in BASES)] == []
