"""Every recipe of `docs/recipes.md` runs and prints what the page shows.

`pytest tests/docs/test_recipes.py --update-golden` writes what they print into the page; then read it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from code_blocks import ROOT, blocks, printed_each_by_itself, read_page

PAGE = "docs/recipes.md"
HEAD, *RECIPES = blocks(read_page(PAGE), "python")


def write_outputs(page: str, outputs: list[str]) -> None:
    rest = iter(outputs)
    texts = re.compile(r"^```text\n.*?^```$", flags=re.MULTILINE | re.DOTALL)
    (ROOT / PAGE).write_text(texts.sub(lambda _: f"```text\n{next(rest)}```", page), encoding="utf-8")


def test_each_recipe_prints_what_is_under_it(tmp_path: Path, request: pytest.FixtureRequest):
    printed = printed_each_by_itself(HEAD, RECIPES, tmp_path)
    if request.config.getoption("--update-golden"):
        write_outputs(read_page(PAGE), printed)
    shown = blocks(read_page(PAGE), "text")
    assert len(shown) == len(RECIPES)
    for recipe, text, output in zip(RECIPES, shown, printed, strict=True):
        assert output == text, recipe


def test_each_recipe_is_short_and_has_its_output_right_under_it():
    page = read_page(PAGE)
    titles = re.findall(r"^## (.*)$", page, flags=re.MULTILINE)
    assert len(titles) == len(RECIPES)
    assert [title for title in titles if not title.endswith("?")] == []
    for recipe in RECIPES:
        assert 3 <= len([line for line in recipe.splitlines() if line]) <= 10
        assert f"{recipe}```\n\n```text\n" in page
