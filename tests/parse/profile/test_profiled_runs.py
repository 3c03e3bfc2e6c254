"""Events of JAX's profiler, made by hand, summed per program, run, device and instruction; scopes of a GPU; bounds."""

from __future__ import annotations

from typing import Any

import pytest

from pjit_inspect.errors import ParseError
from pjit_inspect.model.record.kernel_times import GraphNode, ProfiledRun
from pjit_inspect.parse.profile import runs
from pjit_inspect.parse.profile.runs import sum_events
from pjit_inspect.parse.profile.xplane import Event, Plane


def event(op: str | None, start: float, duration: float, **stats: Any) -> Event:
    named = {} if op is None else {"hlo_op": op, "hlo_module": "jit_f", "program_id": 4, "run_id": -9}
    return Event("", start, duration, named | stats)


def plane(name: str, *lines: list[Event]) -> Event:
    return Plane(name, [event for events in lines for event in events])


def test_events_are_summed_by_instruction_over_all_lines_of_a_run_on_a_device():
    host = plane(
        "/host:CPU",
        [event("dot", 100, 10, device_ordinal=0), event("add", 115, 5, device_ordinal=0), event(None, 0, 1_000)],
        [event("add", 130, 7, device_ordinal=0), event("dot", 90, 20, device_ordinal=1)],
    )
    first, second = sum_events([host], {})
    names = {"module": "jit_f", "program": 4, "run": -9}
    assert first == ProfiledRun(**names, device=0, began_ns=100, ended_ns=137, ops={"dot": (1, 10.0), "add": (2, 12.0)})
    assert second == ProfiledRun(**names, device=1, began_ns=90, ended_ns=110, ops={"dot": (1, 20.0)})


def test_runs_and_programs_are_kept_apart():
    events = [event("dot", 0, 1), event("dot", 2, 1, run_id=8), event("dot", 4, 1, program_id=5)]
    found = sum_events([plane("/host:CPU", events)], {})
    assert [(run.program, run.run) for run in found] == [(4, -9), (4, 8), (5, -9)]


def test_a_device_that_no_event_names_is_that_of_its_plane():
    (run,) = sum_events([plane("/device:GPU:3", [event("dot", 0, 1)])], {})
    assert run.device == 3


def test_numbers_that_are_not_there_stay_unknown():
    bare = Event("", 0, 1, {"hlo_op": "dot", "hlo_module": "jit_f"})
    (run,) = sum_events([plane("/host:CPU", [bare])], {})
    assert (run.program, run.run) == (None, None)


# On a GPU an event has no run: the outermost scope around it is the run.

PARENTS = {11: 10, 12: 10, 13: 10, 21: 20, 31: 30}


def kernel(op: str, scope: int, start: float, duration: float, name: str = "", **stats: Any) -> Event:
    named = {"hlo_op": op, "hlo_module": "jit_f", "program_id": 4, "scope_range_id": scope} | stats
    return Event(name, start, duration, named)


def test_the_outermost_scope_is_the_run_and_runs_are_counted_in_their_order():
    first = [kernel("dot", 21, 50, 10), kernel("dot", 11, 0, 10), kernel("add", 12, 20, 5)]
    runs = sum_events([plane("/device:GPU:0", first)], PARENTS)
    assert [(run.run, run.began_ns, run.ended_ns, run.ops) for run in runs] == [
        (1, 50, 60, {"dot": (1, 10.0)}),
        (0, 0, 25, {"dot": (1, 10.0), "add": (1, 5.0)}),
    ]


def test_an_instruction_ran_as_often_as_it_has_scopes_however_many_kernels_each_is():
    events = [kernel("sort", 11, 0, 10), kernel("sort", 11, 10, 30), kernel("sort", 12, 40, 2)]
    (run,) = sum_events([plane("/device:GPU:0", events[:1], events[1:])], PARENTS)
    assert run.ops == {"sort": (2, 42.0)}
    assert run.spans is not None
    assert [list(side) for side in run.spans["sort"]] == [[0, 10, 40], [10, 40, 42]]


def test_kernels_of_a_cuda_graph_are_nodes_of_their_buffer():
    graph = {"cuda_graph_id": 2, "cuda_graph_node_id": (2 << 32) + 7}
    (run,) = sum_events(
        [plane("/device:GPU:0", [kernel("command_buffer_1", 11, 0, 9, "loop_add_fusion_1", **graph)])], PARENTS
    )
    assert run.ops == {}
    assert run.nodes == {GraphNode(buffer="command_buffer_1", graph=2, number=7, kernel="loop_add_fusion_1"): (1, 9.0)}


def test_nodes_stand_in_the_order_in_which_they_ran_on_whatever_stream():
    def on(stream: int, start: float):
        graph = {"cuda_graph_id": stream, "cuda_graph_node_id": stream << 32}
        return kernel("command_buffer_1", 11, start, 1, f"stream_{stream}", **graph)

    (run,) = sum_events([plane("/device:GPU:0", [on(2, 50), on(2, 3)], [on(1, 5), on(1, 1)])], PARENTS)
    assert [node.kernel for node in run.nodes] == ["stream_1", "stream_2"]


def test_runs_of_several_devices_have_one_number_where_each_ran_equally_often():
    def numbers(*second: Event):
        planes = [
            plane("/device:GPU:0", [kernel("dot", 11, 0, 1), kernel("dot", 21, 9, 1)]),
            plane("/device:GPU:1", list(second)),
        ]
        return sorted((run.device, run.run) for run in sum_events(planes, PARENTS | {41: 40}))

    assert numbers(kernel("dot", 31, 1, 1), kernel("dot", 41, 8, 1)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    (run,) = {number for _, number in numbers(kernel("dot", 31, 1, 1))}
    assert run is None


def test_a_scope_that_nothing_is_known_of_is_no_run():
    (run,) = sum_events([plane("/device:GPU:0", [kernel("dot", 99, 0, 1)])], PARENTS)
    assert run.run is None


def test_a_node_of_a_graph_without_a_scope_is_counted_by_its_events():
    graph = {"cuda_graph_node_id": 1 << 32, "scope_range_id": None, "run_id": 10}
    events = [kernel("dot", 11, 0, 1, run_id=10), kernel("command_buffer_1", 11, 1, 2, "a", **graph)]
    (run,) = sum_events([plane("/device:GPU:0", events)], PARENTS)
    assert list(run.nodes.values()) == [(1, 2.0)]


def test_scopes_that_go_in_a_circle_end():
    (run,) = sum_events([plane("/device:GPU:0", [kernel("dot", 1, 0, 1)])], {1: 2, 2: 1})
    assert run.run == 0


def test_more_events_than_the_bound_are_refused(monkeypatch):
    monkeypatch.setattr(runs, "MAX_EVENTS", 2)
    events = [event("dot", 0, 1)] * 3
    with pytest.raises(ParseError, match="over 2 events: measure fewer calls"):
        sum_events([plane("/host:CPU", events)], {})
