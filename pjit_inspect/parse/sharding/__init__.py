"""Shardings, and the program before partitioning, with the sharding of every value."""
