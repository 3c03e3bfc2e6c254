"""The key under which JAX finds a compiled program again, and the definitions and arguments it holds."""
