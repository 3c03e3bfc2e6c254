"""`%pjit ledger`, `%pjit on --watch` and `--limit`, in a real IPython and in a real kernel."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from pjit_inspect import api
from pjit_inspect.handles.session.history import HISTORY
from pjit_inspect.ipython.completer import offer
from pjit_inspect.observe.watch import listener


@pytest.fixture(autouse=True)
def no_history():
    """Each test begins as a new process would: cells of another shell are not those of this one."""
    HISTORY.clear()


DOUBLE = "import jax, numpy as np\ndouble = jax.jit(lambda x: x * 2)\n"


def test_watching_prints_a_line_for_each_compile_with_its_reason(session):
    session.value("%pjit --no-times on --watch")
    printed = session.printed(DOUBLE + "for n in (3, 4):\n    double(np.ones(n, np.float32))")
    assert printed.splitlines()[:2] == [
        "<lambda>, compile 1: first compile of `<lambda>`",
        "<lambda>, compile 2: `x`: length 3 -> 4 (dimension 0)",
    ]


def test_a_line_has_seconds_unless_they_are_left_out(session):
    session.value("%pjit on --watch")
    printed = session.printed(DOUBLE + "double(np.ones(5, np.float32))")
    assert printed.startswith("<lambda>, compile 1, ")
    assert " ms: first compile" in printed or " s: first compile" in printed


def test_eager_operations_are_one_line_at_the_end_of_the_cell(session):
    session.value("%pjit --no-times on --watch")
    printed = session.printed("import jax, numpy as np\nfor n in (31, 32):\n    jax.lax.atan(np.ones(n, np.float32))")
    assert printed.splitlines() == ["and 2 programs of eager operations and libraries: %pjit log"]


def test_a_limit_warns_once_at_the_nth_compile_of_one_function(session):
    session.value("%pjit on --limit 2")
    printed = session.printed(DOUBLE + "for n in (6, 7, 8):\n    double(np.ones(n, np.float32))")
    assert printed.splitlines() == ["%pjit: <lambda> has been compiled 2 times; %pjit ledger tells why"]


def test_watching_later_counts_on_from_what_the_log_has(session):
    session.value("%pjit on")
    session.value(DOUBLE + "for n in (12, 13):\n    double(np.ones(n, np.float32))")
    session.value("%pjit --no-times on --watch --limit 3")
    printed = session.printed("double(np.ones(14, np.float32));").splitlines()
    assert printed[0].startswith("<lambda>, compile 3: `x`: length 13 -> 14")
    assert printed[1] == "%pjit: <lambda> has been compiled 3 times; %pjit ledger tells why"


@pytest.mark.parametrize("end", ["%pjit off", "%pjit on", "%unload_ext pjit_inspect"])
def test_watching_ends(session, end):
    session.value("%pjit on --watch --limit 1")
    session.value(end)
    assert session.printed(DOUBLE + "double(np.ones(9, np.float32));") == ""
    assert not listener._announced


def test_the_ledger_is_displayed(session):
    session.value("%pjit on")
    session.value(DOUBLE + "for n in (10, 11):\n    double(np.ones(n, np.float32))")
    printed = session.printed("%pjit --view text --no-times ledger")
    assert printed.startswith("2 compiles of your functions, from 1 call site")
    assert "`x`: length 10 -> 11 (dimension 0)" in printed


def test_completion_offers_the_ledger_and_what_stands_after_on():
    assert offer("%pjit le", tuple).words == ("ledger",)
    assert offer("%pjit on --", tuple).words == ("--watch", "--limit")
    assert offer("%pjit on --w", tuple).words == ("--watch",)


def test_a_watcher_hears_of_no_call_that_compiles_nothing(session):
    heard = []
    stop = api.watch(lambda data, reason: heard.append((data.name, reason.kind)))
    session.value(DOUBLE + "for _ in range(3):\n    double(np.ones(12, np.float32))")
    stop()
    session.value("double(np.ones(13, np.float32))")
    assert heard == [("<lambda>", "first")]


SLOW = """
import jax, jax.numpy as jnp, numpy as np
def deep(x):
    for i in range(400):
        x = jnp.sin(x @ x) + jnp.cos(x) * i
    return x
jax.jit(deep)(np.ones((8, 8), np.float32)).sum().item()
"""


def test_in_a_kernel_the_progress_of_xla_ends_empty():
    patient = "import pjit_inspect.ipython.watch as p\np._PATIENCE_S = 0.05"
    cells = ["%load_ext pjit_inspect", patient, "%pjit --no-times on --watch", SLOW]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [o.data["text/plain"] for o in notebook.cells[-1].outputs if o.output_type == "display_data"]
    assert "deep, compile 1: first compile of `deep`" in shown
    assert not [text for text in shown if "XLA is compiling" in text]
    assert "" in shown
