"""A capture whose programs are measured: JAX's profiler around its block, and the records that ran in it, joined.

Not its job: the profiler (`observe.profiler.profiler`), or which run is whose (`analyze.report.kernel_times`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from pjit_inspect.analyze.report.kernel_times import MeasuredProgram, find_kernel_times, measured_program
from pjit_inspect.guard import Guard
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.record.profile import ProfiledRun
from pjit_inspect.model.record.record import RecordData

__all__ = ["measured"]

_STEP = "measured times of kernels"


@contextmanager
def measured(records: Iterable[CompileRecord], twins: Iterable[CompileRecord] = ()) -> Iterator[None]:
    """Run JAX's profiler during the block; then the records that are there by then get their times.

    `twins` are looked through for records of the same data, which get them too. Errors of ours cost the times only.
    """
    from pjit_inspect.observe.profiler.profiler import Profiler

    profiler, is_interrupted, guard = Profiler(), True, Guard()
    try:
        guard.run(_STEP, profiler.open, None)
        yield
        is_interrupted = False
    except Exception:
        is_interrupted = False
        raise
    finally:
        guard.run(_STEP, lambda: profiler.close(is_interrupted=is_interrupted), None)
        guard.run(_STEP, lambda: _give(tuple(records), tuple(twins), profiler.runs, profiler.missing), None)


def _give(
    records: tuple[CompileRecord, ...],
    twins: tuple[CompileRecord, ...],
    runs: tuple[ProfiledRun, ...],
    missing: str,
) -> None:
    times_of = [missing] * len(records) if missing else _find(records, runs)
    # Records of one compile share their data, and go on doing so.
    made: dict[int, RecordData] = {}
    kept = [record.data for record in records]
    for data, times in zip(kept, times_of, strict=True):
        made[id(data)] = _with_times(data, times)
    for record in (*records, *twins):
        if (data := made.get(id(record.data))) is not None:
            record.add_times(data)


def _with_times(data: RecordData, times: KernelTimes | str) -> RecordData:
    if isinstance(times, KernelTimes):
        missing = {name: why for name, why in data.missing.items() if name != "kernel_times"}
        return replace(data, kernel_times=times, missing=missing)
    return replace(data, missing={**data.missing, "kernel_times": times})


def _find(records: tuple[CompileRecord, ...], runs: tuple[ProfiledRun, ...]) -> list[KernelTimes | str]:
    """The times of each record, or the reason why it has none."""
    names = {run.module for run in runs}
    programs: dict[int, MeasuredProgram] = {}
    reasons: dict[int, str] = {}
    for row, record in enumerate(records):
        guard = Guard()
        # The record keeps the parsed program only if somebody has looked at it.
        module = guard.run("hlo", record.state.analyses.hlo_for_now, None)
        if module is None:
            reasons[row] = record.data.missing.get("hlo", "") or "".join(guard.failed.values()) or "it has no HLO"
        elif module.name not in names:
            reasons[row] = "the profiler saw no run of it"
        else:
            programs[row] = measured_program(
                module, devices=_own_devices(record.data), is_from_disk=_is_from_disk(record.data)
            )
    programs = _with_others(programs)
    times = dict(zip(programs, find_kernel_times(runs, list(programs.values())), strict=True))
    return [times[row] if row in times else reasons[row] for row in range(len(records))]


def _own_devices(data: RecordData) -> int | None:
    """How many of its devices are of the process that recorded it; None when that is not known."""
    return sum(device.process == data.process_index for device in data.devices) or None


def _is_from_disk(data: RecordData) -> bool:
    from pjit_inspect.observe.contract._jax import has_disk_cache

    return data.cached == "persistent" or (data.cached == "memory" and has_disk_cache())


def _with_others(programs: dict[int, MeasuredProgram]) -> dict[int, MeasuredProgram]:
    """The programs with how many of their name nobody recorded, where it matters: asking takes a while."""
    if not any(program.is_from_disk for program in programs.values()):
        return programs
    from pjit_inspect.observe.contract._jax import live_programs

    held, own = live_programs(), [program.name for program in programs.values()]
    return {row: replace(one, others=max(0, held[one.name] - own.count(one.name))) for row, one in programs.items()}
