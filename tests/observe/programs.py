"""Small sharded programs and helpers that several tests of this room use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import jax
import jax.monitoring
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from pjit_inspect.handles.propagate import CopiedProgram, ask_about_copy
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.observe.live.contents import Finish
from pjit_inspect.observe.shardy.what_if import compile_edited
from pjit_inspect.observe.watch.listener import observed, observed_calls

COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"


def auto_mesh(shape: tuple[int, ...] = (2, 4), names: tuple[str, ...] = ("data", "model")) -> Mesh:
    return Mesh(np.array(jax.devices()[: int(np.prod(shape))]).reshape(shape), names)


def put(mesh: Mesh, array: np.ndarray, *spec: object) -> jax.Array:
    return jax.device_put(array, NamedSharding(mesh, PartitionSpec(*spec)))


@contextmanager
def counted_compiles() -> Iterator[list[str]]:
    """The names of every backend compile in the block, seen by a listener of the test's own."""
    names: list[str] = []

    def listen(event: str, _: float, **facts: object) -> None:
        if event == COMPILE_EVENT:
            names.append(str(facts.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield names
    finally:
        from jax._src import monitoring

        monitoring.unregister_event_duration_listener(listen)


@contextmanager
def recorded(records: list[RecordData], *, calls: bool = False) -> Iterator[None]:
    """Collects the records of the block, completed when it ends."""
    pending: list[tuple[RecordData, Finish]] = []
    try:
        with (observed_calls if calls else observed)(lambda *record: pending.append(record)):
            yield
    finally:
        records += [finish(data) for data, finish in pending]


def copied(data: RecordData, stablehlo: bytes | None = None) -> CopiedProgram:
    """XLA's program before partitioning, of a record or of a changed copy."""
    return ask_about_copy(data, stablehlo or stablehlo_of(data), timeout_s=600.0)


def stablehlo_of(data: RecordData) -> bytes:
    assert data.stablehlo is not None
    return data.stablehlo.read()


def compiled_with(data: RecordData, edits: Sequence[Edit]) -> bytes:
    """The program of a record, with these edits of `copied(data).program`, as XLA compiles it."""
    numbered = copied(data).placed(edits) if edits else ()
    return compile_edited(stablehlo_of(data), numbered, data.devices, data.flags)
