"""The buffers alive in memory, as text and tables."""
