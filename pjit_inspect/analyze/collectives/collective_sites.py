"""Finds the collectives of a program: one site per logical collective, however XLA distributed it.

A collective may be one instruction; a start and a done; a computation of its own run by `async-start` (on TPU's
sparsecore through a `call`); on TPU, a fusion around `AsyncCollectiveStart` with *copies* of the collective in the
fusions that run meanwhile and in the one around `AsyncCollectiveDone` (only the start counts); on GPU, a send and a
receive on one channel; or a ring of permutes in a loop (`analyze.collectives.rings`). Not its job: describing the
collective (`analyze.collectives.collectives`), transfers to and from the host.

*Source*: `collective_permute_decomposer.cc`, `collective_permute_cycle_decomposer.cc` in
`xla/hlo/transforms/collectives`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pjit_inspect.analyze.collectives.rings import find_rings
from pjit_inspect.analyze.program.backend_config import read_backend_config
from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.dataflow import joins
from pjit_inspect.analyze.program.device_groups import are_devices
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.report.collective import KINDS


def find_sites(module: HloModule) -> tuple[CollectiveOp, ...]:
    """Every collective of the program, in the order of its bytes; a ring is placed at its first permute."""
    names = [name for kind in KINDS for name in (kind, f"{kind}-start")]
    ops = [module.instruction(i) for i in module.with_opcode(*names).tolist()]
    fused = [op for op in ops if op.computation.is_fusion]
    sites = [_plain_site(op) for op in ops if not op.computation.is_fusion]
    sites += [*_fused_sites(fused), *_find_transfers(module)]
    return _with_rings(module, sorted(sites, key=lambda site: site.op.index))


def _with_rings(module: HloModule, sites: list[CollectiveOp]) -> tuple[CollectiveOp, ...]:
    """The sites, with permutes of a ring replaced by the ring."""
    rings = find_rings(module, sites) if any(site.kind == "collective-permute" for site in sites) else []
    inside = {member.op.index for ring in rings for member in ring.members}
    kept = [site for site in sites if site.op.index not in inside]
    return tuple(sorted([*kept, *rings], key=lambda site: site.op.index))


def _plain_site(op: Instruction) -> CollectiveOp:
    kind, pairs = op.opcode.removesuffix("-start"), op.details.source_target_pairs
    if kind != op.opcode:
        parts = (op, *_dones(op, f"{kind}-done"))
    else:
        starts = _async_starts(op)
        parts = tuple(part for start in starts for part in (start, *_dones(start, "async-done"))) or (op,)
    is_async = len(parts) > 1 and not any(_runs_in_one_go(part) for part in {op, *parts})
    return CollectiveOp(kind=kind, op=op, instructions=parts, pairs=pairs, is_async=is_async)


def _runs_in_one_go(part: Instruction) -> bool:
    """True if a GPU collective written as start and done waits for its end at the start."""
    config = part.details.backend_config
    return '"is_sync"' in config and bool(read_backend_config(config).is_sync)


def _dones(start: Instruction, opcode: str) -> tuple[Instruction, ...]:
    """The instructions that wait for a start, also through `async-update`."""
    dones: list[Instruction] = []
    seen, border = set[int](), [start]
    while border:
        for user in border.pop().users:
            if user.index in seen:
                continue
            seen.add(user.index)
            if user.opcode == opcode:
                dones.append(user)
            elif user.opcode == "async-update":
                border.append(user)
    return tuple(dones)


def _async_starts(op: Instruction) -> tuple[Instruction, ...]:
    """The `async-start`s that run the computation of an instruction, directly or through a `call`."""
    callers = op.computation.callers
    if len(callers) == 1 and callers[0].opcode == "call":
        callers = callers[0].computation.callers
    return tuple(caller for caller in callers if caller.opcode == "async-start")


def _fused_sites(ops: list[Instruction]) -> list[CollectiveOp]:
    roles = {op.index: _role(op) for op in ops}
    started = {_key(op) for op in ops if roles[op.index] == "AsyncCollectiveStart"}
    dones: dict[tuple[str, int | None], list[Instruction]] = {}
    for op in ops:
        if roles[op.index] == "AsyncCollectiveDone":
            dones.setdefault(_key(op), []).extend(op.computation.callers)
    sites: list[CollectiveOp] = []
    for op in ops:
        if roles[op.index] == "AsyncCollectiveStart":
            sites.append(_started_site(op, dones.get(_key(op), [])))
        elif _key(op) not in started:
            kind = "reduce-scatter" if _is_sliced(op) else op.opcode.removesuffix("-start")
            pairs = op.details.source_target_pairs
            sites.append(CollectiveOp(kind=kind, op=op, instructions=_fusions(op), pairs=pairs))
    return sites


def _fusions(op: Instruction) -> tuple[Instruction, ...]:
    """The fusions that run the computation of an instruction; itself where a damaged program has none."""
    return op.computation.callers or (op,)


def _started_site(op: Instruction, dones: list[Instruction]) -> CollectiveOp:
    # JAX gives hand-written collectives one channel: their dones cannot be distinguished.
    parts = (*_fusions(op), *(dones if len(dones) == 1 else ()))
    kind, pairs = op.opcode.removesuffix("-start"), op.details.source_target_pairs
    return CollectiveOp(kind=kind, op=op, instructions=parts, pairs=pairs, is_async=True)


def _key(op: Instruction) -> tuple[str, int | None]:
    """Key shared by a collective and its copies."""
    return op.opcode, op.channel_id


def _role(op: Instruction) -> str:
    """The custom call in the fusion that takes the collective as its operand; "" where there is none."""
    targets = (user.custom_call_target for user in op.users if user.opcode == "custom-call")
    return next((target for target in targets if target.startswith("AsyncCollective")), "")


def _is_sliced(op: Instruction) -> bool:
    """True if a fused all-reduce is only ever sliced: the device keeps its share, as in a reduce-scatter."""
    if op.opcode != "all-reduce":
        return False
    users = [user for use in op.users for user in (use.users if use.opcode == "get-tuple-element" else (use,))]
    return bool(users) and all(user.opcode == "dynamic-slice" for user in users)


_ATTRIBUTE = "_xla_send_recv_source_target_pairs"
_PAIR = re.compile(r"\{(\d{1,9}),(\d{1,9})\}")


def _find_transfers(module: HloModule) -> list[CollectiveOp]:
    """Every send that is (part of) a collective-permute, grouped by permute, in the order of the bytes."""
    receives = _receives(module)
    transfers: dict[tuple[object, ...], list[CollectiveOp]] = {}
    for index in module.with_opcode("send").tolist():
        send = module.instruction(index)
        site = _site(send, receives)
        if site is None:
            continue
        same = transfers.setdefault((send.computation.index, send.operands[0].index, send.op_name), [])
        if same and _are_halves(same[-1], site):
            same[-1] = _joined(same[-1], site)
        else:
            same.append(site)
    return [site for sites in transfers.values() for site in sites]


_Transfer = tuple[int, int | None, tuple[tuple[int, int], ...]]


def _receives(module: HloModule) -> dict[_Transfer, Instruction]:
    receives = (module.instruction(index) for index in module.with_opcode("recv").tolist())
    return {_transfer(receive): receive for receive in receives}


def _transfer(op: Instruction) -> _Transfer:
    """Key shared by a send and its receive."""
    return op.computation.index, op.channel_id, _pairs(op)


def _pairs(op: Instruction) -> tuple[tuple[int, int], ...]:
    """Pairs of sending and receiving devices; () if unreadable, or if the numbers are impossible."""
    written = op.details.frontend_attributes.get(_ATTRIBUTE, "")
    pairs = tuple((int(source), int(target)) for source, target in _PAIR.findall(written))
    return pairs if are_devices(pairs) else ()


def _site(send: Instruction, receives: dict[_Transfer, Instruction]) -> CollectiveOp | None:
    """The permute of a send; None for one to the host, or one that is none."""
    pairs = _pairs(send)
    if _ATTRIBUTE not in send.details.frontend_attributes or not send.operands or send.details.is_host_transfer:
        return None
    starts = [op for op in (send, receives.get(_transfer(send))) if op is not None]
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
    """True if two transfers of one value share no sender and no receiver, and a device uses the one it received."""
    ends = ([{pair[end] for pair in site.pairs} for end in (0, 1)] for site in (first, second))
    (sources, targets), (more_sources, more_targets) = ends
    if sources & more_sources or targets & more_targets:
        return False
    pairs = ((a, b) for a in _received(first) for b in _received(second))
    return any(joins(user, "select", (a.index, b.index)) for a, b in pairs for user in set(a.users) & set(b.users))


def _received(site: CollectiveOp) -> list[Instruction]:
    """The received values of a transfer."""
    dones = [part for part in site.instructions if part.opcode == "recv-done"]
    return [user for done in dones for user in done.users if user.opcode == "get-tuple-element"]


def _joined(first: CollectiveOp, second: CollectiveOp) -> CollectiveOp:
    parts = _in_schedule_order((*first.instructions, *second.instructions))
    pairs = tuple(sorted((*first.pairs, *second.pairs)))
    return replace(first, instructions=parts, pairs=pairs)
