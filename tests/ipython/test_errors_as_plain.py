"""An error under `%pjit` is the error without it: same type, same text, same frames, same lines."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from importlib.metadata import version

import pytest

from pjit_inspect import api

# Enough lines that the cell's first one is not in the lines IPython prints around the failing one.
PADDING = "a = 1\nb = 2\nc = 3\nd = 4\n"

MADE = "from jax.extend.core import Primitive\nmade = Primitive('made')\nmade.def_abstract_eval(lambda v: v)\n"
# There an error while it lowers is shown with the stack that JAX itself kept, down to whoever called IPython.
is_081 = version("jax") == "0.8.1"
RUNTIME_ERRORS = {
    "raised in a function": "total(x)\nfails(x)",
    "raised in the cell": "total(x)\nraise KeyError('lost')",
    "a name that is not there": "y = total(x)\nprint(missing)",
    "interrupted": "total(x)\nimport signal\nsignal.raise_signal(signal.SIGINT)",
    "raised while another is handled": "try:\n    fails(x)\nexcept ValueError:\n    1 / 0",
    "raised from another": "try:\n    fails(x)\nexcept ValueError as e:\n    raise RuntimeError('worse') from e",
    "raised from None": "try:\n    fails(x)\nexcept ValueError:\n    raise RuntimeError('worse') from None",
    "raised by jax": "import jax.numpy as jnp\njax.jit(jnp.dot)(np.ones((2, 3)), np.ones((4, 5)))",
    "raised by jax while it lowers": f"{MADE}jax.jit(lambda v: made.bind(v) + 1)(x)",
    "raised by xla": "def dot(v):\n    return jax.ffi.ffi_call('no_such_call', v)(v)\njax.jit(dot)(x)",
    "in an awaited function": "async def later():\n    fails(x)\nawait later()",
    "in a wrong line of another cell": "exec('1 +')",
}
SYNTAX_ERRORS = {
    "unfinished": "total(x",
    "wrong": "y = 1\nfor for in y",
    "indented": "if x:\ntotal(x)",
    "outside of a function": "y = 1\nreturn y",
}


@pytest.fixture(autouse=True)
def interrupts_arrive() -> Iterator[None]:
    """A process that a shell started in the background ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def shown(session, cell: str) -> str:
    """What an error prints, without counting the run: both runs are the same `In [N]`."""
    session.capsys.readouterr()
    result = session.shell.run_cell(cell)
    assert not result.success
    out, err = session.capsys.readouterr()
    text = re.sub(r"\x1b\[[0-9;]*m", "", out + err)
    # IPython's file name of a cell holds a hash of its text, and an address may be in a repr.
    return re.sub(r"<ipython-input-\d+-\w+>|0x[0-9a-f]+", "", text)


def error_part(text: str) -> str:
    """The error without the records that stand under it."""
    return re.split(r"^(?:total|dot|\d+ programs?|and \d+) ", text, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("body", RUNTIME_ERRORS.values(), ids=RUNTIME_ERRORS)
def test_an_error_in_a_cell_is_shown_exactly_as_without_the_magic(program, body):
    if is_081 and body == RUNTIME_ERRORS["raised by jax while it lowers"]:
        pytest.skip("JAX 0.8.1 shows all callers of what it lowers")
    plain = shown(program, "# plain\n" + PADDING + body)
    with_magic = shown(program, "%%pjit\n" + PADDING + body)
    # What is explained of an error of JAX's comes after it.
    assert error_part(with_magic).startswith(error_part(plain).rstrip())
    assert "Error" in plain or "Interrupt" in plain


@pytest.mark.parametrize("body", SYNTAX_ERRORS.values(), ids=SYNTAX_ERRORS)
def test_a_syntax_error_in_a_cell_is_shown_exactly_as_without_the_magic(program, body):
    plain = shown(program, "# plain\n" + body)
    assert shown(program, "%%pjit\n" + body) == plain
    assert "Error" in plain
    assert len(api.session_log()) == 0


def test_the_lines_of_a_cell_count_from_its_first_line(program):
    # `fails(x)` is the third line a user sees; the first is `%%pjit`.
    assert re.search(r"^----> 3 fails\(x\)$", shown(program, "%%pjit\na = 1\nfails(x)"), re.MULTILINE)


@pytest.mark.parametrize("cell", ["%%pjit\ntotal(x)\nfails(x)", "%pjit (total(x), fails(x))"])
def test_the_records_made_before_an_error_are_kept_and_shown_under_it(program, cell):
    text = shown(program, cell)
    assert text.index("ValueError: too small") < text.index("total  jit  called at")
    assert api.session_log().names() == ("total",)


@pytest.mark.parametrize("cell", ["%%pjit\nfails(x)", "%pjit fails(x)", "%%pjit\ntotal(x", "%pjit total(x"])
def test_an_error_closes_the_capture(program, cell):
    shown(program, cell)
    program.value("total(x)")
    assert len(api.session_log()) == 0


LINES = {"raised in a function": "fails(x)", "a name that is not there": "missing + 1", "raised by python": "1 / 0"}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_an_error_in_a_line_has_the_frames_of_the_plain_call(program, line):
    assert frames(program, f"%pjit {line}") == frames(program, line)


def frames(session, cell: str) -> list[tuple[str, int, str]]:
    """The frames of a failing cell from the last one in the cell on: those that tell where it failed."""
    result = session.shell.run_cell(cell)
    error = result.error_in_exec
    found, traceback = [], error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append((type(error).__name__, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    machinery = {"run_code", "run_line_magic", "pjit", "_run", "run_program"}
    kept = [frame for frame in found if frame[2] not in machinery]
    # A line that fails by itself has the cell's frame twice: where the magic stands, and the code it ran.
    return list(dict.fromkeys(kept))


def test_our_frames_are_hidden_from_a_lines_traceback(program):
    text = shown(program, "%pjit fails(x)")
    assert "pjit_inspect" not in text
    assert "ValueError: too small" in text
    if is_081:
        pytest.skip("JAX 0.8.1 shows all callers of what it lowers, ours too")
    program.value(f"{MADE}lowered = jax.jit(made.bind)")
    text = shown(program, "%pjit lowered(x)")
    assert "pjit_inspect" not in text
    assert "NotImplementedError" in text


@pytest.mark.parametrize(
    ("line", "chained"),
    [
        ("chained()", "During handling of the above exception, another exception occurred"),
        ("caused()", "The above exception was the direct cause of the following exception"),
    ],
)
def test_a_chained_error_in_a_line_keeps_its_chain(program, line, chained):
    program.value(
        "def chained():\n    try:\n        fails(x)\n    except ValueError:\n        1 / 0\n"
        "def caused():\n    try:\n        fails(x)\n    except ValueError as e:\n        raise KeyError from e"
    )
    assert chained in shown(program, f"%pjit {line}")


def test_a_syntax_error_in_a_line_shows_the_users_code_and_not_the_translated_magic(program):
    lines = shown(program, "%pjit total(x))").splitlines()
    place = lines.index("    total(x))")
    assert lines[place - 1].strip() == "File <%pjit>:1"
    assert lines[place + 2] == "SyntaxError: unmatched ')'"


def test_an_interrupt_of_a_line_is_an_interrupt(program):
    program.value("import signal")
    result = program.run("%pjit signal.raise_signal(signal.SIGINT)")
    assert isinstance(result.error_in_exec, KeyboardInterrupt)


def test_leaving_ipython_from_a_line_leaves_ipython(program):
    with pytest.warns(UserWarning, match="To exit"):
        result = program.run("import sys\n%pjit sys.exit(3)")
    assert isinstance(result.error_in_exec, SystemExit)


def test_the_cells_text_and_history_stay_as_typed(program):
    program.run("%%pjit --no-times\n\n   \ny = total(x)  # mine")
    assert program.shell.history_manager.input_hist_raw[-1] == "%%pjit --no-times\n\n   \ny = total(x)  # mine"
