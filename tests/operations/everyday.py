"""All everyday programs with indexing, in the order of their files.

Not its job: single operations (`operations`).
"""

from __future__ import annotations

from operations import everyday_decoding, everyday_training
from operations.operation import Operation

__all__ = ["EVERYDAY"]

EVERYDAY: tuple[Operation, ...] = (*everyday_decoding.PROGRAMS, *everyday_training.PROGRAMS)
