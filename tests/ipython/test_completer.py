"""Tab completion on `%pjit` lines, through IPython's completer."""

from __future__ import annotations

import weakref

import pytest
from IPython.core.completer import provisionalcompleter

from pjit_inspect import api
from pjit_inspect.handles.session import captured
from pjit_inspect.ipython.command import OPTIONS
from pjit_inspect.ipython.completer import offer
from pjit_inspect.model.record.record import RecordData


@pytest.fixture
def named(session, monkeypatch):
    """A session whose log has records of three names, and nothing else is held: not by other tests of this process."""
    monkeypatch.setattr(captured, "_records", weakref.WeakValueDictionary())
    monkeypatch.setattr(captured, "_captured", weakref.WeakValueDictionary())
    api.session_log().extend(
        api.CompileRecord(RecordData(name=name)) for name in ("train_step", "<lambda>", "evaluate")
    )
    return session


def completed(session, line: str) -> list[str]:
    """The whole lines that tab may make of `line`, as a notebook builds them."""
    with provisionalcompleter():
        found = list(session.shell.Completer.completions(line, len(line)))
    assert all(completion.end == len(line) for completion in found)
    return [line[: completion.start] + completion.text for completion in found]


@pytest.mark.parametrize("use_jedi", [True, False])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("%pjit --vi", ["%pjit --view"]),
        ("%pjit --", [f"%pjit {option}" for option in sorted(OPTIONS)]),
        (
            "%pjit --view ",
            [f"%pjit --view {view}" for view in ("facts", "html", "memory", "text", "time", "tree", "widget")],
        ),
        ("%pjit --view=ti", ["%pjit --view=time"]),
        ("%pjit --view=te", ["%pjit --view=text"]),
        ("%pjit show tr", ["%pjit show train_step"]),
        ("%pjit show ", ["%pjit show <lambda>", "%pjit show evaluate", "%pjit show train_step"]),
        ("%pjit show <la", ["%pjit show <lambda>"]),
        ("%pjit --no-times --view text show e", ["%pjit --no-times --view text show evaluate"]),
        ("%pjit why tr", ["%pjit why train_step"]),
        ("%pjit why --l", ["%pjit why --line"]),
        ("%pjit why train_step --", ["%pjit why train_step --line"]),
        ("%pjit shardings e", ["%pjit shardings evaluate"]),
        ("%%pjit --n", ["%%pjit --no-times"]),
        ("%%pjit ", [f"%%pjit {option}" for option in sorted(OPTIONS)]),
    ],
)
def test_options_views_and_names_are_completed_alone(named, line, found, use_jedi):
    named.shell.Completer.use_jedi = use_jedi
    assert sorted(completed(named, line)) == found


@pytest.mark.parametrize("use_jedi", [True, False])
def test_subcommands_are_offered_beside_the_users_names(named, use_jedi):
    named.shell.Completer.use_jedi = use_jedi
    named.value("shovel = 1")
    assert {"%pjit show", "%pjit shovel"} <= set(completed(named, "%pjit sho"))
    assert {"%pjit on", "%pjit off"} <= set(completed(named, "%pjit o"))


def test_python_in_a_line_is_completed_by_ipython(named):
    named.value("import collections")
    assert completed(named, "%pjit collections.Ordered") == ["%pjit collections.OrderedDict"]


def test_the_second_line_of_a_cell_is_completed_like_the_first(named):
    cell = "x = 1\n%pjit show tr"
    with provisionalcompleter():
        texts = [completion.text for completion in named.shell.Completer.completions(cell, len(cell))]
    assert texts == ["train_step"]


@pytest.mark.parametrize("line", ["x = 1", "pjit sh", "%pjitter sh", "'%pjit'", "%pjit show a b", "%pjit f(x) sh"])
def test_nothing_is_offered_elsewhere(line):
    assert offer(line, lambda: ["show"]).words == ()


def test_an_assigned_line_is_completed():
    assert offer("y = %pjit --vi", list).words == ("--view",)


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("%pjit --target tpu:v5e:16", "tpu:v5e:16x16"),
        ("%pjit --target=cuda:h100:4", "--target=cuda:h100:4x8"),
        ("%pjit --effort f", "full"),
        ("%pjit --tar", "--target"),
    ],
)
def test_targets_are_completed(line, some):
    assert some in offer(line, tuple).words


def test_after_a_target_comes_the_code():
    assert "show" in offer("%pjit --target cpu:8 --mesh data=2,model=4 sh", tuple).words
