"""Finds the need of the sharded program that a collective of XLA's partitioner serves.

The partitioned program shows between which operations a collective lies; names and lines play no part. The tests in
`NeedFinder._find` are the algorithm: the first that finds a need over the collective's mesh axes decides. If none does,
only the taker is known. Operations that XLA added (a copy of an operand, a result's layout) have no needs of their own:
the need is that of what takes them. Not its job: the needs themselves (`analyze.sharding.needs`), or where a collective
lies (`analyze.partition`).
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from pjit_inspect.analyze.causes.layouts import HeldPieces, Way, Ways
from pjit_inspect.analyze.causes.match import Match, checked
from pjit_inspect.analyze.sharding.needs import (
    RESHARDS,
    Asker,
    Need,
    Part,
    find_needs,
    is_named_as_operand,
    sum_kind,
    taken_axes,
)
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.opcodes import SUMS, VIEWS
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.sharding.sharded_program import (
    PartitionedCollective,
    ShardedOp,
    ShardedProgram,
    Taker,
    axis_name,
)


class NeedFinder:
    """The needs of one program, by the operations and results they belong to."""

    def __init__(self, program: ShardedProgram, sources: Sequence[SourceText] = ()) -> None:
        self.program = program
        self._by_op: defaultdict[int | None, list[Need]] = defaultdict(list)
        self._by_output: defaultdict[int, list[Need]] = defaultdict(list)
        # Several tests ask how an array was put back.
        self._backs: dict[tuple[int, ...], tuple[Way, Dimensions | None]] = {}
        for need in find_needs(self.program, sources):
            if need.op is not None:
                self._by_op[need.op].append(need)
            elif need.request is not None:
                self._by_output[need.request.index].append(need)
        # A loop's result -> what its body returns there, which is also what the next turn begins with.
        self._returned = {target: source for source, target in self.program.links if self._is_result(target)}

    def find(self, edge: PartitionedCollective, axes: tuple[str, ...] | None) -> Match:
        """The need that a collective over these mesh axes serves, with all others that are on its way."""
        own = None if axes is None else _names(axes)
        # A sum is no step on the way of an array.
        over = {self._ways.axes(step) for step in (() if edge.kind in SUMS else self._ways.of(edge))}
        made = [axis for value in edge.makers for axis in self.program.values[value].axes]
        # Over axes that it never had, an array goes only to get to others.
        is_on_way = own is not None and len(over) > 1 and None not in over and own.isdisjoint(_names(made))
        found = self._find(edge, frozenset[str]().union(*filter(None, over)) if is_on_way else own)
        return checked(self._placed(found), self.program, self._ways)

    # ------------------------------------------------------------ the way that several collectives go

    @cached_property
    def _ways(self) -> Ways:
        return Ways(self.program)

    def _placed(self, match: Match) -> Match:
        """The match with the way that its array goes, and the shardings at both ends of it."""
        need, taker, values, moved = match.need, match.taker, self.program.values, self._moved(match)
        if moved is None or (need is not None and need.is_sum and taker is None):
            sums = self._ways.sums(match.edge) if match.edge.kind in SUMS else ()
            return replace(match, way=tuple(sums) if len(sums) > 1 else ())
        if match.wanted is not None:
            return replace(match, had=values[moved].spec)
        way, made = self._ways.of(match.edge, taker), match.edge.makers[:1]
        back, computed = self._put_back(way)
        is_whole = bool(made) and (taker is None or taker.shape == self.program.local_shape(made[0]))
        if match.moves_result and match.taken in (None, *made) and is_whole:
            steps = tuple(back) if len(back) > 1 and computed is not None else ()
            return replace(match, had=computed, wanted=values[made[0]].spec, way=steps)
        way = way if match.edge in back else way[len(back) :]
        asked = None if need is None else need.target
        had = None if match.moves_result else values[moved].spec
        pieces = self.program.local_shape(moved, asked) if taker is None else taker.shape
        end = None if had is None else self._ways.behind(way, self._ways.layout(moved), pieces)
        wanted = asked if taker is None else self._wanted(moved, pieces, asked, end, way)
        is_padded = taker is not None and need is None and self._is_padded(way, moved, taker)
        wanted = had if is_padded else wanted
        is_known = len(way) > 1 and (is_padded or self._ways.leads(way, moved, end, wanted))
        return replace(match, had=had, wanted=wanted, way=tuple(way) if is_known else ())

    def _put_back(self, way: Way) -> tuple[Way, Dimensions | None]:
        """The first collectives of a way, if they put back the result of an operation at odds with its operands."""
        key = tuple(map(id, way))
        if key not in self._backs:
            made = way[0].makers[:1]
            is_known = bool(made) and bool(way[0].made_shape) and self._is_result(made[0])
            has_needs = is_known and bool(self._by_op[self.program.values[made[0]].op])
            self._backs[key] = self._ways.put_back(way) if has_needs else ([], None)
        return self._backs[key]

    def _wanted(
        self, value: int, pieces: tuple[int, ...], asked: Dimensions | None, end: HeldPieces | None, way: Way
    ) -> Dimensions | None:
        """The sharding that an operation takes a value with, in pieces of this shape; None if unknown."""
        is_end = end is not None and end.pieces == pieces
        fits = asked is not None and self.program.local_shape(value, asked) == pieces
        if fits and (end is None or not is_end or end.holds(asked)):
            return asked
        # What is computed from operands at odds with it may not have had its sharding before: any layout can be
        # permuted, but only neighbouring pieces joined.
        op = self.program.values[value].op
        is_as_told = op is None or not self._by_op[op] or any(step.kind != "collective-permute" for step in way)
        if end is not None and is_end and is_as_told:
            return end.spec
        whole = self.program.values[value].shape == pieces
        return ((),) * len(pieces) if whole else self._ways.found(way, value, pieces) if end is None else None

    def _is_padded(self, way: Way, value: int, taker: Taker) -> bool:
        """True if all of an array is gathered only to be cut into the pieces it had: they are of unequal length.

        XLA pads such an array before some operations. All of that is counted: what was made, is gathered, and is taken.
        """
        own, pieces, first, last = self.program.values[value], self.program.local_shape(value), way[0], way[-1]
        is_uneven = any(length % self.program.pieces(axes) for length, axes in zip(own.shape, own.spec, strict=True))
        is_whole = last.elements * last.group_size >= math.prod(own.shape)
        is_whole &= all(step.kind == "all-gather" for step in way)
        return is_uneven and is_whole and first.makers[:1] == (value,) and first.made_shape == taker.shape == pieces

    def _moved(self, match: Match) -> int | None:
        """The value that its taker takes, or that its need is about."""
        return match.taken if match.taken is not None or match.need is None else match.need.value

    def _find(self, edge: PartitionedCollective, axes: frozenset[str] | None) -> Match:
        tests = (
            # A sum is for the operation that makes its parts and sums over a split dimension.
            self._summed,
            # A result that is put into the pieces of its sharding moves for the operation that computed it in others,
            self._put_into_pieces,
            # or on other devices, if its takers need nothing.
            self._brought_back,
            # A row that few devices have is spread for the operation that took it.
            self._left_behind,
            # Neighbours exchange edges for an operation of which only pieces are left.
            self._exchanged,
            # Any other array moves for its taker, first for one that XLA was partitioning,
            self._taken_by_op,
            # or because it is a result of the program,
            self._taken_as_result,
            # or for an operation between maker and taker that XLA was partitioning.
            self._own,
        )
        matches = filter(None, (test(edge, axes) for test in tests))
        found = next(filter(self._is_of_its_type, matches), None)
        need = None if found is None else found.need
        op = None if need is None or need.op is None else self.program.ops[need.op]
        # Where a window lies across pieces' edges, these are sent, and never added up.
        is_window = edge.kind in SUMS and need is not None and need.kind == "halo"
        if found is None or (is_window and op is not None and op.kind == "convolution"):
            return self._nameless(edge)
        return self._past_copy(found)

    def _is_of_its_type(self, match: Match) -> bool:
        """True if the collective has the element type of the value that is said to move, or may be a mask of it."""
        moved, is_sum = self._moved(match), match.need is not None and match.need.is_sum
        is_any = match.moves_result or is_sum or moved is None
        return is_any or match.edge.dtype in (self.program.values[moved or 0].dtype, "pred")

    # ------------------------------------------------------------ the tests

    def _summed(self, edge: PartitionedCollective, axes: frozenset[str] | None) -> Match | None:
        """The need of an operation that sums over a split dimension, and makes what is added up."""
        if edge.kind not in SUMS:
            return None
        ops = self._own_ops(edge)
        need = self._best((need for op in ops for need in self._by_op[op] if need.is_sum), axes)
        split = (self._split_by_xla(edge, op, axes) for op in ops if edge.made_of)
        need = need or next(filter(None, split), None)
        return None if need is None else Match(edge=edge, need=need)

    def _past_copy(self, match: Match) -> Match:
        """The need of an operation whose operand XLA copies first: resharded, or to the one device that runs it.

        Shardy writes what an operand must be resharded to as a copy, by the name of what makes the operand. JAX 0.12
        copies what one device alone takes. What puts a result of the program into its layout is XLA's own, too.
        """
        need = match.need
        if need is None or need.op is None:
            return match
        copy = self.program.ops[need.op]
        result = self._result_handed_on(copy)
        if result is not None and (need.request is None or need.request.kind == "output"):
            request = need.request or Asker(kind="output", index=result)
            return replace(match, need=replace(need, op=None, kind="output", request=request))
        if copy.kind != "copy":
            return match
        users = [user for result in copy.results for user in self.program.users.get(result, ())]
        # What goes to several is needed by none of them more than by the others.
        if len({user for user, _ in users}) != 1 or {one.value for one in self.program.outputs} & set(copy.results):
            return match
        (user, operand), *_ = users
        if self.program.ops[user].is_on_one:
            return replace(match, need=replace(need, op=user, kind="no_sharding_rule"))
        if match.taker is None or match.taker.op != need.op or not is_named_as_operand(self.program, copy):
            return match
        parts = tuple(replace(part, operand=operand) for part in need.parts)
        taken = taken_axes(self.program, user, need.axes) if self.program.ops[user].rule is not None else ()
        need = replace(need, op=user, parts=parts, taken=taken)
        return replace(match, need=need, taker=replace(match.taker, op=user, operand=operand))

    def _result_handed_on(self, op: ShardedOp) -> int | None:
        """The result of the program to which an operation of XLA's own gives the dimensions that it has already."""
        if op.op_name or op.kind not in VIEWS or op.kind == "transpose":
            return None
        before, after = (self.program.values[value].shape for value in (op.operands[0], op.results[0]))
        results = (number for number, own in enumerate(self.program.outputs) if own.value in op.results)
        return next(results, None) if before == after else None

    def _split_by_xla(self, edge: PartitionedCollective, index: int, axes: frozenset[str] | None) -> Need | None:
        """The sum over a dimension that no operand has sharded, and that XLA has split all the same.

        The pieces of the operands say so: the dimension is as many times shorter as devices add up their results.
        """
        op = self.program.ops[index]
        is_maker = bool(edge.makers) and edge.makers[0] in op.results
        if op.rule is None or not is_maker or len(edge.made_of) != len(op.operands) or axes is None:
            return None
        parts = [
            Part(value=value, operand=number, dimension=dimension, axes=tuple(sorted(axes)))
            for number, (value, pieces) in enumerate(zip(op.operands, edge.made_of, strict=True))
            for dimension, factors in enumerate(op.rule.operands[number] if number < len(op.rule.operands) else ())
            if set(factors) & set(op.rule.reduction)
            and len(pieces) == len(self.program.values[value].shape)
            and self._is_split_by(edge.group_size, axes, value, dimension, pieces[dimension])
        ]
        need = Need(op=index, kind=sum_kind(op), is_sum=True, axes=axes, parts=tuple(parts), is_xlas=True)
        return need if parts else None

    def _is_split_by(self, count: int, axes: frozenset[str], value: int, dimension: int, piece: int) -> bool:
        """True if a dimension is split so many times more than its sharding says, or so many times instead."""
        length, given = self.program.values[value].shape[dimension], self.program.values[value].spec[dimension]
        own = self.program.pieces(given)
        # As many pieces as before may still be others: over these axes instead of its own.
        is_instead = own != count or axes.isdisjoint(_names(given))
        return piece * own * count == length or (is_instead and piece * count == length)

    def _put_into_pieces(self, edge: PartitionedCollective, axes: frozenset[str] | None) -> Match | None:
        """The need of an operation that was computed in other pieces, as a sort of rows; its takers play no part."""
        if not self._is_made_otherwise(edge):
            return None
        pieces = self.program.local_shape(edge.makers[0])
        shapes = [taker.shape for taker in edge.takers]
        is_back = all(own == pieces for own in shapes)
        if edge.kind == "all-to-all" and edge.elements == math.prod(pieces):
            # Of the pieces of its sharding, which are as large, a slice may take a part at once.
            is_back = all(len(own) == len(pieces) and all(map(operator.le, own, pieces)) for own in shapes)
        # A permute changes no sizes.
        is_back &= edge.kind != "collective-permute" or edge.given_shape == pieces
        # An array that is moved once more from there was put back before.
        is_back |= edge.kind == "all-to-all" and any(len(back) < len(way) for back, way in self._ways_back(edge))
        return self._own(edge, axes) if is_back else None

    def _brought_back(self, edge: PartitionedCollective, axes: frozenset[str] | None) -> Match | None:
        """The need of an operation whose result is computed in pieces of the right size on other devices.

        Its operands are at odds with its result, and all that takes this has its sharding, and needs nothing.
        """
        value = edge.makers[0] if len(edge.makers) == 1 and edge.kind not in SUMS else None
        op = None if value is None or not self._is_result(value) else self.program.values[value].op
        if value is None or op is None or not self._by_op[op] or not (edge.takers or edge.outputs):
            return None
        pieces, outputs = self.program.local_shape(value), self.program.outputs
        is_taken = all(
            (self._taken(edge, taker), taker.shape) == (value, pieces)
            and self.program.ops[taker.op].rule is not None
            and all(need.is_sum for need in self._by_op[taker.op])
            for taker in edge.takers
        )
        # A result whose sharding was left to XLA may be returned in a layout of its own.
        is_returned = all(
            outputs[own].value == value and outputs[own].spec is not None and not self._by_output[own]
            for own in edge.outputs
        )
        # What takers move once more from there was put back for all of them.
        is_before = self._is_made_otherwise(edge)
        if edge.made_shape != pieces or not (is_before or (is_taken and is_returned)):
            return None
        need = self._best((need for need in self._by_op[op] if need.kind in RESHARDS), axes)
        taker = None if is_before or need is not None else next(iter(edge.takers), None)
        return Match(edge=edge, need=need, taker=taker, taken=value, moves_result=True)

    def _left_behind(self, edge: PartitionedCollective, axes: frozenset[str] | None) -> Match | None:
        """The need of an operation that leaves its result on a few of the devices, as one row of a split array.

        A dimension shorter than its number of devices is on some of them only, whatever its sharding says.
        """
        # If nothing else takes it, a result of the program moves to be returned.
        if not edge.takers and self._taken_as_result(edge, axes) is not None:
            return None
        taken = self._taken_by_op(edge, axes)
        # A taker that reads across the edges of pieces itself does so for all that it takes.
        need = None if taken is None else taken.need
        is_takers = need is not None and need.kind in ("halo", "indexing") and need.op in edge.visited
        for value in filter(self._is_result, edge.makers if axes else ()):
            found = self.program.values[value]
            if is_takers and found.op not in edge.visited:
                continue
            short = any(
                length < self.program.pieces(own) and not _names(own).isdisjoint(axes or ())
                for length, own in zip(found.shape, found.spec, strict=True)
            )
            needs = (need for need in self._by_op[found.op] if not need.is_sum)
            # Another slice of the same array may read its first row too: XLA makes that once.
            is_others = self._edges_of(edge, axes, without=found.op) is not None
            if short and not is_others and (need := self._best(needs, axes)) is not None:
                return Match(edge=edge, need=need)
        return None

    def _exchanged(self, edge: PartitionedCollective, axes: frozenset[str] | None) -> Match | None:
        """The need for edges of an operation of which only pieces are left; who takes its result has none."""
        is_takers = any(taker.op in edge.visited for taker in edge.takers)
        need = None if is_takers else self._edges_of(edge, axes)
        return None if need is None else Match(edge=edge, need=need)

    def _taken_by_op(self, edge: PartitionedCollective, axes: frozenset[str] | None) -> Match | None:
        """The need of an operation that takes the moved array."""
        for taker in self._takers(edge):
            taken = self._taken(edge, taker)
            needs = [n for n in self._by_op[taker.op] if self._is_about(n, edge, taker)]
            if (need := self._best(self._without_edges(needs, taker, taken), axes)) is not None:
                target = None if taken is None or need.kind != "halo" else self._before_edges(edge, taker, taken)
                own = None if target is not None else need
                return Match(edge=edge, need=own, taker=taker, taken=taken, wanted=target)
        return None

    def _before_edges(self, edge: PartitionedCollective, taker: Taker, taken: int) -> Dimensions | None:
        """The sharding that an array gets before its taker exchanges edges of its pieces; None for no other."""
        way = self._ways.of(edge, taker)
        if edge is way[-1] or edge.kind != "collective-permute":
            return None
        return self._ways.found(way[: way.index(edge) + 1], taken, edge.given_shape)

    def _taken_as_result(self, edge: PartitionedCollective, axes: frozenset[str] | None) -> Match | None:
        """The need of a result of the program that the moved array is."""
        needs = (self._best(self._by_output[output], axes) for output in edge.outputs)
        need = next(filter(None, needs), None)
        return None if need is None else Match(edge=edge, need=need)

    def _without_edges(self, needs: list[Need], taker: Taker, taken: int | None) -> list[Need]:
        """The needs, except for neighbours' edges along a dimension that the operation gets all of anyway.

        It does so, window or not, if its result has the axis along another dimension.
        """
        if taken is None:
            return needs
        lost = {
            (part.operand, part.dimension)
            for need in needs
            if need.kind != "halo"
            for part in need.parts
            if part.operand == taker.operand and self._has_all(taker, part.dimension, taken)
        }
        return [
            need
            for need in needs
            if need.kind != "halo" or not {(part.operand, part.dimension) for part in need.parts} <= lost
        ]

    def _has_all(self, taker: Taker, dimension: int, value: int) -> bool:
        """True if an operation takes all of a dimension."""
        return taker.shape[dimension:][:1] == self.program.values[value].shape[dimension:][:1]

    def _edges_of(
        self, edge: PartitionedCollective, axes: frozenset[str] | None, without: int | None = None
    ) -> Need | None:
        """The need for neighbours' edges, over just these axes, of an operation that XLA was partitioning."""
        if edge.kind != "collective-permute" or not axes:
            return None
        needs = (need for op in edge.visited if op != without for need in self._by_op[op])
        return next((one for one in needs if one.kind == "halo" and not one.is_sum and one.axes == axes), None)

    def _own(self, edge: PartitionedCollective, axes: frozenset[str] | None) -> Match | None:
        """A need of the operation that makes the taken array, and that XLA was partitioning at the time."""
        takers = {taker.op for taker in edge.takers}
        for op in self._own_ops(edge):
            is_made = op in self._made_by(edge.makers)
            # None of a taker's needs is about the operand it takes here, so the collective serves none of them.
            if not is_made and op in takers and edge.kind not in SUMS:
                continue
            # One device alone may run an operation: then its result goes from there to the others. Nor does an operand
            # move for what moves the result, in the pieces of its sharding.
            if is_made and (self.program.ops[op].is_on_one or not self._is_made_otherwise(edge)):
                continue
            if (need := self._best((need for need in self._by_op[op] if not need.is_sum), axes)) is not None:
                return Match(edge=edge, need=need, moves_result=self._is_made_otherwise(edge))
        return None

    def _nameless(self, edge: PartitionedCollective) -> Match:
        """The match without a need: only the taker and its pieces are known."""
        taker = next(iter(self._takers(edge)), None)
        taken = None if taker is None else self._taken(edge, taker)
        return Match(edge=edge, taker=taker, taken=taken, moves_result=self._is_made_otherwise(edge))

    # ------------------------------------------------------------ who makes and takes it

    def _own_ops(self, edge: PartitionedCollective) -> list[int]:
        """The operations that make the moved array, or that the collective is a part of, likeliest first.

        It is a part of an operation that makes the operands of its takers if XLA was partitioning that one. An
        operation without results, such as a callback, is no taker, but XLA was partitioning it.
        """
        made = self._made_by(edge.makers)
        if not edge.takers and not edge.outputs:
            own = set(edge.makers)
            return [op for op in edge.visited if own & set(self.program.ops[op].operands)] or made
        taken = [self._taken(edge, taker) for taker in edge.takers]
        taken += [self.program.outputs[number].value for number in edge.outputs]
        behind = self._made_by(value for value in taken if value is not None and value not in edge.makers)
        return [op for op in dict.fromkeys((*made, *behind)) if op in edge.visited] or made

    def _made_by(self, values: Iterable[int]) -> list[int]:
        made = (self.program.values[value].op for value in values if self._is_result(value))
        return list(dict.fromkeys(op for op in made if op is not None))

    def _is_result(self, value: int) -> bool:
        op = self.program.op_of(value)
        return op is not None and value in op.results

    def _takers(self, edge: PartitionedCollective) -> list[Taker]:
        """The takers; first those that XLA was partitioning when it made the collective, as it is for them."""
        return sorted(edge.takers, key=lambda taker: taker.op not in edge.visited)

    def _taken(self, edge: PartitionedCollective, taker: Taker) -> int | None:
        """The value that an operation takes; for a collective in a loop's body, the value that the body returns."""
        op = self.program.ops[taker.op]
        if not 0 <= taker.operand < len(op.operands):
            return None
        is_inside = any(self._is_inside(value, taker.op) for value in edge.makers)
        if op.kind == "while" and is_inside and taker.operand < len(op.results):
            return self._returned.get(op.results[taker.operand], op.operands[taker.operand])
        return op.operands[taker.operand]

    def _is_inside(self, value: int, region: int) -> bool:
        """True if a value is made, or handed on, in a region of an operation."""
        op = self.program.values[value].op
        if op == region:
            return not self._is_result(value)
        while op is not None and op != region:
            op = self.program.ops[op].parent
        return op == region

    def _is_about(self, need: Need, edge: PartitionedCollective, taker: Taker) -> bool:
        """True if an array moves for a need; the table of a lookup may be gathered instead of summed over."""
        op = self.program.ops[taker.op]
        own = [part for part in need.parts if part.operand == taker.operand]
        if need.is_sum and op.kind == "scatter":
            # Written values cannot always be added up: then each device gets all of them, and all positions.
            return bool(own) and all(self._has_all(taker, part.dimension, part.value) for part in own)
        if need.is_sum and op.kind != "gather":
            # A gather may collect each device's part of a reduction, as in an argmax.
            return edge.kind == "all-gather" and taker.op in edge.reduced
        # An operand that lacks the axes of the result is cut at no cost, but not where pieces of the result begin.
        is_of_result = need.kind == "halo" and all(part.operand is None for part in need.parts)
        taken = self._taken(edge, taker)
        lacks = taken is not None and need.axes.isdisjoint(_names(self.program.values[taken].axes))
        return bool(own) or (is_of_result and lacks)

    def _is_made_otherwise(self, edge: PartitionedCollective) -> bool:
        """True if it moves a result that was computed differently from its sharding, and was not put back before."""
        return bool(self._ways_back(edge))

    def _ways_back(self, edge: PartitionedCollective) -> list[tuple[Way, Way]]:
        """The ways on which a collective puts a result back: the part that does, and all of it, for each next one."""
        ways = (self._ways.of(own) for own in (edge, *self._ways.next(edge)))
        return [(back, way) for way in ways if edge in (back := self._put_back(way)[0])]

    # ------------------------------------------------------------ which need

    def _best(self, needs: Iterable[Need], axes: frozenset[str] | None) -> Need | None:
        """The need whose axes fit best; None when none has any of them."""
        found = [(score, need) for need in needs if (score := _fit(need, axes))]
        return max(found, key=lambda pair: pair[0])[1] if found else None


def _names(axes: Iterable[str]) -> frozenset[str]:
    return frozenset(map(axis_name, axes))


def _fit(need: Need, axes: frozenset[str] | None) -> int:
    """4 when the need is over exactly these axes, 3 when over these and more, 2 when some are common, else 0.

    1 where it is not known over which the need or the collective is.
    """
    own = _names(need.axes)
    if axes is None or not own:
        return 1
    return 4 if own == axes else 3 if axes < own else 2 if own & axes else 0
