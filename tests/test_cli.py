"""`python -m pjit_inspect`: reports without a notebook, without JAX, and one line for what goes wrong."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.cli import main

DATA = Path(fixtures.__file__).parent


@pytest.mark.parametrize("name", fixtures.ALL)
def test_a_report_of_every_fixture_is_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "report.html"
    assert main(["report", str(DATA / f"{name}.hlo.gz"), "-o", str(page)]) == 0
    html = page.read_text()
    assert html.startswith("<!")
    assert "https://" not in html
    assert "http://" not in html.replace("http://www.w3.org/", "")
    assert capsys.readouterr().out == f"wrote {page}\n"


@pytest.mark.parametrize(
    ("called", "said"),
    [
        ("/bin/pjit-inspect", "pjit-inspect"),
        ("C:/pjit-inspect.exe", "pjit-inspect"),
        ("x.py", "python -m pjit_inspect"),
    ],
)
def test_help_says_the_name_that_was_called(
    called: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", [called, "--help"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out.startswith(f"usage: {said} [")


def test_without_an_output_the_text_is_printed(capsys: pytest.CaptureFixture[str]):
    path = DATA / "pallas.v5e.hlo.gz"
    assert main(["report", str(path)]) == 0
    assert capsys.readouterr().out.rstrip("\n") == str(pi.open(path)).rstrip("\n")


def test_text_and_html_can_be_had_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "report.html"
    assert main(["report", str(DATA / "pallas.v5e.hlo.gz"), "--text", "-o", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "1 collective" in printed
    assert printed.endswith(f"wrote {page}\n")


def test_every_command_has_json(capsys: pytest.CaptureFixture[str]):
    for command in ("report", "diff", "upgrade", "check", "query", "skill"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "--json" in capsys.readouterr().out
    path = DATA / "mlp_step.v5e_2x4.hlo.gz"
    assert main(["report", str(path), "--json", "--mesh", "data=2,model=4"]) == 0
    found = json.loads(capsys.readouterr().out)
    (program,) = found["programs"]
    assert (found["status"], found["schema"]) == ("OK", "pjit_inspect/report/1")
    assert program["capture"]["mesh"] == {"data": 2, "model": 4}
    assert [row["kind"] for row in program["collectives"]] == ["all-reduce"] * 3
    assert {"kernels", "arguments", "results", "memory", "missing"} < program.keys()


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    folder.mkdir()
    for number, name, module in ((3, "mlp_step.cpu_8", "jit_step"), (7, "pallas.v5e", "jit__lambda")):
        (folder / f"module_{number:04d}.{module}.cpu_after_optimizations.txt").write_text(fixtures.text(name))
    return folder


def test_a_dump_directory_gives_one_file_for_each_program(dump: Path, tmp_path: Path):
    assert main(["report", str(dump), "-o", str(tmp_path / "report.html")]) == 0
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["report.0.step.html", "report.1._lambda.html"]


def test_one_program_of_a_dump_directory_can_be_chosen(dump: Path, tmp_path: Path):
    page = tmp_path / "report.html"
    assert main(["report", str(dump), "--only", "step", "-o", str(page)]) == 0
    assert [path.name for path in tmp_path.glob("*.html")] == ["report.html"]


def test_a_name_that_is_not_there_gets_the_nearest(dump: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["report", str(dump), "--only", "stop"]) == 1
    assert "the nearest names are 'step'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n", "this is a PNG picture"),
        (b"import jax", "the text begins with 'import jax'"),
        (b"\x1f\x8b\x08\x00cut", "the gzip file is cut off or damaged"),
        (b"PK\x03\x04", "the archive's directory cannot be read"),
        (None, "No such file or directory"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line(
    content: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    assert main(["report", str(path)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("pjit_inspect: ")
    assert printed.err.count("\n") == 1
    assert message in printed.err
    assert str(path) in printed.err


def test_a_directory_without_dumps_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["report", str(tmp_path)]) == 1
    assert "no program was dumped into this directory" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "nowhere" / "report.html"
    assert main(["report", str(DATA / "pallas.v5e.hlo.gz"), "-o", str(page)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--help"], 0), (["report", "--help"], 0), ([], 2), (["draw"], 2), (["report"], 2), (["report", "a", "b"], 2)],
)
def test_help_and_wrong_arguments_have_their_usual_exit_codes(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == code
    printed = capsys.readouterr()
    assert "python -m pjit_inspect" in (printed.err if code else printed.out)


def test_the_module_runs_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["pjit_inspect", "report", str(DATA / "pallas.v5e.hlo.gz")])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(Path(pi.__file__).with_name("__main__.py")), run_name="__main__")
    assert caught.value.code == 0
    assert "1 collective" in capsys.readouterr().out


def test_a_report_needs_no_jax(tmp_path: Path):
    page = tmp_path / "report.html"
    script = f"""
import sys
sys.modules["jax"] = sys.modules["jaxlib"] = None
from pjit_inspect.cli import main
sys.exit(main(["report", {str(DATA / "pallas.v5e.hlo.gz")!r}, "-o", {str(page)!r}]))
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert page.exists()


@pytest.mark.skipif(shutil.which("head") is None, reason="needs head")
def test_a_reader_that_closes_early_sees_no_traceback():
    path = DATA / "transformer_step.cpu_8.hlo.gz"
    command = f"{sys.executable} -m pjit_inspect report {path} | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_program_that_cannot_be_shown_does_not_hide_the_others(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shown, written = pi.CompileRecord.__str__, pi.CompileRecord.to_html

    def check(record: pi.CompileRecord) -> None:
        if record.name == "step":
            raise ZeroDivisionError("\x1b[2J")

    monkeypatch.setattr(pi.CompileRecord, "__str__", lambda record: check(record) or shown(record))
    monkeypatch.setattr(pi.CompileRecord, "to_html", lambda record, path: check(record) or written(record, path))
    assert main(["report", str(dump), "--text", "-o", str(tmp_path / "report.html")]) == 1
    printed = capsys.readouterr()
    assert "_lambda" in printed.out
    assert (tmp_path / "report.1._lambda.html").exists()
    assert printed.err == "pjit_inspect: step cannot be shown: ZeroDivisionError: \\x1b[2J\n" * 2


def test_an_output_stream_without_utf_8_gets_escapes():
    # A report has "..." of many kinds, arrows and box lines, which ASCII lacks.
    command = [sys.executable, "-m", "pjit_inspect", "report", str(DATA / "transformer_step.cpu_8.hlo.gz")]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert done.stdout.isascii()
    assert done.stderr == b""


def test_an_incomplete_program_is_shown_and_has_exit_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, page = tmp_path / "step.hlo", tmp_path / "report.html"
    text = fixtures.text("mlp_step.cpu_8")
    path.write_text(text[: text.index("\nENTRY")])
    assert main(["report", str(path), "--text", "-o", str(page)]) == 3
    printed = capsys.readouterr()
    assert "Incomplete program: its entry computation is missing." in printed.out
    assert printed.err == "pjit_inspect: step: incomplete: its entry computation is missing\n"
    assert page.exists()


def test_a_dump_directory_that_lacks_a_program_has_exit_code_3(dump: Path, capsys: pytest.CaptureFixture[str]):
    (dump / "module_0004.jit_lost.before_optimizations.txt").write_text("HloModule jit_lost\n")
    (dump / "module_0005.jit_bad.cpu_after_optimizations.txt").write_text("HloModule jit_bad\n\n")
    assert main(["report", str(dump)]) == 3
    printed = capsys.readouterr()
    assert printed.err == (
        "pjit_inspect: lost: the directory has no file of its optimized program\n"
        "pjit_inspect: bad: module_0005.jit_bad.cpu_after_optimizations.txt: there is no computation in it\n"
    )
    assert "Collectives unknown: the directory has no file of its optimized program." in printed.out
    assert main(["report", str(dump), "--only", "step"]) == 0


def test_axes_can_be_named(capsys: pytest.CaptureFixture[str]):
    path = DATA / "mlp_step.v5e_2x4.hlo.gz"
    assert main(["report", str(path), "--mesh", "data=2,model=4"]) == 0
    assert "mesh data=2 x model=4" in capsys.readouterr().out


@pytest.mark.parametrize("words", ["data", "data=", "=2", "data=two", "data=2,data=4", ""])
def test_a_mesh_that_is_none_is_a_wrong_argument(words: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(["report", "any.hlo", "--mesh", words])
    assert ended.value.code == 2
    assert "--mesh" in capsys.readouterr().err


def test_a_mesh_of_other_devices_is_one_line(capsys: pytest.CaptureFixture[str]):
    assert main(["report", str(DATA / "mlp_step.v5e_2x4.hlo.gz"), "--mesh", "data=3"]) == 1
    assert "is for 8 devices, and data=3 is 3" in capsys.readouterr().err


def test_who_names_no_command_is_told_which_there_are(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main([])
    said = capsys.readouterr()
    assert not said.out
    assert all(name in said.err for name in ("report", "diff", "upgrade", "show a program that lies in a file"))


def test_a_file_that_is_not_there_is_named_without_the_number_of_an_error(capsys: pytest.CaptureFixture[str]):
    assert main(["report", "nothing.pjit"]) == 1
    assert capsys.readouterr().err == "pjit_inspect: nothing.pjit: No such file or directory\n"
