"""The reason of every compile in the corpus is the sentence worked out by hand.

The expectations were written before any scenario ran (see `scenario`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from recompiles.corpus import SCENARIOS
from recompiles.scenario import Scenario, applies
from recompiles.score import outcome_of


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if applies(s)], ids=lambda scenario: scenario.name)
def test_the_reason_is_the_one_worked_out_by_hand(scenario: Scenario, tmp_path: Path) -> None:
    outcome = outcome_of(scenario, tmp_path)
    assert outcome.sentence in scenario.sentences
    if scenario.compiles is not None:
        assert outcome.compiles == scenario.compiles, outcome.names


def test_there_are_scenarios_of_every_kind() -> None:
    assert len(SCENARIOS) >= 40
    assert len({(scenario.name, scenario.jax) for scenario in SCENARIOS}) == len(SCENARIOS)
