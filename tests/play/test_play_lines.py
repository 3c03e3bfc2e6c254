"""`%pjit play`: a record's playground, or that of a call which is not made."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from pjit_inspect.ipython.command import ShowOptions, parse_command
from pjit_inspect.ipython.magics import _played


def parsed(line: str, *names: str) -> tuple[str, str]:
    command = parse_command(line, ShowOptions(), names.__contains__)
    return command.action, command.text


def test_play_takes_a_record_or_a_call():
    assert parsed("play") == ("play", "")
    assert parsed("play train_step") == ("play", "train_step")
    assert parsed("play 0") == ("play", "0")
    assert parsed("play train_step(params, *rest, rate=0.1)") == ("play", "train_step(params, *rest, rate=0.1)")


def test_a_function_of_that_name_is_called_as_ever():
    assert parsed("play(x)", "play") == ("run", "play(x)")


def test_the_call_is_given_to_the_playground_and_not_made():
    assert _played("f(x, y=1)") == "__import__('pjit_inspect').playground(f, x, y=1)"
    assert _played("model.step(*args)") == "__import__('pjit_inspect').playground(model.step, *args)"


def test_what_is_no_call_is_refused():
    with pytest.raises(UsageError, match="takes a call of a function"):
        _played("f(x) + 1")
    with pytest.raises(UsageError, match="takes a call of a function"):
        _played("f(x")
