"""`%pjit` in a real kernel: what a notebook executed by nbclient holds afterwards."""

from __future__ import annotations

import base64
import html
import re
import zlib

import nbformat
import pytest
from nbclient import NotebookClient

# Enough statements that the cell's first line is not in the lines IPython prints around the failing one.
FAILING = {
    "error": "a = 1\nb = 2\nc = 3\nd = 4\ntotal(x), fails(x)",
    "await error": "a = 1\nb = 2\nc = 3\nd = 4\nawait asyncio.sleep(0), fails(x)",
    "syntax error": "a = 1\nb = 2\nc = 3\nd = 4\ntotal(x",
}
CELLS = {
    "define": """
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P("data", "model")))

@jax.jit
def total(x):
    return (x * 2).sum()

def fails(x):
    raise ValueError("too small")
""",
    "load": "%load_ext pjit_inspect",
    "line": "%pjit --no-times total(x)",
    "again": "%pjit --no-times total(x)",
    "hidden": "%pjit --no-times total(x);",
    "text": "%pjit --view text --no-times total(x)",
    "cell": "%%pjit --no-times\na = 1\ntotal(x)",
    "await": "%%pjit --no-times\nimport asyncio\nawait asyncio.sleep(0.01)\ntotal(x)",
    "nothing": "%%pjit\na = 1",
    **{f"plain {name}": f"# plain\n{body}" for name, body in FAILING.items()},
    **{name: f"%%pjit --no-times\n{body}" for name, body in FAILING.items()},
    "usage error": "%pjit --vew text total(x)",
    "after": "%pjit --no-times show",
    "hold": "from pjit_inspect import api\napi.user_code_begins()",
    "why": "%pjit why",
    "why of a line": "%pjit why --line 12",
    "measured": "import pjit_inspect.ipython.progress as p\np._PATIENCE_S = 0.01\n%pjit --measure total(x)",
    "later": "%pjit total(x)",
    "large": """
import pjit_inspect.handles.propagate as propagate
propagate._LONG_S = 0.0
%pjit --view text jax.jit(lambda x: x.max())(x)
print(api.session_log()[-1])
""",
    "found": """
import threading

from pjit_inspect.handles.background import somebody_waits

with somebody_waits():
    for thread in threading.enumerate():
        if thread.name == "pjit_inspect background":
            thread.join(120)
api.user_code_ends()
""",
}
"""What comes later comes while the last cell runs: from "hold" on the kernel counts as busy, between cells, too.

Of what comes between two cells nbclient keeps nothing, as the cell that it belongs to has ended.
"""


@pytest.fixture(scope="module")
def outputs():
    """Each cell's outputs, by its name above."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS.values()])
    NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def kinds(cell_outputs) -> list[str]:
    return [output.output_type for output in cell_outputs]


@pytest.mark.parametrize("name", ["line", "again", "text", "cell", "await"])
def test_the_record_is_displayed_before_the_result(outputs, name):
    assert kinds(outputs[name]) == ["display_data", "execute_result"]
    record, result = outputs[name]
    assert result.data["text/plain"].startswith("Array(64.")
    assert record.data["text/plain"].startswith("total  jit")


def test_a_hidden_value_leaves_the_record(outputs):
    assert kinds(outputs["hidden"]) == ["display_data"]


def test_the_picture_comes_with_its_text_and_the_text_alone(outputs):
    assert set(outputs["line"][0].data) == {"text/html", "text/plain"}
    assert set(outputs["text"][0].data) == {"text/plain"}


def test_the_output_is_the_same_each_time(outputs):
    def without_cell_number(name):
        """The output with the inspector's data unpacked: the cell's number stands in them too."""
        output = html.unescape(outputs[name][0].data["text/html"])
        blob = re.search(r'id="pjit-blob">([^<]*)<', output)
        assert blob
        data = zlib.decompress(base64.b64decode(blob[1])).decode("latin-1")
        return re.sub(r"In \[\d+\]", "In [ ]", output.replace(blob[1], "") + data)

    assert without_cell_number("line") == without_cell_number("again")


@pytest.mark.parametrize(("name", "line"), [("cell", 3), ("await", 4)])
def test_the_record_names_the_notebook_cell_and_line(outputs, name, line):
    number = list(CELLS).index(name) + 1
    assert f"In [{number}]:{line}" in outputs[name][0].data["text/plain"]


def test_a_cell_that_compiles_nothing_says_so(outputs):
    (note,) = outputs["nothing"]
    assert note.data["text/plain"].startswith("%pjit: nothing was compiled, and no compiled function was called")


@pytest.mark.parametrize("name", FAILING)
def test_an_error_is_the_error_of_the_plain_cell(outputs, name):
    mine, plain = outputs[name][0], outputs[f"plain {name}"][0]
    assert mine.output_type == plain.output_type == "error"
    assert mine.ename == plain.ename
    assert error_text(mine) == error_text(plain)


def error_text(error) -> str:
    """The traceback without what names the cell: its number, and the file that ipykernel gives it."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join([error.evalue, *error.traceback]))
    return re.sub(r"In *\[\d+\]|[/\w]*\d+\.py", "", text)


def test_the_record_made_before_an_error_stands_under_it(outputs):
    assert kinds(outputs["error"]) == ["error", "display_data"]
    assert outputs["error"][1].data["text/plain"].startswith("total  jit")


def test_a_usage_error_is_one_line(outputs):
    (output,) = outputs["usage error"]
    text = output.get("text") or "\n".join(output.get("traceback", []))
    assert "unknown option --vew (did you mean '--view'?)" in text


def test_the_session_goes_on_after_errors(outputs):
    (record,) = outputs["after"]
    assert record.data["text/plain"].startswith("total  jit")


def test_advice_comes_after_the_display_into_an_output_of_its_own(outputs):
    assert kinds(outputs["later"]) == ["display_data", "display_data", "execute_result"]
    record, later, _ = outputs["later"]
    assert "What to change (not asked yet" in record.data["text/plain"]
    assert later.data["text/plain"].startswith("Nothing worth changing (")
    key = re.search(r'data-pjit-advice="(\w+)"', record.data["text/html"])
    assert key
    assert key[1] in later.data["text/html"]


def test_a_display_of_a_large_program_has_its_reasons_later(outputs):
    now, shown = outputs["large"]
    assert "why they are there  not known yet" in now.text
    assert "not known yet" not in shown.data["text/plain"]
    assert "why they are there" in shown.data["text/plain"]


def test_where_outputs_are_to_be_the_same_no_advice_comes_later(outputs):
    assert "data-pjit-advice" not in outputs["after"][0].data["text/html"].partition("srcdoc")[0]
    assert kinds(outputs["after"]) == ["display_data"]


def test_why_has_the_advice_come_too_and_keeps_it_where_it_is(outputs):
    assert kinds(outputs["why"]) == ["display_data", "display_data"]
    told, later = outputs["why"]
    assert told.data["text/plain"].startswith("total  why each collective is there")
    assert later.data["text/plain"].startswith("Nothing worth changing (")
    assert "<script" not in later.data["text/html"]


def test_why_of_one_line_waits_for_nothing(outputs):
    assert kinds(outputs["why of a line"]) == ["display_data"]


def test_what_says_that_it_is_being_measured_ends_empty(outputs):
    first, record, *_ = outputs["measured"]
    assert first.data["text/plain"] == ""
    assert "measured: 1 call" in record.data["text/plain"]
