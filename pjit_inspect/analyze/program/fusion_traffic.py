"""Counts the bytes of operands and results that a fused kernel touches, where it does not touch all.

A fusion that slices an operand reads the slice, and one that updates a slice of an operand in place reads and writes
that slice: counted as XLA's cost analysis counts. Everything else is read and written whole.
Not its job: what the intermediate results would cost (`analyze.program.fusions`).

*Source*: `HloCostAnalysis::FusionParameterReadBytes` and `HandleFusion` in `xla/service/hlo_cost_analysis.cc`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pjit_inspect.model.program.hlo import Computation, Instruction
from pjit_inspect.model.program.opcodes import operations

_SLICES = operations("part")
_DEEPEST = 20
"""Views of views that are looked through."""


def bytes_read(fusion: Instruction, *, without: Collection[int] = ()) -> int | None:
    """Bytes of the operands that one run reads on one device; None when a width is unknown.

    An operand that is given twice is read once; the instructions `without` are not counted.
    """
    module = fusion.module
    touched: dict[int, list[int | None]] = {}
    if fusion.called:
        operands = module.instructions.operands[fusion.index].tolist()
        for number, part in _parameters(fusion.called[0]):
            if 0 <= number < len(operands):
                touched.setdefault(operands[number], []).append(part)
    total = 0
    for operand in dict.fromkeys(module.instructions.operands[fusion.index].tolist()):
        if operand in without:
            continue
        whole = int(module.result_bytes[operand])
        if whole < 0:
            return None
        parts = touched.get(operand, [None])
        total += whole if None in parts else min(whole, sum(part for part in parts if part is not None))
    return total


def is_plain(body: Computation) -> bool:
    """True if a fusion with this body reads all of its operands and writes all of its result."""
    updates = _updates(body)
    parameters = (value for value in body if value.opcode == "parameter")
    return not updates and all(_touched(value, updates, _DEEPEST) is None for value in parameters)


def _parameters(body: Computation) -> Iterator[tuple[int, int | None]]:
    """The number of each parameter of a fusion's body, and the bytes of it that are read; None for all.

    Nothing when each is read whole: numbers are decoded one by one.
    """
    updates = _updates(body)
    parts = [(value, _touched(value, updates, _DEEPEST)) for value in body if value.opcode == "parameter"]
    if any(part is not None for _, part in parts):
        yield from ((value.number, part) for value, part in parts)


def _touched(value: Instruction, updates: dict[int, int], depth: int) -> int | None:
    """Bytes that are read of a value in a fusion's body when all its users take slices; None for all of it."""
    if value.is_root or not depth:
        return None
    total = 0
    for user in value.users:
        part = _taken(user, value, updates, depth)
        if part is None or part < 0:
            return None
        total += part
    return total


def _taken(user: Instruction, value: Instruction, updates: dict[int, int], depth: int) -> int | None:
    """Bytes that one user reads of a value; None for all of it."""
    module, opcode = user.module, user.opcode
    if opcode == "bitcast":
        return _touched(user, updates, depth - 1)
    operands = module.instructions.operands[user.index].tolist()
    if operands[0] != value.index or operands.count(value.index) > 1:
        return None
    if opcode in _SLICES:
        return int(module.result_bytes[user.index])
    return updates.get(user.index)


def bytes_written(fusion: Instruction) -> int | None:
    """Bytes of the results that one run writes on one device; None when a width is unknown."""
    module, updates = fusion.module, _updates(fusion.called[0]) if fusion.called else {}
    if not updates:
        size = int(module.result_bytes[fusion.index])
        return None if size < 0 else size
    sizes = [updates.get(index, int(module.result_bytes[index])) for index in _results(fusion.called[0])]
    return None if any(size < 0 for size in sizes) else sum(sizes)


def _results(body: Computation) -> list[int]:
    """The instructions whose values a fusion's body returns, seen through bitcasts."""
    root = body.root
    given = root.operands if root.opcode == "tuple" else (root,)
    return [_viewed(value).index for value in given]


def _viewed(value: Instruction) -> Instruction:
    """The value at the start of a chain of bitcasts."""
    for _ in range(_DEEPEST):
        if value.opcode != "bitcast" or not value.operands:
            break
        value = value.operands[0]
    return value


def _updates(body: Computation) -> dict[int, int]:
    """The results of a fusion's body that update a slice of a parameter in place -> bytes of the slice."""
    found = {}
    for index in _results(body):
        result = body.module.instruction(index)
        operands = result.operands
        if result.opcode == "dynamic-update-slice" and len(operands) > 1 and _viewed(operands[0]).opcode == "parameter":
            found[index] = int(body.module.result_bytes[operands[1].index])
    return found
