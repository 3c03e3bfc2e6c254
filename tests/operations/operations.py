"""All single operations, in the order of their files.

Not its job: programs of several operations, as in training code (`everyday`).
"""

from __future__ import annotations

from operations.operation import Operation
from operations.programs import control, foreign, numeric, products, reading, reducing, shaping

__all__ = ["OPERATIONS"]

_FILES = (reading, shaping, reducing, products, numeric, control, foreign)

OPERATIONS: tuple[Operation, ...] = tuple(entry for file in _FILES for entry in file.OPERATIONS)
