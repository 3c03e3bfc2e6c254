"""One program of the corpus: how to build it, and what is known of its collectives before it runs.

Programs are written as people write them; they are compiled for eight devices and never run. Not its job: comparing
with XLA (`checks`), or listing programs (`programs`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Build", "Built", "Counterfactual", "Expected", "Never", "Program", "program"]

Built = tuple[Callable[..., Any], tuple[Any, ...]]
Build = Callable[..., Built]
"""Makes the jitted function and its arguments (`jax.ShapeDtypeStruct`s with shardings). It may take `without`, the name
of a constraint or of an axis that it then leaves out."""

_TAG = re.compile(r"#\s*@(\w+)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A collective the program must have, worked out by hand before it ran.

    Attributes:
      kind: as `Collective.kind`; "a|b" where partitioning may do either.
      axes: mesh axes, split by spaces, in any order.
      cause: as `Cause.kind`; "a|b" where both are true.
      says: what the sentence of one such cause must contain, each; "{tag}" is the line of the `# @tag`; ().
      shape: the local shape of its operand; None when it does not matter.
    """

    kind: str
    axes: str
    cause: str
    says: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Never:
    """What no cause of the program may be.

    Attributes:
      kind: as `Collective.kind`; "" for any.
      axes: mesh axes, split by spaces; "" for any.
      cause: as `Cause.kind`; "" for any.
      says: what no sentence of such a cause may contain; "" when there must be no such cause at all.
    """

    kind: str = ""
    axes: str = ""
    cause: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual:
    """A request or a split that causes may blame, and that the program can be built without.

    Attributes:
      without: what `build(without=...)` leaves out.
      blame: a pattern of the sentences that blame it; "{tag}" becomes the line of the `# @tag`.
      kinds: the collectives meant, as `Collective.kind` split by "|"; "" for any.
      must: whether some cause must blame it.
    """

    without: str
    blame: str
    kinds: str = ""
    must: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program.

    Attributes:
      name: unique in the corpus.
      build: makes the function and its arguments.
      tags: what it has ("FSDP", "scan", "optax").
      expected: collectives and causes worked out by hand; ().
      never: what must not be said.
      counterfactuals: what may be left out, and what must then change.
      revised: what had been expected before the program ran and why that was wrong; "" when it held.
    """

    name: str
    build: Build
    tags: tuple[str, ...] = ()
    expected: tuple[Expected, ...] = ()
    never: tuple[Never, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()
    revised: str = ""

    @property
    def lines(self) -> Mapping[str, int]:
        """Tag -> line in the file, for every `# @tag` in the builder's source."""
        text, first = inspect.getsourcelines(self.build)
        found = ((_TAG.search(line), first + i) for i, line in enumerate(text))
        return {match[1]: number for match, number in found if match}


def program(
    programs: list[Program],
    *tags: str,
    expected: tuple[Expected, ...] = (),
    never: tuple[Never, ...] = (),
    counterfactuals: tuple[Counterfactual, ...] = (),
    revised: str = "",
) -> Callable[[Build], Build]:
    """Append the decorated builder to `programs`; the program is named after it."""

    def add(build: Build) -> Build:
        programs.append(
            Program(
                name=build.__name__,
                build=build,
                tags=tags,
                expected=expected,
                never=never,
                counterfactuals=counterfactuals,
                revised=revised,
            )
        )
        return build

    return add
