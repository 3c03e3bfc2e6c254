"""The documentation site builds without a warning, holds every page and tutorial, and loads nothing from a network.

Not its job: what the pages say, and their links (`test_links.py`).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("myst_nb", reason="the test extra of pyproject.toml brings myst-nb")
pytest.importorskip("furo", reason="the test extra of pyproject.toml brings furo")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/site", ".", str(folder))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_and_tutorial_is_there_and_can_be_searched(site: Path):
    sources = [*ROOT.glob("docs/*.md"), *ROOT.glob("notebooks/*.ipynb"), ROOT / "README.md"]
    names = [path.relative_to(ROOT).with_suffix("").as_posix() for path in sources]
    assert [name for name in names if not (site / f"{name}.html").is_file()] == []
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert [name for name in names if f'"{name}"' not in index] == []


def test_its_first_page_leads_to_all_of_them(site: Path):
    first = (site / "index.html").read_text(encoding="utf-8")
    assert first == (site / "README.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'href="((?:docs|notebooks)/\w+)\.html"', first))
    assert {path.with_suffix("").as_posix() for path in ROOT.glob("docs/*.md")} <= {f"{ROOT}/{name}" for name in linked}


def test_programs_find_every_page(site: Path):
    found = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert [page for page in found if not (site / page).is_file()] == []
    sources = [*ROOT.glob("docs/*.md"), *ROOT.glob("notebooks/*.ipynb")]
    names = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in sources}
    assert names - set(found) == {"docs/README.html"}


def test_nothing_is_loaded_from_a_network(site: Path):
    loads = re.compile(
        r"""<(?:script|img|source|iframe)\b[^>]*?\b(?:src|srcset)="(?:https?:)?//|<link\b[^>]*?https?://"""
    )
    pages = [*site.glob("*.html"), *site.glob("docs/*.html"), *site.glob("notebooks/*.html")]
    assert [page.name for page in pages if loads.search(page.read_text(encoding="utf-8"))] == []


def test_pictures_are_where_the_pages_look_for_them(site: Path):
    for page in ("index.html", "docs/inspector.html", "docs/playground.html"):
        text = (site / page).read_text(encoding="utf-8")
        pictures = re.findall(r'<(?:img|source)\b[^>]*?\b(?:src|srcset)="([^":]+)"', text)
        assert pictures
        assert [name for name in pictures if not (site / page).parent.joinpath(name).is_file()] == []


def test_a_tutorial_shows_its_saved_displays(site: Path):
    text = (site / "notebooks/01_exploring_pjit.html").read_text(encoding="utf-8")
    assert "<iframe" in text
    assert "<svg" in text
