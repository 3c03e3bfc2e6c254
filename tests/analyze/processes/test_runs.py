"""Which records belong to one run, by what they say of the Python process that made them."""

from __future__ import annotations

from pjit_inspect.analyze.processes.merge import Session, choose_sessions


def session(process: int, name: str, *, count: int = 2, began_s: float = 100.0, ended_s: float = 110.0) -> Session:
    return Session(process=process, count=count, name=name, began_s=began_s, ended_s=ended_s)


def test_one_session_for_each_process_is_one_run():
    found = [session(0, "a"), session(1, "b"), session(0, "a", began_s=111.0, ended_s=120.0)]
    assert choose_sessions(found) == ({session(0, "a"), session(1, "b")}, ())


def test_of_two_sessions_of_one_process_the_newest_counts():
    chosen, notes = choose_sessions([session(0, "old", ended_s=105.0), session(0, "new"), session(1, "b")])
    assert {one.name for one in chosen} == {"new", "b"}
    assert notes == (
        "left out: 1 record of process 0, made by another Python process than its newest records: another run",
    )


def test_records_of_another_number_of_processes_are_of_another_run():
    chosen, notes = choose_sessions([session(0, "old", count=4, ended_s=105.0)] * 2 + [session(0, "a")])
    assert {one.name for one in chosen} == {"a"}
    assert notes == ("left out: 2 records of process 0 of 4, as the newest run has 2",)


def test_a_gap_that_clocks_do_not_explain_is_noted():
    _, notes = choose_sessions([session(0, "a"), session(1, "b", began_s=710.0, ended_s=720.0)])
    assert notes == (
        "process 0 made its last record 10 minutes before process 1 made its first: they may be of different runs, or "
        "their clocks differ",
    )
    assert choose_sessions([session(0, "a"), session(1, "b", began_s=400.0, ended_s=420.0)])[1] == ()


def test_nothing_is_no_run():
    assert choose_sessions([]) == (frozenset(), ())
