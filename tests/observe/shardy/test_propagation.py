"""The sharding of every value, as propagation predicts it: shapes, origins, loops, calls, odd names, and no crash.

That predictions equal XLA's own is `causes/test_shardings_equal_xla.py`.
"""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from observe.programs import auto_mesh

from pjit_inspect.model.sharding.sharded_program import AxisOrigin, ShardedOp, ShardedProgram
from pjit_inspect.observe.shardy import mlir_process
from pjit_inspect.observe.shardy.propagation import propagate


@functools.cache
def mesh() -> Mesh:
    return auto_mesh()


def array(shape: tuple[int, ...], *spec: Any, dtype: Any = jnp.float32, on: Mesh | None = None) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(on or mesh(), PartitionSpec(*spec)))


def bytecode(function: Callable[..., Any], *arguments: Any) -> bytes:
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    out = io.BytesIO()
    jitted.lower(*arguments).compiler_ir().operation.write_bytecode(file=out)
    return out.getvalue()


def propagated(function: Callable[..., Any], *arguments: Any) -> ShardedProgram:
    found = propagate(bytecode(function, *arguments))
    assert found is not None
    for value in found.values:
        assert len(value.spec) == len(value.shape)
    return found


def only(program: ShardedProgram, kind: str) -> ShardedOp:
    (op,) = [op for op in program.ops if op.kind == kind]
    return op


def spec_of(program: ShardedProgram, kind: str) -> tuple[tuple[str, ...], ...]:
    return program.values[only(program, kind).results[0]].spec


def test_a_dot_takes_the_axes_of_both_operands() -> None:
    program = propagated(lambda x, w: x @ w, array((16, 32), "data"), array((32, 64), None, "model"))
    dot = only(program, "dot_general")
    result = program.values[dot.results[0]]
    assert (result.dtype, result.shape, result.spec) == ("f32", (16, 64), (("data",), ("model",)))
    assert result.origins == (
        AxisOrigin(axis="data", kind="input", index=0),
        AxisOrigin(axis="model", kind="input", index=1),
    )
    assert program.local_shape(dot.results[0]) == (8, 16)
    assert set(dot.rule.reduction) == {dot.rule.operands[0][1][0]} if dot.rule else False


def test_an_op_has_its_name_and_frames() -> None:
    def f(x):
        with jax.named_scope("layer"):
            return jnp.tanh(x)

    op = only(propagated(f, array((16,), "data")), "tanh")
    assert op.op_name == "jit(f)/layer/tanh"
    assert op.frames[0].file == __file__


def test_arguments_and_results_have_names_and_what_they_must_be() -> None:
    whole = NamedSharding(mesh(), PartitionSpec())
    program = propagated(
        jax.jit(lambda params: (params["w"] * 2, params["b"]), out_shardings=(whole, None)),
        {"w": array((16, 32), "data"), "b": array((32,))},
    )
    assert {boundary.name: boundary.spec for boundary in program.inputs} == {
        "params['b']": ((),),
        "params['w']": (("data",), ()),
    }
    assert [(boundary.name, boundary.spec) for boundary in program.outputs] == [
        ("result[0]", ((), ())),
        ("result[1]", None),
    ]


def test_an_axis_of_a_constraint_comes_from_that_op() -> None:
    def f(x):
        return lax.with_sharding_constraint(jnp.sin(x), NamedSharding(mesh(), PartitionSpec("model")))

    program = propagated(f, array((16,)))
    constraint = program.ops.index(only(program, "sharding_constraint"))
    sine = program.values[only(program, "sine").results[0]]
    assert sine.origins == (AxisOrigin(axis="model", kind="constraint", index=constraint),)


def test_a_part_of_an_axis_has_the_origin_of_the_axis() -> None:
    line = auto_mesh((8,), ("x",))
    program = propagated(lambda x: x.reshape(2, 16), array((32,), "x", on=line))
    result = program.values[only(program, "reshape").results[0]]
    assert result.spec == (("x:(1)2",), ("x:(2)4",))
    assert program.local_shape(only(program, "reshape").results[0]) == (1, 4)
    assert result.origins == (AxisOrigin(axis="x", kind="input", index=0),)


def test_axes_and_scopes_of_any_name_are_kept() -> None:
    names = ('a"b', "ünï {x}, y")
    odd = auto_mesh((2, 4), names)

    def f(x):
        with jax.named_scope('sc"o\\pe (1'):
            return jnp.sin(x)

    program = propagated(f, array((16, 32), *names, on=odd))
    op = only(program, "sine")
    assert program.meshes == ({names[0]: 2, names[1]: 4},)
    assert program.values[op.results[0]].spec == ((names[0],), (names[1],))
    assert op.op_name == 'jit(f)/sc"o\\pe (1/sin'
    assert {origin.kind for origin in program.values[op.results[0]].origins} == {"input"}


def test_what_a_loop_carries_is_linked_to_what_enters_and_leaves_it() -> None:
    def f(x):
        return lax.fori_loop(0, 3, lambda _, carry: jnp.sin(carry), x)

    program = propagated(f, array((16,), "data"))
    loop, sine = only(program, "while"), only(program, "sine")
    assert reached(program, program.inputs[0].value) >= {sine.operands[0]}
    assert reached(program, sine.results[0]) & set(loop.results)
    assert {program.values[value].spec for value in reached(program, sine.results[0])} == {(("data",),)}


def reached(program: ShardedProgram, start: int) -> set[int]:
    """The values that are the same array as one, along the links."""
    found, border = {start}, [start]
    while border:
        here = border.pop()
        new = {target for source, target in program.links if source == here} - found
        found |= new
        border += new
    return found


def test_ops_in_a_called_function_have_the_whole_name() -> None:
    inner = jax.jit(lambda v: jnp.sin(v))

    def f(x):
        with jax.named_scope("outer"):
            return inner(x) + 1

    op = only(propagated(f, array((16,), "data")), "sine")
    assert op.op_name.startswith("jit(f)/outer/")
    assert op.op_name.endswith("sin")


def test_a_shard_map_says_how_it_wants_its_operands() -> None:
    split = jax.shard_map(
        lambda v: lax.psum(v, "data"), mesh=mesh(), in_specs=PartitionSpec("data"), out_specs=PartitionSpec()
    )
    program = propagated(lambda x: split(x), array((16, 4), "data"))
    region, summed = only(program, "manual_computation"), only(program, "all_reduce")
    assert region.wanted == ((("data",), ()),)
    assert set(summed.manual) == {"data", "model"}
    assert program.values[summed.results[0]].shape == (8, 4)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jax.nn.gelu(x, approximate=False),
        lambda x: jnp.tan(jnp.arcsinh(x)),
        jnp.square,
        jnp.cosh,
        lax.digamma,
        lambda x: lax.erf_inv(x),
    ],
    ids=["gelu", "tan_arcsinh", "square", "cosh", "digamma", "erf_inv"],
)
def test_functions_of_each_element_keep_the_sharding(function: Callable[[Any], Any]) -> None:
    program = propagated(lambda x: function(x), array((16, 32), "data", "model"))
    last = program.outputs[0].value
    assert program.values[last].spec == (("data",), ("model",))


def test_a_top_k_keeps_the_sharding_of_all_but_its_last_dimension() -> None:
    program = propagated(lambda x: lax.top_k(x, 3), array((16, 32), "data", "model"))
    assert {program.values[boundary.value].spec for boundary in program.outputs} == {(("data",), ())}


def test_a_program_for_one_device_has_no_axes() -> None:
    program = propagated(lambda x: jnp.sin(x) + 1, jax.ShapeDtypeStruct((4,), jnp.float32))
    assert not any(value.axes for value in program.values)


def test_a_program_on_all_devices_of_a_mesh_that_shards_nothing_has_no_axes() -> None:
    def doubled(a):
        return a * 2

    with jax.set_mesh(mesh()):
        code = bytecode(jax.jit(doubled), jax.ShapeDtypeStruct((8, 8), jnp.float32))
    assert b"mhlo.num_partitions" in code
    program = propagate(code)
    assert program is not None
    assert program.values
    assert not any(axes for value in program.values for axes in value.spec)


def test_a_program_with_shardings_of_gspmd_is_left_to_it() -> None:
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        code = bytecode(jax.jit(lambda a: a * 2), array((8, 8), "data"))
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)
    assert propagate(code) is None


def test_bytes_that_are_no_program_are_an_error() -> None:
    with pytest.raises(RuntimeError):
        propagate(b"not MLIR")


# ---------------------------------------------------------------- programs that ended the process


def _shard_map_in_a_loop() -> bytes:
    shift = jax.shard_map(
        lambda v: lax.ppermute(v, "data", [(0, 1), (1, 0)]),
        mesh=mesh(),
        in_specs=PartitionSpec("data", "model"),
        out_specs=PartitionSpec("data", "model"),
    )
    return bytecode(
        lambda x: lax.scan(lambda c, _: (shift(c), c.sum()), x, None, length=3), array((16, 32), "data", "model")
    )


def _three_parts_of_a_dimension() -> bytes:
    return bytecode(
        lambda x, w: (x @ w).reshape(4, 16, 3, 4, 8), array((4, 16, 32), "data"), array((32, 96), None, "model")
    )


@pytest.mark.parametrize("make", [_shard_map_in_a_loop, _three_parts_of_a_dimension])
def test_a_program_on_which_shardy_dies_has_shardings_all_the_same(make: Callable[[], bytes]) -> None:
    program = propagate(make())
    assert program is not None
    assert any(value.axes for value in program.values)


def test_without_a_child_process_only_origins_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    code = bytecode(lambda x, w: jnp.tanh(x @ w), array((16, 32), "data"), array((32, 64), None, "model"))
    whole = propagate(code)
    mlir_process.stop_child()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    bare = propagate(code)
    assert whole is not None
    assert bare is not None
    assert [value.spec for value in bare.values] == [value.spec for value in whole.values]
    assert not any(value.origins for value in bare.values)


def test_the_child_is_asked_again_and_started_again_when_it_was_ended() -> None:
    code = bytecode(lambda x: x + 1, array((16,), "data"))
    passes = ("symbol-dce",)
    mlir_process.stop_child()
    assert mlir_process.run_passes_apart(code, passes)
    helper = mlir_process._channels[0].helper
    assert helper is not None
    assert mlir_process.run_passes_apart(code, passes)
    assert mlir_process._channels[0].helper is helper
    mlir_process.stop_child()
    assert mlir_process._channels[0].helper is None
    assert mlir_process.run_passes_apart(code, passes)
    assert mlir_process._channels[0].helper is not helper


def test_a_pass_that_fails_costs_no_child() -> None:
    code = bytecode(lambda x: x + 1, array((16,), "data"))
    assert mlir_process.run_passes_apart(code, ("no-such-pass",)) is None
    helper = mlir_process._channels[0].helper
    assert helper is not None
    assert mlir_process.run_passes_apart(code, ("symbol-dce",))
    assert mlir_process._channels[0].helper is helper
