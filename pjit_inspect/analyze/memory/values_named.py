"""What a person calls a buffer, and how it is sharded: arguments by their path, all else as it was written.

A value of the optimized program is taken for one of the program before partitioning only when JAX's name of the
operation, the element type and the number of elements on a device are its (XLA reshapes freely), and all that fit
agree. Not its job: what a buffer is for (`analyze.memory.kinds`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pjit_inspect.analyze.memory.passing import Nodes
from pjit_inspect.analyze.program.phases import find_phase, split_op_names
from pjit_inspect.analyze.program.running import number_of
from pjit_inspect.analyze.program.source import user_frames
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.primitive import users_word
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.spec import PartitionSpec, axes_of, local_shape
from pjit_inspect.model.report.collective import Collective, CollectiveTable, Phase
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.sharding.mesh import Mesh

__all__ = ["Described", "Describer", "scope_of"]

_PASSES_ON = frozenset(("copy", "bitcast", "convert", "transpose", "reshape", "copy-done", "copy-start"))
_SUMS = frozenset(("all-reduce", "reduce-scatter"))
_MOST_STEPS = 20
_PREFIX: dict[Phase, str] = {"backward": "gradient of ", "recompute": "recomputed "}
_Key = tuple[str, str, int]
"""JAX's name of an operation, an element type, and how many elements there are on a device."""


class Described(NamedTuple):
    """What is known of a value by its name."""

    name: str
    spec: PartitionSpec | None
    global_shape: tuple[int, ...] | None
    source: tuple[Frame, ...]
    op_name: str
    phase: Phase
    local_shape: tuple[int, ...] = ()


@dataclass(slots=True, kw_only=True)
class Describer:
    """Names for the values of one program.

    Attributes:
      nodes: its arrays.
      inputs: the arguments that it reads, in order, where they are those of the program.
      collectives: its collectives.
      shardings: the values of the program before partitioning.
      mesh: the mesh that specs are of.
      cells: file -> how the notebook calls the cell.
    """

    nodes: Nodes
    inputs: Sequence[ArrayLayout]
    collectives: CollectiveTable
    shardings: ShardingTable
    mesh: Mesh | None
    cells: Mapping[str, str]
    _by_key: dict[_Key, list[ValueSharding]] = field(init=False)
    _several: dict[tuple[str, str], set[str]] = field(init=False)
    _collective_of: dict[str, Collective] = field(init=False)

    def __post_init__(self) -> None:
        self._by_key, self._several = defaultdict(list), defaultdict(set)
        for row in self.shardings:
            if row.op_name:
                self._by_key[row.op_name, row.dtype, math.prod(row.local_shape)].append(row)
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

    def describe(self, node: int) -> Described:
        """A value, by the node that makes it."""
        layout = self.argument(node)
        if layout is not None:
            return Described(layout.path, layout.spec, layout.global_shape, (), "", None)
        instruction = self.nodes.module.instruction(self.nodes.owner[node])
        frames = instruction.frames
        source = user_frames(frames, self.cells) if frames else ()
        phase = find_phase(instruction.op_name, frames)
        collective = self.collective(instruction.index)
        row = self._row(node, instruction.op_name, source)
        # What sums yields the value itself; what gathers is named after an operation that needs it.
        if collective is not None and (row is None or collective.kind not in _SUMS):
            return self._moved(node, collective, source, phase)
        if row is None:
            words = split_op_names(instruction.op_name)
            name = _short(words[0]) if words else instruction.name
            return Described(name, None, None, source, instruction.op_name, phase)
        name = f"{_PREFIX.get(row.phase, '')}{self._name(row)}"
        return Described(
            name, row.spec, row.global_shape, row.source or source, row.op_name, phase or row.phase, row.local_shape
        )

    def _row(self, node: int, op_name: str, source: tuple[Frame, ...]) -> ValueSharding | None:
        """The value before partitioning that a node is; None where none is, or several differ.

        Several operations of one name stand at different columns of a line.
        """
        shape = self.nodes.shapes[node]
        found: list[ValueSharding] = []
        for name in (op_name, *split_op_names(op_name)):
            found = self._by_key.get((name, shape.dtype, math.prod(shape.dimensions)), [])
            if found:
                break
        place = _place(source)
        found = [row for row in found if _place(row.source) == place] or found
        alike = {(row.name, row.spec, row.global_shape) for row in found}
        return found[0] if len(alike) == 1 else None

    def _name(self, row: ValueSharding) -> str:
        """Its text; with the operation where one piece of text makes several."""
        where = row.source[0].where if row.source else ""
        if row.name == row.op_name:
            return _short(row.name)
        return f"{row.name} {row.op}" if len(self._several[row.name, where]) > 1 else row.name

    def _moved(self, node: int, collective: Collective, source: tuple[Frame, ...], phase: Phase) -> Described:
        """What a collective yields: "params['w1'] gathered over data"."""
        origin = self._origin(node)
        words = f"{collective.kind} over {collective.axes_text}"
        if origin is None:
            name = _short(collective.op_name)
            name = f"{name}, {words}" if name else words
            return Described(
                name, None, None, collective.source or source, collective.op_name, collective.phase or phase
            )
        spec = None
        if collective.kind == "all-gather" and collective.axes is not None:
            spec = self._gathered(origin, node, collective.axes)
        known = origin.global_shape if spec is not None else None
        place = collective.source or source
        return Described(f"{origin.path}, {words}", spec, known, place, collective.op_name, collective.phase or phase)

    def _origin(self, node: int) -> ArrayLayout | None:
        """The argument that a collective moves, seen through what passes it on."""
        maker = self.nodes.owner[node]
        number = list(self.nodes.of(maker)).index(node)
        operands = self.nodes.operands(maker)
        number = number if number < len(operands) else 0
        for _ in range(_MOST_STEPS):
            entering = self.nodes.of(operands[number]) if number < len(operands) else range(0)
            if len(entering) != 1:
                return None
            layout = self.argument(entering[0])
            if layout is not None:
                return layout
            maker, number = self.nodes.owner[entering[0]], 0
            if self.nodes.opcode(maker) not in _PASSES_ON:
                return None
            operands = self.nodes.operands(maker)
        return None

    def _gathered(self, origin: ArrayLayout, node: int, axes: Sequence[str]) -> PartitionSpec | None:
        """The spec of a gathered argument: that of the argument without the axes, if the shape says so too."""
        if origin.spec is None or self.mesh is None:
            return None
        left = tuple(tuple(axis for axis in axes_of(entry) if axis not in axes) for entry in origin.spec)
        sizes = dict(zip(self.mesh.axis_names, self.mesh.shape, strict=True))
        pieces = []
        for entry in left:
            count = 1
            for axis in entry:
                count *= sizes.get(axis, 1)
            pieces.append(count)
        if local_shape(origin.global_shape, pieces) != self.nodes.shapes[node].dimensions:
            return None
        return tuple(entry[0] if len(entry) == 1 else entry or None for entry in left)


def _place(frames: tuple[Frame, ...]) -> tuple[str, int, tuple[int, ...]] | None:
    return (frames[0].file, frames[0].line, frames[0].columns) if frames else None


def _short(op_name: str) -> str:
    """The last words of JAX's name of an operation: its innermost scopes, and what it does."""
    last = op_name.rpartition("/")[2]
    return "/".join([*scope_of(op_name).split("/")[-2:], users_word(last) or last]).lstrip("/")


def scope_of(op_name: str) -> str:
    """The user's scopes that an operation stands in: "layer0/attn"; "" for none."""
    scopes = op_name.split("/")[:-1]
    return "/".join(_unwrapped(scope) for scope in scopes if _unwrapped(scope))


def _unwrapped(scope: str) -> str:
    """A part of JAX's name without what JAX did to it; "" for what is no scope of the user's."""
    if scope in ("while", "body", "cond", "closed_call", "checkpoint", "rematted_computation", "remat"):
        return ""
    while "(" in scope and scope.endswith(")"):
        head, _, scope = scope[:-1].partition("(")
        if head in ("jit", "pjit", "pmap"):
            return ""
    return scope
