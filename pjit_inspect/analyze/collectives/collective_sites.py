"""Where the collectives of a program stand: one site for each logical collective, however XLA spread it out.

A collective may be one instruction; a start and a done; a computation of its own run by `async-start` (on TPU's
sparsecore through a `call`); on TPU, a fusion around `AsyncCollectiveStart` with *copies* of the collective in the
fusions that run meanwhile and in the one around `AsyncCollectiveDone` (only the start counts); on GPU, a send and a
receive (`analyze.collectives.transfers`); or a ring of permutes in a loop (`analyze.collectives.rings`).
Not its job: what the collective does (`analyze.collectives.collectives`).
"""

from __future__ import annotations

from pjit_inspect.analyze.collectives.rings import find_rings
from pjit_inspect.analyze.collectives.transfers import find_transfers
from pjit_inspect.analyze.program.backend_config import read_backend_config
from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.report.collective import KINDS

__all__ = ["find_sites"]


def find_sites(module: HloModule) -> tuple[CollectiveOp, ...]:
    """Every collective of the program, in the order of its bytes; a ring stands where its first permute does."""
    names = [name for kind in KINDS for name in (kind, f"{kind}-start")]
    ops = [module.instruction(i) for i in module.with_opcode(*names).tolist()]
    fused = [op for op in ops if op.computation.is_fusion]
    sites = [_plain_site(op) for op in ops if not op.computation.is_fusion]
    sites += [*_fused_sites(fused), *find_transfers(module)]
    return _with_rings(module, sorted(sites, key=lambda site: site.op.index))


def _with_rings(module: HloModule, sites: list[CollectiveOp]) -> tuple[CollectiveOp, ...]:
    """The sites, those that form a ring replaced by it."""
    rings = find_rings(module, sites)
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
    """Whether a GPU collective written as start and done waits for its end at the start."""
    config = part.details.backend_config
    return '"is_sync"' in config and bool(read_backend_config(config).is_sync)


def _dones(start: Instruction, opcode: str) -> tuple[Instruction, ...]:
    """The instructions that wait for a start, also through `async-update`."""
    found: list[Instruction] = []
    seen, border = set[int](), [start]
    while border:
        for user in border.pop().users:
            if user.index in seen:
                continue
            seen.add(user.index)
            if user.opcode == opcode:
                found.append(user)
            elif user.opcode == "async-update":
                border.append(user)
    return tuple(found)


def _async_starts(op: Instruction) -> tuple[Instruction, ...]:
    """The `async-start`s that run the computation an instruction stands in, directly or through a `call`."""
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
            sites.append(CollectiveOp(kind=kind, op=op, instructions=op.computation.callers, pairs=pairs))
    return sites


def _started_site(op: Instruction, dones: list[Instruction]) -> CollectiveOp:
    # JAX gives hand-written collectives one channel: the done of one of them cannot be told from another's.
    parts = (*op.computation.callers, *(dones if len(dones) == 1 else ()))
    kind, pairs = op.opcode.removesuffix("-start"), op.details.source_target_pairs
    return CollectiveOp(kind=kind, op=op, instructions=parts, pairs=pairs, is_async=True)


def _key(op: Instruction) -> tuple[str, int | None]:
    """What a collective and its copies share."""
    return op.opcode, op.channel_id


def _role(op: Instruction) -> str:
    """The custom call in the fusion that takes the collective as its operand; "" where there is none."""
    targets = (user.details.custom_call_target for user in op.users if user.opcode == "custom-call")
    return next((target for target in targets if target.startswith("AsyncCollective")), "")


def _is_sliced(op: Instruction) -> bool:
    """Whether a fused all-reduce is only ever sliced: the device keeps its share, as in a reduce-scatter."""
    if op.opcode != "all-reduce":
        return False
    users = [user for use in op.users for user in (use.users if use.opcode == "get-tuple-element" else (use,))]
    return bool(users) and all(user.opcode == "dynamic-slice" for user in users)
