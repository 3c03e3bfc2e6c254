"""`%pjit --target`: the call runs as ever, and what it compiled is compiled once more for another machine."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from pjit_inspect import api
from pjit_inspect.errors import ChangeError
from pjit_inspect.ipython.command import ShowOptions, TargetOptions, parse_command


def parsed(line: str):
    return parse_command(line, ShowOptions(), lambda name: True)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--target tpu:v5e:4x4 f(x)", TargetOptions(name="tpu:v5e:4x4")),
        ("--target=cpu:16 --mesh data=4,model=4 f(x)", TargetOptions(name="cpu:16", mesh={"data": 4, "model": 4})),
        ("--effort full f(x)", TargetOptions(effort="full")),
        ("f(x)", None),
    ],
)
def test_options_of_a_target(line, expected):
    command = parsed(line)
    assert (command.action, command.text) == ("run", "f(x)")
    assert command.options.target == expected


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--effort half f(x)", "--effort needs one of partition, full, not 'half'"),
        ("--mesh 4x4 f(x)", "--mesh needs axes with their sizes, without spaces, as in data=4,model=4, not '4x4'"),
        ("--mesh data=0 f(x)", "--mesh needs axes with their sizes"),
        ("--mesh data=2,data=4 f(x)", "--mesh needs axes with their sizes"),
        ("--target", "--target needs a machine"),
        ("--target cpu:8 log", "--target, --mesh and --effort are for code that runs"),
        ("f (x --target cpu:8", "options stand before the code: %pjit --target ..."),
    ],
)
def test_wrong_options_are_refused(line, said):
    with pytest.raises(UsageError) as raised:
        parsed(line)
    assert said in str(raised.value)


def test_the_value_is_that_of_the_call_and_both_records_are_shown(program):
    printed = program.printed("%pjit --view text --no-times --target cpu:16 --mesh data=4,model=4 total(x)")
    first, second = printed.index("total  jit"), printed.index("total  what if: mesh data=4 x model=4, never run")
    assert first < second
    assert "from mesh data=2 x model=4, 8 cpu devices, compiled to run" in printed
    assert float(program.value("_")) == 64
    # What never ran is not in the log of what was compiled.
    assert [record.name for record in api.session_log().user_records()] == ["total"]


def test_a_recorded_cell_has_it_after_its_value(program):
    printed = program.printed("%%pjit --view text --no-times --target cpu:8\ntotal(x)")
    assert printed.index("total  jit") < printed.index("Out[") < printed.index("total  what if, never run")


def test_a_record_of_the_log_is_shown_for_a_target(program):
    program.value("%pjit total(x)")
    printed = program.printed("%pjit --view text --target cpu:4 --mesh data=1,model=4 show total")
    assert printed.startswith("total  what if: mesh data=1 x model=4, never run")


def test_an_unknown_target_is_refused_before_anything_runs(program):
    printed = program.printed("%pjit --target tpu:v5:4x4 print('ran')")
    assert "did you mean 'v5p'" in printed
    assert "ran\n" not in printed


def test_what_cannot_be_compiled_is_said_in_a_sentence_and_the_value_is_there(program):
    printed = program.printed("%pjit --view text --target cpu:16 total(x)")
    assert "%pjit: total is not compiled for cpu:16: the mesh data=2 x model=4 has 8 devices" in printed
    assert "On this line a mesh is --mesh data=4,model=4" in printed
    assert float(program.value("_")) == 64


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), ValueError("odd"), ChangeError("cannot be")])
def test_no_failure_of_ours_is_the_cells(program, monkeypatch, failure):
    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(api.CompileRecord, "what_if", fail)
    printed = program.printed("%pjit --view text --target cpu:8 total(x)")
    assert "total  jit" in printed
    assert "Traceback" not in printed
    assert {"KeyboardInterrupt": "was interrupted", "ValueError": "odd", "ChangeError": "cannot be"}[
        type(failure).__name__
    ] in printed
    assert float(program.value("_")) == 64
