"""Work in the background goes on only while no code of the user's runs, or when somebody waits for it."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from pjit_inspect.handles.background import (
    in_background,
    somebody_waits,
    user_code_begins,
    user_code_ends,
    wait_for_idle,
)


class Steps:
    """Work of two steps, each begun only when it may."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.first, self.second = threading.Event(), threading.Event()
        self.may_go_on = threading.Event()

    def __call__(self) -> None:
        self.done.append(1)
        self.first.set()
        assert self.may_go_on.wait(60)
        wait_for_idle()
        self.done.append(2)
        self.second.set()


@pytest.fixture
def cell():
    """A cell that runs to the end of the test at the latest."""
    user_code_begins()
    ended: list[bool] = []

    def end() -> None:
        ended.append(True)
        user_code_ends()

    yield end
    if not ended:
        user_code_ends()


def test_nothing_begins_while_a_cell_runs(cell):
    steps = Steps()
    thread = in_background(steps)
    assert not steps.first.wait(0.2)
    cell()
    assert steps.first.wait(60)
    steps.may_go_on.set()
    thread.join(60)
    assert steps.done == [1, 2]


def test_a_cell_that_begins_meanwhile_stops_it_between_steps():
    steps = Steps()
    thread = in_background(steps)
    assert steps.first.wait(60)
    user_code_begins()
    steps.may_go_on.set()
    assert not steps.second.wait(0.2)
    user_code_ends()
    assert steps.second.wait(60)
    thread.join(60)


def test_a_cell_that_waits_for_it_does_not_wait_for_itself(cell):
    steps = Steps()
    steps.may_go_on.set()
    in_background(steps)
    with somebody_waits():
        assert steps.second.wait(60)


def test_one_piece_of_work_is_done_after_the_other():
    steps, others = Steps(), Steps()
    threads = [in_background(steps)]
    assert steps.first.wait(60)
    threads.append(in_background(others))
    assert not others.first.wait(0.2)
    steps.may_go_on.set()
    others.may_go_on.set()
    for thread in threads:
        thread.join(60)
    assert steps.done == others.done == [1, 2]


def test_the_process_ends_while_there_is_work():
    code = (
        "import time\n"
        "from pjit_inspect.handles.background import in_background, wait_for_idle\n"
        "def work():\n"
        "    while True:\n"
        "        wait_for_idle()\n"
        "in_background(work)\n"
        "time.sleep(0.1)\n"
        "print('done')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


def test_who_is_not_in_the_background_waits_for_nothing(cell):
    assert wait_for_idle() == 0.0


def test_a_thread_does_not_keep_the_process():
    assert in_background(lambda: None).daemon


def test_work_that_fails_is_reported_and_ends():
    def fails() -> None:
        raise ValueError("no such luck")

    caught: list[Warning] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pjit_inspect.guard.warn_once", caught.append)
        in_background(fails).join(60)
    assert "no such luck" in str(caught[0])
