"""Compares two programs: pairs rows of both, with the evidence, and explains the changes."""
