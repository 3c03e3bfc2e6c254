"""Finds rings: collective-permutes in a loop that together perform one all-gather or reduce-scatter, piece by piece.

XLA splits an all-gather before a multiplication (or a reduce-scatter after one) into a loop, so that one piece is
multiplied while the next is under way: a decomposed collective-matmul. People write such loops too. A loop counts as a
ring only if its data flow proves it:

- *all-gather*: a piece from each device is passed on unchanged around rings of n devices, in one direction or both,
  until every device has seen all n pieces.
- *reduce-scatter*: a sum is passed on around the rings, and each of the n devices adds to it once a value that does
  not depend on the sum.

Not its job: the values that travel along a ring (`analyze.collectives.loop_carries`). Rings with an unknown trip count,
or unrolled to straight code, are left as single permutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.collectives.loop_carries import (
    KEPT,
    Added,
    Cleared,
    LoopCarry,
    Moved,
    Permutes,
    find_lanes,
    is_empty,
    state_element,
    trace_back,
)
from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.dataflow import constant, joins, operand, settled
from pjit_inspect.analyze.program.loops import counter_step, find_trip_count
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.report.collective import Decomposed

_MOST_LANES = 64
_MOST_TURNS = 4096
"""Most turns of a ring; no machine has a longer one."""


def find_rings(module: HloModule, sites: Sequence[CollectiveOp]) -> list[CollectiveOp]:
    """The rings among these collectives, each with the permutes it consists of as `members`."""
    permutes = {part.index: site for site in sites if site.kind == "collective-permute" for part in _receiver(site)}
    computations = {int(module.instructions.computation[index]) for index in permutes}
    rings: list[CollectiveOp] = []
    for computation in sorted(computations):
        callers = module.computation(computation).callers
        if len(callers) == 1 and callers[0].opcode == "while" and callers[0].called[0].index == computation:
            rings += _rings_of(callers[0], permutes)
    return rings


def _receiver(site: CollectiveOp) -> tuple[Instruction, ...]:
    """The instruction that yields a permute's received value; () if there is no single one."""
    if site.instructions == (site.op,):
        return (site.op,)
    receivers = tuple(part for part in site.instructions if part.opcode in ("collective-permute-done", "recv-done"))
    return receivers if len(receivers) == 1 else ()


def _rings_of(loop: Instruction, permutes: Permutes) -> list[CollectiveOp]:
    turns, start = find_trip_count(loop), settled(loop.operands[0], KEPT)
    lanes = find_lanes(loop.called[0].root, permutes)
    if not turns or turns > _MOST_TURNS or len(lanes) > _MOST_LANES or start.opcode != "tuple":
        return []
    context = _Loop(loop=loop, start=start, turns=turns, permutes=permutes)
    rings = _gathers([lane for lane in lanes if lane.is_kept], context)
    return rings + _scatters([lane for lane in lanes if not lane.is_kept], context)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    """One loop: the instruction, its initial state, its number of turns, and the program's permutes."""

    loop: Instruction
    start: Instruction
    turns: int
    permutes: Permutes


def _place(site: CollectiveOp) -> int:
    return int(site.op.module.places[site.op.index])


def _ring(decomposed: Decomposed, members: Iterable[CollectiveOp]) -> CollectiveOp | None:
    """A ring of these permutes; None when they do not move equally much."""
    # In schedule order, which does not depend on the order of the program's bytes.
    sites = tuple(sorted({site.op.index: site for site in members}.values(), key=_place))
    if len({tuple(operand.shape.bytes for operand in site.op.operands) for site in sites}) != 1:
        return None
    return CollectiveOp(
        kind="collective-permute",
        op=sites[0].op,
        instructions=tuple(part for site in sites for part in site.instructions),
        pairs=tuple(dict.fromkeys(pair for site in sites for pair in site.pairs)),
        is_async=all(site.is_async for site in sites),
        members=sites,
        decomposed=decomposed,
    )


# ---------------------------------------------------------------- all-gather


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """The value one lane passes on: its `origin`, from which the permutes `before` the loop moved it along the ring."""

    lane: LoopCarry
    origin: Instruction
    before: tuple[CollectiveOp, ...]


def _gathers(lanes: Sequence[LoopCarry], context: _Loop) -> list[CollectiveOp]:
    """Lanes that only forward data, as all-gathers; lanes over slices of one array are merged."""
    pieces: dict[Instruction, list[_Piece]] = {}
    for lane in lanes:
        along = _PermuteRing(lane.moves[0]).step
        origin, before = trace_back(operand(context.start, lane.element), context.permutes, along)
        # XLA may send half a piece each way round: lanes of one origin are judged together.
        pieces.setdefault(origin, []).append(_Piece(lane=lane, origin=origin, before=before))
    whole = [group for group in pieces.values() if _is_gather(group, context)]
    arrays: dict[Instruction, list[_Piece]] = {}
    for group in whole:
        arrays.setdefault(settled(group[0].origin, KEPT | {"slice"}), []).extend(group)
    rings = (_ring("all-gather", _permutes(group)) for group in arrays.values())
    return [ring for ring in rings if ring is not None]


def _permutes(pieces: Sequence[_Piece]) -> list[CollectiveOp]:
    return [site for piece in pieces for site in (*piece.before, *piece.lane.moves)]


def _is_gather(pieces: Sequence[_Piece], context: _Loop) -> bool:
    """True if lanes of one origin together bring every device's piece to every device, and the loop uses them."""
    wheel = _PermuteRing(pieces[0].lane.moves[0])
    seen = set[int]()
    for piece in pieces:
        first, turn = wheel.steps(piece.before), wheel.steps(piece.lane.moves)
        if wheel.size < 2 or first is None or turn is None:
            return False
        # Proof of an all-gather: the places all lanes come past are all places. One missing, and it is no gather.
        seen |= _passed(sum(first), turn, context.turns, wheel.size)
    return len(seen) == wheel.size and _is_used([piece.lane for piece in pieces], context)


def _passed(place: int, turn: Sequence[int], turns: int, size: int) -> set[int]:
    """The places around a ring of `size` that a lane is at, from `place` on."""
    seen = {place % size}
    for _ in range(min(turns, size)):
        for step in turn:
            place += step
            seen.add(place % size)
    return seen


def _is_used(lanes: Sequence[LoopCarry], context: _Loop) -> bool:
    """True if the loop does something with the pieces, beyond passing them on."""
    elements = {lane.element for lane in lanes}
    own = {part.index for lane in lanes for site in lane.moves for part in site.instructions}
    body = context.loop.called[0]
    border = [part for part in body if part.index in own or state_element(part) in elements]
    seen = own | {body.root.index}
    while border:
        for user in border.pop().users:
            if user.index not in seen and user.opcode not in KEPT:
                return True
            if user.index not in seen:
                seen.add(user.index)
                border.append(user)
    return False


# ---------------------------------------------------------------- reduce-scatter


def _scatters(lanes: Sequence[LoopCarry], context: _Loop) -> list[CollectiveOp]:
    """Lanes with a sum, as reduce-scatters: alone, or two lanes whose sums are added after the loop."""
    ends = {lane.element: _After(lane, context) for lane in lanes}
    rings: list[CollectiveOp] = []
    left = list(lanes)
    while left:
        lane = left.pop(0)
        # A sum sent both ways round is two lanes, each with some of the devices, whose ends are added after the loop.
        partner = next((other for other in left if ends[other.element].meets(ends[lane.element])), None)
        ring = _scatter([lane] if partner is None else [lane, partner], ends, context)
        if ring is not None:
            rings.append(ring)
            left = [other for other in left if other is not partner]
    return rings


def _scatter(lanes: Sequence[LoopCarry], ends: Mapping[int, _After], context: _Loop) -> CollectiveOp | None:
    wheel = _PermuteRing(lanes[0].moves[0])
    givers, members = list[int](), list[CollectiveOp]()
    for lane in lanes:
        after = ends[lane.element].moves if len(lanes) > 1 else []
        of_lane = _givers(lane, after, wheel, context)
        if wheel.size < 2 or of_lane is None:
            return None
        givers += of_lane
        members += (*lane.moves, *after)
    # Proof of a reduce-scatter: every device adds, and none twice.
    is_whole = len(givers) == len(set(givers)) == wheel.size
    return _ring("reduce-scatter", members) if is_whole else None


def _givers(lane: LoopCarry, after: Sequence[CollectiveOp], wheel: _PermuteRing, context: _Loop) -> list[int] | None:
    """Distances around the ring, from where a sum ends, of the devices that add to it; None if unclear."""
    last, turn = wheel.steps(after), wheel.steps(lane.moves)
    if last is None or turn is None or context.turns > wheel.size:
        return None
    if not all(_is_first_turn(event, context) for event in lane.events if isinstance(event, Cleared)):
        return None
    starts_anew = any(isinstance(event, Cleared) for event in lane.events)
    place = 0
    places = [] if starts_anew or is_empty(operand(context.start, lane.element)) else [place]
    for event in lane.events * context.turns:
        if isinstance(event, Moved):
            place += wheel.step(event.site) or 0
        elif isinstance(event, Added) and places[-1:] != [place]:
            places.append(place)
    place += sum(last)
    return [(place - giver) % wheel.size for giver in places]


def _is_first_turn(event: Cleared, context: _Loop) -> bool:
    """True if a lane is cleared in the first turn only: when a counter that goes on is where it starts."""
    compare = event.condition
    if compare.opcode != "compare" or compare.details.comparison_direction != ("EQ" if event.when else "NE"):
        return False
    body = settled(context.loop.called[0].root, KEPT)
    sides = [settled(operand(compare, k), KEPT) for k in (0, 1)]
    for side, other in (sides, sides[::-1]):
        counter = state_element(side)
        if counter is not None and constant(other) is not None and counter_step(body, counter):
            return constant(settled(operand(context.start, counter), KEPT)) == constant(other)
    return False


class _After:
    """The way of a lane's value after the loop: its permutes, and its destination."""

    def __init__(self, lane: LoopCarry, context: _Loop) -> None:
        users = context.loop.users
        taken = [u for u in users if u.opcode == "get-tuple-element" and u.number == lane.element]
        self.moves: list[CollectiveOp] = []
        self.end: Instruction | None = taken[0] if len(taken) == 1 else None
        starts = {site.op.index: receiver for receiver, site in context.permutes.items()}
        while self.end is not None and len(self.end.users) == 1:
            user = self.end.users[0]
            if user.index in starts:
                receiver = starts[user.index]
                self.moves.append(context.permutes[receiver])
                self.end = context.loop.module.instruction(receiver)
            elif user.opcode in KEPT:
                self.end = user
            else:
                break

    def meets(self, other: _After) -> bool:
        """True if both values are added to each other."""
        if self.end is None or other.end is None:
            return False
        ends = {self.end.index, other.end.index}
        common = {user.index: user for user in self.end.users}.keys() & {user.index for user in other.end.users}
        module = self.end.module
        return len(ends) == 2 and any(joins(module.instruction(index), "add", ends) for index in common)


class _PermuteRing:
    """Rings of equal length, and how far permutes move along them."""

    def __init__(self, site: CollectiveOp) -> None:
        self._forward = dict(site.pairs)
        self._back = {target: source for source, target in site.pairs}
        self._pairs = len(site.pairs)
        self.size: int = self._length()

    def _length(self) -> int:
        """Devices in each ring; 0 when the pairs are no rings of one length."""
        # Each device sends once and receives once: else following the pairs need not lead back.
        if not len(self._forward) == len(self._back) == self._pairs or self._back.keys() != self._forward.keys():
            return 0
        lengths, left = set[int](), set(self._forward)
        while left:
            first = device = left.pop()
            length = 1
            while (device := self._forward[device]) != first:
                left.discard(device)
                length += 1
            lengths.add(length)
        return lengths.pop() if len(lengths) == 1 else 0

    def step(self, site: CollectiveOp) -> int | None:
        """1 when a permute moves everything one device forward, -1 for back, None when it does neither."""
        pairs = dict(site.pairs)
        if pairs == self._forward:
            return 1
        return -1 if pairs == self._back else None

    def steps(self, sites: Iterable[CollectiveOp]) -> list[int] | None:
        """`step` of each; None when one does neither."""
        directions = [self.step(site) for site in sites]
        return None if None in directions else [step for step in directions if step is not None]
