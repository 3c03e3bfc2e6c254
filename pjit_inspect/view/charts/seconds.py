"""Charts of the seconds of a call: its shares, its timeline, its kernels under the roofs, and more and more chips."""

from __future__ import annotations

from collections.abc import Iterable

from pjit_inspect.model.time.hardware import Hardware, first
from pjit_inspect.model.time.rows import NOT_MODELLED, TimedKernel
from pjit_inspect.model.time.scaling import ScalingTable
from pjit_inspect.model.time.step_time import StepTime
from pjit_inspect.model.time.strips import LoopBox, Piece, Strip
from pjit_inspect.view.document.chart import BarChart, BarPart, BarRow, Curve, CurveChart, Disc
from pjit_inspect.view.document.colors import LINE, NEUTRAL, NOTE, PHASE_COLORS, SEVERAL, Palette
from pjit_inspect.view.document.quantities import count_text, plural, time_text, time_unit

KERNELS, COPIES, WAITS, COPY_WAITS = "kernels", "copies", "waits for network", "waits for copies"
UNKNOWN = "nothing known"
_ORDER = "#2f7fd6"
"""Seen as well on a dark page as on a light one."""
_LIMIT_COLORS = {"compute": "#454c55", "memory": "#7d8590", "neither": "#aab2bc", "network": NOTE}
_LOWEST = 1e-3
"""Kernels below this share of a roofline chart's seconds are left out."""
_NAMED = 3
_KNOWN = 2


def shares_charts(step: StepTime) -> tuple[BarChart, ...]:
    """A call by phase, if it has some, and by what limits it: a bar each, which is all of it."""
    limits = tuple(
        BarPart(
            name=row.name,
            value=row.seconds or 0.0,
            color=_LIMIT_COLORS.get(row.name, LINE),
            words=(f"{plural(row.rows, 'row')} of unknown time",) if row.name == NOT_MODELLED and row.rows else (),
            is_hatched=row.name == "network",
        )
        for row in step.by("bound")
    )
    phases = _phases(step)
    found = [("by phase", phases)] if any(part.name in PHASE_COLORS for part in phases) else []
    return tuple(_shares(step, name, parts) for name, parts in (*found, ("by limit", limits)))


def _shares(step: StepTime, name: str, parts: tuple[BarPart, ...]) -> BarChart:
    unit = time_unit((step.step_s or 0.0) * 1e6)
    row = BarRow(label=name, parts=parts, color=NEUTRAL)
    return BarChart(title=f"A call {name}", unit=unit, measure="a call", rows=(row,))


def _phases(step: StepTime) -> tuple[BarPart, ...]:
    """Kernels by phase, then waits."""
    sums: dict[str, float] = {}
    rest = "other kernels" if any(row.phase for row in step.kernels) else KERNELS
    for row in step.kernels:
        sums[row.phase or rest] = sums.get(row.phase or rest, 0.0) + (row.seconds or 0.0)
    order = [*PHASE_COLORS, rest]
    parts = [(name, sums[name], PHASE_COLORS.get(name, NEUTRAL)) for name in order if sums.get(name)]
    parts += [(WAITS, step.exposed_s or 0.0, NOTE), (COPY_WAITS, step.copies_s or 0.0, LINE)]
    parts += [(UNKNOWN, step.idle_s, SEVERAL)] if step.idle_s else []
    return tuple(
        BarPart(name=name, value=value, color=color, is_hatched=name == WAITS) for name, value, color in parts if value
    )


def strip_title(strip: Strip) -> str:
    """The title of a strip, with its seconds."""
    took = time_text(strip.length_s * 1e6)
    if strip.turns == 1:
        return f"One call, {took}"
    phase = f" of the {strip.phase} pass" if strip.phase in ("forward", "backward") else ""
    return f"One turn of a loop{phase}, {took}; {count_text(strip.turns)} turns"


def strip_chart(strip: Strip, axes: Iterable[str]) -> BarChart:
    """The timeline, a row for each lane."""
    palette = Palette(tuple(axes))
    rows = tuple(
        BarRow(
            label=lane.name,
            parts=tuple(_part(piece, palette) for piece in lane.pieces),
            color=palette.of(lane.axes) if lane.axes else NEUTRAL,
        )
        for lane in strip.lanes
        if lane.pieces
    )
    return BarChart(
        title=strip_title(strip),
        unit=time_unit(strip.length_s * 1e6),
        measure="since the beginning",
        rows=rows,
        marks=tuple((_loop_words(loop), loop.begin_s) for loop in strip.loops),
    )


def _loop_words(loop: LoopBox) -> str:
    """The turns of a loop, and what one takes."""
    return f"{count_text(loop.turns)} x {time_text((loop.end_s - loop.begin_s) / loop.turns * 1e6)}"


def piece_name(piece: Piece) -> str:
    """The kind of a piece, for a legend; "" for a transfer, whose lane says it."""
    match piece.kind:
        case "kernel":
            return piece.phase or KERNELS
        case "copy":
            return COPIES
        case "wait":
            return WAITS if piece.axes != () else COPY_WAITS if piece.number else UNKNOWN
        case "transfer":
            return ""


def _part(piece: Piece, palette: Palette) -> BarPart:
    name = piece_name(piece)
    color = {WAITS: NOTE, COPIES: LINE, COPY_WAITS: LINE, UNKNOWN: LINE}.get(name)
    if color is None:
        color = PHASE_COLORS.get(piece.phase, NEUTRAL) if piece.kind == "kernel" else palette.of(piece.axes)
    return BarPart(name=name, value=piece.seconds, color=color, start=piece.begin_s, is_hatched=piece.kind == "wait")


# ---------------------------------------------------------------- the roofs


def roofline_chart(step: StepTime) -> CurveChart:
    """Kernels with products under the peak and the memory's bandwidth, by operations for each byte."""
    title = "Kernels under the roofs of the hardware; a disc's area is its share of these seconds"
    hardware = step.hardware
    multiplying = [row for row in step.kernels if row.product_flops and row.bytes and row.seconds]
    number = _most_used(multiplying)
    rows = [row for row in multiplying if row.number == number]
    peak, of = (None, "") if hardware is None else _peak(hardware, number)
    memory = None if hardware is None else first(hardware.memory_bytes_per_s)
    if peak is None or memory is None or not rows:
        return CurveChart(title=title, missing="no kernel with products has known seconds, or a roof is unknown")
    whole = sum(row.seconds or 0.0 for row in rows)
    shown = [row for row in rows if (row.seconds or 0.0) >= _LOWEST * whole]
    discs = [_disc(row, whole, is_named=place < _NAMED) for place, row in enumerate(shown)]
    ridge = peak / memory
    low = min(ridge / 4, *(disc.x for disc in discs)) / 1.5
    high = max(ridge * 4, *(disc.x for disc in discs)) * 1.5
    roof = ((low, low * memory / 1e12), (ridge, peak / 1e12), (high, peak / 1e12))
    name = f"{memory / 1e9:,.0f} GB/s, {peak / 1e12:,.4g} TFLOP/s"
    others = len(multiplying) - len(rows)
    beside = (f"{plural(others, 'kernel')} with products of other numbers not here",) if others else ()
    return CurveChart(
        title=title,
        x_measure="operations for each byte of memory",
        y_measure="TFLOP/s",
        curves=(Curve(name=name, color=NEUTRAL, points=roof),),
        discs=tuple(discs),
        notes=(f"{of} products; ridge at {ridge:,.0f} operations for each byte", *beside),
    )


def _peak(hardware: Hardware, number: str) -> tuple[float | None, str]:
    """The peak for a kind of number, and the kind that has it: TPUs multiply float32 as bfloat16, GPUs as TF32."""
    kinds = (number, "bf16" if hardware.network == "torus" else "tf32")
    return next(((peak, kind) for kind in kinds if (peak := hardware.peak(kind)) is not None), (None, ""))


def _most_used(rows: Iterable[TimedKernel]) -> str:
    sums: dict[str, int] = {}
    for row in rows:
        sums[row.number] = sums.get(row.number, 0) + (row.product_flops or 0)
    return max(sums, key=lambda name: sums[name], default="bf16")


def _disc(row: TimedKernel, whole: float, *, is_named: bool) -> Disc:
    flops, size, seconds = row.product_flops or 0, row.bytes or 1, row.seconds or 1.0
    return Disc(
        name=row.phase or KERNELS,
        color=PHASE_COLORS.get(row.phase, NEUTRAL),
        x=flops / size,
        y=flops / seconds / 1e12,
        share=seconds / whole,
        label=f"{row.label} {row.line}".strip() if is_named else "",
    )


# ---------------------------------------------------------------- more chips


def scaling_chart(table: ScalingTable) -> CurveChart:
    """Seconds of a call over the number of devices, beside those without any loss.

    Of the same arguments these are in proportion (strong scaling); of a call that grows with the devices they stay.
    """
    title = "Seconds of a call on more and more devices"
    rows = [row for row in table if row.step_s]
    if len(rows) < _KNOWN:
        return CurveChart(title=title, missing="seconds are known for fewer than two numbers of devices")
    curves = [
        Curve(name=name, color=color, points=points)
        for name, color, points in (
            ("in XLA's order", _ORDER, tuple((float(row.devices), row.step_s or 0.0) for row in rows)),
            ("at best", LINE, tuple((float(row.devices), row.floor_s) for row in rows if row.floor_s)),
            (
                "exposed communication",
                NOTE,
                tuple((float(row.devices), row.exposed_s) for row in rows if row.exposed_s),
            ),
        )
        if len(points) >= _KNOWN
    ]
    least, most = rows[0], rows[-1]
    begin = least.step_s or 0.0
    end = begin if table.is_weak else begin * least.devices / most.devices
    even = ((float(least.devices), begin), (float(most.devices), end))
    unit = time_unit(begin * 1e6)
    factor = {"s": 1.0, "ms": 1e3, "\u00b5s": 1e6}[unit]
    scaled = [
        Curve(
            name=own.name,
            color=own.color,
            points=tuple((x, y * factor) for x, y in own.points),
            is_dashed=own.is_dashed,
        )
        for own in (*curves, Curve(name="without loss (dashed)", color=LINE, points=even, is_dashed=True))
    ]
    return CurveChart(
        title=title,
        notes=(scaling_words(table),),
        x_measure="devices",
        y_measure=f"{unit} a call",
        curves=tuple(scaled),
        has_marks=True,
    )


def scaling_words(table: ScalingTable) -> str:
    """The kind of scaling, and the chips."""
    chips = next((row.target.rpartition(":")[0] for row in table if ":" in row.target), "")
    kind = "weak scaling: a call of its own for each number" if table.is_weak else "strong scaling: the same arguments"
    return f"{chips}, {kind}" if chips else kind
