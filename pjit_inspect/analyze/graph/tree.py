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

from pjit_inspect.analyze.graph.arrays import numbered
from pjit_inspect.analyze.graph.placing import Placing
from pjit_inspect.analyze.graph.scopes import BACKWARD, FORWARD, LOOP, RECOMPUTE, ROOT, UPDATE
from pjit_inspect.model.report.graph import GraphLoop

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
    """The rows, parents before children, each row's children in forward order.

    Attributes:
      parents, children, kinds, names: as in `GraphRow`.
      labels, holds, trips: likewise (`loop_trips`).
      of_kernel: the row of each kernel.
      of_scope: the row of each scope that has one.
    """

    parents: list[int]
    children: list[list[int]]
    kinds: list[str]
    names: list[str]
    labels: list[str]
    holds: list[str]
    trips: list[int | None]
    of_kernel: list[int]
    of_scope: dict[int, int]

    def __len__(self) -> int:
        return len(self.parents)

    def add_unreached(self) -> None:
        """Adds a last row for unreachable computations."""
        self.children[0].append(len(self.parents))
        self.children.append([])
        self.parents.append(0)
        self.kinds.append("unreached")
        self.names.append("unreached")
        self.labels.append("in computations that nothing runs")
        self.holds.append("")
        self.trips.append(None)


def build_rows(placing: Placing, matmuls: Sequence[int], loops: Sequence[GraphLoop], loop_of: Sequence[int]) -> Rows:
    """Builds rows for every scope that has kernels.

    Args:
      placing: the scopes and phases of kernels.
      matmuls: the number of matrix products in each kernel.
      loops: the program's loops.
      loop_of: for each kernel, the innermost loop around it; -1.
    """
    tree = _Tree(placing)
    for scope in tree.deepest_first():
        tree.cut(scope)
    return _Numbered(tree, placing, matmuls, loops, loop_of).rows()


class _Tree:
    """Nodes for scopes, and further nodes for kernels between scopes."""

    def __init__(self, placing: Placing) -> None:
        scopes = placing.scopes
        self.placing, self.scopes = placing, scopes
        self.parents, self.kinds, self.names = list(scopes.parents), list(scopes.kinds), list(scopes.names)
        self.node = list(placing.scope)
        self.is_forward = [phase == FORWARD for phase in placing.phase]
        self.children: dict[int, list[int]] = {}
        self.inside: dict[int, list[int]] = {ROOT: []}
        self._paths: dict[int, list[int]] = {}
        for kernel, scope in enumerate(placing.scope):
            self.inside[ROOT].append(kernel)
            for row in self._path(scope):
                if row not in self.inside:
                    self.inside[row] = []
                    self.children.setdefault(scopes.parents[row], []).append(row)
                self.inside[row].append(kernel)
        self._order()

    def _path(self, scope: int) -> list[int]:
        if scope not in self._paths:
            self._paths[scope] = self.scopes.path(scope)
        return self._paths[scope]

    def deepest_first(self) -> list[int]:
        """The scopes with scopes in them, inner ones first."""
        return sorted(self.children, key=lambda scope: -self.scopes.depths[scope])

    def _order(self) -> None:
        """Children in forward order: by the middle of their depths in the data flow; numbered ones by number."""
        levels = [0] * len(self.placing.scope)
        for kernel, producers in enumerate(self.placing.producers):
            levels[kernel] = 1 + max((levels[other] for other in producers), default=0)
        for rows in self.children.values():
            rows[:] = self._in_forward_order(rows, levels)
            alike: dict[str, list[int]] = {}
            for place, row in enumerate(rows):
                alike.setdefault(numbered(self.names[row]), []).append(place)
            # Equal layers keep their places as a set, and fill them by number: the depths of independent layers say
            # nothing about their order.
            for places in alike.values():
                members = sorted((rows[place] for place in places), key=lambda row: _natural(self.names[row]))
                for place, row in zip(places, members, strict=True):
                    rows[place] = row

    def _in_forward_order(self, rows: Sequence[int], levels: Sequence[int]) -> list[int]:
        """Rows by the middle of their forward depths; rows with backward kernels only are placed by backward order."""
        forward = {row: middle for row in rows if (middle := self._middle(row, levels, (FORWARD,))) is not None}
        backward = {row: self._middle(row, levels, (RECOMPUTE, BACKWARD)) for row in rows}
        ordered = sorted(forward, key=lambda row: forward[row])
        # In the backward pass later rows come first: a row is placed after all rows that come later.
        known = sorted((-middle, place) for place, row in enumerate(ordered) if (middle := backward[row]) is not None)
        after: dict[int, list[int]] = {}
        for row in sorted((row for row in rows if row not in forward), key=lambda row: -(backward[row] or 0)):
            earlier = bisect.bisect_left(known, (-(backward[row] or 0), -1))
            is_update = backward[row] is None or not known
            place = len(ordered) if is_update else (known[earlier - 1][1] if earlier else -1)
            after.setdefault(place, []).append(row)
        in_order = list(after.get(-1, []))
        for place, row in enumerate(ordered):
            in_order.append(row)
            in_order += after.get(place, [])
        return in_order + after.get(len(ordered), [])

    def _middle(self, row: int, levels: Sequence[int], phases: tuple[int, ...]) -> int | None:
        """The middle of the depths of a row's kernels in these phases; None where it has none."""
        # The middle, not the first: one early kernel (a mask, a cast of a weight) would pull a layer ahead of others.
        inside = sorted(levels[kernel] for kernel in self.inside[row] if self.placing.phase[kernel] in phases)
        return inside[len(inside) // 2] if inside else None

    def cut(self, scope: int) -> None:
        """Assigns the kernels directly in a scope to rows within it."""
        rows = list(self.children[scope])
        gaps = _Gaps(self, scope, rows).find()
        sizes = Counter(gaps.values())
        few = _FEW if scope == ROOT else max(_FEW, _FEW_SHARE * len(self.inside[scope]))
        made: dict[int, int] = {}
        for kernel, gap in gaps.items():
            ends = gap in (BEFORE, AFTER, SHARED)
            is_own = sizes[gap] > few and (ends or not self._are_alike(rows[gap : gap + 2]))
            near = None if is_own or (scope == ROOT and ends) else self._neighbour(rows, gap, self.is_forward[kernel])
            if near is None and gap not in made:
                made[gap] = self.add(scope, _GAP_KINDS.get(gap, "between"))
            self.node[kernel] = made[gap] if near is None else near
        self.children[scope] = [made[BEFORE]] if BEFORE in made else []
        for place, row in enumerate(rows):
            self.children[scope] += [row, made[place]] if place in made else [row]
        self.children[scope] += [made[gap] for gap in (AFTER, SHARED) if gap in made]

    def _neighbour(self, rows: Sequence[int], gap: int, is_forward: bool) -> int | None:
        """The leaf that joins the few kernels of a gap: the one before it in their direction, or else the one after.

        None if only loops are near: kernels beside a loop do not run in it.
        """
        before = self._end(rows[min(gap, len(rows) - 1)], first=False) if gap >= 0 else None
        after = self._end(rows[gap + 1], first=True) if gap < len(rows) - 1 else None
        near, far = (before, after) if is_forward else (after, before)
        return far if near is None else near

    def _are_alike(self, rows: Sequence[int]) -> bool:
        """Whether scopes are equal layers by their names: nothing should come between these."""
        return len({numbered(self.names[row]) for row in rows}) == 1

    def add(self, scope: int, kind: str) -> int:
        """A new row in a scope."""
        self.parents.append(scope)
        self.kinds.append(kind)
        self.names.append("")
        return len(self.parents) - 1

    def _end(self, row: int, *, first: bool) -> int | None:
        """The first or last leaf in a row; None if that is in a loop."""
        while self.kinds[row] != "loop":
            if not self.children.get(row):
                return row
            row = self.children[row][0 if first else -1]
        return None


class _Gaps:
    """Positions of the kernels directly in a scope, relative to its inner scopes."""

    def __init__(self, tree: _Tree, scope: int, rows: Sequence[int]) -> None:
        self._placing, self._scope, self._last = tree.placing, scope, len(rows) - 1
        self._kernels = tree.inside[scope]
        self._child = {kernel: place for place, row in enumerate(rows) for kernel in tree.inside[row]}
        self._is_forward = tree.is_forward

    def find(self) -> dict[int, int]:
        """For each kernel directly in the scope: the scope it follows in forward order, or one of `_GAP_KINDS`."""
        placing = self._placing
        direct = [kernel for kernel in self._kernels if kernel not in self._child]
        if not direct:
            return {}
        # Both are needed: a kernel may depend on no scope, or lead to none; then only the other side places it.
        reached, leads = self._reached(), self._leads()
        row_of: dict[int, int] = {}
        for kernel in direct:
            if placing.phase[kernel] == UPDATE:
                # The update of a whole group is placed in the group's row.
                if self._scope == ROOT:
                    row_of[kernel] = SHARED
            elif self._is_forward[kernel]:
                row_of[kernel] = self._forward(reached[kernel], leads[kernel])
            else:
                row_of[kernel] = self._backward(reached[kernel], leads[kernel])
        return row_of

    def _forward(self, reached: int, leads: int) -> int:
        """Before the first scope it leads to, where that is none it comes after; else after the last it depends on."""
        if leads <= reached or reached < 0:
            return leads - 1 if leads < _LAST else AFTER
        return reached if reached < self._last else AFTER

    def _backward(self, reached: int, leads: int) -> int:
        """As `_forward`, reversed: a kernel that follows a scope in the backward pass precedes it in forward order."""
        gap = leads if leads >= reached or (reached == _LAST and leads >= 0) else reached - 1
        return gap if gap < self._last else AFTER

    def _reached(self) -> dict[int, int]:
        """The furthest scope whose values each kernel depends on: the last going forward, the first going backward."""
        reached: dict[int, int] = {}
        # In execution order: the inputs of a kernel are known before it. The backward pass numbers scopes downwards,
        # hence least for greatest.
        for kernel in self._kernels:
            forward = self._is_forward[kernel]
            if kernel in self._child:
                reached[kernel] = self._child[kernel]
                continue
            near = [
                reached[other]
                for other in self._placing.producers[kernel]
                if other in reached and self._is_forward[other] == forward and self._placing.phase[other] != UPDATE
            ]
            reached[kernel] = max(near, default=-1) if forward else min(near, default=_LAST)
        return reached

    def _leads(self) -> dict[int, int]:
        """The nearest scope that each kernel's value gets to: the first going forward, the last going backward."""
        leads: dict[int, int] = {}
        # In reverse execution order, for the same reason.
        for kernel in reversed(self._kernels):
            forward = self._is_forward[kernel]
            if kernel in self._child:
                leads[kernel] = self._child[kernel]
                continue
            near = [leads[user] for user in self._placing.users[kernel] if user in leads and self._same(kernel, user)]
            leads[kernel] = min(near, default=_LAST) if forward else max(near, default=-1)
        return leads

    def _same(self, kernel: int, user: int) -> bool:
        return self._is_forward[kernel] == self._is_forward[user] and self._placing.phase[user] != UPDATE


class _Numbered:
    """Builds rows with numbers, names for people, and content."""

    def __init__(
        self,
        tree: _Tree,
        placing: Placing,
        matmuls: Sequence[int],
        loops: Sequence[GraphLoop],
        loop_of: Sequence[int],
    ) -> None:
        self._tree, self._placing, self._matmuls = tree, placing, matmuls
        self._loops, self._loop_of = loops, loop_of
        self._nodes = _preorder(tree)
        if len(self._nodes) == 1 and tree.inside[ROOT]:
            self._nodes.append(tree.add(ROOT, "all"))
            tree.children[ROOT] = self._nodes[1:]
            tree.node[:] = [self._nodes[1]] * len(tree.node)
        self._numbers = {node: number for number, node in enumerate(self._nodes)}
        self._parents = [self._numbers.get(tree.parents[node], -1) for node in self._nodes]
        self._of_kernel = [self._numbers[node] for node in tree.node]

    def rows(self) -> Rows:
        """The rows."""
        tree = self._tree
        children = [[self._numbers[child] for child in tree.children.get(node, ())] for node in self._nodes]
        names = self._names()
        return Rows(
            parents=self._parents,
            children=children,
            kinds=[tree.kinds[node] for node in self._nodes],
            names=names,
            labels=self._labels(names, children),
            holds=self._holds(),
            trips=self._trips(),
            of_kernel=self._of_kernel,
            of_scope={node: number for node, number in self._numbers.items() if node < len(self._placing.scopes)},
        )

    def _names(self) -> list[str]:
        tree, phases = self._tree, self._placing.phase
        with_backward = {row for row, phase in zip(self._of_kernel, phases, strict=True) if phase == BACKWARD}
        names = []
        for number, node in enumerate(self._nodes):
            is_outer, kind = tree.parents[node] == ROOT, tree.kinds[node]
            if kind == "before":
                names.append("inputs" if is_outer else "head")
            elif kind == "after":
                end = "loss" if number in with_backward else "outputs"
                names.append(end if is_outer else "tail")
            else:
                base, _, line = tree.names[node].partition("@")
                names.append(kind if kind in ("between", "shared", "all") else base or (line and f"line {line}"))
        return names

    def _labels(self, names: list[str], children: list[list[int]]) -> list[str]:
        labels = list(names)
        for row, rows in enumerate(children):
            alike = Counter(names[child] for child in rows)
            looped = {names[inner] for child in rows if names[child] == LOOP for inner in children[child]}
            for child in rows:
                line = self._tree.names[self._nodes[child]].partition("@")[2]
                is_function = self._tree.kinds[self._nodes[child]] == "function"
                if alike[names[child]] > 1 and is_function and line:
                    labels[child] = f"{names[child]}, line {line}"
                elif names[child] in looped and names[child] != LOOP:
                    labels[child] = f"{names[child]}, outside the loop"
            for near, child in itertools.pairwise(rows):
                if self._tree.kinds[self._nodes[child]] == "between":
                    labels[child] = f"after {labels[near]}"
            labels[row] = labels[row] or ("" if row else "program")
        return labels

    def _holds(self) -> list[str]:
        counts: list[Counter[str]] = [Counter() for _ in self._nodes]
        together = Counter(zip(self._of_kernel, self._placing.label, (k > 0 for k in self._matmuls), strict=True))
        for (row, label, is_matmul), count in together.items():
            weight = count * (_MATMUL_WEIGHT if is_matmul else 1)
            if label != "fusion":
                counts[row][label] += weight
        for row in range(len(self._nodes) - 1, 0, -1):
            if self._parents[row] > 0:
                counts[self._parents[row]].update(dict(counts[row].most_common(8)))
        return [", ".join(label for label, _ in count.most_common(2)) for count in counts]

    def _trips(self) -> list[int | None]:
        trips_of: list[set[int | None]] = [set() for _ in self._nodes]
        chains = [self._chain(loop) for loop in range(len(self._loops))]
        for (row, loop), _ in Counter(zip(self._of_kernel, self._loop_of, strict=True)).items():
            around = [r for r in self._up(row) if self._tree.kinds[self._nodes[r]] == "loop"] if loop >= 0 else []
            for depth, outer in enumerate(around):
                if depth < len(chains[loop]):
                    trips_of[outer].add(self._loops[chains[loop][depth]].trips)
        return [next(iter(trips)) if len(trips) == 1 else None for trips in trips_of]

    def _chain(self, loop: int) -> list[int]:
        """A loop and the loops around it, the outermost first."""
        chain = []
        while loop >= 0:
            chain.append(loop)
            loop = self._loops[loop].parent
        return chain[::-1]

    def _up(self, row: int) -> list[int]:
        """A row and the rows around it, the outermost first."""
        path = []
        while row > 0:
            path.append(row)
            row = self._parents[row]
        return path[::-1]


def _preorder(tree: _Tree) -> list[int]:
    nodes, stack = [], [ROOT]
    while stack:
        node = stack.pop()
        nodes.append(node)
        stack.extend(reversed(tree.children.get(node, [])))
    return nodes


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key that puts layer2 before layer10."""
    parts: Iterable[str] = _NUMBERS.split(name)
    return tuple(
        (0, int(part), "") if part.isdecimal() and part.isascii() and len(part) <= _MOST_DIGITS else (1, 0, part)
        for part in parts
    )
