"""XLA's modules before and after partitioning, put side by side."""
