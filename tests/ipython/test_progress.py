"""The line that says for how long something has been under way."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from pjit_inspect.ipython import progress
from pjit_inspect.ipython.progress import begin_progress


class SlowHandle:
    """A display on a busy machine: an update takes ten times as long as what is patient."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.is_shown = threading.Event()

    def update(self, bundle: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.is_shown.set()
        time.sleep(0.1)
        self.texts.append(bundle["text/plain"])


def test_the_line_is_empty_when_the_end_returns_also_where_updates_are_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = SlowHandle()
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.01)
    monkeypatch.setattr(progress, "display", lambda *_, **__: handle)
    end = begin_progress(SimpleNamespace(kernel=None), "measuring")
    assert handle.is_shown.wait(60)
    end()
    assert handle.texts[-1] == ""
    assert handle.texts[0].startswith("measuring: ")
