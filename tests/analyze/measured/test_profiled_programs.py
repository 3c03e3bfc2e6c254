"""Whose number of the profiler's each recorded program has, worked out by hand; and what makes two programs alike."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import pjit_inspect as pi
from pjit_inspect.analyze.measured.kernel_times import TimedProgram, numbers_of, program_content

# Three programs of one content that the process held, and one of another.
HELD = {5300: "chain", 32422: "chain", 40000: "chain", 41000: "other"}


def one(number: int | None = None, *, content: str = "chain", is_new: bool = True) -> TimedProgram:
    return TimedProgram(content=content, number=number, is_new=is_new)


def found(*programs: TimedProgram, held: dict[int, str] = HELD, ran: tuple[int, ...] = ()) -> list[list[int]]:
    return [sorted(numbers) for numbers in numbers_of(programs, held, ran)]


def test_a_number_of_its_own_among_those_of_its_content_is_its_number():
    assert found(one(5300), one(32422), one(41000, content="other")) == [[5300], [32422], [41000]]


def test_a_number_that_the_content_contradicts_is_not_its_number():
    # As on a GPU, where the profiler's numbers are others: 41000 is of another program.
    assert found(one(41000)) == [[40000]]


def test_what_was_compiled_latest_has_the_largest_number():
    assert found(one(2)) == [[40000]]
    assert found(one(2), one(4)) == [[32422], [40000]]
    assert found(one(2), one(4), one(6)) == [[5300], [32422], [40000]]


def test_what_was_compiled_earlier_may_be_any_of_the_others_unless_there_is_but_one():
    old = one(9, is_new=False)
    assert found(old, one(2)) == [[5300, 32422], [40000]]
    assert found(old, one(2), one(4)) == [[5300], [32422], [40000]]
    assert found(old) == [[5300, 32422, 40000]]


def test_where_more_were_compiled_than_are_left_each_may_be_any():
    assert found(one(2), one(4), held={5300: "chain"}) == [[5300], [5300]]


def test_what_the_process_does_not_hold_has_no_number():
    assert found(one(7, content="gone")) == [[]]
    assert found(one(7), held={}) == [[]]


# What came from disk was recorded without a number: that in its bytes is of the process that compiled it.


def test_a_program_from_disk_has_the_number_of_its_loading_where_it_runs_under_that():
    assert found(one(None), held={3: "chain", 9: "chain"}, ran=(9,)) == [[9]]


def test_a_program_from_disk_has_the_only_number_that_ran_and_is_of_nothing_that_is_held():
    assert found(one(None), held={14: "chain"}, ran=(6,)) == [[6]]
    assert found(one(None), held={14: "chain", 20: "other"}, ran=(6, 20)) == [[6]]
    assert found(one(None), one(20, content="other"), held={14: "chain", 20: "other"}, ran=(6,)) == [[6], [20]]


def test_it_may_be_of_another_that_is_held_and_did_not_run_under_its_own_number():
    assert found(one(None), held={14: "chain", 20: "other"}, ran=(6,)) == [[6, 20]]
    assert found(one(None), held={14: "chain"}, ran=(6, 7)) == [[6, 7]]


@pytest.mark.parametrize(("shape", "is_alike"), [((4, 4), True), ((4, 8), False)])
def test_programs_are_alike_by_names_opcodes_and_shapes(shape: tuple[int, int], is_alike: bool):
    def module(shape: tuple[int, int]):
        record = pi.inspect(lambda x: jnp.sin(x) + 1, jax.ShapeDtypeStruct(shape, jnp.float32))
        assert record.hlo is not None
        return record.hlo

    assert (program_content(module((4, 4))) == program_content(module(shape))) is is_alike
