"""What JAX, XLA and StableHLO say in words: errors, warnings, texts."""
