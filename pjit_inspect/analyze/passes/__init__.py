"""A program after each of XLA's passes, step by step."""
