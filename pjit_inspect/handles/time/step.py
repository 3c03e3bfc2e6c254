"""The time of a record's call, on its own devices or on those of a target; and its display.

Joins the rooms. Not its job: the estimate (`analyze.time`), asking XLA (`asked.what_if`), or the layout
(`view.time.page`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.report.report import user_files_of
from pjit_inspect.analyze.time.calibrate import fit_hardware, fit_words
from pjit_inspect.analyze.time.step import TimeInput, find_step_time
from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.handles.analyses import Analyses
from pjit_inspect.handles.exports import OfRecord
from pjit_inspect.handles.time.quick import devices_at
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.time.hardware import HARDWARE, Hardware, hardware_of
from pjit_inspect.model.time.rows import TimedCollectives, TimedKernels
from pjit_inspect.model.time.step_time import StepTime
from pjit_inspect.parse.files.whole_file import write_whole
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn
from pjit_inspect.view.time.page import perfetto_text, time_blocks

_EFFORT = "exec_time_optimization_effort"
"""The option that cuts XLA's optimization short where it is negative: its estimates are then ten times too high."""

_ON = (
    '`record.time_on("tpu:v5e:4x4")` compiles it for a machine whose speed is known, and `pi.calibrate(record)` '
    "measures this one"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecordStepTime(OfRecord, Displayable, StepTime):
    """Where the time of a record's call goes."""

    _analyses: Analyses = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: the answer, how sure it is, limits, and what takes the time."""
        data = self._analyses.data
        return Shown(drawn(Document(axes=document_axes(data), blocks=time_blocks(self, data))))

    def to_perfetto(self, path: str | os.PathLike[str]) -> None:
        """Write the estimated timeline of one call as JSON, for https://ui.perfetto.dev and `chrome://tracing`.

        A lane for kernels, one for each mesh axis, and one for loops, of which the first turn is there. Raises
        CaptureError where seconds are unknown.
        """
        if not self.timeline:
            raise CaptureError(f"there is no timeline: {self.missing or 'it has no seconds'}")
        write_whole(path, perfetto_text(self.timeline))

    def __repr__(self) -> str:
        where = f"{self.devices} {self.hardware.name}" if self.hardware else f"{self.devices} devices of unknown speed"
        return f"StepTime({len(self.kernels)} kernels, {len(self.collectives)} collectives, {where})"


def own_step_time(analyses: Analyses) -> StepTime:
    """The time of a program on its own devices, found once."""
    return analyses.value("step_time", step_time_of)


def known_step_time(analyses: Analyses) -> StepTime | None:
    """The same for displays; None, without looking, where nobody knows the speed of its devices."""
    data = analyses.data
    if data.kernel_times is None and (data.is_partial or _own_hardware(data) is None):
        return None
    step = own_step_time(analyses)
    return None if step.step_s is None else step


def step_time_of(analyses: Analyses, hardware: Hardware | None = None) -> StepTime:
    """The time of a program on its own devices, or with the speeds of other hardware."""
    data, module = analyses.report.data, analyses.readable_hlo
    graph, why = analyses.graph_and_reason
    if module is None or graph is None:
        missing = why or data.missing.get("hlo", "the record has no optimized program")
        return StepTime(
            hardware=None, devices=len(data.devices), kernels=TimedKernels(()), collectives=TimedCollectives(()),
            missing=missing,
        )  # fmt: skip
    own = _own_hardware(data)
    speeds = hardware or own
    found = find_step_time(
        TimeInput(
            module=module,
            graph=graph,
            collectives=tuple(analyses.collectives),
            hardware=speeds,
            devices=devices_at(data),
            is_partial=data.is_partial,
            trusts_xla=_trusts_xla(data),
            files=user_files_of(data),
            measured=data.kernel_times,
            missing="" if speeds is not None else _why_unknown(data),
        )
    )
    if hardware is None or own is hardware:
        return found
    platform = data.devices[0].platform if data.devices else ""
    made_for = f"the kernels are those that XLA made for {platform or 'the devices of the program'}"
    return replace(found, notes=(*found.notes, made_for))


def calibrated(analyses: Analyses) -> Hardware:
    """The speeds of this machine, from the measured times of a program. Raises CaptureError if there are too few."""
    data = analyses.data
    if data.kernel_times is None:
        why = data.missing.get("kernel_times", "it was not measured")
        raise CaptureError(f"{data.name} has no measured times ({why}): capture it with measure=True, and run it twice")
    kind = data.devices[0].kind if data.devices else ""
    found = fit_hardware(step_time_of(analyses), name=f"{kind or 'this machine'} as measured")
    if found is None:
        raise CaptureError(f"{data.name} has too few kernels with measured times to calibrate anything")
    return replace(found, fit=fit_words(step_time_of(analyses, found)))


def known_hardware(target: str) -> Hardware:
    """The speeds of a chip. Raises ChangeError for one that is not known."""
    hardware = hardware_of(target)
    if hardware is None:
        raise ChangeError(f"target {target!r}: the speed of this chip is unknown; known are {', '.join(HARDWARE)}")
    return hardware


def _own_hardware(data: RecordData) -> Hardware | None:
    kinds = {device.kind for device in data.devices}
    return hardware_of(kinds.pop()) if len(kinds) == 1 else None


def _trusts_xla(data: RecordData) -> bool:
    """True if XLA optimized the program at its usual effort."""
    efforts = [value for name, value in data.flags.items() if name.endswith(_EFFORT)]
    return not any(str(value).startswith("-") for value in efforts)


def _why_unknown(data: RecordData) -> str:
    if data.is_partial:
        return 'XLA compiled it up to its partitioner only: `what_if(..., effort="full")` compiles it to the end'
    kinds = {device.platform for device in data.devices if device.platform}
    if kinds == {"cpu"}:
        return f"the speed of CPU devices is unknown: {_ON}"
    kind = next((device.kind for device in data.devices if device.kind), "")
    return f"the speed of {kind or 'its devices'} is unknown: {_ON}"
