"""Links of the README and of `docs/` lead to files and headings that are there, and every page is linked from another.

Not its job: addresses on a network, which no test may ask.
"""

from __future__ import annotations

import importlib
import posixpath
import re
import sys

import pytest
from code_blocks import ROOT, read_page

PAGES = [
    "README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
    "notebooks/README.md",
]
sys.path.insert(0, str(ROOT / "scripts"))
llms_txt = importlib.import_module("llms_txt")
FOLDERS = {path.name for folder in (ROOT, ROOT / "pjit_inspect") for path in folder.iterdir() if path.is_dir()}


def prose(page: str) -> str:
    """A page without its code."""
    return re.sub(r"^```.*?^```$", "", read_page(page), flags=re.MULTILINE | re.DOTALL)


def links(page: str) -> list[tuple[str, str]]:
    """Where a page's relative links lead, as a path from the root and a heading's anchor."""
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    targets = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"\s]+)\"", text)
    found = [(a or b).partition("#")[::2] for a, b in targets if "://" not in (a or b)]
    return [(from_root(page, path), anchor) for path, anchor in found]


def from_root(page: str, path: str) -> str:
    """A link's path as seen from the root of the checkout; none is the page itself."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page


def anchors(page: str) -> set[str]:
    """What the headings of a page are called in links, as GitHub makes it."""
    headings = re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def paths_in_code(page: str) -> set[str]:
    """Paths of the checkout that a page's text names as code: `tests/causes`, `parse/wire/wire.py`, `../README.md`."""
    found = re.findall(r"`(?:python )?((?:\w[\w.-]*/)+[\w.-]+)(?: [^`\n]*)?`", prose(page))
    return {path for path in found if path.split("/")[0] in FOLDERS}


def test_the_pages_are_found():
    assert {"docs/api.md", "docs/recipes.md", "docs/recompiles.md", "docs/causes.md"} <= set(PAGES)
    assert ("docs/recompiles.md", "") in links("docs/recipes.md")
    assert "scripts/api_reference.py" in paths_in_code("docs/api.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file(page: str):
    assert [path for path, _ in links(page) if path.startswith("..") or not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_to_a_heading_finds_it(page: str):
    assert [(path, anchor) for path, anchor in links(page) if anchor and anchor not in anchors(path)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_is_named_is_there(page: str):
    rooms = (ROOT, ROOT / "pjit_inspect")
    assert [path for path in paths_in_code(page) if not any((room / path).exists() for room in rooms)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_page_but_the_readme_is_linked_from_another(page: str):
    others = {path for other in PAGES if other != page for path, _ in links(other)}
    assert page == "README.md" or page in others


def test_the_index_names_every_page():
    named = {path for path, _ in links("docs/README.md")}
    assert [page for page in PAGES if page not in {*named, "docs/README.md"}] == []


def test_every_page_can_be_reached_from_the_readme():
    reached, todo = set[str](), ["README.md"]
    while todo:
        page = todo.pop()
        if page not in reached:
            reached.add(page)
            todo += [path for path, _ in links(page) if path in PAGES]
    assert sorted(set(PAGES) - reached) == []


def test_the_list_for_programs_is_fresh():
    assert llms_txt.text() == read_page("llms.txt"), "renew it: python scripts/llms_txt.py"
