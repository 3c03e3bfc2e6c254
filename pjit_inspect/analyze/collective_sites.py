"""Where the collectives of a program stand: one site for each logical collective, however XLA spread it out.

A collective may be one instruction; a start and a done; a computation of its own run by `async-start` (on TPU's
sparsecore through a `call`); or, on TPU, a fusion around `AsyncCollectiveStart` with *copies* of the collective in
the fusions that run meanwhile and in the one around `AsyncCollectiveDone`. Only the start counts.
Not its job: what the collective does (`analyze.collectives`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.hlo import HloModule, Instruction

__all__ = ["KINDS", "Site", "find_sites"]

KINDS = (
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "ragged-all-to-all",
)
"""XLA's opcodes of collectives, without "-start" and "-done"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One logical collective.

    Attributes:
      kind: one of `KINDS`; "reduce-scatter" also for an all-reduce that is fused with slicing its result.
      op: the instruction that says what it does (groups, operands).
      instructions: those it consists of where it is scheduled, in order: one, or start and done.
    """

    kind: str
    op: Instruction
    instructions: tuple[Instruction, ...]


def find_sites(module: HloModule) -> tuple[Site, ...]:
    """Every collective of the program, in the order of its bytes."""
    names = [name for kind in KINDS for name in (kind, f"{kind}-start")]
    ops = [module.instruction(i) for i in module.with_opcode(*names).tolist()]
    fused = [op for op in ops if op.computation.is_fusion]
    sites = [_plain_site(op) for op in ops if not op.computation.is_fusion]
    sites += _fused_sites(fused)
    return tuple(sorted(sites, key=lambda site: site.op.index))


def _plain_site(op: Instruction) -> Site:
    kind = op.opcode.removesuffix("-start")
    if kind != op.opcode:
        return Site(kind=kind, op=op, instructions=(op, *_dones(op, f"{kind}-done")))
    starts = _async_starts(op)
    spread = tuple(part for start in starts for part in (start, *_dones(start, "async-done")))
    return Site(kind=kind, op=op, instructions=spread or (op,))


def _dones(start: Instruction, opcode: str) -> tuple[Instruction, ...]:
    """The instructions that wait for a start, also through `async-update`."""
    found: list[Instruction] = []
    for user in start.users:
        if user.opcode == opcode:
            found.append(user)
        elif user.opcode == "async-update":
            found.extend(_dones(user, opcode))
    return tuple(found)


def _async_starts(op: Instruction) -> tuple[Instruction, ...]:
    """The `async-start`s that run the computation an instruction stands in, directly or through a `call`."""
    callers = op.computation.callers
    if len(callers) == 1 and callers[0].opcode == "call":
        callers = callers[0].computation.callers
    return tuple(caller for caller in callers if caller.opcode == "async-start")


def _fused_sites(ops: list[Instruction]) -> list[Site]:
    roles = {op.index: _role(op) for op in ops}
    started = {_key(op) for op in ops if roles[op.index] == "AsyncCollectiveStart"}
    dones: dict[tuple[str, int | None], list[Instruction]] = {}
    for op in ops:
        if roles[op.index] == "AsyncCollectiveDone":
            dones.setdefault(_key(op), []).extend(op.computation.callers)
    sites: list[Site] = []
    for op in ops:
        if roles[op.index] == "AsyncCollectiveStart":
            done = dones.get(_key(op), [])
            # JAX gives hand-written collectives one channel: the done of one of them cannot be told from another's.
            parts = (*op.computation.callers, *(done if len(done) == 1 else ()))
            sites.append(Site(kind=op.opcode, op=op, instructions=parts))
        elif _key(op) not in started:
            kind = "reduce-scatter" if _is_sliced(op) else op.opcode.removesuffix("-start")
            sites.append(Site(kind=kind, op=op, instructions=op.computation.callers))
    return sites


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
