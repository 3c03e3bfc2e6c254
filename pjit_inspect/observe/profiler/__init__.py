"""JAX's profiler around a run, and its file."""
