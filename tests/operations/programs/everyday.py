"""All everyday programs with indexing, in the order of their files.

Not its job: single operations (`operations`).
"""

from __future__ import annotations

from operations.operation import Operation
from operations.programs import everyday_decoding, everyday_training

__all__ = ["EVERYDAY"]

EVERYDAY: tuple[Operation, ...] = (*everyday_decoding.PROGRAMS, *everyday_training.PROGRAMS)
