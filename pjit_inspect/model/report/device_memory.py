"""Bytes of arguments and results on each device.

Not its job: counting them (`analyze.program.device_memory`), drawing them (`view.charts.totals`), temporaries.
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
    """Bytes of arguments and results on every device of a program.

    Attributes:
      devices: the ids of the devices.
      arguments, outputs: their bytes; outputs in the buffers of donated arguments count as arguments.
      reused: number of outputs in buffers of donated arguments.
      unknown: number of arrays not counted because their sharding or element type is unknown.
      elsewhere: number of arrays not counted because they are in host memory.
    """

    devices: tuple[int, ...] = ()
    arguments: MemoryPart = field(default_factory=lambda: MemoryPart(bytes=np.zeros(0)))
    outputs: MemoryPart = field(default_factory=lambda: MemoryPart(bytes=np.zeros(0)))
    reused: int = 0
    unknown: int = 0
    elsewhere: int = 0
