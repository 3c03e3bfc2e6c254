"""Shardings on an AbstractMesh, which has axes but no devices: to ask it for them is an error of JAX's own.

Seen by JAX's own tests under capture: such records had no key, and programs lowered ahead of time had no times.
"""

from __future__ import annotations

import warnings

import jax
import numpy as np
import pytest
from jax.sharding import AbstractMesh, NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh, recorded

from pjit_inspect import guard as steps
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.key.sharding_text import mesh_text, sharding_text
from pjit_inspect.observe.live.shardings import find_meshes, has_devices, is_concrete, to_mesh


@pytest.fixture
def abstract() -> AbstractMesh:
    return auto_mesh().abstract_mesh


def struct(*shape: int, sharding: NamedSharding | None = None) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, np.float32, sharding=sharding)


def compiled_ahead(function, argument: jax.ShapeDtypeStruct) -> RecordData:
    records: list[RecordData] = []
    with recorded(records), jax.set_mesh(auto_mesh()), warnings.catch_warnings():
        warnings.simplefilter("error")
        function.lower(argument).compile()
    return records[-1]


def test_an_argument_that_says_how_but_not_where_is_told_as_its_type(abstract: AbstractMesh) -> None:
    data = compiled_ahead(jax.jit(lambda x: x * 5), struct(4, 8, sharding=NamedSharding(abstract, P("data"))))
    assert data.missing == {}
    assert data.key is not None
    (argument,) = data.key.arguments
    assert argument.type_spec == "P('data') on data=2 x model=4"
    assert argument.given is None


def test_shardings_that_jit_prescribes_without_devices_are_told(
    abstract: AbstractMesh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_warned", set())
    sharding = NamedSharding(abstract, P(None, "model"))
    data = compiled_ahead(jax.jit(lambda x: x * 6, in_shardings=sharding, out_shardings=sharding), struct(4, 8))
    assert steps._warned == set()
    assert data.key is not None
    (argument,), (result,) = data.key.arguments, data.key.outputs
    assert argument.wanted == result.text == "P(None, 'model') on data=2 x model=4"
    # What the event of lowering told.
    assert data.timings.lower_s is not None


def test_lowering_under_an_abstract_mesh_says_its_axes(abstract: AbstractMesh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_warned", set())
    with recorded([]), jax.sharding.use_abstract_mesh(abstract):
        jax.jit(lambda x: x * 7).trace(np.arange(8)).lower()
    assert steps._warned == set()
    assert mesh_text(abstract) == "data=2 x model=4"


def test_what_has_devices_is_told_from_what_has_none(abstract: AbstractMesh) -> None:
    mesh = auto_mesh()
    single = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    assert [is_concrete(m) for m in (mesh, abstract, None)] == [True, False, False]
    shardings = NamedSharding(mesh, P("data")), NamedSharding(abstract, P("data")), single, None
    assert [has_devices(s) for s in shardings] == [True, False, True, False]
    assert find_meshes([shardings[1]], [abstract, mesh]) == (to_mesh(mesh),)
    assert sharding_text(shardings[1]) == "P('data') on data=2 x model=4"
