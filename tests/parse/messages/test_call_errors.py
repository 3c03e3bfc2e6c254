"""Messages about calls, types and traced values as facts, each as the version named beside it wrote it."""

# ruff: noqa: E501

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.report.explained_error import ErrorArray
from pjit_inspect.model.sharding.mesh import MeshAxes
from pjit_inspect.parse.messages.sharding_errors import parse_sharding_error

AUTO = MeshAxes(axis_names=("data", "model"), shape=(2, 4), axis_types=("auto", "auto"))
NAMED = "NamedSharding(mesh=Mesh('data': 2, 'model': 4, axis_types=(Auto, Auto)), spec={}, memory_kind=device)"

# 0.10.2; 0.8.2 writes `PartitionSpec`.
COMPILED = (
    "Computation was compiled for input shardings that disagree with the shardings of arguments passed to it. Here are "
    "the 2 mismatches:\nArgument p['w'] with shape float32[8,8]:\n  Passed sharding: {}\n  Required sharding: {}\n"
    "Argument x with shape float32[8]:\n  Passed sharding: SingleDeviceSharding(device=CpuDevice(id=3), "
    "memory_kind=device)\n  Required sharding: {}"
)
PREFIX = """\
Mismatch details (1 found):
pytree structure error: different numbers of pytree children at key path
    pjit in_shardings[0]['layer']
At that key path, the prefix pytree pjit in_shardings has a subtree of type
    <class 'dict'>
with 2 child keys
    b w
but at the same key path the full pytree has a subtree of the same type but with 1 child keys
    w
so the symmetric difference on key sets is
    b"""
REPLICATION = """\
shard_map applied to the function 'step' was given out_specs which require replication which can't be statically inferred given the mesh:

The mesh given has shape (2, 4) with corresponding axis names ('data', 'model').

* out_specs['loss'] is {}() which implies that the corresponding output value is only varying across mesh axes {{}} and not {{data,model}}, but it was inferred to be possibly varying over {{data,model}}

* out_specs['y'] is {}('data',) which implies that the corresponding output value is replicated across mesh axis 'model', but could not infer replication over any axes

Check if these output values are meant to be replicated over those mesh axes."""
CARRIES = """\
scan body function carry input and carry output must have equal types, but they differ:

  * the input carry component c['m'] has type float32[8@data,8] but the corresponding output carry component has type float32[8@(data,model),8];
  * the input carry component c['n'] has type int32[] but the corresponding output carry component has type float32[]{V:(data,model)}, so the dtypes do not match and the manual axis types do not match.

Revise the function so that all output types match the corresponding input types."""


@pytest.mark.parametrize("spec", ["P", "PartitionSpec"])
def test_every_argument_of_a_compiled_program_is_read_with_both_its_places(spec: str):
    one, other, third = (NAMED.format(f"{spec}{text}") for text in ("('model',)", "('data', None)", "()"))
    facts = parse_sharding_error(COMPILED.format(one, other, third))
    assert facts is not None
    assert facts.kind == "compiled"
    assert facts.arrays == (
        ErrorArray(name="p['w']", dtype="float32", shape=(8, 8), spec=("model", None), mesh=AUTO, is_named=True),
        ErrorArray(name="x", dtype="float32", shape=(8,), device_ids=(3,), is_named=True),
    )
    assert [array.spec for array in facts.wanted] == [("data", None), (None,)]


def test_the_two_trees_that_are_none_of_each_other_are_read_with_their_path():
    facts = parse_sharding_error(PREFIX)
    assert facts is not None
    assert (facts.kind, facts.operation, facts.function) == ("prefix", "in_shardings", "[0]['layer']")
    assert facts.names == ("b,w", "w")
    # With `shard_map`, and within the messages of 0.9 and later that say more before it.
    facts = parse_sharding_error(f"shard_map in_specs\n{PREFIX.replace('pjit in_shardings', 'shard_map in_specs')}")
    assert facts is not None
    assert facts.operation == "in_specs"


PLACED = "NamedSharding(mesh=Mesh('data': 2, axis_types=(Auto,)), spec=PartitionSpec('data',), memory_kind=device)"


@pytest.mark.parametrize(
    ("given", "wanted", "path", "reason", "found"),
    [
        (f"{{'w': {PLACED}, 'b': {PLACED}}}", "{'w': *}", "", "keys", ("b,w", "w")),
        ("({'w': 0, 'b': 0}, 0)", "({'w': *}, *)", "[0]", "keys", ("b,w", "w")),
        ("{'a, b': [0, (0,)]}", "{'a, b': [*, (*, *)]}", "['a, b'][1]", "length", (1, 2)),
        ("{3: None, 4: [0]}", "{3: {'x': *}, 4: *}", "[4]", "types", ("list", "PytreeLeaf")),
        ("[0, 0]", "(*, *)", "", "types", ("list", "tuple")),
    ],
)
def test_the_first_place_where_two_printed_trees_differ_is_found(given, wanted, path, reason, found):
    text = "specification must be a tree prefix of the corresponding value, got specification"
    facts = parse_sharding_error(f"vmap in_axes {text} {given} for value tree PyTreeDef({wanted}).")
    assert facts is not None
    assert (facts.kind, facts.operation, facts.function, facts.reason) == ("prefix", "in_axes", path, reason)
    assert (facts.names or facts.new_shape) == found
    # What an object of the user's holds is not known, and what is a prefix is not explained.
    for given, wanted in (
        ("State(w=0)", "CustomNode(namedtuple[State], [*, *])"),
        ("0", "{'w': *}"),
        ("(0,", "(*, *)"),
    ):
        message = f"vmap in_axes {text} {given} for value tree PyTreeDef({wanted})."
        assert parse_sharding_error(message) is None
    assert (
        parse_sharding_error(f"vmap in_axes {text} {'[' * 90}{']' * 90} for value tree PyTreeDef({'(' * 90}).") is None
    )


@pytest.mark.parametrize("spec", ["P", "PartitionSpec"])
def test_every_result_that_is_not_proven_equal_is_read(spec: str):
    facts = parse_sharding_error(REPLICATION.format(spec, spec))
    assert facts is not None
    assert facts.kind == "replication"
    assert [(array.name, array.spec) for array in facts.arrays] == [
        ("out_specs['loss']", ()),
        ("out_specs['y']", ("data",)),
    ]
    assert facts.names == ("data,model", "model")


def test_every_carry_is_read_with_both_types_and_what_it_varies_over():
    facts = parse_sharding_error(CARRIES)
    assert facts is not None
    assert (facts.kind, facts.operation) == ("loop type", "scan")
    assert [array.name for array in facts.arrays] == ["c['m']", "c['n']"]
    assert [array.spec for array in facts.arrays] == [("data", None), ()]
    assert [array.spec for array in facts.wanted] == [(("data", "model"), None), ()]
    assert facts.names == ("", "", "", "data,model")


def test_a_carry_without_a_name_is_read():
    # A body whose parameter has none, such as a `functools.partial`.
    facts = parse_sharding_error(
        "while_loop body function carry input and carry output must have equal types, but they differ:\n\nThe input "
        "carry has type float32[8@data] but the corresponding output carry component has type float32[8].\n\nRevise"
    )
    assert facts is not None
    assert [array.name for array in facts.arrays] == ["carry"]


@pytest.mark.parametrize(
    ("message", "kind", "reason"),
    [
        # 0.10.2 and 0.12.0
        ("slicing on sharded dims where out dim (1) is not divisible by mesh axes (2) with spec (data) is not "
         "implemented. Got input type=f32[8@data,8@model] and output shape=(np.int64(1), np.int64(8))", "new size", ""),
        # 0.8.2 does not quote the types
        ("padding on sharded dims where out dim (9) is not divisible by mesh axes (8) with spec (('data', 'model')) is "
         "not implemented.", "new size", "one length"),
        # 0.8.2: `pmap` is not yet made of jit
        ("pmap got inconsistent sizes for array axes to be mapped:\n  * one axis had size 4: axis 0 of argument y of "
         "type float32[4,4]", "pmap", "sizes"),
        ("compiling computation that requires 16 logical devices, but only 8 XLA devices are available "
         "(num_replicas=16)", "pmap", "replicas"),
        ("Array boolean indices must be concrete; got ShapedArray(bool[4])\n\nSee", "traced value", "mask"),
        ("Slice entries must be static integers. Got slice(None, Traced<~int32[]>with<DynamicJaxprTrace>, None) at "
         "position 0", "traced value", "slice"),
        ("Non-hashable static arguments are not supported, as this can lead to unexpected cache-misses. Static argument "
         "(index 1) of type <class 'list'> for function f is non-hashable.", "static argument", ""),
        ("INVALID_ARGUMENT: Invalid buffer passed to Execute() as argument 0 to replica 0: INVALID_ARGUMENT: Buffer has "
         "been deleted or donated.", "deleted", "buffer"),
        ("The following ordered effects are not supported for more than 1 device: [OrderedIOEffect, "
         "<jax._src.debugging.OrderedDebugEffect object at 0x7fcb016b9210>]", "ordered effects", ""),
        # 0.8.1
        ("Array slice indices must have static start/stop/step to be used with NumPy indexing syntax. Found slice(None, "
         "JitTracer<~int32[]>, None). To index a statically sized array", "traced value", "slice"),
        ("scan body function carry input and carry output must have equal types, but they differ:\n\nThe input carry c "
         "has type float32[] but the corresponding output carry component has type float32[]{V:model}, so the varying "
         "manual axes do not match.\n\nThis might be fixed by applying `jax.lax.pvary(..., ('model',))` to the initial",
         "loop type", "pvary"),
    ],
)  # fmt: skip
def test_forms_that_versions_write_are_told_apart(message: str, kind: str, reason: str):
    facts = parse_sharding_error(message)
    assert facts is not None
    assert (facts.kind, facts.reason) == (kind, reason)


def test_a_traced_value_is_read_with_its_function_and_what_it_depends_on():
    text = (
        "Attempted boolean conversion of traced array with shape bool[].\nThe error occurred while tracing the function "
        "step at /home/me/train.py:12 for jit. {}\nSee https://docs.jax.dev/en/latest/errors.html"
    )
    facts = parse_sharding_error(
        text.format(
            "This concrete value was not available in Python because it depends on the values of the arguments x, "
            "params['w'], and n."
        )
    )
    assert facts is not None
    assert (facts.reason, facts.function, facts.operation) == ("bool", "step", "jit")
    assert facts.names == ("x", "params['w']", "n")
    # Where the function is matters only of a value of which JAX does not say what it depends on.
    assert facts.place == ""
    facts = parse_sharding_error(text.format(""))
    assert facts is not None
    assert (facts.names, facts.place) == ((), "/home/me/train.py:12")


@pytest.mark.parametrize(
    "message",
    [
        COMPILED.split("Argument p")[0], PREFIX[:80], "requires a non-empty mesh in context",
        "scan body function carry input and carry output must have equal types, but they differ:\n\nnothing",
        "shard_map applied to the function 'f' was given out_specs which require nothing", "unhashable type: 'list'",
        "Array has been deleted", "Attempted boolean conversion of nothing", "Input 0 to lu must be unsharded",
        "Computation was compiled for input layouts that disagree with the layouts of arguments passed to it. Here",
    ],
)  # fmt: skip
def test_a_message_that_is_not_understood_in_full_is_not_known(message: str):
    assert parse_sharding_error(message) is None


@given(st.sampled_from([PREFIX, CARRIES, REPLICATION.format("P", "P")]), st.integers(0, 900), st.text(max_size=20))
def test_a_damaged_message_is_read_without_an_error(message: str, place: int, text: str):
    parse_sharding_error(message[:place] + text + message[place + 1 :])


def test_hostile_messages_raise_nothing_and_take_no_time():
    for message in (
        CARRIES + "The input carry component " * 3_000, COMPILED + "Argument a " * 5_000, PREFIX + "with 1 child keys\n" * 3_000,
        REPLICATION.format("P", "P") + "out_specs " * 5_000, "0th dimension of all xs should be replicated. Got " + "P('a'), " * 2_000,
        "Input 0 to lu must be unsharded on non-batch dimensions, but got P(" + "(" * 5_000,
        "Attempted boolean conversion of traced array with shape bool[" + "8," * 5_000,
        "dynamic_update_slice operand sharding must be equal to update sharding, got operand sharding " + "f32[({" * 2_000,
    ):  # fmt: skip
        parse_sharding_error(message)
