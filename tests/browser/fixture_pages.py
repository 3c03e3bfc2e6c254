"""Pages of real programs for the browser tests, and their graphs."""

from __future__ import annotations

import dataclasses
import functools
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "analyze" / "graph"))
import graph_cases
from data import hlo_fixtures as fixtures

import pjit_inspect
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.graph import ProgramGraph

__all__ = ["collectives_of", "graph_of", "measured_page_of", "page_of"]


@functools.cache
def page_of(name: str) -> str:
    """The exported page of a fixture, with the mesh it was compiled for."""
    found = pjit_inspect.open(fixtures.HERE / f"{name}.hlo.gz")
    assert isinstance(found, pjit_inspect.CompileRecord)
    data = dataclasses.replace(found.data, mesh=fixtures.MESH, meshes=(fixtures.MESH,))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        pjit_inspect.CompileRecord(data, hlo=found.hlo, hlo_text=found.hlo_text).to_html(file)
        return file.read_text(encoding="utf-8")


@functools.cache
def measured_page_of(name: str) -> str:
    """The exported page of a program that was measured on a GPU."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        fixtures.measured_on_h200(name).to_html(file)
        return file.read_text(encoding="utf-8")


def graph_of(name: str) -> ProgramGraph:
    """Its graph."""
    return graph_cases.fixture(name)[2]


def collectives_of(name: str) -> CollectiveTable:
    """Its collectives, as the graph numbers them."""
    return graph_cases.fixture(name)[1]
