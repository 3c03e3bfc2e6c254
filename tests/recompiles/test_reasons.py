"""The reason of every compile in the corpus is the sentence worked out by hand, and knows which of its words are what.

The expectations were written before any scenario ran (see `scenario`). Each scenario is compiled once, for all that is
claimed of it. Not its job: advice (test_advice.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pjit_inspect.model.record.reason import Difference
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, bare, name, spec
from recompiles.corpus import SCENARIOS
from recompiles.scenario import Scenario, applies
from recompiles.score import Outcome, run_scenario

# The kinds of difference that are about one argument, static argument or keyword, and name nothing else.
OF_ONE = {
    "shape", "dtype", "weak type", "sharding", "committed", "layout", "type sharding", "in_shardings", "static",
    "keywords", "out_shardings",
}  # fmt: skip
PLACED = {"sharding", "committed", "device", "type sharding", "in_shardings", "out_shardings"}


_DATA_AND_MODEL = (bare(axis("data")), bare(axis("model")))


PHRASES: dict[str, tuple[Phrase, ...]] = {
    "`x`: sharding P('data', None) -> P(None, 'model')": (
        name("x"),
        bare(spec("P('data', None)")),
        bare(spec("P(None, 'model')")),
    ),
    "`x`: device 0 -> P('data', None) on data=2 x model=4": (
        name("x"),
        bare(spec("P('data', None)")),
        *_DATA_AND_MODEL,
    ),
    "out_shardings of `result`: unspecified -> P('data') on data=2 x model=4": (
        name("result"),
        bare(spec("P('data')")),
        *_DATA_AND_MODEL,
    ),
    "context mesh: data=8, over devices in another order": (bare(axis("data")),),
    "`params['w1']` and 1 more: sharding P('data', None) -> P(None, 'model')": (
        name("params['w1']"),
        bare(spec("P('data', None)")),
        bare(spec("P(None, 'model')")),
    ),
}
"""The phrases of some sentences."""

# Two lines of the scenario call it.
MISSED_AND_FROM_DISK = {"compilation_cache_on_disk": [(1, 0), (0, 1)]}


@pytest.mark.parametrize("scenario", [s for s in SCENARIOS if applies(s)], ids=lambda scenario: scenario.name)
def test_the_reason_is_the_one_worked_out_by_hand(scenario: Scenario, tmp_path: Path) -> None:
    outcome = run_scenario(scenario, tmp_path)
    assert outcome.sentence in scenario.sentences
    if scenario.compiles is not None:
        assert outcome.compiles == scenario.compiles, outcome.names
    for sentence, phrases in PHRASES.items():
        if sentence == scenario.expect:
            (reason,) = [reason for _, reason in outcome.reasons if reason.sentence == sentence]
            assert tuple(marked(reason.sentence)) == phrases
    if scenario.name in MISSED_AND_FROM_DISK:
        rows = [row for row in outcome.ledger.rows if row.origin == "user"]
        in_order = sorted(rows, key=lambda row: row.entries[0].index)
        assert [(row.missed_disk, row.from_disk) for row in in_order] == MISSED_AND_FROM_DISK[scenario.name]
    check_every_sentence_has_its_phrases(outcome)
    check_what_differs_is_named_by_its_path(outcome)
    check_a_spec_is_what_the_placement_says_before_and_after(outcome)
    check_an_axis_is_one_of_the_meshes_before_and_after(outcome)
    check_a_reason_has_the_phrases_of_its_differences(outcome)
    check_a_pattern_names_its_path(outcome)
    check_a_copied_argument_is_a_name_with_two_placements(outcome)


def test_there_are_scenarios_of_every_kind() -> None:
    assert len(SCENARIOS) >= 40
    assert len({(scenario.name, scenario.jax) for scenario in SCENARIOS}) == len(SCENARIOS)
    assert {scenario.expect for scenario in SCENARIOS} >= PHRASES.keys()
    assert {scenario.name for scenario in SCENARIOS} >= MISSED_AND_FROM_DISK.keys()


def sentences(outcome: Outcome) -> Iterator[Sentence]:
    for _, reason in outcome.reasons:
        yield from (reason.sentence, *reason.notes)
        yield from (part.sentence for part in (*reason.differences, *reason.resharded))
    for pattern in outcome.ledger.patterns:
        yield from (pattern.sentence, pattern.advice)
    for row in outcome.ledger.rows:
        yield from (reason.sentence for reason in row.reasons)


def differences(outcome: Outcome) -> list[Difference]:
    return [difference for _, reason in outcome.reasons for difference in reason.differences]


def is_on_one_device(difference: Difference) -> bool:
    """Whether both sides lie on one device: the sentence may then name the kinds of sharding, which they leave out."""
    return difference.before == difference.after and difference.before.startswith("device ")


def of_kind(sentence: Sentence, kind: str) -> list[str]:
    return [phrase.text for phrase in sentence.phrases if phrase.kind == kind]


def marked(sentence: Sentence) -> list[Phrase]:
    return [phrase for phrase in sentence.phrases if phrase.kind != "word"]


def check_every_sentence_has_its_phrases(outcome: Outcome) -> None:
    for sentence in sentences(outcome):
        assert isinstance(sentence, Sentence), sentence
        assert "".join(map(str, sentence.phrases)) == sentence
        # Nothing that a reader sees in backticks is left among the words.
        assert not any("`" in text for text in of_kind(sentence, "word")), sentence.phrases


def check_what_differs_is_named_by_its_path(outcome: Outcome) -> None:
    for difference in differences(outcome):
        names = of_kind(difference.sentence, "name")
        if difference.kind in OF_ONE:
            assert names == [difference.path], difference
        elif difference.kind == "tree" and difference.path:
            assert names[0] == difference.path, difference
        elif difference.kind == "closure":
            assert difference.path in names, difference
        elif difference.kind in ("function", "source"):
            # A lambda has no name of its own.
            assert names == [difference.path.rsplit(".<locals>.", 1)[-1]] or "<lambda>" in difference.path, difference
        elif difference.kind in ("donation", "transform"):
            assert all(f"`{path}`" in (difference.before + difference.after) for path in names), difference
        else:
            assert names in ([], [difference.path]), difference


def check_a_spec_is_what_the_placement_says_before_and_after(outcome: Outcome) -> None:
    for difference in differences(outcome):
        if is_on_one_device(difference):
            continue
        specs, sides = of_kind(difference.sentence, "spec"), (difference.before, difference.after)
        facts = [side.partition(" on ")[0] for side in sides if side.startswith("P(")]
        assert set(specs) <= set(facts), difference
        if difference.kind in PLACED - {"committed"}:
            # Said once where the two are the same.
            assert set(specs) == set(facts), difference
        elif difference.kind not in (*PLACED, "context mesh"):
            assert specs == [], difference


def check_an_axis_is_one_of_the_meshes_before_and_after(outcome: Outcome) -> None:
    for difference in differences(outcome):
        if is_on_one_device(difference):
            continue
        meshes = f"{difference.before} x {difference.after}".replace(" on ", " x ")
        assert all(f" {text}=" in f" {meshes}" for text in of_kind(difference.sentence, "axis")), difference


def check_a_reason_has_the_phrases_of_its_differences(outcome: Outcome) -> None:
    for called, reason in outcome.reasons:
        if reason.kind == "first":
            assert of_kind(reason.sentence, "name") == [called], reason
        elif reason.kind in ("changed", "dropped"):
            shown = reason.differences if len(reason.differences) <= 4 else reason.differences[:3]
            assert marked(reason.sentence) == [phrase for d in shown for phrase in marked(d.sentence)], reason


def check_a_pattern_names_its_path(outcome: Outcome) -> None:
    for pattern in outcome.ledger.patterns:
        is_lambda = pattern.path.endswith("<lambda>")
        assert is_lambda or not pattern.path or pattern.sentence.names(pattern.path), pattern


def check_a_copied_argument_is_a_name_with_two_placements(outcome: Outcome) -> None:
    for one in (one for _, reason in outcome.reasons for one in reason.resharded):
        assert of_kind(one.sentence, "name") == [one.path]
        specs = [side.partition(" on ")[0] for side in (one.given, one.wanted) if side.startswith("P(")]
        assert of_kind(one.sentence, "spec") == specs
