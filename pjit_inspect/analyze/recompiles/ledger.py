"""The ledger of a log: the compiles of each function and call site, added up.

Not its job: why a compile happened (`analyze.recompiles.recompiles`), what repeats (`analyze.recompiles.patterns`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pjit_inspect.analyze.recompiles.compiles import Compile
from pjit_inspect.analyze.recompiles.patterns import find_patterns
from pjit_inspect.analyze.recompiles.recompiles import family_of
from pjit_inspect.model.record.ledger import LedgerData, LedgerEntry, LedgerRow, RepeatedReason
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData, Timings
from pjit_inspect.model.words.sentence import Sentence

_LAYERS = ("tracing", "lowering", "compilation")


def build_ledger(compiles: Sequence[Compile]) -> LedgerData:
    """Every compile, per function and call site, the most expensive first. Calls of known programs are only counted."""
    real = [one for one in compiles if one.data.cached != "memory"]
    groups: dict[tuple[object, ...], list[Compile]] = {}
    for one in real:
        groups.setdefault((_function(one), _site(one.data)), []).append(one)
    rows = sorted(map(_row, groups.values()), key=lambda row: -row.total_s)
    patterns = sorted(find_patterns(real), key=lambda pattern: -pattern.cost_s)
    return LedgerData(rows=tuple(rows), patterns=tuple(patterns), known=len(compiles) - len(real))


def _function(one: Compile) -> tuple[str, ...]:
    """The function of a row; operations that `pmap` or `shard_map` runs outside jit belong to one function."""
    function = one.key.function
    if function is not None and function.kind == "primitive" and function.wrapper:
        return ("outside jit", function.wrapper)
    return family_of(one.data)


def _site(data: RecordData) -> tuple[object, ...]:
    """The calling line; in a notebook its text, because a cell that runs again gets another number."""
    frame = data.user_frame
    if frame is None:
        return ()
    if frame.cell is None:
        return (frame.file, frame.line)
    text = next((text.line(frame.line) for text in data.sources if text.file == frame.file), None)
    return ("cell", text.strip()) if text else (frame.cell, frame.line)


def _row(group: list[Compile]) -> LedgerRow:
    newest = group[-1].data
    missed = Counter(one.key.missed for one in group)
    timings = [one.data.timings for one in group]
    return LedgerRow(
        name=newest.name,
        origin=newest.origin,
        where=newest.user_frame,
        entries=tuple(_entry(one) for one in group),
        trace_s=sum(t.trace_s or 0.0 for t in timings),
        lower_s=sum(t.lower_s or 0.0 for t in timings),
        compile_s=sum(t.compile_s or 0.0 for t in timings),
        missed=tuple((layer, missed[layer]) for layer in _LAYERS if missed[layer]),  # type: ignore[index]
        from_disk=sum(one.data.cached == "persistent" for one in group),
        missed_disk=sum(one.key.disk == "miss" for one in group),
        reasons=_reasons([one.reason for one in group if one.reason.kind != "first"]),
    )


def _reasons(reasons: Sequence[Reason]) -> tuple[RepeatedReason, ...]:
    """Groups reasons of one kind about the same things: only their values differ."""
    groups: dict[tuple[object, ...], list[Sentence]] = {}
    for reason in reasons:
        about = tuple((d.kind, d.path, d.dimension) for d in reason.differences) or (reason.sentence,)
        groups.setdefault((reason.kind, about), []).append(reason.sentence)
    found = [
        RepeatedReason(sentence=group[-1], count=len(group), same=len(set(group)) == 1) for group in groups.values()
    ]
    return tuple(sorted(found, key=lambda one: -one.count))


def _entry(one: Compile) -> LedgerEntry:
    data = one.data
    return LedgerEntry(
        index=one.index,
        name=data.name,
        transform=data.transform if data.key is None else data.key.transform,
        timings=data.timings or Timings(),
        disk=data.cached == "persistent",
        thread=one.key.thread,
        cell=data.user_frame.cell if data.user_frame is not None else None,
        reason=one.reason,
    )
