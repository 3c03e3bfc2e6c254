"""An error of ours in the cause of one collective leaves all others as they are."""

from __future__ import annotations

import jax
import pytest
from causes.meshes import array, named

import pjit_inspect as pi
from pjit_inspect import guard
from pjit_inspect.analyze.causes.need_finder import NeedFinder


def test_an_error_in_one_cause_costs_no_other(monkeypatch):
    find, calls = NeedFinder.find, []

    def fail_once(self, edge, axes):
        calls.append(edge)
        if len(calls) == 1:
            raise IndexError("out of range")
        return find(self, edge, axes)

    monkeypatch.setattr(guard, "_warned", set())
    monkeypatch.setattr(NeedFinder, "find", fail_once)
    x = array((16, 64), "data", "model")
    record = pi.inspect(jax.jit(lambda x: (x.sum(1), jax.lax.with_sharding_constraint(x * 2, named(None, "model")))), x)
    with pytest.warns(RuntimeWarning, match="could not make a cause: IndexError: out of range"):
        causes = [row.cause for row in record.collectives]
    assert sorted(cause.kind == "unknown" for cause in causes) == [False, True]
    assert "pjit_inspect failed at it" in str(next(cause for cause in causes if cause.kind == "unknown").sentence)
