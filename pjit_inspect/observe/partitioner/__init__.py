"""Asks XLA's partitioner in a separate process."""
