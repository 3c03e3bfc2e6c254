"""Times of kernels from runs worked out by hand: sums per call and device, loops, calls cut short, whose they are."""

from __future__ import annotations

import dataclasses

import pytest

from pjit_inspect.analyze.measured.kernel_times import MeasuredProgram, find_kernel_times
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes, ProfiledRun

STEP = MeasuredProgram(
    name="jit_step",
    numbers=frozenset({7}),
    opcodes={"dot.1": "fusion", "while.2": "while", "add.3": "add", "all-reduce.4": "all-reduce", "p.0": "parameter"},
    once=frozenset(("dot.1", "while.2", "all-reduce.4", "p.0")),
    devices=2,
)


def run(number: int, device: int, ops: dict[str, tuple[int, float]], *, began: float = 0, ended: float = 0, **more):
    names = {"module": "jit_step", "program": 7} | more
    return ProfiledRun(run=number, device=device, began_ns=began, ended_ns=ended, ops=ops, **names)


# Three calls on two devices, the first of which warms up. A loop of 5 trips runs add.3 five times in each.
WARM = [
    run(0, 0, {"dot.1": (1, 9e5), "while.2": (1, 9e5), "add.3": (5, 5e5), "all-reduce.4": (1, 9e5)}, began=-9e6),
    run(0, 1, {"dot.1": (1, 9e5), "while.2": (1, 9e5), "add.3": (5, 5e5), "all-reduce.4": (1, 9e5)}, began=-8e6),
]
FOUR = [
    *WARM,
    run(1, 0, {"dot.1": (1, 1e3), "while.2": (1, 9e3), "add.3": (5, 5e3), "all-reduce.4": (1, 2e3)}, ended=20e3),
    run(1, 1, {"dot.1": (1, 3e3), "while.2": (1, 7e3), "add.3": (5, 6e3), "all-reduce.4": (1, 0)}, ended=14e3),
    run(2, 0, {"dot.1": (1, 3e3), "while.2": (1, 11e3), "add.3": (5, 7e3), "all-reduce.4": (1, 4e3)}, ended=30e3),
    run(2, 1, {"dot.1": (1, 5e3), "while.2": (1, 9e3), "add.3": (5, 2e3), "all-reduce.4": (1, 0)}, ended=16e3),
]  # fmt: skip


def times_of(runs, *programs: MeasuredProgram) -> list[KernelTimes | str]:
    return find_kernel_times(runs, programs or (STEP,))


def the(found: list[KernelTimes | str]) -> KernelTimes:
    (times,) = found
    assert isinstance(times, KernelTimes), times
    return times


def test_a_calls_times_are_means_over_calls_on_the_slowest_device_and_over_devices():
    times = the(times_of(FOUR))
    assert (times.calls, times.left_out, times.devices) == (2, 0, 2)
    # Device 0: (20 + 30) / 2; device 1: (14 + 16) / 2.
    assert (times.call_us, times.mean_call_us, times.total_us) == (25.0, 20.0, 50.0)
    assert times.rows == (
        # Device 0: (9 + 11) / 2 = 10; device 1: 8.
        KernelTime(instruction="while.2", opcode="while", runs_per_call=1, slowest_us=10.0, mean_us=9.0, least_us=7.0),
        # Five runs are added up: device 0 (5 + 7) / 2 = 6, device 1 (6 + 2) / 2 = 4.
        KernelTime(instruction="add.3", opcode="add", runs_per_call=5, slowest_us=6.0, mean_us=5.0, least_us=2.0),
        # Device 1 was the slower one here.
        KernelTime(instruction="dot.1", opcode="fusion", runs_per_call=1, slowest_us=4.0, mean_us=3.0, least_us=1.0),
        KernelTime(
            instruction="all-reduce.4", opcode="all-reduce", runs_per_call=1, slowest_us=3.0, mean_us=1.5, least_us=0.0
        ),
    )
    assert [row.holds_others for row in times] == [True, False, False, False]


def test_the_first_call_warms_up_and_is_left_out_of_the_means():
    # Device 0 took 9 ms, device 1 took 8.
    assert the(times_of(FOUR)).warm_up_us == 9_000
    assert the(times_of(FOUR)).left_out == 0


def test_the_only_call_is_not_left_out():
    times = the(times_of(WARM))
    assert (times.calls, times.warm_up_us, times.call_us) == (1, None, 9_000)


def test_after_a_first_call_that_was_not_seen_whole_no_other_is_left_out():
    cut = run(-1, 0, {"all-reduce.4": (1, 5e3)}, began=-20e6)
    times = the(times_of([cut, *FOUR]))
    assert (times.calls, times.left_out, times.warm_up_us) == (3, 1, None)


# A region is an instruction that runs others. On CPU its event ends when it first has to wait.

LOOPED = dataclasses.replace(
    STEP,
    opcodes={**STEP.opcodes, "while.5": "while", "mul.6": "multiply", "cond.7": "conditional"},
    runs={"dot.1": (1, 1), "while.2": (1, 1), "add.3": (5, 5), "while.5": (5, 5), "mul.6": (15, 15), "cond.7": (0, 5)},
    contents={"while.5": frozenset({"mul.6"}), "while.2": frozenset({"add.3", "while.5"})},
    devices=1,
)


def looped(*, span: float = 100e3, program: MeasuredProgram = LOOPED, **ops: tuple[int, float]) -> KernelTimes:
    names = {name.replace("_", "."): found for name, found in ops.items()}
    return the(times_of([run(1, 0, names, ended=span)], program))


def test_a_loop_that_shows_less_than_it_runs_took_what_it_runs():
    times = looped(dot_1=(1, 1e3), while_2=(1, 2e3), add_3=(5, 10e3), while_5=(5, 1e3), mul_6=(15, 30e3))
    found = {row.instruction: (row.slowest_us, row.mean_us) for row in times}
    assert found == {"dot.1": (1, 1), "while.2": (40, 40), "add.3": (10, 10), "while.5": (30, 30), "mul.6": (30, 30)}
    assert times.unknown == ()


def test_a_loop_that_shows_at_least_what_it_runs_took_what_it_shows():
    times = looped(dot_1=(1, 1e3), while_2=(1, 90e3), add_3=(5, 10e3), while_5=(5, 32e3), mul_6=(15, 30e3))
    assert {row.instruction: row.slowest_us for row in times}["while.2"] == 90
    assert {row.instruction: row.slowest_us for row in times}["while.5"] == 32


def test_where_instructions_overlap_the_sum_of_what_a_loop_runs_is_not_its_time():
    times = looped(span=35e3, dot_1=(1, 1e3), while_2=(1, 2e3), add_3=(5, 10e3), while_5=(5, 31e3), mul_6=(15, 30e3))
    assert "while.2" not in [row.instruction for row in times]
    assert [(one.instruction, one.why) for one in times.unknown] == [
        ("while.2", "its event ends before what it runs, and what it runs overlaps in time")
    ]
    # This one shows what it runs.
    assert times.of("while.5").slowest_us == 31


@pytest.mark.parametrize(("seen", "times"), [(4, "4 times"), (6, "6 times"), (1, "once")])
def test_what_ran_otherwise_than_the_program_says_has_no_time_nor_has_the_loop_around_it(seen: int, times: str):
    found = looped(dot_1=(1, 1e3), while_2=(1, 90e3), add_3=(seen, 10e3), while_5=(5, 32e3), mul_6=(15, 30e3))
    assert [row.instruction for row in found] == ["while.5", "mul.6", "dot.1"]
    assert {one.instruction: one.why for one in found.unknown} == {
        "add.3": f"the profiler saw it {times} in a call, but the program runs it 5 times",
        "while.2": "the time of `add.3`, which it runs, is unknown",
    }


def test_an_entry_instruction_runs_once():
    found = looped(dot_1=(2, 1e3), while_2=(1, 90e3), add_3=(5, 10e3), while_5=(5, 32e3), mul_6=(15, 30e3))
    assert [(one.instruction, one.why) for one in found.unknown] == [
        ("dot.1", "the profiler saw it twice in a call, but the program runs it once")
    ]


SORTED = dataclasses.replace(
    STEP,
    opcodes={"sort.1": "sort"},
    once=frozenset(),
    runs={"sort.1": (6, 6)},
    pieces={"sort.1": 3},
    devices=1,
)


@pytest.mark.parametrize("seen", [6, 12, 18])
def test_a_sort_is_as_many_events_as_xla_copies_operands_for_it(seen: int):
    # XLA copies each operand that it may not overwrite, and sorts: a sort of two operands is one to three events.
    (row,) = looped(program=SORTED, sort_1=(seen, 30e3))
    assert (row.runs_per_call, row.slowest_us) == (6, 30)


@pytest.mark.parametrize(
    ("program", "seen"), [(SORTED, 24), (SORTED, 13), (dataclasses.replace(SORTED, runs={"sort.1": (0, 6)}), 12)]
)
def test_a_sort_of_any_other_number_of_events_has_no_time(program: MeasuredProgram, seen: int):
    times = looped(program=program, sort_1=(seen, 30e3))
    assert [one.instruction for one in times.unknown] == ["sort.1"]


def test_what_a_branch_may_skip_runs_at_most_as_often_as_the_branch():
    more = {"dot_1": (1, 1e3), "while_2": (1, 90e3), "add_3": (5, 1e3), "while_5": (5, 32e3), "mul_6": (15, 30e3)}
    assert looped(cond_7=(3, 1e3), **more).of("cond.7").runs_per_call == 3
    assert [one.why for one in looped(cond_7=(6, 1e3), **more).unknown] == [
        "the profiler saw it 6 times in a call, but the program runs it at most 5 times"
    ]


def test_a_loop_whose_contents_others_run_too_has_no_time():
    shared = dataclasses.replace(LOOPED, contents={"while.5": None, "while.2": frozenset({"add.3"})})
    more = {"dot_1": (1, 1e3), "while_2": (1, 90e3), "add_3": (5, 1e3), "while_5": (5, 32e3), "mul_6": (15, 30e3)}
    assert [(one.instruction, one.why) for one in looped(program=shared, **more).unknown] == [
        ("while.5", "what it runs is run by other instructions too")
    ]


def test_what_a_branch_skips_counts_as_a_fraction_of_a_run():
    runs = [
        run(0, 0, {"dot.1": (1, 900)}, began=-1),
        run(0, 1, {"dot.1": (1, 900)}, began=-1),
        run(1, 0, {"dot.1": (1, 100), "add.3": (1, 4_000)}),
        run(1, 1, {"dot.1": (1, 100)}),
        run(2, 0, {"dot.1": (1, 100)}),
        run(2, 1, {"dot.1": (1, 100)}),
    ]
    row = the(times_of(runs)).of("add.3")
    assert row == KernelTime(
        instruction="add.3", opcode="add", runs_per_call=0.25, slowest_us=2.0, mean_us=1.0, least_us=4.0
    )


@pytest.mark.parametrize(
    "cut",
    [
        {"dot.1": (1, 999_000)},  # stopped before the entry's other instructions
        {"while.2": (1, 1), "all-reduce.4": (1, 1)},  # begun before the profiler
    ],
)
def test_a_call_that_was_not_seen_whole_is_left_out(cut):
    runs = [*FOUR, run(3, 0, dict(FOUR[0].ops), ended=9e9), run(3, 1, cut, ended=9e9)]
    times = the(times_of(runs))
    assert (times.calls, times.left_out) == (2, 1)
    assert times.rows == the(times_of(FOUR)).rows


def test_a_call_that_was_not_seen_on_every_device_is_left_out():
    assert the(times_of([*FOUR, run(3, 0, dict(FOUR[0].ops))])).left_out == 1
    assert times_of(FOUR[2:3]) == ["no call of it ran from begin to end while the profiler was on"]


def test_devices_that_are_not_known_are_those_that_ran_it():
    assert the(times_of(FOUR, dataclasses.replace(STEP, devices=None))).calls == 2


# Whose a run is.

OTHER = dataclasses.replace(STEP, numbers=frozenset({8}))
LIKE_STEP = [dataclasses.replace(one, program=8, run=one.run and one.run + 10) for one in FOUR]


def test_programs_of_one_name_are_told_apart_by_their_numbers():
    slow = [dataclasses.replace(one, ops={k: (n, 10 * ns) for k, (n, ns) in one.ops.items()}) for one in LIKE_STEP]
    first, second = times_of([*FOUR, *slow], STEP, OTHER)
    assert isinstance(first, KernelTimes)
    assert isinstance(second, KernelTimes)
    assert [row.slowest_us for row in first] == [10.0, 6.0, 4.0, 3.0]
    assert [row.slowest_us for row in second] == [100.0, 60.0, 40.0, 30.0]


def test_a_program_that_did_not_run_has_no_times_though_one_of_its_name_ran():
    assert isinstance(times_of(FOUR, STEP, OTHER)[0], KernelTimes)
    assert times_of(FOUR, STEP, OTHER)[1] == "the profiler saw no run of it"
    assert times_of([], STEP) == ["the profiler saw no run of it"]


def test_a_run_of_instructions_that_a_program_lacks_is_not_its():
    less = dataclasses.replace(STEP, opcodes={"dot.1": "fusion"}, once=frozenset({"dot.1"}))
    assert times_of(FOUR, less) == ["the profiler saw no run of it"]
    assert times_of(FOUR, dataclasses.replace(STEP, name="jit_other")) == ["the profiler saw no run of it"]


def test_two_programs_that_both_fit_get_nothing():
    alike = "the profiler cannot tell it from another program with the same name"
    assert times_of(FOUR, STEP, dataclasses.replace(STEP)) == [alike, alike]


@pytest.mark.parametrize("lost", [{"program": None}, {"run": None}])
def test_runs_without_a_number_are_nobodys(lost):
    found = times_of([dataclasses.replace(one, **lost) for one in FOUR])
    assert found == ["this platform's profiler does not say which program and which run a time is of"]


def test_a_program_that_may_have_two_numbers_has_no_times_though_only_one_of_them_ran():
    either = dataclasses.replace(STEP, numbers=frozenset({7, 8}))
    alike = "the profiler cannot tell it from another program with the same name"
    assert times_of(FOUR, either) == [alike]
    # Nor has another program that may be the one which ran.
    assert times_of(FOUR, STEP, either) == [alike, alike]


def test_a_program_whose_number_is_not_known_ran_nothing_that_can_be_seen():
    assert times_of(FOUR, dataclasses.replace(STEP, numbers=frozenset())) == ["the profiler saw no run of it"]


def test_a_product_that_other_threads_compute_has_no_time_on_a_cpu():
    alone = dataclasses.replace(STEP, opcodes={"dot.1": "dot"}, once=frozenset({"dot.1"}))
    runs = [run(number, device, {"dot.1": (1, 100)}) for number in (1, 2) for device in (0, 1)]
    times = the(find_kernel_times(runs, [alone]))
    assert times.rows == ()
    assert [(own.instruction, own.why) for own in times.unknown] == [
        ("dot.1", "XLA hands it to other threads, and the profiler's event ends before they do")
    ]
