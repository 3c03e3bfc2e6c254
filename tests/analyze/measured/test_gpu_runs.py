"""Times of one run on a GPU: what runs at once counts once, and what may have run more has no time.

Not its job: whose a node is (`test_command_buffers`).
"""

from __future__ import annotations

import numpy as np

from pjit_inspect.analyze.measured.gpu_runs import GpuRun, gpu_run
from pjit_inspect.analyze.measured.launches import KernelFunction, Launch, Launches
from pjit_inspect.model.record.kernel_times import GraphNode, ProfiledRun

LAUNCHES = Launches(
    functions={name: KernelFunction(instructions={0: (name,)}, own=frozenset({name})) for name in ("a", "b", "sort")},
    commands={
        0: (Launch(instruction="a"), Launch(instruction="b"), Launch(instruction="copy", moves=True)),
        1: (Launch(instruction="sort", copies_first=True),),
    },
)
ONCE = {"a": (1, 1), "b": (1, 1), "sort": (1, 1), "copy": (1, 1), "loop": (1, 1)}


def node(number: int, kernel: str, *, graph: int = 1) -> GraphNode:
    return GraphNode(buffer=f"command_buffer_{graph}", graph=graph, number=number, kernel=kernel)


def read(
    *events: tuple[str | GraphNode, float, float],
    scopes: int = 1,
    contents: dict[str, frozenset[str] | None] | None = None,
    counts: dict[str, tuple[int, int]] = ONCE,
    beside: dict[str, frozenset[str]] | None = None,
) -> GpuRun:
    """One run of events, each with begin and end; all of one name are of `scopes` runs."""
    names = list(dict.fromkeys(name for name, _, _ in events))
    of = {name: [(began, ended) for one, began, ended in events if one == name] for name in names}
    sums = {name: (scopes, sum(ended - began for began, ended in found)) for name, found in of.items()}
    run = ProfiledRun(
        module="jit_f",
        program=1,
        run=0,
        device=0,
        began_ns=min(began for _, began, _ in events),
        ended_ns=max(ended for _, _, ended in events),
        ops={name: sums[name] for name in names if isinstance(name, str)},
        nodes={name: sums[name] for name in names if isinstance(name, GraphNode)},
        spans={name: (np.array([a for a, _ in found]), np.array([b for _, b in found])) for name, found in of.items()},
    )
    opcodes = dict.fromkeys(("a", "b", "copy", "sort"), "fusion") | {"loop": "while"}
    return gpu_run(run, opcodes, LAUNCHES, contents or {}, counts, beside or {})


def test_kernels_of_one_run_that_run_at_once_count_once():
    assert read(("a", 0, 10), ("a", 5, 12)).run.ops == {"a": (1, 12.0)}
    # As do events that are told twice; other runs of it are other times.
    assert read(("a", 0, 10), ("a", 0, 10)).run.ops == {"a": (1, 10.0)}
    assert read(("a", 0, 10), ("a", 5, 12), scopes=2).run.ops == {"a": (2, 17.0)}


def test_a_loop_takes_what_its_kernels_take_together():
    found = read((node(0, "a"), 0, 10), (node(1, "b"), 8, 20), contents={"loop": frozenset({"a", "b"})})
    assert found.run.ops == {"a": (1, 10.0), "b": (1, 12.0), "loop": (1, 20.0)}
    assert (found.busy_ns, found.unknown) == (20.0, {})


def test_a_loop_around_another_takes_as_long_as_that_if_nobody_knows_how_often_it_ran():
    contents = {"inner": frozenset({"b"}), "loop": frozenset({"a", "inner"})}
    counts = {"loop": (1, 1)}
    found = read((node(0, "a"), 0, 10), (node(1, "b"), 10, 30), contents=contents, counts=counts)
    assert found.run.ops == {"a": (1, 10.0), "b": (1, 20.0), "loop": (1, 30.0)}
    # It ran as often as what stands beside it, where that is one number.
    found = read(
        ("a", 0, 10), ("b", 10, 30), scopes=3, contents=contents, counts=counts, beside={"inner": frozenset("a")}
    )
    assert found.run.ops["inner"] == (3, 20.0)
    assert found.run.ops["loop"] == (1, 30.0)


def test_what_runs_more_or_less_often_has_no_time_where_a_kernel_without_owner_may_be_its():
    lost = node(3, "MemcpyD2D", graph=2)
    # What runs exactly once is seen to have run; "copy" may run or not.
    assert not read((node(0, "a"), 0, 10), (lost, 10, 12)).unknown
    found = read((node(0, "a"), 0, 10), (lost, 10, 12), counts=ONCE | {"copy": (0, 1)})
    assert found.unknown == {"copy": "kernels of `command_buffer_2`, whose instruction is unknown, may be its"}
    # A function tells whose it is not.
    found = read((node(0, "b"), 0, 10), (node(1, "b"), 10, 12), counts=ONCE | {"copy": (0, 1), "b": (0, 5)})
    assert found.unknown.keys() == {"b"}


def test_a_sort_has_no_time_where_a_copy_without_owner_may_be_its():
    found = read((node(1, "sort"), 0, 10), (node(0, "MemcpyD2D", graph=2), 10, 12))
    assert found.unknown.keys() == {"sort"}
    # A clearing is no copy.
    assert not read((node(1, "sort"), 0, 10), (node(0, "Memset 0", graph=2), 10, 12)).unknown
    # Not one by itself, whose events all name it.
    assert not read(("sort", 0, 10), (node(0, "MemcpyD2D", graph=2), 10, 12)).unknown


def test_a_loop_has_no_time_where_a_graph_has_no_place():
    found = read((node(0, "a"), 0, 10), (node(0, "nvjet", graph=2), 8, 20), contents={"loop": frozenset({"a"})})
    assert found.unknown == {
        "loop": "kernels of `command_buffer_2`, whose place in the program is unknown, may be its",
    }
