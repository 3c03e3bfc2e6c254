"""Loading and unloading: what one adds the other removes."""

from __future__ import annotations

import sys
from typing import Any

import jax
import pytest

import pjit_inspect
from pjit_inspect import api
from pjit_inspect.ipython.extension import translate_first_line


def snapshot(shell: Any) -> dict[str, Any]:
    """Everything of the shell, of JAX and of Python that loading could change."""
    from jax._src import monitoring
    from jax._src.interpreters import pxla

    manager = shell.magics_manager
    # Makes IPython load those of its own magics that it loads on first use.
    manager.lsmagic_docs()
    return {
        "events": {name: list(callbacks) for name, callbacks in shell.events.callbacks.items()},
        "magics": {kind: dict(table) for kind, table in manager.magics.items()},
        "registry": dict(manager.registry),
        "configurables": [id(item) for item in shell.configurables],
        "matchers": list(shell.Completer.custom_matchers),
        "cleanup": list(shell.input_transformers_cleanup),
        "post": list(shell.input_transformers_post),
        "ast": list(shell.ast_transformers),
        "names": {name for name in shell.user_ns if not name.startswith("_")},
        "listeners": [*monitoring.get_event_duration_listeners(), *monitoring.get_event_listeners()],
        "jax": (vars(pxla.MeshComputation)["compile"], jax.jit),
        "hooks": (sys.excepthook, sys.gettrace(), sys.getprofile()),
    }


USES = {
    "nothing": (),
    "a line": ("%pjit jax.jit(lambda v: v)(1)",),
    "a cell": ("%%pjit\njax.jit(lambda v: v)(1)",),
    "runs within runs": ("%%pjit\n%%pjit\n%pjit --cell\n%pjit jax.jit(lambda v: v)(1)",),
    "a session": ("%pjit on", "jax.jit(lambda v: v)(1)"),
    "errors": ("%pjit 1/0", "%%pjit\n1/0", "%%pjit\n1/", "%pjit lgo"),
    "completion": ("list(get_ipython().Completer.completions('%pjit ', 6))",),
}


@pytest.mark.parametrize("cells", USES.values(), ids=USES)
def test_unloading_restores_exactly_what_loading_changed(bare_shell, cells, capsys):
    bare_shell.run_cell("import jax").raise_error()
    before = snapshot(bare_shell)
    bare_shell.run_cell("%load_ext pjit_inspect").raise_error()
    assert snapshot(bare_shell) != before
    for cell in cells:
        bare_shell.run_cell(cell)
    bare_shell.run_cell("%unload_ext pjit_inspect").raise_error()
    assert snapshot(bare_shell) == before


def test_loading_and_unloading_in_one_cell_leaves_nothing(bare_shell, capsys):
    bare_shell.run_cell("import jax").raise_error()
    before = snapshot(bare_shell)
    cell = "%load_ext pjit_inspect\n%pjit jax.jit(lambda v: v * 2)(1)\n%unload_ext pjit_inspect"
    bare_shell.run_cell(cell).raise_error()
    assert snapshot(bare_shell) == before
    assert "<lambda>  jit" in capsys.readouterr().out


def test_loading_twice_is_loading_once(bare_shell):
    pjit_inspect.load_ipython_extension(bare_shell)
    once = snapshot(bare_shell)
    pjit_inspect.load_ipython_extension(bare_shell)
    assert snapshot(bare_shell) == once
    pjit_inspect.unload_ipython_extension(bare_shell)


def test_unloading_what_is_not_loaded_does_nothing(bare_shell):
    before = snapshot(bare_shell)
    pjit_inspect.unload_ipython_extension(bare_shell)
    assert snapshot(bare_shell) == before


def test_reloading_leaves_one_extension_that_works(program):
    def counts() -> dict[str, int]:
        return {name: len(items) for name, items in snapshot(program.shell).items() if hasattr(items, "__len__")}

    before = counts()
    program.value("%reload_ext pjit_inspect")
    assert counts() == before
    assert float(program.value("%pjit total(x)")) == 64
    assert program.capsys.readouterr().out.count("total  jit  called at") == 1


def test_a_magic_of_the_same_name_comes_back(bare_shell):
    def mine(line):
        return "mine"

    bare_shell.register_magic_function(mine, magic_name="pjit")
    bare_shell.run_cell("%load_ext pjit_inspect\n%unload_ext pjit_inspect").raise_error()
    assert bare_shell.run_cell("%pjit").result == "mine"


def test_loading_in_the_cell_that_uses_it_shows_records_above_the_value(bare_shell, capsys):
    bare_shell.run_cell("import jax\n%load_ext pjit_inspect\n%pjit jax.jit(lambda v: v + 5)(1)", store_history=True)
    out = capsys.readouterr().out
    assert out.index("<lambda>  jit") < out.index("Array(6")


def test_unloading_ends_the_session_that_the_magic_began(program):
    program.value("%pjit on\n%unload_ext pjit_inspect")
    assert not api.is_started()


def test_unloading_leaves_a_session_that_the_user_began(program):
    program.value("import pjit_inspect as pi\npi.start()\n%pjit on\n%unload_ext pjit_inspect")
    assert api.is_started()


def test_the_log_survives_unloading(program):
    program.value("%pjit total(x)")
    program.value("%unload_ext pjit_inspect")
    assert api.session_log().names() == ("total",)


# The first line of a `%%pjit` cell.


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["x\n"],
        ["%pjit f(x)\n", "y\n"],
        ["%%pjitter\n", "y\n"],
        ["%%pjit?\n", "y\n"],
        ["%%pjit\n"],
        ["%%pjit\n", "  \n"],
        ["x\n", "%%pjit\n", "y\n"],
        ["%%time\n", "%%pjit\n", "y\n"],
    ],
)
def test_other_cells_are_left_alone(lines):
    assert translate_first_line(lines) == lines


def test_one_line_is_translated_and_every_other_line_stays_where_it_was():
    lines = ["%%pjit  --view text \n", "\n", "  if x:\n", "y"]
    first = "get_ipython().run_line_magic('pjit', '--cell --view text')\n"
    assert translate_first_line(lines) == [first, *lines[1:]]


def test_a_cell_magic_below_is_translated_as_ipython_would():
    assert translate_first_line(["%%pjit\n", "%%bash -x\n", "ls\n"]) == [
        "get_ipython().run_line_magic('pjit', '--cell')\n",
        "get_ipython().run_cell_magic('bash', '-x', 'ls\\n')\n",
    ]


@pytest.mark.parametrize("body", ["", "a = 1", "a = 1\n", "for i in x:", "f(", "for i in x:\n    f(i)\n\n"])
def test_a_terminal_knows_the_end_of_the_cell_as_for_any_cell_magic(session, body):
    assert session.shell.check_complete(f"%%pjit\n{body}") == session.shell.check_complete(f"%%time\n{body}")
