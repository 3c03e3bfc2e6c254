"""Writes `llms.txt`, the pages for programs that read, from the tables of `docs/README.md` and `notebooks/README.md`.

    python scripts/llms_txt.py

The site has it too, with links to its own pages.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def text() -> str:
    """What `llms.txt` says. Links are relative to the checkout's root."""
    pages = re.findall(r"(?m)^\| \[(\w+)\.md\]\(\w+\.md\) \| (.+) \|$", _read("docs/README.md"))
    lessons = re.findall(
        r"^\| \[\d+\]\((\w+\.ipynb)\) \| ([^:|]+): (.+?) \|", _read("notebooks/README.md"), re.MULTILINE
    )
    summary = re.findall(r'(?m)^description = "(.+)"', _read("pyproject.toml"))[0]
    return "\n".join((
        f"# pjit_inspect\n\n> {summary}\n",
        "`python -m pjit_inspect query FILE collectives` answers in JSON; `python -m pjit_inspect skill DIR` writes "
        "SKILL.md, which says how to ask.\n",
        "## Pages\n",
        *(f"- [{name}](docs/{name}.md): {asks}" for name, asks in pages),
        "\n## Lessons\n",
        *(f"- [{name}](notebooks/{file}): {asks}" for file, name, asks in lessons),
        "",
    ))  # fmt: skip


def _read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


if __name__ == "__main__":
    (ROOT / "llms.txt").write_text(text(), encoding="utf-8")
