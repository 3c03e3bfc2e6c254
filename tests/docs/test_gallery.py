"""The gallery: each page that docs/gallery.md describes can be made, and one is, and is one small file.

Not its job: opening pages in a browser (`tests/browser`).
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest
from code_blocks import ROOT

MOST_BYTES = 600_000


@pytest.fixture(scope="module")
def gallery() -> Any:
    loader = SourceFileLoader("gallery_script", str(ROOT / "scripts" / "gallery"))
    spec = importlib.util.spec_from_loader("gallery_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    try:
        loader.exec_module(module)
    finally:
        sys.path[:] = path
    return module


def test_there_are_twelve_models_and_a_pair_and_each_can_be_built(gallery: Any):
    names = gallery.names()
    assert len(names) == len(set(names)) == 13
    assert [name for name in names if name not in {*gallery.BUILDS, "what_if", "before_after"}] == []


@pytest.mark.parametrize("name", ["decode_one_token_tp", "what_if"])
def test_a_page_is_one_small_file_that_loads_nothing(gallery: Any, name: str, tmp_path: Path):
    file = tmp_path / f"{name}.html"
    gallery.page(name).to_html(file)
    text = file.read_text(encoding="utf-8")
    assert len(text.encode()) <= MOST_BYTES
    assert "default-src 'none'" in text
