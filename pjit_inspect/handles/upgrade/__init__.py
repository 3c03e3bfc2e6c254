"""One function compiled in two environments, with other versions of JAX in each, and compared."""
