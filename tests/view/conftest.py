"""Golden files for displays: `pytest --update-golden` writes them, every other run compares."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the golden file of a name; a missing file is a failure."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden", default=False):
            path.write_text(text + "\n", encoding="utf-8")
        assert path.exists(), f"{path} is missing; run: pytest --update-golden, and read what it wrote"
        assert path.read_text(encoding="utf-8") == text + "\n"

    return compare
