"""Messages about calls, types and traced values explained without their line, each as the version named beside it wrote it."""

# ruff: noqa: E501

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.analyze.errors.explain import explain_message
from pjit_inspect.model.program.mesh import MeshAxes
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, ExplainedError

AUTO = MeshAxes(axis_names=("data", "model"), shape=(2, 4), axis_types=("auto", "auto"))
NAMED = "NamedSharding(mesh=Mesh('data': 2, 'model': 4, axis_types=(Auto, Auto)), spec={}, memory_kind=device)"


def explained(message: str) -> ExplainedError:
    found = explain_message(message, ErrorScene())
    assert found is not None
    return found


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
    found = explained(COMPILED.format(one, other, third))
    assert found.kind == "compiled"
    assert found.arrays == (
        ErrorArray(name="p['w']", dtype="float32", shape=(8, 8), spec=("model", None), mesh=AUTO),
        ErrorArray(name="x", dtype="float32", shape=(8,), device_ids=(3,)),
    )
    assert found.sentence == (
        "`p['w']` is `P('model', None)`, but the program was compiled for `P('data', None)`; `x` is on device 3, but the "
        "program was compiled for `P(None)` on data=2 x model=4"
    )


def test_the_two_trees_that_are_none_of_each_other_are_read_with_their_path():
    found = explained(PREFIX)
    assert (found.kind, found.sentence) == (
        "prefix", "`in_shardings[0]['layer']` has the keys `b` and `w`, but the argument has `w`",
    )  # fmt: skip
    # With `shard_map`, and within the messages of 0.9 and later that say more before it.
    found = explained(f"shard_map in_specs\n{PREFIX.replace('pjit in_shardings', 'shard_map in_specs')}")
    assert found.sentence == "`in_specs[0]['layer']` has the keys `b` and `w`, but the argument has `w`"


PLACED = "NamedSharding(mesh=Mesh('data': 2, axis_types=(Auto,)), spec=PartitionSpec('data',), memory_kind=device)"
TREES = "vmap in_axes specification must be a tree prefix of the corresponding value, got specification {} for value tree PyTreeDef({})."


@pytest.mark.parametrize(
    ("given", "wanted", "words"),
    [
        (f"{{'w': {PLACED}, 'b': {PLACED}}}", "{'w': *}", "`in_axes` has the keys `b` and `w`, but the arguments have `w`"),
        ("({'w': 0, 'b': 0}, 0)", "({'w': *}, *)", "`in_axes[0]` has the keys `b` and `w`, but the argument has `w`"),
        ("{'a, b': [0, (0,)]}", "{'a, b': [*, (*, *)]}", "`in_axes['a, b'][1]` has 1 entry, but the argument has 2"),
        ("{3: None, 4: [0]}", "{3: {'x': *}, 4: *}", "`in_axes[4]` is a list, but the argument is one array"),
        ("[0, 0]", "(*, *)", "`in_axes` is a list, but the arguments are a tuple"),
    ],
)  # fmt: skip
def test_the_first_place_where_two_printed_trees_differ_is_found(given: str, wanted: str, words: str):
    found = explained(TREES.format(given, wanted))
    assert (found.kind, found.sentence) == ("prefix", words)


def test_printed_trees_that_are_not_known_are_not_explained():
    # What an object of the user's holds is not known, and what is a prefix is not explained.
    for own, wanted in (
        ("State(w=0)", "CustomNode(namedtuple[State], [*, *])"), ("0", "{'w': *}"), ("(0,", "(*, *)"),
        (f"{'[' * 90}{']' * 90}", "(" * 90),
    ):  # fmt: skip
        assert explain_message(TREES.format(own, wanted), ErrorScene()) is None


@pytest.mark.parametrize("spec", ["P", "PartitionSpec"])
def test_every_result_that_is_not_proven_equal_is_read(spec: str):
    found = explained(REPLICATION.format(spec, spec))
    assert (found.kind, found.sentence) == (
        "replication",
        "`out_specs['loss']` (`P()`) says that the result is equal along `data` and `model`, which JAX cannot see; "
        "`out_specs['y']` (`P('data')`) says that the result is equal along `model`, which JAX cannot see",
    )


def test_every_carry_is_read_with_both_types_and_what_it_varies_over():
    found = explained(CARRIES)
    assert (found.kind, found.sentence) == (
        "loop type",
        "the body of `scan` must keep the type of its carry: `c['m']` goes in as `P('data', None)` and comes out as "
        "`P(('data', 'model'), None)`; `c['n']` goes in as `int32[]` and comes out as `float32[]`",
    )


def test_what_a_carry_varies_over_is_told_where_nothing_else_differs():
    found = explained(CARRIES.replace("type int32[]", "type float32[]"))
    assert (
        "`c['n']` goes in as the same on all devices and comes out as varying over `data` and `model`" in found.sentence
    )


def test_a_carry_without_a_name_is_read():
    # A body whose parameter has none, such as a `functools.partial`.
    found = explained(
        "while_loop body function carry input and carry output must have equal types, but they differ:\n\nThe input "
        "carry has type float32[8@data] but the corresponding output carry component has type float32[8].\n\nRevise"
    )
    assert "the body of `while` must keep the type of its carry: `carry` goes in as `P('data')`" in found.sentence


@pytest.mark.parametrize(
    ("message", "kind", "words"),
    [
        # 0.8.2: `pmap` is not yet made of jit
        ("pmap got inconsistent sizes for array axes to be mapped:\n  * one axis had size 4: axis 0 of argument y of "
         "type float32[4,4]", "pmap", "the arrays that `pmap` maps do not have one slice for each device"),
        ("compiling computation that requires 16 logical devices, but only 8 XLA devices are available "
         "(num_replicas=16)", "pmap", "has 16 along dimension 0, and `pmap` gives one to each of 8 devices: 16 / 8 = 2"),
        ("Using PartitionSpec when you are not under a mesh context is not allowed. Please pass a NamedSharding instance or "
         "enter into a mesh context via `jax.set_mesh`. Got P(UNCONSTRAINED, 'data')", "no mesh", "this line got a PartitionSpec"),
        ("Array boolean indices must be concrete; got ShapedArray(bool[4])\n\nSee", "traced value", "the number of true entries"),
        ("Slice entries must be static integers. Got slice(None, Traced<~int32[]>with<DynamicJaxprTrace>, None) at "
         "position 0", "traced value", "the bounds of a slice"),
        ("Non-hashable static arguments are not supported, as this can lead to unexpected cache-misses. Static argument "
         "(index 1) of type <class 'list'> for function f is non-hashable.", "static argument", "of the type `list`, which has no hash"),
        ("INVALID_ARGUMENT: Invalid buffer passed to Execute() as argument 0 to replica 0: INVALID_ARGUMENT: Buffer has "
         "been deleted or donated.", "deleted", "an argument has no data any more"),
        ("The following ordered effects are not supported for more than 1 device: [OrderedIOEffect, "
         "<jax._src.debugging.OrderedDebugEffect object at 0x7fcb016b9210>]", "ordered effects", "`io_callback` and `jax.debug.print`"),
        # 0.8.1
        ("Array slice indices must have static start/stop/step to be used with NumPy indexing syntax. Found slice(None, "
         "JitTracer<~int32[]>, None). To index a statically sized array", "traced value", "the bounds of a slice"),
    ],
)  # fmt: skip
def test_forms_that_versions_write_are_told_apart(message: str, kind: str, words: str):
    found = explained(message)
    assert found.kind == kind
    assert words in found.sentence


def test_where_jax_has_no_pcast_a_carry_is_made_varying_as_jax_advises():
    # 0.8.1
    found = explained(
        "scan body function carry input and carry output must have equal types, but they differ:\n\nThe input carry c "
        "has type float32[] but the corresponding output carry component has type float32[]{V:model}, so the varying "
        "manual axes do not match.\n\nThis might be fixed by applying `jax.lax.pvary(..., ('model',))` to the initial"
    )
    assert [fit.edit for fit in found.fits] == ["start `c` with `jax.lax.pvary` to varying over `model`"]


TRACED = (
    "Attempted boolean conversion of traced array with shape bool[].\nThe error occurred while tracing the function "
    "step at /home/me/train.py:12 for jit. {}\nSee https://docs.jax.dev/en/latest/errors.html"
)


def test_a_traced_value_is_read_with_its_function_and_what_it_depends_on():
    found = explained(
        TRACED.format(
            "This concrete value was not available in Python because it depends on the values of the arguments x, "
            "params['w'], and n."
        )
    )
    assert found.sentence == (
        "the line asks whether an array is true, which depends on the arguments `x`, `params['w']` and `n`: while `step` "
        "is traced for `jit`, values are not known"
    )


def test_a_value_outlived_its_function_where_that_does_not_run_and_jax_names_no_argument():
    for places, kind in ((("/home/me/train.py:12",), "traced value"), (("/home/me/train.py:40",), "leaked value")):
        found = explain_message(TRACED.format(""), ErrorScene(places=places))
        assert found is not None
        assert found.kind == kind


@pytest.mark.parametrize(
    "message",
    [
        COMPILED.split("Argument p")[0], PREFIX[:80], "requires a non-empty mesh in context",
        "scan body function carry input and carry output must have equal types, but they differ:\n\nnothing",
        "shard_map applied to the function 'f' was given out_specs which require nothing", "unhashable type: 'list'",
        "Array has been deleted", "Attempted boolean conversion of nothing",
        "Computation was compiled for input layouts that disagree with the layouts of arguments passed to it. Here",
    ],
)  # fmt: skip
def test_a_message_that_is_not_understood_in_full_is_not_known(message: str):
    assert explain_message(message, ErrorScene()) is None


@given(st.sampled_from([PREFIX, CARRIES, REPLICATION.format("P", "P")]), st.integers(0, 900), st.text(max_size=20))
def test_a_damaged_message_is_read_without_an_error(message: str, place: int, text: str):
    explain_message(message[:place] + text + message[place + 1 :], ErrorScene())


def test_hostile_messages_raise_nothing_and_take_no_time():
    for message in (
        CARRIES + "The input carry component " * 3_000, COMPILED + "Argument a " * 5_000, PREFIX + "with 1 child keys\n" * 3_000,
        REPLICATION.format("P", "P") + "out_specs " * 5_000, TREES.format("{'a': " * 3_000, "*"), "The input carry " * 2_000 + " is a ",
        "Attempted boolean conversion of traced array with shape bool[" + "8," * 5_000,
        "implies that array axis 0 is partitioned " * 500, "Attempt to donate the same buffer " * 600, "pytree structure error: " * 800,
    ):  # fmt: skip
        explain_message(message, ErrorScene())
