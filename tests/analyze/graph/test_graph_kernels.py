"""Kernels are what runs by itself; values are followed through everything else."""

from __future__ import annotations

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text
from graph_cases import carried, compiled, edges, fixture, graph_of, lines, op, program

from pjit_inspect.analyze.graph.kernels import find_kernels

# From `visual_target/GRAPH.md`, section 2, counted there by other code: instructions that run, kernels, edges between
# kernels. For TPUs see below.
COUNTED = {
    "transformer_step.cpu_8": (839, 706, 962),
    "transformer_step.h100_1x1x8": (910, 349, 598),
    "train_step_16_layers.cpu_8": (4222, 2899, 18698),
}


@pytest.mark.parametrize(("name", "counts"), COUNTED.items())
def test_kernels_and_edges_are_as_many_as_counted_by_hand(name: str, counts: tuple[int, int, int]):
    kernels = find_kernels(fixtures.module(name))
    assert (len(kernels.running.order), len(kernels), len(kernels.edges)) == counts


@pytest.mark.parametrize(("name", "running", "counted"), [
    ("transformer_step.v5e_2x4", 2466, 426),
    ("train_step.tpu7x", 508, 201),
])  # fmt: skip
def test_on_a_tpu_prefetches_notes_and_second_halves_are_no_kernels_either(name: str, running: int, counted: int):
    module = fixtures.module(name)
    kernels = find_kernels(module)
    entry = list(module.computation(module.entry))
    prefetches = [i for i in entry if i.opcode == "async-start" and "slice" in {k.opcode for k in i.called[0]}]
    notes = [i for i in entry if i.opcode == "custom-call"]
    halves = [i for i in entry if i.opcode == "fusion" and _target(i.called[0].root) == "AsyncCollectiveDone"]
    assert len(kernels.running.order) == running
    assert len(kernels) == counted - len(prefetches) - len(notes) - len(halves)


def _target(instruction) -> str:
    return instruction.details.custom_call_target if instruction.opcode == "custom-call" else ""


def test_values_are_followed_through_tuples_copies_and_bitcasts():
    module = program(
        lines(
            op("a", "negate", "q"),
            op("b", "exponential", "q"),
            "  %t = (f32[4], f32[4]) tuple(%a, %b)",
            "  %g = f32[4] get-tuple-element(%t), index=1",
            op("c", "copy", "g"),
            op("v", "bitcast", "c"),
            op("z", "sine", "v", root=True),
        )
    )
    graph = graph_of(module)
    assert graph.kernels.names == ("a", "b", "z")
    assert edges(graph) == {("b", "z")}
    assert graph.arguments == ("x",)
    taken = {graph.kernels.names[k] for k in graph.reads.target[graph.reads.argument == 0].tolist()}
    assert taken == {"a", "b"}


def test_bytes_are_those_taken_not_those_made():
    module = parse_hlo_text(
        "HloModule m\n%body (p: f32[4]) -> (f32[4], f32[8]) {\n  %p = f32[4] parameter(0)\n"
        "  %n = f32[4] negate(%p)\n  %c = f32[8] concatenate(%n, %p), dimensions={0}\n"
        "  ROOT %t = (f32[4], f32[8]) tuple(%n, %c)\n}\n"
        "ENTRY %main (q: f32[4]) -> f32[8] {\n  %q = f32[4] parameter(0)\n"
        "  %f = (f32[4], f32[8]) fusion(%q), kind=kLoop, calls=%body\n"
        "  %g = f32[8] get-tuple-element(%f), index=1\n  ROOT %z = f32[8] negate(%g)\n}\n"
    )
    graph = graph_of(module)
    read = graph.reads.target == 1
    assert graph.reads.bytes[read].tolist() == [32]
    assert graph.reads.element[read].tolist() == [1]


def test_an_element_of_an_inner_tuple_is_that_element_alone():
    module = program(
        lines(
            op("a", "sine", "q"),
            op("b", "cosine", "q"),
            "  %pair = (f32[4], f32[4]) tuple(%a, %b)",
            "  %outer = (f32[4], (f32[4], f32[4])) tuple(%q, %pair)",
            "  %inner = (f32[4], f32[4]) get-tuple-element(%outer), index=1",
            "  %second = f32[4] get-tuple-element(%inner), index=1",
            op("z", "tanh", "second", root=True),
        )
    )
    graph = graph_of(module)
    assert edges(graph) == {("b", "z")}
    # An array as such, no element of one.
    assert graph.reads.element[graph.reads.target == graph.kernels.names.index("z")].tolist() == [-1]


def test_arrays_that_are_passed_on_side_by_side_stay_apart():
    module = program(
        lines(
            op("a", "sine", "q"),
            op("b", "cosine", "q"),
            "  %kept = (f32[4], f32[4]) opt-barrier(%a, %b)",
            "  %first = f32[4] get-tuple-element(%kept), index=0",
            op("z", "tanh", "first", root=True),
        )
    )
    assert edges(graph_of(module)) == {("a", "z")}


def test_an_array_that_changes_its_place_in_a_loop_is_carried_from_where_it_is_made():
    """In the second turn `used` takes what the first turn put into the other place: a value from before the loop."""
    state = "(f32[4], f32[4])"
    before = (
        f"%body (s: {state}) -> {state} {{\n  %s = {state} parameter(0)\n"
        "  %v = f32[4] get-tuple-element(%s), index=0\n  %w = f32[4] get-tuple-element(%s), index=1\n"
        f"  %used = f32[4] sine(%v)\n  ROOT %t = {state} tuple(%w, %used)\n}}\n"
        f"%cond (c: {state}) -> pred[] {{\n  %c = {state} parameter(0)\n"
        "  %k = f32[4] get-tuple-element(%c), index=1\n"
        '  ROOT %go = pred[] custom-call(%k), custom_call_target="test"\n}\n'
    )
    entry = lines(
        op("a", "cosine", "q"),
        op("b", "tanh", "q"),
        f"  %start = {state} tuple(%a, %b)",
        f"  %loop = {state} while(%start), condition=%cond, body=%body",
        "  %out = f32[4] get-tuple-element(%loop), index=1",
        op("z", "negate", "out", root=True),
    )
    graph = graph_of(program(entry, before))
    assert edges(graph) == {("a", "used"), ("b", "used"), ("b", "go"), ("used", "z")}
    assert carried(graph) == {("used", "used"), ("used", "go")}


LOOP = """
%body (s: (s32[], f32[4], f32[4])) -> (s32[], f32[4], f32[4]) {
  %s = (s32[], f32[4], f32[4]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %v = f32[4] get-tuple-element(%s), index=1
  %w = f32[4] get-tuple-element(%s), index=2
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %inside = f32[4] multiply(%v, %w), metadata={op_name="jit(f)/while/body/closed_call/mlp/mul"}
  ROOT %t = (s32[], f32[4], f32[4]) tuple(%next, %inside, %w)
}

%condition (c: (s32[], f32[4], f32[4])) -> pred[] {
  %c = (s32[], f32[4], f32[4]) parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %n = s32[] constant(5)
  ROOT %go = pred[] compare(%k, %n), direction=LT
}
"""
LOOPED = lines(
    op("first", "negate", "q", at="jit(f)/embed/neg"),
    op("weight", "sine", "q", at="jit(f)/embed/sin"),
    "  %zero = s32[] constant(0)",
    "  %start = (s32[], f32[4], f32[4]) tuple(%zero, %first, %weight)",
    "  %w0 = (s32[], f32[4], f32[4]) while(%start), condition=%condition, body=%body, "
    'metadata={op_name="jit(f)/while"}',
    "  %out = f32[4] get-tuple-element(%w0), index=1",
    "  %kept = f32[4] get-tuple-element(%w0), index=2",
    op("last", "cosine", "out", at="jit(f)/logits/cos"),
    op("use", "tanh", "kept", at="jit(f)/logits/tanh"),
    op("z", "add", "last", "use", root=True, at="jit(f)/logits/add"),
)


def test_values_pass_into_through_and_out_of_loops():
    graph = graph_of(program(LOOPED, LOOP))
    # `weight` passes through unchanged; `inside` takes `first` in the first iteration, itself later.
    expected = {("first", "inside"), ("weight", "inside"), ("inside", "last"), ("weight", "use")}
    assert {edge for edge in edges(graph) if edge[1] != "z"} == expected
    assert ("inside", "inside") in carried(graph)
    assert ("next", "go") not in edges(graph)


def test_what_a_loop_runs_stands_at_its_place_and_knows_how_often_it_runs():
    graph = graph_of(program(LOOPED, LOOP))
    assert graph.kernels.names == ("first", "weight", "go", "next", "inside", "last", "use", "z")
    runs = dict(zip(graph.kernels.names, graph.kernels.runs.tolist(), strict=True))
    assert (runs["first"], runs["inside"], runs["go"]) == (1, 5, 6)
    assert [(loop.name, loop.parent, loop.trips) for loop in graph.loops] == [("w0", -1, 5)]
    assert graph.kernels.loop.tolist() == [-1, -1, 0, 0, 0, -1, -1, -1]


CALLED = "%twice (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n  ROOT %n = f32[4] negate(%p)\n}\n"


def test_a_computation_called_twice_takes_the_values_of_both_callers():
    module = program(
        lines(
            op("a", "sine", "q"),
            op("c1", "call", "a", more=", to_apply=%twice"),
            op("b", "cosine", "c1"),
            op("c2", "call", "b", more=", to_apply=%twice"),
            op("z", "tanh", "c2", root=True),
        ),
        CALLED,
    )
    graph = graph_of(module)
    assert graph.kernels.names == ("a", "n", "b", "z")
    assert edges(graph) == {("a", "n"), ("n", "b"), ("n", "z")}
    # `b` runs after `n`, which stands where it is called first.
    assert carried(graph) == {("b", "n")}
    assert dict(zip(graph.kernels.names, graph.kernels.runs.tolist(), strict=True))["n"] == 2


BRANCHES = """
%no (p0: f32[4]) -> f32[4] {
  %p0 = f32[4] parameter(0)
  ROOT %off = f32[4] negate(%p0), metadata={op_name="jit(f)/layer/cond/branch_0_fun/neg"}
}

%yes (p1: f32[4]) -> f32[4] {
  %p1 = f32[4] parameter(0)
  ROOT %on = f32[4] sine(%p1), metadata={op_name="jit(f)/layer/cond/branch_1_fun/sin"}
}
"""


def test_a_branch_takes_its_operand_and_what_chooses_it():
    module = program(
        lines(
            op("a", "cosine", "q", at="jit(f)/layer/cos"),
            '  %which = s32[] custom-call(%a), custom_call_target="pick", metadata={op_name="jit(f)/layer/pick"}',
            op("c", "conditional", "which", "a", "a", more=", branch_computations={%no, %yes}"),
            op("z", "tanh", "c", root=True, at="jit(f)/tail/tanh"),
        ),
        BRANCHES,
    )
    graph = graph_of(module)
    both = {(source, target) for source in ("a", "which") for target in ("off", "on")}
    assert edges(graph) == both | {("a", "which"), ("off", "z"), ("on", "z")}
    assert graph.reads.operand.tolist().count(-1) == 2


def test_loop_arrows_exist_in_a_compiled_scan():
    import jax
    import jax.numpy as jnp

    def function(ws, x):
        with jax.named_scope("embed"):
            x = jnp.sin(x)

        def body(x, w):
            with jax.named_scope("mlp"):
                return jnp.tanh(x @ w), None

        x, _ = jax.lax.scan(body, x, ws)
        with jax.named_scope("logits"):
            return jnp.cos(x) @ ws[0]

    graph = compiled(function, jnp.ones((3, 8, 8)), jnp.ones((4, 8)))
    dot = next(k for k, loop in enumerate(graph.kernels.loop.tolist()) if loop >= 0 and graph.kernels.matmuls[k])
    assert graph.kernels.runs[dot] == 3
    inside = {graph.kernels.names[k] for k in range(len(graph.kernels)) if graph.kernels.loop[k] >= 0}
    assert any(source in inside and target not in inside for source, target in edges(graph))
    assert any(source not in inside and target in inside for source, target in edges(graph))


@pytest.mark.parametrize("name", fixtures.ALL)
def test_edges_have_no_circles_and_every_kernel_runs(name: str):
    module, _, graph = fixture(name)
    kernels = find_kernels(module)
    assert (kernels.edges[:, 0] < kernels.edges[:, 1]).all()
    assert (graph.kernels.runs != 0).all()
    assert len(set(graph.kernels.instruction.tolist())) == len(graph.kernels)
