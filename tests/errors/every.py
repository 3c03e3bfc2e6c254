"""Every program of these tests."""

from __future__ import annotations

from .case import read_cases

CASES = read_cases()
