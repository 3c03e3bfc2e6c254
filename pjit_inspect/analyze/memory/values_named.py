"""Names buffers for people, and finds their shardings: arguments by path, others by their source text.

A value is named by the operation that computed its elements. XLA names a copy after the operation that wants it: copies
are traced back, within fusions too. The operation is matched to a value of the program before partitioning only if
JAX's name, the element type and the number of elements on a device match (XLA reshapes freely), and all matches agree.
Not its job: the purpose of a buffer (`analyze.memory.kinds`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from pjit_inspect.analyze.memory.passing import Nodes
from pjit_inspect.analyze.program.custom_calls import describe_custom_call, workspace_of
from pjit_inspect.analyze.program.loops import number_of
from pjit_inspect.analyze.program.phases import find_phase, split_op_names
from pjit_inspect.analyze.program.source import UserFiles, user_frames
from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh, PartitionSpec, axes_of, local_shape
from pjit_inspect.model.program.opcodes import DOTS, PRODUCTS
from pjit_inspect.model.program.primitive import JAX_SCOPES, users_word
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.collective import Collective, CollectiveTable, Phase
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding

_MOVES = frozenset(("copy", "bitcast", "transpose", "reshape", "copy-done", "copy-start", "opt-barrier"))
"""Opcodes whose result has the elements of their first operand, unchanged."""
_COMPUTES_PRODUCTS = PRODUCTS | {"custom-call"}
_SUMS = frozenset(("all-reduce", "reduce-scatter"))
_MOST_STEPS = 20
_PREFIX: dict[Phase, str] = {"backward": "gradient of ", "recompute": "recomputed "}
_Key = tuple[str, str, int]
"""JAX's name of an operation, an element type, and the number of elements on a device."""


class Described(NamedTuple):
    """Facts about a named value."""

    name: str
    spec: PartitionSpec | None
    global_shape: tuple[int, ...] | None
    source: tuple[Frame, ...]
    op_name: str
    phase: Phase
    local_shape: tuple[int, ...] = ()


class Maker(NamedTuple):
    """The instruction that computed the elements of a value.

    Attributes:
      instruction: the instruction; it may be within a fusion.
      kernel: the instruction that runs by itself: the same one, or the fusion.
      is_moved: whether another kernel moved the elements since.
    """

    instruction: int
    kernel: int
    is_moved: bool


@dataclass(slots=True, kw_only=True)
class Describer:
    """Names for the values of one program.

    Attributes:
      nodes: its arrays.
      inputs: the arguments that it reads, in order, if they match the program's.
      collectives: its collectives.
      shardings: the values of the program before partitioning.
      mesh: the mesh of the specs.
      files: the user's files.
    """

    nodes: Nodes
    inputs: Sequence[ArrayLayout]
    collectives: CollectiveTable
    shardings: ShardingTable
    mesh: Mesh | None
    files: UserFiles
    _by_key: dict[_Key, list[ValueSharding]] = field(init=False)
    _by_op_name: dict[str, list[ValueSharding]] = field(init=False)
    _several: dict[tuple[str, str], set[str]] = field(init=False)
    _collective_of: dict[str, Collective] = field(init=False)

    def __post_init__(self) -> None:
        self._by_key, self._by_op_name, self._several = defaultdict(list), defaultdict(list), defaultdict(set)
        for row in self.shardings:
            if row.op_name:
                self._by_key[row.op_name, row.dtype, math.prod(row.local_shape)].append(row)
                self._by_op_name[row.op_name].append(row)
                self._several[row.name, row.source[0].where if row.source else ""].add(row.op)
        self._collective_of = {name: row for row in self.collectives for name in row.instructions}

    def collective(self, instruction: int) -> Collective | None:
        """The collective that an instruction is (part of); None for any other."""
        return self._collective_of.get(self.nodes.module.reader.name(instruction))

    def argument(self, node: int) -> ArrayLayout | None:
        """The argument that a node is; None where it is none, or the program's arguments are not the record's."""
        maker, module = self.nodes.owner[node], self.nodes.module
        is_entry = int(module.instructions.computation[maker]) == module.entry
        if self.nodes.opcode(maker) != "parameter" or not is_entry:
            return None
        number = number_of(module, maker)
        return self.inputs[number] if number < len(self.inputs) else None

    def maker(self, node: int) -> Maker:
        """The instruction that computed a value, traced back through instructions that only move it."""
        nodes = self.nodes
        kernel = nodes.owner[node]
        fusions: list[int] = []
        at, number, is_moved = kernel, node - nodes.of(kernel).start, False
        for _ in range(_MOST_STEPS):
            opcode, operands = nodes.opcode(at), nodes.operands(at)
            if opcode == "fusion" and len(nodes.called(at)) == 1:
                fusions.append(at)
                at = nodes.root(nodes.called(at)[0])
                if nodes.opcode(at) == "tuple" and number < len(nodes.operands(at)):
                    at = nodes.operands(at)[number]
                number = 0
            elif opcode == "parameter" and fusions:
                own, place = fusions.pop(), number_of(nodes.module, at)
                if place >= len(nodes.operands(own)):
                    break
                at, is_moved = nodes.operands(own)[place], True
            elif opcode == "get-tuple-element" and operands:
                at, number = operands[0], number_of(nodes.module, at)
            elif opcode in _MOVES and operands:
                at, is_moved = operands[0], is_moved or not fusions
            else:
                return Maker(at, fusions[0] if fusions else at, is_moved)
        return Maker(kernel, kernel, is_moved=False)

    def written_dtype(self, node: int, op_name: str) -> str:
        """The element type that the program has a value in before optimization; "" where that is not known."""
        layout, dtype = self.argument(node), self.nodes.shapes[node].dtype
        if layout is not None:
            return short_dtype(layout.dtype)
        names = (op_name, *split_op_names(op_name))
        found = {row.dtype for name in names for row in self._by_op_name.get(name, ())}
        return dtype if dtype in found else found.pop() if len(found) == 1 else ""

    def collective_axes(self, node: int) -> tuple[str, ...]:
        """The mesh axes of collectives that take a value, make it, or make an array as large that it follows from."""
        if not self._collective_of:
            return ()
        nodes, size = self.nodes, math.prod(self.nodes.shapes[node].dimensions)
        found = list(map(self.collective, nodes.module.users[nodes.owner[node]].tolist()))
        border = seen = [self.maker(node).kernel]
        for _ in range(_MOST_STEPS):
            # A product sums over another dimension; an elementwise operation is whole where its operands are.
            made = [self.collective(kernel) for kernel in border]
            inner = [kernel for kernel, one in zip(border, made, strict=True) if one is None]
            given = (one for kernel in inner if nodes.opcode(kernel) not in DOTS for one in nodes.entering(kernel))
            makers = {self.maker(one).kernel for one in given if math.prod(nodes.shapes[one].dimensions) == size}
            found, border = found + made, sorted(makers.difference(seen))
            seen = seen + border
            if not border:
                break
        return tuple(dict.fromkeys(axis for one in found if one is not None for axis in one.axes or ()))

    def describe(self, node: int) -> Described:
        """A value, by the node that is its copy or makes it."""
        layout = self.argument(node)
        if layout is not None:
            return Described(layout.path, layout.spec, layout.global_shape, (), "", None)
        nodes, made = self.nodes, self.maker(node)
        collective = self.collective(made.kernel)
        if made.is_moved and collective is None and made.instruction == made.kernel:
            layout = self._argument_at(made.instruction)
            if layout is not None:
                # It is unknown which of its axes a copy still has.
                return Described(f"{layout.path}, copied", None, layout.global_shape, (), "", None)
        instruction = nodes.module.instruction(made.instruction)
        if not instruction.op_name and not made.is_moved:
            instruction = nodes.module.instruction(made.kernel)
        frames = instruction.frames
        source = user_frames(frames, self.files) if frames else ()
        phase = find_phase(instruction.op_name, frames)
        row = self._row(node, instruction.op_name, source, instruction.opcode)
        # A sum yields the value itself; a gather is named after an operation that needs it.
        if collective is not None and (row is None or collective.kind not in _SUMS):
            return self._gotten(node, made.kernel, collective, source, phase)
        if row is None:
            words = split_op_names(instruction.op_name)
            name = short_name(words[0]) if words else instruction.name
            name = self._workspace(node, name) or self._partial_sums(node, instruction, source) or name
            return Described(name, None, None, source, instruction.op_name, phase)
        name = f"{_PREFIX.get(row.phase, '')}{self._name(row)}"
        return Described(
            name, row.spec, row.global_shape, row.source or source, row.op_name, phase or row.phase, row.local_shape
        )

    def _workspace(self, node: int, operation: str) -> str:
        """The workspace of a library call: "workspace of cuBLASLt, dot_general"; "" for anything else."""
        nodes, call = self.nodes, self.nodes.owner[node]
        if nodes.opcode(call) != "custom-call" or node != nodes.of(call).stop - 1:
            return ""
        instruction = nodes.module.instruction(call)
        if not workspace_of(instruction):
            return ""
        return f"workspace of {describe_custom_call(instruction).library}, {operation}"

    def _partial_sums(self, node: int, instruction: Instruction, source: tuple[Frame, ...]) -> str:
        """A product that XLA for GPUs computes as partial sums: "x @ w, 4 partial sums"; "" for others."""
        if instruction.opcode not in ("dot", "custom-call"):
            return ""
        size = math.prod(self.nodes.shapes[node].dimensions)
        found = [row for row in self._by_op_name.get(instruction.op_name, ()) if row.op in DOTS]
        found = [row for row in found if _place(row.source) == _place(source)] or found
        alike = {(self._name(row), math.prod(row.local_shape)) for row in found}
        name, own = alike.pop() if len(alike) == 1 else ("", 0)
        is_several = own > 0 and size > own and size % own == 0
        return f"{name}, {size // own} partial sums" if is_several else ""

    def _row(self, node: int, op_name: str, source: tuple[Frame, ...], opcode: str) -> ValueSharding | None:
        """The value before partitioning that a node is; None if none matches, or several differ.

        An operand that XLA prepares for a product has the product's name, but is no product. Several operations of one
        name are at different columns of a line.
        """
        shape = self.nodes.shapes[node]
        found: list[ValueSharding] = []
        for name in (op_name, *split_op_names(op_name)):
            found = self._by_key.get((name, shape.dtype, math.prod(shape.dimensions)), [])
            if found:
                break
        if opcode not in _COMPUTES_PRODUCTS:
            found = [row for row in found if row.op not in DOTS]
        place = _place(source)
        found = [row for row in found if _place(row.source) == place] or found
        alike = {(row.name, row.spec, row.global_shape) for row in found}
        return found[0] if len(alike) == 1 else None

    def _name(self, row: ValueSharding) -> str:
        """The text of a value, with the operation if one piece of text makes several."""
        where = row.source[0].where if row.source else ""
        if row.name == row.op_name:
            return short_name(row.name)
        return f"{row.name} {row.op}" if len(self._several[row.name, where]) > 1 else row.name

    def _gotten(
        self, node: int, kernel: int, collective: Collective, source: tuple[Frame, ...], phase: Phase
    ) -> Described:
        """A description of a collective's result: "params['w1'], all-gather over data"."""
        words = f"{collective.kind} over {collective.axes_text}"
        place, phase = collective.source or source, collective.phase or phase
        origin = self._operand(node, kernel)
        if origin is None:
            name = short_name(collective.op_name)
            return Described(f"{name}, {words}" if name else words, None, None, place, collective.op_name, phase)
        spec = None
        if collective.kind == "all-gather" and collective.axes is not None:
            spec = self._gathered(origin, node, collective.axes)
        known = origin.global_shape if spec is not None else None
        return Described(f"{origin.name}, {words}", spec, known, place, collective.op_name, phase)

    def _operand(self, node: int, kernel: int) -> Described | None:
        """A description of a collective's operand;

        None if it is ambiguous, or its value before partitioning is unknown.
        """
        nodes = self.nodes
        operands = nodes.operands(kernel)
        number = node - nodes.of(kernel).start if nodes.owner[node] == kernel else 0
        if number >= len(operands) or (nodes.owner[node] != kernel and len(operands) > 1):
            return None
        entering = nodes.of(operands[number])
        if len(entering) != 1:
            return None
        made = self.maker(entering[0])
        layout = self._argument_at(made.instruction)
        if layout is not None:
            return Described(layout.path, layout.spec, layout.global_shape, (), "", None)
        if self.collective(made.kernel) is not None:
            return None
        found = self.describe(entering[0])
        return found if found.global_shape is not None else None

    def _argument_at(self, instruction: int) -> ArrayLayout | None:
        own = self.nodes.of(instruction)
        return self.argument(own[0]) if len(own) == 1 else None

    def _gathered(self, origin: Described, node: int, axes: Sequence[str]) -> PartitionSpec | None:
        """The spec of a gathered value: the operand's spec without the axes, if the number of elements confirms it."""
        if origin.spec is None or origin.global_shape is None or self.mesh is None:
            return None
        left = tuple(tuple(axis for axis in axes_of(entry) if axis not in axes) for entry in origin.spec)
        sizes = dict(zip(self.mesh.axis_names, self.mesh.shape, strict=True))
        pieces = []
        for entry in left:
            count = 1
            for axis in entry:
                count *= sizes.get(axis, 1)
            pieces.append(count)
        if math.prod(local_shape(origin.global_shape, pieces)) != math.prod(self.nodes.shapes[node].dimensions):
            return None
        return tuple(entry[0] if len(entry) == 1 else entry or None for entry in left)


def _place(frames: tuple[Frame, ...]) -> tuple[str, int, tuple[int, ...]] | None:
    # XLA keeps the begin of a piece; its end is known only for operations before partitioning.
    return (frames[0].file, frames[0].line, frames[0].columns[:1]) if frames else None


@lru_cache(maxsize=4096)
def short_name(op_name: str) -> str:
    """The last parts of JAX's name of an operation: its innermost scopes, and the operation."""
    last = op_name.rpartition("/")[2]
    return "/".join([*scope_of(op_name).split("/")[-2:], users_word(last) or last]).lstrip("/")


@lru_cache(maxsize=4096)
def scope_of(op_name: str) -> str:
    """The user's scopes around an operation: "layer0/attn"; "" for none."""
    scopes = op_name.split("/")[:-1]
    return "/".join(_unwrapped(scope) for scope in scopes if _unwrapped(scope))


def _unwrapped(scope: str) -> str:
    """A part of JAX's name without JAX's wrappers; "" if it is no user scope."""
    if scope in JAX_SCOPES:
        return ""
    while "(" in scope and scope.endswith(")"):
        head, _, scope = scope[:-1].partition("(")
        if head in ("jit", "pjit", "pmap"):
            return ""
    return scope
