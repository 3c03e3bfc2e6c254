"""A comparison with a program that is there in part, or not at all: what it lacks is never said to be gone."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_fixtures import opened

import pjit_inspect as pi
from pjit_inspect import guard
from pjit_inspect.cli import main

NAME = "transformer_step.cpu_8"
GOLDEN = fixtures.HERE / "mlp.before_xla_was_asked.pjit"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> pi.CompileRecord:
    return opened(fixtures.text(NAME), tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> pi.CompileRecord:
    text = fixtures.text(NAME)
    return opened(text[: len(text) * 8 // 10], tmp_path_factory.mktemp("part"))


def test_the_answer_says_first_what_is_incomplete_and_its_totals_are_at_least(whole, part):
    least = part.report.least
    assert 0 < least.collectives < len(whole.collectives)
    diff = pi.diff(whole, part)
    answer = str(diff.sentence)
    assert answer.startswith("the program after is incomplete: a computation has no end; sends ")
    assert f"{len(whole.collectives)} -> at least {least.collectives} collectives" in answer
    assert " gone" not in answer
    assert "fewer" not in answer
    assert "%" not in answer
    sent, count = diff.data.figure("sent"), diff.data.figure("collectives")
    assert (sent.before, sent.after, sent.at_least) == (whole.report.sent_bytes, least.sent_bytes, (False, True))
    assert (count.after, count.at_least) == (least.collectives, (False, True))


def test_what_it_lacks_is_neither_gone_nor_new_and_has_no_reason(whole, part):
    diff, back = pi.diff(whole, part), pi.diff(part, whole)
    assert len(diff.collectives.removed) == len(back.collectives.added) > 0
    assert "are not in the part that is there after" in str(diff.sentence)
    assert "are not in the part that is there before" in str(back.sentence)
    assert " new" not in str(back.sentence)
    assert {str(pair.reason) for pair in diff.collectives if pair.status == "removed"} == {""}


def test_other_work_is_not_concluded_from_what_is_missing(whole, part):
    assert not pi.diff(whole, part).data.parity
    assert not pi.diff(part, whole).data.parity


def test_tables_text_json_and_page_say_so(whole, part, tmp_path: Path):
    diff = pi.diff(whole, part)
    text = " ".join(str(diff).split())
    assert "not in the part that is there after" in text
    assert "sent over, in the part that is there" in text
    assert " removed" not in text
    read = json.loads(diff.to_json())
    assert read["after"]["incomplete"] == "a computation has no end"
    assert {one["name"]: one["at_least"] for one in read["figures"]}["sent"] == [False, True]
    diff.to_html(tmp_path / "diff.html")
    page = (tmp_path / "diff.html").read_text()
    assert "a computation has no end" in page
    assert "at least " in page


def test_two_parts_that_are_alike_differ_in_nothing_that_is_there(part):
    diff = pi.diff(part, part)
    assert diff.is_empty
    assert "the program before is incomplete" in str(diff.sentence)
    assert "nothing differs in the part that is there" in str(diff.sentence)


def test_the_command_line_names_what_is_incomplete_and_ends_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = fixtures.text(NAME)
    paths = [tmp_path / name for name in ("whole.hlo", "part.hlo")]
    paths[0].write_text(text)
    paths[1].write_text(text[: len(text) * 8 // 10])
    assert main(["diff", *map(str, paths)]) == 3
    printed = capsys.readouterr()
    assert "the program after is incomplete: a computation has no end" in printed.out
    assert printed.err.endswith(": incomplete: a computation has no end\n")


# ---------------------------------------------------------------- dumps and saved records


def test_a_stale_dump_without_the_final_program_is_not_one_without_collectives(whole, tmp_path: Path):
    (tmp_path / "module_0001.jit_lost.before_optimizations.txt").write_text("HloModule jit_lost\n")
    (tmp_path / "module_0002.jit_other.cpu_after_optimizations.txt").write_text(fixtures.text("mlp_step.cpu_8"))
    stale = pi.open(tmp_path)
    assert isinstance(stale, pi.Log)
    diff = pi.diff(whole, stale["lost"])
    reason = "the program after is incomplete: the directory has no file of its optimized program"
    assert str(diff.data.answer).startswith(reason)
    assert len(diff.collectives) == len(diff.kernels) == len(diff.data.axes) == 0
    assert diff.data.figure("sent").after is None
    assert " gone" not in str(diff)


@pytest.mark.filterwarnings("ignore:pjit_inspect could not make hlo")
def test_a_record_whose_program_is_damaged_is_compared_in_all_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guard, "_warned", set())
    damaged = tmp_path / "damaged.pjit"
    with zipfile.ZipFile(GOLDEN) as given, zipfile.ZipFile(damaged, "w") as written:
        for name in given.namelist():
            data = given.read(name)
            written.writestr(name, data[: len(data) // 2] if name == "module.hlo.pb" else data)
    golden, found = pi.load(GOLDEN), pi.load(damaged)
    diff = pi.diff(golden, found)
    assert str(diff.sentence).startswith("the program after is incomplete: ParseError: ")
    assert "damaged" in str(diff.sentence)
    assert len(diff.collectives) == 0
    assert (diff.arguments.same, diff.results.same) == (3, 1)
    assert not diff.is_empty
    diff.to_html(tmp_path / "diff.html")
    assert "damaged" in (tmp_path / "diff.html").read_text()


def test_a_record_that_is_cut_off_is_refused_with_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    cut = tmp_path / "cut.pjit"
    cut.write_bytes(GOLDEN.read_bytes()[:2000])
    assert main(["diff", str(GOLDEN), str(cut)]) == 2
    assert "cut.pjit" in capsys.readouterr().err
