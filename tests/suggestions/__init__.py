"""Suggestions as users get them: tried by XLA's partitioner, and checked by compiling."""
