"""A function that is at hand is traced again where a copy of its program cannot be changed; figures by hand.

x is 32 x 64 numbers of 4 bytes, split over data and model; its columns are added up over model by hand.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError

calls: list[int] = []


def summed(x: Any) -> Any:
    def body(x: Any) -> Any:
        calls.append(1)
        return jax.lax.psum(x, "model")

    return jax.shard_map(body, in_specs=P("data", "model"), out_specs=P("data", None))(x)


def unrolled(x: Any) -> Any:
    """One step for each device along `model`."""

    def body(x: Any) -> Any:
        for _ in range(jax.lax.axis_size("model")):
            x = jnp.sin(x)
        return jax.lax.psum(x, "model")

    return jax.shard_map(body, in_specs=P("data", "model"), out_specs=P("data", None))(x)


def narrow(x: Any) -> Any:
    def body(x: Any) -> Any:
        if x.shape[1] < 16:
            raise ValueError("16 columns at least")
        return jax.lax.psum(x, "model")

    return jax.shard_map(body, in_specs=P("data", "model"), out_specs=P("data", None))(x)


def described() -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((32, 64), jnp.float32, sharding=NamedSharding(auto_mesh(), P("data", "model")))


def inspect(fn: Any) -> pi.CompileRecord:
    with jax.set_mesh(auto_mesh()):
        return pi.inspect(fn, described())


def collectives(record: pi.CompileRecord) -> list[tuple[str, tuple[str, ...] | None, int]]:
    return [(row.kind, row.axes, row.payload_bytes) for row in record.collectives]


SUMMED, UNROLLED, NARROW = jax.jit(summed), jax.jit(unrolled), jax.jit(narrow)


def test_a_body_of_shard_map_gets_the_pieces_of_the_new_mesh() -> None:
    record = inspect(SUMMED)
    assert collectives(record) == [("all-reduce", ("model",), 16 * 16 * 4)]
    other = record.what_if(mesh={"data": 4, "model": 8})
    assert collectives(other) == [("all-reduce", ("model",), 8 * 8 * 4)]
    assert [own.local_shape for own in other.inputs] == [(8, 8)]
    assert other.data.hypothesis.changes == ("mesh data=4 x model=8", "function traced again")
    assert "function traced again" in str(other)


def test_it_goes_on_from_there_and_from_the_middle_of_a_mesh_context() -> None:
    other = inspect(SUMMED).what_if(mesh={"data": 4, "model": 8})
    with jax.set_mesh(auto_mesh()):
        third = other.what_if(mesh={"data": 2, "model": 2})
    assert collectives(third) == [("all-reduce", ("model",), 16 * 32 * 4)]


def test_an_axis_that_is_left_out_has_one_device() -> None:
    other = inspect(SUMMED).what_if(mesh={"data": 4})
    assert [(row.axes, row.wire_bytes) for row in other.collectives] == [((), 0)]
    assert [own.local_shape for own in other.inputs] == [(8, 64)]


def test_other_operations_are_told_of() -> None:
    # Two sines on the new mesh, four as captured.
    other = inspect(UNROLLED).what_if(mesh={"data": 2, "model": 2})
    assert other.data.hypothesis.changes[-1] == "function traced again, which gave other operations"


def test_nothing_of_the_users_is_called_where_a_copy_can_be_changed() -> None:
    record = inspect(SUMMED)
    before = len(calls)
    same = record.what_if(mesh={"data": 2, "model": 4})
    assert collectives(same) == collectives(record)
    with pytest.raises(ChangeError, match="has no argument or result 'y'"):
        record.what_if(specs={"y": P()})
    assert len(calls) == before
    # A mesh that no other test has: JAX keeps what it traced.
    record.what_if(mesh={"data": 8, "model": 2})
    assert len(calls) == before + 1


def test_what_the_function_raises_there_is_the_reason() -> None:
    record = inspect(NARROW)
    with pytest.raises(ChangeError, match=r"manual over model=4: .* did not help: ValueError: 16 columns at le"):
        record.what_if(mesh={"data": 2, "model": 8})


def test_a_function_that_names_its_mesh_itself_is_refused_with_what_jax_says() -> None:
    mesh = auto_mesh()

    @jax.jit
    def fixed(x: Any) -> Any:
        return jax.shard_map(lambda x: jax.lax.psum(x, "model"), mesh=mesh, in_specs=P("data", "model"),
                             out_specs=P("data", None))(x)  # fmt: skip

    record = pi.inspect(fixed, described())
    with pytest.raises(ChangeError, match=r"`shard_map` is manual over .* To trace the function again did not help: "):
        record.what_if(mesh={"data": 4, "model": 8})


def test_neither_the_function_nor_an_array_is_kept_alive() -> None:
    fn = jax.jit(lambda x: summed(x) + 1)
    x = jax.device_put(jnp.ones((32, 64)), NamedSharding(auto_mesh(), P("data", "model")))
    with jax.set_mesh(auto_mesh()):
        record = pi.inspect(fn, x)
    alive = weakref.ref(fn), weakref.ref(x)
    del fn, x
    gc.collect()
    assert [own() for own in alive] == [None, None]
    with pytest.raises(ChangeError, match="did not help: the function is gone: nothing refers to it any more"):
        record.what_if(mesh={"data": 4, "model": 8})
