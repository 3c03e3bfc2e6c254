"""The file that JAX's profiler wrote: there, and not too large."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjit_inspect.errors import CaptureError
from pjit_inspect.observe.profiler import profiler


def test_a_larger_file_than_the_bound_is_refused(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(profiler, "MAX_BYTES", 10)
    (tmp_path / "a.xplane.pb").write_bytes(b"x" * 11)
    with pytest.raises(CaptureError, match="11 bytes, at most 10 are read"):
        profiler.read_trace(tmp_path)


def test_a_folder_without_a_trace_is_said(tmp_path: Path):
    with pytest.raises(CaptureError, match="wrote no trace"):
        profiler.read_trace(tmp_path)
