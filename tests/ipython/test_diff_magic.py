"""`%pjit diff`: which two records it compares."""

from __future__ import annotations


def test_the_two_newest_records_of_one_function_are_compared(program):
    program.value("%pjit total(x)")
    program.value("%pjit total(x[:4])")
    printed = program.printed("%pjit --view text diff")
    assert "Not the same work: `x` `f32[8,4]` -> `f32[4,4]`" in printed
    assert "Not the same work: `x` `f32[8,4]` -> `f32[4,4]`" in program.printed("%pjit --view text diff total")


def test_two_numbers_pick_two_records_and_the_older_one_is_before(program):
    for size in (8, 4, 2):
        program.value(f"%pjit total(x[:{size}])")
    for numbers in ("-1 -2", "-2 -1"):
        assert "`x` `f32[4,4]` -> `f32[2,4]`" in program.printed(f"%pjit --view text diff {numbers}")


def test_what_cannot_be_compared_is_said(program):
    assert "no function of yours has been recorded twice" in program.printed("%pjit diff")
    program.value("%pjit total(x)")
    assert "total has been recorded once only" in program.printed("%pjit diff total")
    assert "no record 7" in program.printed("%pjit diff 0 7")
    assert "no record -9: " in program.printed("%pjit diff -1 -9")
    assert "no record" in program.printed("%pjit diff nothing")
