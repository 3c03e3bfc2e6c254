"""Every lesson has the form of lessons: short, quiet, pictures fresh, predictions in view, answers folded.

Not its job: running them (`pytest --nbval notebooks`), or what tutorials of any form must have (`test_tutorials`).
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from code_blocks import ROOT

WORDS, CODE_LINES, SHOWN, CODE_CELLS, CELL_LINES, SAVED_DISPLAYS = 1_800, 60, 6, 14, 10, 3
PLACES = re.compile(
    r"\b(on|to|at|from) (the|its|your) (left|right)\b|\b(left|right)-hand\b|\bbelow\b|\btabs?\b", re.IGNORECASE
)
SHOWS = re.compile(r"^[^#\n]*%%?pjit (?!error|on\b|off\b|forget)", re.MULTILINE)
LOUD = re.compile(r"^\s*(assert|try:|except\b)|\bf\"|\bf'|\.format\(", re.MULTILINE)


NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@cache
def cells(path: Path) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(path.read_text(encoding="utf-8"))["cells"])


def source(cell: dict[str, Any]) -> str:
    return re.sub(r"<img\b[^>]*>", "", "".join(cell["source"]))


def markdown(path: Path) -> list[str]:
    return [source(cell) for cell in cells(path) if cell["cell_type"] == "markdown"]


def code(path: Path) -> list[str]:
    return [source(cell) for cell in cells(path) if cell["cell_type"] == "code"]


LESSONS = [path for path in NOTEBOOKS if (path.parent / "pictures" / f"{path.stem}.py").exists()]

lessons = pytest.mark.parametrize("path", LESSONS, ids=[path.stem for path in LESSONS])


@pytest.fixture(scope="module")
def pictures() -> Any:
    spec = importlib.util.spec_from_file_location("embed_pictures", ROOT / "scripts" / "embed_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("embed_pictures", module)
    spec.loader.exec_module(module)
    return module


@lessons
def test_its_pictures_are_those_that_are_drawn_now(path: Path, pictures: Any):
    assert not list(pictures.problems(path))


@lessons
def test_it_is_short(path: Path):
    text = "\n".join(markdown(path))
    words = len(re.findall(r"\S*\w\S*", re.sub(r"</?\w+>", "", text)))
    written = [line for cell in code(path) for line in cell.splitlines() if line.strip()]
    assert words <= WORDS
    assert len(written) <= CODE_LINES
    assert len(code(path)) <= CODE_CELLS
    assert max(len(cell.splitlines()) for cell in code(path)) <= CELL_LINES


@lessons
def test_it_shows_few_programs(path: Path):
    shown = SHOWS.findall("\n".join(code(path)))
    assert 1 <= len(shown) <= SHOWN
    saved = [
        output
        for cell in cells(path)
        for output in cell.get("outputs", ())
        if len("".join(output.get("data", {}).get("text/html", ""))) > 100_000
    ]
    assert len(saved) <= SAVED_DISPLAYS


@lessons
def test_its_code_is_quiet(path: Path):
    assert not [cell for cell in code(path) if LOUD.search(cell)]


@lessons
def test_its_title_asks_one_question(path: Path):
    (title,) = re.findall(r"^# .*$", "\n".join(markdown(path)), re.MULTILINE)
    assert title.endswith("?")
    assert title.count("?") == 1


@lessons
def test_only_predictions_are_quoted_and_each_has_a_folded_answer(path: Path):
    text = "\n\n".join(markdown(path))
    quoted = [part for part in re.split(r"\n\s*\n", text) if part.startswith(">")]
    assert quoted
    assert all(part.startswith("> **Predict.** ") for part in quoted)
    # Several may ask before one fold answers; every fold is closed, after an empty line.
    folds = text.count("<details><summary>")
    assert folds == text.count("\n\n</details>") == len(re.findall(r"</summary>\n\n", text))
    assert folds >= 2


@lessons
def test_it_says_nothing_of_places(path: Path):
    assert not [found[0] for part in markdown(path) for found in PLACES.finditer(part)]


@lessons
def test_a_display_that_answers_is_folded(path: Path):
    for cell in cells(path):
        outputs = cell.get("outputs", ())
        if any(len("".join(output.get("data", {}).get("text/html", ""))) > 100_000 for output in outputs):
            assert cell["metadata"]["jupyter"]["outputs_hidden"] is True
