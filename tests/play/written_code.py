"""Code that a playground writes, run: whether it gives the variant's collectives.

The written lines are executed as they are; the function is then traced with the shardings that they make. Not its job:
which programs (`test_play_code`, `scripts/play_code`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

import pjit_inspect as pi
from pjit_inspect.model.play.variant import Variant

__all__ = ["Outcome", "run_written"]

_MOST_TRIES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one program.

    Attributes:
      change: what was changed; () where nothing could be.
      wanted, found: the collectives of the variant, and of the function traced with the written shardings.
      proof: what the playground itself says of it.
    """

    change: tuple[str, ...]
    wanted: Counter[Any]
    found: Counter[Any]
    proof: str

    @property
    def is_equal(self) -> bool:
        return bool(self.change) and self.wanted == self.found


def run_written(function: Callable[..., Any], arguments: tuple[Any, ...], turn: int) -> Outcome:
    """Change a program's arguments, `turn` saying which, write the code, run it, and trace the function so."""
    play = pi.playground(function, *arguments)
    try:
        variant = _changed(play, turn)
        if variant is None:
            return Outcome(change=(), wanted=Counter(), found=Counter(), proof="")
        code = play.code(prove=True)
        found = pi.inspect(function, *_as_written(code.plain, play, arguments), effort="partition")
        assert code.proof is not None
        return Outcome(
            change=variant.change,
            wanted=_collectives(variant.record),
            found=_collectives(found),
            proof=code.proof.outcome,
        )
    finally:
        play.close()


def _changed(play: pi.Playground, turn: int) -> Variant | None:
    """A variant with two groups split differently, that XLA takes."""
    play.wait()
    tries = 0
    labels = [group.label for group in play.controls.groups if group.spec is not None and group.shape]
    for place in range(len(labels)):
        group = play.controls.group(labels[(turn + place) % len(labels)])
        if group is None or group.spec is None or group.follows is not None:
            continue
        options = [
            (
                *group.spec[:dimension],
                axes if len(axes) > 1 else axes[0] if axes else None,
                *group.spec[dimension + 1 :],
            )
            for dimension, choices in enumerate(group.choices)
            for axes in (choice.axes for choice in choices if choice.allowed and not choice.is_chosen)
        ]
        if not options or tries >= _MOST_TRIES:
            continue
        tries += 1
        before = play.variant.number
        play.set(specs={group.label: options[turn % len(options)]})
        if play.wait().stage != "partitioned":
            play.go_back(before)
        elif len(play.variant.change) > 1:
            break
    return play.variant if play.variant.change else None


def _as_written(text: str, play: pi.Playground, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with the shardings of the written lines; the lines that place real arrays are left out."""
    lines = [line for line in text.splitlines() if "device_put(" not in line]
    names: dict[str, Any] = {}
    exec(compile("\n".join(lines), "written", "exec"), names)
    leaves, tree = jax.tree.flatten(arguments)
    paths = [layout.path for layout in play.subject.data.inputs]
    assert len(paths) == len(leaves)
    placed = [
        jax.ShapeDtypeStruct(jax.numpy.shape(leaf), leaf.dtype, sharding=names["sharding_of"](path, names["specs"]))
        for path, leaf in zip(paths, leaves, strict=True)
    ]
    return jax.tree.unflatten(tree, placed)


def _collectives(record: Any) -> Counter[Any]:
    return Counter((row.kind, row.axes, row.dtype, row.local_shape, row.count) for row in record.collectives)
