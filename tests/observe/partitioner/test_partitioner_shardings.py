"""What XLA's partitioner was given, read: shardings in the axes of the user's mesh, in GSPMD mode too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from observe.programs import auto_mesh

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.observe.partitioner.service import ask_partitioner
from pjit_inspect.observe.shardy.numbering import read_places
from pjit_inspect.observe.watch.on_request import compile_record
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.sharding.propagated_hlo import NumberedNames, read_propagated_hlo


@pytest.fixture
def gspmd() -> Iterator[None]:
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        yield
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)


def record_of(function: Any, *arguments: Any) -> RecordData:
    return compile_record(jax.jit(function), arguments, {})


def arrays(mesh: Mesh) -> tuple[jax.ShapeDtypeStruct, jax.ShapeDtypeStruct]:
    return (
        jax.ShapeDtypeStruct((16, 32), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec("data", None))),
        jax.ShapeDtypeStruct((32, 64), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(None, "model"))),
    )


def read(data: RecordData) -> ShardedProgram:
    assert data.stablehlo is not None
    ids = [device.id for device in data.devices]
    found = ask_partitioner(data.stablehlo.read(), devices=len(ids), flags=data.flags)
    read = read_propagated_hlo(
        parse_program(found.before),
        data.meshes,
        ids,
        partitions=found.partitions,
        names=NumberedNames(read_places(found.places)),
        free_inputs=found.free_inputs,
        free_outputs=found.free_outputs,
        result_names=found.result_names,
    )
    return read.program


def product(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.tanh(x @ w)


def specs(program: ShardedProgram) -> dict[str, tuple]:
    return {op.kind: program.values[op.results[0]].spec for op in program.ops if op.results}


@pytest.mark.usefixtures("gspmd")
def test_gspmd_shardings_are_in_the_axes_of_the_users_mesh() -> None:
    program = read(record_of(product, *arrays(auto_mesh())))
    assert specs(program)["dot_general"] == (("data",), ("model",))
    assert specs(program)["tanh"] == (("data",), ("model",))
    assert [(boundary.name, boundary.spec) for boundary in program.inputs] == [
        ("x", (("data",), ())),
        ("w", ((), ("model",))),
    ]
    assert [boundary.spec for boundary in program.outputs] == [None]
    tanh = next(op for op in program.ops if op.kind == "tanh")
    assert tanh.op_name == "jit(product)/tanh"
    assert tanh.frames[0].file == __file__


@pytest.mark.usefixtures("gspmd")
def test_gspmd_shardings_on_permuted_devices_are_those_of_their_places() -> None:
    devices = np.array(jax.devices())[[3, 1, 7, 5, 0, 2, 6, 4]].reshape(2, 4)
    program = read(record_of(product, *arrays(Mesh(devices, ("data", "model")))))
    assert specs(program)["dot_general"] == (("data",), ("model",))


def test_shardys_shardings_are_in_the_users_axes() -> None:
    assert specs(read(record_of(product, *arrays(auto_mesh()))))["dot_general"] == (("data",), ("model",))


def test_a_loops_carry_is_linked_through_tuples() -> None:
    def f(x, w):
        return jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=3)[0], w

    program = read(record_of(f, *arrays(auto_mesh())))
    sine = next(op for op in program.ops if op.kind == "sine")
    loop = next(op for op in program.ops if op.kind == "while")
    assert program.ops[sine.parent or 0] is loop
    assert program.values[sine.results[0]].spec == (("data",), ())
    targets = {target for source, target in program.links if source == sine.results[0]}
    assert targets & set(loop.results)
