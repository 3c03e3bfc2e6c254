"""Processes that are walked in step: who is named, at which program, and why. Programs are letters."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.processes.merge import merge_programs
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.merged import MergedData, MergedProcess, ProgramFacts
from pjit_inspect.model.words.sentence import name, place


def merged(*processes: str, of: dict[str, tuple[int, ...]] | None = None, known=(), **options) -> MergedData:
    """Each process as the letters of its programs in order; `A2` is another program of the name A.

    All programs run on all processes, but those that `of` names.
    """
    everybody = tuple(range(len(processes)))
    records = [
        ProgramFacts(
            process=process,
            position=position,
            name=program[0],
            where=Frame(file="train.py", line=ord(program[0]) - ord("A") + 1),
            processes=(of or {}).get(program, everybody),
            fingerprint=program,
        )
        for process, programs in enumerate(processes)
        for position, program in enumerate(programs.split())
    ]
    return merge_programs(records, known, **options)


def named(found: MergedData) -> list[tuple[int, str, int, str]]:
    return [(d.process, d.kind, d.position, d.name) for d in found.differences]


@pytest.mark.parametrize(
    ("processes", "expected"),
    [
        (("A B C", "A B C"), []),
        (("A B C", "A B C", "A B C"), []),
        # One more in the middle, at the end, at the beginning.
        (("A B C", "A X B C"), [(1, "extra", 1, "X")]),
        (("A X B C", "A B C"), [(0, "extra", 1, "X")]),
        (("A B", "A B X"), [(1, "extra", 2, "X")]),
        (("A B X", "A B"), [(0, "extra", 2, "X")]),
        (("A", "X A"), [(1, "extra", 0, "X")]),
        # One fewer, where the others are more.
        (("A B C", "A B C", "A C"), [(2, "missing", 1, "B")]),
        (("A C", "A B C", "A B C"), [(0, "missing", 1, "B")]),
        (("A B", "A B", "A"), [(2, "missing", 1, "B")]),
        # Another order.
        (("A B C", "A C B"), [(1, "order", 1, "C")]),
        (("B A", "A B", "A B"), [(0, "order", 0, "B")]),
        # Another program of the same name; another of another name.
        (("A B C", "A B2 C"), [(1, "program", 1, "B")]),
        (("A B C", "A B2 C", "A B2 C"), [(0, "program", 1, "B")]),
        (("A B C", "A X C"), [(1, "missing", 1, "B")]),
        # Two processes differ, each at its own first place; nobody is named twice.
        (("A B C D", "A B C D", "A X B C D Y", "A B C", "A B C D"), [(2, "extra", 1, "X"), (3, "missing", 3, "D")]),
        # Compiled again: the others have it in their caches.
        (("A B", "A A B A"), []),
    ],
)
def test_the_first_difference_of_each_process_is_named(processes, expected):
    assert named(merged(*processes)) == expected


def test_programs_of_some_processes_concern_these_alone():
    stages = {"P": (0, 1), "Q": (2, 3)}
    assert not merged("A P B", "A P B", "A Q B", "A Q B", of=stages).differences
    # The order of programs that nobody shares does not matter; that of those two do, does.
    assert not merged("P A", "P A", "A Q", "A Q", of=stages).differences
    assert named(merged("P A", "A P", "A Q", "A Q", of=stages)) == [(0, "order", 0, "P")]


def test_programs_of_one_process_alone_are_no_difference_and_are_kept_apart():
    found = merged("A L", "A", of={"L": (0,)})
    assert not found.differences
    assert ([p.name for p in found.programs], [p.name for p in found.local]) == (["A"], ["L"])


def test_three_that_wait_for_each_other_in_a_circle_are_told():
    found = merged("A C", "B A", "C B", of={"A": (0, 1), "B": (1, 2), "C": (2, 0)})
    assert named(found)[0] == (1, "order", 0, "B")


def test_the_sentence_names_both_programs_with_their_lines():
    (found,) = merged("A B", "A C B").differences
    assert found.sentence == (
        "process 1 compiled `C` (train.py:3), which no other process did, where process 0 compiled `B` (train.py:2)"
    )
    assert (found.other, found.where) == (0, Frame(file="train.py", line=3))
    marked = [phrase for phrase in found.sentence.phrases if phrase.kind != "word"]
    assert marked == [name("C"), place("train.py:3"), name("B"), place("train.py:2")]


def test_a_process_without_records_is_named_by_what_is_known_of_it():
    assert "no file or folder" in merged("A", "").differences[0].sentence
    saved = merged("A", "", known=[MergedProcess(index=1)]).differences[0]
    assert "process 1 saved a log without records, and takes part in `A` (train.py:1)" in saved.sentence
    assert "(3 could not be read)" in merged("A", "", known=[MergedProcess(index=1, unread=3)]).differences[0].sentence
    assert "none of a program on several" in merged("A", "L", of={"L": (1,)}).differences[0].sentence


def test_what_could_not_be_read_is_no_evidence_and_is_said():
    (found,) = merged("A B C", "A C", known=[MergedProcess(index=1, unread=1)]).differences
    assert (found.process, found.kind, found.name) == (1, "missing", "B")
    assert found.sentence.endswith("; but 1 file of process 1 could not be read")


def test_two_programs_of_one_name_are_compared_and_the_details_kept():
    found = merged("A B", "A B2", compare=lambda one, two: (f"{one.fingerprint} is not {two.fingerprint}",))
    assert found.differences[0].details == ("B is not B2",)


def test_one_program_that_was_compiled_to_other_collectives_is_a_difference():
    def facts(process: int, optimized: str) -> ProgramFacts:
        return ProgramFacts(
            process=process, position=0, name="A", processes=(0, 1, 2), fingerprint="A", optimized=optimized
        )

    records = [facts(0, "x"), facts(1, "y"), facts(2, "z")]
    told = merge_programs(records, compare_optimized=lambda _, two: ("all-reduce",) if two.optimized == "z" else ())
    assert named(told) == [(2, "compiled differently", 0, "A")]
    assert told.differences[0].details == ("all-reduce",)


def test_hostile_names_stay_on_one_line_and_cannot_close_their_quotes():
    facts = ProgramFacts(process=0, position=0, name="`a`" + "x" * 500, processes=(0, 1), fingerprint="A")
    (found,) = merge_programs([facts]).differences
    assert found.sentence.count("`") == 2
    assert len(found.sentence) < 400
