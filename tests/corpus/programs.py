"""All programs of the corpus, in the order of their files."""

from __future__ import annotations

from corpus import dense, manual, routing, scanned, sequence, transformers, vision, zero
from corpus.program import Program

__all__ = ["PROGRAMS"]

_FILES = (dense, transformers, scanned, zero, vision, sequence, manual, routing)
PROGRAMS: tuple[Program, ...] = tuple(program for file in _FILES for program in file.PROGRAMS)
