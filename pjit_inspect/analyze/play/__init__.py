"""Finds changes to a program, their immediate effects, code for them, and starting points for a search."""
