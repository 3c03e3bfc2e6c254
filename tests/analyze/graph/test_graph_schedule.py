"""The strip shows when phases and layers run, and from where to where collectives are under way."""

from __future__ import annotations

import pytest
from data import hlo_fixtures as fixtures
from graph_cases import fixture, graph_of, lines, op, program

from pjit_inspect.model.report.graph_columns import PHASES

FWD, BWD = "jit(f)/jvp({})/x", "jit(f)/transpose(jvp({}))/x"
GROUPS = ", replica_groups={{0,1,2,3},{4,5,6,7}}, channel_id=7, use_global_device_ids=true, to_apply=%add"


def test_an_asynchronous_collective_lasts_from_its_start_to_its_end():
    graph = graph_of(
        program(
            lines(
                op("a", "sine", "q", at=FWD.format("a")),
                op("s", "all-reduce-start", "a", more=GROUPS, at=FWD.format("a")),
                op("b", "cosine", "q", at=FWD.format("b")),
                op("c", "tanh", "b", at=FWD.format("b")),
                op("d", "all-reduce-done", "s"),
                op("e", "add", "c", "d", at=FWD.format("c")),
                op("z", "multiply", "e", "d", at=FWD.format("c"), root=True),
            )
        )
    )
    assert graph.kernels.names == ("a", "s", "b", "c", "e", "z")
    [event] = graph.strip.events
    # `b` and `c`, kernels 2 and 3, run meanwhile; `e` takes the result first, `z` last.
    assert (event.start, event.end, event.first_use, event.last_use, event.is_async) == (1, 4, 4, 5, True)
    assert graph.strip.lanes == (("model",),)


def test_a_collective_that_is_not_asynchronous_ends_where_the_next_kernel_starts():
    graph = graph_of(
        program(lines(op("s", "all-reduce", "q", more=GROUPS, at="jit(f)/a/psum"), op("z", "sine", "s", root=True)))
    )
    [event] = graph.strip.events
    assert (event.start, event.end, event.first_use, event.is_async) == (0, 1, 1, False)


def test_kernels_of_one_layer_and_phase_are_one_run():
    graph = graph_of(
        program(
            lines(
                op("a", "sine", "q", at=FWD.format("a")),
                op("b", "cosine", "a", at=FWD.format("a")),
                op("c", "cosine", "b", at=FWD.format("b")),
                op("d", "cosine", "c", at=BWD.format("b")),
                op("z", "cosine", "d", at=BWD.format("a"), root=True),
            )
        )
    )
    runs = graph.strip.runs
    labels = [(graph.rows[row].label, PHASES[phase]) for row, phase in zip(runs.row, runs.phase, strict=True)]
    assert runs.start.tolist() == [0, 2, 3, 4]
    assert labels == [("a", "forward"), ("b", "forward"), ("b", "backward"), ("a", "backward")]


def test_all_weights_of_16_layers_are_gathered_before_the_first_matmul():
    """`GRAPH.md`, section 5: 97 gathers of weights at places 5 to 135, the first matmul at 189."""
    _, table, graph = fixture("train_step_16_layers.cpu_8")
    gathers = [
        event
        for event in graph.strip.events
        if table[event.collective].kind == "all-gather" and table[event.collective].axes == ("data",)
    ]
    assert len(gathers) == 97
    assert (min(event.start for event in gathers), max(event.start for event in gathers)) == (5, 135)
    assert graph.strip.first_matmul == 189
    assert max(event.last_use for event in gathers) > 1900


@pytest.mark.parametrize("name", fixtures.ALL)
def test_every_collective_that_runs_is_in_the_strip_once(name: str):
    _, table, graph = fixture(name)
    assert sorted(event.collective for event in graph.strip.events) == list(range(len(table)))
    for event in graph.strip.events:
        assert 0 <= event.start < event.end <= len(graph.kernels)
        assert graph.strip.lanes[event.lane] == table[event.collective].axes


@pytest.mark.parametrize("name", fixtures.ALL)
def test_an_event_covers_what_the_table_says_overlaps(name: str):
    """`Collective.overlaps` is counted by other code, in XLA's schedule."""
    _, table, graph = fixture(name)
    numbers, checked = {kernel: number for number, kernel in enumerate(graph.kernels.names)}, 0
    for event in graph.strip.events:
        row = table[event.collective]
        if row.is_async and row.overlap_count and row.decomposed is None and row.kind != "collective-permute":
            inside = [numbers[kernel] for kernel in row.overlaps if kernel in numbers]
            assert all(event.start < number < event.end for number in inside)
            checked += len(inside)
    # XLA's CPU backend runs nothing beside a collective; these fixtures have it.
    assert checked or name not in ("transformer_step.v5e_2x4", "transformer_step.h100_1x1x8")
