"""A playground for a TPU: XLA's own answer where its compiler is installed, and the line that installs it where not."""

from __future__ import annotations

import pytest
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.observe.partitioner import targets
from play import steps


def test_without_the_compiler_the_machine_is_refused_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch):
    why = "the compiler for TPUs is not installed: pip install 'pjit_inspect[tpu]'"
    monkeypatch.setattr(targets, "why_missing", lambda platform: why)
    step, arguments = steps.mlp((2, 4), is_by_hand=True)
    play = pi.playground(step, *arguments)
    play.wait()
    play.set(target="tpu:v5e:2x4")
    found = play.wait()
    assert found.stage == "refused"
    assert found.problem is not None
    assert (found.problem.control, found.problem.text) == ("target", f"target 'tpu:v5e:2x4': {why}")
    # It can be left again, and the arguments are counted all the same.
    assert found.argument_bytes == play.base.argument_bytes
    play.set(target="cpu:8")
    assert play.wait().stage == "partitioned"
    play.close()


@pytest.mark.skipif(bool(targets.why_missing("tpu")), reason="needs libtpu")
def test_with_the_compiler_every_change_is_answered_and_held_against_the_chip():
    step, arguments = steps.mlp((2, 4), is_by_hand=True)
    play = pi.playground(step, *arguments)
    play.set(target="tpu:v5e:2x4")
    found = play.wait()
    assert (found.stage, found.available_bytes) == ("partitioned", round(15.75 * 2**30))
    assert found.time_s is not None
    play.set(specs={"params['w1']": P("data", "model")})
    assert play.wait().stage == "partitioned"
    play.full()
    assert (play.wait().stage, play.variant.fits) == ("full", True)
    play.close()
