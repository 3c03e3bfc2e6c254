"""Compiles watched as they happen, and what XLA prints meanwhile."""
