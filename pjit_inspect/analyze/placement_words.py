"""Where an array lies, in words that can be compared.

Not its job: how a view draws shardings (`view.notation`).
"""

from __future__ import annotations

from pjit_inspect.model.compile_key import ArgumentKey
from pjit_inspect.model.layout import Sharding, SpecEntry
from pjit_inspect.model.mesh import Mesh

__all__ = ["place_text", "placement_pair", "sharding_words"]


def place_text(argument: ArgumentKey) -> str:
    """Where an argument lies as it arrives: `P('data', None) on data=2 x model=4`, `device 3`."""
    return sharding_words(argument.given, argument.mesh) if argument.given is not None else "no place"


def sharding_words(sharding: Sharding, mesh: Mesh | None) -> str:
    """A sharding and, where it follows one, its mesh."""
    memory = f" in {sharding.memory_kind}" if sharding.memory_kind not in (None, "device", "unpinned_host") else ""
    if len(sharding.device_ids) == 1:
        return f"device {sharding.device_ids[0]}{memory}"
    if sharding.spec is not None:
        over = f" on {mesh}" if mesh is not None else ""
        return f"P({', '.join(_entry(entry) for entry in sharding.spec)}){over}{memory}"
    tiles = " x ".join(map(str, sharding.tiles)) or "1"
    return f"{sharding.kind} of {tiles} tiles on {len(sharding.device_ids)} devices{memory}"


def _entry(entry: SpecEntry) -> str:
    return f"({', '.join(map(repr, entry))})" if isinstance(entry, tuple) else repr(entry)


def placement_pair(before: str, after: str) -> str:
    """`before -> after`, with what both end in said once: "P('x') -> P(None) on x=8"."""
    heads, tails = zip(*(text.partition(" on ")[::2] for text in (before, after)), strict=True)
    if tails[0] and tails[0] == tails[1] and heads[0] != heads[1]:
        return f"{heads[0]} -> {heads[1]}"
    return f"{before} -> {after}"
