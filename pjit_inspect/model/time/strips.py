"""The timeline of a call as strips to draw: the whole call, and one turn of each loop.

A strip has a lane of kernels, in which waits are pieces of their own, and a lane for each mesh axis, several where
transfers over it run at once. Within a strip, a loop is the sum of what its turns do, by kind. Not its job: what runs
when (`analyze.time`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pjit_inspect.model.time.rows import TimedCollective, TimedKernel, TimelineSpan, tracks_of

PieceKind = Literal["kernel", "wait", "transfer", "copy"]
"""A wait is a stretch in which no kernel runs, as all kernels wait for a transfer or a copy."""

_COMPUTE, _LOOPS, _MEMORY = "compute", "loops", "memory"
_MOST_STRIPS = 12
_MOST_PIECES = 1_200
"""Pieces shorter than the strip over this many are drawn with the one before."""
_NEAR = 1e-9
"""Times nearer than this share of a call are one: they are sums of the same numbers in another order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a lane.

    Attributes:
      begin_s, end_s: seconds since the beginning of its strip.
      kind: what happens there.
      phase: as in `TimedKernel`, of what runs or is waited for.
      axes: the mesh axes of a transfer, or of what is waited for; () for kernels and copies, None for no axis.
      label: what it computes or moves; "" for a sum over the turns of a loop.
      name: its HLO instruction; "" for a sum.
      line: the line of source; "" if unknown, and for a sum.
      number: kernels or transfers that it stands for; 0 for a sum.
    """

    begin_s: float
    end_s: float
    kind: PieceKind
    phase: str = ""
    axes: tuple[str, ...] | None = ()
    label: str = ""
    name: str = ""
    line: str = ""
    number: int = 1

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end_s - self.begin_s

    @property
    def about(self) -> tuple[str, str, tuple[str, ...] | None]:
        """The facts that the pieces of a sum share."""
        return self.kind, self.phase, self.axes


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopBox:
    """A loop within a strip.

    Attributes:
      begin_s, end_s: seconds since the beginning of the strip.
      turns: its turns.
      strip: the place of its own strip.
    """

    begin_s: float
    end_s: float
    turns: int
    strip: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One lane of a strip.

    Attributes:
      name: "compute", "memory" for copies, or a mesh axis.
      axes: the mesh axis; () for the others.
      pieces: in order.
    """

    name: str
    axes: tuple[str, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The whole call, or one turn of a loop.

    Attributes:
      length_s: its seconds.
      turns: turns of the loop; 1 for the call.
      phase: the phase that takes most of it; "" if unknown.
      lanes: kernels first.
      loops: the loops within it.
      exposed_s: seconds in which kernels wait for the network.
      transfer_s: seconds of all transfers, in loops within it, too.
    """

    length_s: float
    turns: int
    phase: str
    lanes: tuple[Lane, ...]
    loops: tuple[LoopBox, ...]
    exposed_s: float
    transfer_s: float


def strips_of(
    timeline: Sequence[TimelineSpan],
    kernels: Sequence[TimedKernel],
    collectives: Sequence[TimedCollective],
    step_s: float,
) -> tuple[Strip, ...]:
    """The call, then each loop, the one that takes longest first; () without a timeline."""
    if not timeline or step_s <= 0:
        return ()
    root = _tree(timeline, step_s)
    names = _Names(kernels={row.name: row for row in kernels}, collectives={row.name: row for row in collectives})
    loops = sorted(root.inside(), key=lambda one: -one.whole_s)[: _MOST_STRIPS - 1]
    nodes = [root, *loops]
    place = {id(node): number for number, node in enumerate(nodes)}
    return tuple(_strip(node, names, place) for node in nodes)


# ---------------------------------------------------------------- loops within loops


@dataclass(slots=True, kw_only=True)
class _LoopTurn:
    """The call, or a loop: what it runs in its first turn."""

    begin: float
    end: float
    turns: int
    outer_turns: int = 1
    spans: list[TimelineSpan] = field(default_factory=list)
    loops: list[_LoopTurn] = field(default_factory=list)

    @property
    def turn_s(self) -> float:
        return (self.end - self.begin) / self.turns

    @property
    def whole_s(self) -> float:
        """Seconds in a call."""
        return (self.end - self.begin) * self.outer_turns

    def inside(self) -> list[_LoopTurn]:
        """All loops within it."""
        return [one for own in self.loops for one in (own, *own.inside())]


def _tree(timeline: Sequence[TimelineSpan], step_s: float) -> _LoopTurn:
    root = _LoopTurn(begin=0.0, end=step_s, turns=1)
    stack, near = [root], step_s * _NEAR
    for span in sorted(timeline, key=lambda one: (one.begin_s, one.lane != _LOOPS, -one.end_s)):
        while len(stack) > 1 and span.begin_s >= stack[-1].end - near:
            stack.pop()
        if span.lane != _LOOPS:
            # What is on its way beyond the first turn of a loop was begun before it.
            homes = (one for one in reversed(stack) if span.end_s <= one.begin + one.turn_s + near)
            next(homes, root).spans.append(span)
        elif span.turns > 1:
            outer = stack[-1]
            node = _LoopTurn(
                begin=span.begin_s, end=span.end_s, turns=span.turns, outer_turns=outer.outer_turns * outer.turns
            )
            outer.loops.append(node)
            stack.append(node)
    return root


# ---------------------------------------------------------------- pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """Kernels and collectives by their instructions."""

    kernels: Mapping[str, TimedKernel]
    collectives: Mapping[str, TimedCollective]

    def piece(self, span: TimelineSpan, begin: float) -> Piece:
        """A span as a piece of a strip that begins there."""
        row = self.kernels.get(span.name) or self.collectives.get(span.name)
        kind: PieceKind = "kernel" if span.lane == _COMPUTE else "copy" if span.lane == _MEMORY else "transfer"
        axes = row.axes if isinstance(row, TimedCollective) else (span.lane,) if kind == "transfer" else ()
        return Piece(
            begin_s=span.begin_s - begin,
            end_s=span.end_s - begin,
            kind=kind,
            phase="" if row is None else row.phase,
            axes=axes,
            label=span.label,
            name=span.name,
            line="" if row is None else row.line,
        )


def _strip(node: _LoopTurn, names: _Names, place: Mapping[int, int]) -> Strip:
    length = node.turn_s
    compute = _computed(node, names)
    others = [names.piece(span, node.begin) for span in node.spans if span.lane != _COMPUTE]
    lanes = [Lane(name=_COMPUTE, axes=(), pieces=_merged(compute, length))]
    # A strip of loops has its transfers in theirs.
    for lane in dict.fromkeys(span.lane for span in node.spans if span.lane not in (_COMPUTE, _MEMORY)):
        for track in tracks_of(span for span in node.spans if span.lane == lane):
            own = [names.piece(span, node.begin) for span in track]
            lanes.append(Lane(name=lane, axes=(lane,), pieces=_merged(own, length)))
    phases: dict[str, float] = {}
    for piece in compute:
        phases[piece.phase] = phases.get(piece.phase, 0.0) + piece.seconds
    boxes = [
        LoopBox(begin_s=one.begin - node.begin, end_s=one.end - node.begin, turns=one.turns, strip=place[id(one)])
        for one in node.loops
        if id(one) in place
    ]
    inner = sum(_transfers(one, names) * one.turns for one in node.loops)
    return Strip(
        length_s=length,
        turns=node.turns,
        phase=max(phases, key=lambda name: phases[name], default=""),
        lanes=tuple(lanes),
        loops=tuple(boxes),
        exposed_s=sum(piece.seconds for piece in compute if piece.kind == "wait" and piece.axes != ()),
        transfer_s=inner + sum({one.name: one.seconds for one in others if one.kind == "transfer"}.values()),
    )


def _transfers(node: _LoopTurn, names: _Names) -> float:
    """Seconds of all transfers of one turn; one over two axes counts once."""
    found = {span.name: span.end_s - span.begin_s for span in node.spans if span.lane not in (_COMPUTE, _MEMORY)}
    return sum(found.values()) + sum(_transfers(one, names) * one.turns for one in node.loops)


def _computed(node: _LoopTurn, names: _Names) -> list[Piece]:
    """Kernels of one turn in order, loops as sums by kind, and waits between them."""
    awaited = sorted((span for span in node.spans if span.lane != _COMPUTE), key=lambda one: one.end_s)
    ends = [span.end_s for span in awaited]
    parts: list[tuple[float, list[Piece]]] = [
        (span.begin_s, [names.piece(span, node.begin)]) for span in node.spans if span.lane == _COMPUTE
    ]
    parts += [(one.begin, _summed(one, names, node.begin)) for one in node.loops]
    found: list[Piece] = []
    now, near = 0.0, node.turn_s * 1e-6
    for begin, pieces in (*sorted(parts, key=lambda one: one[0]), (node.begin + node.turn_s, [])):
        if begin - node.begin - now > near:
            found.append(_wait(now, begin - node.begin, awaited, ends, node.begin, names))
        found += pieces
        now = max(now, pieces[-1].end_s) if pieces else now
    return found


def _wait(
    begin: float, end: float, awaited: Sequence[TimelineSpan], ends: Sequence[float], origin: float, names: _Names
) -> Piece:
    """A wait: it ends as that ends which is waited for."""
    at = bisect_left(ends, origin + end)
    near = [awaited[number] for number in (at - 1, at) if 0 <= number < len(awaited)]
    cause = min(near, key=lambda one: abs(one.end_s - origin - end), default=None)
    if cause is None or abs(cause.end_s - origin - end) > 1e-3 * (end - begin):
        return Piece(begin_s=begin, end_s=end, kind="wait", number=0)
    found = names.piece(cause, origin)
    return replace(found, begin_s=begin, end_s=end, kind="wait", axes=() if found.kind == "copy" else found.axes)


def _summed(node: _LoopTurn, names: _Names, origin: float) -> list[Piece]:
    """All turns of a loop, a piece for each kind of thing, in the order in which they first come."""
    sums: dict[tuple[str, str, tuple[str, ...] | None], list[Piece]] = {}
    for piece in _computed(node, names):
        sums.setdefault(piece.about, []).append(piece)
    found: list[Piece] = []
    now = node.begin - origin
    for pieces in sums.values():
        end = now + node.turns * sum(one.seconds for one in pieces)
        first = pieces[0]
        found.append(Piece(begin_s=now, end_s=end, kind=first.kind, phase=first.phase, axes=first.axes, number=0))
        now = end
    return found


def _merged(pieces: Sequence[Piece], length: float) -> tuple[Piece, ...]:
    """Neighbours of one line and phase as one piece, and what is too short to be seen with the one before."""
    least, found = length / _MOST_PIECES, list[Piece]()
    for piece in sorted(pieces, key=lambda one: one.begin_s):
        last = found[-1] if found else None
        touches = last is not None and piece.begin_s - last.end_s <= 0.05 * least
        alike = last is not None and (*last.about, last.line) == (*piece.about, piece.line) and last.number > 0
        if last is None or not touches or not (alike or piece.seconds < least):
            found.append(piece)
            continue
        longer = last if last.seconds >= piece.seconds else piece
        found[-1] = replace(
            longer, begin_s=last.begin_s, end_s=max(last.end_s, piece.end_s), number=last.number + piece.number
        )
    return tuple(found)
