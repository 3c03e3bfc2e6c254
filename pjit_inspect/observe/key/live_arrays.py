"""The arrays that this process holds on its devices, as plain data, named by captured calls.

Types and shardings are read, never an element: nothing waits for a device, and no array is kept. Not its job: showing
them (`view.pages.live_arrays`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from types import CodeType
from typing import Any

import jax

from pjit_inspect.guard import read_fact
from pjit_inspect.model.memory.live_arrays import DeviceHolding, LiveArray, LiveArrayTable
from pjit_inspect.model.program.shape import bits_of, short_dtype
from pjit_inspect.model.program.source import Frame
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.key.past_programs import argument_of, result_finder
from pjit_inspect.observe.live.frames import cell_name, is_user_file
from pjit_inspect.observe.live.shardings import to_sharding

_ON_DEVICE = ("", "device", "unpinned_host")


def read_live_arrays() -> LiveArrayTable:
    """Every array of `jax.live_arrays()` whose data is there, most bytes on one device first."""
    rows: list[LiveArray] = []
    deleted = unread = 0
    find_result = result_finder()
    arrays, devices, axes = jax.live_arrays(), dict[int, Any](), dict[str, None]()
    while arrays:
        array = arrays.pop()
        try:
            if array.is_deleted():
                deleted += 1
            else:
                rows.append(_row(array, find_result(array)))
                devices |= {device.id: device for device in array.sharding.addressable_devices}
                axes |= dict.fromkeys(map(str, getattr(getattr(array.sharding, "mesh", None), "axis_names", ())))
        except Exception:
            # It may be deleted meanwhile, by another thread or by a donation.
            unread += 1
        del array
    rows.sort(key=lambda row: (-(row.bytes or 0), row.program, row.name, row.dtype, row.global_shape))
    return LiveArrayTable(
        rows=tuple(rows),
        devices=_devices(rows, devices.values()),
        mesh_axes=tuple(axes),
        deleted=deleted,
        unread=unread,
    )


def _row(array: Any, result: tuple[str, str] | None) -> LiveArray:
    shape, dtype, sharding = tuple(int(length) for length in array.shape), str(array.dtype), array.sharding
    bits = bits_of(dtype) or 8 * int(array.dtype.itemsize)
    mine = sorted(device.id for device in sharding.addressable_devices)
    # Of a sharding whose pieces are not equal, JAX says no shape of a piece.
    local = read_fact({}, "local", lambda: tuple(map(int, sharding.shard_shape(shape))), None)
    lies = read_fact({}, "sharding", lambda: to_sharding(sharding, shape), None)
    each, own = None if local is None else _bytes(local, bits), {*mine}
    tiles = {tile for device, tile in zip(lies.device_ids, lies.tile_of, strict=True) if device in own} if lies else ()
    given = argument_of(array)
    program, name = given or result or ("", "")
    return LiveArray(
        name=name,
        program=program,
        role="argument" if given else "result" if result else "",
        source=_source(array),
        dtype=short_dtype(dtype),
        global_shape=shape,
        local_shape=local,
        spec=lies and lies.spec,
        bytes=each,
        global_bytes=_bytes(shape, bits),
        held_bytes=None if each is None else each * len(mine),
        copied_bytes=None if each is None or lies is None else each * (len(mine) - len(tiles)),
        device_ids=tuple(mine),
        memory_kind=str(getattr(sharding, "memory_kind", None) or ""),
        is_committed=getattr(array, "committed", getattr(array, "_committed", None)),
    )


def _bytes(shape: tuple[int, ...], bits: int) -> int:
    return -(-math.prod(shape) * bits // 8)


def _source(array: Any) -> tuple[Frame, ...]:
    for code, instruction in _jax.made_at(array):
        if is_user_file(code.co_filename):
            file = code.co_filename
            line = _line(code, instruction)
            return (Frame(file=file, line=line, function=code.co_qualname, cell=cell_name(file)),)
    return ()


def _line(code: CodeType, instruction: int) -> int:
    found = (line for start, end, line in code.co_lines() if start <= instruction < end)
    return next(found, None) or code.co_firstlineno


def _devices(rows: list[LiveArray], devices: Iterable[Any]) -> tuple[DeviceHolding, ...]:
    arrays, held = Counter[int](), Counter[int]()
    for row in rows:
        for device in row.device_ids:
            arrays[device] += 1
            held[device] += (row.bytes or 0) if row.memory_kind in _ON_DEVICE else 0
    found = []
    for device in sorted(devices, key=lambda one: one.id):
        # Some platforms have none, and say so by an error.
        stats = read_fact({}, "memory", device.memory_stats, None) or {}
        found.append(
            DeviceHolding(
                id=device.id,
                platform=device.platform,
                arrays=arrays[device.id],
                bytes=held[device.id],
                in_use_bytes=stats.get("bytes_in_use"),
                limit_bytes=stats.get("bytes_limit"),
            )
        )
    return tuple(found)
