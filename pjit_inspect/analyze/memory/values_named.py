"""Names buffers for people, and finds their shardings: arguments by path, others by their source text.

A value is named by the operation that computed its elements. XLA names a copy after the operation that wants it: copies
are traced back, within fusions too. The operation is matched to a value of the program before partitioning only if
JAX's name, the element type and the number of elements on a device match (XLA reshapes freely), and all matches agree.
Not its job: the purpose of a buffer (`analyze.memory.memory_use`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from pjit_inspect.analyze.memory.live_ranges import LiveRanges
from pjit_inspect.analyze.program.custom_calls import describe_custom_call, workspace_of
from pjit_inspect.analyze.program.loops import number_of
from pjit_inspect.analyze.program.phases import find_phase, split_op_names
from pjit_inspect.analyze.program.source import UserFiles, user_frames
from pjit_inspect.model.memory.buffer_assignment import BufferAssignment
from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh, PartitionSpec, axes_of, entry_of, local_shape
from pjit_inspect.model.program.opcodes import DOTS, PRODUCTS, SUMS, VIEWS, operations
from pjit_inspect.model.program.primitive import JAX_SCOPES, users_word
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.collective import Collective, CollectiveTable, Phase
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding

_MOVES = VIEWS | operations("copy")
"""Opcodes whose result has the elements of their first operand, unchanged."""
_COMPUTES_PRODUCTS = PRODUCTS | {"custom-call"}
_MOST_STEPS = 20
_PREFIX: dict[Phase, str] = {"backward": "gradient of ", "recompute": "recomputed "}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFacts:
    """Further facts about a program.

    Attributes:
      inputs: the arguments that it reads, in order; () if they do not match the program's.
      outputs: the results, with the arguments they take over.
      graph: its kernels with their phases; None if there is none.
      collectives: its collectives.
      shardings: the values of the program before partitioning.
      mesh: the mesh of the specs.
      platform: "cpu", "tpu", "gpu", or "" for unknown.
      files: the user's files.
      xla_temporary_bytes: bytes that XLA reserves for temporaries; None if it does not say.
      assignment: XLA's buffer assignment; None if unknown.
      replaced: the arguments that are returned with new values, by the name of their tree (`analyze.advice`).
    """

    inputs: Sequence[ArrayLayout] = ()
    outputs: Sequence[ArrayLayout] = ()
    graph: ProgramGraph | None = None
    collectives: CollectiveTable = field(default_factory=lambda: CollectiveTable(()))
    shardings: ShardingTable = field(default_factory=ShardingTable)
    mesh: Mesh | None = None
    platform: str = ""
    files: UserFiles = field(default_factory=UserFiles)
    xla_temporary_bytes: int | None = None
    assignment: BufferAssignment | None = None
    replaced: Mapping[str, Sequence[ArrayLayout]] = field(default_factory=dict)


class Described(NamedTuple):
    """Facts about a named value."""

    name: str
    spec: PartitionSpec | None
    global_shape: tuple[int, ...] | None
    source: tuple[Frame, ...] = ()
    op_name: str = ""
    phase: Phase = None
    local_shape: tuple[int, ...] = ()


class Maker(NamedTuple):
    """The instruction that computed a value's elements, its kernel (or itself), and whether others moved them since."""

    instruction: int
    kernel: int
    is_moved: bool


class Describer:
    """Names for the values of one program."""

    def __init__(self, ranges: LiveRanges, facts: MemoryFacts) -> None:
        self._ranges, self._facts = ranges, facts
        self._rows: dict[str, dict[tuple[str, int], list[ValueSharding]]] = defaultdict(lambda: defaultdict(list))
        self._operations: dict[tuple[str, str], set[str]] = defaultdict(set)
        for row in facts.shardings:
            if row.op_name:
                self._rows[row.op_name][row.dtype, math.prod(row.local_shape)].append(row)
                self._operations[_text_and_place(row)].add(row.op)
        self._collective_of = {name: row for row in facts.collectives for name in row.instructions}

    def collective(self, instruction: int) -> Collective | None:
        """The collective that an instruction is (part of); None for any other."""
        return self._collective_of.get(self._ranges.module.reader.name(instruction))

    def argument(self, node: int) -> ArrayLayout | None:
        """The argument that a node is; None where it is none, or the program's arguments are not the record's."""
        if node not in self._ranges.given:
            return None
        number, inputs = number_of(self._ranges.module, self._ranges.owner[node]), self._facts.inputs
        return inputs[number] if number < len(inputs) else None

    def maker(self, node: int) -> Maker:
        """The instruction that computed a value, traced back through instructions that only move it."""
        ranges = self._ranges
        kernel = at = ranges.owner[node]
        number, is_moved, fusions = node - ranges.first[kernel], False, list[int]()
        for _ in range(_MOST_STEPS):
            opcode, operands = ranges.opcode_of(at), ranges.operands(at)
            if opcode == "fusion" and len(ranges.called(at)) == 1:
                fusions.append(at)
                at = ranges.root(ranges.called(at)[0])
                if ranges.opcode_of(at) == "tuple" and number < len(ranges.operands(at)):
                    at = ranges.operands(at)[number]
                number = 0
            elif opcode == "parameter" and fusions:
                outside, place = ranges.operands(fusions.pop()), number_of(ranges.module, at)
                if place >= len(outside):
                    break
                at, is_moved = outside[place], True
            elif opcode == "get-tuple-element" and operands:
                at, number = operands[0], number_of(ranges.module, at)
            elif opcode in _MOVES and operands:
                at, is_moved = operands[0], is_moved or not fusions
            else:
                return Maker(at, fusions[0] if fusions else at, is_moved)
        return Maker(kernel, kernel, is_moved=False)

    def written_dtype(self, node: int, op_name: str) -> str:
        """The element type that the program has a value in before optimization; "" where that is not known."""
        layout, dtype = self.argument(node), self._ranges.shape(node).dtype
        if layout is not None:
            return short_dtype(layout.dtype)
        names = (op_name, *split_op_names(op_name))
        found = {dtype for name in names for dtype, _ in self._rows.get(name, ())}
        return dtype if dtype in found else found.pop() if len(found) == 1 else ""

    def collective_axes(self, node: int) -> tuple[str, ...]:
        """The mesh axes of collectives that take a value, make it, or make an array as large that it follows from."""
        if not self._collective_of:
            return ()
        ranges, size = self._ranges, math.prod(self._ranges.shape(node).dimensions)
        found = list(map(self.collective, ranges.module.users[ranges.owner[node]].tolist()))
        border = seen = [self.maker(node).kernel]
        for _ in range(_MOST_STEPS):
            # A product sums over another dimension; an elementwise operation is whole where its operands are.
            made = [self.collective(kernel) for kernel in border]
            inner = [kernel for kernel, one in zip(border, made, strict=True) if one is None]
            given = (one for kernel in inner if ranges.opcode_of(kernel) not in DOTS for one in ranges.entering(kernel))
            makers = {self.maker(one).kernel for one in given if math.prod(ranges.shape(one).dimensions) == size}
            found, border = found + made, sorted(makers.difference(seen))
            seen = seen + border
            if not border:
                break
        return tuple(dict.fromkeys(axis for one in found if one is not None for axis in one.axes or ()))

    def describe(self, node: int) -> Described:
        """A value, by the node that is its copy or makes it."""
        made, layout = self.maker(node), self.argument(node)
        if layout is not None:
            return Described(layout.path, layout.spec, layout.global_shape)
        collective, layout = (
            self.collective(made.kernel),
            self.argument(self._ranges.first[made.instruction]) if made.is_moved else None,
        )
        if layout is not None and collective is None:
            # It is unknown which of its axes a copy still has.
            return Described(f"{layout.path}, copied", None, layout.global_shape)
        module = self._ranges.module
        instruction = module.instruction(made.instruction)
        if not instruction.op_name and not made.is_moved:
            instruction = module.instruction(made.kernel)
        frames = instruction.frames
        source = user_frames(frames, self._facts.files) if frames else ()
        phase = find_phase(instruction.op_name, frames)
        row = self._row(node, instruction, source)
        # A sum yields the value itself; a gather is named after an operation that needs it.
        if collective is not None and (row is None or collective.kind not in SUMS):
            return self._gotten(node, made.kernel, collective, source, phase)
        if row is not None:
            name, place = f"{_PREFIX.get(row.phase, '')}{self._name(row)}", row.source or source
            return Described(name, row.spec, row.global_shape, place, row.op_name, phase or row.phase, row.local_shape)
        words = split_op_names(instruction.op_name)
        name = short_name(words[0]) if words else instruction.name
        name = self._workspace(node, name) or self._partial_sums(node, instruction, source) or name
        return Described(name, None, None, source, instruction.op_name, phase)

    def _workspace(self, node: int, operation: str) -> str:
        """The workspace of a library call: "workspace of cuBLASLt, dot_general"; "" for anything else."""
        call = self._ranges.module.instruction(self._ranges.owner[node])
        is_last = call.opcode == "custom-call" and node == self._ranges.nodes(call.index)[-1]
        if not is_last or not workspace_of(call):
            return ""
        return f"workspace of {describe_custom_call(call).library}, {operation}"

    def _partial_sums(self, node: int, instruction: Instruction, source: tuple[Frame, ...]) -> str:
        """A product that XLA for GPUs computes as partial sums: "x @ w, 4 partial sums"; "" for others."""
        if instruction.opcode not in ("dot", "custom-call"):
            return ""
        size = math.prod(self._ranges.shape(node).dimensions)
        every = chain.from_iterable(self._rows.get(instruction.op_name, {}).values())
        found = _here([row for row in every if row.op in DOTS], source)
        alike = {(self._name(row), math.prod(row.local_shape)) for row in found}
        name, own = alike.pop() if len(alike) == 1 else ("", 0)
        is_several = own > 0 and size > own and size % own == 0
        return f"{name}, {size // own} partial sums" if is_several else ""

    def _row(self, node: int, instruction: Instruction, source: tuple[Frame, ...]) -> ValueSharding | None:
        """The value before partitioning that a node is; None if none matches, or several differ.

        An operand that XLA prepares for a product has the product's name, but is no product.
        """
        shape = self._ranges.shape(node)
        key, names = (shape.dtype, math.prod(shape.dimensions)), split_op_names(instruction.op_name)
        ways = (self._rows.get(name, {}).get(key) for name in (instruction.op_name, *names))
        found = next((rows for rows in ways if rows), [])
        if instruction.opcode not in _COMPUTES_PRODUCTS:
            found = [row for row in found if row.op not in DOTS]
        found = _here(found, source)
        return found[0] if len({(row.name, row.spec, row.global_shape) for row in found}) == 1 else None

    def _name(self, row: ValueSharding) -> str:
        """The text of a value, with the operation if one piece of text makes several."""
        if row.name == row.op_name:
            return short_name(row.name)
        return f"{row.name} {row.op}" if len(self._operations[_text_and_place(row)]) > 1 else row.name

    def _gotten(
        self, node: int, kernel: int, collective: Collective, source: tuple[Frame, ...], phase: Phase
    ) -> Described:
        """A description of a collective's result: "params['w1'], all-gather over data"."""
        words = f"{collective.kind} over {collective.axes_text}"
        origin = self._operand(node, kernel)
        name, spec = short_name(collective.op_name) if origin is None else origin.name, None
        if origin is not None and collective.kind == "all-gather" and collective.axes is not None:
            spec = self._gathered(origin, node, collective.axes)
        known = None if origin is None or spec is None else origin.global_shape
        name, place = f"{name}, {words}" if name else words, collective.source or source
        return Described(name, spec, known, place, collective.op_name, collective.phase or phase)

    def _operand(self, node: int, kernel: int) -> Described | None:
        """A description of a collective's operand; None if it is ambiguous, or not known before partitioning."""
        ranges, is_own = self._ranges, self._ranges.owner[node] == kernel
        operands, number = ranges.operands(kernel), node - ranges.first[kernel] if is_own else 0
        is_known = number < len(operands) and (is_own or len(operands) == 1)
        entering = ranges.nodes(operands[number]) if is_known else ()
        if len(entering) != 1:
            return None
        made = self.maker(entering[0])
        layout = self.argument(self._ranges.first[made.instruction])
        if layout is not None:
            return Described(layout.path, layout.spec, layout.global_shape)
        found = None if self.collective(made.kernel) is not None else self.describe(entering[0])
        return None if found is None or found.global_shape is None else found

    def _gathered(self, origin: Described, node: int, axes: Sequence[str]) -> PartitionSpec | None:
        """The spec of a gathered value: the operand's spec without the axes, if the number of elements confirms it."""
        mesh = self._facts.mesh
        if origin.spec is None or origin.global_shape is None or mesh is None:
            return None
        left = [tuple(axis for axis in axes_of(entry) if axis not in axes) for entry in origin.spec]
        pieces = [math.prod(mesh.sizes.get(axis, 1) for axis in entry) for entry in left]
        count = math.prod(local_shape(origin.global_shape, pieces))
        return tuple(map(entry_of, left)) if count == math.prod(self._ranges.shape(node).dimensions) else None


def _text_and_place(row: ValueSharding) -> tuple[str, str]:
    return row.name, row.source[0].where if row.source else ""


def _here(rows: list[ValueSharding], source: tuple[Frame, ...]) -> list[ValueSharding]:
    """The rows that begin at the same column of the same line; all rows if none does."""
    # XLA keeps the begin of a piece; its end is known only for operations before partitioning.
    begins = [[(frame.file, frame.line, frame.columns[:1]) for frame in row.source[:1]] for row in rows]
    wanted = [(frame.file, frame.line, frame.columns[:1]) for frame in source[:1]]
    return [row for row, begin in zip(rows, begins, strict=True) if begin == wanted] or rows


@lru_cache(maxsize=4096)
def short_name(op_name: str) -> str:
    """The last parts of JAX's name of an operation: its innermost scopes, and the operation."""
    last = op_name.rpartition("/")[2]
    return "/".join([*scope_of(op_name).split("/")[-2:], users_word(last) or last]).lstrip("/")


@lru_cache(maxsize=4096)
def scope_of(op_name: str) -> str:
    """The user's scopes around an operation: "layer0/attn"; "" for none."""
    return "/".join(filter(None, map(_unwrapped, op_name.split("/")[:-1])))


def _unwrapped(scope: str) -> str:
    """A part of JAX's name without JAX's wrappers; "" if it is no user scope."""
    if scope in JAX_SCOPES:
        return ""
    while "(" in scope and scope.endswith(")"):
        head, _, scope = scope[:-1].partition("(")
        if head in ("jit", "pjit", "pmap"):
            return ""
    return scope
