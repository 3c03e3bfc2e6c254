"""Figures of two programs side by side, and their settings.

Not its job: rows (`analyze.diff.tables`), whether it is the same work (`analyze.diff.parity`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pjit_inspect.analyze.diff.side import DiffSide, ProgramNames
from pjit_inspect.analyze.graph.work import is_product_call, product_flops
from pjit_inspect.analyze.program.loops import count_runs
from pjit_inspect.model.diff.diff import AxisDiff, Figure, Setting, SideFacts
from pjit_inspect.model.record.record import RecordData

PRODUCTS = "matrix products"
"""The figure that says how much each device multiplies."""

_OF_HLO = ("sent", "collectives", "kernels", PRODUCTS, "instructions")
"""The figures that are sums over the optimized program."""

_LONGEST_REASON = 160


def side_facts(side: DiffSide) -> SideFacts:
    """The facts that identify a program."""
    data = side.data
    platforms = sorted({device.platform for device in data.devices})
    count = len(data.devices)
    return SideFacts(
        name=data.primitive or data.name,
        where=data.user_frame,
        mesh=data.mesh,
        devices=f"{count} {'/'.join(platforms)} device{'s' * (count != 1)}" if count else "",
        asked=data.hypothesis.changes if data.hypothesis is not None else (),
        is_partial=data.is_partial,
        jax=data.versions.get("jax", ""),
        incomplete=_lacking(side),
        beside=side.report.beside,
    )


def _lacking(side: DiffSide) -> str:
    if side.report.collectives is None:
        return side.data.missing.get("hlo", "there is no optimized program")[:_LONGEST_REASON]
    return side.report.incomplete[:_LONGEST_REASON]


# ---------------------------------------------------------------- figures


def diff_figures(before: DiffSide, after: DiffSide) -> tuple[Figure, ...]:
    """The figures that at least one of the two programs has."""
    sides = _figures(before), _figures(after)
    reports = before.report, after.report
    partial = bool(reports[0].incomplete), bool(reports[1].incomplete)
    beside = tuple(any(one.what == "sends" for one in report.others) for report in reports)
    found = []
    for name_, (unit, provenance, one) in sides[0].items():
        two = sides[1][name_][2]
        if one is not None or two is not None:
            least = partial if name_ in _OF_HLO else (False, False)
            least = (least[0] or beside[0], least[1] or beside[1]) if name_ == "sent" else least
            found.append(Figure(name=name_, unit=unit, before=one, after=two, provenance=provenance, at_least=least))
    return tuple(found)


def _figures(side: DiffSide) -> dict[str, tuple]:
    data, report = side.data, side.report
    memory, fusions = data.memory, report.fusions
    touched = None
    # In an incomplete program, the runs of a kernel may be an upper bound.
    if fusions is not None and not report.incomplete:
        sizes = [(row.bytes_read, row.bytes_written, row.count) for row in fusions]
        touched = sum((r or 0) + (w or 0) for r, w, _ in sizes) if all(None not in size for size in sizes) else None
        touched = sum((r + w) * c for r, w, c in sizes) if touched is not None else None  # type: ignore[operator]
    count = None if report.collectives is None else len(report.collectives)
    least = report.least
    return {
        "sent": ("bytes", "modelled", report.sent_bytes if least is None else least.sent_bytes),
        "collectives": ("", "counted", count if least is None else least.collectives),
        "temporary memory": ("bytes", "counted", memory.temporary_bytes if memory else None),
        "arguments": ("bytes", "counted", report.figures.argument_bytes),
        "results": ("bytes", "counted", memory.output_bytes if memory else None),
        "memory": ("bytes", "counted", report.figures.memory_bytes),
        "kernels": ("", "counted", report.figures.kernels),
        "kernels read and write": ("bytes", "counted", touched),
        PRODUCTS: ("FLOP", "counted", None if side.module is None else _products(side)),
        "instructions": ("", "counted", report.instructions),
        "compiling": ("s", "measured", data.timings.compile_s),
    }


def _products(side: DiffSide) -> int | None:
    """FLOP of all matrix products on one device, in loops as often as they run; None where a number is unknown.

    For an incomplete program, a lower bound.
    """
    module = side.module
    if module is None:
        return None
    runs = count_runs(module)
    total = 0
    for index in module.with_opcode("dot", "convolution", "custom-call").tolist():
        if not _is_product(side, index):
            continue
        often = runs[int(module.instructions.computation[index])]
        flops = product_flops(module, index)
        if side.report.incomplete:
            total += (often.least or 0) * (flops or 0)
            continue
        times = often.most
        if times is None or flops is None:
            return None
        total += times * flops
    return total


def _is_product(side: DiffSide, index: int) -> bool:
    """True if an instruction is a product; among custom calls, one to a library of products or convolutions."""
    module = side.module
    if module is None or module.opcodes[module.instructions.opcode[index]] != "custom-call":
        return module is not None
    return is_product_call(module.instruction(index).details.custom_call_target)


def diff_axes(before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames]) -> tuple[AxisDiff, ...]:
    """Bytes sent over each set of axes, by their names in the new program, most bytes first.

    () if either program has no optimized version.
    """
    if before.report.collectives is None or after.report.collectives is None:
        return ()
    sides = _by_axes(before, names[0]), _by_axes(after, names[1])
    found = [
        AxisDiff(
            axes=axes,
            before_count=sides[0].get(axes, (0, 0))[0],
            after_count=sides[1].get(axes, (0, 0))[0],
            before_bytes=sides[0].get(axes, (0, 0))[1],
            after_bytes=sides[1].get(axes, (0, 0))[1],
        )
        for axes in dict.fromkeys((*sides[0], *sides[1]))
    ]
    return tuple(sorted(found, key=lambda one: (-max(one.before_bytes, one.after_bytes), str(one.axes))))


def _by_axes(side: DiffSide, names: ProgramNames) -> dict[tuple[str, ...] | None, tuple[int, int]]:
    found: dict[tuple[str, ...] | None, tuple[int, int]] = {}
    for total in side.report.totals:
        axes = names.axes(total.axes)
        count, size = found.get(axes, (0, 0))
        found[axes] = count + total.collectives, size + total.sent_bytes
    return found


# ---------------------------------------------------------------- settings


def diff_settings(before: RecordData, after: RecordData) -> tuple[Setting, ...]:
    """Flags, versions, meshes and devices that differ."""
    found = [Setting(kind="flag", name=n, before=a, after=b) for n, a, b in _unequal(before.flags, after.flags)]
    found += [
        Setting(kind="version", name=n, before=a, after=b) for n, a, b in _unequal(before.versions, after.versions)
    ]
    pairs = (("mesh", _mesh(before), _mesh(after)), ("devices", _devices(before), _devices(after)))
    found += [Setting(kind=kind, name=kind, before=a, after=b) for kind, a, b in pairs if a != b]  # type: ignore[arg-type]
    return tuple(found)


def _unequal(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[tuple[str, str | None, str | None]]:
    # A program that was read from HLO has neither: nothing is reported then.
    if before and after:
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                yield key, before.get(key), after.get(key)


def _mesh(data: RecordData) -> str | None:
    if data.mesh is None:
        return None
    order = tuple(data.mesh.device_ids)
    return str(data.mesh) + ("" if order == tuple(sorted(order)) else f", devices {' '.join(map(str, order[:16]))}")


def _devices(data: RecordData) -> str | None:
    if not data.devices:
        return None
    kinds = sorted({device.kind for device in data.devices})
    return f"{len(data.devices)} {', '.join(kinds)}"
