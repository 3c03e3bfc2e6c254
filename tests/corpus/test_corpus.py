"""On real training and inference steps, what the package says of shardings and causes is what XLA says.

A few programs always, all of them with `--all`. The limits are those of `table`. Not its job: how sentences are worded.
"""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest
from data.hlo_texts import parse_hlo_text

from corpus.checks import check_shardings, count_unpaired
from corpus.program import Program
from corpus.programs import PROGRAMS
from corpus.table import compiled, limits_of, measure
from pjit_inspect.parse.sharding.propagated_hlo import read_propagated_hlo

_FAST = (
    "fsdp_tp_decoder",
    "sequence_parallel_scan",
    "zero1_asks_twice",
    "moe_by_einsum_dispatch",
    "decode_one_token_tp",
    "autoencoder_on_three_axes",
    "two_towers_on_two_meshes",
    "segmentation_of_split_images",
)


def _chosen(config: pytest.Config) -> tuple[Program, ...]:
    if config.getoption("--all", default=False):
        return PROGRAMS
    return tuple(program for program in PROGRAMS if program.name in _FAST)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "program" in metafunc.fixturenames:
        chosen = _chosen(metafunc.config)
        metafunc.parametrize("program", chosen, ids=[program.name for program in chosen])


def test_every_program_has_a_name_of_its_own() -> None:
    assert max(Counter(program.name for program in PROGRAMS).values()) == 1
    assert set(_FAST) <= {program.name for program in PROGRAMS}


def test_there_are_sixty_programs_and_a_dozen_worked_out_by_hand() -> None:
    assert len(PROGRAMS) >= 60
    assert sum(bool(program.expected) for program in PROGRAMS) >= 12
    assert sum(len(program.counterfactuals) for program in PROGRAMS) >= 12


def test_every_tag_that_an_expectation_names_is_in_the_program() -> None:
    for program in PROGRAMS:
        says = [text for wanted in program.expected for text in wanted.says]
        blames = [never.says for never in program.never] + [c.blame for c in program.counterfactuals]
        for text in says + blames:
            assert all(tag in program.lines for tag in _tags(text)), (program.name, text)


def _tags(text: str) -> list[str]:
    return [part.partition("}")[0] for part in text.split("{")[1:]]


def test_xla_makes_the_same_collectives_when_it_is_asked_again(program: Program) -> None:
    record, truth = compiled(program)
    names = {name for row in record.collectives for name in row.instructions}
    assert set(truth.collectives) <= names
    assert measure(program).unjoined == 0


def test_the_package_reads_xlas_module_before_partitioning_as_the_witness_does(program: Program) -> None:
    record, truth = compiled(program)
    read = SimpleNamespace(
        data=record.data, propagation=read_propagated_hlo(parse_hlo_text(truth.before), record.data.meshes).program
    )
    result = check_shardings(read, truth)
    assert not result.failures
    assert count_unpaired(read, truth) == 0


def test_an_array_that_a_cause_rests_on_can_have_been_moved(program: Program) -> None:
    assert not measure(program).results["sizes"].failures


def test_a_cause_names_the_arguments_that_xlas_dataflow_leads_to(program: Program) -> None:
    assert not measure(program).results["names"].failures


def test_an_all_reduce_has_the_kind_of_cause_that_what_xla_sums_has(program: Program) -> None:
    assert not measure(program).results["kinds"].failures


def test_the_causes_worked_out_by_hand_are_given(program: Program) -> None:
    assert not measure(program).results["expected"].failures


def test_what_a_cause_blames_changes_the_collective_when_it_is_left_out(program: Program) -> None:
    assert not measure(program).results["counterfactuals"].failures


@pytest.mark.parametrize("number", [0, 1], ids=["shardings", "unknown causes"])
def test_few_values_differ_and_few_causes_are_unknown(pytestconfig: pytest.Config, number: int) -> None:
    words, found, limit, holds = limits_of(measure(program) for program in _chosen(pytestconfig))[number]
    assert holds, f"{words}: {found}; must be {limit}"
