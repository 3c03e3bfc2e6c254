"""All programs that changes are tried on, by name: those of `causes`, those of `corpus`, and `steps`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from causes.corpus import CASES
from corpus.programs import PROGRAMS

from what_if.steps import STEPS

__all__ = ["BUILDS"]

BUILDS: dict[str, Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    **{f"step {name}": build for name, build in STEPS.items()},
    **{case.name: case.build for case in CASES},
    **{f"corpus {program.name}": program.build for program in PROGRAMS},
}
