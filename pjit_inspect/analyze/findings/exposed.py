"""Collectives that run while nothing else does, although there is work that could overlap.

Two facts are needed: XLA's schedule has no kernel beside the collective, and the dataflow has a matrix product that
does not depend on the collective, nor the collective on it. A product hides at most one collective. In a measured
program the cost is the collectives' time; if not measured, only their bytes are reported. Not its job: estimating the
time of a transfer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from pjit_inspect.analyze.findings.candidate import Candidate, Subject
from pjit_inspect.analyze.program.source import user_frames
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.opcodes import PRODUCTS
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.words.sentence import Sentence, axis, bytes_in_words, code, joined, place, say

_MOST = 64
"""So many of a program's collectives are looked at, the dearest first."""
_NOTICEABLE = 0.05
_LIBRARY = re.compile(r"gemm|matmul")
"""Products that a library does, as on GPU."""
_ACCELERATORS = frozenset(("tpu", "gpu", "cuda", "rocm"))


def exposed_collectives(subject: Subject) -> Iterator[Candidate]:
    """The collectives over the same axes that run alone, each with a product that could run meanwhile."""
    module = subject.module
    if module is None or not module.is_scheduled or not _runs_kernels_beside(subject):
        return
    by_axes: dict[tuple[str, ...], list[tuple[Collective, Instruction]]] = {}
    for row, product in _Beside(module, subject.collectives).pairs():
        by_axes.setdefault(row.axes or (), []).append((row, product))
    for axes, pairs in by_axes.items():
        measured = _measured(subject, [row for row, _ in pairs])
        if measured is not None and measured[0] <= _NOTICEABLE * measured[1]:
            continue
        yield _exposed(subject, axes, pairs, measured)


def _runs_kernels_beside(subject: Subject) -> bool:
    """True if XLA can overlap a collective and a kernel here: some in the program do, or the chip supports it."""
    platforms = {device.platform for device in subject.data.devices}
    return any(row.is_async for row in subject.collectives) or bool(platforms & _ACCELERATORS)


def _measured(subject: Subject, rows: Sequence[Collective]) -> tuple[float, float] | None:
    """Microseconds of these collectives in a call, and of the call; None if some were not measured."""
    times = subject.data.kernel_times
    if times is None:
        return None
    found = [times.of(name) for row in rows for name in row.instructions]
    if any(one is None for one in found):
        return None
    return sum(one.slowest_us for one in found if one is not None), times.call_us


def _exposed(
    subject: Subject,
    axes: tuple[str, ...],
    pairs: list[tuple[Collective, Instruction]],
    measured: tuple[float, float] | None,
) -> Candidate:
    rows = [row for row, _ in pairs]
    sent = sum(row.sent_bytes or 0 for row in rows)
    one = len(rows) == 1
    over = joined([axis(own) for own in axes]) if axes else Sentence("devices")
    took = "" if measured is None else f", {measured[0]:,.0f} of {measured[1]:,.0f} us of a call (measured)"
    product = pairs[0][1]
    frames = user_frames(product.frames, subject.files)
    where = say(" ({})", place(frames[0].where)) if frames else Sentence()
    return Candidate(
        kind="exposed_collective",
        sentence=say(
            "{} over {} {} while nothing else does, {} sent{}: no kernel stands beside {} in XLA's schedule, though "
            "{} {}{}",
            "a collective" if one else f"{len(rows)} collectives",
            over,
            "runs" if one else "run",
            bytes_in_words(sent),
            took,
            "it" if one else "them",
            "a matrix product is independent of it:" if one else "each has a matrix product independent of it, such as",
            code(product.name),
            where,
        ),
        source=rows[0].source,
        cost_bytes=sent,
        removes=tuple(name for row in rows for name in row.instructions[:1]),
    )


class _Beside:
    """For every collective that runs alone a product that could run meanwhile."""

    def __init__(self, module: HloModule, rows: Iterable[Collective]) -> None:
        self._module = module
        self._rows = sorted(rows, key=lambda row: -(row.sent_bytes or 0))
        self._products = _product_kernels(module)

    def pairs(self) -> Iterator[tuple[Collective, Instruction]]:
        """Each with the product, dearest first; a product that runs beside another collective already has its use."""
        used = {name for row in self._rows for name in row.overlaps}
        for row in self._rows[:_MOST]:
            parts = [self._module.find(name) for name in row.instructions]
            if not _is_alone(row) or not parts or any(part is None for part in parts):
                continue
            product = self._free([part for part in parts if part is not None], used)
            if product is not None:
                used.add(product.name)
                yield row, product

    def _free(self, parts: list[Instruction], used: set[str]) -> Instruction | None:
        """A product of the same computation that the collective neither needs nor is needed by."""
        computation = parts[0].computation
        own = {part.index for part in parts}
        kernels = self._products.get(computation.index, ())
        if not kernels or own & set(kernels) or any(part.computation.index != computation.index for part in parts):
            return None
        tied = own | self._reached(own, computation.range, self._module.instructions.operands)
        tied |= self._reached(own, computation.range, self._module.users)
        free = (self._module.instruction(index) for index in kernels if index not in tied)
        return next((one for one in free if one.name not in used), None)

    def _reached(self, start: Iterable[int], within: range, links: object) -> set[int]:
        """All instructions of a computation that are linked to some, directly or through others."""
        border, seen = list(start), set[int]()
        while border:
            for index in links[border.pop()].tolist():  # type: ignore[index]
                if index in within and index not in seen:
                    seen.add(index)
                    border.append(index)
        return seen


def _is_alone(row: Collective) -> bool:
    """True if XLA's schedule has nothing beside it; never for a ring, nor for an unknown number of runs."""
    return row.overlap_count == 0 and bool(row.sent_bytes) and row.decomposed is None


def _product_kernels(module: HloModule) -> dict[int, list[int]]:
    """Computation -> its instructions that multiply matrices, by themselves or in a fusion; largest result first."""
    found: dict[int, set[int]] = {}
    for index in module.with_opcode(*PRODUCTS, "custom-call").tolist():
        own = module.instruction(index)
        if own.opcode == "custom-call" and not _LIBRARY.search(own.custom_call_target):
            continue
        while own.computation.is_fusion and len(own.computation.callers) == 1:
            own = own.computation.callers[0]
        if not own.computation.is_fusion:
            found.setdefault(own.computation.index, set()).add(own.index)
    size = module.result_bytes
    return {number: sorted(kernels, key=lambda index: -int(size[index])) for number, kernels in found.items()}
