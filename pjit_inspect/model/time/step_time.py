"""Where the seconds of one call go: kernels, collectives, waits, limits, and what they add up to by any heading.

All seconds and counts are of one call on one device, loops included. Not its job: finding them (`analyze.time`) or
showing them (`view.time.page`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pjit_inspect.model.time.hardware import Hardware
from pjit_inspect.model.time.rows import (
    Heading,
    KnownBy,
    TimedCollectives,
    TimedKernels,
    TimeLines,
    TimelineSpan,
    TimeShares,
)
from pjit_inspect.model.time.shares import lines_of, shares_by
from pjit_inspect.model.time.strips import Strip, strips_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The time of a call if one thing were different.

    Attributes:
      what: the condition, in words.
      step_s: seconds per call then.
      saved_s: what that saves.
    """

    what: str
    step_s: float
    saved_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Where the time of one call goes. Never one figure alone: `floor_s`, `kernels_s`, `step_s`, `serial_s`.

    Attributes:
      hardware: the speeds that were used; None where nobody knows any.
      devices: number of devices.
      kernels: every kernel.
      collectives: every collective.
      copies_s: seconds per call in which kernels wait for copies; None where seconds are unknown.
      floor_s: the least: each kernel at its roofline, every transfer hidden behind others; None if unknown. Of a quick
        estimate: products at the peak, or arguments and results at the memory's bandwidth.
      kernels_s: all kernels, without the network; None likewise.
      step_s: the program in XLA's order, with waits for the network; measured where a profiler saw it; None likewise.
      serial_s: all kernels and all transfers one after the other; None likewise.
      exposed_s: seconds in which kernels wait for the network; None likewise.
      measured_s: seconds of one call that a profiler saw, the mean over calls and devices; None if it did not.
      idle_s: (measured) the rest of a call, in which no instruction with a known time ran; 0 for estimates.
      is_measured: whether seconds are those that a profiler saw, as where nobody knows the speed of the devices.
      timeline: what runs when by the estimate; () without seconds.
      missing: why seconds are unknown, and what to do; "" where they are known. Of a quick estimate, what it is.
      notes: what the figures leave out, a sentence each.
    """

    hardware: Hardware | None
    devices: int
    kernels: TimedKernels
    collectives: TimedCollectives
    copies_s: float | None = None
    floor_s: float | None = None
    kernels_s: float | None = None
    step_s: float | None = None
    serial_s: float | None = None
    exposed_s: float | None = None
    measured_s: float | None = None
    idle_s: float = 0.0
    is_measured: bool = False
    timeline: tuple[TimelineSpan, ...] = ()
    missing: str = ""
    notes: tuple[str, ...] = ()

    # ------------------------------------------------------------ work

    @property
    def flops(self) -> int:
        """Operations of all kernels per call on one device, as far as they are known."""
        return sum(row.flops or 0 for row in self.kernels)

    @property
    def product_flops(self) -> int:
        """The part of them in products."""
        return sum(row.product_flops or 0 for row in self.kernels)

    @property
    def model_flops(self) -> int:
        """Operations in products without those that are done again in the backward pass."""
        return sum(row.product_flops or 0 for row in self.kernels if row.phase != "recompute")

    @property
    def is_quick(self) -> bool:
        """Whether it is a quick estimate of a program that XLA did not optimize: a range without an order."""
        return self.step_s is None and self.serial_s is not None

    @property
    def mfu(self) -> float | None:
        """`model_flops` over the peak for bfloat16: products as the program has them, masked ones in full.

        None if seconds or the peak are unknown.
        """
        return self._of_peak(self.model_flops)

    @property
    def hfu(self) -> float | None:
        """The same with what is done again in the backward pass."""
        return self._of_peak(self.product_flops)

    def mfu_6nt(self, parameters: int, tokens: int, *, attention_flops: float = 0.0) -> float | None:
        """MFU as papers state it: 6 x parameters x tokens, plus attention's own operations, of all devices.

        Args:
          parameters: parameters that each token is multiplied with.
          tokens: tokens of one step on all devices.
          attention_flops: attention's operations in a step on all devices: 12 x layers x width x length x tokens, or
            half of that if what a causal mask hides is not counted. By default none are counted.
        """
        return self._of_peak((6.0 * parameters * tokens + attention_flops) / self.devices) if self.devices else None

    def _of_peak(self, flops: float) -> float | None:
        peak = None if self.hardware is None else self.hardware.peak("bf16")
        return flops / self.step_s / peak if peak and self.step_s else None

    # ------------------------------------------------------------ what it is bound by

    @property
    def bound_by(self) -> str:
        """The largest limit of a call: "compute", "memory", "network", "neither"; "unknown" where seconds are."""
        if not self.step_s:
            return "unknown"
        sums = {"network": self.exposed_s or 0.0, "memory": self.copies_s or 0.0}
        for row in self.kernels:
            sums[row.bound_by] = sums.get(row.bound_by, 0.0) + (row.seconds or 0.0)
        return max(sums, key=lambda name: sums[name])

    @property
    def known_by(self) -> dict[KnownBy, tuple[int, float]]:
        """For each source of times: the number of kernels and collectives, and their seconds in a call."""
        found: dict[KnownBy, tuple[int, float]] = {}
        for known_by, seconds in self._sources():
            count, total = found.get(known_by, (0, 0.0))
            found[known_by] = count + 1, total + seconds
        return found

    def _sources(self) -> Iterable[tuple[KnownBy, float]]:
        for row in self.kernels:
            yield row.known_by, row.seconds or 0.0
        for each in self.collectives:
            yield each.known_by, each.exposed_s or 0.0

    @property
    def ceilings(self) -> tuple[Ceiling, ...]:
        """Its time with all communication hidden, with nothing recomputed, and with both; () if unknown."""
        if self.step_s is None or self.exposed_s is None or self.is_measured:
            return ()
        again = sum(row.seconds or 0.0 for row in self.kernels if row.phase == "recompute")
        waits = sum(row.exposed_s or 0.0 for row in self.collectives if row.phase == "recompute")
        busiest = self.busiest_link_s
        hidden = max(self.step_s - self.exposed_s, busiest)
        found = [("all communication hidden", hidden)] if hidden < self.step_s else []
        if again + waits > 0:
            found.append(("nothing recomputed", self.step_s - again - waits))
            found += [("both", max(self.step_s - self.exposed_s - again, busiest))] if len(found) > 1 else []
        return tuple(Ceiling(what=what, step_s=left, saved_s=self.step_s - left) for what, left in found)

    @property
    def busiest_link_s(self) -> float:
        """Seconds for which the busiest links are needed: transfers over them cannot be faster together.

        A mesh axis counts where links are unknown.
        """
        sums: dict[str, float] = {}
        for row in self.collectives:
            for link in row.links or row.axes or ("",):
                sums[link] = sums.get(link, 0.0) + (row.seconds or 0.0)
        return max(sums.values(), default=0.0)

    # ------------------------------------------------------------ by a heading

    def by(self, heading: Heading) -> TimeShares:
        """The share of each phase, scope, layer, mesh axis, line, kernel, bound or source; together 1.

        A wait for a collective counts where the collective belongs; under "axis", all kernels are one row.
        """
        return shares_by(
            heading,
            self.kernels,
            self.collectives,
            is_timed=self.step_s is not None,
            copies_s=self.copies_s or 0.0,
            idle_s=self.idle_s,
        )

    @property
    def lines(self) -> TimeLines:
        """The call by lines of source and by what limits them; the rows add up to it."""
        return lines_of(
            self.kernels,
            self.collectives,
            is_timed=self.step_s is not None,
            copies_s=self.copies_s or 0.0,
            idle_s=self.idle_s,
        )

    @property
    def strips(self) -> tuple[Strip, ...]:
        """The timeline to draw: the whole call, then one turn of each loop, the longest first; () without seconds."""
        return strips_of(self.timeline, self.kernels.rows, self.collectives.rows, self.step_s or 0.0)
