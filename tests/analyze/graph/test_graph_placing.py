"""Kernels without a name stand where what is around them says, and `how` tells by what."""

from __future__ import annotations

import pytest
from data import hlo_fixtures as fixtures
from graph_cases import box, fixture, graph_of, lines, op, path, program, rows, where

from pjit_inspect.analyze.program.phases import split_op_names
from pjit_inspect.model.report.graph_columns import HOWS, PHASES

FWD, BWD = "jit(f)/jvp({})/x", "jit(f)/transpose(jvp({}))/x"
REDUCE = ", replica_groups={{0,1,2,3},{4,5,6,7}}, channel_id=7, use_global_device_ids=true, to_apply=%add"


def test_its_own_name_counts_first():
    graph = graph_of(program(op("z", "negate", "q", at="jit(f)/a/neg", root=True)))
    assert where(graph, "z") == ("a", "forward", "own")


def test_a_fusion_without_a_name_stands_where_its_matmul_does():
    body = (
        "%fused (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n"
        "  %d = f32[] dot(%p, %p), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
        'metadata={op_name="jit(f)/b/dot"}\n'
        '  %e = f32[4] broadcast(%d), dimensions={}, metadata={op_name="jit(f)/a/y"}\n'
        '  %g = f32[4] add(%e, %p), metadata={op_name="jit(f)/a/add"}\n'
        '  ROOT %h = f32[4] multiply(%g, %p), metadata={op_name="jit(f)/a/mul"}\n}\n'
    )
    graph = graph_of(
        program(lines(op("m", "fusion", "q", more=", kind=kLoop, calls=%fused"), op("z", "copy", "m", root=True)), body)
    )
    assert where(graph, "m") == ("b", "forward", "body")
    # It mixes two scopes: two instructions of `a` (a broadcast is no work) in a kernel of `b`.
    mixes = graph.mixes
    assert [(path(graph, int(row)), int(n)) for row, n in zip(mixes.row, mixes.instructions, strict=True)] == [("", 2)]
    assert graph.kernels.mixed.tolist() == [True]


def test_the_scopes_a_kernel_mixes_are_told_with_their_rows():
    body = (
        "%fused (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n"
        '  %g = f32[4] add(%p, %p), metadata={op_name="jit(f)/jvp(a)/add"}\n'
        '  ROOT %h = f32[4] multiply(%g, %p), metadata={op_name="jit(f)/transpose(jvp(b))/mul"}\n}\n'
    )
    graph = graph_of(
        program(
            lines(
                op("first", "sine", "q", at=FWD.format("a")),
                op("m", "fusion", "first", at=BWD.format("b"), more=", kind=kLoop, calls=%fused"),
                op("z", "copy", "m", root=True),
            ),
            body,
        )
    )
    assert where(graph, "m") == ("b", "backward", "own")
    [(kernel, row, phase, count)] = list(
        zip(graph.mixes.kernel, graph.mixes.row, graph.mixes.phase, graph.mixes.instructions, strict=True)
    )
    assert (graph.kernels.names[kernel], path(graph, row), PHASES[phase], count) == ("m", "a", "forward", 1)


def test_a_sum_without_a_name_stands_where_it_sums_and_others_where_they_are_needed():
    graph = graph_of(
        program(
            lines(
                op("made", "sine", "q", at=FWD.format("a")),
                op("sum", "all-reduce", "made", more=REDUCE),
                op("moved", "cosine", "made"),
                op("used", "add", "sum", "moved", at=FWD.format("b"), root=True),
            )
        )
    )
    assert where(graph, "sum") == ("a", "forward", "producer")
    assert where(graph, "moved") == ("b", "forward", "user")


def test_what_nothing_named_takes_stands_with_its_last_operand():
    graph = graph_of(
        program(
            lines(
                op("a", "sine", "q", at=FWD.format("a")),
                op("b", "cosine", "a", at=FWD.format("b")),
                op("z", "add", "a", "b", root=True),
            )
        )
    )
    assert where(graph, "z") == ("b", "forward", "operand")


def test_after_the_backward_pass_comes_the_update_and_before_it_the_forward_pass():
    graph = graph_of(
        program(
            lines(
                op("early", "sine", "q", at="jit(f)/mul"),
                op("fwd", "cosine", "early", at=FWD.format("a")),
                op("bwd", "tanh", "fwd", at=BWD.format("a")),
                op("late", "add", "bwd", "q", at="jit(f)/sub", root=True),
            )
        )
    )
    assert [PHASES[graph.boxes[b].phase] for b in graph.kernels.box.tolist()] == [
        "forward",
        "forward",
        "backward",
        "update",
    ]
    assert graph.is_differentiated


def test_a_program_that_nobody_differentiated_has_one_phase():
    graph = graph_of(
        program(lines(op("a", "sine", "q", at=FWD.format("a")), op("z", "cosine", "a", at="jit(f)/adam/x", root=True)))
    )
    assert not graph.is_differentiated
    assert graph.phases == (0,)


LAYER = "f32[4] parameter({}), metadata={{op_name=\"s['{}']['layers'][{}]['w']\"}}"


def updates() -> str:
    parameters = [
        f"  %{kind}{k} = " + LAYER.format(1 + 2 * n + k, name, k)
        for n, (kind, name) in enumerate((("p", "params"), ("m", "mu")))
        for k in range(2)
    ]
    body = []
    for k in range(2):
        body += [
            op(f"f{k}", "multiply", "q" if k == 0 else "f0", f"p{k}", at=FWD.format(f"layer{k}")),
        ]
    for k in (1, 0):
        body += [op(f"g{k}", "multiply", "f1" if k else "g1", f"p{k}", at=BWD.format(f"layer{k}"))]
    body += ["  %all = (f32[4], f32[4]) all-reduce(%g0, %g1)" + REDUCE]
    for k in range(2):
        body += [f"  %e{k} = f32[4] get-tuple-element(%all), index={k}"]
        body += [op(f"mu{k}", "add", f"m{k}", f"e{k}", at="jit(f)/optimizer/add")]
        body += [op(f"new{k}", "subtract", f"p{k}", f"mu{k}", at="jit(f)/optimizer/sub")]
    return lines(*parameters, *body, op("z", "add", "new0", "new1", root=True, at="jit(f)/optimizer/add"))


def test_an_update_stands_at_the_layer_whose_array_it_changes():
    graph = graph_of(program(updates()))
    for k in range(2):
        assert where(graph, f"mu{k}") == (f"layer{k}", "update", "array")
        assert where(graph, f"new{k}") == (f"layer{k}", "update", "array")
    # It takes arrays of both layers: nothing but its own scope is left.
    assert where(graph, "z")[:2] == ("optimizer", "update")


def test_a_combined_sum_stands_where_most_bytes_are_made_and_is_mentioned_elsewhere():
    graph = graph_of(program(updates()))
    home, phase, how = where(graph, "all")
    assert (home, phase, how) == ("layer0", "backward", "combined")
    assert len(box(graph, "layer0", "backward").collectives) == 1
    [mention] = box(graph, "layer1", "backward").mentions
    assert (mention.collective, mention.operands, mention.payload_bytes) == (0, 1, 16)


def test_what_xla_moved_out_of_a_loop_does_not_stand_in_it():
    graph = graph_of(program(op("z", "sine", "q", at="jit(f)/while/body/closed_call/attn/sin", root=True)))
    assert where(graph, "z") == ("attn", "forward", "loop")


@pytest.mark.parametrize(("name", "share"), [
    ("transformer_step.cpu_8", 0.53),
    ("transformer_step.h100_1x1x8", 0.88),
    ("train_step_16_layers.cpu_8", 0.90),
])  # fmt: skip
def test_as_many_kernels_have_a_name_as_counted(name: str, share: float):
    """`GRAPH.md`, section 2: the share of kernels with a usable name of their own."""
    module, _, graph = fixture(name)
    columns = module.instructions.op_name[graph.kernels.instruction]
    names = [split_op_names(module.op_names[row]) for row in columns.tolist()]
    named = sum(len(each) == 1 and "/" in each[0] for each in names)
    assert round(named / len(graph.kernels), 2) == pytest.approx(share, abs=0.011)


def test_a_thousand_updates_spread_over_their_layers():
    """`GRAPH.md`, rule 6: 1,157 kernels in one box without it; with it 70 in each layer, 20 shared."""
    _, _, graph = fixture("train_step_16_layers.cpu_8")
    counts = {path(graph, b.row): b.kernels for b in graph.boxes if PHASES[b.phase] == "update"}
    assert [counts[f"layer{k}"] for k in range(1, 15)] == [70] * 14
    assert counts["shared"] <= 20


def test_unnamed_gradient_sums_of_a_tpu_are_backward_where_they_belong():
    """`GRAPH.md`, rule 5: 8 reduce-scatters: attention 4, mlp 2, logits 1, embedding 1."""
    _, table, graph = fixture("train_step.tpu7x")
    places = [
        (path(graph, graph.boxes[b].row), PHASES[graph.boxes[b].phase])
        for row, b in zip(table.rows, graph.collective_boxes, strict=True)
        if row.kind == "reduce-scatter"
    ]
    assert sorted(places) == [
        ("inputs", "backward"),
        *[("layer0/attn", "backward")] * 4,
        *[("layer0/mlp", "backward")] * 2,
        ("logits", "backward"),
    ]


@pytest.mark.parametrize("name", fixtures.ALL)
def test_every_kernel_says_by_what_it_stands_where_it_does(name: str):
    _, _, graph = fixture(name)
    assert set(graph.kernels.how.tolist()) <= set(range(len(HOWS)))
    inferred = sum(HOWS[how] != "own" for how in graph.kernels.how.tolist())
    assert sum(b.inferred for b in graph.boxes) == inferred


def layered(count: int) -> str:
    """A program without scopes whose layers read `ps[0]`, `ps[1]`, ..."""
    parameters = [f"  %p{k} = f32[4] parameter({k + 1}), metadata={{op_name=\"ps[{k}]['w']\"}}" for k in range(count)]
    body = []
    for k in range(count):
        before = "q" if k == 0 else f"t{k - 1}"
        body += [op(f"d{k}", "multiply", before, f"p{k}", at="jit(f)/jvp()/mul", more="")]
        body += [op(f"t{k}", "tanh", f"d{k}", at="jit(f)/jvp()/tanh")]
    for k in reversed(range(count)):
        before = f"t{count - 1}" if k == count - 1 else f"b{k + 1}"
        body += [op(f"b{k}", "multiply", before, f"p{k}", at="jit(f)/transpose(jvp())/mul")]
    return lines(*parameters, *body, op("z", "copy", "b0", root=True)).replace("f32[4]", "f32[40]")


def test_without_scopes_layers_are_told_by_the_arguments_they_read():
    module = program(layered(3))
    graph = graph_of(module)
    assert not graph.has_scopes
    assert rows(graph)[:3] == ["ps[0]", "ps[1]", "ps[2]"]
    for k in range(3):
        assert where(graph, f"d{k}") == (f"ps[{k}]", "forward", "argument")
        assert where(graph, f"t{k}") == (f"ps[{k}]", "forward", "argument")
        assert where(graph, f"b{k}") == (f"ps[{k}]", "backward", "argument")
