"""One way to make JAX compile again: what to run, and the sentence that must explain it.

The sentences were written from what JAX's caches are keyed on, before any scenario ran; where running one showed an
error of ours, `Scenario.revised` says what had been expected and why that was wrong. Not its job: running (`score`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import jax
from packaging.version import Version

__all__ = ["SCENARIOS", "Scenario", "applies", "scenario"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario.

    Attributes:
      name: the function's name.
      run: what is run under a capture; it gets a temporary folder.
      expect: the reason's sentence, or several with "|" between where threads race; None when the last call must not
        compile anything.
      record: which record of the user's functions is asked for; among all records for an eager operation.
      of: "user", or "all" where the operation is eager.
      compiles: how many programs of the user's functions there must be (of all, for eager operations); None to not
        count.
      jax: "" for every version, or a bound such as ">=0.9".
      revised: what had been expected before it ran, and why that was wrong; "" when nothing was changed.
    """

    name: str
    run: Callable[..., None]
    expect: str | None
    record: int = -1
    of: str = "user"
    compiles: int | None = 2
    jax: str = ""
    revised: str = ""

    @property
    def sentences(self) -> tuple[str | None, ...]:
        """What is right."""
        return (None,) if self.expect is None else tuple(self.expect.split("|"))


SCENARIOS: list[Scenario] = []
"""Every scenario, in the order of definition."""


def scenario(expect: str | None, **options) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds the decorated function to the scenarios."""

    @functools.wraps(scenario)
    def add(run: Callable[..., None]) -> Callable[..., None]:
        SCENARIOS.append(Scenario(run.__name__, run, expect, **options))
        return run

    return add


def applies(scenario: Scenario) -> bool:
    """Whether a scenario is about the installed version of JAX."""
    bound = scenario.jax
    if not bound:
        return True
    installed = Version(jax.__version__)
    return installed >= Version(bound[2:]) if bound.startswith(">=") else installed < Version(bound[1:])
