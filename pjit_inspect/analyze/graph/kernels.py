"""Finds the kernels of a program in the order they run, and the kernel each of their values comes from.

A kernel is a unit that a device runs by itself. Instructions that rename, pack, copy or prefetch a value are plumbing,
and so are the second halves of asynchronous operations: values are traced through them. Loops, branches and calls are
no kernels; the instructions they run are. Not its job: the place of a kernel in the user's program
(`analyze.graph.placing`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.graph.values import MAKER, NOTHING, PASSER, Reads, trace_values
from pjit_inspect.analyze.program.custom_calls import describe_custom_call, workspace_of
from pjit_inspect.analyze.program.loops import Running, find_running, number_of
from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.report.graph_columns import GraphReads

_NOTHING = operations("made", "token", "parameter")
_PASSING = operations("tuple", "region", "rename", "copy", "barrier")
_HALVES = ("-done", "-update")
_MOVES = operations("idle", "copy", "slice")
"""Opcodes of a body that only moves a part of its operand: a prefetch."""

_NO_WORK = frozenset(("sharding", "memory", "note", "async"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelList:
    """The kernels of one program.

    Attributes:
      module: the program.
      running: its running computations.
      rows: the instruction of each kernel, in schedule order.
      loops: the innermost loop around each kernel, as a row of `running.loops`; -1.
      numbers: for each instruction, its kernel; -1 for none.
      result_bytes: bytes of each kernel's result on one device, without the workspace of a library; -1 when unknown.
      before: for each instruction that runs, the number of kernels before it; -1 for any other.
      reads: the values kernels take.
      parameters: number of each of the program's arguments -> its instruction.
      edges: pairs of kernels of which the second takes a value of the first, which is before it in the schedule: there
        are no cycles. Values carried by a loop are omitted.
      producers, users: for each kernel the kernels whose values it takes, and those that take its values, ascending.
      results: as in `ProgramGraph`.
    """

    module: HloModule
    running: Running
    rows: np.ndarray
    loops: list[int]
    numbers: np.ndarray
    result_bytes: np.ndarray
    before: np.ndarray
    reads: GraphReads
    parameters: dict[int, int]
    edges: np.ndarray
    producers: list[list[int]]
    users: list[list[int]]
    results: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def host(self, index: int) -> int:
        """The kernel that an instruction is, or is part of; -1 for plumbing and for unreachable instructions."""
        if self.numbers[index] >= 0:
            return int(self.numbers[index])
        owner = int(self.running.owner[self.module.instructions.computation[index]])
        return int(self.numbers[owner]) if owner >= 0 else -1


def find_kernels(module: HloModule) -> KernelList:
    """The kernels of a program, and the values they take."""
    running = find_running(module)
    order = np.array(running.order, np.int64)
    roles = _roles(module, order)
    rows = order[roles[order] == MAKER]
    numbers = np.full(len(module), -1, np.int32)
    numbers[rows] = np.arange(len(rows), dtype=np.int32)
    before = np.full(len(module), -1, np.int32)
    before[order] = np.cumsum(roles[order] == MAKER) - (roles[order] == MAKER)
    # A damaged program may give its arguments any numbers.
    entry = {number_of(module, row): row for row in module.computation(module.entry).parameters.tolist()}
    parameters = {number: row for number, row in entry.items() if 0 <= number < len(module)}
    arguments = np.full(len(module), -1, np.int32)
    arguments[list(parameters.values())] = list(parameters)
    raw, results = trace_values(module, running, roles)
    source, target = numbers[raw.source], numbers[raw.target]
    reads = GraphReads(
        target=target,
        operand=raw.operand.astype(np.int32),
        source=source,
        argument=arguments[raw.source],
        element=raw.element.astype(np.int32),
        bytes=_sizes(module, raw).astype(np.int64),
        carried=raw.carried | (source >= target),
    )
    kept = (source >= 0) & ~reads.carried
    pairs = np.unique(source[kept].astype(np.int64) * len(rows) + target[kept])
    edges = np.stack(np.divmod(pairs, max(1, len(rows))), axis=1)
    producers, users = ([list[int]() for _ in rows] for _ in range(2))
    for maker, taker in zip(edges[:, 0].tolist(), edges[:, 1].tolist(), strict=True):
        producers[taker].append(maker)
        users[maker].append(taker)
    return KernelList(
        module=module,
        running=running,
        rows=rows,
        loops=[running.loop_of[computation] for computation in module.instructions.computation[rows].tolist()],
        numbers=numbers,
        result_bytes=_result_bytes(module, rows),
        before=before,
        reads=reads,
        parameters=parameters,
        edges=edges,
        producers=producers,
        users=users,
        results=tuple((int(numbers[row]), int(arguments[row])) if row >= 0 else (-1, -1) for row in results),
    )


def _result_bytes(module: HloModule, rows: np.ndarray) -> np.ndarray:
    sizes = module.result_bytes[rows].copy()
    for number in np.flatnonzero(module.is_opcode(("custom-call",))[rows] & (sizes > 0)).tolist():
        try:
            sizes[number] -= workspace_of(module.instruction(int(rows[number])))
        except ParseError:
            continue
    return sizes


def _roles(module: HloModule, order: np.ndarray) -> np.ndarray:
    """For each instruction, whether it makes a value, passes one on, or has nothing worth showing."""
    by_opcode = np.array([_role(opcode) for opcode in module.opcodes], np.int8)
    roles = by_opcode[module.instructions.opcode]
    moves: dict[int, bool] = {}
    for index in order[module.is_opcode(("custom-call", "fusion", "async-start"))[order]].tolist():
        if not _works(module, index, moves):
            roles[index] = PASSER
    return roles


def _role(opcode: str) -> int:
    if opcode in _NOTHING:
        return NOTHING
    return PASSER if opcode in _PASSING or opcode.endswith(_HALVES) else MAKER


def _works(module: HloModule, index: int, moves: dict[int, bool]) -> bool:
    """True if a custom call, fusion or asynchronous operation does more than move data."""
    opcode = module.opcodes[module.instructions.opcode[index]]
    called = module.instructions.called[index].tolist()
    try:
        if opcode == "custom-call":
            return describe_custom_call(module.instruction(index)).role not in _NO_WORK
        if opcode == "fusion":
            root = module.instruction(int(module.computations.root[called[0]])) if called else None
            if root is None or root.opcode != "custom-call":
                return True
            return root.custom_call_target != "AsyncCollectiveDone"
    except ParseError:
        return True
    return not all(_only_moves(module, computation, moves) for computation in called)


def _only_moves(module: HloModule, computation: int, known: dict[int, bool]) -> bool:
    """True if a computation only passes on its operands, or parts of them."""
    if computation not in known:
        row = module.computation(computation).range
        opcodes = {module.opcodes[k] for k in np.unique(module.instructions.opcode[row.start : row.stop]).tolist()}
        known[computation] = opcodes <= _MOVES
    return known[computation]


def _sizes(module: HloModule, reads: Reads) -> np.ndarray:
    """Bytes of each value taken: of the operand, or of its source where the operand packs several."""
    operands = module.result_bytes[reads.operand_row]
    same = np.zeros(len(reads.target), bool)
    if len(same) > 1:
        repeats = (reads.target[1:] == reads.target[:-1]) & (reads.operand[1:] == reads.operand[:-1])
        same[1:] |= repeats
        same[:-1] |= repeats
    sources = module.result_bytes[reads.source]
    return np.maximum(np.where(same, np.minimum(operands, sources), operands), 0)


def changes(*columns: np.ndarray) -> np.ndarray:
    """True if each row differs from the row before it; the first one does."""
    changed = np.ones(len(columns[0]), bool)
    changed[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return changed
