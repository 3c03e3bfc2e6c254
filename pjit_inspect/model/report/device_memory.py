"""What arguments and results hold on each device, in bytes.

Not its job: counting it (`analyze.program.device_memory`), drawing it (`view.charts.totals`), what is alive meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPart:
    """Arguments, or results.

    Attributes:
      bytes: on each device, in the order of `DeviceMemory.devices`; counted from shapes and shardings.
      largest: the largest arrays, by path, with their bytes on one device.
    """

    bytes: np.ndarray
    largest: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMemory:
    """What every device of a program holds.

    Attributes:
      devices: the ids of the devices.
      arguments, outputs: what they hold; outputs in the buffers of donated arguments count as arguments.
      reused: how many outputs are in such buffers.
      unknown: how many arrays are not counted, because their sharding or element type is unknown.
      elsewhere: how many are not, because they are in the memory of the host.
    """

    devices: tuple[int, ...] = ()
    arguments: MemoryPart = field(default_factory=lambda: MemoryPart(bytes=np.zeros(0)))
    outputs: MemoryPart = field(default_factory=lambda: MemoryPart(bytes=np.zeros(0)))
    reused: int = 0
    unknown: int = 0
    elsewhere: int = 0
