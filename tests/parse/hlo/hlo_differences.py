"""Two readings of the same HLO text compared in everything: XLA's parser through a proto, and our text reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from pjit_inspect.model.program.hlo import Computation, HloModule, Instruction

# What may differ, and why:
FILLED_IN = frozenset((
    "other.batch_group_count",
    "other.comparison_order",
    "other.comparison_type",
    "other.custom_call_api_version",
    "other.feature_group_count",
    "other.precision_config",
))  # fmt: skip
"""XLA's parser fills in what the text leaves out; we do not."""

KEPT = frozenset(("device_counts", "other.literal"))
"""The text says more than a proto that XLA's parser makes: how many devices there are, and constants as written."""

ZERO = frozenset(("parameter_number",))
"""A proto made by XLA leaves out the number 0."""

WRAPPED = frozenset(("backend_config", "frames", "op_name", "scheduling_name"))
"""XLA prints `slice-start(...)` for an async-start and the slice it runs. Its parser gives that slice what stands at
the `slice-done`, we what stands at the `slice-start`."""

EXPECTED = FILLED_IN | KEPT | ZERO | frozenset(f"wrapped {what}" for what in WRAPPED) | {"renamed"}


def differences(theirs: HloModule, ours: HloModule, *, every: int = 1) -> Counter[str]:
    """What differs, and how often; details are compared for one in `every` instructions.

    Computations and instructions are matched by name; those of scheduled computations by their place in the schedule,
    because XLA's parser renames an instruction whose name it has given to another ("renamed").
    """
    found: Counter[str] = Counter()
    for what in (
        "name",
        "is_scheduled",
        "aliases",
        "donors",
        "frontend_attributes",
        "device_counts",
        "opcode_counts",
        "unknown",
    ):
        found[what] += getattr(theirs, what) != getattr(ours, what)
    for a, b in _matched_computations(theirs, ours):
        found.update(_compare_computations(a, b, every))
    return +found


def _matched_computations(theirs: HloModule, ours: HloModule) -> Iterator[tuple[Computation, Computation]]:
    """Pairs of the same computation; the names of wrapped ones are made up, so these go by the instruction that runs
    them."""
    wrapped = _wrapped(theirs), _wrapped(ours)
    by_name = [
        {c.name: c for c in map(module.computation, range(len(module.computations))) if c.index not in inner}
        for module, inner in zip((theirs, ours), wrapped, strict=True)
    ]
    assert by_name[0].keys() == by_name[1].keys()
    yield from ((by_name[0][name], by_name[1][name]) for name in by_name[0])
    starts = theirs.with_opcode("async-start").tolist(), ours.with_opcode("async-start").tolist()
    for a, b in zip(
        *(sorted(map(m.instruction, s), key=lambda i: i.name) for m, s in zip((theirs, ours), starts, strict=True)),
        strict=True,
    ):
        assert a.name == b.name
        yield from zip(a.called, b.called, strict=True)


def _wrapped(module: HloModule) -> set[int]:
    starts = map(module.instruction, module.with_opcode("async-start").tolist())
    return {called.index for start in starts for called in start.called if called.name.startswith("async_wrapped")}


def _compare_computations(a: Computation, b: Computation, every: int) -> Iterator[str]:
    assert len(a) == len(b), (a, b)
    is_wrapped = a.name.startswith("async_wrapped")
    pairs = list(_matched_instructions(a, b))
    same = {x.index: y.index for x, y in pairs}
    if (a.is_fusion, a.is_entry, _thread(a)) != (b.is_fusion, b.is_entry, _thread(b)) or same[
        a.root.index
    ] != b.root.index:
        yield f"computation {a.name}"
    for number, (x, y) in enumerate(pairs):
        if not is_wrapped and x.name != y.name:
            yield "renamed"
        for what in _compare_instructions(x, y, same, with_details=number % every == 0):
            yield f"wrapped {what}" if is_wrapped and what in WRAPPED else what


def _thread(computation: Computation) -> str:
    return computation.module.computations.threads[computation.index]


def _matched_instructions(a: Computation, b: Computation) -> Iterator[tuple[Instruction, Instruction]]:
    if a.module.is_scheduled and not a.is_fusion:
        order = zip(a.order.tolist(), b.order.tolist(), strict=True)
        yield from ((a.module.instruction(x), b.module.instruction(y)) for x, y in order)
    elif a.name.startswith("async_wrapped"):
        yield from zip(a, b, strict=True)
    else:
        by_name = {instruction.name: instruction for instruction in b}
        yield from ((x, by_name[x.name]) for x in a)


def _compare_instructions(x: Instruction, y: Instruction, same: dict[int, int], *, with_details: bool) -> Iterator[str]:
    for what in ("opcode", "shape", "op_name", "channel_id", "frames"):
        if getattr(x, what) != getattr(y, what):
            yield what
    for what in ("operands", "control"):
        theirs, ours = (getattr(i.module.instructions, what)[i.index].tolist() for i in (x, y))
        if [same[index] for index in theirs] != ours:
            yield what
    called = [[c.name for c in i.called if not c.name.startswith("async_wrapped")] for i in (x, y)]
    if called[0] != called[1] or len(x.called) != len(y.called):
        yield "called"
    if with_details:
        yield from _compare_details(x.details, y.details)


def _compare_details(theirs: Any, ours: Any) -> Iterator[str]:
    for field in fields(theirs):
        a, b = getattr(theirs, field.name), getattr(ours, field.name)
        if field.name == "other":
            yield from (f"other.{key}" for key in a.keys() | b.keys() if a.get(key) != b.get(key))
        elif a != b:
            yield field.name
