"""The reason of every compile in the corpus is the sentence worked out by hand.

The expectations were written before any scenario ran (see `scenario`).
"""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from packaging.version import Version

from recompiles.corpus import SCENARIOS
from recompiles.scenario import Scenario
from recompiles.score import run_scenario


def applies(scenario: Scenario) -> bool:
    """Whether a scenario is about the installed version of JAX."""
    bound = scenario.jax
    if not bound:
        return True
    installed = Version(jax.__version__)
    return installed >= Version(bound[2:]) if bound.startswith(">=") else installed < Version(bound[1:])


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if applies(s)], ids=lambda scenario: scenario.name)
def test_the_reason_is_the_one_worked_out_by_hand(scenario: Scenario, tmp_path: Path) -> None:
    outcome = run_scenario(scenario, tmp_path)
    assert outcome.sentence in scenario.sentences
    if scenario.compiles is not None:
        assert outcome.compiles == scenario.compiles, outcome.names


def test_there_are_scenarios_of_every_kind() -> None:
    assert len(SCENARIOS) >= 40
    assert len({(scenario.name, scenario.jax) for scenario in SCENARIOS}) == len(SCENARIOS)
