"""Sphinx's settings for the documentation site: the pages of `docs/` and the tutorials, as they are on GitHub.

    sphinx-build -c docs/site . out/site      from the checkout's root; nothing is executed, nothing fetched

MyST reads the Markdown and the notebooks with their saved outputs, as JAX's own documentation does. The theme is furo:
light and dark, one small package, no font or script from a network. Which pages there are, and in which order, is
written once: in `docs/README.md` and `notebooks/README.md`.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "out" / "gallery"
"""The pages of `scripts/gallery`, which the site has where they were made; they are too large for git."""

project = "pjit_inspect"
author = "The pjit_inspect maintainers"
copyright = author
version = release = re.findall(r'__version__ = "(.+)"', (ROOT / "pjit_inspect/__init__.py").read_text("utf-8"))[0]

extensions = ["myst_nb"]
root_doc = "README"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "notebooks/*"]
exclude_patterns = ["notebooks/conftest.py"]

html_theme = "furo"
html_title = f"pjit_inspect {version}"
html_show_sourcelink = html_copy_source = False

nb_execution_mode = "off"
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
# A figure of plotly is shown as its text, the only other form of its output; JSON with dots is shown without colours.
suppress_warnings = ["mystnb.unknown_mime_type", "misc.highlighting_failure"]


def listed(page: str) -> list[str]:
    """The pages and tutorials that an index page links to, in its order, as Sphinx names documents."""
    text, folder = (ROOT / page).read_text("utf-8"), page.rpartition("/")[0]
    links = re.findall(r"\]\((\w+)\.(?:md|ipynb)(?:#[\w-]*)?\)", text)
    return [f"/{folder}/{link}" for link in dict.fromkeys(links)]


def prepare(app: Any, name: str, source: list[str]) -> None:
    """Puts the table of contents under the first page. The site has no folders: a link to one becomes its name."""
    folder = (ROOT / name).parent
    if name == "docs/gallery" and GALLERY.is_dir():
        source[0] = re.sub(r"(?m)^`(\w+)`:", r'<a href="gallery/\1.html">Open the page</a>. `\1`:', source[0])
    source[0] = re.sub(
        r"\[([^\]\n]+)\]\(([^)\s#]+)\)", lambda link: link[1] if (folder / link[2]).is_dir() else link[0], source[0]
    )
    if name == root_doc:
        parts = {
            "Tutorials": ["/notebooks/README", *sorted(listed("notebooks/README.md"))],
            "Pages": ["/docs/README", *listed("docs/README.md")],
            "Project": ["/CHANGELOG", "/CONTRIBUTING", "/SECURITY"],
        }
        for caption, pages in parts.items():
            source[0] += "\n\n```{toctree}\n:hidden:\n:caption: " + "\n".join((caption, "", *pages)) + "\n```\n"


def finish(app: Any, error: Exception | None) -> None:
    """Lays the pictures where raw HTML looks for them, opens the site with its first page, and adds `llms.txt`."""
    if error is None:
        shutil.copytree(ROOT / "docs/images", Path(app.outdir, "docs/images"), dirs_exist_ok=True)
        if GALLERY.is_dir():
            shutil.copytree(GALLERY, Path(app.outdir, "docs/gallery"), dirs_exist_ok=True)
        shutil.copy(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))
        pages = re.sub(r"\.(md|ipynb)\)", ".html)", (ROOT / "llms.txt").read_text("utf-8"))
        Path(app.outdir, "llms.txt").write_text(pages, "utf-8")


def setup(app: Any) -> None:
    """Joins these to the build."""
    app.connect("source-read", prepare)
    app.connect("build-finished", finish)
