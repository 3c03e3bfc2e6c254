"""Messages of JAX's as facts, each as the version named beside it wrote it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pjit_inspect.model.report.explained_error import ErrorArray
from pjit_inspect.model.sharding.mesh import MeshAxes
from pjit_inspect.parse.messages.sharding_errors import parse_sharding_error
from pjit_inspect.parse.messages.sharding_phrases import parse_array_type, parse_named_sharding, parse_spec

AUTO = MeshAxes(axis_names=("data", "model"), shape=(2, 4), axis_types=("auto", "auto"))
EXPLICIT = MeshAxes(axis_names=("data", "model"), shape=(2, 4), axis_types=("explicit", "explicit"))

# Written by the programs of `tests/sharding_errors.py` on the version in the name.
NOT_DIVIDED_08 = (
    "One of pjit arguments with pytree key path params['w'] was given the sharding of NamedSharding(mesh=Mesh('data': "
    "2, 'model': 4, axis_types=(Auto, Auto)), spec=PartitionSpec('model', None), memory_kind=device), which implies "
    "that the global size of its dimension 0 should be divisible by 4, but it is equal to 6 (full shape: (6, 8))"
)
NOT_DIVIDED_09 = (
    "Sharding NamedSharding(mesh=Mesh('data': 2, 'model': 4, axis_types=(Auto, Auto)), spec=P('model', None), "
    "memory_kind=device) implies that array axis 0 is partitioned 4 times, but the dimension size is 6 (full shape: "
    "(6, 8), per-dimension tiling factors: [4, 1] should evenly divide the shape)"
)
NOT_DIVIDED_12 = (
    "One of pjit arguments with pytree key path params['w'] was given the sharding NamedSharding(mesh=Mesh('data': 2, "
    "'model': 4, axis_types=(Auto, Auto)), spec=P('model', None), memory_kind=device) implies that array axis 0 is "
    "partitioned 4 times, but the dimension size is 6 (full shape: (6, 8), per-dimension tiling factors: (4, 1) should "
    "evenly divide the shape). This error occurs at source:  /project/cases.py:20:4 (a_jit_in)"
)
SHARD_MAP_08 = """\
shard_map applied to the function 'body' was given argument arrays with axis sizes that are not evenly divisible by the corresponding mesh axis sizes:

The mesh given has shape (2, 4) with corresponding axis names ('data', 'model').

* the passed args[0]['w'] of shape float32[6,4], where args[0] is bound to body's parameter 'params', corresponds to in_specs[0]['w'] of value PartitionSpec('model',), which maps array axis 0 (of size 6) to mesh axis 'model' (of size 4), but 4 does not evenly divide 6

* the passed args[1] of shape float32[5,4], where args[1] is bound to body's parameter 'x', corresponds to in_specs[1] of value PartitionSpec('data',), which maps array axis 0 (of size 5) to mesh axis 'data' (of size 2), but 2 does not evenly divide 5

Array arguments' axis sizes must be evenly divisible by the mesh axis or axes indicated by the corresponding elements of the argument's in_specs entry."""  # noqa: E501


@pytest.mark.parametrize("message", [NOT_DIVIDED_08, NOT_DIVIDED_09, NOT_DIVIDED_12])
def test_a_dimension_that_is_not_divided_is_read_from_every_version(message):
    facts = parse_sharding_error(message)
    assert facts is not None
    assert (facts.kind, facts.dimension, facts.count) == ("indivisible", 0, 4)
    (array,) = facts.arrays
    assert (array.shape, array.spec, array.mesh) == ((6, 8), ("model", None), AUTO)
    assert array.name == ("" if message is NOT_DIVIDED_09 else "params['w']")


def test_a_type_that_is_not_divided_is_a_result():
    # 0.8.2; later versions print `P(...)` and `platform=cpu`.
    facts = parse_sharding_error(
        "Sharding spec ('model',) implies that array axis 0 is partitioned 4 times, but does not evenly divide the "
        "dimension size 6. Got shape: (6, 4) and sharding NamedSharding(mesh=AbstractMesh('data': 2, 'model': 4, "
        "axis_types=(Explicit, Explicit), device_kind=cpu, num_cores=None), spec=PartitionSpec('model', None))"
    )
    assert facts is not None
    assert (facts.kind, facts.dimension, facts.operation) == ("indivisible", 0, "result")
    assert facts.arrays == (ErrorArray(name="", shape=(6, 4), spec=("model", None), mesh=EXPLICIT),)


def test_a_damaged_message_whose_mesh_has_an_axis_twice_is_not_read():
    assert "'model'" in SHARD_MAP_08
    assert parse_sharding_error(SHARD_MAP_08.replace("'model'", "'data'")) is None


@pytest.mark.parametrize("message", [SHARD_MAP_08, SHARD_MAP_08.replace("PartitionSpec(", "P(")])
def test_shard_map_names_every_argument(message):
    facts = parse_sharding_error(message)
    assert facts is not None
    assert (facts.kind, facts.dimension, facts.count, facts.operation) == ("indivisible", 0, 4, "shard_map")
    assert [(array.name, array.shape, array.spec) for array in facts.arrays] == [
        ("params['w']", (6, 4), ("model", None)),
        ("x", (5, 4), ("data", None)),
    ]
    assert facts.arrays[0].mesh == MeshAxes(axis_names=("data", "model"), shape=(2, 4))


@pytest.mark.parametrize(
    ("message", "kind", "specs"),
    [
        # The same on all versions.
        ("Contracting dimensions are sharded and it is ambiguous how the output should be sharded. Please specify the "
         "output sharding via the `out_sharding` parameter. Got lhs_contracting_spec=('model',) and "
         "rhs_contracting_spec=('model',)", "contraction", (("model",), ("model",))),
        # 0.8 to 0.10
        ("dot_general requires contracting dimensions to have consistent sharding, got ('model',) and ('data',).",
         "contraction", (("model",), ("data",))),
        ("dot_general requires lhs batch dimensions and rhs batch dimensions to have the consistent sharding, got "
         "('data',) and ('model',).", "conflict", (("data",), ("model",))),
        # 0.12
        ("dot_general requires lhs batch dimensions and rhs batch dimensions to have the same sharding, got ('data',) "
         "and ('model',).", "conflict", (("data",), ("model",))),
        ("add got incompatible shardings for broadcasting: ('data', None), (('data', 'model'), None).",
         "conflict", (("data", None), (("data", "model"), None))),
        ("add operation with inputs: f32[8@data,8], f32[8,8@data] produces an illegally sharded result: "
         "f32[8@data,8@data]", "axis twice", (("data", "data"),)),
    ],
)  # fmt: skip
def test_operands_that_conflict_are_read_with_their_specs(message, kind, specs):
    facts = parse_sharding_error(message)
    assert facts is not None
    assert (facts.kind, facts.specs) == (kind, specs)


def test_indexing_and_reshape_quote_the_types():
    facts = parse_sharding_error(
        "Use `.at[...].get(out_sharding=)` to provide output PartitionSpec for the gather indexing as out sharding "
        "could not be resolved unambiguously (or would require collectives on inputs). Got "
        "operand=ShapedArray(float32[16@model,8]), indices=ShapedArray(int32[4@data,1])"
    )
    assert facts is not None
    assert [(a.name, a.shape, a.spec) for a in facts.arrays] == [
        ("operand", (16, 8), ("model", None)),
        ("indices", (4, 1), ("data", None)),
    ]
    facts = parse_sharding_error(
        "This reshape is not supported. Please specify the sharding of the output via the `out_sharding` argument of "
        "jax.lax.reshape. Got operand type: float32[8,16@(data,model)], new sizes: (8, 2, 8)"
    )
    assert facts is not None
    assert (facts.arrays[0].spec, facts.new_shape) == ((None, ("data", "model")), (8, 2, 8))


@pytest.mark.parametrize("words", ["and device ids", "and with device ids"])  # 0.9 and before; 0.10 and later
def test_both_sides_of_a_mismatch_of_devices_are_read(words):
    facts = parse_sharding_error(
        f"Received incompatible devices for jitted computation. Got argument params['w'] of step with shape "
        f"float32[8,16] {words} [3] on platform CPU and argument x of step with shape float32[4,8] {words} "
        "[0, 1, 2, 3] on platform CPU"
    )
    assert facts is not None
    assert [(a.name, a.shape, a.device_ids) for a in facts.arrays] == [
        ("params['w']", (8, 16), (3,)),
        ("x", (4, 8), (0, 1, 2, 3)),
    ]


def test_a_side_within_the_program_has_the_name_users_know():
    facts = parse_sharding_error(
        "Received incompatible devices for jitted computation. Got argument w of c_wsc.<locals>.step with shape "
        "float32[8,16] and with device ids [0, 1] on platform CPU and sharding_constraint inside jit with device ids "
        "[0] on platform CPU at /tmp/cases.py:295:27 (c_wsc.<locals>.step)"
    )
    assert facts is not None
    assert [(a.name, a.device_ids) for a in facts.arrays] == [("w", (0, 1)), ("with_sharding_constraint", (0,))]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Resource axis: modle of P('modle',) is not found in mesh: ('data', 'model').", "unknown axis"),
        ("Resource axis: modle of PartitionSpec('modle',) is not found in mesh: ('data', 'model').", "unknown axis"),
        ("A single NamedSharding spec specification can map every mesh axis to at most one positional dimension, but "
         "P('model', 'model') has duplicate entries for `model`", "repeated axis"),
        ("Number of devices 8 must be >= the product of mesh_shape (3, 4)", "mesh size"),
        ("One of pjit arguments with pytree key path b is incompatible with its sharding annotation NamedSharding(mesh="
         "Mesh('data': 2, 'model': 4, axis_types=(Auto, Auto)), spec=P('data', 'model'), memory_kind=device): Sharding "
         "NamedSharding(mesh=Mesh('data': 2, 'model': 4, axis_types=(Auto, Auto)), spec=P('data', 'model'), "
         "memory_kind=device) is only valid for values of rank at least 2, but was applied to a value of rank 1.",
         "rank"),
        ("Input should be unsharded over the axis being reduced. Got input type=float32[8@model,4] and axis=0",
         "split dimension"),
        ("`with_sharding_constraint` acts as an assert when all axes of mesh are of type `Explicit`. The array "
         "sharding: P('data', None) did not match the sharding provided: P('model', None). Please use "
         "`jax.sharding.reshard` to shard your input to the sharding you want.", "other spec"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_spec_or_a_mesh_is_told_apart(message, kind):
    facts = parse_sharding_error(message)
    assert facts is not None
    assert facts.kind == kind


def test_two_meshes_are_read_with_their_order_of_axes():
    mesh = "AbstractMesh('model': 4, 'data': 2, axis_types=(Explicit, Explicit), device_kind=cpu, num_cores=None)"
    other = mesh.replace("'model': 4, 'data': 2", "'data': 2, 'model': 4")
    for message in (
        f"Mesh for all inputs should be equal. Got one mesh: {other} and another mesh: {mesh}",
        f"For primitive add, context mesh {other} should match the aval mesh {mesh} for shape float32[4@model,8]. This",
        f"Mesh of both lhs and rhs should match. Got lhs: {other} and rhs: {mesh}",
    ):
        facts = parse_sharding_error(message)
        assert facts is not None
        assert [str(found) for found in facts.meshes] == ["data=2 x model=4", "model=4 x data=2"]


@pytest.mark.parametrize(
    "message",
    [
        "", "division by zero", "Received incompatible devices for jitted computation. Got", NOT_DIVIDED_09[:150],
        "add got incompatible shardings for broadcasting: nonsense.",
        "Number of devices 8 must be >= the product of mesh_shape (8",
        "Sharding GSPMDSharding({replicated}) implies that array axis 9 is partitioned 4 times, but the dimension size "
        "is 6 (full shape: (6, 8), per",
    ],
)  # fmt: skip
def test_a_message_that_is_not_understood_in_full_is_not_known(message):
    assert parse_sharding_error(message) is None


def test_a_sharding_without_axes_leaves_the_spec_unknown():
    facts = parse_sharding_error(
        "Sharding PositionalSharding([[0 1]]) implies that array axis 0 is partitioned 2 times, but the dimension size "
        "is 5 (full shape: (5,), per-dimension tiling factors: [2] should evenly divide the shape)"
    )
    assert facts is not None
    assert (facts.arrays[0].spec, facts.arrays[0].mesh, facts.count) == (None, None, 2)


def test_hostile_messages_raise_nothing_and_take_no_time():
    deep = "(" * 5_000
    for message in (
        NOT_DIVIDED_09.replace("P('model', None)", f"P({deep})"),
        NOT_DIVIDED_09.replace("'model'", "'mo\\'del'"),
        "Sharding " + "NamedSharding(" * 2_000 + NOT_DIVIDED_09,
        "add got incompatible shardings for broadcasting: " + "(" * 4_000 + ").",
        "add operation with inputs: " + "f32[" * 1_000 + " produces an illegally sharded result: f32[8]",
        SHARD_MAP_08 * 50,
        "One of " + "x" * 100_000,
        "Received incompatible devices for jitted computation. Got argument " + "a of " * 3_000,
    ):
        parse_sharding_error(message)


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text):
    parse_sharding_error(text)
    parse_sharding_error(f"Received incompatible devices for jitted computation. Got {text}")
    parse_spec(text)


@given(st.integers(0, len(NOT_DIVIDED_12)), st.characters())
@example(NOT_DIVIDED_12.index("data"), "\0")
def test_a_damaged_message_is_read_without_an_error(place, char):
    parse_sharding_error(NOT_DIVIDED_12[:place] + char + NOT_DIVIDED_12[place + 1 :])


def test_specs_and_types_are_read_as_jax_prints_them():
    assert parse_spec("P('x')") == ("x",)
    assert parse_spec("PartitionSpec(('x', 'y'), None)") == (("x", "y"), None)
    assert parse_spec("P()") == ()
    assert parse_spec("P(('x',),)") == ("x",)
    assert parse_spec("P(UNCONSTRAINED, 'x')") is None
    assert parse_spec("P('x', unreduced={'y'})") is None
    assert parse_spec("('x')") is None
    assert parse_array_type("f32[]") == ErrorArray(name="", dtype="f32", shape=(), spec=())
    assert parse_array_type("bf16[4@(x,y),8]{V:z}").spec == (("x", "y"), None)
    with pytest.raises(ValueError, match="not understood"):
        parse_array_type("f32[n,8]")
    assert parse_named_sharding("no sharding") is None


def test_the_longest_along_a_split_dimension_are_an_operation_along_it():
    # 0.10.2, `jax.lax.top_k`.
    facts = parse_sharding_error(
        "The input should be unsharded over the axis along which to compute the top_k values. Got input "
        "type=float32[8@data,16@model] and axis=1"
    )
    assert facts is not None
    assert (facts.kind, facts.dimension, facts.arrays[0].spec) == ("split dimension", 1, ("data", "model"))


def test_what_selects_is_one_of_the_operands_that_conflict():
    # 0.10.2, `jnp.where` of a condition that is split differently from the values.
    mesh = (
        "NamedSharding(mesh=AbstractMesh('data': 2, 'model': 4, axis_types=(Explicit, Explicit), device_kind=cpu, "
        "num_cores=None, platform=cpu), spec=P({}, None))"
    )
    facts = parse_sharding_error(
        "select `which` must be scalar or have the same sharding as cases, got `which` sharding "
        f"{mesh.format(repr('data'))} but case sharding {mesh.format(repr('model'))}."
    )
    assert facts is not None
    assert (facts.kind, facts.operation) == ("conflict", "select")
    assert facts.specs == (("data", None), ("model", None))
