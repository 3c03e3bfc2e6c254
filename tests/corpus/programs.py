"""All programs of the corpus, in the order of their files."""

from __future__ import annotations

from corpus.program import Program
from corpus.steps import (
    awkward,
    blamed,
    dense,
    libraries,
    manual,
    repeated,
    rl,
    routing,
    scanned,
    science,
    sequence,
    serving,
    transformers,
    vision,
    zero,
)

__all__ = ["PROGRAMS"]

_FILES = (
    dense,
    transformers,
    scanned,
    zero,
    vision,
    sequence,
    manual,
    routing,
    serving,
    repeated,
    rl,
    libraries,
    science,
    blamed,
    awkward,
)
PROGRAMS: tuple[Program, ...] = tuple(program for file in _FILES for program in file.PROGRAMS)
