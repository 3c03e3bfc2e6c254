"""The arrays a collective moves, and the names each is known by in the optimized program.

A combined collective moves several arrays for several operations; XLA keeps their names in one string or drops them.
Not its job: which operation of the user's program they stand for (`analyze.causes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pjit_inspect.analyze.phases import split_op_names
from pjit_inspect.model.hlo import HloModule, Instruction
from pjit_inspect.model.shape import Shape
from pjit_inspect.model.source import Frame

__all__ = ["Clue", "ConsumerFinder", "MovedArray", "find_moved_arrays"]

_TUPLED = frozenset(("all-to-all", "ragged-all-to-all"))
_PASSING = frozenset((
    "bitcast", "copy", "transpose", "reshape", "get-tuple-element", "tuple", "convert", "slice", "concatenate",
    "dynamic-slice", "broadcast", "pad", "copy-start", "copy-done", "all-gather", "all-to-all", "collective-permute",
    "all-reduce", "reduce-scatter", "opt-barrier",
))  # fmt: skip
_INTO = frozenset(("fusion", "call", "while", "conditional", "async-start"))
_INDICES = frozenset(("constant", "iota", "partition-id", "replica-id"))
_GIVEN = _INDICES | {"parameter"}
_HOPS = 12
_MOST = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """One name that may say what an array is moved for.

    Attributes:
      op_name: JAX's name of an operation or argument.
      frames: its source frames, innermost first; ().
      origin: "own" for the collective's name, "producer" and "consumer" for those of its neighbours.
    """

    op_name: str
    frames: tuple[Frame, ...]
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedArray:
    """One array of a collective.

    Attributes:
      elements: how many elements one device gives.
      bytes: and how many bytes.
      dtype: XLA's name of the element type.
      clues: the names it is known by, the collective's own first, then those of what makes it.
      makers: names of the operations whose work yields it; () when it is an argument, or several are moved.
    """

    elements: int
    bytes: int
    dtype: str
    clues: tuple[Clue, ...]
    makers: frozenset[str] = frozenset()


def find_moved_arrays(op: Instruction, kind: str) -> tuple[MovedArray, ...]:
    """Every array `op` moves for a reason of its own: one for each operand of a combined collective.

    XLA gives an all-to-all that cuts one array into pieces one operand for each piece: these are one array.
    """
    names = split_op_names(op.op_name)
    operands = _operands(op)
    if kind in _TUPLED or len(operands) < 2:
        return (_array(operands, names, op.frames, op.operands[:1]),)
    own = names if len(names) == len(operands) else (names * len(operands) if len(names) == 1 else ())
    arrays = []
    for position, (operand, shape) in enumerate(operands):
        producer = _named_producer(operand)
        # Where XLA kept one name for several, what makes an operand tells more.
        name = own[position] if own and len(names) > 1 else producer.op_name or (own[0] if own else "")
        is_made_there = producer.op_name == name
        frames = producer.frames if is_made_there else (op.frames if position == 0 or not own else ())
        arrays.append(_array([(operand, shape)], (name,) if name else (), frames, (operand,)))
    return tuple(arrays)


def _operands(op: Instruction) -> list[tuple[Instruction, Shape]]:
    return [(operand, leaf) for operand in op.operands for leaf in operand.shape.leaves if leaf.is_array]


def _array(
    operands: list[tuple[Instruction, Shape]],
    names: tuple[str, ...],
    frames: tuple[Frame, ...],
    producers: tuple[Instruction, ...],
) -> MovedArray:
    shapes = [shape for _, shape in operands]
    own = [Clue(op_name=name, frames=frames, origin="own") for name in names]
    near = [
        Clue(op_name=maker.op_name, frames=maker.frames, origin="producer")
        for producer in producers
        for maker in _named_producers(producer)
    ]
    return MovedArray(
        elements=sum(_elements(shape) for shape in shapes),
        bytes=sum(shape.bytes or 0 for shape in shapes),
        dtype=shapes[0].dtype if shapes else "",
        clues=tuple(dict.fromkeys((*own, *near))),
        makers=_makers(producers[0]) if producers else frozenset(),
    )


def _elements(shape: Shape) -> int:
    count = 1
    for length in shape.dimensions:
        count *= length
    return count


def _makers(op: Instruction) -> frozenset[str]:
    """Names of the operations whose work yields the result of `op`, looked for through what passes it on."""
    for _ in range(_HOPS):
        inside = op.called[0] if op.opcode == "fusion" and op.called else (op,)
        work = [one.op_name for one in inside if one.opcode not in _PASSING | _GIVEN and not _is_scalar(one)]
        given = [operand for operand in op.operands if operand.opcode not in _INDICES]
        if work or len(given) != 1:
            return frozenset(filter(None, work))
        op = given[0]
    return frozenset()


def _is_scalar(op: Instruction) -> bool:
    """Whether it yields one number: what the partitioner computes a place from has the name of the op it is for."""
    return all(_elements(leaf) == 1 for leaf in op.shape.leaves)


def _named_producers(op: Instruction) -> list[Instruction]:
    """The nearest instruction with a name on the way back; and where it only passes on, those before it."""
    found = []
    for _ in range(_HOPS):
        op = _named_producer(op)
        if op.op_name:
            found.append(op)
        if op.opcode not in _PASSING or len(op.operands) != 1:
            break
        op = op.operands[0]
    return found


def _named_producer(op: Instruction) -> Instruction:
    """The nearest instruction with a name on the way back: out of fusions, through those without one."""
    for _ in range(_HOPS):
        if op.opcode == "parameter" and not op.computation.is_entry:
            callers = [caller for caller in op.computation.callers if caller.opcode in ("fusion", "call")]
            number = _number(op)
            if len(callers) != 1 or number >= len(callers[0].operands):
                return op
            op = callers[0].operands[number]
        elif op.op_name:
            return op
        elif op.opcode == "fusion" and op.called:
            op = op.called[0].root
        elif op.operands:
            op = op.operands[0]
        else:
            return op
    return op


def _number(parameter: Instruction) -> int:
    """Which operand of the caller a parameter is; protos leave the number of the first out."""
    return parameter.details.parameter_number or 0


@dataclass(slots=True)
class ConsumerFinder:
    """Finds what uses collectives; the parameters of computations are looked up once."""

    parameters: dict[int, dict[int, Instruction]] = field(default_factory=dict)
    found: dict[int, tuple[tuple[Clue, ...], bool]] = field(default_factory=dict)

    def find(self, op: Instruction) -> tuple[tuple[Clue, ...], bool]:
        """The names of what first does something with the result of `op`, and whether the program's result is it."""
        if op.index not in self.found:
            self.found[op.index] = _find_consumers(op, self.parameters)
        return self.found[op.index]


def _find_consumers(op: Instruction, parameters: dict[int, dict[int, Instruction]]) -> tuple[tuple[Clue, ...], bool]:
    """The names of what first does something with a collective's result, and whether the program's result is it."""
    module, own = op.module, set(split_op_names(op.op_name))
    clues: list[Clue] = []
    seen, border, at_root = {op.index}, [op.index], op.is_root and op.computation.is_entry
    for _ in range(_HOPS):
        reached: list[int] = []
        for index in border:
            for user, entered in _uses(module, index, parameters):
                if user.index in seen or len(seen) > _MOST:
                    continue
                seen.add(user.index)
                at_root |= user.is_root and user.computation.is_entry and not entered and user.opcode in _PASSING
                if user.op_name and user.op_name not in own and user.opcode not in ("tuple", "parameter"):
                    clues.append(Clue(op_name=user.op_name, frames=user.frames, origin="consumer"))
                elif user.opcode in _PASSING or entered or user.opcode in _INTO:
                    reached.append(user.index)
        border = reached
    return tuple(dict.fromkeys(clues)), at_root


def _uses(
    module: HloModule, index: int, parameters: dict[int, dict[int, Instruction]]
) -> Iterator[tuple[Instruction, bool]]:
    """What uses an instruction; the parameter inside, where that runs a computation; the caller, for a root."""
    op = module.instruction(index)
    for user in op.users:
        if user.opcode in _INTO and user.called:
            yield from ((parameter, True) for parameter in _entered(op, user, parameters))
        else:
            yield user, False
    if op.is_root and not op.computation.is_entry:
        yield from ((caller, True) for caller in op.computation.callers if caller.opcode in ("fusion", "call"))


def _entered(
    op: Instruction, caller: Instruction, parameters: dict[int, dict[int, Instruction]]
) -> Iterator[Instruction]:
    """The parameters an operand of a caller is inside; all of them for a loop, which packs its operands."""
    positions = [number for number, operand in enumerate(caller.operands) if operand.index == op.index]
    for computation in caller.called:
        if computation.index not in parameters:
            inner = (one for one in computation if one.opcode == "parameter")
            parameters[computation.index] = {_number(one): one for one in inner}
        known = parameters[computation.index]
        yield from known.values() if caller.opcode == "while" else (known[n] for n in positions if n in known)
