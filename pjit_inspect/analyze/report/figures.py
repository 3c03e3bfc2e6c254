"""The few figures of a record that are compared with those of another.

Not its job: comparing them (`view.record.hypothesis`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.model.record.hypothesis import KeyFigures, SentOver
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import AxisTotal, CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable


def find_figures(
    data: RecordData, collectives: CollectiveTable | None, totals: Sequence[AxisTotal], fusions: FusionTable | None
) -> KeyFigures:
    """The figures of a record; `collectives` and `fusions` are None where there are none to count."""
    memory = data.memory
    parts = () if memory is None else (memory.argument_bytes, memory.output_bytes, memory.temporary_bytes)
    total = None if not parts or None in parts else sum(part or 0 for part in parts)
    sizes = [own.bytes_per_device for own in data.inputs if own.kept and own.is_on_device]
    return KeyFigures(
        collectives=None if collectives is None else len(collectives),
        sent=sent_over(totals),
        memory_bytes=None if total is None or memory is None else total - (memory.alias_bytes or 0),
        argument_bytes=None if None in sizes or not data.inputs else sum(size or 0 for size in sizes),
        kernels=None if fusions is None else len(fusions),
    )


def sent_over(totals: Sequence[AxisTotal]) -> tuple[SentOver, ...]:
    """The bytes sent of totals by axes."""
    sums: dict[tuple[str, ...] | None, int] = {}
    for own in totals:
        sums[own.axes] = sums.get(own.axes, 0) + own.sent_bytes
    return tuple(SentOver(axes=axes, sent_bytes=size) for axes, size in sums.items())
