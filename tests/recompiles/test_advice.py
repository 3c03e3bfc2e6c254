"""Every piece of advice the ledger gives, applied to the program that got it: it compiles less, and computes the same.

The advice of each case was written before it ran. Not its job: reasons (test_reasons.py), when a habit gets no advice
(test_no_advice.py).
"""

from __future__ import annotations

import re

import jax
import numpy as np
import pytest

from pjit_inspect.analyze.recompiles import eager_loops, fed_back
from pjit_inspect.analyze.recompiles import patterns as recompile_patterns
from pjit_inspect.model.words.sentence import Sentence
from recompiles.advice import CASES, Case, Programs, programs_of

TEXTS = (*recompile_patterns.ADVICE, *fed_back.ADVICE, *eager_loops.ADVICE)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_applied_it_makes_the_program_compile_less(case: Case) -> None:
    before, results = programs_of(case.problem, case.counted)
    assert (case.kind, case.advice) in [(pattern.kind, pattern.advice) for pattern in before.patterns]
    check_no_other_advice_is_given(before)
    for remedy in case.remedies:
        after, same = programs_of(remedy, case.counted)
        assert len(after.names) < len(before.names), (before.names, after.names)
        assert (case.kind, case.advice) not in [(pattern.kind, pattern.advice) for pattern in after.patterns]
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), results, same)


def test_every_advice_has_a_case() -> None:
    assert {case.text for case in CASES} == set(TEXTS)


def check_no_other_advice_is_given(before: Programs) -> None:
    patterns = [re.compile(".+".join(re.escape(part) for part in text.split("{}"))) for text in TEXTS]
    for found in before.patterns:
        assert found.advice == "" or any(pattern.fullmatch(found.advice) for pattern in patterns)
        for sentence in (found.sentence, found.advice):
            assert isinstance(sentence, Sentence)
            assert not any("`" in phrase.text for phrase in sentence.phrases), sentence.phrases
        assert not found.path or found.path.endswith("<lambda>") or found.sentence.names(found.path)
