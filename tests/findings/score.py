"""How many of the planted faults are found, as a table.

`scripts/findings` prints it. A fault counts as found when one finding has its kind, line, words and
remedy, and the remedy, made in the code, helps the compiled program. Not its job: the programs (`faults`, `clean`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax

import pjit_inspect as pi
from findings.case import Fault
from findings.on_tpu import path_of
from pjit_inspect.model.report.advice import Advice

__all__ = ["Scored", "line_of", "record_of", "score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What came of one fault.

    Attributes:
      failures: what is not as it was written down; () when all is.
      others: the kinds of the findings that nobody planted.
      before, after: what the remedy saves, in the compiled program as it is and with the remedy in its code.
      seconds: how long the findings took.
    """

    failures: tuple[str, ...]
    others: tuple[str, ...]
    before: int
    after: int
    seconds: float


@cache
def record_of(fault: Fault, *, fixed: bool = False) -> Any:
    """The record of a fault's program; compiled once per process."""
    # JAX traces an inner jitted function of its own once, and keeps the lines of whoever called it first.
    jax.clear_caches()
    if fault.is_kept:
        return pi.load(path_of(fault.build, fixed=fixed))
    function, arguments = fault.build(fixed=fixed)
    if not fault.is_called:
        return pi.inspect(function, *arguments)
    with pi.capture() as log:
        function(*arguments)
    return max(log, key=lambda record: len(record.inputs))


def score(fault: Fault) -> Scored:
    """One fault, held against what was written down."""
    record = record_of(fault)
    assert record.report is not None
    start = time.perf_counter()
    found = list(record.findings)
    seconds = time.perf_counter() - start
    own = next((one for one in found if one.kind == fault.kind), None)
    # Where nothing is known that would help, there is nothing to compare with.
    fixed = record_of(fault, fixed=True) if fault.remedy else record
    before, after = (measured(fault, one) for one in (record, fixed))
    failures = [f"no finding of kind {fault.kind}"] if own is None else differences(fault, own, record)
    if after >= before and fault.remedy:
        failures.append(f"the remedy does not help: {before} -> {after}")
    others = tuple(one.kind for one in found if one is not own)
    return Scored(failures=tuple(failures), others=others, before=before, after=after, seconds=seconds)


def differences(fault: Fault, own: Advice, record: Any) -> list[str]:
    wanted = record.user_frame.line if fault.line == "call" else fault.place
    line = own.source[0].line if own.source else None
    failures = [] if line == wanted else [f"line {line} instead of {wanted}"]
    failures += [f"the sentence lacks {words}: {own.sentence}" for words in fault.says if words not in own.sentence]
    failures += [f"the remedy lacks {words}: {own.change}" for words in fault.remedy if words not in own.change]
    if fault.tried != bool(own.edits):
        failures.append("it was not tried" if fault.tried else "it was tried")
    if own.edits and own.cost_bytes <= 0:
        failures.append(f"tried, and it does not help: {own.sent}, {own.memory}")
    return failures


def measured(fault: Fault, record: Any) -> int:
    """What the remedy is to save, of one compiled program."""
    if fault.saves == "sent":
        return sum(row.wire_bytes * (1 if row.count is None else row.count) for row in record.collectives)
    if fault.saves == "held":
        return sum(layout.bytes_per_device or 0 for layout in record.inputs)
    if fault.saves == "arguments":
        return record.memory.argument_bytes
    if fault.saves == "copies":
        return len(record.reason.resharded)
    memory = record.memory
    return memory.argument_bytes + memory.output_bytes - memory.alias_bytes


def line_of(fault: Fault, scored: Scored) -> str:
    """The fault's line of the table."""
    mark = "; ".join(scored.failures) or "found"
    others = f"; also {', '.join(scored.others)}" if scored.others else ""
    sizes = f"{fault.saves} {scored.before:,} -> {scored.after:,}"
    return f"{fault.name:<48} {fault.kind:<20} {sizes:<34} {scored.seconds:4.1f} s  {mark}{others}"
