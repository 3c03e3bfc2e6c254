"""Messages of JAX's about shardings, each as the version named beside it wrote it, explained by themselves."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pjit_inspect.analyze.errors.explain import explain_message
from pjit_inspect.analyze.errors.printed import read_mesh, read_sharding, read_spec, read_type
from pjit_inspect.model.program.mesh import MeshAxes
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, ExplainedError

AUTO = MeshAxes(axis_names=("data", "model"), shape=(2, 4), axis_types=("auto", "auto"))
EXPLICIT = MeshAxes(axis_names=("data", "model"), shape=(2, 4), axis_types=("explicit", "explicit"))

# Written on the version in the name.
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


def explained(message: str) -> ExplainedError:
    found = explain_message(message, ErrorScene())
    assert found is not None
    return found


@pytest.mark.parametrize("message", [NOT_DIVIDED_08, NOT_DIVIDED_09, NOT_DIVIDED_12])
def test_a_dimension_that_is_not_divided_is_read_from_every_version(message):
    found = explained(message)
    named = message is not NOT_DIVIDED_09
    what = "`params['w']`" if named else "the array [6,8]"
    assert (found.kind, found.sentence) == (
        "indivisible", f"dimension 0 of {what} is 6, and `P('model', None)` splits it over `model` (4): 6 / 4 = 1.5"
    )  # fmt: skip
    name = "params['w']" if named else ""
    assert found.arrays == (ErrorArray(name=name, shape=(6, 8), spec=("model", None), mesh=AUTO, is_named=named),)


def test_a_type_that_is_not_divided_is_a_result():
    # 0.8.2; later versions print `P(...)` and `platform=cpu`.
    found = explained(
        "Sharding spec ('model',) implies that array axis 0 is partitioned 4 times, but does not evenly divide the "
        "dimension size 6. Got shape: (6, 4) and sharding NamedSharding(mesh=AbstractMesh('data': 2, 'model': 4, "
        "axis_types=(Explicit, Explicit), device_kind=cpu, num_cores=None), spec=PartitionSpec('model', None))"
    )
    assert found.kind == "indivisible"
    assert found.sentence.startswith("dimension 0 of `result` is 6, and")
    array = ErrorArray(name="result", shape=(6, 4), spec=("model", None), mesh=EXPLICIT, is_named=True)
    assert found.arrays == (array,)


def test_a_damaged_message_whose_mesh_has_an_axis_twice_is_not_read():
    assert "'model'" in SHARD_MAP_08
    assert explain_message(SHARD_MAP_08.replace("'model'", "'data'"), ErrorScene()) is None


@pytest.mark.parametrize("message", [SHARD_MAP_08, SHARD_MAP_08.replace("PartitionSpec(", "P(")])
def test_shard_map_names_every_argument(message):
    found = explained(message)
    assert found.kind == "indivisible"
    assert [(array.name, array.shape, array.spec) for array in found.arrays] == [
        ("params['w']", (6, 4), ("model", None)),
        ("x", (5, 4), ("data", None)),
    ]
    assert "6 / 4 = 1.5; dimension 0 of `x` is 5" in found.sentence
    assert found.arrays[0].mesh == MeshAxes(axis_names=("data", "model"), shape=(2, 4))


SELECT = (
    "NamedSharding(mesh=AbstractMesh('data': 2, 'model': 4, axis_types=(Explicit, Explicit), device_kind=cpu, "
    "num_cores=None, platform=cpu), spec=P({}, None))"
)


@pytest.mark.parametrize(
    ("message", "kind", "sentence"),
    [
        # The same on all versions.
        ("Contracting dimensions are sharded and it is ambiguous how the output should be sharded. Please specify the "
         "output sharding via the `out_sharding` parameter. Got lhs_contracting_spec=('model',) and "
         "rhs_contracting_spec=('model',)", "contraction",
         "the product sums over a dimension that both operands split (`P('model')` and `P('model')`): say whether to "
         "add the partial sums, or to keep them split"),
        # 0.8 to 0.10
        ("dot_general requires contracting dimensions to have consistent sharding, got ('model',) and ('data',).",
         "contraction",
         "both operands of a product must be split alike along the dimension that it sums: `P('model')` and "
         "`P('data')`"),
        ("dot_general requires lhs batch dimensions and rhs batch dimensions to have the consistent sharding, got "
         "('data',) and ('model',).", "conflict",
         "both operands of `dot_general` must be split alike along its batch dimensions: `P('data')` and `P('model')`"),
        # 0.12
        ("dot_general requires lhs batch dimensions and rhs batch dimensions to have the same sharding, got ('data',) "
         "and ('model',).", "conflict",
         "both operands of `dot_general` must be split alike along its batch dimensions: `P('data')` and `P('model')`"),
        ("add got incompatible shardings for broadcasting: ('data', None), (('data', 'model'), None).", "conflict",
         "`add` needs operands that are split alike: `P('data', None)` and `P(('data', 'model'), None)`"),
        ("add operation with inputs: f32[8@data,8], f32[8,8@data] produces an illegally sharded result: "
         "f32[8@data,8@data]", "axis twice",
         "the result of `add` would be `P('data', 'data')`, and an axis can split one dimension only: `f32[8,8]` as "
         "`P('data', None)` and `f32[8,8]` as `P(None, 'data')`"),
        # 0.10.2, `jnp.where` of a condition that is split differently from the values.
        ("select `which` must be scalar or have the same sharding as cases, got `which` sharding "
         f"{SELECT.format(repr('data'))} but case sharding {SELECT.format(repr('model'))}.", "conflict",
         "`select` needs operands that are split alike: `P('data', None)` and `P('model', None)`"),
        ("Use `.at[...].get(out_sharding=)` to provide output PartitionSpec for the gather indexing as out sharding "
         "could not be resolved unambiguously (or would require collectives on inputs). Got "
         "operand=ShapedArray(float32[16@model,8]), indices=ShapedArray(int32[4@data,1])", "indexing",
         "JAX will not choose how the result of indexing is split: `float32[16,8]` as `P('model', None)`"),
        # 0.10.2 and 0.12.0
        ("slicing on sharded dims where out dim (1) is not divisible by mesh axes (2) with spec (data) is not "
         "implemented. Got input type=f32[8@data,8@model] and output shape=(np.int64(1), np.int64(8))", "new size",
         "`slicing` makes an array of length 1 along a dimension that is split over `data`: 1 / 2 = 0.5; `f32[8,8]` as "
         "`P('data', 'model')`"),
        # 0.8.2 does not quote the types
        ("padding on sharded dims where out dim (9) is not divisible by mesh axes (8) with spec (('data', 'model')) is "
         "not implemented.", "new size",
         "`padding` makes an array of length 9 along a dimension that is split over `data` x `model`: 9 / 8 = 1.125"),
        # 0.8.1
        ("Use `.at[...].get(out_sharding=)` to provide output PartitionSpec for the gather indexing as out sharding "
         "could not be resolved unambiguously (or would require collectives on inputs).", "indexing",
         "JAX will not choose how the result of indexing is split"),
        ("This reshape is not supported. Please specify the sharding of the output via the `out_sharding` argument of "
         "jax.lax.reshape. Got operand type: float32[8,16@(data,model)], new sizes: (8, 2, 8)", "reshape",
         "a reshape to [8,2,8] would not leave a whole slice on each device, and JAX will not choose a new split: "
         "`float32[8,16]` as `P(None, ('data', 'model'))`"),
        ("Input should be unsharded over the axis being reduced. Got input type=float32[8@model,4] and axis=0",
         "split dimension",
         "the operation works along dimension 0, which must not be split: `float32[8,4]` as `P('model', None)`"),
        # 0.10.2, `jax.lax.top_k`.
        ("The input should be unsharded over the axis along which to compute the top_k values. Got input "
         "type=float32[8@data,16@model] and axis=1", "split dimension",
         "the operation works along dimension 1, which must not be split: `float32[8,16]` as `P('data', 'model')`"),
        # 0.9.2
        ("Arguments to sort must be unsharded over the sorting dimension. Got arg "
         f"sharding={SELECT.format(repr('data'))} and sorting dimension=0", "split dimension",
         "the operation works along dimension 0, which must not be split: `P('data', None)`"),
        ("0th dimension of all xs should be replicated. Got P('data', None), P(None,)", "split dimension",
         "the operation works along dimension 0, which must not be split: `P('data', None)` and `P(None)`"),
        ("`with_sharding_constraint` acts as an assert when all axes of mesh are of type `Explicit`. The array "
         "sharding: P('data', None) did not match the sharding provided: P('model', None). Please use "
         "`jax.sharding.reshard` to shard your input to the sharding you want.", "other spec",
         "an operand is `P('data', None)`, but `with_sharding_constraint` asks for `P('model', None)`"),
        ("Resource axis: modle of P('modle',) is not found in mesh: ('data', 'model').", "unknown axis",
         "`P('modle')` names the axis `modle`, which the mesh does not have: it has data, model"),
        ("Resource axis: modle of PartitionSpec('modle',) is not found in mesh: ('data', 'model').", "unknown axis",
         "`P('modle')` names the axis `modle`, which the mesh does not have: it has data, model"),
        ("A single NamedSharding spec specification can map every mesh axis to at most one positional dimension, but "
         "P('model', 'model') has duplicate entries for `model`", "repeated axis",
         "`P('model', 'model')` uses the axis `model` twice; an axis can split one dimension only"),
        ("Number of devices 8 must be >= the product of mesh_shape (3, 4)", "mesh size",
         "a mesh of shape (3, 4) needs 3 x 4 = 12 devices; there are 8"),
        ("One of pjit arguments with pytree key path b is incompatible with its sharding annotation NamedSharding(mesh="
         "Mesh('data': 2, 'model': 4, axis_types=(Auto, Auto)), spec=P('data', 'model'), memory_kind=device): Sharding "
         "NamedSharding(mesh=Mesh('data': 2, 'model': 4, axis_types=(Auto, Auto)), spec=P('data', 'model'), "
         "memory_kind=device) is only valid for values of rank at least 2, but was applied to a value of rank 1.",
         "rank", "`P('data', 'model')` has 2 entries, but `b` has 1 dimension"),
    ],
)  # fmt: skip
def test_what_a_message_says_by_itself(message, kind, sentence):
    found = explained(message)
    assert (found.kind, found.sentence) == (kind, sentence)


@pytest.mark.parametrize(
    ("side", "words"),
    [
        # 0.9 and before; 0.10 and later
        ("argument x of step with shape float32[4,8] and device ids", "`x of step` on devices 0-3"),
        ("argument x of step with shape float32[4,8] and with device ids", "`x of step` on devices 0-3"),
        # What the program itself places has the name that users know.
        ("sharding_constraint inside jit with device ids", "the sharding in `with_sharding_constraint` on devices 0-3"),
    ],
)
def test_both_sides_of_a_mismatch_of_devices_are_read(side, words):
    found = explained(
        "Received incompatible devices for jitted computation. Got argument params['w'] of step with shape "
        f"float32[8,16] and with device ids [4] on platform CPU and {side} [0, 1, 2, 3] on platform CPU at "
        "/tmp/cases.py:295:27 (c_wsc.<locals>.step)"
    )
    assert (found.kind, found.sentence) == ("devices", f"`params['w'] of step` is on device 4, {words}")
    assert [array.device_ids for array in found.arrays] == [(4,), (0, 1, 2, 3)]


def test_two_meshes_are_read_with_their_order_of_axes():
    mesh = "AbstractMesh('model': 4, 'data': 2, axis_types=(Explicit, Explicit), device_kind=cpu, num_cores=None)"
    other = mesh.replace("'model': 4, 'data': 2", "'data': 2, 'model': 4")
    for message in (
        f"Mesh for all inputs should be equal. Got one mesh: {other} and another mesh: {mesh}",
        f"For primitive add, context mesh {other} should match the aval mesh {mesh} for shape float32[4@model,8]. This",
        f"Mesh of both lhs and rhs should match. Got lhs: {other} and rhs: {mesh}",
    ):
        found = explained(message)
        assert found.kind == "mesh"
        assert found.sentence.startswith("an operand is on the mesh model=4 x data=2, ")
        assert found.sentence.endswith(" data=2 x model=4")


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
    assert explain_message(message, ErrorScene()) is None


def test_a_sharding_without_axes_still_has_its_next_multiple():
    found = explained(
        "Sharding PositionalSharding([[0 1]]) implies that array axis 0 is partitioned 7 times, but the dimension size "
        "is 10 (full shape: (10, 3), per-dimension tiling factors: [7, 1] should evenly divide the shape)"
    )
    # 10 = 7 + 3, and the next multiple of 7 is 14.
    assert found.sentence == (
        "dimension 0 of the array [10,3] is 10, and its sharding splits it into 7 parts: 10 / 7 leaves 3"
    )
    assert [fit.edit for fit in found.fits] == ["pad dimension 0 from 10 to 14"]


def test_operands_that_the_message_does_not_quote_are_not_explained():
    # The line multiplies x and w, but what failed has other specs: a library's own product.
    mesh = MeshAxes(axis_names=("x", "y"), shape=(2, 4))
    operands = tuple(ErrorArray(name=name, shape=(8, 8), spec=("x", None), mesh=mesh) for name in "ab")
    message = "dot_general requires contracting dimensions to have consistent sharding, got ('y',) and ('y',)."
    found = explain_message(message, ErrorScene(operator="@", operands=operands))
    assert found is not None
    assert (found.arrays, found.fits) == ((), ())
    assert (
        found.sentence
        == "both operands of `@` must be split alike along the dimension that it sums: `P('y')` and `P('y')`"
    )
    assert found.notes


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
        "One of a with pytree key path " * 1_000,
        "0th dimension of all xs should be replicated. Got " + "P('a'), " * 2_000,
        "Input 0 to lu must be unsharded on non-batch dimensions, but got P(" + "(" * 5_000,
        "dynamic_update_slice operand sharding must be equal to update sharding, got operand sharding "
        + "f32[({" * 2_000,
        "Received incompatible devices for jitted computation. Got argument " + "a of " * 3_000,
    ):
        explain_message(message, ErrorScene())


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text):
    explain_message(text, ErrorScene())
    explain_message(f"Received incompatible devices for jitted computation. Got {text}", ErrorScene())


@given(st.integers(0, len(NOT_DIVIDED_12)), st.characters())
@example(NOT_DIVIDED_12.index("data"), "\0")
def test_a_damaged_message_is_read_without_an_error(place, char):
    explain_message(NOT_DIVIDED_12[:place] + char + NOT_DIVIDED_12[place + 1 :], ErrorScene())


def test_specs_and_types_are_read_as_jax_prints_them():
    assert read_spec("P('x')") == ("x",)
    assert read_spec("PartitionSpec(('x', 'y'), None)") == (("x", "y"), None)
    assert read_spec("P()") == ()
    assert read_spec("P(('x',),)") == ("x",)
    assert read_spec("('x',)") == ("x",)
    for text in ("P(UNCONSTRAINED, 'x')", "P('x', unreduced={'y'})", "('x')", "P("):
        with pytest.raises(ValueError, match="spec"):
            read_spec(text)
    assert read_type("f32[]") == ErrorArray(name="", dtype="f32", shape=(), spec=())
    assert read_type("bf16[4@(x,y),8]{V:z}").spec == (("x", "y"), None)
    with pytest.raises(ValueError, match="not understood"):
        read_type("f32[n,8]")
    assert read_sharding("no sharding") == ErrorArray(name="")
    with pytest.raises(ValueError, match="no axes"):
        read_mesh("AbstractMesh()")
