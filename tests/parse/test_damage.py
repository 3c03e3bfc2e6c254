"""Damaged files are read or refused, and nothing else; `scripts/fuzz` tries far more of them."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures
from mutations import KINDS, Case, make_case, real_record, use_case

from pjit_inspect import guard

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_read_or_refused(kind: str):
    fixtures.xla_parser()
    outcomes = [use_case(make_case(number, kinds=(kind,))) for number in range(40)]
    assert "refused" in outcomes


@pytest.mark.filterwarnings("ignore:pjit_inspect could not make")
@pytest.mark.parametrize("kind", KINDS)
def test_everything_can_be_made_of_what_is_read(kind: str, monkeypatch: pytest.MonkeyPatch):
    # A damaged HLO costs what is made of it, and is warned of.
    monkeypatch.setattr(guard, "_warned", set())
    fixtures.xla_parser()
    outcomes = [use_case(make_case(number, seed=1, kinds=(kind,)), lower=True) for number in range(6)]
    assert set(outcomes) <= {"read", "refused"}


@pytest.mark.parametrize(("number", "seed"), [(770, 0), (3610, 26), (11217, 26), (30017, 26), (77169, 26), (24281, 31)])
def test_what_a_guard_had_to_keep_is_read_or_refused_now(number: int, seed: int, monkeypatch: pytest.MonkeyPatch):
    """Sizes above 2^63, an argument with the number 2^62, an element below 0, an update of nothing."""
    said: list[str] = []
    monkeypatch.setattr(guard, "warn_once", said.append)
    fixtures.xla_parser()
    assert use_case(make_case(number, seed=seed), lower=True) in ("read", "refused")
    assert [line for line in said if "ParseError" not in line] == []


def test_everything_can_be_made_of_what_is_whole():
    fixtures.xla_parser()
    assert use_case(Case(kind="text", data=fixtures.text("pallas.v5e").encode()), lower=True) == "read"
    assert use_case(Case(kind="proto", data=fixtures.proto("mlp_step.h100_1x1x8")), lower=True) == "read"
    assert use_case(Case(kind="real", data=real_record()), lower=True) == "read"


def test_the_same_seed_makes_the_same_cases():
    fixtures.xla_parser()
    assert [make_case(k) for k in range(10)] == [make_case(k) for k in range(10)]
    assert make_case(3, seed=1) != make_case(3, seed=2)
    assert [make_case(k).kind for k in range(len(KINDS))] == list(KINDS)


def test_what_is_not_damaged_is_read():
    assert use_case(Case(kind="proto", data=fixtures.proto("mlp_step.cpu_8"))) == "read"
    assert use_case(Case(kind="text", data=fixtures.text("mlp_step.cpu_8").encode())) == "read"


def fuzz(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "fuzz"), *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_the_fuzzer_reports_every_case_in_a_table():
    fixtures.xla_parser()
    done = fuzz("--cases", "16", "--seed", "5")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.split()[:1] and line.split()[0] in KINDS}
    assert {kind: int(row[0]) for kind, row in rows.items()} == dict.fromkeys(KINDS, 2)
    assert sum(int(row[1]) for row in rows.values()) >= 4
    assert all(int(row[1]) + int(row[2]) == 2 and int(row[3]) == 0 for row in rows.values())


@pytest.mark.parametrize(
    ("defect", "what"),
    [
        ("raise ValueError('broken')", "ValueError"),
        ("import os; os._exit(3)", "crash"),
        ("while True: pass", "hang"),
        ("x = [0] * (1 << 31)", "MemoryError"),
    ],
)
def test_a_defect_is_found_and_told_with_how_to_repeat_it(defect: str, what: str):
    fixtures.xla_parser()
    done = fuzz("--cases", "3", "--kind", "zip", "--read-only", "--defect", defect, "--limit", "0.5")
    assert done.returncode == 1
    assert f"{what}" in done.stdout
    assert "scripts/fuzz --kind zip --read-only --seed 0 --only 1" in done.stdout
    assert " 3 cases, 1 defect" in done.stdout


@pytest.mark.skipif(find_spec("atheris") is not None, reason="atheris is installed")
def test_guided_cases_say_what_they_need():
    done = fuzz("--guided")
    assert done.returncode == 1
    assert done.stderr.startswith("error: --guided needs atheris: pip install atheris")
