"""The seconds of a collective on the links of a machine.

V is the bytes of all its data together: what an all-gather yields, what an all-reduce or a reduce-scatter takes; v is
what one device holds before an all-to-all; n is the size of a group; W is one link in one direction. Latency is not
counted: no source has it.

On a torus a group lies along dimensions. A dimension is a ring, used in both directions, where the group fills it and
it is wrapped; else a line, of which the end has one link. Groups that take every k-th chip share each link with k - 1
others. Their rates add up to B: as if data were cut in pieces, each of which begins along another dimension.

    all-gather, reduce-scatter   V (n - 1) / n / B
    all-reduce                   twice that
    all-to-all                   v floor(m / 2) ceil(m / 2) / m / (links across the middle of a dimension of m), the
                                 slowest dimension
    permute                      the most that one link carries over W, routed dimension by dimension
    broadcast                    V / W
    other groups                 a ring in their order, routed like a permute
    devices without places       the bytes that each sends over one link
    devices of one chip          share its links: a group of all of them counts as one of chips, and what goes on
                                 between them takes no time

Two transfers run at once unless both need links of one dimension in one direction: permutes to the right and to the
left do not meet, while an all-gather takes both directions.

In a host with a switch, B is what a device sends into it. Between hosts, or slices, of which each has k devices of a
group of h hosts: V (h - 1) / h / (k x what a device sends outside), while the rest goes on inside: the slower counts.
Not its job: bytes (`analyze.collectives.traffic`), or when transfers run (`schedule`).

*Source*: "How to scale your model", chapters on sharded matrices and on GPUs (https://jax-ml.github.io/scaling-book).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.time.hardware import Hardware, Sourced, first

_MOST_PAIRS = 100_000
"""More pairs are not routed one by one."""

_GATHERS = {"all-gather": 1.0, "reduce-scatter": 1.0, "all-reduce": 2.0}
"""Kinds that go round a ring, and how often."""
_EXCHANGES = ("all-to-all", "ragged-all-to-all")
_INSIDE, _OUTSIDE = "in a host", "between hosts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """One run of a collective on the network.

    Attributes:
      seconds: seconds, None if unknown.
      formula: how they follow from bytes, in words; or why they are unknown.
      links: the links that it takes, each dimension of the torus in a direction ("x+"), or those inside and outside of
        hosts; () if they are unknown.
    """

    seconds: float | None
    formula: str
    links: tuple[str, ...] = ()


Coords = tuple[int, ...]


class NetworkModel:
    """The links of the devices of one program.

    Args:
      hardware: their speeds.
      devices: the device at each position of the mesh.
    """

    def __init__(self, hardware: Hardware, devices: Sequence[Device]) -> None:
        self._hardware = hardware
        self._devices = tuple(devices)
        coords = [device.coords for device in devices]
        self._coords: tuple[Coords, ...] = tuple(own for own in coords if own is not None)
        # More at one place than a chip has are of several slices: nobody knows which chip is whose.
        at_a_place = set(Counter(self._coords).values())
        self._per_chip = max(at_a_place, default=1)
        is_one_slice = len(at_a_place) == 1 and self._per_chip <= hardware.per_chip
        self._has_coords = len(self._coords) == len(coords) and is_one_slice
        self._torus: Coords = self._extent()
        self._link = first(hardware.link_bytes_per_s)

    def _extent(self) -> Coords:
        return tuple(max(own) + 1 for own in zip(*self._coords, strict=True)) if self._has_coords else ()

    def transfer(self, row: Collective) -> Transfer:
        """One run of a collective."""
        payload, size = row.payload_bytes, max((len(group) for group in row.groups), default=0)
        if payload is None or not row.groups:
            return Transfer(seconds=None, formula="its bytes or its groups are unknown")
        if row.kind == "collective-permute":
            if all(source == target for source, target in row.groups):
                return Transfer(seconds=0.0, formula="moves nothing between devices")
        elif size < 2:
            return Transfer(seconds=0.0, formula="one device")
        if (measured := self._measured(row.axes)) is not None:
            seconds = (row.wire_bytes or 0) / measured.value
            return Transfer(seconds=seconds, formula=f"{_speed(measured.value)} a device, {measured.source}")
        if max(max(group) for group in row.groups) >= len(self._devices):
            return Transfer(seconds=None, formula="its devices are unknown")
        if self._link is None or not self._hardware.network:
            return Transfer(seconds=None, formula="the speed of the links is unknown")
        return self._on_torus(row, payload) if self._hardware.network == "torus" else self._in_hosts(row, payload)

    def _measured(self, axes: tuple[str, ...] | None) -> Sourced | None:
        """The speed over these axes as it was measured; over others, that of all axes that were."""
        known = self._hardware.by_axis
        return known.get(axes or (), known.get(()))

    # ------------------------------------------------------------ torus

    def _on_torus(self, row: Collective, payload: int) -> Transfer:
        assert self._link is not None
        if not self._has_coords:
            where = "the places of the devices on the torus are unknown"
            if self._coords or row.wire_bytes is None:
                return Transfer(seconds=None, formula=where)
            return Transfer(seconds=row.wire_bytes / self._link, formula=f"one link, {_speed(self._link)}: {where}")
        if row.kind == "collective-permute":
            return self._routed(row.groups, payload, "permute")
        if row.kind == "collective-broadcast":
            links = _both_ways(range(len(self._torus)))
            return Transfer(seconds=payload / self._link, formula=f"V / {_speed(self._link)}", links=links)
        group = max(row.groups, key=len)
        lines = self._lines(group)
        if lines is None:
            return self._ring_in_order(row, payload)
        if not lines:
            return Transfer(seconds=None, formula="the speed between the devices of a chip is unknown")
        chips = math.prod(line.length for line in lines)
        # Groups that take one device of each chip share its links.
        share = len(group) / chips / self._per_chip
        words, links = " and ".join(line.words for line in lines), _both_ways(line.dimension for line in lines)
        if row.kind in _EXCHANGES:
            seconds = max(
                payload
                * self._per_chip
                * (line.length // 2)
                * -(-line.length // 2)
                / line.length
                / (line.links * self._link)
                for line in lines
            )
            return Transfer(
                seconds=seconds, formula=f"all-to-all over {words}, {_speed(self._link)} a link", links=links
            )
        rate = sum(line.links for line in lines) * self._link * share
        whole = payload * len(group) if row.kind == "all-gather" else payload
        seconds = _GATHERS[row.kind] * whole * (chips - 1) / chips / rate
        times = "2 " if row.kind == "all-reduce" else ""
        return Transfer(seconds=seconds, formula=f"{times}V (n - 1) / n / {_speed(rate)}: {words}", links=links)

    def _lines(self, group: Sequence[int]) -> list[_Along] | None:
        """The dimensions along which a group lies; None if it is no block of the torus."""
        points = {self._coords[position] for position in group}
        along = [sorted(set(values)) for values in zip(*points, strict=True)]
        if math.prod(map(len, along)) != len(points) or len(group) not in (len(points), len(points) * self._per_chip):
            return None
        lines = []
        for dimension, places in enumerate(along):
            if len(places) == 1:
                continue
            steps = {after - before for before, after in itertools.pairwise(places)}
            if len(steps) != 1:
                return None
            step, length = steps.pop(), self._torus[dimension]
            is_ring = self._wraps(dimension) and len(places) * step == length and len(places) > 2
            lines.append(_Along(dimension=dimension, length=len(places), step=step, is_ring=is_ring))
        return lines

    def _wraps(self, dimension: int) -> bool:
        """True if a dimension of the slice is a ring."""
        least, length = self._hardware.rings_from, self._torus[dimension]
        return least > 0 and length % least == 0

    def _ring_in_order(self, row: Collective, payload: int) -> Transfer:
        """Groups that are no blocks: a ring in the order of each, or each device to each other."""
        size = max(map(len, row.groups))
        if row.kind in _EXCHANGES:
            pairs = [(a, b) for group in row.groups for a in group for b in group if a != b]
            return self._routed(pairs, payload / size, "all-to-all")
        pairs = [(a, b) for group in row.groups for a, b in zip(group, (*group[1:], group[0]), strict=True)]
        whole = payload * size if row.kind == "all-gather" else payload
        return self._routed(pairs, _GATHERS[row.kind] * whole * (size - 1) / size, "ring in the order of the group")

    def _routed(self, pairs: Sequence[Sequence[int]], size: float, words: str) -> Transfer:
        """Every pair sends `size` bytes, dimension by dimension, the shorter way round a ring."""
        assert self._link is not None
        if len(pairs) > _MOST_PAIRS:
            return Transfer(seconds=None, formula=f"{len(pairs):,} pairs of devices are too many to be routed")
        loads: Counter[tuple[Coords, int, int]] = Counter()
        for source, target in pairs:
            loads.update(self._route(self._coords[source], self._coords[target]))
        most = max(loads.values(), default=0)
        shared = f", {most} on the busiest link" if most > 1 else ""
        links = tuple(sorted({_link(dimension, direction) for _, dimension, direction in loads}))
        formula = f"{words}, {_speed(self._link)} a link{shared}"
        return Transfer(seconds=most * size / self._link, formula=formula, links=links)

    def _route(self, source: Coords, target: Coords) -> list[tuple[Coords, int, int]]:
        """The links of one way: the chip, the dimension, and the direction it leaves in."""
        here, found = list(source), []
        for dimension, end in enumerate(target):
            length = self._torus[dimension]
            distance = end - here[dimension]
            if self._wraps(dimension) and 2 * abs(distance) > length:
                distance -= int(math.copysign(length, distance))
            direction = 1 if distance > 0 else -1
            for _ in range(abs(distance)):
                found.append((tuple(here), dimension, direction))
                here[dimension] = (here[dimension] + direction) % length
        return found

    # ------------------------------------------------------------ hosts with a switch

    def _in_hosts(self, row: Collective, payload: int) -> Transfer:
        assert self._link is not None
        outside = first(self._hardware.between_hosts)
        if row.kind in ("collective-permute", "collective-broadcast"):
            crosses = any(len({self._devices[place].process for place in group}) > 1 for group in row.groups)
            rate = outside if crosses else self._link
            where = _OUTSIDE if crosses else _INSIDE
            if rate is None:
                return Transfer(seconds=None, formula="the speed between hosts is unknown")
            return Transfer(seconds=payload / rate, formula=f"V / {_speed(rate)} {where}", links=(where,))
        slowest = max((self._of_group(row.kind, group, payload, outside) for group in row.groups), key=_seconds)
        crosses = any(len({self._devices[place].process for place in group}) > 1 for group in row.groups)
        return replace(slowest, links=(_INSIDE, _OUTSIDE) if crosses else (_INSIDE,))

    def _of_group(self, kind: str, group: Sequence[int], payload: int, outside: float | None) -> Transfer:
        assert self._link is not None
        size, hosts = len(group), Counter(self._devices[place].process for place in group)
        whole = payload * size if kind == "all-gather" else payload
        times = _GATHERS.get(kind, 1.0)
        if len(hosts) == 1:
            words = f"V (n - 1) / n / {_speed(self._link)} in a host"
            return Transfer(seconds=times * whole * (size - 1) / size / self._link, formula=_twice(kind, words))
        if outside is None:
            return Transfer(seconds=None, formula="the speed between hosts is unknown")
        least = min(hosts.values())
        if kind in _EXCHANGES:
            inside, across = payload * (least - 1) / size / self._link, payload * (size - least) / size / outside
            return Transfer(seconds=max(inside, across), formula=f"v (n - k) / n / {_speed(outside)} between hosts")
        inside = whole * (least - 1) / least / self._link
        across = whole * (len(hosts) - 1) / len(hosts) / (least * outside)
        words = f"V (h - 1) / h / ({least} x {_speed(outside)}) between {len(hosts)} hosts"
        if inside > across:
            words = f"V (k - 1) / k / {_speed(self._link)} in each of {len(hosts)} hosts"
        return Transfer(seconds=times * max(inside, across), formula=_twice(kind, words))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Along:
    """A dimension along which a group lies.

    Attributes:
      dimension: its number.
      length: its devices.
      step: chips from one to the next: as many groups share each link.
      is_ring: whether it is wrapped and filled.
    """

    dimension: int
    length: int
    step: int
    is_ring: bool

    @property
    def links(self) -> float:
        """Links into one device that are its own, in one direction."""
        return (2.0 if self.is_ring else 1.0) / self.step

    @property
    def words(self) -> str:
        """It in words: "a ring of 16"."""
        shared = f" of every {self.step}th chip" if self.step > 1 else ""
        return f"a {'ring' if self.is_ring else 'line'} of {self.length}{shared}"


def _link(dimension: int, direction: int) -> str:
    """The links along a dimension in one direction."""
    return f"{'xyzw'[dimension]}{'+' if direction > 0 else '-'}"


def _both_ways(dimensions: Iterable[int]) -> tuple[str, ...]:
    return tuple(_link(dimension, direction) for dimension in dimensions for direction in (1, -1))


def _seconds(transfer: Transfer) -> float:
    return math.inf if transfer.seconds is None else transfer.seconds


def _twice(kind: str, words: str) -> str:
    return f"2 {words}" if kind == "all-reduce" else words


def _speed(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:,.4g} GB/s"
