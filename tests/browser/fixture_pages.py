"""Pages of real programs for the browser tests."""

from __future__ import annotations

import dataclasses
import functools
import tempfile
from pathlib import Path

from data import hlo_fixtures as fixtures

import pjit_inspect
from pjit_inspect.api import CompileRecord

__all__ = ["page_of", "record_of"]


@functools.cache
def record_of(name: str) -> CompileRecord:
    """A fixture as a record, with the mesh it was compiled for."""
    found = pjit_inspect.open(fixtures.HERE / f"{name}.hlo.gz")
    assert isinstance(found, CompileRecord)
    return CompileRecord(dataclasses.replace(found.data, mesh=fixtures.MESH), hlo=found.hlo, hlo_text=found.hlo_text)


@functools.cache
def page_of(name: str) -> str:
    """Its exported page."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        record_of(name).to_html(file)
        return file.read_text(encoding="utf-8")
