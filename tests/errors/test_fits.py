"""Each refusal is explained as was worked out by hand, and every change that is proposed makes the program run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import jax
import numpy as np
import pytest

import pjit_inspect as pi

from .case import Case, refusal, run, value, ways
from .every import CASES

HERE = [case for case in CASES if case.is_here]
FOLLOWED = [case for case in HERE if case.is_followed]


@pytest.fixture(autouse=True)
def _mesh_as_it_was():
    before = jax.sharding.get_mesh()
    yield
    jax.set_mesh(before)


def equal(result: Any, want: str) -> None:
    got, expected = jax.tree.leaves(result), jax.tree.leaves(value(want))
    if len(expected) == 1 and len(got) > 1:
        got = [np.stack([np.asarray(leaf) for leaf in got])]
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        # float32, and sums that devices may add in another order
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", HERE, ids=lambda case: case.name)
def test_a_refusal_is_explained_and_every_fit_runs(case: Case):
    with jax.set_mesh(case.mesh) if case.mesh is not None else _nothing():
        explanation = pi.explain_error(refusal(case))
    assert explanation.kind == case.kind
    for words in case.says:
        assert words in explanation.sentence
    assert explanation.fits or case.fits == ()
    assert all(fit.is_checked for fit in explanation.fits if fit.is_code)
    assert explanation.frame is not None
    if case.fits is not None:
        edits = [fit.edit for fit in explanation.fits if case.is_followed or fit.is_code]
        assert len(edits) == len(case.fits)
        assert all(edit.startswith(start) for edit, start in zip(edits, case.fits, strict=True)), edits
    for version, code in enumerate(ways(case, explanation), start=1):
        before = jax.sharding.get_mesh()
        space = run(case, code, version)
        jax.set_mesh(before)
        if case.want:
            equal(space["result"], case.want)


def _nothing() -> Any:
    import contextlib

    return contextlib.nullcontext()


@pytest.mark.parametrize("case", [case for case in FOLLOWED if case.mesh is not None], ids=lambda case: case.name)
def test_explained_when_the_mesh_is_no_longer_set_the_edits_have_it(case: Case):
    explanation = pi.explain_error(refusal(case))
    for fit in explanation.fits:
        assert "EX" in fit.edit or "reshard(" not in fit.edit or not fit.is_code
    for version, code in enumerate(ways(case, explanation), start=1):
        space = run(case, code, version)
        if case.want:
            equal(space["result"], case.want)


@pytest.mark.parametrize("case", FOLLOWED, ids=lambda case: case.name)
def test_where_jax_left_its_frames_out_the_explanation_is_the_same(case: Case):
    # As in a script: JAX takes its own frames away.
    found = []
    before = jax.config.values["jax_traceback_filtering"]
    for filtering in ("off", "quiet_remove_frames"):
        jax.config.update("jax_traceback_filtering", filtering)
        try:
            explanation = pi.explain_error(refusal(case))
        finally:
            jax.config.update("jax_traceback_filtering", before)
        # The name of what jit was given is in those frames only; then it says so.
        is_named = not any("JAX_TRACEBACK_FILTERING" in note for note in explanation.notes)
        found.append((explanation.kind, is_named and explanation.sentence, is_named and explanation.fits))
    kind, sentence, fits = found[1]
    # Of a comprehension that traceback says less: where Python left it.
    says_less = str(sentence).startswith("the line ") and (kind, fits) == (found[0][0], found[0][2])
    assert found[0] == found[1] or (found[1] == (case.kind, False, False)) or says_less


def test_there_are_enough_of_each():
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)
    assert min(Counter(case.kind for case in CASES).values()) >= 1
