"""Findings as users get them: planted faults that must be found, clean programs that must have none."""
