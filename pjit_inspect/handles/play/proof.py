"""Proves the code written for a variant: retraces the function with these shardings, and asks XLA.

Constraints and specs of results are changed in a copy of the new trace: the function's lines are not edited. Not its
job: the lines (`analyze.play.code`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pjit_inspect.analyze.play.controls import argument_specs
from pjit_inspect.errors import CaptureError, ChangeError, ParseError
from pjit_inspect.handles.play.subject import PlayedProgram, PlayedRecord, Record
from pjit_inspect.model.play.code import Proof
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.observe.partitioner.service import LaneTicket

_MOST_SHOWN = 4

Key = tuple[str, tuple[str, ...] | None, str, tuple[int, ...], int | None]


def prove(source: PlayedRecord, subject: PlayedProgram, setting: PlaySetting, wanted: Record) -> Proof:
    """Trace the function with the shardings of a setting, and compare the collectives with the setting's record."""
    if source.again is None:
        return Proof(
            outcome="untried",
            sentence="not tried: the function is not at hand; give it to pjit_inspect.playground(fn, *args)",
        )
    try:
        # Only equal stages are compared: for a variant compiled to the end, its program after partitioning.
        before = wanted if wanted.data.is_partial or setting.devices == 1 else subject.asked(setting, LaneTicket())
        found = _traced(source, subject, setting)
    except (CaptureError, ParseError) as error:
        own = "the function may name its own mesh: " if setting.mesh != subject.facts.mesh else ""
        return Proof(outcome="untried", sentence=f"not tried: {own}{' '.join(str(error).split())}")
    ours, theirs = _keys(before.collectives), _keys(found.collectives)
    edited = bool(setting.results or setting.constraints or setting.added)
    how = "traced again with these shardings" + (", constraints and results changed in the copy" if edited else "")
    kinds = {"wanted": _kinds(ours), "found": _kinds(theirs)}
    if ours == theirs:
        return Proof(outcome="equal", sentence=f"{how}: the same {_counted(ours)}", **kinds)
    return Proof(outcome="different", sentence=f"{how}: {_difference(ours, theirs)}", **kinds)


def _traced(source: PlayedRecord, subject: PlayedProgram, setting: PlaySetting) -> Record:
    """XLA's result for the function traced with these shardings."""
    platform = subject.platform(setting)
    specs = _leaf_specs(subject, setting)
    made = source.again(setting.sizes, platform, specs) if source.again is not None else None
    if made is None or made.stablehlo is None:
        raise ChangeError("JAX gives no program of it")
    record = source.make(replace(made, flags=subject.data.flags), None)
    again = PlayedProgram(PlayedRecord(analyses=record.state.analyses, again=None, make=source.make))
    if setting.added:
        _keep_places(subject, again)
    rest = PlaySetting(
        mesh=again.base.mesh,
        target=setting.target,
        results=setting.results,
        constraints=setting.constraints,
        added=setting.added,
    )
    return again.asked(rest, LaneTicket())


def _keep_places(subject: PlayedProgram, again: PlayedProgram) -> None:
    """New constraints go on the operations of the same numbers, where both traces have the same operations."""
    ops, others = (own.program.ops if own.program is not None else () for own in (subject, again))
    if [(own.kind, own.op_name) for own in ops] != [(own.kind, own.op_name) for own in others]:
        raise ChangeError("traced with these shardings it has other operations, so that new constraints have no place")
    again.places.update(subject.places)


def _leaf_specs(subject: PlayedProgram, setting: PlaySetting) -> tuple[PartitionSpec | None, ...]:
    """The spec of each flattened argument, including those that the program does not use."""
    known: Mapping[str, PartitionSpec | None] = argument_specs(subject.facts, setting)
    free = subject.facts.free_arguments - {path for path, _ in setting.arguments}
    return tuple(None if own.path in free else known.get(own.path) for own in subject.data.inputs)


def _keys(rows: Sequence[Collective]) -> Counter[Key]:
    return Counter((row.kind, row.axes, row.dtype, row.local_shape, row.count) for row in rows)


def _kinds(keys: Counter[Key]) -> tuple[tuple[str, int], ...]:
    counts = Counter[str]()
    for key, count in keys.items():
        counts[key[0]] += count
    return tuple(sorted(counts.items()))


def _difference(ours: Counter[Key], theirs: Counter[Key]) -> str:
    said: list[str] = []
    for what, keys in (("missing", ours - theirs), ("new", theirs - ours)):
        shown = [_named(key, count) for key, count in list(keys.items())[:_MOST_SHOWN]]
        more = f", and {len(keys) - _MOST_SHOWN} more" if len(keys) > _MOST_SHOWN else ""
        if shown:
            said.append(f"{what}: {', '.join(shown)}{more}")
    return f"{_counted(theirs)} and not {ours.total():,}; {'; '.join(said)}"


def _counted(keys: Counter[Key]) -> str:
    return f"{keys.total():,} collective{'s' if keys.total() != 1 else ''}"


def _named(key: Key, count: int) -> str:
    kind, axes, dtype, shape, _ = key
    over = f" over {' x '.join(axes)}" if axes else ""
    return f"{count} {kind}{over} of {dtype}{list(shape)}"
