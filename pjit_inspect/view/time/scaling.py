"""One program on more and more chips, as a table and a sentence.

Not its job: the figures (`model.time.scaling`).
"""

from __future__ import annotations

from pjit_inspect.model.time.scaling import ScalingRow, ScalingTable
from pjit_inspect.view.charts.seconds import scaling_chart, scaling_words
from pjit_inspect.view.document.columns import numbers, sizes, table_of
from pjit_inspect.view.document.document import Block, Column, Line, Prose, Text, line, strong
from pjit_inspect.view.document.quantities import count_text, time_text
from pjit_inspect.view.time.page import picture_blocks


def scaling_blocks(table: ScalingTable) -> tuple[Block, ...]:
    """The answer, a row for each number of chips, and what was not asked."""
    known = [row for row in table if not row.missing]
    turns = table.network_bound_from
    if turns is not None:
        answer = f"network-bound from {count_text(turns)} devices on"
    elif known and known[-1].step_s is not None:
        answer = f"not network-bound up to {count_text(known[-1].devices)} devices"
    else:
        answer = f"{count_text(len(known))} of {count_text(len(table))} numbers of chips are known"
    blocks: list[Block] = [
        line(strong(answer), role="answer"),
        *picture_blocks(scaling_chart(table)),
        table_of(_columns(table), table.rows),
    ]
    said: dict[str, list[str]] = {}
    for row in table:
        said.setdefault(row.missing, []).append(count_text(row.devices))
    blocks += [Line((Text(f"{', '.join(own)} devices: "), Prose(why)), "note") for why, own in said.items() if why]
    more = "" if table.is_weak else "; weak= takes a batch that grows with the chips"
    blocks.append(line(f"{scaling_words(table)}{more}. Estimates; no step time was validated", role="footer"))
    return tuple(blocks)


def _columns(table: ScalingTable) -> list[Column]:
    """Seconds where any are known, operations where none are."""
    columns = [numbers("devices", lambda row: row.devices), Column("mesh", lambda row: row.mesh)]
    if all(row.step_s is None for row in table):
        columns.append(numbers("FLOPs a device", lambda row: row.flops))
    else:
        columns += [
            Column("at best", lambda row: _seconds(row.floor_s), align="right"),
            Column("kernels", lambda row: _seconds(row.kernels_s), align="right"),
            Column("XLA's order", lambda row: _seconds(row.step_s), align="right"),
            Column("no overlap", lambda row: _seconds(row.serial_s), align="right"),
            Column("exposed", _exposed, align="right"),
            Column("MFU", lambda row: "" if row.mfu is None else f"{100 * row.mfu:.0f} %", align="right"),
            Column("bound by", lambda row: row.bound_by),
        ]
    return [*columns, sizes("memory, {unit}", lambda row: row.memory_bytes)]


def _seconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else time_text(seconds * 1e6)


def _exposed(row: ScalingRow) -> str:
    return "unknown" if row.exposed_share is None else f"{100 * row.exposed_share:.0f} %"
