"""Boxes hold what their kernels hold, and arrows are the values between them."""

from __future__ import annotations

import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from graph_cases import arrows, box, fixture, graph_of, lines, op, path, program
from shown_arrows import shown_arrows

from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES

FWD, BWD = "jit(f)/jvp({})/x", "jit(f)/transpose(jvp({}))/x"

# `GRAPH.md`, section 3: GFLOP forward and backward, counted by other code from the same shapes.
FLOPS = {"attn": (343.6, 687.2), "mlp": (549.8, 1099.5), "logits": (2147.5, 4295.0)}


@pytest.mark.parametrize("name", ["transformer_step.v5e_2x4", "transformer_step.h100_1x1x8"])
def test_flops_are_the_same_on_a_tpu_and_a_gpu_and_twice_as_many_backward(name: str):
    _, _, graph = fixture(name)
    for number, row in enumerate(graph.rows):
        if row.name in FLOPS:
            forward, backward = (box(graph, path(graph, number), phase).flops for phase in ("forward", "backward"))
            assert None not in (forward, backward)
            assert (round(forward / 1e9, 1), round(backward / 1e9, 1)) == FLOPS[row.name]
            assert backward == 2 * forward


def test_arrows_have_the_bytes_of_distinct_values():
    graph = graph_of(
        program(
            lines(
                op("a", "sine", "q", at=FWD.format("a")),
                op("b", "cosine", "a", at=FWD.format("b")),
                op("b2", "tanh", "a", at=FWD.format("b")),
                op("c", "add", "b", "b2", at=FWD.format("c")),
                op("d", "add", "c", "a", at=BWD.format("c")),
                op("z", "multiply", "d", "b", at=BWD.format("b"), root=True),
            )
        )
    )
    assert arrows(graph) == {
        # `a` goes to two kernels of b: one value.
        ("a forward", "b forward"): 16,
        ("b forward", "c forward"): 32,
        ("c forward", "c backward"): 16,
        ("a forward", "c backward"): 16,
        ("c backward", "b backward"): 16,
        ("b forward", "b backward"): 16,
    }
    relations = {
        (path(graph, graph.boxes[arrow.source].row), path(graph, graph.boxes[arrow.target].row), arrow.relation)
        for arrow in shown_arrows(graph)
    }
    assert relations == {
        ("a", "b", "flow"),
        ("b", "c", "flow"),
        ("c", "c", "saved"),
        ("a", "c", "across"),
        ("c", "b", "flow"),
        ("b", "b", "saved"),
    }


def layered(count: int) -> ProgramGraph:
    """A mask for every layer, and a stream from layer to layer."""
    body = [op("mask", "sine", "q", at=FWD.format("mask")), op("in", "cosine", "q", at=FWD.format("embed"))]
    before = "in"
    for k in range(count):
        body.append(op(f"a{k}", "add", before, "mask", at=f"jit(f)/jvp(layer{k})/attn/add"))
        body.append(op(f"m{k}", "tanh", f"a{k}", at=f"jit(f)/jvp(layer{k})/mlp/tanh"))
        before = f"m{k}"
    body.append(op("z", "exponential", before, at=FWD.format("logits"), root=True))
    return graph_of(program(lines(*body)))


def test_an_arrow_into_a_fold_has_the_bytes_of_the_shown_member_and_of_all():
    graph = layered(5)
    [fold] = graph.folds
    layer = graph.rows[fold.shown].name
    found = {
        (path(graph, graph.boxes[a.source].row), path(graph, graph.boxes[a.target].row)): a for a in shown_arrows(graph)
    }
    # Each of the 5 layers takes the mask.
    mask = found["mask", f"{layer}/attn"]
    assert (mask.bytes, mask.total_bytes, mask.members, mask.times) == (16, 80, 5, 5)
    inside = found[f"{layer}/attn", f"{layer}/mlp"]
    assert (inside.bytes, inside.total_bytes, inside.members, inside.times) == (16, 80, 5, 5)
    assert (inside.relation, inside.is_drawn) == ("flow", True)
    # 4 steps from one layer to the next.
    step = found[f"{layer}/mlp", f"{layer}/attn"]
    assert (step.relation, step.bytes, step.total_bytes, step.members, step.times) == ("next", 16, 64, 4, 4)
    # Only the first layer takes the embedding, only the last is taken from.
    first, last = found["embed", f"{layer}/attn"], found[f"{layer}/mlp", "logits"]
    assert (first.total_bytes, first.members, first.times) == (16, 1, 5)
    assert (last.total_bytes, last.members, last.times) == (16, 1, 5)
    assert {first.bytes, last.bytes} in ({0}, {0, 16})


@pytest.mark.parametrize("name", fixtures.ALL)
def test_folded_arrows_lose_no_byte(name: str):
    _, _, graph = fixture(name)
    shown = sum(arrow.total_bytes for arrow in shown_arrows(graph))
    box_of = [graph.rows[box.row].shown_as for box in graph.boxes]
    same = [
        box_of[source] == box_of[target] and graph.boxes[source].phase == graph.boxes[target].phase
        for source, target in zip(graph.arrows.source.tolist(), graph.arrows.target.tolist(), strict=True)
    ]
    # What members exchange within one shown box is an arrow from that box to itself.
    loops = sum(a.total_bytes for a in shown_arrows(graph) if a.source == a.target)
    assert shown == int(graph.arrows.bytes.sum()) - (int(graph.arrows.bytes[np.array(same, bool)].sum()) - loops)


@pytest.mark.parametrize("name", fixtures.ALL)
def test_arrows_are_the_reads_between_boxes(name: str):
    """Counted again, one read at a time."""
    _, _, graph = fixture(name)
    sizes: dict[tuple[int, int], dict[tuple[int, int], int]] = {}
    columns = (graph.reads.source, graph.reads.target, graph.reads.element, graph.reads.bytes)
    of = graph.kernels.box.tolist()
    for source, target, element, size in zip(*(column.tolist() for column in columns), strict=True):
        if source >= 0 and of[source] != of[target]:
            values = sizes.setdefault((of[source], of[target]), {})
            values[source, element] = max(size, values.get((source, element), 0))
    pairs = zip(graph.arrows.source.tolist(), graph.arrows.target.tolist(), strict=True)
    assert dict(zip(pairs, graph.arrows.bytes.tolist(), strict=True)) == {
        pair: sum(values.values()) for pair, values in sizes.items()
    }


@pytest.mark.parametrize("name", fixtures.ALL)
def test_every_box_leads_to_its_kernels(name: str):
    _, _, graph = fixture(name)
    found: list[int] = []
    for number, each in enumerate(graph.boxes):
        kernels = graph.kernels_of(number).tolist()
        assert len(kernels) == each.kernels
        assert kernels == sorted(kernels)
        edges = graph.edges_of(number)
        assert set(edges.reshape(-1).tolist()) <= set(kernels)
        assert (edges[:, 0] < edges[:, 1]).all()
        found += kernels
    assert sorted(found) == list(range(len(graph.kernels)))


def test_a_box_of_unconnected_kernels_is_a_list():
    body = [op(f"k{n}", "sine", "q", at="jit(f)/a/sin") for n in range(10)]
    chained = [op(f"c{n}", "cosine", f"c{n - 1}" if n else "q", at="jit(f)/b/cos") for n in range(10)]
    graph = graph_of(program(lines(*body, *chained, op("z", "copy", "c9", root=True))))
    assert box(graph, "a", "forward").is_list
    assert not box(graph, "b", "forward").is_list


def test_one_gather_of_a_gpu_for_all_layers_is_mentioned_in_each():
    """`GRAPH.md`, rule 7: without it, layers 1 to 3 show no gather of weights at all."""
    _, table, graph = fixture("transformer_step.h100_1x1x8")
    for layer in range(4):
        for part in ("attn", "mlp"):
            mentions = box(graph, f"layer{layer}/{part}", "forward").mentions
            assert [table[mention.collective].kind for mention in mentions] == ["all-gather"]
            assert table[mentions[0].collective].operands > 1


@pytest.mark.parametrize("name", fixtures.ALL)
def test_a_combined_collective_is_mentioned_in_no_box_twice_and_not_at_home(name: str):
    _, table, graph = fixture(name)
    for number, each in enumerate(graph.boxes):
        mentioned = [mention.collective for mention in each.mentions]
        assert len(mentioned) == len(set(mentioned))
        for mention in each.mentions:
            assert graph.collective_boxes[mention.collective] != number
            assert 0 < mention.operands < table[mention.collective].operands


def test_counts_in_a_loop_are_of_one_iteration_and_say_how_many_there_are():
    _, table, graph = fixture("permute_ring.h100_1x1x8")
    [each] = graph.boxes
    assert (each.iterations, table[0].count) == (5, 5)
    [held] = each.collectives
    assert (len(held.collectives), held.runs) == (1, 5)
    assert held.payload_bytes == table[0].payload_bytes


@pytest.mark.parametrize(("name", "boxes", "mixed"), [
    ("transformer_step.cpu_8", 13, 52),
    ("transformer_step.v5e_2x4", 13, 86),
    ("train_step_16_layers.cpu_8", 16, 572),
    ("train_step.tpu7x", 13, 20),
])  # fmt: skip
def test_there_are_as_many_boxes_and_mixed_kernels_as_counted_by_other_code(name: str, boxes: int, mixed: int):
    """`GRAPH.md`, sections 2 and 8. It counts a scope as another than the one around it; here that is none."""
    _, _, graph = fixture(name)
    assert sum(graph.rows[each.row].shown_as == each.row for each in graph.boxes) == boxes
    assert 0.95 * mixed <= graph.kernels.mixed.sum() <= mixed


@pytest.mark.parametrize("name", fixtures.ALL)
def test_phases_are_those_of_the_boxes(name: str):
    _, _, graph = fixture(name)
    assert set(graph.phases) == {each.phase for each in graph.boxes}
    assert graph.is_differentiated == ("backward" in {PHASES[phase] for phase in graph.phases})
