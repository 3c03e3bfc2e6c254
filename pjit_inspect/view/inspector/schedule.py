"""The inspector's schedule strip as columns.

`header["graph"]`: `lanes` (for each lane of collectives its axis set), `is_scheduled` (False: XLA has not fixed the
order; it is that of the program's bytes), `first_matmul` (the first kernel with a matrix product; -1 for none).
Runs, in order: `graph.run.start` (kernel; a run ends where the next starts, the last with the last kernel),
`graph.run.row` (the layer, or the row under the program), `graph.run.phase`.
Events, by start: `graph.event.collective`, `.lane`, `.start`, `.end` (places between kernels: issued right after kernel
`start - 1`, waited for right before kernel `end`), `.first_use`, `.last_use` (kernels; -1 for none), `.is_async`.
Places count kernels, not time. Not its job: building the schedule (`analyze.graph.build`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.graph import ScheduleStrip
from pjit_inspect.view.inspector.shared_tables import SharedTables


def schedule_header(strip: ScheduleStrip, collectives: Sequence[Collective], tables: SharedTables) -> dict[str, Any]:
    """The schedule's part of the header."""
    meshes = {one.axes: one.mesh for one in reversed(collectives)}
    return {
        "lanes": [tables.axis_set(axes, meshes.get(axes, 0)) for axes in strip.lanes],
        "is_scheduled": strip.is_scheduled,
        "first_matmul": strip.first_matmul,
    }


def schedule_columns(strip: ScheduleStrip) -> dict[str, np.ndarray]:
    """Runs and events, without the leading "graph."."""
    events = strip.events
    places = ("collective", "lane", "start", "end", "first_use", "last_use")
    return {
        "run.start": strip.runs.start.astype(np.int32),
        "run.row": strip.runs.row.astype(np.int32),
        "run.phase": strip.runs.phase.astype(np.int32),
        **{f"event.{name}": np.array([getattr(event, name) for event in events], np.int32) for name in places},
        "event.is_async": np.array([event.is_async for event in events], np.uint8),
    }
