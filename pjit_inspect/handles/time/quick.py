"""The quick estimate of a program that XLA only partitioned: two figures, without rows or places.

For the playground and for advice, which ask about many programs. Not its job: the estimate (`analyze.time.step`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.report.report import user_files_of
from pjit_inspect.analyze.time.step import TimeInput, find_step_time
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.time.hardware import hardware_of


def quick_range(
    data: RecordData, module: HloModule, collectives: Sequence[Collective], chip: str
) -> tuple[float, float] | None:
    """The least and the most seconds of a program that XLA only partitioned, on a chip; None if its speed is unknown.

    They are `floor_s` and `serial_s` of `record.time`, without its rows.
    """
    hardware = hardware_of(chip)
    if hardware is None:
        return None
    step = find_step_time(
        TimeInput(
            module=module,
            graph=None,
            collectives=collectives,
            hardware=hardware,
            devices=devices_at(data),
            is_partial=True,
            files=user_files_of(data),
        )
    )
    return None if step.floor_s is None or step.serial_s is None else (step.floor_s, step.serial_s)


def devices_at(data: RecordData) -> tuple[Device, ...]:
    """The device at each position of the mesh."""
    by_id = {device.id: device for device in data.devices}
    ids = () if data.mesh is None else data.mesh.device_ids
    return tuple(by_id[number] for number in ids) if ids and by_id.keys() >= set(ids) else data.devices
