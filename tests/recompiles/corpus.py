"""Every scenario, gathered.

Not its job: running them (`score`).
"""

from __future__ import annotations

import importlib
from contextlib import suppress

from recompiles import arguments, definitions, functions, meshes, placement, surroundings, values
from recompiles.scenario import SCENARIOS

__all__ = ["SCENARIOS"]

_ = (arguments, definitions, functions, meshes, placement, surroundings, values)
for name in ("libraries", "notebooks"):
    # Environments for older versions of JAX have none of these packages.
    with suppress(ModuleNotFoundError):
        importlib.import_module(f"recompiles.{name}")
