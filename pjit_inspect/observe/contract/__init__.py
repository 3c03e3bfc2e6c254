"""The names of JAX that may move from one release to the next, all in one place."""
