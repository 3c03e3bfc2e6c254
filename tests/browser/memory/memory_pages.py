"""A page of a small training step with its memory pane, and what its payload says. Not its job: what is asserted."""

from __future__ import annotations

import dataclasses
import functools
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "view"))
from blob_reader import read_blob
from data import hlo_fixtures as fixtures

import pjit_inspect
from pjit_inspect.handles.memory.shown import memory_blob

__all__ = ["data_of", "opened", "page_of"]


@functools.cache
def _record(name: str) -> pjit_inspect.CompileRecord:
    found = pjit_inspect.open(fixtures.HERE / f"{name}.hlo.gz")
    assert isinstance(found, pjit_inspect.CompileRecord)
    data = dataclasses.replace(found.data, mesh=fixtures.MESH)
    return pjit_inspect.CompileRecord(data, hlo=found.hlo, hlo_text=found.hlo_text)


@functools.cache
def page_of(name: str) -> str:
    """The exported page of a fixture."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        _record(name).to_html(file)
        return file.read_text(encoding="utf-8")


@functools.cache
def data_of(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the columns of its memory pane."""
    return read_blob(memory_blob(_record(name).state.analyses))


def opened(visit: Any, name: str, **size: Any) -> Any:
    """The page at its memory pane."""
    found = visit(page_of(name), hash="view=memory&pane=centre", **size)
    found.page.wait_for_selector(".mempane .memrow[data-group]")
    return found
