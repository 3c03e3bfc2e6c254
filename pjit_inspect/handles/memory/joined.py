"""XLA's report of a memory that was too small, beside the program of a record.

Not its job: finding the record (`handles.memory.autopsy`).
"""

from __future__ import annotations

from pjit_inspect.analyze.memory.autopsy import join_reported
from pjit_inspect.guard import Guard
from pjit_inspect.handles.analyses import Analyses
from pjit_inspect.model.memory.autopsy import Autopsy, ReportedTable
from pjit_inspect.model.record.shortage import MemoryShortage
from pjit_inspect.model.report.sharding_table import ShardingTable


def known_autopsy(shortage: MemoryShortage, now: Analyses) -> Autopsy:
    """XLA's report beside a record's program."""
    guard = Guard()
    use = guard.run("memory", lambda: now.memory_use, None)
    module = now.readable_hlo
    # Without a schedule, the values before partitioning say what is written where, and how it is split.
    shardings = guard.run("shardings", lambda: now.shardings, None) if shortage.largest and module is None else None
    inputs = now.data.inputs
    largest = guard.run(
        "XLA's list of the largest buffers",
        lambda: join_reported(
            shortage.largest, module=module, use=use, inputs=inputs, shardings=shardings or ShardingTable()
        ),
        ReportedTable(),
    )
    return Autopsy(shortage=shortage, largest=largest, use=use)
