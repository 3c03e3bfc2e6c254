"""Lines that run operations outside any jit, each time with other shapes or parameters.

A pattern names the function that the user's line calls, if known, never a function of JAX's. Not its job: jitted
functions (`analyze.recompiles.patterns`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pjit_inspect.analyze.recompiles.compiles import MAX_VALUES, SEVERAL, Compile
from pjit_inspect.model.record.ledger import Pattern
from pjit_inspect.model.words.sentence import Sentence, joined, name, place, say

ONE_SHAPE = "put the lines around it under one `jax.jit`, with arrays of one shape"
PASS_WHAT_CHANGES = (
    "put the lines around it under one `jax.jit`, and pass what changes from call to call as an argument"
)
ADVICE = (ONE_SHAPE, PASS_WHAT_CHANGES)
"""Every advice that is given here. The test of advice has a program for each."""

_MOVES = "device_put"
_NAMES = 4


def find_eager_loops(compiles: Sequence[Compile]) -> Iterator[Pattern]:
    """A pattern for each line whose operations compiled again at least three times."""
    lines: dict[tuple[str, int], list[Compile]] = {}
    for one in compiles:
        frame = one.data.user_frame
        # A `jax.jit` helps nothing that only puts arrays on devices.
        if one.data.origin != "user" and frame is not None and one.key.site is not None and one.key.called != _MOVES:
            lines.setdefault((frame.file, frame.line), []).append(one)
    for group in lines.values():
        again = _again(group)
        if len(again) >= SEVERAL:
            yield _eager_loop(group, again)


def _again(group: list[Compile]) -> list[Compile]:
    """Compiles of operations that the same instructions compiled before; one run of a line may have many shapes."""
    seen: set[tuple[object, ...]] = set()
    found = []
    for one in group:
        instruction = (one.data.name, one.key.site)
        if instruction in seen and one.reason.kind == "changed":
            found.append(one)
        seen.add(instruction)
    return found


def _eager_loop(group: list[Compile], again: list[Compile]) -> Pattern:
    names = list(dict.fromkeys(called for one in group if (called := _public_name(one))))
    has_more = len(names) > _NAMES or (names and not all(map(_public_name, group)))
    shown = joined([name(called) for called in names[:_NAMES]], ", ") + (", ..." if has_more else "")
    newest = group[-1].data
    where = place(newest.user_frame.where) if newest.user_frame is not None else "one line"
    return Pattern(
        kind="eager loop",
        name=", ".join(names[:_NAMES]) or "operations",
        where=newest.user_frame,
        compiles=len(group),
        cost_s=sum(one.seconds for one in group),
        values=tuple(one.reason.sentence for one in again)[:MAX_VALUES],
        sentence=say(
            "{} runs {} outside any jit, and compiled {} programs for that", where, shown or "operations", len(group)
        ),
        advice=_advice(again),
    )


def _public_name(one: Compile) -> str:
    """The function the line calls; if unknown, the operation; "" if its name is JAX's own."""
    called = one.key.called or one.data.name
    return "" if called.startswith("_") else called


def _advice(again: list[Compile]) -> Sentence:
    kinds = {difference.kind for one in again for difference in one.reason.differences}
    if "shape" in kinds or "tree" in kinds or _makes_other_shapes(again):
        return say(ONE_SHAPE)
    return say(PASS_WHAT_CHANGES)


def _makes_other_shapes(again: list[Compile]) -> bool:
    """True if an operation takes parameters that decide the shapes of its results, as `jnp.ones(n)` does."""
    shapes: dict[str, set[object]] = {}
    for one in again:
        shapes.setdefault(one.data.name, set()).add(tuple(output.global_shape for output in one.data.outputs))
    return any(len(found) > 1 for found in shapes.values())
