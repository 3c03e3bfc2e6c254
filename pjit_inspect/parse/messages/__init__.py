"""Readers of texts by JAX, XLA and StableHLO: errors, warnings, programs."""
