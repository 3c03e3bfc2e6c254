"""A headless Chromium for the tests of the inspector; they are skipped, with the reason, where there is none."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "view")]

BROWSERS = ("chromium", "google-chrome", "chromium-browser")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser: `$CHROMIUM`, or the first of Debian's chromium and Google's Chrome."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None or not Path(path).exists():
        where = "none is here" if path is None else f"{path} is not there"
        pytest.skip(f"needs a Chromium: {where} (Debian: apt install chromium; or its path in CHROMIUM)")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()


@dataclass(slots=True)
class Visit:
    """A page, and what went wrong on it.

    Attributes:
      page: playwright's page.
      complaints: console errors and warnings, exceptions, refused content.
      requests: addresses the page asked for, its own file apart.
    """

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def select(self, selector: str) -> Any:
        """The first element."""
        return self.page.locator(selector).first

    def texts(self, selector: str) -> list[str]:
        """The words of all such elements."""
        return self.page.locator(selector).all_inner_texts()

    def hash(self, piece: str) -> str:
        """The address' part behind #, once `piece` stands in it: it is written when the reader rests."""
        for _ in range(100):
            found = self.page.evaluate("location.hash")
            if piece in found:
                return found
            self.page.wait_for_timeout(50)
        raise AssertionError(f"{piece!r} is not in the address: {found!r}")


@pytest.fixture
def visit(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens HTML text; at the end nothing may have been fetched and nothing complained of."""
    visits: list[Visit] = []

    def open_page(
        html: str, *, width: int = 1280, height: int = 720, hash: str = "", ready: bool = True, **context: Any
    ) -> Visit:
        page = chromium.new_page(viewport={"width": width, "height": height}, **context)
        found = Visit(page)
        visits.append(found)
        file = tmp_path / f"page{len(visits)}.html"
        file.write_text(html, encoding="utf-8")
        page.on("console", lambda m: found.complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: found.complaints.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(file.as_uri()) else found.requests.append(r.url[:200]))
        page.goto(f"{file.as_uri()}#{hash}")
        if ready:
            page.wait_for_selector("[data-ready]")
        return found

    yield open_page
    for one in visits:
        requests = [url for url in one.requests if not url.startswith(("about:", "data:", "blob:"))]
        one.page.close()
        assert not requests
        assert not one.complaints
