"""Compiles one function in two environments with different versions of JAX, and compares the programs."""
