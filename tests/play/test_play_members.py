"""Equal arrays of which one is split differently: it stands alone, its optimizer state with it, and comes back."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from play.test_play_results import arguments, train_step

W1 = "params['layers'][*]['w1']"


@pytest.fixture
def play() -> Iterator[pi.Playground]:
    made = pi.playground(jax.jit(train_step), *arguments())
    yield made
    made.close()


def families(play: pi.Playground, family: str) -> list[tuple[str, object]]:
    return [(own.label, own.spec) for own in play.controls.groups if own.family == family]


def test_an_array_that_is_set_alone_stays_of_its_family(play: pi.Playground):
    assert families(play, W1) == [(W1, (None, "model"))]
    play.set(specs={"params['layers'][1]['w1']": P("data", "model")})
    assert families(play, W1) == [
        ("params['layers'][0]['w1']", (None, "model")),
        ("params['layers'][1]['w1']", ("data", "model")),
    ]
    state = [own for own in play.controls.groups if own.family == "state['mu']['layers'][*]['w1']"]
    assert [own.spec for own in state] == [(None, "model"), ("data", "model")]
    assert [own.follows for own in state] == ["params['layers'][0]['w1']", "params['layers'][1]['w1']"]
    assert not any(own.is_cut_loose for own in state)


def test_the_page_has_one_row_for_them_and_the_way_back(play: pi.Playground):
    play.wait()
    live = play._made_live()
    live._asked(None, {"type": "set", "seq": 1, "specs": {"params['layers'][1]['w1']": [["data"], ["model"]]}})
    row = next(own for own in _groups(play) if own["key"] == W1)
    assert [own["dims"] is not None for own in row["members"]] == [False, True]
    assert row["asks"] == "params['layers'][0]['w1']"
    followers = next(own for own in _groups(play) if own["key"] == "state['mu']['layers'][*]['w1']")
    assert followers["follows"]
    assert followers["can_follow"] == W1
    assert [own["as"] for own in followers["members"]] == ["", "params['layers'][1]['w1']"]
    live._asked(None, {"type": "set", "seq": 2, "specs": {"params['layers'][1]['w1']": [[], ["model"]]}})
    assert play.variant.number == 0


def _groups(play: pi.Playground) -> list[dict]:
    from pjit_inspect.view.play.payload import play_data

    return play_data(play._made_live()._given())["groups"]


def test_arrays_of_one_name_and_other_shapes_are_families_of_their_own():
    from play.test_play_results import array

    params = [{"w": array((8, 8), "data")}, {"w": array((8, 16), "data")}, {"w": array((16, 8), "data")}]
    play = pi.playground(jax.jit(lambda p: [own["w"] * 2 for own in p]), params)
    assert len({own.family for own in play.controls.groups}) == len(play.controls.groups)
    play.close()
