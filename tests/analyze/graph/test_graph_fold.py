"""Equal layers are folded; what is shown, times the folds, and what is said, are all collectives of the program."""

from __future__ import annotations

from collections import Counter

import pytest
from data import hlo_fixtures as fixtures
from graph_cases import fixture, graph_of, lines, op, path, program

from pjit_inspect.analyze.graph.fold import count_shown
from pjit_inspect.model.report.graph import ProgramGraph

DATA = ", replica_groups={{{{0,4}},{{1,5}},{{2,6}},{{3,7}}}}, channel_id={}, use_global_device_ids=true, to_apply=%add"
MODEL = ", replica_groups={{{{0,1,2,3}},{{4,5,6,7}}}}, channel_id={}, use_global_device_ids=true, to_apply=%add"


def layers(*extra: tuple[str, str], count: int = 4) -> ProgramGraph:
    """Layers of two sums over `model` each; `extra` are (layer, groups) of further sums."""
    body, before, channel = [], "q", 2
    for k in range(count):
        body.append(op(f"s{k}", "sine", before, at=f"jit(f)/layer{k}/attn/sin"))
        body.append(op(f"m{k}", "all-reduce", f"s{k}", at=f"jit(f)/layer{k}/attn/dot", more=MODEL.format(channel)))
        body.append(op(f"n{k}", "all-reduce", f"m{k}", at=f"jit(f)/layer{k}/mlp/dot", more=MODEL.format(channel + 1)))
        channel += 2
        before = f"n{k}"
        for layer, groups in extra:
            if layer == str(k):
                body.append(op(f"x{k}", "all-reduce", before, at=f"jit(f)/layer{k}/mlp/y", more=groups.format(channel)))
                before, channel = f"x{k}", channel + 1
        body.append(op(f"t{k}", "tanh", before, at=f"jit(f)/layer{k}/mlp/tanh"))
        before = f"t{k}"
    return graph_of(program(lines(*body, op("z", "copy", before, root=True))))


@pytest.mark.parametrize("name", fixtures.ALL)
def test_what_is_shown_times_the_folds_and_what_is_said_are_all_collectives(name: str):
    _, table, graph = fixture(name)
    assert count_shown(graph) == len(table)


@pytest.mark.parametrize("name", fixtures.ALL)
def test_the_same_holds_for_bytes(name: str):
    _, table, graph = fixture(name)
    times = [1] * len(graph.rows)
    for number, row in enumerate(graph.rows):
        around = times[row.parent] if row.parent >= 0 else 1
        times[number] = around * (len(graph.folds[row.fold].members) if row.fold >= 0 else 1)
    shown = sum(
        times[box.row] * each.payload_bytes
        for box in graph.boxes
        if graph.rows[box.row].shown_as == box.row
        for each in box.collectives
    )
    said = sum(deviation.payload_bytes * deviation.times for deviation in graph.deviations)
    assert shown + said == sum(row.payload_bytes for row in table)


@pytest.mark.parametrize("name", fixtures.ALL)
def test_every_collective_has_exactly_one_home(name: str):
    _, table, graph = fixture(name)
    held = Counter(number for box in graph.boxes for each in box.collectives for number in each.collectives)
    assert held == Counter(range(len(table)))
    assert len(graph.collective_boxes) == len(graph.collective_kernels) == len(table)
    for box, kernel in zip(graph.collective_boxes, graph.collective_kernels, strict=True):
        assert graph.kernels.box[kernel] == box


def test_equal_layers_fold_into_one():
    graph = layers()
    [fold] = graph.folds
    assert [graph.rows[row].name for row in fold.members] == ["layer0", "layer1", "layer2", "layer3"]
    assert (fold.label, fold.likeness, fold.essential_likeness) == ("layer0 … layer3", (1.0,) * 4, (1.0,) * 4)
    assert graph.deviations == ()
    assert count_shown(graph) == 8


def test_a_layer_with_one_collective_more_folds_and_the_difference_is_said():
    graph = layers(("2", DATA))
    [fold] = graph.folds
    [deviation] = graph.deviations
    assert graph.rows[fold.members[deviation.member]].name == "layer2"
    assert path(graph, graph.boxes[deviation.box].row) == f"{graph.rows[fold.shown].name}/mlp"
    assert (deviation.kind, deviation.axes, deviation.count, deviation.payload_bytes) == (
        "all-reduce",
        ("data",),
        1,
        16,
    )
    # Two of three collectives are those of the shown layer.
    assert fold.essential_likeness == (1.0, 1.0, 2 / 3, 1.0)
    assert count_shown(graph) == 9


def test_a_layer_over_another_axis_is_said_to_have_one_more_and_one_less():
    graph = layers(("0", DATA), ("1", DATA), ("2", MODEL), ("3", DATA))
    # layer2: 2 over `model` in common, 1 of 4 different collectives only there: 2 / 4 is not alike enough to fold.
    assert [fold.label for fold in graph.folds] == ["layer0 … layer1"]
    assert count_shown(graph) == 12


def test_layers_that_own_arrays_of_other_shapes_do_not_fold():
    """As two Dense layers of the same FLOPs but other shapes: `GRAPH.md`, section 4."""
    text = []
    for k, shape in enumerate(("f32[4,1]", "f32[4,1]", "f32[2,2]", "f32[2,2]")):
        text.append(f"  %w{k} = {shape} parameter({k + 1})")
    before = "q"
    for k in range(4):
        at = f'metadata={{op_name="jit(f)/Dense_{k}/x"}}'
        text.append(f'  %r{k} = f32[4] custom-call(%w{k}, %{before}), custom_call_target="k", {at}')
        before = f"r{k}"
    graph = graph_of(program(lines(*text, op("z", "copy", before, root=True))))
    assert [fold.label for fold in graph.folds] == ["Dense_0 … Dense_1", "Dense_2 … Dense_3"]


def test_folds_stand_in_folds_and_what_inner_members_differ_by_counts_for_all_outer_ones():
    body, before, channel = [], "q", 2
    for k in range(3):
        for j in range(2):
            at = f"jit(f)/block{k}/Dense_{j}"
            body.append(op(f"a{k}{j}", "all-reduce", before, at=f"{at}/x", more=MODEL.format(channel)))
            before, channel = f"a{k}{j}", channel + 1
            body.append(op(f"b{k}{j}", "all-reduce", before, at=f"{at}/y", more=DATA.format(channel)))
            before, channel = f"b{k}{j}", channel + 1
        at = f"jit(f)/block{k}/Dense_1"
        body.append(op(f"c{k}", "all-reduce", before, at=f"{at}/z", more=DATA.format(channel)))
        before, channel = f"c{k}", channel + 1
    graph = graph_of(program(lines(*body, op("z", "copy", before, root=True))))
    assert [fold.label for fold in graph.folds] == ["block0 … block2", *["Dense_0 … Dense_1"] * 3]
    [deviation] = graph.deviations
    assert (deviation.count, deviation.times) in ((1, 3), (-1, 3))
    assert count_shown(graph) == 15


@pytest.mark.parametrize(("name", "essential"), [
    ("train_step_16_layers.cpu_8", (0.97, *[1.0] * 14, 0.92)),
    ("transformer_step.cpu_8", (1.0, 1.0, 1.0, 1.0)),
])  # fmt: skip
def test_layers_are_as_alike_as_counted_by_other_code(name: str, essential: tuple[float, ...]):
    """`GRAPH.md`, section 4: likeness in matmuls and collectives."""
    _, _, graph = fixture(name)
    [fold] = graph.folds
    assert tuple(round(likeness, 2) for likeness in fold.essential_likeness) == essential
    assert 1 <= fold.members.index(fold.shown) <= len(fold.members) - 1


@pytest.mark.parametrize("name", ["transformer_step.h100_1x1x8", "transformer_step.v5e_2x4"])
def test_layers_that_a_backend_fused_each_its_own_way_fold_too(name: str):
    _, _, graph = fixture(name)
    [fold] = graph.folds
    assert len(fold.members) == 4
    assert min(fold.likeness) < 0.9 <= round(min(fold.essential_likeness), 2)


def test_each_row_of_a_fold_knows_the_row_that_stands_for_it():
    _, _, graph = fixture("train_step_16_layers.cpu_8")
    [fold] = graph.folds
    shown = {row: [graph.rows[child].label for child in graph.rows[row].children] for row in fold.members}
    for member in fold.members:
        names = [graph.rows[graph.rows[child].shown_as].label for child in graph.rows[member].children]
        assert names == shown[member]
        assert {graph.rows[graph.rows[child].shown_as].parent for child in graph.rows[member].children} == {fold.shown}


def test_equal_input_gives_equal_output():
    module, table, _ = fixture("transformer_step.cpu_8")
    from pjit_inspect.analyze.graph.build import find_graph

    first, second = find_graph(module, table), find_graph(module, table)
    assert (first.rows, first.boxes, first.folds, first.deviations) == (
        second.rows,
        second.boxes,
        second.folds,
        second.deviations,
    )
    assert first.strip.events == second.strip.events
    assert first.kernels.box.tolist() == second.kernels.box.tolist()
