"""Families of operations that several analyses ask for, so that all mean the same by them.

Names with underscores are StableHLO's, as operations of the program before partitioning are called here; names with
hyphens are HLO's. Not its job: what an analysis does with them.
"""

from __future__ import annotations

SUMS = frozenset(("all-reduce", "reduce-scatter"))
"""Collectives that combine what devices have computed; all others only move it."""

REQUESTS = frozenset(("sharding_constraint", "reshard"))
"""What somebody writes to say how a value is to be sharded."""

DOTS = frozenset(("dot_general", "dot"))
"""Products of arrays, without convolutions."""

PRODUCTS = DOTS | {"convolution"}
"""Products of arrays; on a TPU all are convolutions."""

VIEWS = frozenset(("transpose", "reshape", "copy", "optimization_barrier"))
"""Operations whose result has their operand's elements, unchanged."""

MANUAL_BORDERS = frozenset(("SPMDFullToShardShape", "SPMDShardToFullShape"))
"""Custom calls at which a `shard_map` begins and ends: they compute nothing."""
