"""Commands that the pages name are commands: `%pjit` lines, the command line, and scripts with their options."""

from __future__ import annotations

import re
import shlex

import pytest
from code_blocks import ROOT, read_page
from IPython.core.error import UsageError

from pjit_inspect.cli import _parser
from pjit_inspect.ipython.command import ShowOptions, parse_command

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
    "notebooks/README.md",
]


def commands(page: str, start: str) -> list[str]:
    """What stands as code in a page, inline or on a line of its own, and begins like this."""
    text = read_page(page)
    inline = re.findall(rf"`({re.escape(start)}[^`\n]*)`", text)
    lines = re.findall(rf"^\s*({re.escape(start)}.*)$", text, re.MULTILINE)
    return [re.split(r"\s{2,}#?|\s#\s", found.replace("\\|", "|"))[0].strip() for found in (*inline, *lines)]


def with_samples(line: str) -> list[str]:
    """A line with its optional parts, and without; names in capitals become samples."""
    lines = [re.sub(r"\[([^\]]*)\]", r"\1", line), re.sub(r"\s*\[[^\]]*\]", "", line)]
    lines = [re.sub(r"\bCALL\b|\bEXPRESSION\b|\bcode\b", "f(x)", own) for own in lines]
    return [re.sub(r"\bN\b", "3", re.sub(r"\bNAME\b", "step", own)) for own in lines]


@pytest.mark.parametrize("page", PAGES)
def test_every_line_of_pjit_is_taken(page: str):
    for found in commands(page, "%pjit"):
        line = found.removeprefix("%pjit").strip()
        if not line or line == "?" or found.startswith("%pjit?"):
            continue
        for sample in with_samples(line):
            # An option that is named by itself is one of code.
            sample += " f(x)" if re.fullmatch(r"--(?!cell)[\w-]+", sample) else ""
            try:
                parse_command(sample, ShowOptions(), lambda _: True)
            except UsageError as error:
                pytest.fail(f"{page}: {found}: {error}")


@pytest.mark.parametrize("page", PAGES)
def test_every_command_line_is_taken(page: str):
    for found in commands(page, "python -m pjit_inspect"):
        words = [word for word in shlex.split(found.removeprefix("python -m pjit_inspect")) if word != "..."]
        if len(words) < 2:
            assert not words or words[0] in ("report", "diff", "upgrade", "check", "query", "skill"), found
            continue
        if words[-1] in ("-o", "--output"):
            words.append("page.html")
        if words[0] == "diff" and len(words) == 3 and words[1] == "-o":
            words = ["diff", "before", "after", *words[1:]]
        if words[0] in ("report", "upgrade") and words[1] == "-o":
            words.insert(1, "x:f")
        try:
            _parser().parse_args(words)
        except SystemExit as error:
            pytest.fail(f"{page}: {found}: {error}")


@pytest.mark.parametrize("page", PAGES)
def test_every_option_of_a_script_is_in_it(page: str):
    for found in commands(page, "scripts/"):
        words = found.split()
        script = ROOT / words[0].rstrip(",.")
        if not script.is_file():
            assert script.is_dir(), f"{page}: {found}"
            continue
        text = script.read_text(encoding="utf-8")
        started = re.findall(r"scripts/[\w.]+\.py", text)
        sources = [text, *((ROOT / name).read_text(encoding="utf-8") for name in started)]
        for option in (word.partition("=")[0] for word in words[1:] if word.startswith("--")):
            assert any(option in source for source in sources) or "pytest" in text, f"{page}: {found}"
