"""Every sentence of the corpus knows which of its words are names and PartitionSpecs, and these are what the facts say.

Not its job: which sentence is right (test_reasons.py, test_advice.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pjit_inspect.model.record.reason import Difference
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, bare, name, spec
from recompiles.corpus import SCENARIOS
from recompiles.scenario import Scenario, applies
from recompiles.score import Outcome, outcome_of

RUN = [scenario for scenario in SCENARIOS if applies(scenario)]

# The kinds of difference that are about one argument, static argument or keyword, and name nothing else.
OF_ONE = {
    "shape", "dtype", "weak type", "sharding", "committed", "layout", "type sharding", "in_shardings", "static",
    "keywords", "out_shardings",
}  # fmt: skip
PLACED = {"sharding", "committed", "device", "type sharding", "in_shardings", "out_shardings"}


@pytest.mark.parametrize("scenario", RUN, ids=lambda scenario: scenario.name)
def test_names_specs_and_axes_are_those_of_the_facts(scenario: Scenario, tmp_path: Path) -> None:
    outcome = outcome_of(scenario, tmp_path)
    check_every_sentence_has_its_phrases(outcome)
    check_what_differs_is_named_by_its_path(outcome)
    check_a_spec_is_what_the_placement_says_before_and_after(outcome)
    check_an_axis_is_one_of_the_meshes_before_and_after(outcome)
    check_a_reason_has_the_phrases_of_its_differences(outcome)
    check_a_pattern_names_its_path(outcome)
    check_a_copied_argument_is_a_name_with_two_placements(outcome)


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


DATA_AND_MODEL = (bare(axis("data")), bare(axis("model")))


@pytest.mark.parametrize(
    ("sentence", "phrases"),
    [
        (
            "`x`: sharding P('data', None) -> P(None, 'model')",
            (name("x"), bare(spec("P('data', None)")), bare(spec("P(None, 'model')"))),
        ),
        (
            "`x`: device 0 -> P('data', None) on data=2 x model=4",
            (name("x"), bare(spec("P('data', None)")), *DATA_AND_MODEL),
        ),
        (
            "out_shardings of `result`: unspecified -> P('data') on data=2 x model=4",
            (name("result"), bare(spec("P('data')")), *DATA_AND_MODEL),
        ),
        ("context mesh: data=8, over devices in another order", (bare(axis("data")),)),
        (
            "`params['w1']` and 1 more: sharding P('data', None) -> P(None, 'model')",
            (name("params['w1']"), bare(spec("P('data', None)")), bare(spec("P(None, 'model')"))),
        ),
    ],
)
def test_the_phrases_of_some_sentences(sentence: str, phrases: tuple[Phrase, ...], tmp_path: Path) -> None:
    found = [scenario for scenario in RUN if scenario.expect == sentence]
    assert found
    (reason,) = [reason for _, reason in outcome_of(found[0], tmp_path).reasons if reason.sentence == sentence]
    assert tuple(marked(reason.sentence)) == phrases
