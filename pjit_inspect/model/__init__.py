"""Frozen types: the vocabulary every other room speaks.

No logic but invariants: no parsing, no analysis, no drawing, no JAX.
"""
