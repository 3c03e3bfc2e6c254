"""Advice that is applied to the source sends what it says, within 2 % of what the program sends.

A few programs always; with `--all` every program of tests/analyze/advice and tests/corpus. Not its job: which advice is
given (`test_advice_on_programs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from analyze.advice.applied import apply_advice
from analyze.advice.programs import PROGRAMS
from analyze.advice.public_programs import PUBLIC, equinox_parallelism
from corpus.arrays import grid, one, placed
from corpus.programs import PROGRAMS as CORPUS
from findings.faults import Built, pinned

import pjit_inspect as pi

_FEW = {
    "latent_attention_weights": "a line, then arguments",
    "batch_lost_at_a_reshape": "a constraint that is there",
    "gradients_returned_replicated": "results",
}


def _builders(config: pytest.Config) -> Iterator[tuple[str, Callable[[], Any]]]:
    is_all = config.getoption("--all", default=False)
    for program in (*PROGRAMS, *PUBLIC, *(CORPUS if is_all else ())):
        if is_all or program.name in _FEW:
            yield program.name, program.build


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "build" in metafunc.fixturenames:
        chosen = dict(_builders(metafunc.config))
        metafunc.parametrize("build", chosen.values(), ids=chosen.keys())


def test_what_is_applied_sends_what_is_said(build: Callable[[], Any], request: pytest.FixtureRequest) -> None:
    rows = list(apply_advice(build))
    assert rows or request.node.callspec.id not in _FEW
    assert [str(row) for row in rows if not row.is_close] == []


def test_a_constraint_on_a_tree_is_asked_about_with_shardings_that_fit_all_its_arrays() -> None:
    """One line asks for the sharding of matrices and vectors."""
    jax.clear_caches()
    function, arguments = equinox_parallelism()
    assert [row for row in pi.inspect(function, *arguments).advice if row.kind != "layout"] == []


def _lost_in_a_tree() -> Built:
    """A constraint on all arrays of a tree, of one and of two dimensions, by which they lose the batch."""
    mesh = grid(data=8)
    params = placed(mesh, {"w": ((64, 64),), "v": ((64, 64),)})

    def loss(params, x, y):
        given = {"h": jnp.tanh(x @ params["w"]), "y": 2 * y}
        given = jax.tree.map(lambda own: pinned(mesh, own), given)
        return jnp.mean((jnp.tanh(given["h"] @ params["v"])).sum(-1) * given["y"])

    return jax.jit(jax.grad(loss)), (params, one(mesh, (4096, 64), "data"), one(mesh, (4096,), "data"))


def test_a_constraint_on_a_tree_may_be_left_out() -> None:
    rows = list(apply_advice(_lost_in_a_tree))
    assert [str(row) for row in rows if not row.is_close] == []
    assert rows[0].row.change == "leave it out"
