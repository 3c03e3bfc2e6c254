"""Joins the collectives of a program before and after one pass: by operations, then by operands and channels.

What neither tells is left open. Not its job: what a pass did (`analyze.passes.lives`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from pjit_inspect.analyze.passes.steps import PassSite, Path


@dataclass(slots=True)
class JoinedSites:
    """Which collectives became which.

    Attributes:
      parents: a collective after the pass -> those before that it was made of; a new one has none.
      twins: a collective that is new -> one before with the same operation, which goes on by itself.
      gone: those before of which none after was made, as far as is known.
      is_whole: whether everything after was understood: where not, one that is gone may be a part of it.
    """

    parents: dict[PassSite, tuple[PassSite, ...]] = field(default_factory=dict)
    twins: dict[PassSite, PassSite] = field(default_factory=dict)
    gone: tuple[PassSite, ...] = ()
    is_whole: bool = True


def join(before: Sequence[PassSite], after: Sequence[PassSite]) -> JoinedSites:
    """Joins the collectives of the programs before and after a pass."""
    joined = JoinedSites()
    old, new = _join_unchanged(before, after, joined)
    for site in new:
        joined.parents[site] = parents = _parents(site, old)
        if parents:
            # Of a combined one XLA may name one operation only: then others are part of it, too.
            joined.is_whole &= len(site.shapes) <= sum(len(parent.shapes) for parent in parents)
            continue
        joined.is_whole = False
        twin = next((one for one in before if one.kind == site.kind and is_of_same(one, site)), None)
        if twin is not None:
            joined.twins[site] = twin
    used = {parent for site in new for parent in joined.parents[site]}
    joined.gone = tuple(site for site in old if site not in used)
    return joined


def is_of_same(one: PassSite, other: PassSite) -> bool:
    """True if both name an operation in common."""
    return any(_is_same(path, own) for path in one.paths for own in other.paths)


def _is_same(one: Path, other: Path) -> bool:
    """True if two paths can lead to one operation: XLA names a call only where its function was put in its place."""
    length = min(len(one), len(other))
    return one[-length:] == other[-length:]


def _join_unchanged(
    before: Sequence[PassSite], after: Sequence[PassSite], joined: JoinedSites
) -> tuple[list[PassSite], list[PassSite]]:
    """Joins those of one operation, kind and shape; returns all others."""

    def key(site: PassSite) -> Hashable:
        return site.paths, site.kind, site.shapes, site.is_async

    old, new = _grouped(before, key), _grouped(after, key)
    for own, sites in new.items():
        others = old.get(own, [])
        if len(sites) == len(others) == 1 and sites[0].paths:
            joined.parents[sites.pop()] = (others.pop(),)
        # Several of one operation, or without one: by channel, then by the name that a pass leaves alone.
        _join_by(lambda site: site.channel, others, sites, joined)
        _join_by(lambda site: site.name, others, sites, joined)
    return [site for sites in old.values() for site in sites], [site for sites in new.values() for site in sites]


def _join_by(of: Callable[[PassSite], Hashable], old: list[PassSite], new: list[PassSite], joined: JoinedSites) -> None:
    """Joins those of a group that alone have one property, and takes them out."""
    before, after = _grouped(old, of), _grouped(new, of)
    for own, sites in after.items():
        others = before.get(own, [])
        if own is not None and len(sites) == len(others) == 1:
            joined.parents[sites[0]] = (others[0],)
            new.remove(sites[0])
            old.remove(others[0])


def _parents(site: PassSite, old: Sequence[PassSite]) -> tuple[PassSite, ...]:
    """Those that a changed collective was made of; () where it is not known."""

    def holds(one: PassSite) -> bool:
        return bool(one.paths) and all(any(_is_same(path, own) for own in site.paths) for path in one.paths)

    if len(site.shapes) > 1 and (each := _by_operand(site, old)):
        return each
    found = tuple(filter(holds, old))
    if found and len(site.shapes) == sum(len(one.shapes) for one in found):
        return found
    if fed := _fed_alike(site, old):
        return fed
    if len(found) == 1:
        return found
    # None, or several of which it is one.
    same = tuple(one for one in found or old if site.channel is not None and one.channel == site.channel)
    return same if len(same) == 1 else ()


def _by_operand(site: PassSite, old: Sequence[PassSite]) -> tuple[PassSite, ...]:
    """Those that a combined one was made of, each told by one of its operands; () where one operand is not told.

    XLA names the operations of a combined one in the order of its operands.
    """
    if len(site.paths) != len(site.shapes):
        return ()
    found: list[PassSite] = []
    for path, shape, operand in zip(site.paths, site.shapes, site.operands, strict=True):
        own = [one for one in old if one.groups == site.groups and _has(one, path, shape)]
        if len(own) > 1:
            own = [one for one in own if operand in one.operands]
        if len(own) != 1:
            return ()
        found += own
    made = tuple(dict.fromkeys(found))
    return made if len(made) > 1 and sum(len(one.shapes) for one in made) == len(site.shapes) else ()


def _has(site: PassSite, path: Path, shape: str) -> bool:
    """True if one of a collective's operands is of this operation and shape."""
    if len(site.paths) == len(site.shapes):
        return any(_is_same(path, own) and shape == its for own, its in zip(site.paths, site.shapes, strict=True))
    return shape in site.shapes and any(_is_same(path, own) for own in site.paths)


def _fed_alike(site: PassSite, old: Sequence[PassSite]) -> tuple[PassSite, ...]:
    """Those whose operands together are exactly its operands; () where another one, too, takes one of them."""
    found = tuple(one for one in old if not set(one.operands).isdisjoint(site.operands))
    fed = sorted((name, shape) for one in found for name, shape in zip(one.operands, one.shapes, strict=True))
    return found if fed == sorted(zip(site.operands, site.shapes, strict=True)) else ()


def _grouped(sites: Iterable[PassSite], key: Callable[[PassSite], Hashable]) -> dict[Hashable, list[PassSite]]:
    groups: dict[Hashable, list[PassSite]] = defaultdict(list)
    for site in sites:
        groups[key(site)].append(site)
    return groups
