"""What is told of a function's collectives, and where an older XLA makes another program of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import pytest

import pjit_inspect as pi

__all__ = ["another_before_jax_0_10", "sentences"]

another_before_jax_0_10 = pytest.mark.skipif(
    jax.__version_info__ < (0, 10), reason="the partitioner of JAX 0.8 and 0.9 makes another program of it"
)


def sentences(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """The sentences of all causes."""
    record = pi.inspect(function, *arguments)
    return sorted(str(cause.sentence) for row in record.collectives for cause in row.causes)
