"""The traits of a playground's widget, which other widgets can be linked with, and the form of specs in them.

Not its job: drawing (`view.play`), or the questions (`live`).
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.model.play.variant import Variant
from pjit_inspect.model.program.mesh import axes_of, entry_of


def public_traits(now: Variant) -> dict[str, Any]:
    """Their values for the variant that is looked at."""
    return {
        "mesh": dict(now.controls.mesh),
        "target": now.controls.target,
        "specs": spec_lists(now),
        "variant": now.number,
        "stage": now.stage,
        "sent_bytes": now.sent_bytes,
        "memory_bytes": now.memory_bytes,
    }


def spec_entries(spec: Any) -> tuple[Any, ...]:
    """A spec as the page and the trait have it, a list of axes for each dimension."""
    return tuple(entry_of(tuple(map(str, entry))) for entry in spec)


def spec_lists(variant: Variant) -> dict[str, list[list[str]]]:
    """Label of each group of arguments -> for each dimension its axes."""
    known = ((group.label, group.spec) for group in variant.controls.groups)
    return {label: [list(axes_of(entry)) for entry in spec] for label, spec in known if spec is not None}
