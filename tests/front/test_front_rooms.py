"""The inspector's JavaScript has rooms, too: what each folder may import, and nothing else, in no circle.

Not its job: what the code does.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from front_sources import FRONT, SOURCES, FrontImport, read_imports

ARCHITECTURE = FRONT.parents[2] / "docs" / "architecture.md"

# Folder of `src` -> the other folders it may import, types of doc comments included.
ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "layered": set(),
    "graph/data": {"core"},
    "graph/box": {"core", "layered", "devices"},
    "graph/pane": {"core", "graph/data", "graph/box"},
    "schedule": {"core"},
    "devices": {"core"},
    "seconds": {"core"},
    "memory": {"core", "schedule", "devices"},
    "compare": {"core", "devices"},
    "play": {"core"},
    "passes": {"core"},
    "panes": {"core", "graph/box", "graph/pane", "schedule", "devices", "memory", "seconds"},
}

# The folders that need no page: node runs them.
PURE = ("layered", "graph/data")


def every_import() -> list[FrontImport]:
    return [found for file in scripts() for found in read_imports(name_of(file), file.read_text(encoding="utf-8"))]


def scripts() -> list[Path]:
    return sorted(SOURCES.rglob("*.js"))


def name_of(file: Path) -> str:
    return file.relative_to(SOURCES).as_posix()


def folder_of(name: str) -> str:
    return name.rpartition("/")[0]


def breaks_the_plan(found: FrontImport) -> bool:
    importer, imported = folder_of(found.importer), folder_of(found.imported)
    return importer != imported and imported not in ALLOWED[importer]


def find_circle(imports: list[FrontImport]) -> list[str]:
    """The files of one circle, or []: types apart, which do not exist when the code runs."""
    graph: dict[str, set[str]] = {}
    for found in imports:
        if not found.is_type:
            graph.setdefault(found.importer, set()).add(found.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_every_file_lies_in_a_folder_of_the_plan():
    files = [path for path in SOURCES.rglob("*") if path.is_file()]
    assert {folder_of(name_of(path)) for path in files} == set(ALLOWED)
    assert {path.suffix for path in files} == {".js", ".css"}


def test_imports_follow_the_plan():
    broken = [str(found) for found in every_import() if breaks_the_plan(found)]
    assert not broken, "\n".join(broken)


def test_no_imports_run_in_a_circle():
    assert not find_circle(every_import())


def test_every_imported_file_is_there():
    assert [str(found) for found in every_import() if not (SOURCES / found.imported).is_file()] == []


def test_every_file_is_reached_from_those_that_are_bundled():
    imports = [found for found in every_import() if not found.is_type]
    reached, new = set(), {"panes/main.js", "compare/main.js", "play/main.js", "passes/main.js", "core/loader.js"}
    while new:
        reached |= new
        new = {found.imported for found in imports if found.importer in reached} - reached
    assert {name_of(path) for path in SOURCES.rglob("*") if path.is_file()} == reached


def test_the_plan_has_no_circle_and_no_unused_edge():
    assert set(TopologicalSorter(ALLOWED).static_order()) == set(ALLOWED)
    used = {(folder_of(found.importer), folder_of(found.imported)) for found in every_import()}
    assert [(a, b) for a, to in ALLOWED.items() for b in to if (a, b) not in used] == []


def test_the_documented_table_is_the_one_that_is_tested():
    section = ARCHITECTURE.read_text(encoding="utf-8").split("## The inspector's JavaScript\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| [`")]
    documented = {
        row[0].split("`")[1].rstrip("/"): {name.rstrip("/") for name in row[-1].split("`")[1::2]} for row in rows
    }
    assert documented == ALLOWED


@pytest.mark.parametrize("folder", PURE)
def test_what_needs_no_page_names_none(folder: str):
    for file in (SOURCES / folder).glob("*.js"):
        text = file.read_text(encoding="utf-8")
        assert not any(
            word in text for word in ("document.", "window.", "addEventListener", "requestAnimationFrame")
        ), file


@pytest.mark.parametrize(
    ("importer", "text"),
    [
        ("core/dom.js", 'import { face } from "../devices/face.js";'),
        ("core/store.js", '/** @param {import("../panes/list.js").Row} row */'),
        ("layered/layers.js", 'import { range } from "../core/blob.js";'),
        ("graph/data/fold.js", 'export { draw } from "../pane/draw.js";'),
        ("graph/box/dag.js", 'import "../data/matrix.js";'),
        ("graph/pane/pane.js", 'import {\n  copyText,\n} from "../../panes/header.js";'),
        ("schedule/pane.js", "const { mesh } = await import('../devices/mesh.js');"),
        ("devices/mesh.js", 'import css from "../schedule/schedule.css";'),
    ],
)
def test_a_forbidden_import_is_found(importer: str, text: str):
    assert any(breaks_the_plan(found) for found in read_imports(importer, text))


@pytest.mark.parametrize(
    ("importer", "text"),
    [
        ("panes/app.js", 'import { mesh } from "../devices/mesh.js";'),
        ("graph/pane/pane.js", 'import { openBox } from "../box/pane.js";'),
        ("graph/data/fold.js", 'import { openGraph } from "./columns.js";'),
        ("core/dom.js", 'throw new Error("what comes from ../devices/face.js");'),
    ],
)
def test_an_allowed_import_is_not_reported(importer: str, text: str):
    assert not any(breaks_the_plan(found) for found in read_imports(importer, text))


def test_a_circle_of_imports_is_found_and_types_make_none():
    there = read_imports("graph/pane/pane.js", 'import { followPointer } from "./pointer.js";')
    back = read_imports("graph/pane/pointer.js", 'import { GraphView } from "./pane.js";')
    named = read_imports("graph/pane/pointer.js", '/** @typedef {import("./pane.js").GraphView} GraphView */')
    assert set(find_circle([*there, *back])) == {"graph/pane/pane.js", "graph/pane/pointer.js"}
    assert find_circle([*there, *named]) == []
