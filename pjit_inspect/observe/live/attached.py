"""The devices of this process. Not its job: devices that need not be attached (`observe.partitioner.targets`)."""

from __future__ import annotations

import jax


def attached_devices() -> int:
    """The number of devices `jax.jit` would run on here. Starts JAX's backend if it is not started."""
    return jax.device_count()
