"""Refusals of JAX explained: the arithmetic, and what would fit."""
