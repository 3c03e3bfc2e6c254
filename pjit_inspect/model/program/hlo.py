"""An optimized program as XLA runs it: computations and instructions, held as columns.

A module of half a million instructions is a few numpy arrays and string tables, not half a million objects;
`Instruction` and `Computation` are light views made on demand. Rare fields (replica groups, custom-call targets, ...)
are decoded on demand from the program's bytes, by the `HloReader` that `parse` provides. Not its job: reading bytes
(`parse.hlo_proto.hlo`) or interpreting the program (`analyze`).

*Source*: `xla.HloModuleProto`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from pjit_inspect.model.program.hlo_columns import Computations, Instructions, Links, StackFrames
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.program.source import Frame

_MOST_BYTES = 2**62
"""So that two sizes can be added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Fields of one instruction beyond its columns; None or empty if the program does not say.

    Attributes:
      replica_groups: groups of ids in one normal form; () means all; None when the instruction has none, or has them
        in a form that is not known (then `unknown` holds them).
      replica_groups_text: the groups as XLA writes them ("[2,4]<=[8]", "mesh['a'=2,'b'=4] {'b'}"); "" for none.
      source_target_pairs: (source, target) ids of a collective-permute.
      use_global_device_ids: whether ids count replicas and partitions together; None if the program does not say (XLA
        leaves False out).
      fusion_kind: "kLoop", "kInput", "kOutput", "kCustom".
      custom_call_target: the library function's name.
      backend_config: the backend's notes, unchanged (usually JSON).
      frontend_attributes: attributes from JAX.
      sharding: the sharding of a parameter or result, one line of protobuf text; None when not kept.
      dimensions: the instruction's `dimensions` (of a broadcast, a concatenate, an all-gather, ...).
      comparison_direction: "LT", "GE", ... of a compare.
      literal: the value of an integer or boolean scalar constant.
      parameter_number: the argument's number, for a parameter.
      tuple_index: the element's number, for a get-tuple-element.
      is_host_transfer: whether a send or recv communicates with the host.
      async_thread: the execution thread of an asynchronous operation, such as "sparsecore".
      scheduling_name: XLA's name for it before renaming, from its metadata.
      other: every further attribute by its name in `xla.HloInstructionProto`: numbers, strings, or, for messages, one
        line of protobuf text.
      unknown: fields this package has no name for, as (number, content).
    """

    replica_groups: tuple[tuple[int, ...], ...] | None = None
    replica_groups_text: str = ""
    source_target_pairs: tuple[tuple[int, int], ...] = ()
    use_global_device_ids: bool | None = None
    fusion_kind: str = ""
    custom_call_target: str = ""
    backend_config: str = ""
    frontend_attributes: Mapping[str, str] = field(default_factory=dict)
    sharding: str | None = None
    dimensions: tuple[int, ...] = ()
    comparison_direction: str = ""
    literal: int | None = None
    parameter_number: int | None = None
    tuple_index: int | None = None
    is_host_transfer: bool = False
    async_thread: str = ""
    scheduling_name: str = ""
    other: Mapping[str, Any] = field(default_factory=dict)
    unknown: tuple[tuple[int, bytes], ...] = ()


class HloReader(Protocol):
    """Decodes parts of a module on demand. Indices are those of the module's columns and tables."""

    def name(self, index: int) -> str:
        """The name of instruction `index`."""
        ...

    def names(self, indices: Sequence[int] | np.ndarray) -> Sequence[str]:
        """The names of these instructions, read together: much faster than one by one."""
        ...

    def shape(self, shape_id: int) -> Shape:
        """Row `shape_id` of the module's table of shapes."""
        ...

    def details(self, index: int) -> Details:
        """Everything else about instruction `index`. Raises `ParseError` when its bytes are damaged."""
        ...

    def groups(self, index: int) -> tuple[tuple[int, ...], ...] | None:
        """`Details.replica_groups`, without decoding the rest. Raises `ParseError` when its bytes are damaged."""
        ...

    def number(self, index: int) -> int:
        """A parameter's number, or the element a get-tuple-element takes, without decoding the rest.

        0 when it says none. Raises `ParseError` when its bytes are damaged.
        """
        ...

    def kernel(self, index: int) -> tuple[str, str]:
        """The kind of a fusion ("kLoop") and the target of a custom call, without decoding the rest.

        "" for missing fields. Raises `ParseError` when its bytes are damaged.
        """
        ...

    def ids(self) -> np.ndarray:
        """The number that the program has for each instruction."""
        ...

    def raw(self, index: int) -> bytes:
        """Instruction `index` as a serialised `xla.HloInstructionProto`."""
        ...

    def entry_shapes(self) -> tuple[tuple[Shape, ...], Shape] | None:
        """The program's arguments and its result as its caller has them, their memories too; None for unknown.

        Raises `ParseError` when the bytes are damaged.
        """
        ...

    def module_fields(self) -> Mapping[str, Any]:
        """Fields of the module beyond `HloModule`, by their names in `xla.HloModuleProto`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """One result buffer that reuses an argument's buffer.

    Attributes:
      output: the path into the result's tuple; () for a result that is no tuple.
      parameter: the argument's number.
      parameter_index: the path into the argument's tuple; () for an argument that is no tuple.
      must: True when it always does, False when it may.
    """

    output: tuple[int, ...]
    parameter: int
    parameter_index: tuple[int, ...] = ()
    must: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Donor:
    """One argument's buffer that the program may use for anything, including its results.

    Attributes:
      parameter: the argument's number.
      parameter_index: the path into the argument's tuple; () for an argument that is no tuple.
    """

    parameter: int
    parameter_index: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class HloModule:
    """One optimized program.

    Attributes:
      name: XLA's name for it ("jit_train_step").
      opcodes: every opcode in the program, as XLA writes it ("all-gather-start").
      op_names: every distinct operation name from JAX; the first is "".
      instructions, computations: the columns.
      entry: the computation the program starts with.
      order: instructions of each computation in execution order (computation after computation, as
        `computations.starts` cuts them); the order of the bytes where there is no schedule.
      is_scheduled: whether XLA fixed the execution order.
      frames_table: source positions.
      aliases: results that reuse an argument's buffer.
      donors: arguments' buffers that are free to use.
      frontend_attributes: JAX's attributes of the whole program.
      device_counts: (replicas, partitions), or None if the program does not say.
      unknown: everything this package has no name for, at any depth ("opcode foo", "instruction field 120", "shape
        field 9"), with its count. Nothing is dropped: it is kept in `details(i).unknown` and `raw(i)`.
      reader: decodes on demand.
    """

    name: str
    opcodes: tuple[str, ...]
    op_names: tuple[str, ...]
    instructions: Instructions
    computations: Computations
    entry: int
    order: np.ndarray
    is_scheduled: bool
    frames_table: StackFrames
    aliases: tuple[Alias, ...] = ()
    donors: tuple[Donor, ...] = ()
    frontend_attributes: Mapping[str, str] = field(default_factory=dict)
    device_counts: tuple[int, int] | None = None
    unknown: Mapping[str, int] = field(default_factory=dict)
    reader: HloReader = field(repr=False)

    def __len__(self) -> int:
        return len(self.instructions)

    def instruction(self, index: int) -> Instruction:
        """The view of instruction `index`."""
        return Instruction(self, index)

    def computation(self, index: int) -> Computation:
        """The view of computation `index`."""
        return Computation(self, index)

    def find(self, name: str) -> Instruction | None:
        """The instruction with this name, or None.

        XLA repeats a name now and then; the entry computation comes last, and its instructions win.
        """
        index = self._index_by_name.get(name)
        return None if index is None else Instruction(self, index)

    @cached_property
    def _index_by_name(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.reader.names(range(len(self))))}

    @cached_property
    def users(self) -> Links:
        """For each instruction, the instructions that take it as an operand (once per use); built when first read."""
        return self.instructions.operands.reversed(len(self))

    @cached_property
    def callers(self) -> Links:
        """For each computation, the instructions that call it; built when first read."""
        return self.instructions.called.reversed(len(self.computations))

    @cached_property
    def places(self) -> np.ndarray:
        """For each instruction its place in `order`, counted through the whole module; built when first read."""
        places = np.empty(len(self), np.int32)
        places[self.order] = np.arange(len(self), dtype=np.int32)
        return places

    def with_opcode(self, *opcodes: str) -> np.ndarray:
        """Indices of all instructions with one of these opcodes, ascending."""
        return np.flatnonzero(self.is_opcode(opcodes))

    def is_opcode(self, opcodes: Collection[str]) -> np.ndarray:
        """For each instruction, True if its opcode is one of these."""
        return np.array([opcode in opcodes for opcode in self.opcodes], bool)[self.instructions.opcode]

    @cached_property
    def result_bytes(self) -> np.ndarray:
        """For each instruction the bytes of its result on one device (counted); -1 where that is unknown.

        It is where a width is, and where a damaged program claims more than any memory has. Built when first read.
        """
        rows = int(self.instructions.shape.max(initial=-1)) + 1
        sizes = (self.reader.shape(row).bytes for row in range(rows))
        table = np.array([-1 if size is None or size > _MOST_BYTES else size for size in sizes], np.int64)
        return table[self.instructions.shape]

    @cached_property
    def other(self) -> Mapping[str, Any]:
        """All other fields of the program, by their names in `xla.HloModuleProto`; decoded when first read.

        Numbers, strings, bytes, or, for messages, one line of protobuf text ("spmd_output_sharding", "is_dynamic").
        """
        return self.reader.module_fields()

    def without_frames(self) -> HloModule:
        """The same module without source frames."""
        frame = np.zeros_like(self.instructions.frame)
        return replace(self, instructions=replace(self.instructions, frame=frame))

    def frames(self, index: int) -> tuple[Frame, ...]:
        """The source frames of instruction `index`, innermost first; () where the program does not say."""
        return self.frames_table.chain(int(self.instructions.frame[index]))

    @property
    def opcode_counts(self) -> Counter[str]:
        """The number of instructions of each opcode."""
        counts = np.bincount(self.instructions.opcode, minlength=len(self.opcodes)).tolist()
        return Counter(dict(zip(self.opcodes, counts, strict=True)))

    def __repr__(self) -> str:
        return f"HloModule({self.name}, {len(self)} instructions, {len(self.computations)} computations)"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: a view of one row of a module's columns.

    Attributes:
      module: the module it belongs to.
      index: its row in `module.instructions`, from 0.
    """

    module: HloModule
    index: int

    @property
    def name(self) -> str:
        """Its name, without the percent sign ("fusion.3")."""
        return self.module.reader.name(self.index)

    @property
    def opcode(self) -> str:
        """XLA's name of the operation ("all-gather-start")."""
        return self.module.opcodes[self.module.instructions.opcode[self.index]]

    @property
    def shape(self) -> Shape:
        """The shape of its result on one device."""
        return self.module.reader.shape(int(self.module.instructions.shape[self.index]))

    @property
    def op_name(self) -> str:
        """JAX's name of the operation it belongs to, with scopes; "" where there is none."""
        return self.module.op_names[self.module.instructions.op_name[self.index]]

    @property
    def channel_id(self) -> int | None:
        """XLA's channel, or None."""
        return int(self.module.instructions.channel[self.index]) or None

    @property
    def computation(self) -> Computation:
        """The computation that contains it."""
        return Computation(self.module, int(self.module.instructions.computation[self.index]))

    @property
    def operands(self) -> tuple[Instruction, ...]:
        """Its operands in order."""
        return tuple(Instruction(self.module, i) for i in self.module.instructions.operands[self.index].tolist())

    @property
    def users(self) -> tuple[Instruction, ...]:
        """The instructions that take it as an operand, each once, in the order of the program's bytes."""
        return tuple(Instruction(self.module, i) for i in dict.fromkeys(self.module.users[self.index].tolist()))

    @property
    def control_predecessors(self) -> tuple[Instruction, ...]:
        """The instructions it must run after, though it takes nothing from them."""
        return tuple(Instruction(self.module, i) for i in self.module.instructions.control[self.index].tolist())

    @property
    def called(self) -> tuple[Computation, ...]:
        """The computations it calls (a fusion's body, a loop's body and condition, a reduction)."""
        return tuple(Computation(self.module, c) for c in self.module.instructions.called[self.index].tolist())

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Its source frames, innermost first; () if the program does not say."""
        return self.module.frames(self.index)

    @property
    def is_root(self) -> bool:
        """True if its value is the result of its computation."""
        return self.computation.root.index == self.index

    @property
    def fusion_kind(self) -> str:
        """XLA's kind of a fusion ("kLoop"); "" for anything else. Raises `ParseError` when its bytes are damaged."""
        return self.module.reader.kernel(self.index)[0]

    @property
    def custom_call_target(self) -> str:
        """The target of a custom call; "" for anything else. Raises `ParseError` when its bytes are damaged."""
        return self.module.reader.kernel(self.index)[1]

    @property
    def number(self) -> int:
        """The number of a parameter, or the element number of a get-tuple-element; 0 for anything else.

        Faster than `details`. Raises `ParseError` when its bytes are damaged.
        """
        return self.module.reader.number(self.index)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...] | None:
        """`Details.replica_groups`. Faster than `details`. Raises `ParseError` when its bytes are damaged."""
        return self.module.reader.groups(self.index)

    @property
    def details(self) -> Details:
        """Everything else about it, decoded on each read. Raises `ParseError` when its bytes are damaged."""
        return self.module.reader.details(self.index)

    def __repr__(self) -> str:
        shape = str(self.shape)
        return f"Instruction({self.name} = {shape if len(shape) <= 60 else shape[:57] + '...'} {self.opcode})"


@dataclass(frozen=True, slots=True)
class Computation:
    """One computation: a view of one row of a module's computations.

    Attributes:
      module: the module it belongs to.
      index: its row in `module.computations`, from 0.
    """

    module: HloModule
    index: int

    @property
    def name(self) -> str:
        """Its name, without the percent sign."""
        return self.module.computations.names[self.index]

    @property
    def root(self) -> Instruction:
        """The instruction whose value it returns."""
        return Instruction(self.module, int(self.module.computations.root[self.index]))

    @property
    def is_fusion(self) -> bool:
        """True if it is the body of a fusion."""
        return bool(self.module.computations.is_fusion[self.index])

    @property
    def is_entry(self) -> bool:
        """True if the program starts with it."""
        return self.index == self.module.entry

    @property
    def range(self) -> range:
        """The indices of its instructions."""
        starts = self.module.computations.starts
        return range(int(starts[self.index]), int(starts[self.index + 1]))

    @property
    def order(self) -> np.ndarray:
        """The indices of its instructions in execution order."""
        return self.module.order[self.range.start : self.range.stop]

    @property
    def parameters(self) -> np.ndarray:
        """The indices of its parameters, ascending."""
        found = self.module.with_opcode("parameter")
        return found[self.module.instructions.computation[found] == self.index]

    @property
    def callers(self) -> tuple[Instruction, ...]:
        """The instructions that call it."""
        return tuple(Instruction(self.module, i) for i in dict.fromkeys(self.module.callers[self.index].tolist()))

    def __len__(self) -> int:
        return len(self.range)

    def __iter__(self) -> Iterator[Instruction]:
        return (Instruction(self.module, i) for i in self.range)

    def __repr__(self) -> str:
        return f"Computation({self.name}, {len(self)} instructions)"
