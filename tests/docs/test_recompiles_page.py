"""`docs/recompiles.md` names every kind of reason, in sentences that the corpus expects; its code prints what it shows.

Not its job: whether reasons are right (tests/recompiles).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from code_blocks import blocks, filled_in, printed_each_by_itself, read_page
from recompiles.corpus import SCENARIOS

from pjit_inspect.model.record.compile_key import CacheLayer
from pjit_inspect.model.record.ledger import PatternKind
from pjit_inspect.model.record.reason import DifferenceKind, ReasonKind

PAGE = "docs/recompiles.md"
WITHOUT_A_SCENARIO = {"type sharding"}


def rows(title: str) -> dict[str, list[str]]:
    """The table whose first column has this title: its first cell, without quotes -> the others."""
    table = re.search(rf"^\| {title} \|.*\n\|[-|]+\n((?:\|.*\n)+)", read_page(PAGE), flags=re.MULTILINE)
    assert table
    cells = [line.strip("|").split(" | ") for line in table[1].splitlines()]
    return {first.strip(" `"): [cell.strip() for cell in others] for first, *others in cells}


def test_its_code_prints_what_it_shows(tmp_path: Path, request: pytest.FixtureRequest):
    head, *codes = blocks(read_page(PAGE), "python")
    printed = printed_each_by_itself(head, codes, tmp_path)
    if request.config.getoption("--update-golden"):
        filled_in(PAGE, printed)
    assert blocks(read_page(PAGE), "text") == printed


def test_it_names_every_kind_of_reason():
    assert tuple(rows("kind")) == get_args(ReasonKind)


def test_it_names_every_kind_of_difference_with_a_sentence_of_the_corpus():
    page = read_page(PAGE)
    table = re.search(r"^\| kind \| such as \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, flags=re.MULTILINE)
    assert table
    found = dict(re.findall(r"^\| `([\w ]+)` \| (.*) \| [^|]* \|$", table[1], flags=re.MULTILINE))
    assert tuple(found) == get_args(DifferenceKind)
    expected = {sentence for scenario in SCENARIOS for sentence in scenario.sentences}
    assert {kind for kind, sentence in found.items() if sentence not in expected} == WITHOUT_A_SCENARIO


def test_it_names_every_pattern():
    assert tuple(rows("pattern")) == get_args(PatternKind)


def test_it_names_every_cache():
    assert set(get_args(CacheLayer)) < set(rows("cache"))
