"""Finds problems of a program: for each a line, a cause, a cost, and a tried remedy."""
