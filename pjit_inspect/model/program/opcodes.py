"""Families of operations shared by several analyses.

Names with underscores are StableHLO's, used for the program before partitioning; names with hyphens are HLO's. Not its
job: the analyses.
"""

from __future__ import annotations

SUMS = frozenset(("all-reduce", "reduce-scatter"))
"""Collectives that combine values computed by the devices; all others only move data."""

REQUESTS = frozenset(("sharding_constraint", "reshard"))
"""Operations by which a user sets a value's sharding."""

DOTS = frozenset(("dot_general", "dot"))
"""Products of arrays, without convolutions."""

PRODUCTS = DOTS | {"convolution"}
"""Products of arrays; on a TPU all are convolutions."""

VIEWS = frozenset(("transpose", "reshape", "copy", "optimization_barrier"))
"""Operations whose result has their operand's elements, unchanged."""

MANUAL_BORDERS = frozenset(("SPMDFullToShardShape", "SPMDShardToFullShape"))
"""Custom calls at which a `shard_map` begins and ends: they compute nothing."""
