"""The devices that this process has. Not its job: those that need not be attached (`observe.partitioner.targets`)."""

from __future__ import annotations

import jax


def attached_devices() -> int:
    """How many devices `jax.jit` would run on here. Starts JAX's backend, where nobody has."""
    return jax.device_count()
