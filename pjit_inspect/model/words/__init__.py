"""Sentences with classified words."""
