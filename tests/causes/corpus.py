"""All cases of the corpus, in the order of their files."""

from __future__ import annotations

from causes.case import Case
from causes.cases import (
    attention,
    everyday,
    explicit,
    gradients,
    halo,
    indexing,
    layout,
    loops,
    manual,
    matmul,
    mlp,
    moe,
    reduction,
    reshard,
    tokens,
    training,
)

__all__ = ["CASES"]

_FILES = (
    matmul,
    mlp,
    attention,
    everyday,
    tokens,
    reduction,
    moe,
    training,
    loops,
    gradients,
    reshard,
    layout,
    indexing,
    halo,
    manual,
    explicit,
)
CASES: tuple[Case, ...] = tuple(case for file in _FILES for case in file.CASES)
