"""Every program of these tests."""

from __future__ import annotations

from . import programs
from .attacks import ATTACKS
from .bodies import CALLBACKS, DONATED, STRUCTURES

CASES = (*programs.CASES, *STRUCTURES, *CALLBACKS, *DONATED, *ATTACKS)
