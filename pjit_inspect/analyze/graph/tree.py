"""Builds the rows of the matrix: scopes as a tree in forward order, and the row of each kernel.

Kernels of a group outside its inner scopes get separate rows before or after them, or join the scope they follow. Not
its job: folding equal rows (`analyze.graph.fold`).
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.graph.placing import Placing
from pjit_inspect.analyze.graph.scopes import BACKWARD, FORWARD, LOOP, RECOMPUTE, ROOT, UPDATE, numbered
from pjit_inspect.analyze.program.loops import loops_around
from pjit_inspect.model.report.graph import GraphRow

_FEW, _FEW_SHARE = 3, 0.05
"""Most kernels between scopes, absolute or as a share of their group, that get no row."""
_NUMBERS = re.compile(r"(\d+)")
_MOST_DIGITS = 18
_MATMUL_WEIGHT = 5
_LAST = 1 << 60

BEFORE, AFTER, SHARED = -1, _LAST, _LAST + 1
_GAP_KINDS = {BEFORE: "before", AFTER: "after", SHARED: "shared"}
"""Positions of kernels beside scopes; 0, 1, ... is between the scope at that index and the next."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """The rows of a program.

    Attributes:
      rows: every row, parents before children; not folded yet.
      of_kernel: the row of each kernel.
      of_scope: the row of each scope that has one.
    """

    rows: list[GraphRow]
    of_kernel: list[int]
    of_scope: dict[int, int]


def build_rows(placing: Placing) -> Rows:
    """Builds rows for every scope that has kernels; the last one is for collectives in unreachable computations."""
    tree = _Tree(placing)
    for scope in sorted(tree.children, key=lambda scope: -placing.scopes.depths[scope]):
        tree.cut(scope)
    if not tree.children.get(ROOT) and tree.inside[ROOT]:
        tree.children[ROOT] = [tree.add(ROOT, "all")]
        tree.node[:] = tree.children[ROOT] * len(tree.node)
    if -1 in placing.facts.sites:
        tree.children.setdefault(ROOT, []).append(tree.add(ROOT, "unreached"))
    nodes = _preorder(tree)
    numbers = {node: number for number, node in enumerate(nodes)}
    of_kernel = [numbers[node] for node in tree.node]
    names, holds, trips = _names(tree, nodes), _holds(tree, nodes), _trips(tree, nodes)
    labels = _labels(tree, nodes, names)
    rows = [
        GraphRow(
            parent=numbers.get(tree.parents[node], -1),
            children=tuple(numbers[child] for child in tree.children.get(node, ())),
            kind=tree.kinds[node],  # type: ignore[arg-type]
            name=names[node],
            label=labels[node],
            holds=holds[node],
            loop_trips=trips.get(node),
            fold=-1,
            shown_as=number,
        )
        for number, node in enumerate(nodes)
    ]
    of_scope = {node: number for node, number in numbers.items() if node < len(placing.scopes)}
    return Rows(rows=rows, of_kernel=of_kernel, of_scope=of_scope)


class _Tree:
    """Nodes for scopes, and further nodes for kernels between scopes.

    Attributes:
      parents, kinds, names: of each node; scopes come first.
      children: for each node with nodes in it, these in forward order.
      inside: for each scope that has kernels, these.
      node: the node of each kernel.
    """

    def __init__(self, placing: Placing) -> None:
        scopes = placing.scopes
        self.placing = placing
        self.parents, self.kinds, self.names = list(scopes.parents), list(scopes.kinds), list(scopes.names)
        self.node = list(placing.scope)
        self.is_forward = [phase == FORWARD for phase in placing.phase]
        self.children: dict[int, list[int]] = {}
        self.inside: dict[int, list[int]] = {ROOT: []}
        paths: dict[int, list[int]] = {}
        for kernel, scope in enumerate(placing.scope):
            if scope not in paths:
                paths[scope] = scopes.path(scope)
            self.inside[ROOT].append(kernel)
            for row in paths[scope]:
                if row not in self.inside:
                    self.inside[row] = []
                    self.children.setdefault(scopes.parents[row], []).append(row)
                self.inside[row].append(kernel)
        self._order()

    def add(self, scope: int, kind: str) -> int:
        """A new node in a scope."""
        self.parents.append(scope)
        self.kinds.append(kind)
        self.names.append("")
        return len(self.parents) - 1

    # ------------------------------------------------------------ forward order

    def _order(self) -> None:
        """Sorts children in forward order: by the middle of their depths in the data flow; numbered ones by number."""
        levels: list[int] = []
        for producers in self.placing.producers:
            levels.append(1 + max((levels[other] for other in producers), default=0))
        for rows in self.children.values():
            self._sort(rows, levels)
            alike: dict[str, list[int]] = {}
            for place, row in enumerate(rows):
                alike.setdefault(numbered(self.names[row]), []).append(place)
            # Equal layers keep their places as a set, and fill them by number: the depths of independent layers say
            # nothing about their order.
            for places in alike.values():
                members = sorted((rows[place] for place in places), key=lambda row: _natural(self.names[row]))
                for place, row in zip(places, members, strict=True):
                    rows[place] = row

    def _sort(self, rows: list[int], levels: Sequence[int]) -> None:
        """Sorts rows by their middle in the forward pass; rows of the backward pass alone by that, reversed."""
        forward = self._middles(rows, levels, (FORWARD,))
        backward = self._middles(rows, levels, (RECOMPUTE, BACKWARD))
        # In the backward pass later rows come first: a row comes right after the nearest of the rows it follows there.
        known = sorted((-backward[row], middle) for row, middle in forward.items() if row in backward)

        def key(row: int) -> tuple[int, int, int]:
            if row in forward:
                return forward[row], 0, 0
            if row not in backward or not known:
                return _LAST, 0, 0
            earlier = bisect.bisect_left(known, (-backward[row], -1))
            return known[earlier - 1][1] if earlier else -1, 1, -backward[row]

        rows.sort(key=key)

    def _middles(self, rows: Iterable[int], levels: Sequence[int], phases: tuple[int, ...]) -> dict[int, int]:
        """The middle of the depths of each row's kernels in these phases; rows without any are omitted."""
        # The middle, not the first: one early kernel (a mask, a cast of a weight) would pull a layer ahead of others.
        middles = {}
        for row in rows:
            inside = sorted(levels[kernel] for kernel in self.inside[row] if self.placing.phase[kernel] in phases)
            if inside:
                middles[row] = inside[len(inside) // 2]
        return middles

    # ------------------------------------------------------------ kernels between scopes

    def cut(self, scope: int) -> None:
        """Assigns the kernels directly in a scope to rows within it."""
        rows = list(self.children[scope])
        gaps = self._gaps(scope, rows)
        sizes = Counter(gaps.values())
        few = _FEW if scope == ROOT else max(_FEW, _FEW_SHARE * len(self.inside[scope]))
        made: dict[int, int] = {}
        for kernel, gap in gaps.items():
            ends = gap in _GAP_KINDS
            # Nothing should come between equal layers, which names show.
            is_own = sizes[gap] > few and (ends or len({numbered(self.names[row]) for row in rows[gap : gap + 2]}) > 1)
            near = None if is_own or (scope == ROOT and ends) else self._neighbour(rows, gap, self.is_forward[kernel])
            if near is None and gap not in made:
                made[gap] = self.add(scope, _GAP_KINDS.get(gap, "between"))
            self.node[kernel] = made[gap] if near is None else near
        order = [BEFORE, *range(len(rows)), AFTER, SHARED]
        found = ([*rows[gap : gap + 1], made.get(gap)] if gap >= 0 else [made.get(gap)] for gap in order)
        self.children[scope] = [row for row in itertools.chain.from_iterable(found) if row is not None]

    def _neighbour(self, rows: Sequence[int], gap: int, is_forward: bool) -> int | None:
        """The leaf that joins the few kernels of a gap: the one before it in their direction, or else the one after.

        None if only loops are near: kernels beside a loop do not run in it.
        """
        before = self._end(rows[min(gap, len(rows) - 1)], first=False) if gap >= 0 else None
        after = self._end(rows[gap + 1], first=True) if gap < len(rows) - 1 else None
        near, far = (before, after) if is_forward else (after, before)
        return far if near is None else near

    def _end(self, row: int, *, first: bool) -> int | None:
        """The first or last leaf in a row; None if that is in a loop."""
        while self.kinds[row] != "loop":
            if not self.children.get(row):
                return row
            row = self.children[row][0 if first else -1]
        return None

    def _gaps(self, scope: int, rows: Sequence[int]) -> dict[int, int]:
        """For each kernel directly in a scope: the scope it follows in forward order, or one of `_GAP_KINDS`."""
        place = {kernel: place for place, row in enumerate(rows) for kernel in self.inside[row]}
        last, phase, inside = len(rows) - 1, self.placing.phase, self.inside[scope]
        gaps: dict[int, int] = {}
        for forward in (True, False):
            # The backward pass is a forward pass through the scopes in reverse.
            pass_ = [kernel for kernel in inside if self.is_forward[kernel] == forward and phase[kernel] != UPDATE]
            places = {kernel: place[kernel] if forward else last - place[kernel] for kernel in pass_ if kernel in place}
            # In execution order, the inputs of a kernel are known before it; in reverse order, its users are.
            reached = _spread(pass_, places, self.placing.producers, max, -1)
            leads = _spread(pass_[::-1], places, self.placing.users, min, _LAST)
            for kernel in pass_:
                if kernel not in place:
                    gaps[kernel] = _gap(reached[kernel], leads[kernel], last, forward)
        # The update of a whole group is placed in the group's row.
        shared = [kernel for kernel in inside if phase[kernel] == UPDATE and kernel not in place and scope == ROOT]
        gaps |= dict.fromkeys(shared, SHARED)
        return dict(sorted(gaps.items()))


def _spread(
    kernels: Sequence[int], places: dict[int, int], near: Sequence[Sequence[int]], choose, nothing: int
) -> dict[int, int]:
    """For each kernel its place, or else the one to choose among those of the kernels near it."""
    found: dict[int, int] = {}
    for kernel in kernels:
        known = (found[other] for other in near[kernel] if other in found)
        found[kernel] = places[kernel] if kernel in places else choose(known, default=nothing)
    return found


def _gap(reached: int, leads: int, last: int, forward: bool) -> int:
    """Before the first scope a kernel leads to, where that is none it comes after; else after the last it depends on.

    Args:
      reached: the last scope whose values it depends on; -1 for none.
      leads: the first scope that its value gets to; `_LAST` for none.
      last: the last scope.
      forward: whether scopes are counted in forward order.
    """
    if reached < 0 and leads == _LAST:
        return AFTER
    gap = leads - 1 if leads <= reached or reached < 0 else reached
    gap = gap if forward else last - 1 - gap
    return gap if gap < last else AFTER


def _preorder(tree: _Tree) -> list[int]:
    nodes, stack = [], [ROOT]
    while stack:
        node = stack.pop()
        nodes.append(node)
        stack.extend(reversed(tree.children.get(node, [])))
    return nodes


def _names(tree: _Tree, nodes: Iterable[int]) -> dict[int, str]:
    """The name of each node."""
    with_backward = {node for node, phase in zip(tree.node, tree.placing.phase, strict=True) if phase == BACKWARD}
    names = {}
    for node in nodes:
        is_outer, kind = tree.parents[node] == ROOT, tree.kinds[node]
        if kind == "before":
            names[node] = "inputs" if is_outer else "head"
        elif kind == "after":
            outer = "loss" if node in with_backward else "outputs"
            names[node] = outer if is_outer else "tail"
        else:
            base, _, line = tree.names[node].partition("@")
            made = kind if node >= len(tree.placing.scopes) else ""
            names[node] = made or base or (line and f"line {line}")
    return names


def _labels(tree: _Tree, nodes: Iterable[int], names: dict[int, str]) -> dict[int, str]:
    """The name of each node for people, distinct from its neighbours."""
    labels = names | {ROOT: "program"}
    for node in nodes:
        children = tree.children.get(node, [])
        alike = Counter(names[child] for child in children)
        looped = {names[x] for child in children if names[child] == LOOP for x in tree.children.get(child, ())}
        for near, child in itertools.pairwise([node, *children]):
            line = tree.names[child].partition("@")[2]
            if tree.kinds[child] == "between":
                labels[child] = f"after {labels[near]}"
            elif alike[names[child]] > 1 and tree.kinds[child] == "function" and line:
                labels[child] = f"{names[child]}, line {line}"
            elif names[child] in looped and names[child] != LOOP:
                labels[child] = f"{names[child]}, outside the loop"
            elif tree.kinds[child] == "unreached":
                labels[child] = "in computations that nothing runs"
    return labels


def _holds(tree: _Tree, nodes: Sequence[int]) -> dict[int, str]:
    """The commonest operations of each node, at most two."""
    counts: dict[int, Counter[str]] = {node: Counter() for node in nodes}
    for node, label, number in zip(tree.node, tree.placing.label, tree.placing.facts.matmuls, strict=True):
        if label != "fusion":
            counts[node][label] += _MATMUL_WEIGHT if number else 1
    for node in reversed(nodes):
        if node != ROOT and tree.parents[node] != ROOT:
            counts[tree.parents[node]].update(dict(counts[node].most_common(8)))
    return {node: ", ".join(label for label, _ in count.most_common(2)) for node, count in counts.items()}


def _trips(tree: _Tree, nodes: Iterable[int]) -> dict[int, int | None]:
    """The turns of the loops that have nodes; nodes whose loops differ in them are omitted."""
    loops, trips = tree.placing.facts.kernels.running.loops, {node: set[int | None]() for node in nodes}
    for node, loop in dict.fromkeys(zip(tree.node, tree.placing.facts.kernels.loops, strict=True)):
        around = []
        while node > ROOT:
            around += [node] if tree.kinds[node] == "loop" else []
            node = tree.parents[node]
        for outer, inner in zip(reversed(around), loops_around(loops, loop), strict=False):
            trips[outer].add(loops[inner].trips)
    return {node: next(iter(found)) for node, found in trips.items() if len(found) == 1}


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key that puts layer2 before layer10."""
    parts: Iterable[str] = _NUMBERS.split(name)
    return tuple(
        (0, int(part), "") if part.isdecimal() and part.isascii() and len(part) <= _MOST_DIGITS else (1, 0, part)
        for part in parts
    )
