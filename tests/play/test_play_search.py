"""A search: as good as what is made by hand, by its rules, to be stopped, and honest about what it did."""

from __future__ import annotations

import threading
import time

import pytest

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError
from pjit_inspect.model.play.search import SearchProgress
from pjit_inspect.observe.partitioner import service
from play.steps import mlp


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
    assert "at most 1.1 times its share of the products, at most 18.0 MiB held" in history.notes[2]
    assert "(Spearman)" in history.notes[3]
    # The second worker has ended, and the playground's own is there.
    assert service._here.lanes[1].server is None
    play.close()
    hand.close()


def test_what_is_kept_stays():
    play = playground(True)
    history = pi.search(play, budget_s=4, keep=("params", "mesh"))
    for row in history:
        assert row.controls.mesh == (("data", 2), ("model", 4))
        assert [group.spec for group in row.controls.groups[:2]] == [(None, "model"), ("model", None)]
    play.close()


def test_it_can_be_stopped_with_what_it_has():
    play = playground(False)
    threading.Timer(3.0, play.stop).start()
    began = time.monotonic()
    history = pi.search(play, budget_s=60)
    assert time.monotonic() - began < 30
    assert "; stopped" in history.notes[1]
    play.close()


def test_what_it_cannot_do_is_said():
    play = playground(True)
    with pytest.raises(ChangeError, match="goal is 'bytes', 'memory' or 'time', not 'speed'"):
        pi.search(play, goal="speed")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ChangeError, match="has no argument or result 'weights'"):
        pi.search(play, keep=("weights",))
    play.close()
