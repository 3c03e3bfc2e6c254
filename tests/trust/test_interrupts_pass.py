"""A step of ours that fails costs its own result; what interrupts it goes to who is interrupted."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import Guard, is_interrupt, read_fact, shielded
from pjit_inspect.observe.apart.call import Channel


class Watchdog:
    """A program's own time limit, as methods and functions write it."""

    def late(self, *_: object) -> None:
        raise TimeoutError("the program's own limit")


@pytest.fixture(params=["method", "function"])
def interrupt(request: pytest.FixtureRequest) -> Iterator[Callable[[], None]]:
    def late(*_: object) -> None:
        raise TimeoutError("the program's own limit")

    before = signal.signal(signal.SIGUSR1, late if request.param == "function" else Watchdog().late)
    yield lambda: signal.raise_signal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def fail() -> None:
    raise TimeoutError("our own")


def test_what_a_signal_handler_raises_passes_every_guard(interrupt: Callable[[], None]) -> None:
    with pytest.raises(TimeoutError, match="the program's own limit"):
        Guard().run("a step", interrupt, None)
    with pytest.raises(TimeoutError, match="the program's own limit"):
        read_fact({}, "a fact", interrupt, None)
    with pytest.raises(TimeoutError, match="the program's own limit"), shielded("a step"):
        interrupt()


def test_what_a_signal_handler_raises_is_no_failure_of_a_helper(
    interrupt: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = Channel("the helper")

    def ready(*_: Any) -> None:
        interrupt()

    monkeypatch.setattr(channel, "_ready", ready)
    with pytest.raises(TimeoutError, match="the program's own limit"):
        channel.ask("print", {}, timeout_s=1)
    monkeypatch.setattr(channel, "_ready", lambda *_: fail())
    with pytest.raises(CaptureError):
        channel.ask("print", {}, timeout_s=1)


def test_the_same_error_of_a_step_of_ours_costs_its_result_alone(interrupt: Callable[[], None]) -> None:
    missing: dict[str, str] = {}
    assert read_fact(missing, "a fact", fail, None) is None
    assert missing == {"a fact": "TimeoutError: our own"}
    with pytest.raises(TimeoutError) as caught:
        fail()
    assert not is_interrupt(caught.value)
    assert is_interrupt(KeyboardInterrupt())
