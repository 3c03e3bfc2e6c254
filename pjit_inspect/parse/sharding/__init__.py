"""Shardings, and the program before partitioning with one for every value."""
