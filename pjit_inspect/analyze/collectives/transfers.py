"""Collective-permutes that XLA wrote as a send and a receive, as it does on GPU to overlap them better.

`recv`, `send`, `recv-done` and `send-done` on one channel are one permute: its pairs stand in a frontend attribute. A
permute around a ring is split further, in one without the way back and one with nothing else; both send the same
value and are put together where they arrive. Not its job: transfers to and from the host.

*Source*: `xla/hlo/transforms/collectives/collective_permute_decomposer.cc`, `collective_permute_cycle_decomposer.cc`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.dataflow import joins
from pjit_inspect.model.program.hlo import HloModule, Instruction

__all__ = ["find_transfers"]

_ATTRIBUTE = "_xla_send_recv_source_target_pairs"
_PAIR = re.compile(r"\{(\d{1,9}),(\d{1,9})\}")


def find_transfers(module: HloModule) -> list[CollectiveOp]:
    """Every send that is (part of) a collective-permute, those of one permute together, in the order of the bytes."""
    receives = _receives(module)
    found: dict[tuple[object, ...], list[CollectiveOp]] = {}
    for index in module.with_opcode("send").tolist():
        send = module.instruction(index)
        site = _site(send, receives)
        if site is None:
            continue
        same = found.setdefault((send.computation.index, send.operands[0].index, send.op_name), [])
        if same and _are_halves(same[-1], site):
            same[-1] = _joined(same[-1], site)
        else:
            same.append(site)
    return [site for sites in found.values() for site in sites]


_Key = tuple[int, int | None, tuple[tuple[int, int], ...]]


def _receives(module: HloModule) -> dict[_Key, Instruction]:
    receives = (module.instruction(index) for index in module.with_opcode("recv").tolist())
    return {_key(receive): receive for receive in receives}


def _key(op: Instruction) -> _Key:
    """What a send and its receive share."""
    return op.computation.index, op.channel_id, _pairs(op)


def _pairs(op: Instruction) -> tuple[tuple[int, int], ...]:
    written = op.details.frontend_attributes.get(_ATTRIBUTE, "")
    return tuple((int(source), int(target)) for source, target in _PAIR.findall(written))


def _site(send: Instruction, receives: dict[_Key, Instruction]) -> CollectiveOp | None:
    """The permute of a send; None for one to the host, or one that does not say where it goes."""
    pairs = _pairs(send)
    if not pairs or not send.operands or send.details.is_host_transfer:
        return None
    starts = [op for op in (send, receives.get(_key(send))) if op is not None]
    dones = [user for op in starts for user in op.users if user.opcode in ("send-done", "recv-done")]
    return CollectiveOp(
        kind="collective-permute",
        op=send,
        instructions=_in_schedule_order((*starts, *dones)),
        pairs=pairs,
        is_async=bool(dones),
    )


def _in_schedule_order(parts: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    return tuple(sorted(parts, key=lambda part: part.module.places[part.index]))


def _are_halves(first: CollectiveOp, second: CollectiveOp) -> bool:
    """Whether two transfers of one value have no sender and no receiver in common, and a device takes what it got."""
    ends = ([{pair[end] for pair in site.pairs} for end in (0, 1)] for site in (first, second))
    (sources, targets), (more_sources, more_targets) = ends
    if sources & more_sources or targets & more_targets:
        return False
    pairs = ((a, b) for a in _received(first) for b in _received(second))
    return any(joins(user, "select", (a.index, b.index)) for a, b in pairs for user in set(a.users) & set(b.users))


def _received(site: CollectiveOp) -> list[Instruction]:
    """What a transfer received."""
    dones = [part for part in site.instructions if part.opcode == "recv-done"]
    return [user for done in dones for user in done.users if user.opcode == "get-tuple-element"]


def _joined(first: CollectiveOp, second: CollectiveOp) -> CollectiveOp:
    parts = _in_schedule_order((*first.instructions, *second.instructions))
    pairs = tuple(sorted((*first.pairs, *second.pairs)))
    return replace(first, instructions=parts, pairs=pairs)
