"""What goes wrong with us is said once, and saying it can go wrong without anybody noticing."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from typing import Any

import pytest

from pjit_inspect import guard


@pytest.fixture(autouse=True)
def own_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_warned", set())


class Gone(io.StringIO):
    """A stream whose reader has left."""

    def write(self, _: str) -> int:
        raise BrokenPipeError("gone")


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


def leave(*_: Any, **__: Any) -> None:
    raise SystemExit(3)


def fail(*_: Any, **__: Any) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize("stream", [None, closed(), Gone()], ids=["none", "closed", "broken"])
def test_a_standard_error_that_is_gone_is_no_error(stream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(sys, "stderr", stream)
        with guard.shielded("a step"):
            raise ValueError("ours")
    assert len(guard._warned) == 1


@pytest.mark.parametrize("show", [leave, fail], ids=lambda show: show.__name__)
def test_whoever_shows_warnings_may_fail_or_leave(show: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", show)
        guard.warn_once("something")
    assert guard._warned == {"something"}


def test_ctrl_c_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", interrupt)
        with pytest.raises(KeyboardInterrupt):
            guard.warn_once("something")


def test_where_warnings_are_errors_it_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guard.warn_once("something")
        guard.warn_once("something")
    assert capsys.readouterr() == ("", "something\n")


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise self

    __repr__ = __str__


def test_an_error_that_cannot_be_told_is_told_by_its_kind() -> None:
    with pytest.warns(RuntimeWarning, match=r"could not record a step: Mute\. Your call"), guard.shielded("a step"):
        raise Mute


def test_as_many_different_warnings_as_there_may_be_take_no_more_memory() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for number in range(3_000):
            guard.warn_once(f"{number}")
    assert len(said) == len(guard._warned) == guard._MOST_WARNINGS


BROKEN = """
import os, sys, warnings
import jax
from pjit_inspect.observe.watch import listener
import pjit_inspect as pi

def fail(*_, **__):
    raise ValueError("ours")

listener.make_record = fail
os.close(2) if sys.argv[1] == "descriptor" else sys.stderr.close()
with pi.capture():
    print(jax.jit(lambda x: x + 1)(1))
"""


@pytest.mark.parametrize("what", ["descriptor", "stream"])
def test_a_call_whose_record_is_lost_while_standard_error_is_closed_has_its_result(what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BROKEN, what], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "2\n")
