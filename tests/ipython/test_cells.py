"""When the cell that is running ends: cells in cells, blank cells, threads, actions that fail."""

from __future__ import annotations

import pytest

from pjit_inspect.ipython.cells import Cells


@pytest.fixture
def cells(bare_shell):
    """The watcher under test; the shell's code reaches it as `cells`, and what it noted as `seen`."""
    cells = Cells(bare_shell)
    cells.watch()
    bare_shell.user_ns.update(cells=cells, seen=[])
    yield cells
    cells.unwatch()


def seen_after(shell, cell: str) -> list:
    shell.run_cell(cell)
    return shell.user_ns["seen"]


LATER = "cells.when_done(lambda failed: seen.append(failed))\n"


def test_an_action_waits_for_the_end_of_its_cell(bare_shell, cells):
    assert seen_after(bare_shell, LATER + "assert seen == []") == [False]


@pytest.mark.parametrize("cell", ["1 / 0", "raise KeyboardInterrupt", "import asyncio\nawait asyncio.sleep(0)\n1 / 0"])
def test_an_action_is_told_when_its_cell_failed(bare_shell, cells, capsys, cell):
    assert seen_after(bare_shell, LATER + cell) == [True]


@pytest.mark.parametrize("inner", ["1 + 1", "", "  ", "1 / 0", "1 /"])
@pytest.mark.parametrize("silent", [False, True])
def test_a_cell_within_the_cell_does_not_end_it(bare_shell, cells, capsys, inner, silent):
    cell = f"{LATER}get_ipython().run_cell({inner!r}, silent={silent})\nassert seen == []\n"
    assert seen_after(bare_shell, cell) == [False]


def test_an_action_of_an_inner_cell_does_not_wait_for_the_outer_one(bare_shell, cells):
    cell = f"get_ipython().run_cell({LATER!r})\nassert seen == [False]\n{LATER}"
    assert seen_after(bare_shell, cell) == [False, False]


def test_outside_of_a_cell_an_action_happens_at_once(cells):
    assert not cells.is_running
    seen = []
    cells.when_done(seen.append, failed=True)
    assert seen == [True]


def test_another_thread_runs_no_cell_of_this_one(bare_shell, cells):
    cell = (
        "import threading\n"
        "thread = threading.Thread(target=lambda: seen.append(cells.is_running))\n"
        "thread.start()\nthread.join()\nseen.append(cells.is_running)"
    )
    assert seen_after(bare_shell, cell) == [False, True]


def test_an_action_that_fails_stops_neither_the_next_nor_the_shell(bare_shell, cells, capsys):
    cell = "cells.when_done(lambda failed: 1 / 0)\n" + LATER
    assert seen_after(bare_shell, cell) == [False]
    assert bare_shell.run_cell("1").success
    assert not cells.is_running


def test_watching_may_begin_within_a_cell(bare_shell):
    cells = Cells(bare_shell)
    bare_shell.user_ns.update(cells=cells, seen=[])
    assert seen_after(bare_shell, "cells.watch()\n" + LATER + "assert seen == []") == [False]
    assert not cells.is_running
    cells.unwatch()


def test_when_watching_ends_what_was_waited_for_happens(bare_shell):
    cells = Cells(bare_shell)
    bare_shell.user_ns.update(cells=cells, seen=[])
    assert seen_after(bare_shell, "cells.watch()\n" + LATER + "cells.unwatch()\nassert seen == [False]") == [False]


def test_what_was_opened_last_is_closed_first_and_before_anything_is_shown(bare_shell, cells):
    steps = [("open a", True), ("show a", False), ("open b", True), ("show b", False)]
    cell = f"for name, first in {steps}:\n    cells.when_done(lambda _, name=name: seen.append(name), first=first)"
    assert seen_after(bare_shell, cell) == ["open b", "open a", "show a", "show b"]
