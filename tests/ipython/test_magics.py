"""`%pjit` in a real IPython: values, displays, subcommands."""

from __future__ import annotations

import gc
import re
import subprocess
import sys

import pytest

import pjit_inspect as pi
from pjit_inspect import api, guard

NOTHING = "%pjit: nothing was compiled, and no compiled function was called; to run a function, call it: %pjit f(x)"


# Values: as without the magic.


def test_the_value_of_a_line_is_the_value_of_its_expression(program):
    assert float(program.value("%pjit total(x)")) == 64
    assert float(program.value("_")) == 64
    number = program.shell.execution_count - 2
    assert float(program.value(f"Out[{number}]")) == 64


@pytest.mark.parametrize("cell", ["y = %pjit total(x)", "%pjit y = total(x)", "y = %pjit total(x);"])
def test_the_value_can_be_assigned(program, cell):
    assert program.value(cell) is None
    assert float(program.value("y")) == 64


@pytest.mark.parametrize("cell", ["%pjit total(x);", "%%pjit\ntotal(x);", "%pjit total(x);  # note"])
def test_a_semicolon_hides_the_value_and_not_the_record(program, cell):
    printed = program.printed(cell)
    assert "Out[" not in printed
    assert printed.startswith("total  jit")


def test_the_expression_runs_once(program):
    program.value("calls = []\ndef note(v):\n    calls.append(v)\n    return total(v)")
    program.value("%pjit note(x)")
    assert program.value("len(calls)") == 1


def test_several_statements_on_a_line_give_the_last_value(program):
    assert float(program.value("%pjit y = x + 1; total(y)")) == 128
    assert program.value("y.shape") == (8, 4)


def test_dollar_and_brace_are_python_and_not_ipythons_variables(program):
    assert program.value("%pjit f'{x.shape} $x'") == "(8, 4) $x"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("%pjit total(x * k)", 192),
        ("%pjit sum(total(x * k) for _ in range(2))", 384),
        ("%pjit [total(x * k) for _ in range(2)][0]", 192),
        ("%pjit (lambda: total(x * k))()", 192),
    ],
)
def test_a_line_in_a_function_sees_its_variables(program, line, value):
    program.value(f"def outer(k):\n    result = {line}\n    return result")
    assert float(program.value("outer(3)")) == value


def test_a_line_under_another_magic_and_over_another_magic(program):
    assert "Wall time" in program.printed("%time %pjit total(x)")
    printed = program.printed("%pjit %time total(x)")
    assert "Wall time" in printed
    assert "total  jit  called at" in printed


@pytest.mark.parametrize("cell", ["%%time\n%%pjit\ntotal(x)", "%%pjit\n%%time\ntotal(x)", "%%pjit\n%%pjit\ntotal(x)"])
def test_cell_magics_nest_either_way(program, cell):
    assert float(program.value(cell)) == 64
    assert "total  jit  called at" in program.capsys.readouterr().out


def test_a_captured_cell_keeps_its_records_in_the_capture(program):
    assert program.printed("%%capture out\n%%pjit\ntotal(x)") == ""
    assert "total  jit  called at" in program.printed("out.show()")


def test_a_cell_can_await(program):
    printed = program.printed("%%pjit\nimport asyncio\nawait asyncio.sleep(0)\ntotal(x)")
    assert re.search(r"total  jit  called at In \[\d+\]:4,", printed)
    assert printed.index("total  jit") < printed.index("]: Array(64")


def test_the_rest_of_a_cell_can_be_recorded(program):
    program.value("@jax.jit\ndef early(x):\n    return x + 1")
    printed = program.printed("early(x)\n%pjit --cell\ntotal(x)")
    assert "total  jit" in printed
    assert "early  jit" not in printed


def test_a_cell_magic_called_as_a_function_runs_its_cell(program):
    """What `jupyter nbconvert --to script` makes of a `%%pjit` cell."""
    program.value("value = get_ipython().run_cell_magic('pjit', '--view text', 'y = x + 1\\ntotal(y)\\n')")
    assert float(program.value("value")) == 128
    assert program.value("y.shape") == (8, 4)
    assert api.session_log()["total"].user_frame.line == 3


def test_a_cell_may_begin_with_a_future_import(program):
    program.value("%%pjit\nfrom __future__ import annotations\ntotal(x)")


# Displays: above the result, in order, deterministic.


@pytest.mark.parametrize("cell", ["%pjit total(x)", "%%pjit\ntotal(x)", "%%pjit\n%%time\ntotal(x)"])
def test_the_record_stands_above_the_value(program, cell):
    printed = program.printed(cell)
    assert printed.index("total  jit  called at") < re.search(r"Out\[\d+\]: Array\(64", printed).start()


def test_the_records_of_several_lines_stand_above_the_value_in_order(program):
    program.value("@jax.jit\ndef other(x):\n    return x - 1")
    printed = program.printed("%pjit total(x)\nprint('between')\n%pjit other(x)")
    found = [printed.index(word) for word in ("between", "total  jit", "other  jit", "Out[")]
    assert found == sorted(found)


def test_where_every_expression_is_displayed_a_cell_is_recorded_to_its_end(program):
    program.shell.ast_node_interactivity = "all"
    program.value("@jax.jit\ndef other(x):\n    return (x - 1).sum()")
    printed = program.printed("%%pjit\ntotal(x)\nother(x)")
    found = [printed.index(word) for word in ("Array(64", "Array(0", "total  jit", "other  jit")]
    assert found == sorted(found)


# Results: a large one is a line for each of its trees, and stays what it is.

STEP = """
big = jax.device_put(np.ones((64, 32), np.float32), NamedSharding(mesh, P("data", "model")))

@jax.jit
def step(x):
    return {"w": x * 2, "v": [x + 1, x + 2]}, x.sum(), x[0, :3]

@jax.jit
def many(x):
    return [x[0, 0] + i for i in range(9)]

@jax.jit
def few(x):
    return x[:2, :2], x.sum()
"""


@pytest.mark.parametrize("cell", ["%pjit step(big)", "%%pjit\nstep(big)"])
def test_a_large_result_is_one_line_for_each_tree_with_shapes_and_specs(program, cell):
    program.value(STEP)
    program.capsys.readouterr()
    printed = program.printed(cell)
    _, lines = printed.split("Out[")
    lines = lines.splitlines()
    # 3 x 64 x 32 floats are 24,576 bytes, with the sum (4 bytes) and three numbers (12 bytes) 24.0 KiB.
    assert lines[0].endswith("]: ")
    assert lines[1] == "3 trees, 5 arrays, 24.0 KiB, in `_`"
    assert lines[2].split() == [
        "[0]",
        "dict",
        "3",
        "arrays",
        "24",
        "KiB",
        "f32[64,32]",
        "P('data',",
        "'model')",
        "x",
        "3",
    ]
    assert lines[3].split() == ["[1]", "array", "4", "B", "f32[]", "P()", "=", "2048.0"]
    assert lines[4].split()[:5] == ["[2]", "array", "12", "B", "f32[3]"]
    assert len(lines) == 5


def test_a_large_result_stays_what_it_is(program):
    program.value(STEP)
    result = program.value("%pjit step(big)")
    assert result[0]["w"].shape == (64, 32)
    assert program.value("_ is Out[max(Out)]") is True
    number = program.shell.execution_count - 2
    assert program.value(f"Out[{number}][0]['w'].shape") == (64, 32)


def test_many_small_arrays_are_a_large_result_too(program):
    program.value(STEP)
    printed = program.printed("%pjit many(big)")
    assert "9 trees, 9 arrays, 36 B, in `_`" in printed


@pytest.mark.parametrize("cell", ["%pjit few(big)", "%pjit few(big)[0]", "%pjit step", "%pjit list(range(5000))"])
def test_a_small_result_and_one_without_arrays_are_displayed_as_ever(program, cell):
    program.value(STEP)
    assert "in `_`" not in program.printed(cell)


def test_a_large_value_that_no_run_gave_is_displayed_as_ever(program):
    program.value(STEP)
    program.value("result = few(big)")
    assert "in `_`" not in program.printed("%pjit few(big);\nbig")
    assert "in `_`" not in program.printed("big")


def test_a_result_that_cannot_be_described_is_displayed_as_ever(program, monkeypatch):
    def broken(value):
        raise RuntimeError("no words")

    monkeypatch.setattr(api, "result_text", broken)
    monkeypatch.setattr(guard, "_warned", set())
    program.value(STEP)
    assert "Array(" in program.printed("%pjit step(big)")


def test_without_the_extension_ipython_displays_as_before(bare_shell):
    before = dict(vars(bare_shell.displayhook))
    bare_shell.run_cell("%load_ext pjit_inspect").raise_error()
    bare_shell.run_cell("%unload_ext pjit_inspect").raise_error()
    after = vars(bare_shell.displayhook)
    assert set(after) == set(before)


def test_the_record_names_the_cell_and_the_line(program):
    number = program.shell.execution_count
    program.value("a = 1\n\n%pjit total(x)")
    frame = api.session_log()["total"].user_frame
    assert (frame.where, frame.cell) == (f"In [{number}]:3", f"In [{number}]")
    program.value("%%pjit --view text\n\ntotal(x)")
    assert api.session_log()["total"].user_frame.where == f"In [{number + 1}]:3"


def test_every_frame_in_a_cell_names_that_cell(program):
    # A model's classes, the step that uses them and the call stand in three cells, as in every real notebook.
    number = program.shell.execution_count
    program.value("def layer(x):\n    return x.sum()")
    program.value("@jax.jit\ndef step(x):\n    return layer(x)")
    program.value(
        "mesh = jax.sharding.Mesh(jax.devices(), ('x',))\n"
        "split = jax.device_put(jax.numpy.arange(8.0), jax.sharding.NamedSharding(mesh, jax.P('x')))"
    )
    program.value("%pjit step(split)")
    (summed,) = api.session_log()["step"].collectives
    # The call's cell stands twice: as the cell, and as the code that %pjit runs for it.
    cells = dict.fromkeys(frame.where for frame in summed.source if frame.cell)
    assert list(cells) == [f"In [{number}]:2", f"In [{number + 1}]:3", f"In [{number + 3}]:1"]
    assert f"`x.sum()` (In [{number}]:2)" in summed.cause.sentence
    life = api.session_log()["step"].passes.life(summed)
    assert f"`reduce_sum` (In [{number}]:2)" in life.line


def test_a_function_compiled_earlier_is_shown_without_compiling_again(program):
    program.value("total(x)")
    assert "total  jit  called at" in program.printed("%pjit total(x)")
    assert api.session_log()["total"].data.cached == "memory"


def test_without_times_a_fresh_and_a_known_compile_look_the_same(program):
    first, second = (program.printed("%pjit --no-times --view text total(x)") for _ in range(2))
    assert re.sub(r"(Out|In) ?\[\d+\]", "", first) == re.sub(r"(Out|In) ?\[\d+\]", "", second)
    assert "measured" not in first


def test_a_run_that_calls_nothing_jitted_says_so_in_one_line(session):
    assert session.printed("%pjit 1 + 1").splitlines()[:-1] == [NOTHING]
    assert session.printed("%%pjit\nz = 1") == NOTHING + "\n"


def test_a_run_that_fails_before_anything_compiles_adds_nothing_to_its_error(program):
    assert NOTHING not in program.printed("%pjit fails(x)")
    assert NOTHING not in program.printed("%%pjit\nfails(x)")


def test_programs_that_are_not_the_users_functions_are_counted_in_one_line(program):
    printed = program.printed("%%pjit\ny = total(x)\nz = jnp.sin(x)")
    assert printed.splitlines()[-1] == "and 1 program of eager operations and libraries: %pjit log"
    only = program.printed("%pjit z = jnp.cos(x)")
    assert only == "1 program of eager operations and libraries, none of your own functions: %pjit log\n"


def test_a_silent_cell_shows_nothing_and_ends_its_capture(program):
    program.capsys.readouterr()
    program.run("%%pjit\ntotal(x)", silent=True)
    assert program.capsys.readouterr().out == ""
    assert len(api.session_log()) == 0


def test_a_view_that_fails_is_one_line_and_the_result_stands(program, monkeypatch):
    def broken(self, view, *, times):
        raise RuntimeError("no ink")

    monkeypatch.setattr(api.CompileRecord, "show", broken)
    result = program.run("%pjit total(x)")
    assert result.success
    out = program.capsys.readouterr().out
    assert out.splitlines()[:-1] == ["%pjit could not show total: RuntimeError('no ink'). Your result is not affected"]


@pytest.mark.parametrize("cell", ["%pjit --view text --measure total(x)", "%%pjit --measure --view text\ntotal(x)"])
def test_a_measured_run_runs_once_and_shows_times_of_kernels(program, cell):
    program.value("calls = []\ndef total_once(v):\n    calls.append(v)\n    return total(v)")
    printed = program.printed(cell.replace("total(", "total_once("))
    assert re.search(r"^measured: 1 call, [\d.,]+ (\u00b5s|ms|s) on (the slowest|its) device$", printed, flags=re.M)
    assert program.value("len(calls)") == 1
    assert "measured: " not in program.printed("%pjit --view text total(x)")


def test_a_measured_run_without_times_shows_none(program):
    printed = program.printed("%pjit --view text --no-times --measure total(x)")
    assert printed.startswith("total  jit")
    assert "measured" not in printed


def test_a_measured_run_in_a_recorded_session_is_one_record_with_its_times(program):
    program.run("%pjit on")
    program.run("%pjit --view text --measure total(x)")
    (record,) = api.session_log().find("total")
    assert record.kernel_times is not None
    assert record.kernel_times.calls == 1


def test_a_run_that_cannot_be_recorded_runs_all_the_same(program, monkeypatch):
    """What an unsupported JAX could do to us must not reach the user's code."""

    def broken(*, calls, measure):
        raise AttributeError("moved")

    monkeypatch.setattr(api, "capture", broken)
    assert float(program.value("%pjit total(x)")) == 64
    out = program.capsys.readouterr().out
    assert "%pjit could not record this run: AttributeError('moved')" in out
    assert NOTHING not in out
    assert float(program.value("%%pjit\ntotal(x)")) == 64


@pytest.mark.parametrize(
    ("options", "expected"),
    [("", ("html", True)), ("--view text", ("text", True)), ("--view=widget --no-times", ("widget", False))],
)
def test_options_reach_the_view(program, monkeypatch, options, expected):
    seen = []
    monkeypatch.setattr(api.CompileRecord, "show", lambda self, view, *, times: seen.append((view, times)) or "shown")
    program.value(f"%pjit {options} total(x)")
    program.value(f"%%pjit {options}\ntotal(x)")
    program.value(f"%pjit {options} show total")
    assert seen == [expected] * 3


def test_the_session_can_have_its_own_defaults(program, monkeypatch):
    seen = []
    monkeypatch.setattr(api.CompileRecord, "show", lambda self, view, *, times: seen.append((view, times)) or "shown")
    program.value("%config PjitMagics.view = 'text'\n%config PjitMagics.times = False")
    program.value("%pjit total(x)")
    assert seen == [("text", False)]


# Subcommands.


def test_on_records_every_cell_and_off_ends_it(program):
    program.value("%pjit on")
    program.value("total(x)")
    program.value("%pjit off")
    program.value("jax.jit(lambda v: v + 3)(x)")
    assert [record.name for record in api.session_log().user_records()] == ["total"]
    assert "total" in program.printed("%pjit log")


def test_a_run_within_a_session_is_logged_once(program):
    program.value("%pjit on\n%pjit total(x)")
    assert [record.name for record in api.session_log().user_records()] == ["total"]


def test_log_can_be_text_without_times(program):
    program.value("%pjit total(x)")
    assert " ms" in program.printed("%pjit --view text log")
    assert " ms" not in program.printed("%pjit --view text --no-times log")


def test_show_gives_the_newest_record_of_a_name_or_of_the_users_functions(program):
    program.value("%pjit total(x)")
    program.value("%pjit jnp.tan(x)")
    assert program.printed("%pjit show").startswith("total  jit")
    assert program.printed("%pjit show total").startswith("total  jit")
    assert program.printed("%pjit show tan").startswith("tan  ")


def test_show_takes_the_number_that_log_prints(program):
    program.value("@jax.jit\ndef other(x):\n    return x - 1")
    program.value("%pjit total(x);")
    program.value("%pjit jnp.tan(x);")
    program.value("%pjit other(x);")
    table = program.printed("%pjit --no-times log")
    for name in ("total", "other"):
        found = re.search(rf"^ *(\d+) +{name} ", table, flags=re.M)
        assert found
        assert program.printed(f"%pjit show {found[1]}").startswith(f"{name}  jit")
    assert program.printed("%pjit show 0").startswith("total  jit")
    assert program.printed("%pjit why 0") == program.printed("%pjit why total")
    last = len(api.session_log()) - 1
    message = f"UsageError: no record 99: the log has 0 to {last}; %pjit log lists them"
    assert program.printed("%pjit show 99").strip() == message


def test_show_of_a_tree_is_text(program):
    program.value("%pjit total(x);")
    printed = program.printed("%pjit --view tree show total")
    assert "-> all-reduce" in printed
    assert printed.splitlines()[-1].startswith("in the order XLA scheduled")


def test_show_of_an_unknown_name_gives_the_nearest_names_in_one_line(program):
    program.value("%pjit total(x)")
    printed = program.printed("%pjit show totla")
    assert printed.strip() == "UsageError: no record of 'totla'; the nearest names are 'total'"
    program.value("%pjit forget")
    assert program.printed("%pjit show").startswith("UsageError: no function of yours has been recorded yet")


def test_a_name_finds_the_newest_record_that_somebody_holds(program):
    program.run("import pjit_inspect as pi\nmine = pi.inspect(total, x)")
    assert "total" in program.printed("%pjit --no-times show total")
    program.value("%pjit total(x[:4]);")
    assert "f32[4,4]" in program.printed("%pjit --view text show total").replace("float32", "f32")
    program.run("with pi.capture() as log:\n    jax.jit(lambda x: total(x) + 1)(x)\nmine = pi.inspect(total, x[:2])")
    assert "f32[2,4]" in program.printed("%pjit --view text show total").replace("float32", "f32")
    program.run("del mine")
    gc.collect()
    assert "f32[2,4]" not in program.printed("%pjit --view text show total").replace("float32", "f32")
    assert isinstance(program.value("play = %pjit play total(np.ones((8, 4), np.float32))\nplay"), pi.Playground)
    assert program.value("play.wait().sentence").startswith("captured without a mesh: here devices=8")
    program.run("play.close()")


def test_forget_empties_the_log(program):
    program.value("%pjit total(x)")
    assert program.printed("%pjit forget") == "%pjit forgot 1 record\n"
    assert len(api.session_log()) == 0


def test_a_subcommand_word_that_is_a_variable_is_code_in_brackets(session):
    session.value("log = 41")
    assert session.value("%pjit (log)") == 41
    assert session.value("%pjit log + 1") == 42
    session.value("def show(v):\n    return v")
    assert session.value("%pjit show(3)") == 3


@pytest.mark.parametrize("cell", ["%pjit --vew text 1", "%pjit lgo", "%%pjit --vew\nz = 5", "%%pjit total(x)\nz = 5"])
def test_a_mistake_is_one_line_and_nothing_runs(session, cell):
    printed = session.printed(cell)
    assert printed.startswith("UsageError: ")
    assert printed.count("\n") == 1
    assert "z" not in session.shell.user_ns


def test_a_cell_magic_without_a_cell_is_refused_as_ipython_does(session):
    assert "cell magic, but the cell body is empty" in session.printed("%%pjit")


def test_the_help_shows_every_subcommand_and_option(session):
    text = session.shell.find_line_magic("pjit").__doc__
    for word in (
        "on",
        "off",
        "log",
        "show train_step",
        "forget",
        "--view",
        "--no-times",
        "--measure",
        "%%pjit",
        "%config",
    ):
        assert word in text


@pytest.mark.parametrize("line", ["help", "--help"])
def test_help_prints_ours_and_runs_nothing_of_the_users(session, line):
    session.run("def help(*given): print('mine')")
    said = session.printed(f"%pjit {line}")
    assert "mine" not in said
    for word in ("Run code and show what jax.jit made of it", "%pjit why --line 12", "--view text|html", "%pjit help"):
        assert word in said


def test_loading_the_extension_imports_no_jax():
    code = (
        "import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_cell('%load_ext pjit_inspect').raise_error()\n"
        "assert shell.find_line_magic('pjit')\n"
        "print('jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_run_outside_of_any_cell_shows_its_record_at_once(program):
    program.capsys.readouterr()
    value = program.shell.run_line_magic("pjit", "total(x)")
    assert float(value) == 64
    assert program.capsys.readouterr().out.startswith("total  jit")


# Why, and how values are sharded.


def test_why_explains_the_newest_record_or_that_of_a_name(program):
    program.value("%pjit total(x);")
    explained = program.printed("%pjit why")
    assert explained.startswith("total  why each collective is there")
    # The sum of an array that is split over both axes: each device has a part of it.
    assert "reduction" in explained
    assert program.printed("%pjit why total") == explained


def test_why_narrows_to_a_line_of_the_source(program):
    program.value("%pjit total(x);")
    # Line 12 of the cell is `return (x * 2).sum()`.
    assert "at line 12" in program.printed("%pjit why --line 12")
    assert "no collective at line 99. There are:" in program.printed("%pjit why total --line 99")


def test_shardings_stand_under_the_line_of_source_that_makes_them(program):
    program.value("%pjit total(x);")
    lines = program.printed("%pjit shardings").splitlines()
    at = next(i for i, line in enumerate(lines) if line.endswith("return (x * 2).sum()"))
    assert "P('data', 'model')" in lines[at + 1]


def test_advice_says_how_many_changes_were_asked_about(program):
    program.value("%pjit total(x);")
    said = r"^Nothing worth changing: \d+ changes asked|worth it \(\d+ changes asked"
    assert re.search(said, program.printed("%pjit advice"))


def test_time_tells_operations_where_seconds_are_unknown(program):
    program.value("%pjit total(x);")
    shown = program.printed("%pjit time")
    assert re.search(r"FLOP a call on each of \d+ devices", shown)
    assert "`pi.calibrate(record)` measures this one" in " ".join(shown.split())
    assert "needs a machine" in program.printed("%pjit time --on")
    assert "the speed of this chip is unknown" in program.printed("%pjit time --on toaster")
    assert "by XLA" not in program.printed("%pjit time --on v5e").splitlines()[0]


def test_passes_are_listed_with_what_they_made_of_each_collective(program):
    program.value("%pjit total(x);")
    shown = program.printed("%pjit passes")
    assert "passes changed total" in shown
    assert "spmd-partitioning: all-reduce made for" in shown


@pytest.mark.parametrize("command", ["why", "shardings", "advice", "passes", "time"])
def test_without_a_record_they_say_what_to_do(session, command):
    message = "no function of yours has been recorded yet: run %pjit EXPRESSION, or %pjit on"
    assert message in session.printed(f"%pjit {command}")
    assert "no record of 'nobody'" in session.printed(f"%pjit {command} nobody")
