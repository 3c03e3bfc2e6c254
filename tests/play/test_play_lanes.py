"""Which question is asked next, and what becomes of an older one: random schedules, without XLA.

The playground is driven with a subject that answers when the schedule says so; the lanes with servers that do. Seeds
are written out, so that a schedule that fails can be run again.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pjit_inspect.errors import CaptureError
from pjit_inspect.handles.play import playground
from pjit_inspect.handles.play.subject import VariantAnswer
from pjit_inspect.model.play.controls import Controls
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.play.variant import Problem, Variant
from pjit_inspect.observe.apart import call
from pjit_inspect.observe.partitioner import service

PATIENCE_S = 20.0
SETTINGS = [PlaySetting(mesh=(("data", 2**n),), target=f"cpu:{2**n}") for n in range(7)]


def eventually(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.0005)


class Subject:
    """Answers the question it was asked when it is told to; `asked` are the settings, in order."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.base = SETTINGS[0]
        self.turn = threading.Condition()
        self.asked: list[PlaySetting] = []
        self.at_work = self.most_at_work = 0
        self.orders: list[str] = []

    def begun(self, setting: PlaySetting, number: int, *, origin: str = "user", parent: Any = None) -> Variant:
        controls = Controls(mesh=setting.mesh, target=setting.target)
        return Variant(number=number, controls=controls, stage="arguments", origin=origin)

    def ask(self, setting: PlaySetting, begun: Variant, *, effort: str, ticket: service.LaneTicket) -> VariantAnswer:
        with self.turn:
            self.asked.append(setting)
            self.at_work += 1
            self.most_at_work = max(self.at_work, self.most_at_work)
            self.turn.notify_all()
        try:
            order = self._order(ticket)
            if order == "die" and not ticket.is_cancelled:
                problem = Problem(text="a process died", may_pass=True)
                return VariantAnswer(variant=replace(begun, stage="refused", problem=problem))
            # "late": the answer is there, though the question was taken back meanwhile.
            if ticket.is_cancelled and order != "late":
                raise CaptureError("the question was taken back")
            stage = "full" if effort == "full" else "partitioned"
            return VariantAnswer(variant=replace(begun, stage=stage, sent_bytes=setting.devices), record=object())
        finally:
            with self.turn:
                self.at_work -= 1

    def _order(self, ticket: service.LaneTicket) -> str:
        with self.turn:
            while not self.orders and not ticket.is_cancelled:
                self.turn.wait(0.001)
            return self.orders.pop(0) if self.orders else "gone"

    def tell(self, order: str) -> None:
        with self.turn:
            self.orders.append(order)
            self.turn.notify_all()

    def close(self) -> None: ...


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(playground, "PlayedProgram", Subject)
    made: Any = playground.Playground(None)  # pyright: ignore[reportArgumentType]
    yield made
    made.close()


def choose(play: Any, setting: PlaySetting) -> Variant:
    """As `Playground.set`, which takes names of arrays."""
    found = play.add(setting, origin="user", is_chosen=True)
    play._tell()
    return found


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_set_when_answers_are_of_their_settings_in_order_and_the_newest_is_asked(play: Any, seed: int):
    schedule, subject = random.Random(seed), play.subject
    heard: list[Variant] = []
    play.observe(heard.append)
    for _ in range(40):
        step = schedule.choice(["set", "set", "set", "back", "answer", "answer", "late", "die", "full", "stop", "rest"])
        if step == "set":
            choose(play, schedule.choice(SETTINGS))
        elif step == "back":
            play.go_back(schedule.choice([row.number for row in play.history]))
        elif step in ("answer", "late", "die"):
            subject.tell(step)
        elif step == "full":
            play.full()
        elif step == "stop":
            play.stop()
        else:
            time.sleep(schedule.random() * 0.004)
    last = choose(play, schedule.choice(SETTINGS))
    # From now on whatever is asked is answered.
    over = threading.Event()

    def answer_all() -> None:
        while not over.is_set():
            subject.tell("answer")
            time.sleep(0.001)

    helper = threading.Thread(target=answer_all)
    helper.start()
    try:
        found = play.wait(PATIENCE_S)
        eventually(lambda: not playing_threads())
    finally:
        over.set()
        helper.join()
    assert found.number == last.number
    assert found.is_answered
    assert subject.most_at_work == 1
    check_news(heard)
    for row in play.history:
        setting = play.setting_of(row.number)
        assert row.is_answered or row.number in (0, last.number)
        assert row.sent_bytes in (None, setting.devices)
        assert row.controls.mesh == setting.mesh


def check_news(heard: list[Variant]) -> None:
    """Of each variant, more is known from one to the next; only what died is begun anew."""
    ranks = {"arguments": 0, "partitioned": 1, "full": 2, "refused": 3}
    known: dict[int, Variant] = {}
    for row in heard:
        before = known.get(row.number)
        if before is not None and not (before.stage == "refused" and row.stage == "arguments"):
            assert ranks[row.stage] >= ranks[before.stage], (before, row)
        known[row.number] = row


def playing_threads() -> list[threading.Thread]:
    return [own for own in threading.enumerate() if own.name == "pjit_inspect playground"]


def test_an_older_question_is_taken_back_and_the_newest_is_the_next(play: Any):
    subject = play.subject
    eventually(lambda: subject.asked == [SETTINGS[0]])
    for setting in SETTINGS[1:]:
        choose(play, setting)
    eventually(lambda: len(subject.asked) > 1)
    # Between the first and the last nothing need be asked; what was asked was taken back in order.
    eventually(lambda: subject.asked[-1] == SETTINGS[-1])
    subject.tell("answer")
    assert play.wait(PATIENCE_S).sent_bytes == 64
    subject.tell("answer")
    # The base, which nobody has heard of yet, comes at last.
    eventually(lambda: play.base.is_answered)
    assert [row.number for row in play.history] == [0, play.variant.number]


def test_what_died_is_asked_again_when_it_is_set_again(play: Any):
    subject = play.subject
    subject.tell("answer")
    play.wait(PATIENCE_S)
    choose(play, SETTINGS[3])
    subject.tell("die")
    assert play.wait(PATIENCE_S).stage == "refused"
    again = choose(play, SETTINGS[3])
    assert (again.number, again.stage) == (1, "arguments")
    subject.tell("answer")
    assert play.wait(PATIENCE_S).stage == "partitioned"


# ---------------------------------------------------------------- the lanes


class Server:
    """A helper that has one question at a time, until it is told to answer or that is taken back."""

    every: list[Server] = []  # noqa: RUF012
    numbers = itertools.count(1)

    def __init__(self, task: str) -> None:
        self.asked: int | None = None
        self.answered: list[service.LaneTicket] = []
        self.tickets: dict[int, service.LaneTicket] = {}
        self.cancelled: set[int] = set()
        self.orders: list[str] = []
        self.turn = threading.Condition()
        self.is_dead = False
        Server.every.append(self)

    def wait_until_ready(self, deadline: float) -> None: ...

    def ask(self, given: Any, blobs: Any, ticket: Any, on_half: Any) -> tuple[Any, tuple[bytes, ...]]:
        assert self.asked is None, "a lane asks one question at a time"
        self.asked = number = next(Server.numbers)
        self.tickets[number] = ticket
        try:
            ticket.begin(self, number)
            with self.turn:
                while not self.orders and number not in self.cancelled:
                    self.turn.wait(0.001)
                if number in self.cancelled:
                    return {"refused": "it was cancelled"}, ()
                if self.orders.pop(0) == "die":
                    self.is_dead = True
                    raise EOFError
                self.answered.append(ticket)
                return {"said": {"devices": given["question"]["devices"], "rules": []}}, ()
        finally:
            self.asked = None
            ticket.finish()

    def cancel(self, number: int) -> None:
        with self.turn:
            self.cancelled.add(number)
            self.turn.notify_all()

    def is_alive(self) -> bool:
        return not self.is_dead

    def last_words(self) -> str:
        return ""

    def end(self) -> None:
        self.is_dead = True

    def tell(self, order: str) -> None:
        with self.turn:
            self.orders.append(order)
            self.turn.notify_all()


@pytest.fixture
def lanes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The lanes of a process that has asked nothing, with servers of ours."""
    monkeypatch.setattr(service, "_here", service._Here())
    monkeypatch.setattr(call, "_Helper", Server)
    monkeypatch.setattr(service, "_read", lambda said, contents, rules: said["devices"])
    monkeypatch.setattr(Server, "every", [])
    return service._here.lanes


class Asking(threading.Thread):
    """One question in a thread of its own; `outcome` is its answer, or the error."""

    def __init__(self, devices: int, lane: int) -> None:
        super().__init__(daemon=True)
        self.devices, self.ticket = devices, service.LaneTicket(lane)
        self.outcome: Any = None
        self.start()

    def run(self) -> None:
        how = {"devices": self.devices, "flags": {}, "target": {}, "effort": "partition"}
        try:
            self.outcome = service._ask(b"program", how, PATIENCE_S, self.ticket, None)
        except CaptureError as error:
            self.outcome = error


@pytest.mark.parametrize("seed", range(30))
def test_answers_reach_who_asked_and_a_ticket_takes_back_its_own_question_alone(lanes: Any, seed: int):
    schedule = random.Random(seed)
    asking = [Asking(number, schedule.randrange(service.LANES)) for number in range(1, 13)]
    taken: list[Asking] = []
    while any(own.is_alive() for own in asking):
        step = schedule.choice(["answer", "answer", "cancel", "die", "rest"])
        servers = [lane.helper for lane in lanes if lane.helper is not None]
        if step == "cancel" and len(taken) < 4:
            own = schedule.choice(asking)
            own.ticket.cancel()
            taken.append(own)
        elif step in ("answer", "die") and servers:
            server = schedule.choice(servers)
            if not server.orders:
                server.tell(step)
        time.sleep(schedule.random() * 0.001)
    for own in asking:
        own.join(PATIENCE_S)
        if own.outcome == own.devices:
            continue
        assert isinstance(own.outcome, CaptureError)
        said = str(own.outcome)
        assert own in taken if "cancelled" in said else "ended before it answered" in said, said
    # What was taken back by a ticket was never another's.
    cancelled = {server.tickets[number] for server in Server.every for number in server.cancelled}
    assert cancelled <= {own.ticket for own in taken}
    assert not any(lane.is_busy() for lane in lanes)


def test_a_question_that_waits_for_its_lane_is_never_asked_once_it_was_taken_back(lanes: Any):
    first = Asking(1, 0)
    eventually(lambda: lanes[0].helper is not None and lanes[0].helper.asked is not None)
    second = Asking(2, 0)
    eventually(lambda: second.ticket in lanes[0]._tickets)
    second.ticket.cancel()
    other = Asking(3, 1)
    eventually(lambda: lanes[1].helper is not None and lanes[1].helper.asked is not None)
    # The other lane waits for nobody.
    lanes[1].helper.tell("answer")
    other.join(PATIENCE_S)
    assert other.outcome == 3
    lanes[0].helper.tell("answer")
    first.join(PATIENCE_S)
    second.join(PATIENCE_S)
    assert first.outcome == 1
    assert "it was cancelled" in str(second.outcome)
    assert lanes[0].helper.answered == [first.ticket]


def test_a_server_that_died_is_replaced_for_the_next_question(lanes: Any):
    first = Asking(1, 0)
    eventually(lambda: lanes[0].helper is not None and lanes[0].helper.asked is not None)
    lanes[0].helper.tell("die")
    first.join(PATIENCE_S)
    assert "ended before it answered" in str(first.outcome)
    second = Asking(2, 0)
    eventually(lambda: lanes[0].helper is not None and lanes[0].helper.asked is not None)
    lanes[0].helper.tell("answer")
    second.join(PATIENCE_S)
    assert second.outcome == 2
    assert len(Server.every) == 2
