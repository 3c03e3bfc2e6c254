"""`record.advice` on programs whose best change is known: it is found soon, and nothing is said of clean programs.

`scripts/score_advice` has all programs; here are those that are asked about quickly, and those that were missed once.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jax
import pytest
from analyze.advice.programs import PROGRAMS

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.report.advice import Advice, AdviceTable
from pjit_inspect.model.words.sentence import Sentence

TRUTH: dict[str, Any] = json.loads((Path(__file__).parent / "truth.json").read_text())
"""The best single change of each program, by a search of all (`scripts/score_advice --truth`)."""
QUICK = (
    "experts_that_are_rematerialized",
    "latent_attention_weights",
    "gradients_returned_replicated",
    "cache_held_by_all",
    "batch_lost_at_a_reshape",
    "result_gathered_for_the_caller",
    "scan_loses_batch",
)
CLEAN = [program.name for program in PROGRAMS if program.kind == "clean"]


@cache
def record_of(name: str) -> Any:
    program = next(one for one in PROGRAMS if one.name == name)
    jax.clear_caches()
    function, arguments = program.build()
    return pi.inspect(function, *arguments)


def saved(table: AdviceTable) -> float:
    """The share of what is sent that all changes together save; else of what is held."""
    rows = [one for one in table if one.sent is not None and one.memory is not None and one.kind != "layout"]
    for figures in ([one.sent for one in rows], [one.memory for one in rows]):
        known = [pair for pair in figures if pair is not None]
        if known and known[-1][1] < known[0][0]:
            return 1 - known[-1][1] / known[0][0]
    return 0.0


@pytest.mark.parametrize("name", QUICK)
def test_the_changes_save_what_the_best_single_one_does(name: str) -> None:
    table = record_of(name).advice
    # Of memory, and of products in the judge's figure, half counts.
    assert saved(table) >= 0.95 * TRUTH[name]["saves"], (table, TRUTH[name])
    assert all(one.change and one.edits for one in table)


def test_the_step_over_two_axes_has_its_winner_among_the_first_questions() -> None:
    """The bound alone puts it at question 18: where the axis is lost first is asked in turn with it."""
    first = record_of("step_2d_unrolled").advice[0]
    assert first.kind == "axis_lost"
    assert first.number <= 4
    assert first.change == 'x = jax.lax.with_sharding_constraint(params["emb"][batch["tok"]], P(\'fsdp\', None, None))'
    assert first.sent is not None
    assert 2 * first.sent[1] < first.sent[0]


@pytest.mark.parametrize("name", ["norms_summed_one_by_one", "equal_layers_written_out"])
def test_a_fact_that_no_sharding_changes_is_told(name: str) -> None:
    program = next(one for one in PROGRAMS if one.name == name)
    assert [(one.kind, one.state) for one in record_of(name).advice] == [(program.fact, "fact")]


@pytest.mark.parametrize("name", CLEAN)
def test_nothing_is_said_of_a_clean_program(name: str) -> None:
    record = record_of(name)
    assert [str(one) for one in record.advice if one.kind != "layout"] == []
    assert list(map(str, record.findings)) == []


def test_what_is_counted_is_what_is_compiled() -> None:
    for one in record_of("latent_attention_weights").advice:
        checked = one.check()
        assert one.sent is not None
        assert checked.after_bytes <= 1.02 * 2 * one.sent[1], "a CPU computes bfloat16 as float32"
        assert checked.verdict == "helps"


def test_a_fact_cannot_be_compiled() -> None:
    with pytest.raises(CaptureError, match="no change that can be made"):
        record_of("norms_summed_one_by_one").advice[0].check()
    with pytest.raises(ValueError, match="not handed out by a record"):
        Advice(kind="line", sentence=Sentence("a change")).check()


def test_a_record_from_a_file_has_facts_only(tmp_path: Path) -> None:
    record_of("equal_layers_written_out").save(tmp_path / "f.pjit")
    table = pi.load(tmp_path / "f.pjit").advice
    assert [one.kind for one in table] == ["written_out_layers"]
    assert (table.asked, table.missing) == (0, "the record is from a file")


def test_the_json_has_all_fields_of_all_rows() -> None:
    table = record_of("latent_attention_weights").advice
    read = json.loads(table.to_json())
    assert [row["change"] for row in read["rows"]] == [row.change for row in table]
    assert [tuple(row["sent"]) for row in read["rows"]] == [row.sent for row in table]
    assert read["rows"][0]["edits"][0]["kind"] == table[0].edits[0].kind
    assert (read["asked"], read["untried"]) == (table.asked, table.untried)


def test_the_text_has_the_code_to_write() -> None:
    text = str(record_of("batch_lost_at_a_reshape").advice.show())
    assert text.startswith("1 change is worth it (")
    assert "ask for P('data', 'model')" in text
    assert "sends " in text
    assert " -> " in text
    clean = str(record_of("megatron_forward").advice.show())
    assert "Nothing worth changing: 6 changes asked of 9 thought of" in clean
