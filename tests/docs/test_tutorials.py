"""Every tutorial has a picture, `%pjit` and folded answers, is on the reader's map, and keeps its outputs comparable.

Not its job: running them, and comparing what they print (`pytest --nbval notebooks`).
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from code_blocks import ROOT, read_page

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
IGNORED_AT_MOST = 8
DRAWN = {"text/html", "application/vnd.plotly.v1+json"}

tutorials = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


@cache
def cells(path: Path) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(path.read_text(encoding="utf-8"))["cells"])


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def prose(path: Path) -> str:
    return "\n".join(source(cell) for cell in cells(path) if cell["cell_type"] == "markdown")


def code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in cells(path) if cell["cell_type"] == "code"]


@tutorials
def test_its_title_has_the_number_of_its_file(path: Path):
    number = path.stem.partition("_")[0].lstrip("0")
    assert source(cells(path)[0]).startswith(f"# {number}. ")


@tutorials
def test_it_uses_the_magic_and_shows_a_picture(path: Path):
    assert any(re.search(r"^.*%%?pjit ", source(cell), re.MULTILINE) for cell in code(path))
    outputs = [output for cell in code(path) for output in cell["outputs"]]
    assert any(DRAWN & set(output.get("data", ())) for output in outputs)


@tutorials
def test_its_exercises_have_folded_answers(path: Path):
    text = prose(path)
    tasks, _, rest = text.partition("**Try it.**")[2].partition("<details>")
    exercises = re.findall(r"^\d+\. ", tasks, re.MULTILINE)
    answers = re.findall(r"^\d+\. ", rest.partition("</details>")[0], re.MULTILINE)
    assert exercises
    assert answers == exercises
    # GitHub and Jupyter read Markdown inside HTML only after an empty line.
    assert "</summary>\n\n" in text
    assert "\n\n</details>" in text


@tutorials
def test_it_was_run_from_top_to_bottom_without_an_error(path: Path):
    assert [cell["execution_count"] for cell in code(path)] == list(range(1, len(code(path)) + 1))
    quiet = [cell for cell in code(path) if "raises-exception" not in cell["metadata"].get("tags", ())]
    assert not [output for cell in quiet for output in cell["outputs"] if output["output_type"] == "error"]


@tutorials
def test_an_ignored_output_says_why(path: Path):
    for cell in code(path):
        if "nbval-ignore-output" in cell["metadata"].get("tags", ()):
            assert cell["metadata"]["why_ignored"]


def test_few_outputs_are_ignored():
    tags = [tag for path in NOTEBOOKS for cell in code(path) for tag in cell["metadata"].get("tags", ())]
    assert tags.count("nbval-ignore-output") <= IGNORED_AT_MOST


@tutorials
def test_its_links_lead_somewhere(path: Path):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose(path)):
        assert "://" in target or (path.parent / target).exists(), target


@tutorials
def test_the_map_and_the_readme_name_it(path: Path):
    assert f"]({path.name})" in read_page("notebooks/README.md")


def test_the_map_names_nothing_else():
    text = read_page("notebooks/README.md")
    named = set(re.findall(r"\]\((\S+\.ipynb)\)", text))
    assert named == {path.name for path in NOTEBOOKS}
    paths = {path.name: path for path in NOTEBOOKS}
    for name, heading in re.findall(r"\]\((\S+\.ipynb)\), \*([^*]+)\*", text):
        assert re.search(rf"^#+ {re.escape(heading)}$", prose(paths[name]), re.MULTILINE), (name, heading)


def test_a_row_of_the_map_has_as_many_cells_as_its_head_and_names_each_lesson_by_its_number():
    text = read_page("notebooks/README.md")
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({row.count("|") for row in table.splitlines()}) == 1, table
    for number, name in re.findall(r"\[(\d+)\]\((\S+\.ipynb)\)", text):
        assert re.match(rf"0*{number}_", name), (number, name)


@tutorials
def test_the_page_of_pictures_has_one_of_it(path: Path):
    title = source(cells(path)[0]).partition("\n")[0].partition(". ")[2]
    number = path.stem.partition("_")[0].lstrip("0")
    row = rf"^### \[{number}\]\({path.name}\) {re.escape(title)}\n\n!\[[^\]]+\]\((pictures/{path.stem}/\w+\.svg)\)$"
    (picture,) = re.findall(row, read_page("notebooks/PICTURES.md"), re.MULTILINE)
    assert (path.parent / picture).exists()


def test_loops_are_told_in_the_lesson_of_loops():
    (row,) = re.findall(r"^\|.*`scan`, `while_loop` exchange.*$", read_page("notebooks/README.md"), re.MULTILINE)
    assert "(23_loops_and_branches.ipynb)" in row
