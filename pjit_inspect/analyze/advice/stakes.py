"""What is at stake in a change: the collectives, products and arrays that it is about.

A change puts axes on classes of dimensions, and takes some away. At stake are collectives over an axis that it puts
somewhere, about the dimensions of the place; those about dimensions that it splits less; and a part of what it splits
more. It orders the questions and ends them, and is no bound: XLA may save more. Not its job: asking.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.advice.counts import Counts
from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.analyze.advice.site import Site
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.opcodes import PRODUCTS
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.sharding.sharded_program import axis_name

Put = frozenset[tuple[str, int]]
"""Axes, each with the class of dimensions that it splits."""
_ELSEWHERE, _AS_IT_IS = 0.4, 0.5
"""The weight of what is at stake where the axis is not lost at the place itself, and of telling it to stay as it is."""
_BEFORE_REQUEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedBytes:
    """One collective of a partitioned program.

    Attributes:
      bytes: bytes a device sends for it per call.
      axes: the mesh axes it goes over; None if it follows none.
      shape: the shape of its array on one device.
      op_name, frames: those of the operation it belongs to, as in `ShardedOp`; () if the frames are not known.
      channel: its channel; None without one.
    """

    bytes: int
    axes: tuple[str, ...] | None
    shape: tuple[int, ...]
    op_name: str
    frames: tuple[Frame, ...]
    channel: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A program, or a changed copy, as XLA's partitioner made it: its counts, its collectives, and its quick estimate.

    The estimate is `StepTime.serial_s`, with no communication hidden; None where the speed of its devices is unknown.
    """

    counts: Counts
    moved: tuple[MovedBytes, ...]
    seconds: float | None = None

    def not_in(self, other: Counted) -> tuple[MovedBytes, ...]:
        """The collectives that another program does not have, or has fewer of."""
        left = Counter(map(_collective_key, other.moved))
        gone = list[MovedBytes]()
        for row in self.moved:
            left[key := _collective_key(row)] -= 1
            if left[key] < 0:
                gone.append(row)
        return tuple(gone)

    def channels_not_in(self, other: Counted) -> frozenset[int]:
        """The channels of these collectives, as far as they have one."""
        return frozenset(row.channel for row in self.not_in(other) if row.channel is not None)


def _collective_key(row: MovedBytes) -> object:
    return row.op_name, row.frames, row.axes, row.shape


Ask = Callable[[Sequence[Edit]], Counted]
"""Asks XLA's partitioner about a changed copy; raises CaptureError if it gives no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """One change, and what is at stake in it, as shares of what the program sends, multiplies and holds.

    Attributes:
      site, spec: the place, and the new sharding; None to leave a constraint out.
      put, gone: the axes that it puts on classes of dimensions, and takes away.
      sent, products, held: what is at stake.
      score: how much it promises; questions are asked in this order.
      lost_at: the first operation at which an axis gets lost that it puts back; None where it puts none back.
    """

    site: Site
    spec: Dimensions | None
    put: Put
    gone: Put
    sent: float
    products: float
    held: float
    score: float
    lost_at: int | None = None

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The change."""
        return self.site.edits(self.spec)

    @property
    def size(self) -> int:
        """The number of axes that it puts somewhere or takes away."""
        return len(self.put) + len(self.gone)

    @property
    def most(self) -> float:
        """The largest share of anything that is at stake."""
        return max(self.sent, self.products, self.held)


@dataclass(frozen=True, slots=True)
class _Stake:
    size: float
    axes: frozenset[str]
    classes: frozenset[int]
    ops: frozenset[int]


class Stakes:
    """The stakes of one program, or of a changed copy of it."""

    def __init__(self, own: EditedProgram, start: Counts, now: Counted) -> None:
        """`start` has the figures that savings are shares of, `now` the collectives that there are."""
        self._own, self._start = own, start
        self._collectives = self._of_collectives(now)
        self._products = self._of_products()

    def _of_collectives(self, now: Counted) -> list[_Stake]:
        found = []
        for row in now.moved:
            ops = self._own.named[row.op_name, row.frames]
            axes = self._own.program.sizes if row.axes is None else row.axes
            found.append(_Stake(row.bytes, frozenset(map(axis_name, axes)), self._classes_of(ops), frozenset(ops)))
        return found

    def _of_products(self) -> list[_Stake]:
        own, found = self._own, []
        for index, op in enumerate(own.program.ops):
            if op.kind in PRODUCTS and op.rule is not None:
                axes = {axis_name(axis) for v in (*op.operands, *op.results) for axis in own.program.values[v].axes}
                flops = math.prod(op.rule.sizes.values()) * own.runs[index] / own.program.pieces(tuple(axes))
                found.append(_Stake(flops, frozenset(axes), self._classes_of([index]), frozenset((index,))))
        return found

    def _classes_of(self, ops: Sequence[int]) -> frozenset[int]:
        own = (self._own.program.ops[index] for index in ops)
        return frozenset(c for op in own for v in (*op.operands, *op.results) for c in self._own.classes(v))

    def proposal(self, site: Site, spec: Dimensions | None) -> ProposedChange:
        """The change of a place to a sharding, with what is at stake."""
        own = self._own
        # What JAX binds together may be split in several ways now.
        changes = {(own.classes(value), old, new) for value, old, new in site.pairs(spec)}
        pairs = [pair for classes, old, new in changes for pair in zip(classes, old, new, strict=True)]
        put = frozenset((axis, c) for c, a, b in pairs for axis in b if axis not in a)
        gone = frozenset((axis, c) for c, a, b in pairs for axis in a if axis not in b)
        if spec == site.now:
            # It is told to stay as it is: what hangs together with it and is split differently may follow.
            put |= {(axis, c) for c, axes, _ in pairs for axis in axes if self._varies(c)}
        if spec is None and not gone:
            # Where nothing is asked for any more, it may be split as what hangs together with it.
            put |= {(axis, c) for c, _, _ in pairs for axes in own.splits.get(c, ()) for axis in axes}
        sent, near = self._sent(site, put, gone)
        products, held = self._multiplied(put), self._held(site, spec)
        lost_at = None if spec == site.now else self._loses(site, put)
        score = (max(sent, products) * (_ELSEWHERE if lost_at is None else 1.0) + near) * (
            _AS_IT_IS if spec == site.now else 1
        )
        return ProposedChange(
            site=site,
            spec=spec,
            put=put,
            gone=gone,
            sent=sent,
            products=products,
            held=held,
            # Of two changes with as much at stake, the smaller one first.
            score=score / (1 + 0.1 * max(0, len(put) + len(gone) - 1)) + max(0.0, held),
            lost_at=lost_at,
        )

    def _varies(self, own_class: int) -> bool:
        return len(self._own.splits.get(own_class, ())) > 1

    def _sent(self, site: Site, put: Put, gone: Put) -> tuple[float, float]:
        """The share of what is sent that is at stake, and the part of it at the place and at its users."""
        classes = {c for value, _ in site.arrays for c in self._own.classes(value)}
        near_ops = self._near(site)
        put_axes, gone_axes = {axis for axis, _ in put}, {axis for axis, _ in gone}
        fresh, lost = {c for _, c in put}, {c for _, c in gone}
        more = math.prod(self._own.program.length(axis) for axis in put_axes - gone_axes)
        total = near = 0.0
        for one in self._collectives:
            # An axis put somewhere may end the collectives over it, one taken away those about what it has split. What
            # XLA then chooses for others is not seen, as in a backward loop, which no rule joins with the forward one.
            ends = (put_axes & one.axes and one.classes & classes) or (gone_axes & one.axes and one.classes & lost)
            # Pieces of what is split more are smaller.
            size = one.size if ends else one.size * (1 - 1 / more) if one.classes & fresh else 0.0
            total += size
            near += size if one.ops & near_ops else 0.0
        sent = max(1, self._start.bytes)
        return min(1.0, total / sent), min(1.0, near / sent)

    def _near(self, site: Site) -> set[int]:
        """The operations of a place, and those that take what it makes."""
        program = self._own.program
        mine = {index for kind, index, _ in site.places if kind not in ("argument", "result")}
        values = {site.value, *(value for index in mine for value in program.ops[index].results)}
        values |= {program.inputs[index].value for kind, index, _ in site.places if kind == "argument"}
        return mine | {user for value in values for user in self._own.users(value)}

    def _multiplied(self, put: Put) -> float:
        """The share of the products' operations that is done on fewer devices now than the axes would allow."""
        saved = 0.0
        for one in self._products:
            fresh = {axis_name(axis) for axis, c in put if c in one.classes} - one.axes
            saved += one.size * (1 - 1 / self._own.program.pieces(tuple(fresh)))
        return saved / max(1.0, sum(one.size for one in self._products))

    def _held(self, site: Site, spec: Dimensions | None) -> float:
        """The share of arguments and results that a device holds less of; negative where it holds more."""
        if site.kind not in ("argument", "result"):
            return 0.0
        own, times = self._own, 1 if site.fixed else len(site.places)
        less = sum(own.held_bytes(value, old) - own.held_bytes(value, new) for value, old, new in site.pairs(spec))
        return less * times / max(1, self._start.held_bytes + sum(self._start.results))

    def _loses(self, site: Site, put: Put) -> int | None:
        """The first op of a place whose piece of source takes what is split as proposed: there the axis gets lost.

        What a constraint asks for spreads to what it is given: for one, the pieces before it are looked at, too.
        """
        depth = _BEFORE_REQUEST if site.kind == "request" else 1
        return next((index for index in site.ops if put & self._own.brought(index, depth)), None)


def batch_bytes(own: EditedProgram, now: Counted) -> int:
    """Bytes that a program, or a changed copy of it, sends of arrays that a larger batch makes larger."""
    return sum(row.bytes for row in now.moved if _is_batch(own, own.named[row.op_name, row.frames], row.shape))


def _is_batch(own: EditedProgram, ops: Sequence[int], shape: tuple[int, ...]) -> bool:
    """True if the array that a collective moves, one of an op's that it fits, has a dimension of the batch."""
    arrays = {value for index in ops for value in (*own.program.ops[index].operands, *own.program.ops[index].results)}
    fitting = [
        own.classes(value)
        for value in arrays
        if len(own.shape(value)) == len(shape)
        and all(whole % max(1, part) == 0 for whole, part in zip(own.shape(value), shape, strict=True))
    ]
    return any(not own.batch.isdisjoint(classes) for classes in fitting or map(own.classes, arrays))
