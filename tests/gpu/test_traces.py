"""Profiles of a real GPU, read again: whose each kernel is, as XLA itself says, and that all of the time has an owner.

They are in `tests/data/gpu`, from `tests/gpu/test_measured.py`, whose README says how they came there.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures
from jax.profiler import ProfileData

import pjit_inspect as pi
from pjit_inspect.analyze.measured.command_buffers import owners_of_nodes
from pjit_inspect.analyze.measured.launches import launches_of
from pjit_inspect.handles.measured import measuring
from pjit_inspect.handles.measured.measuring import _programs, find_times
from pjit_inspect.model.record.kernel_times import GraphNode, KernelTimes, ProfiledRun
from pjit_inspect.parse.profile.runs import read_runs
from pjit_inspect.parse.profile.xplane import TraceNotes, read_trace_notes

DATA = Path(__file__).parent.parent / "data" / "gpu"
MEASURED = sorted(path.name.partition(".")[0] for path in DATA.glob("*.xplane.pb.gz"))


@cache
def trace(name: str) -> bytes:
    return gzip.decompress((DATA / f"{name}.nvidia_h200.xplane.pb.gz").read_bytes())


def record(name: str) -> pi.CompileRecord:
    return pi.load(DATA / f"{name}.nvidia_h200.pjit")


def times(name: str) -> KernelTimes:
    """The times of a record in its own trace."""
    found = fixtures.measured_on_h200(name).kernel_times
    assert found is not None
    return found


def notes(name: str) -> TraceNotes:
    return read_trace_notes(trace(name))


def runs(name: str) -> list[ProfiledRun]:
    found = read_runs(trace(name), notes(name))
    module = record(name).hlo
    return [run for run in found if module is not None and run.module == module.name]


def test_there_are_traces():
    assert MEASURED == [
        "attention",
        "branch",
        "chain",
        "chain_called_before",
        "chain_without_command_buffers",
        "decode",
        "experts",
        "libraries",
        "mlp",
        "mlp_without_command_buffers",
        "pallas_softmax",
        "train_step",
    ]


@pytest.mark.parametrize("name", MEASURED)
def test_what_was_read_then_is_read_now(name: str):
    found = times(name)
    # The first of four calls is left out.
    assert (found.calls, found.left_out, found.devices) == (3, 0, 1)
    assert found.warm_up_us is not None
    assert found.busy_us is not None
    assert 0 < found.busy_us <= 1.001 * found.mean_call_us
    assert not found.unknown
    module = record(name).hlo
    assert module is not None
    assert all(module.find(row.instruction) is not None for row in found)
    own = sum(row.mean_us for row in found if not row.holds_others)
    assert 0.8 * found.busy_us <= own <= 1.5 * found.busy_us


def owners(name: str, *, hidden: bool = False) -> dict[GraphNode, str | None]:
    """The owners of all nodes; `hidden` for what would be found if events had named no instruction."""
    module, run = record(name).hlo, runs(name)[-1]
    assert module is not None
    named = {node: node.buffer for node in run.nodes if module.find(node.buffer)}
    found = owners_of_nodes(tuple(run.nodes), launches_of(module), {} if hidden else named, run.ops.keys())
    return {node: found.get(node) for node in run.nodes}


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(
    "name", ["attention", "chain", "chain_called_before", "experts", "mlp", "pallas_softmax", "train_step"]
)
def test_every_node_of_a_command_buffer_is_of_the_instruction_that_xla_launches_it_for(name: str, hidden: bool):
    said_by = name.partition("_called")[0]
    launched = json.loads((DATA / f"{said_by}.nvidia_h200.json").read_text(encoding="utf-8"))["launches"]
    kernels, library, moved = Counter[tuple[str, str]](), set[str](), Counter[str]()
    for what, instruction in (command for buffer in launched for command in buffer):
        if what in ("kCopy", "kDynamicSliceFusion"):
            moved[instruction] += 1
        elif what in ("kCublasLtMatmul", "kCuDnn"):
            library.add(instruction)
        else:
            kernels[what, instruction] += 1
    found = owners(name, hidden=hidden)
    assert None not in found.values()
    of_moves = {node: owner for node, owner in found.items() if node.kernel.lower().startswith(("memcpy", "memset"))}
    of_kernels = {node: owner for node, owner in found.items() if node not in of_moves}
    assert Counter((n.kernel, owner) for n, owner in of_kernels.items() if owner not in library) == kernels
    assert {owner for owner in of_kernels.values() if owner in library} == library
    assert Counter(owner for owner in of_moves.values() if owner not in library) == moved
    assert kernels.total() + len(library) + moved.total() == sum(map(len, launched)) > 5


def test_a_function_that_several_instructions_share_is_told_apart_by_the_order_of_the_schedule():
    found = owners("chain_called_before")
    assert {node.buffer for node in found} == {"command_buffer_1"}
    shared = sorted((node.number, owner) for node, owner in found.items() if node.kernel == "gemm_fusion_dot_1")
    assert [owner for _, owner in shared] == ["gemm_fusion_dot.1", "gemm_fusion_dot.2", "gemm_fusion_dot.3"]


# jaxlib 0.12 warns within C++ on Python 3.13, where a warning made an error ends the process.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_calls_of_a_library_are_graphs_within_in_the_order_of_the_schedule():
    found, module = owners("mlp"), record("mlp").hlo
    assert module is not None
    calls = [
        row for row in module.computation(module.entry).order.tolist() if module.instruction(row).custom_call_target
    ]
    ran = sorted((node.number, node.kernel, owner) for node, owner in found.items() if node.kernel.startswith("nvjet"))
    assert [owner for _, _, owner in ran] == [module.reader.name(row) for row in calls]
    # Launched one by one, XLA names the instruction of each, and cuBLAS runs the same function for it.
    without = {
        (event.name, dict(event.stats)["hlo_op"])
        for plane in ProfileData.from_serialized_xspace(trace("mlp_without_command_buffers")).planes
        for line in plane.lines
        for event in line.events
        if event.name.startswith("nvjet")
    }
    assert {(kernel, owner) for _, kernel, owner in ran} == without


def test_of_two_programs_of_the_same_instructions_the_one_compiled_later_has_the_larger_number():
    notes = read_trace_notes(trace("chain_without_command_buffers"))
    # The process holds several, and only the latest one ran.
    assert len(notes.programs["jit_chain"]) > 1
    (number,) = {
        run.program for run in read_runs(trace("chain_without_command_buffers"), notes) if run.module == "jit_chain"
    }
    assert number == max(notes.programs["jit_chain"])
    without = record("chain_without_command_buffers")
    # A record that was there before may be either: it gets nothing.
    before = pi.load(DATA / "chain_without_command_buffers.nvidia_h200.pjit")
    before.add_times(replace(before.data, cached="memory"))
    (found,) = find_times([without], trace("chain_without_command_buffers"))
    (none,) = find_times([before], trace("chain_without_command_buffers"))
    assert isinstance(found, KernelTimes)
    assert none == "the profiler cannot tell it from another program with the same name"


def test_a_record_of_other_instructions_is_not_measured_by_the_runs_of_its_name():
    other = record("branch")
    assert find_times([other], trace("chain")) == ["the profiler saw no run of it"]


@pytest.mark.parametrize(
    "name", ["attention", "chain", "chain_called_before", "experts", "mlp", "pallas_softmax", "train_step"]
)
def test_a_node_whose_neighbours_are_lost_is_of_its_own_instruction_or_nobodys(name: str):
    module, run = record(name).hlo, runs(name)[-1]
    assert module is not None
    launches, truth, nodes = launches_of(module), owners(name), list(run.nodes)
    for first in range(len(nodes)):
        for kept in (nodes[first:], nodes[:first], nodes[:first] + nodes[first + 1 :], nodes[first % 3 :: 3]):
            found = owners_of_nodes(kept, launches, {}, run.ops.keys())
            assert {node: truth[node] for node in found} == found


def test_loops_and_branches_took_what_they_ran_and_no_longer_than_the_call():
    found = times("branch")
    regions = {row.opcode: row for row in found if row.holds_others}
    module = record("branch").hlo
    assert module is not None
    for row in regions.values():
        region = module.find(row.instruction)
        assert region is not None
        inside = [found.of(one.name) for called in region.called for one in called]
        held = sum(one.mean_us for one in inside if one is not None)
        # A kernel may begin before the one before it has ended; and a conditional copies its predicate to the host.
        assert 0.8 * held <= row.mean_us <= min(held + 3, found.mean_call_us)
    assert {row.opcode: row.runs_per_call for row in regions.values()} == {"while": 1, "conditional": 1}
    assert 5 in {row.runs_per_call for row in found}


def test_a_loop_around_one_of_which_nobody_knows_how_often_it_ran_took_as_long_as_that_too():
    found = times("decode")
    inner, outer = sorted((row for row in found if row.holds_others), key=lambda row: row.mean_us)
    # As often as its neighbours: the program does not say it.
    assert (inner.runs_per_call, outer.runs_per_call) == (3, 1)
    assert found.busy_us is not None
    assert 0.8 * found.busy_us < outer.mean_us <= found.mean_call_us
    assert inner.mean_us > 0.5 * outer.mean_us


def test_a_sort_in_stages_and_a_pallas_kernel_have_times():
    module = record("experts").hlo
    assert module is not None
    (sort,) = (module.instruction(row).computation.callers[0].name for row in module.with_opcode("sort").tolist())
    assert {row.instruction: row.runs_per_call for row in times("experts")}[sort] == 1
    kernels = {row.instruction: row.opcode for row in times("pallas_softmax")}
    assert [
        name for name, opcode in sorted(kernels.items()) if opcode == "custom-call" and name.startswith("pallas")
    ] == [
        "pallas_call.3",
        "pallas_call.4",
        "pallas_call.5",
    ]


def test_both_loops_of_a_train_step_have_a_time_and_all_kernels_but_of_conditions():
    found = times("train_step")
    loops = [row for row in found if row.opcode == "while"]
    assert len(loops) == 2
    assert {row.runs_per_call for row in found} == {1, 3}
    # XLA's own loop counters are conditions, which nothing runs for.
    unseen = {kernel.name for kernel in record("train_step").fusions} - {row.instruction for row in found}
    assert all(name.startswith("loop_compare_fusion") for name in unseen)


def test_a_loop_took_no_less_than_while_a_copy_ran_that_it_began_and_did_not_wait_for():
    module = record("train_step").hlo
    assert module is not None
    begun = {
        loop: {
            instruction.name
            for called in module.instruction(loop).called
            for start in called
            if start.opcode == "async-start"
            for computation in start.called
            for instruction in computation
        }
        for loop in module.with_opcode("while").tolist()
    }
    (program,) = _programs({0: (record("train_step").data, module)}, tuple(runs("train_step")), notes("train_step"))
    for loop, names in begun.items():
        inside = program.contents[module.reader.name(loop)]
        assert inside is not None
        assert names <= inside
        assert names & {row.instruction for row in times("train_step")}


def test_a_custom_call_of_several_launches_is_one_run():
    found = times("libraries")
    assert {row.runs_per_call for row in found} == {1}
    module = record("libraries").hlo
    assert module is not None
    calls = [module.reader.name(index) for index in module.with_opcode("custom-call").tolist()]
    assert {row.instruction for row in found if row.opcode == "custom-call"} == set(calls)
    assert {kernel.name for kernel in record("libraries").fusions} <= {row.instruction for row in found}


def test_the_text_says_how_much_of_a_call_a_kernel_ran():
    words = " ".join(str(fixtures.measured_on_h200("chain").show("text")).split())
    assert re.search(
        r"measured: 3 calls, [\d.]+ µs each on its device, a kernel or a copy running for 100 % of it", words
    )


def test_a_program_that_cannot_be_read_costs_no_other_its_times(monkeypatch: pytest.MonkeyPatch):
    held = notes("chain").programs["jit_chain"]
    damaged = {max(held) + 1: next(iter(held.values())) + b"\xff"}
    monkeypatch.setattr(
        measuring,
        "read_trace_notes",
        lambda data: replace(read_trace_notes(data), programs={"jit_chain": {**held, **damaged}}),
    )
    assert isinstance(find_times([record("chain")], trace("chain"))[0], KernelTimes)
