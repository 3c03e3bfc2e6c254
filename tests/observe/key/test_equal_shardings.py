"""Shardings that are equal to JAX and lie elsewhere: one on a single device of eight, and one that is replicated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
from jax._src.lib import xla_client as xc
from jax._src.sharding_impls import GSPMDSharding
from observe.programs import recorded

from pjit_inspect.analyze.recompiles.resharded import find_resharded
from pjit_inspect.observe.key.sharding_text import sharding_text
from pjit_inspect.observe.live.results import result_trees

X = np.ones((8, 8), np.float32)


@pytest.fixture
def gspmd() -> Iterator[None]:
    """Shardy takes no argument that lies so."""
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        yield
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)


def arrays() -> tuple[Any, Any]:
    devices = tuple(jax.devices()[:8])
    maximal = xc.OpSharding()
    maximal.type, maximal.tile_assignment_dimensions, maximal.tile_assignment_devices = (
        xc.OpSharding.Type.MAXIMAL, [1], [3],
    )  # fmt: skip
    held = [jax.device_put(X, device) for device in devices]
    alone = jax.make_array_from_single_device_arrays(X.shape, GSPMDSharding(devices, maximal), held)
    everywhere = jax.device_put(X, GSPMDSharding.get_replicated(devices))
    assert alone.sharding == everywhere.sharding
    return alone, everywhere


@pytest.mark.usefixtures("gspmd")
@pytest.mark.parametrize("order", [1, -1], ids=["alone first", "replicated first"])
def test_no_argument_is_said_to_be_copied_that_arrives_as_it_is_taken(order: int) -> None:
    records: list = []
    with recorded(records):
        for number, array in enumerate(arrays()[::order]):
            # JAX, too, keeps what it takes for equal.
            jax.clear_caches()
            jax.jit(lambda x, number=number: x * 2 + number)(array)
    mine = [data for data in records if data.origin == "user"]
    given = [data.key.arguments[0].given.device_ids for data in mine]
    assert given == [(3,), tuple(range(8))][::order]
    assert [find_resharded(data) for data in mine] == [(), ()]


def test_their_texts_differ() -> None:
    alone, everywhere = arrays()
    for _ in range(2):
        assert sharding_text(alone.sharding) == "device 3"
        assert sharding_text(everywhere.sharding) == "GSPMDSharding on devices 0-7"


def test_results_lie_where_they_lie() -> None:
    found = [result_trees(array)[0].arrays[0].sharding for array in arrays()]
    assert [sharding.device_ids for sharding in found if sharding] == [(3,), tuple(range(8))]
