"""`%pjit error`, and what stands under the traceback of a cell that is recorded."""

from __future__ import annotations

import gc
import re
import weakref
from typing import Any

import pytest

from pjit_inspect import api, guard
from pjit_inspect.errors import PjitInspectError

# Each device would hold one and a half rows: 6 / 4.
UNEVEN = "jax.device_put(np.ones((6, 4), np.float32), NamedSharding(mesh, P('model', None)))"
EXPLAINED = "is 6, and `P('model', None)` splits it over `model` (4): 6 / 4 = 1.5"


def printed_by(program: Any, cell: str) -> str:
    """What a cell prints, with the breaks of its lines taken out."""
    return " ".join(program.printed(cell).split())


@pytest.fixture(autouse=True)
def as_text(program: Any) -> None:
    """A terminal's display, so that what is shown can be read."""
    program.value("%config PjitMagics.view = 'text'")


def test_pjit_error_explains_the_last_error_of_the_shell(program):
    assert EXPLAINED not in printed_by(program, UNEVEN)
    printed = printed_by(program, "%pjit error")
    assert EXPLAINED in printed
    assert "• `P('data', None)`: `data` (2) divides 6; a device holds [3,4]" in printed
    number = program.shell.execution_count - 2
    assert f"In [{number}]:1 `jax.device_put(np.ones((6, 4)" in printed
    # It is the error of the cell, whatever was asked for since.
    assert EXPLAINED in printed_by(program, "%pjit error")


def test_pjit_error_of_any_other_error_says_its_first_line(program):
    program.run("{}['w']")
    printed = printed_by(program, "%pjit error")
    assert printed.startswith("`KeyError`: 'w'")


def test_pjit_error_without_an_error_is_a_usage_error(program, monkeypatch):
    def nothing() -> Any:
        raise PjitInspectError("no exception went uncaught in this session")

    monkeypatch.setattr(api, "explain_error", nothing)
    assert "no exception went uncaught" in printed_by(program, "%pjit error")


@pytest.mark.parametrize(
    "cell", [f"%%pjit\n{UNEVEN}", f"%pjit {UNEVEN}", f"y = %pjit {UNEVEN}", f"%%pjit\n\n1\n{UNEVEN};"]
)
def test_under_pjit_the_explanation_stands_below_the_traceback(program, cell):
    printed = printed_by(program, cell)
    assert printed.count(EXPLAINED) == 1
    assert printed.index("implies that") < printed.index(EXPLAINED)


def test_while_pjit_is_on_every_failing_cell_is_explained(program):
    program.value("%pjit on")
    assert EXPLAINED in printed_by(program, UNEVEN)
    assert EXPLAINED in printed_by(program, f"def place():\n    {UNEVEN}\nplace()")
    program.value("%pjit off")
    assert EXPLAINED not in printed_by(program, UNEVEN)


@pytest.mark.parametrize("cell", ["{}['w']", "1 / 0", "fails(1)", "1 +", "raise KeyboardInterrupt", "raise SystemExit"])
def test_an_error_that_is_not_known_has_nothing_under_it(program, cell):
    plain = printed_by(program, cell)
    program.value("%pjit on")
    recorded = printed_by(program, cell)
    # The number of the cell is all that differs.
    assert _without_numbers(recorded) == _without_numbers(plain)


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "", text)


def test_an_error_that_the_cell_caught_is_not_explained(program):
    program.value("%pjit on")
    assert EXPLAINED not in printed_by(program, f"try:\n    {UNEVEN}\nexcept ValueError:\n    pass")


def test_the_error_and_its_traceback_are_the_users(program):
    plain = program.run(UNEVEN)
    program.value("%pjit on")
    recorded = program.run(UNEVEN)
    assert type(recorded.error_in_exec) is type(plain.error_in_exec)
    # JAX 0.12 names the cell, whose number differs.
    said = [str(result.error_in_exec).partition(" This error occurs")[0] for result in (plain, recorded)]
    assert said[0] == said[1]
    assert not getattr(recorded.error_in_exec, "__notes__", [])


def test_the_call_of_a_line_is_named_as_it_was_written(program):
    program.value("w = jax.device_put(np.ones((4, 4), np.float32), jax.devices()[3])")
    program.value("@jax.jit\ndef product(a, b):\n    return a @ b")
    printed = printed_by(program, "%pjit product(x, w)")
    assert "`x` is on devices 0-7, `w` on device 3" in printed
    assert "`%pjit product(x, w)`" in printed
    assert "jax.device_put(w, NamedSharding(mesh, P()))" in printed


def test_unloading_ends_it_and_nothing_of_the_error_is_kept(program):
    program.value("%pjit on")
    program.run(UNEVEN)
    program.value("%unload_ext pjit_inspect")
    assert EXPLAINED not in printed_by(program, UNEVEN)


def test_what_is_shown_keeps_nothing_alive(program):
    program.value("%pjit on")
    program.run(f"big = np.ones((6, 4), np.float32)\n{UNEVEN.replace('np.ones((6, 4), np.float32)', 'big')}")
    held = weakref.ref(program.shell.user_ns["big"])
    program.run("1 / 0")  # Python keeps the last traceback, and with it what JAX's frames hold
    program.run("del big")
    program.run("2 / 0")
    gc.collect()
    assert held() is None


def test_a_failure_of_ours_is_warned_of_once_and_shows_nothing(program, monkeypatch):
    def fail(error: BaseException) -> Any:
        raise RuntimeError("boom")

    monkeypatch.setattr(guard, "_warned", set())
    monkeypatch.setattr(api, "explain_known_error", fail)
    program.value("%pjit on")
    with pytest.warns(RuntimeWarning, match="could not make an explanation of the error: RuntimeError: boom"):
        program.run(UNEVEN)
    assert "boom" not in printed_by(program, UNEVEN)


def test_memory_that_was_too_small_is_explained_below_the_traceback(program):
    program.run("def grow(x): return jnp.broadcast_to(x, (2**45,)) * 2")
    printed = printed_by(program, "%%pjit\njax.jit(grow)(np.float32(1))")
    assert "`grow` was compiled, and when it ran there was no room for 128 TiB: its result `result`" in printed
    assert "128 TiB at the peak (counted)" in printed
    # The record of what failed is shown and kept.
    assert api.session_log()["grow"].memory_use.peak_bytes == 4 * 2**45 + 4
