"""Refusals of JAX explained: the arithmetic, and ways to fix it."""
