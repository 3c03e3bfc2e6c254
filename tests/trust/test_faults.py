"""Every function of ours that runs within a user's call fails in turn: the call's result and exceptions are the same.

After that, everything that shows a record: what fails is named, the rest is there.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from faults import failing, functions_of, title
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect import guard
from pjit_inspect.observe.watch import listener

SAMPLE = 4
"""The normal run lets every so many-th function fail; `--all` lets all, with both kinds of error."""


@pytest.fixture(autouse=True)
def own_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_warned", set())


def sharded(rows: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function that JAX has not seen, with a collective, and its arguments."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    x = jax.device_put(np.ones((rows, 8), np.float32), NamedSharding(mesh, P("data", "model")))
    w = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P("model", None)))
    return jax.jit(lambda x, w: jnp.tanh(x @ w)), (x, w)


def call(rows: int) -> Any:
    function, arguments = sharded(rows)
    return function(*arguments)


def call_ahead(rows: int) -> Any:
    function, arguments = sharded(rows)
    return function.lower(*arguments).compile()(*arguments)


def watched(run: Callable[[int], Any], rows: int = 2) -> pi.Log:
    with pi.capture(calls=True) as log:
        run(rows)
    return log


def state() -> tuple[object, ...]:
    """What watching must leave as it was: no scope, no listener of ours, descriptor 2 in its place."""
    from jax._src import monitoring

    ours = [f for f in monitoring.get_event_duration_listeners() if "pjit_inspect" in str(getattr(f, "__module__", ""))]
    return len(listener._scopes), len(ours), os.fstat(2).st_ino


# JAX calls these; each does nothing but to guard what it calls, and cannot guard its own first moment.
ENTRIES = {
    "_on_duration", "_on_event", "_on_start", "_Announced.__get__",
}  # fmt: skip
# Python itself keeps what a weak reference's callback raises away from everybody.
CALLBACKS = {"_forget"}


def steps_of(run: Callable[[int], Any]) -> list[CodeType]:
    """The functions of `observe` that run within a watched call."""
    watched(run)
    with pi.capture(calls=True):
        found = functions_of(lambda: run(2), "observe/")
    return [code for code in found if code.co_qualname not in ENTRIES | CALLBACKS]


def faults(codes: list[CodeType], every: bool) -> list[tuple[CodeType, Exception]]:
    """What is to fail, and how."""
    kinds = (RuntimeError, MemoryError)
    if every:
        return [(code, kind("injected")) for code in codes for kind in kinds]
    return [(code, kinds[number % 2]("injected")) for number, code in enumerate(codes[::SAMPLE])]


@pytest.mark.parametrize("run", [call, call_ahead], ids=lambda run: run.__name__)
def test_whatever_of_ours_fails_within_a_call_its_result_is_the_same(
    run: Callable[[int], Any], request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
):
    expected, before, codes = np.asarray(run(2)), state(), steps_of(run)
    assert len(codes) > 100
    chosen, hits = faults(codes, request.config.getoption("--all")), 0
    for code, error in chosen:
        guard._warned.clear()
        with warnings.catch_warnings(record=True) as said, pi.capture(calls=True) as log:
            warnings.simplefilter("always")
            with failing(code, error) as hit:
                result = run(2)
        hits += hit[0]
        ours = [str(w.message) for w in said if "pjit_inspect" in str(w.message)]
        assert np.array_equal(np.asarray(result), expected), title(code)
        assert len(ours) <= 1, (title(code), ours)
        assert state() == before, title(code)
        # A record that was lost was warned of; one that is there can be shown.
        assert ours or [repr(record.show("text")) for record in log.user_records()], title(code)
    assert hits > 0.9 * len(chosen)
    record_property(run.__name__, f"{hits} faults in {len(codes)} functions")
    guard._warned.clear()
    assert watched(run).user_records()


# ---------------------------------------------------------------- looking at a record


# They do nothing but to call what is guarded, and to join it.
OUTERMOST = {
    "report", "_without", "record_view", "document_axes", "drawn", "to_text", "_blocks_lines", "_is_set_off", "to_html",
    "Palette.__init__", "Shown.__init__", "Shown._repr_mimebundle_",
}  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (record,) = watched(call).user_records()
    path = tmp_path_factory.mktemp("trust") / "call.pjit"
    record.save(path)
    return path


def look(path: Path) -> dict[str, str]:
    return pi.load(path).show()._repr_mimebundle_()


def test_whatever_fails_while_a_record_is_looked_at_the_rest_is_shown(
    saved: Path, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
):
    whole = look(saved)
    codes = [code for room in ("analyze/", "view/") for code in functions_of(lambda: look(saved), room)]
    assert len(codes) > 400
    codes = [code for code in codes if code.co_qualname.partition(".<locals>")[0] not in OUTERMOST]
    chosen, hits, less = faults(codes, request.config.getoption("--all")), 0, 0
    for code, error in chosen:
        guard._warned.clear()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with failing(code, error) as hit:
                shown = look(saved)
        hits += hit[0]
        less += shown != whole
        assert "tanh" in shown["text/plain"] or "<lambda>" in shown["text/plain"], title(code)
        assert len(shown["text/html"]) > 1000, title(code)
        if shown != whole:
            ours = [str(w.message) for w in said if "pjit_inspect could not" in str(w.message)]
            assert len(ours) == 1, (title(code), ours)
    assert hits > 0.9 * len(chosen)
    assert less > 0.5 * len(chosen)
    record_property("look", f"{hits} faults in {len(codes)} functions, {less} seen in the display")
    guard._warned.clear()
