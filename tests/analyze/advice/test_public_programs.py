"""The first advice on a program of a public repository saves what the best single change does, within 5 %.

Some always, with `--all` every one that was searched in full (`scripts/score_advice --truth`). Not its job: whether the
code of the advice can be written (`test_applied`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import pytest
from analyze.advice.public_programs import PUBLIC

import pjit_inspect as pi
from pjit_inspect.analyze.advice.judge import NOTICEABLE

TRUTH: dict[str, Any] = json.loads((Path(__file__).parent / "truth.json").read_text())
KNOWN = {program.name: program.build for program in PUBLIC if program.name in TRUTH}
FEW = ("flax_gspmd_guide", "maxtext_pipeline", "llama3_decode")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", KNOWN if metafunc.config.getoption("--all", default=False) else FEW)


def test_the_first_advice_saves_what_the_best_change_does(name: str) -> None:
    jax.clear_caches()
    function, arguments = KNOWN[name]()
    record = pi.inspect(function, *arguments)
    rows = [row for row in record.advice if row.state == "counted" and row.kind != "layout"]
    best = TRUTH[name]["worth"]
    if best < NOTICEABLE:
        assert [str(row) for row in rows] == []
        return
    saved = [1 - after / max(1, before) for row in rows[:1] for before, after in filter(None, (row.sent, row.memory))]
    if not rows:
        # A fact is no change of shardings, and may save more: gradients summed in every turn of a scan.
        sent = sum(row.sent_bytes or 0 for row in record.collectives)
        saved = [row.cost_bytes / sent for row in record.advice[:1] if row.state == "fact" and row.unit == "sent"]
    assert max(saved) >= TRUTH[name]["saves"] - NOTICEABLE


def test_every_program_is_named_after_its_builder_once() -> None:
    assert len({program.name for program in PUBLIC}) == len(PUBLIC) >= 20
