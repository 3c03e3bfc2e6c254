"""Watches compiles as they happen, and XLA's output meanwhile."""
