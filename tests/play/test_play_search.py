"""A search: as good as what is made by hand, by its rules, to be stopped, and honest about what it did."""

from __future__ import annotations

import json
import re
import threading
import time

import pytest

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.handles.play import figures
from pjit_inspect.handles.play import search as search_module
from pjit_inspect.model.play.search import SearchProgress
from pjit_inspect.model.play.variant import Goal
from pjit_inspect.observe.partitioner import service
from play.steps import mlp, transformer


def playground(is_by_hand: bool) -> pi.Playground:
    function, arguments = mlp((2, 4), is_by_hand=is_by_hand)
    return pi.playground(function, *arguments)


def test_from_nothing_split_it_finds_what_sends_no_more_than_megatron_within_its_memory():
    hand = playground(True)
    hand.set(specs={"result['w1']": (None, "model"), "result['w2']": ("model", None)})
    by_hand = hand.wait()
    # Gradients of a fourth of each matrix are added up over 2, activations of 512 x 1,024 over 4, of 4 bytes.
    assert by_hand.sent_bytes == 2 * 4 * 1024 * 4096 // 4 + 512 * 1024 * 4 * 2 * 3 // 4
    play = playground(False)
    heard: list[SearchProgress] = []
    history = pi.search(play, budget_s=15, most_memory=by_hand.memory_bytes, on_progress=heard.append)
    best = history.best("bytes")
    assert play.variant.number == best.number
    assert best.sent_bytes <= by_hand.sent_bytes
    assert best.memory_bytes <= by_hand.memory_bytes
    assert best.work <= 1.1
    assert heard[-1].best == best.number
    assert history.notes[0] == f"best: variant {best.number}, by bytes"
    assert "at most 1.1 times its share of the products, at most 18 MiB held" in history.notes[2]
    # The second worker has ended, and the playground's own is there.
    assert service._here.lanes[1].helper is None
    play.close()
    hand.close()


@pytest.mark.parametrize("goal", ["bytes", "memory", "time"])
def test_what_the_notes_call_best_is_what_the_history_calls_best(goal: Goal, monkeypatch: pytest.MonkeyPatch):
    # Of CPU devices no time is known. Here all take as long, so that fewer changes decide.
    monkeypatch.setattr(figures, "quick_range", lambda *given: (1.0, 1.0))
    play = playground(True)
    # The search begins from this one, and looks at those before it, too.
    play.wait()
    play.set(specs={"x": ("data", "model")})
    play.wait()
    history = pi.search(play, goal=goal, budget_s=4)
    assert history.among
    best = history.best(goal)
    assert history.notes[0] == f"best: variant {best.number}, by {goal}"
    assert play.variant.number == best.number
    play.close()


def test_what_is_kept_stays():
    play = playground(True)
    history = pi.search(play, budget_s=4, keep=("params", "mesh"))
    for row in history:
        assert row.controls.mesh == (("data", 2), ("model", 4))
        assert [group.spec for group in row.controls.groups[:2]] == [(None, "model"), ("model", None)]
    play.close()


def test_it_goes_on_from_the_best_that_somebody_looked_at():
    play = pi.playground(*_flat(transformer((2, 4), is_by_hand=False, is_constrained=False)))
    fsdp = play.apply("FSDP")
    fsdp = play.wait()
    # Its results are split as its arguments: those are no wish of the user's that other layouts have to keep.
    play.apply("2-D")
    start = play.wait()
    history = pi.search(play, budget_s=4)
    best = play.variant
    assert best.sent_bytes is not None
    assert best.sent_bytes <= (fsdp.sent_bytes or 0) < (start.sent_bytes or 0)
    # Others are told by what they were made of.
    made = [row for row in history if row.parent is not None]
    assert all(row.said[0] == f"as #{row.parent}" and len(row.said) < 5 for row in made if len(row.step) < 4)
    assert {row.parent for row in made} <= {row.number for row in history if row.is_answered}
    layouts = [row for row in history if row.origin not in ("base", "user", "search", "constraint")]
    assert all(row.said == (f"layout: {row.origin}", *row.change) for row in layouts)
    play.close()


def test_results_that_are_set_apart_stay_so():
    play = playground(False)
    play.set(results={"result['w1']": ("data", None)})
    play.wait()
    history = pi.search(play, budget_s=3)
    for row in history[1:]:
        (own,) = (one for one in row.controls.results if one.label == "result['w1']")
        assert own.spec == ("data", None)
    play.close()


def _flat(built) -> tuple:
    return built[0], *built[1]


def test_it_can_be_stopped_with_what_it_has():
    play = playground(False)
    history = pi.search(play, budget_s=60, on_progress=lambda _: play.stop())
    assert "; stopped" in history.notes[1]
    play.close()


class Stuck:
    """Questions that are never answered, but can be taken back."""

    def __init__(self, play: pi.Playground, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = threading.Event()
        monkeypatch.setattr(play.subject, "ask", self.ask)

    def ask(self, setting, begun, *, effort, ticket):
        self.asked.set()
        while not ticket.is_cancelled:
            time.sleep(0.01)
        raise CaptureError("the question was taken back")


def test_progress_is_told_while_xla_is_at_its_first_answer_and_stop_ends_that(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_module, "_TICK_S", 0.01)
    play = playground(False)
    play.wait()
    stuck = Stuck(play, monkeypatch)
    ticked = threading.Event()
    heard: list[SearchProgress] = []

    def hear(progress: SearchProgress) -> None:
        heard.append(progress)
        if stuck.asked.is_set():
            ticked.set()

    search = search_module.Search(play, budget_s=600, on_progress=hear)
    found: list[pi.History] = []
    thread = threading.Thread(target=lambda: found.append(search.run()), daemon=True)
    thread.start()
    assert ticked.wait(30)
    search.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert "; stopped" in found[0].notes[1]
    assert (heard[-1].asked, heard[-1].latest, heard[-1].budget_s) == (0, None, 600)
    # What was taken back is no row.
    assert all(row.is_answered for row in play.history)
    play.close()


def test_the_page_hears_of_seconds_and_that_it_stopped_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search_module, "_TICK_S", 0.01)
    play = playground(False)
    play.wait()
    stuck = Stuck(play, monkeypatch)
    live = play._made_live()
    live._asked(None, {"type": "search", "seq": 1, "goal": "bytes", "budget_s": 600})
    assert json.loads(live.widget._state)["search"]["words"].startswith("0 of 600 s")
    assert stuck.asked.wait(30)
    live._asked(None, {"type": "stop_search", "seq": 2})
    shown = json.loads(live.widget._state)["search"]
    assert shown["state"] == "done"
    assert re.fullmatch(r"stopped: \d+ of 600 s, 0 tried, 0 waiting", shown["words"])
    # The next one begins when that has given its questions back.
    stuck.asked.clear()
    live._asked(None, {"type": "search", "seq": 3, "goal": "bytes", "budget_s": 600})
    assert stuck.asked.wait(30)
    assert json.loads(live.widget._state)["search"]["state"] == "running"
    live._asked(None, {"type": "stop_search", "seq": 4})
    live._searches.join(30)
    assert not live._searches.is_alive()
    play.close()


def test_what_it_cannot_do_is_said():
    play = playground(True)
    with pytest.raises(ChangeError, match="goal is 'bytes', 'memory' or 'time', not 'speed'"):
        pi.search(play, goal="speed")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ChangeError, match="has no argument or result 'weights'"):
        pi.search(play, keep=("weights",))
    play.close()
    with pytest.raises(ChangeError, match="this playground was closed"):
        pi.search(play)


def test_a_slow_machine_asks_about_the_first_of_the_same_settings(monkeypatch: pytest.MonkeyPatch):
    """Answers that come in another order change nothing, and what there was no time for is counted."""

    def searched(delays: tuple[float, float], rounds: int) -> tuple[list[object], list[str]]:
        play = playground(False)
        play.wait()
        ask, turn = play.subject.ask, iter(range(10_000))

        def late(setting, begun, *, effort, ticket):
            time.sleep(delays[next(turn) % 2])
            return ask(setting, begun, effort=effort, ticket=ticket)

        monkeypatch.setattr(play.subject, "ask", late)
        search = search_module.Search(play, budget_s=600)
        over = iter([False] * rounds)
        monkeypatch.setattr(search, "_is_over", lambda: next(over, True))
        history = search.run()
        found = [(row.said, row.sent_bytes, row.parent) for row in history]
        play.close()
        return found, list(history.notes)

    fast, _ = searched((0.0, 0.0), 6)
    other, _ = searched((0.3, 0.0), 6)
    slow, notes = searched((0.0, 0.3), 3)
    assert other == fast
    assert slow == fast[: len(slow)]
    assert len(slow) < len(fast)
    assert re.search(r"not asked about: [\d,]+ by its rules, [\d,]+ for want of time", notes[1])
