"""One compilation and its facts: key, times, XLA's warnings."""
