"""Every recipe of `docs/recipes.md` runs and prints what the page shows.

`pytest tests/docs/test_recipes.py --update-golden` writes what they print into the page; then read it.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from code_blocks import blocks, filled_in, printed_each_by_itself, read_page

PAGE = "docs/recipes.md"
HEAD, *RECIPES = blocks(read_page(PAGE), "python")
# JAX 0.12.0.1 prints the place of a dimension that is not divided: a `print` that was left in `pjit.py`.
JAX_PRINTS = re.compile(r"^\S*recipe\.py:\d+:\d+ \(<module>\)\n", re.MULTILINE)


@pytest.mark.skipif(version("jax") == "0.8.1", reason="XLA of jaxlib 0.8.1 makes other kernels than the page shows")
def test_each_recipe_prints_what_is_under_it(tmp_path: Path, request: pytest.FixtureRequest):
    printed = printed_each_by_itself(HEAD, RECIPES, tmp_path)
    if request.config.getoption("--update-golden"):
        filled_in(PAGE, printed)
    shown = blocks(read_page(PAGE), "text")
    assert len(shown) == len(RECIPES)
    for recipe, text, output in zip(RECIPES, shown, printed, strict=True):
        assert JAX_PRINTS.sub("", output) == text, recipe


def test_each_recipe_is_short_and_has_its_output_right_under_it():
    page = read_page(PAGE)
    titles = re.findall(r"^## (.*)$", page, flags=re.MULTILINE)
    assert len(titles) == len(RECIPES)
    assert [title for title in titles if not title.endswith("?")] == []
    for recipe in RECIPES:
        assert 3 <= len([line for line in recipe.splitlines() if line]) <= 10
        assert f"{recipe}```\n\n```text\n" in page
