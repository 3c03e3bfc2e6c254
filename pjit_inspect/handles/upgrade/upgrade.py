"""Compares one function compiled in this environment and in another, and finds whether JAX or XLA causes differences.

If JAX lowers the function differently, the other environment's XLA also compiles this environment's lowering. The
result differs from the program before by XLA alone, and from the program after by the lowering alone. Not its job:
compiling (`handles.upgrade.apart`), comparing (`analyze.diff`).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pjit_inspect.analyze.diff.sentence import diff_answer
from pjit_inspect.errors import CaptureError
from pjit_inspect.handles.analyses import Analyses
from pjit_inspect.handles.diff import Diff, diff_analyses
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.handles.upgrade.apart import compile_again_in, compile_in
from pjit_inspect.handles.upgrade.environment import make_environment
from pjit_inspect.model.diff.diff import DiffData, Stages
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.words.sentence import Sentence, joined, name, say

Say = Callable[[str], None]
"""Receives a description of the next step, as steps may take minutes."""

_OWN = "pjit-inspect"


def compare_upgrade(
    function: str,
    requirements: Sequence[str],
    *,
    python: str | None = None,
    devices: int | None = None,
    only: str | None = None,
    progress: Say = lambda _: None,
) -> Diff:
    """Compares a function with its compile under other packages; as `api.compare_upgrade`."""
    other: str | Path
    if requirements:
        progress(f"an environment with {' '.join(requirements)}")
        other = make_environment(requirements, python=python)
    elif python is not None:
        other = python
    else:
        raise CaptureError("what to upgrade to is not said: --with jax==VERSION, or --python PATH of an environment")
    progress(f"compiling {function} in {sys.executable}")
    before = compile_in(sys.executable, function, devices=devices)
    progress(f"compiling {function} in {other}")
    after = compile_in(other, function, devices=devices)
    one, two, note = _chosen(before, after, only)
    progress("comparing")
    diff = diff_analyses(_analyses(one), _analyses(two))
    stages = diff.data.stages
    if stages is not None and not stages.lowering.is_same:
        progress(f"compiling what this environment's JAX lowered in {other}")
        stages = _by_whom(one, two, stages, other)
    notes = (*diff.data.notes, *([note] if note else []))
    data = replace(diff.data, stages=stages, notes=notes)
    return diff.with_data(replace(data, answer=diff_answer(data)))


def _chosen(
    before: Sequence[RecordData], after: Sequence[RecordData], only: str | None
) -> tuple[RecordData, RecordData, Sentence]:
    """The programs of the two environments to compare, with a note about the others."""
    names = list(dict.fromkeys(data.name for data in before if data.name in {own.name for own in after}))
    if only is not None:
        names = [own for own in names if own == only]
    if not names:
        made = "; ".join(", ".join(dict.fromkeys(data.name for data in side)) for side in (before, after))
        wanted = f"no program {only!r}" if only is not None else "no program of one name"
        raise CaptureError(f"there is {wanted} in both environments; they compiled {made}")
    chosen = max(names, key=lambda own: max(_size(data) for data in before if data.name == own))
    sides = [max((data for data in side if data.name == chosen), key=_size) for side in (before, after)]
    others = [own for own in names if own != chosen]
    note = say("{} is the largest of {} programs; --only picks another: {}", name(chosen), len(names), _listed(others))
    return _plain(sides[0]), _plain(sides[1]), note if others else Sentence()


def _size(data: RecordData) -> int:
    return (data.hlo.size or 0) if data.hlo is not None else 0


def _listed(names: Sequence[str]) -> Sentence:
    return joined([name(own) for own in names])


def _plain(data: RecordData) -> RecordData:
    # Both processes ran this copy of the package, whether or not their environments have it.
    return replace(data, versions={own: text for own, text in data.versions.items() if own != _OWN})


def _analyses(data: RecordData) -> Analyses:
    return CompileRecord(data).state.analyses


def _by_whom(before: RecordData, after: RecordData, stages: Stages, python: str | Path) -> Stages:
    """The stages with the changes due to XLA alone and to the lowering alone, or the reason why these are unknown."""
    platforms = {device.platform for device in before.devices} | {device.platform for device in after.devices}
    if platforms != {"cpu"}:
        return replace(stages, missing="only programs for the CPU are compiled again")
    try:
        crossed, again = _compiled_again((before, after), python)
    except CaptureError as error:
        return replace(stages, missing=str(error))
    if not _compared(after, again).is_same_program:
        return replace(stages, missing="the program after, compiled again from its StableHLO, is not the same program")
    return replace(stages, by_xla=_compared(before, crossed), by_jax=_compared(crossed, after))


def _compiled_again(sides: Sequence[RecordData], python: str | Path) -> tuple[RecordData, ...]:
    with tempfile.TemporaryDirectory(prefix="pjit_inspect_") as folder:
        paths = [Path(folder) / f"{number}.pjit" for number in range(len(sides))]
        for data, path in zip(sides, paths, strict=True):
            CompileRecord(data).save(path)
        return compile_again_in(python, paths)


def _compared(before: RecordData, after: RecordData) -> DiffData:
    return diff_analyses(_analyses(before), _analyses(after)).data
