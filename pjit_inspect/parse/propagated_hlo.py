"""The program as XLA's partitioner gets it, from HLO in which every instruction has its sharding.

The same type that propagation in this process gives, without rules and origins, which HLO does not have; so shardings
are known in GSPMD mode too. Tuples are taken apart: only arrays are values. Not its job: making XLA write such HLO
(`observe.partitioner_service`), or what a sharding means (`parse.hlo_sharding`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from pjit_inspect.errors import ParseError
from pjit_inspect.model.hlo import Computation, HloModule, Instruction
from pjit_inspect.model.mesh import Mesh
from pjit_inspect.model.propagation import AxisSizes, Boundary, Propagation, ShardedOp, ShardedValue
from pjit_inspect.model.shape import Shape
from pjit_inspect.parse.hlo_schema import decode
from pjit_inspect.parse.hlo_sharding import FoundSpec, Tiling, find_spec, read_tilings
from pjit_inspect.parse.hlo_text import parse_hlo_text

__all__ = ["read_propagated_hlo"]

_CALLERS = frozenset(("while", "conditional", "call"))
_MAX_DEPTH = 200

_Leaves = tuple[int, ...]


def read_propagated_hlo(
    text: str,
    meshes: Sequence[Mesh],
    device_ids: Sequence[int] | None = None,
    *,
    partitions: int | None = None,
    free_inputs: Sequence[bool] = (),
    free_outputs: Sequence[bool] = (),
    result_names: Sequence[str] = (),
) -> Propagation:
    """The program with the sharding of every value, read from HLO text before partitioning.

    A dimension whose tiles follow no axes of any mesh is split over an axis "(4 tiles)" that no mesh has. An
    instruction without a sharding is not split: XLA treats it so. Raises ParseError for text that is no such program.

    Args:
      text: HLO text with `sharding=` attributes.
      meshes: the user's meshes, the most likely first.
      device_ids: the device of each partition; None when partitions are positions in the meshes.
      partitions: how many the program is for; None when the text's header says so.
      free_inputs: for each argument, whether its sharding was left to the partitioner.
      free_outputs: the same for each result.
      result_names: JAX's names of the results.
    """
    module = parse_hlo_text(text)
    if partitions is None:
        partitions = int(module.device_counts[1]) if module.device_counts else 1
    walk = _Walk(module=module, meshes=tuple(meshes), device_ids=device_ids, partitions=max(partitions, 1))
    entry = module.computation(module.entry)
    results = walk.computation(entry, _Region())
    return Propagation(
        ops=tuple(walk.ops),
        values=tuple(walk.values),
        inputs=walk.inputs(entry, free_inputs),
        outputs=walk.outputs(results, free_outputs, result_names),
        meshes=(*(mesh.sizes for mesh in meshes), *walk.extra),
        links=tuple(walk.links),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Region:
    """The op whose region is read, and what enters it."""

    op: int | None = None
    arguments: tuple[_Leaves, ...] = ()
    depth: int = 0


@dataclass(slots=True, kw_only=True)
class _Walk:
    """One pass over a module. `leaves` maps an instruction to its arrays; only a tuple has not exactly one."""

    module: HloModule
    meshes: tuple[Mesh, ...]
    device_ids: Sequence[int] | None
    partitions: int
    ops: list[ShardedOp] = field(default_factory=list)
    values: list[ShardedValue] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    leaves: dict[int, _Leaves] = field(default_factory=dict)
    specs: dict[tuple[bytes, int], tuple[FoundSpec, ...]] = field(default_factory=dict)
    extra: list[AxisSizes] = field(default_factory=list)

    # ------------------------------------------------------------ the program's borders

    def inputs(self, entry: Computation, free: Sequence[bool]) -> tuple[Boundary, ...]:
        boundaries = []
        for instruction in _parameters(entry):
            for value in self.leaves[instruction.index]:
                number = len(boundaries)
                required = None if number < len(free) and free[number] else self.values[value].spec
                boundaries.append(Boundary(name=instruction.op_name, value=value, spec=required))
        return tuple(boundaries)

    def outputs(self, results: _Leaves, free: Sequence[bool], names: Sequence[str]) -> tuple[Boundary, ...]:
        return tuple(
            Boundary(
                name=names[k] if k < len(names) else "",
                value=value,
                spec=None if k < len(free) and free[k] else self.values[value].spec,
            )
            for k, value in enumerate(results)
        )

    # ------------------------------------------------------------ instructions

    def computation(self, computation: Computation, region: _Region) -> _Leaves:
        """Reads a computation; the arrays it returns."""
        if region.depth > _MAX_DEPTH:
            raise ParseError("computations are nested too deeply", expected="an HLO program")
        for index in computation.order.tolist():
            self._instruction(self.module.instruction(index), region)
        return self.leaves[computation.root.index]

    def _instruction(self, instruction: Instruction, region: _Region) -> None:
        operands = tuple(self.leaves.get(other.index, ()) for other in instruction.operands)
        opcode = instruction.opcode
        if opcode == "parameter":
            self._parameter(instruction, region)
        elif opcode == "tuple":
            self.leaves[instruction.index] = tuple(chain.from_iterable(operands))
        elif opcode == "get-tuple-element":
            self.leaves[instruction.index] = _element(instruction, operands[0] if operands else ())
        else:
            self._op(instruction, region, operands)

    def _parameter(self, instruction: Instruction, region: _Region) -> None:
        number = instruction.details.parameter_number or 0
        argument = None
        if region.op is None:
            others = _parameters(instruction.computation)[:number]
            argument = sum(len(other.shape.leaves) for other in others)
        leaves = self._values(instruction, op=region.op, argument=argument)
        self.leaves[instruction.index] = leaves
        entering = region.arguments[number] if number < len(region.arguments) else ()
        self.links += zip(entering, leaves, strict=False)

    def _op(self, instruction: Instruction, region: _Region, operands: tuple[_Leaves, ...]) -> None:
        index = len(self.ops)
        self.ops.append(ShardedOp(opcode=f"hlo.{instruction.opcode}"))
        results = self._values(instruction, op=index)
        self.leaves[instruction.index] = results
        specs = self._specs(instruction)
        self.ops[index] = ShardedOp(
            opcode=f"hlo.{instruction.opcode}",
            op_name=instruction.op_name,
            frames=instruction.frames,
            operands=tuple(chain.from_iterable(operands)),
            results=results,
            parent=region.op,
            manual=next((spec.manual for spec in specs if spec.manual), ()),
            detail=instruction.details.custom_call_target if instruction.opcode == "custom-call" else "",
        )
        if instruction.opcode in _CALLERS:
            self._calls(instruction, index, operands, region.depth)

    def _calls(self, instruction: Instruction, index: int, operands: tuple[_Leaves, ...], depth: int) -> None:
        results = self.leaves[instruction.index]
        branches = instruction.opcode == "conditional"
        for number, called in enumerate(instruction.called):
            arguments = operands[number + 1 : number + 2] if branches else operands
            returned = self.computation(called, _Region(op=index, arguments=arguments, depth=depth + 1))
            # A loop's condition returns a truth value that is nothing of what the loop carries.
            is_condition = instruction.opcode == "while" and not called.root.shape.is_tuple
            if len(returned) == len(results) and not is_condition:
                self.links += zip(returned, results, strict=True)

    # ------------------------------------------------------------ values

    def _values(self, instruction: Instruction, *, op: int | None, argument: int | None = None) -> _Leaves:
        first = len(self.values)
        specs = self._specs(instruction)
        for number, shape in enumerate(instruction.shape.leaves):
            found = specs[number]
            own = None if argument is None else argument + number
            self.values.append(
                ShardedValue(dtype=shape.dtype, shape=shape.dimensions, spec=found.dimensions, op=op, argument=own)
            )
        return tuple(range(first, len(self.values)))

    def _specs(self, instruction: Instruction) -> tuple[FoundSpec, ...]:
        """The spec of each array the instruction yields."""
        message = decode("Instruction", self.module.reader.raw(instruction.index), offset=0)
        shapes = instruction.shape.leaves
        written = message.sharding.SerializeToString() if message.HasField("sharding") else b""
        key = written, int(self.module.instructions.shape[instruction.index])
        if key not in self.specs:
            tilings = read_tilings(message.sharding, self.partitions) if written else ()
            self.specs[key] = self._found(tilings, shapes)
        return self.specs[key]

    def _found(self, tilings: tuple[Tiling, ...], shapes: tuple[Shape, ...]) -> tuple[FoundSpec, ...]:
        if len(tilings) == 1:
            tilings *= len(shapes)
        if len(tilings) != len(shapes):
            tilings = (Tiling(),) * len(shapes)
        return tuple(self._spec(tiling, len(shape.dimensions)) for tiling, shape in zip(tilings, shapes, strict=True))

    def _spec(self, tiling: Tiling, rank: int) -> FoundSpec:
        # Whole axes of another mesh are likelier than parts of axes of the first.
        for parts in (False, True):
            for mesh in self.meshes:
                found = find_spec(tiling, rank, mesh, self.device_ids, parts=parts)
                if found is not None:
                    return found
        return FoundSpec(dimensions=tuple(self._nameless(count) for count in (*tiling.counts, *(1,) * rank)[:rank]))

    def _nameless(self, count: int) -> tuple[str, ...]:
        """An axis for tiles that follow no mesh axis; its name says so."""
        if count == 1:
            return ()
        name = f"({count} tiles)"
        if {name: count} not in self.extra:
            self.extra.append({name: count})
        return (name,)


def _parameters(computation: Computation) -> list[Instruction]:
    found = [instruction for instruction in computation if instruction.opcode == "parameter"]
    return sorted(found, key=lambda instruction: instruction.details.parameter_number or 0)


def _element(instruction: Instruction, leaves: _Leaves) -> _Leaves:
    """The arrays of one element of a tuple."""
    number = instruction.details.tuple_index or 0
    elements = instruction.operands[0].shape.elements if instruction.operands else ()
    start = sum(len(element.leaves) for element in elements[:number])
    return leaves[start : start + len(elements[number].leaves)] if number < len(elements) else ()
