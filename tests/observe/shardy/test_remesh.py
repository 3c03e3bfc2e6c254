"""A captured program is given a mesh of other sizes, or refused with the reason and the arithmetic."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.remesh import custom_calls, mesh_axes, remeshed
from pjit_inspect.observe.shardy.what_if import edit_program

MESH = """sdy.mesh @mesh = <["data"=2, "model"=4]>"""


def program(body: str, arguments: str = "", mesh: str = MESH, partitions: int = 8) -> bytes:
    """MLIR text, read as bytecode is."""
    text = f"""module @jit_f attributes {{mhlo.num_partitions = {partitions} : i32, mhlo.num_replicas = 1 : i32}} {{
      {mesh}
      func.func public @main({arguments}) -> tensor<8x16xf32> {{
        {body}
      }}
    }}"""
    with _mlir.open_module(text.encode()) as module:
        return _mlir.bytecode(module)


def split(spec: str) -> bytes:
    """A program of one argument, 8 x 16."""
    return program("return %x : tensor<8x16xf32>", f"%x: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<{spec}>}}")


def text_of(bytecode: bytes) -> str:
    with _mlir.open_module(bytecode) as module:
        return module.operation.get_asm()


def lowered(fn: Any, *args: Any) -> bytes:
    module = jax.jit(fn).trace(*args).lower(lowering_platforms=("cpu",)).compiler_ir("stablehlo")
    return _mlir.bytecode(module)


def array(mesh: Any, shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


BOTH = split('@mesh, [{"data"}, {"model"}]')


# ---------------------------------------------------------------- what is changed


def test_the_mesh_and_the_number_of_partitions_are_changed_and_nothing_else() -> None:
    before, after = text_of(BOTH), text_of(remeshed(BOTH, {"data": 4, "model": 16}))
    expected = before.replace('"data"=2, "model"=4', '"data"=4, "model"=16').replace(
        "num_partitions = 8", "num_partitions = 64"
    )
    assert after == expected


def test_the_axes_are_read_outermost_first() -> None:
    assert list(mesh_axes(BOTH).items()) == [("data", 2), ("model", 4)]


def test_a_new_axis_may_lie_anywhere() -> None:
    assert mesh_axes(remeshed(BOTH, {"replica": 3, "data": 2, "model": 4})) == {"replica": 3, "data": 2, "model": 4}
    assert list(mesh_axes(remeshed(BOTH, {"data": 2, "model": 4, "replica": 3}))) == ["data", "model", "replica"]


def test_an_axis_that_is_not_given_has_one_device() -> None:
    assert mesh_axes(remeshed(BOTH, {"data": 2})) == {"data": 2, "model": 1}


def test_the_order_of_devices_is_that_of_the_new_mesh() -> None:
    own = program("return %x : tensor<8x16xf32>", "%x: tensor<8x16xf32>",
                  'sdy.mesh @mesh = <["data"=2, "model"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>')  # fmt: skip
    assert "device_ids" not in text_of(remeshed(own, {"data": 4, "model": 2}))


# ---------------------------------------------------------------- what is refused


def test_a_shard_map_is_refused_where_its_own_axis_changes_and_not_where_another_does() -> None:
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    body = jax.shard_map(lambda x: x * 2, mesh=mesh, in_specs=P(None, "model"), out_specs=P(None, "model"),
                         axis_names={"model"})  # fmt: skip
    own = lowered(body, array(mesh, (8, 16), "data", "model"))
    with pytest.raises(ChangeError, match=r"`shard_map` is manual over model=4: the shapes in its body are those of"):
        remeshed(own, {"data": 2, "model": 8})
    assert mesh_axes(remeshed(own, {"data": 4, "model": 4})) == {"data": 4, "model": 4}


def test_two_meshes_are_refused_and_both_are_named() -> None:
    own = program("return %x : tensor<8x16xf32>", "%x: tensor<8x16xf32>", f'{MESH}\nsdy.mesh @other = <["x"=8]>')
    with pytest.raises(ChangeError, match=r"the program uses 2 meshes \(data=2 x model=4; x=8\), and only one"):
        remeshed(own, {"data": 4, "model": 4})


def test_a_program_of_one_device_gets_the_mesh_that_jax_writes_for_replicated_arguments() -> None:
    shapes = jax.ShapeDtypeStruct((64, 8), jnp.float32), jax.ShapeDtypeStruct((8, 16), jnp.float32)
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    whole = [jax.ShapeDtypeStruct(own.shape, own.dtype, sharding=NamedSharding(mesh, P())) for own in shapes]

    def layer(x, w):
        return jax.nn.relu(x @ w)

    own = lowered(layer, *shapes)
    assert mesh_axes(own) == {}
    given = text_of(remeshed(own, {"data": 2, "model": 4}))
    # JAX says the mesh a second time, for StableHLO without Shardy.
    assert given == re.sub(r" \{stablehlo\.mesh = .*\}$", "", text_of(lowered(layer, *whole)), flags=re.MULTILINE)


def test_a_program_that_runs_whole_on_several_devices_keeps_its_arguments_open() -> None:
    own = program("return %x : tensor<8x16xf32>", "%x: tensor<8x16xf32>", "", 8)
    assert mesh_axes(own) == {}
    after = text_of(remeshed(own, {"data": 4}))
    assert "mhlo.num_partitions = 4" in after
    assert "sdy.sharding" not in after


def test_a_given_mesh_takes_no_function_s_name() -> None:
    text = """module @jit_f {
      func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
        %y = call @mesh(%x) : (tensor<8xf32>) -> tensor<8xf32>
        return %y : tensor<8xf32>
      }
      func.func private @mesh(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }
    }"""
    with _mlir.open_module(text.encode()) as module:
        own = _mlir.bytecode(module)
    assert mesh_axes(remeshed(own, {"data": 4})) == {"data": 4}


def test_replicas_are_refused() -> None:
    own = program("return %x : tensor<8x16xf32>", "%x: tensor<8x16xf32>", "", 1)
    with _mlir.open_module(text_of(own).replace("num_replicas = 1", "num_replicas = 8").encode()) as module:
        own = _mlir.bytecode(module)
    with pytest.raises(ChangeError, match=r"is one of replicas \(`jax\.pmap`\)"):
        remeshed(own, {"data": 4})


def test_shardings_of_gspmd_are_refused() -> None:
    own = program("return %x : tensor<8x16xf32>", '%x: tensor<8x16xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}', "")
    with pytest.raises(ChangeError, match=r"GSPMD \(`jax_use_shardy_partitioner` off\)"):
        remeshed(own, {"data": 4})


def test_a_part_of_an_axis_is_refused_when_that_axis_changes() -> None:
    own = split('@mesh, [{"model":(1)2}, {}]')
    with pytest.raises(ChangeError, match="over a part of the axis 'model', so its size cannot be changed"):
        remeshed(own, {"data": 2, "model": 8})
    assert mesh_axes(remeshed(own, {"data": 4, "model": 4})) == {"data": 4, "model": 4}


def test_a_mesh_that_is_not_all_of_the_program_is_refused() -> None:
    own = program("return %x : tensor<8x16xf32>", "%x: tensor<8x16xf32>", partitions=16)
    with pytest.raises(ChangeError, match="16 partitions and its mesh 8 devices"):
        remeshed(own, {"data": 4, "model": 4})


def test_what_does_not_divide_is_named_with_its_arithmetic() -> None:
    own = remeshed(BOTH, {"data": 3, "model": 32})
    with pytest.raises(ChangeError) as caught:
        edit_program(own, (), names={"argument 0": "params['w']"})
    said = str(caught.value)
    assert said.startswith("2 dimensions do not divide, so jax.jit would refuse the call: params['w'] is [8, 16] and ")
    assert "splits dimension 0 in 3: 8 / 3 = 2.667; " in said
    assert "splits dimension 1 in 32: 16 / 32 = 0.5" in said


def test_what_divides_is_not_refused() -> None:
    own = remeshed(BOTH, {"data": 8, "model": 16})
    assert edit_program(own, (), names={}) == own


def test_calls_that_only_one_platform_knows_are_counted_and_those_of_sharding_are_not() -> None:
    mesh = AbstractMesh((8,), ("data",), axis_types=(AxisType.Auto,))
    own = lowered(lambda x: jnp.linalg.qr(x)[0], array(mesh, (16, 16)))
    assert set(custom_calls(own)) >= {"lapack_sgeqrf_ffi"}
    assert custom_calls(BOTH) == Counter()


def by_hand(body: Any) -> bytes:
    """A program with a body manual over `model`, of a mesh data=2 x model=4."""
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    fn = jax.shard_map(body, mesh=mesh, in_specs=P(None, "model"), out_specs=P(None, "model"), axis_names={"model"},
                       check_vma=False)  # fmt: skip
    return lowered(fn, array(mesh, (8, 16), "data", "model"))


def test_groups_of_devices_by_number_are_those_of_the_new_mesh() -> None:
    """A collective in a body manual over one axis names all devices, those along the others, too."""
    own = by_hand(lambda x: lax.psum(x, "model"))
    if "replica_group_mesh_axes" in text_of(own):
        pytest.skip("from JAX 0.12 on these groups name axes")
    assert "dense<[[0, 1, 2, 3], [4, 5, 6, 7]]>" in text_of(own)
    after = text_of(remeshed(own, {"data": 3, "model": 4}))
    assert "dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]>" in after
    inner = text_of(remeshed(own, {"data": 1, "model": 4, "replica": 2}))
    assert "dense<[[0, 2, 4, 6], [1, 3, 5, 7]]>" in inner


@pytest.mark.parametrize("sizes", [{"data": 3, "model": 4}, {"data": 1, "model": 4, "replica": 2}])
def test_a_body_with_a_sum_is_on_another_mesh_what_jax_makes_of_it_there(sizes: dict[str, int]) -> None:
    """Whether its groups are numbers, or name axes as from JAX 0.12 on."""

    def made(shape: dict[str, int]) -> pi.CompileRecord:
        mesh = AbstractMesh(tuple(shape.values()), tuple(shape), axis_types=(AxisType.Auto,) * len(shape))
        fn = jax.shard_map(lambda x: lax.psum(x, "model"), mesh=mesh, in_specs=P(None, "model"),
                           out_specs=P(None, "model"), axis_names={"model"}, check_vma=False)  # fmt: skip
        return pi.inspect(fn, array(mesh, (12, 16), "data", "model"), effort="partition")

    def sums(record: pi.CompileRecord) -> list[Any]:
        return sorted((row.kind, row.groups, row.payload_bytes) for row in record.collectives)

    copy, anew = made({"data": 2, "model": 4}).what_if(mesh=sizes), made(sizes)
    assert [kind for kind, _, _ in sums(copy)] == ["all-reduce"]
    assert sums(copy) == sums(anew)


def test_permutes_move_along_their_axis_on_the_new_mesh() -> None:
    own = by_hand(lambda x: lax.ppermute(x, "model", [(0, 1), (1, 2)]))
    assert "dense<[[0, 1], [1, 2], [4, 5], [5, 6]]>" in text_of(own)
    after = text_of(remeshed(own, {"data": 3, "model": 4}))
    assert "dense<[[0, 1], [1, 2], [4, 5], [5, 6], [8, 9], [9, 10]]>" in after


def test_groups_that_follow_no_axis_are_refused() -> None:
    own = by_hand(lambda x: lax.psum(x, "model", axis_index_groups=[[0, 1], [2, 3]]))
    with pytest.raises(ChangeError, match=r"a `all_reduce` in a `shard_map` joins groups of devices by number that fo"):
        remeshed(own, {"data": 4, "model": 4})
