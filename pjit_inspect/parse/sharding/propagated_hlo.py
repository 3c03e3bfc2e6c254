"""The input of XLA's partitioner, from HLO in which every instruction has its sharding.

Shardings are known in GSPMD mode, too. Tuples are flattened: only arrays are values.

Names of a numbered copy (`observe.shardy.numbering`) have the numbers of their operations. XLA writes the calls that
lead to an instruction before its operation (`#38/closed_call/#97/add`), and joins the names of merged instructions
(`#45/mul;#44/mul`, `#38/closed_call/(#96/dot:#92/sum)`). A move of an argument has the argument's name, without a
number. Not its job: making XLA write such HLO (`observe.partitioner.service`), the meaning
of a sharding (`parse.sharding.hlo_sharding`), or relations between dimensions (`parse.sharding.hlo_rules`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from types import MappingProxyType
from typing import Any

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import Computation, HloModule, Instruction
from pjit_inspect.model.program.mesh import Dimensions, Mesh
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.sharding.sharded_program import (
    EntryValue,
    Place,
    ShardedOp,
    ShardedProgram,
    ShardedValue,
)
from pjit_inspect.parse.sharding.hlo_rules import find_edges, find_rule
from pjit_inspect.parse.sharding.hlo_sharding import FoundSpec, Tiling, find_spec, read_tilings
from pjit_inspect.parse.wire.hlo_schema import decode

_CALLERS = frozenset(("while", "conditional", "call"))
_MAX_DEPTH = 200
_INNER_JIT = re.compile(r"p?jit(\(.*\))?")
"""The name of a copy for the `in_shardings` or `out_shardings` of an inner jit."""

_Leaves = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PropagatedHlo:
    """A program, and the ops and values of each of its instructions.

    Attributes:
      program: the program.
      op_of: instruction -> its op; tuples, parameters and similar ones have none.
      values_of: instruction -> its arrays, in the order of its shape's leaves.
    """

    program: ShardedProgram
    op_of: dict[int, int]
    values_of: dict[int, _Leaves]


@dataclass(frozen=True, slots=True, kw_only=True)
class Borders:
    """The shardings of a program's arguments and results, where XLA's partitioner begins and ends.

    Attributes:
      inputs: for each argument, the axes of each dimension.
      outputs: the same for each result. A result that was left to the partitioner, and that its axes do not divide, is
        split differently from the value it is computed from.
    """

    inputs: tuple[Dimensions, ...]
    outputs: tuple[Dimensions, ...]


def read_borders(
    module: HloModule, meshes: Sequence[Mesh], device_ids: Sequence[int] | None = None, *, partitions: int
) -> Borders:
    """The shardings of arguments and results alone, without reading the rest; as `read_propagated_hlo`."""
    walk = _Walk(module=module, meshes=tuple(meshes), device_ids=device_ids, partitions=max(partitions, 1))
    entry = module.computation(module.entry)
    return Borders(
        inputs=tuple(spec.dimensions for own in _parameters(entry) for spec in walk.specs_of(own)),
        outputs=tuple(spec.dimensions for spec in walk.specs_of(entry.root)),
    )


def read_propagated_hlo(
    module: HloModule,
    meshes: Sequence[Mesh],
    device_ids: Sequence[int] | None = None,
    *,
    free_inputs: Sequence[bool] = (),
    free_outputs: Sequence[bool] = (),
    result_names: Sequence[str] = (),
    names: NumberedNames | None = None,
    partitions: int | None = None,
    rules: Mapping[int, Sequence[bytes]] = MappingProxyType({}),
) -> PropagatedHlo:
    """The program with the sharding of every value, read from HLO before partitioning.

    A dimension whose tiles follow no axes of any mesh is split over an axis "(4 tiles)" that no mesh has. An
    instruction without a sharding is not split: XLA treats it so. Raises ParseError for an invalid program.

    Args:
      module: HLO with `sharding` attributes.
      meshes: the user's meshes, most likely first.
      device_ids: the device of each partition; None when partitions are positions in the meshes.
      free_inputs: for each argument, whether its sharding was left to the partitioner.
      free_outputs: the same for each result.
      result_names: JAX's names of the results.
      names: the operations by their numbers, for the program of a numbered copy.
      partitions: the number of devices it is split over, if the module lacks it.
      rules: the number of each call that a rule of the user splits -> the sharding it wants each operand to have.
    """
    if partitions is None:
        partitions = int(module.device_counts[1]) if module.device_counts else 1
    walk = _Walk(
        module=module,
        meshes=tuple(meshes),
        device_ids=device_ids,
        partitions=max(partitions, 1),
        names=names or NumberedNames(()),
        rules=rules,
    )
    entry = module.computation(module.entry)
    leaves = 0
    for parameter in _parameters(entry):
        walk.argument_of[parameter.index] = leaves
        leaves += len(parameter.shape.leaves)
    results = walk.computation(entry, _Region())
    program = ShardedProgram(
        ops=tuple(walk.ops),
        values=tuple(walk.values),
        inputs=walk.inputs(entry, free_inputs),
        outputs=walk.outputs(entry.root, results, free_outputs, result_names),
        meshes=(*(mesh.sizes for mesh in meshes), *walk.extra),
        links=tuple(walk.links),
    )
    return PropagatedHlo(program=program, op_of=walk.op_of, values_of=walk.leaves)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Region:
    """The op whose region is read, its place if it is a call that XLA has not inlined, and the arrays that enter."""

    op: int | None = None
    call: Place = Place()  # noqa: RUF009  (frozen)
    arguments: tuple[_Leaves, ...] = ()
    depth: int = 0
    is_condition: bool = False


@dataclass(slots=True, kw_only=True)
class _Walk:
    """One pass over a module.

    `leaves` maps an instruction to its arrays (exactly one, except for tuples); `argument_of` a parameter of the entry
    to the number of its first array; `starts` a tuple to the start of each element's arrays.
    """

    module: HloModule
    meshes: tuple[Mesh, ...]
    device_ids: Sequence[int] | None
    partitions: int
    names: NumberedNames = field(default_factory=lambda: NumberedNames(()))
    rules: Mapping[int, Sequence[bytes]] = field(default_factory=dict)
    ops: list[ShardedOp] = field(default_factory=list)
    values: list[ShardedValue] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    leaves: dict[int, _Leaves] = field(default_factory=dict)
    op_of: dict[int, int] = field(default_factory=dict)
    argument_of: dict[int, int] = field(default_factory=dict)
    starts: dict[int, list[int]] = field(default_factory=dict)
    specs: dict[tuple[bytes, int], tuple[FoundSpec, ...]] = field(default_factory=dict)
    extra: list[dict[str, int]] = field(default_factory=list)

    # ------------------------------------------------------------ the program's borders

    def inputs(self, entry: Computation, free: Sequence[bool]) -> tuple[EntryValue, ...]:
        boundaries = []
        for instruction in _parameters(entry):
            for value in self.leaves[instruction.index]:
                number = len(boundaries)
                required = None if number < len(free) and free[number] else self.values[value].spec
                boundaries.append(EntryValue(name=_plain(instruction.op_name), value=value, spec=required))
        return tuple(boundaries)

    def outputs(
        self, root: Instruction, results: _Leaves, free: Sequence[bool], names: Sequence[str]
    ) -> tuple[EntryValue, ...]:
        # A returned value may be computed with another sharding; the tuple of results has the required one.
        required = [spec.dimensions for spec in self.specs_of(root)]
        if len(required) != len(results):
            required = [self.values[value].spec for value in results]
        return tuple(
            EntryValue(
                name=names[k] if k < len(names) else "",
                value=value,
                spec=None if k < len(free) and free[k] else required[k],
            )
            for k, value in enumerate(results)
        )

    # ------------------------------------------------------------ instructions

    def computation(self, computation: Computation, region: _Region) -> _Leaves:
        """Reads a computation; gives the arrays it returns."""
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
            self.leaves[instruction.index] = self._element(instruction, operands[0] if operands else ())
        else:
            self._op(instruction, region, operands)

    def _parameter(self, instruction: Instruction, region: _Region) -> None:
        number = instruction.number
        argument = self.argument_of.get(instruction.index) if region.op is None else None
        leaves = self._values(instruction, self.specs_of(instruction), op=region.op, argument=argument)
        self.leaves[instruction.index] = leaves
        entering = region.arguments[number] if number < len(region.arguments) else ()
        self.links += zip(entering, leaves, strict=False)

    def _element(self, instruction: Instruction, leaves: _Leaves) -> _Leaves:
        """The arrays of one element of a tuple."""
        number = instruction.number
        owner = instruction.operands[0] if instruction.operands else None
        if owner is None or number >= len(owner.shape.elements):
            return ()
        if owner.index not in self.starts:
            # Once per tuple: a step has thousands of carries and results.
            sizes = (len(element.leaves) for element in owner.shape.elements)
            self.starts[owner.index] = [0, *accumulate(sizes)]
        start, end = self.starts[owner.index][number : number + 2]
        return leaves[start:end]

    def _op(self, instruction: Instruction, region: _Region, operands: tuple[_Leaves, ...]) -> None:
        index = self.op_of[instruction.index] = len(self.ops)
        message = decode("Instruction", self.module.reader.raw(instruction.index), offset=0)
        place = self._place(instruction).within(region.call)
        opcode = _opcode(instruction, message, place.name)
        specs = self.specs_of(instruction, message)
        results = self.leaves[instruction.index] = self._values(instruction, specs, op=index)
        shapes = [leaf for operand in instruction.operands for leaf in operand.shape.leaves]
        self.ops.append(
            ShardedOp(
                opcode=opcode,
                op_name=place.name,
                frames=place.frames,
                spans=place.spans,
                operands=tuple(chain.from_iterable(operands)),
                results=results,
                rule=find_rule(message, shapes, instruction.shape.leaves),
                parent=region.op,
                manual=next((spec.manual for spec in specs if spec.manual), ()),
                wanted=self._wanted(instruction, shapes) if self.rules else (),
                edges=find_edges(message),
                detail=message.custom_call_target or _detail(instruction, message),
                in_condition=region.is_condition,
                is_on_one=bool(specs) and all(spec.is_on_one for spec in specs),
            )
        )
        if instruction.opcode in _CALLERS:
            self._calls(instruction, index, operands, region)

    def _wanted(self, instruction: Instruction, shapes: Sequence[Shape]) -> tuple[Dimensions, ...]:
        """The specs in which a rule of the user wants the operands of its call; () for any other operation."""
        number = self.names.number(instruction.op_name) if instruction.opcode == "custom-call" else None
        written = self.rules.get(number, ()) if number is not None else ()
        tilings = [read_tilings(decode("OpSharding", own, offset=0), self.partitions) for own in written]
        found = (self._found(tiling, (shape,)) for tiling, shape in zip(tilings, shapes, strict=False))
        return tuple(spec.dimensions for (spec,) in found)

    def _place(self, instruction: Instruction) -> Place:
        place = self.names.place(instruction.op_name)
        # XLA's own names, or a program that was not numbered.
        return place if place.frames else replace(place, frames=instruction.frames, spans=())

    def _calls(self, instruction: Instruction, index: int, operands: tuple[_Leaves, ...], outer: _Region) -> None:
        results = self.leaves[instruction.index]
        branches = instruction.opcode == "conditional"
        own = self.ops[index]
        # XLA inlines calls before it partitions, and writes where they were into the names.
        is_left = instruction.opcode == "call" and self.partitions == 1
        place = Place(name=own.op_name, frames=own.frames, spans=own.spans) if is_left else outer.call
        for number, called in enumerate(instruction.called):
            arguments = operands[number + 1 : number + 2] if branches else operands
            # XLA lists a loop's body first, then its condition, whose result the loop does not carry. Return types
            # cannot tell them apart: a loop may carry a single array, and that may be a truth value.
            is_condition = instruction.opcode == "while" and number == 1
            region = _Region(
                op=index, call=place, arguments=arguments, depth=outer.depth + 1, is_condition=is_condition
            )
            returned = self.computation(called, region)
            if len(returned) == len(results) and not is_condition:
                self.links += zip(returned, results, strict=True)

    # ------------------------------------------------------------ values

    def _values(
        self, instruction: Instruction, specs: Sequence[FoundSpec], *, op: int | None, argument: int | None = None
    ) -> _Leaves:
        first = len(self.values)
        for number, (shape, spec) in enumerate(zip(instruction.shape.leaves, specs, strict=True)):
            own = None if argument is None else argument + number
            self.values.append(
                ShardedValue(dtype=shape.dtype, shape=shape.dimensions, spec=spec.dimensions, op=op, argument=own)
            )
        return tuple(range(first, len(self.values)))

    def specs_of(self, instruction: Instruction, message: Any = None) -> tuple[FoundSpec, ...]:
        """The spec of each array that the instruction yields."""
        if message is None:
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
        found: dict[tuple[int, int], FoundSpec] = {}
        for tiling, shape in zip(tilings, shapes, strict=True):
            # By identity: equal tilings of a tuple are one object.
            key = id(tiling), len(shape.dimensions)
            if key not in found:
                found[key] = self._spec(tiling, key[1])
        return tuple(found[id(tiling), len(shape.dimensions)] for tiling, shape in zip(tilings, shapes, strict=True))

    def _spec(self, tiling: Tiling, rank: int) -> FoundSpec:
        # Whole axes of another mesh are likelier than parts of axes of the first.
        for parts in (False, True):
            for mesh in self.meshes:
                spec = find_spec(tiling, rank, mesh, self.device_ids, parts=parts)
                if spec is not None:
                    return spec
        dimensions = tuple(self._nameless(count) for count in (*tiling.counts, *(1,) * rank)[:rank])
        return FoundSpec(dimensions=dimensions, is_on_one=tiling.device is not None)

    def _nameless(self, count: int) -> tuple[str, ...]:
        """An axis for tiles that follow no mesh axis, named accordingly."""
        if count == 1:
            return ()
        name = f"({count} tiles)"
        if {name: count} not in self.extra:
            self.extra.append({name: count})
        return (name,)


def _plain(name: str) -> str:
    """An argument's name as JAX writes it: XLA escapes its quotes."""
    return name.replace("\\'", "'")


def _opcode(instruction: Instruction, message: Any, op_name: str) -> str:
    """XLA's opcode; the name of the request for ops that come from a user's request."""
    name = op_name.rpartition("/")[2]
    asked = instruction.opcode == "copy" or message.custom_call_target == "Sharding"
    if asked and (name in REQUESTS or _INNER_JIT.fullmatch(name)):
        kind = name if name in REQUESTS else "sharding_constraint"
    else:
        kind = instruction.opcode
    return f"hlo.{kind.replace('-', '_')}"


def _detail(instruction: Instruction, message: Any) -> str:
    """The opcode that combines two elements, of what has one; the piece of a slice as "0:1,0:16"; "" for others."""
    if instruction.opcode == "slice":
        return ",".join(f"{own.start}:{own.limit}" for own in message.slice_dimensions)
    if instruction.opcode not in ("reduce", "scatter", "reduce-window", "all-reduce") or not instruction.called:
        return ""
    return instruction.called[0].root.opcode


def _parameters(computation: Computation) -> list[Instruction]:
    parameters = [instruction for instruction in computation if instruction.opcode == "parameter"]
    return sorted(parameters, key=lambda instruction: instruction.number)


_NUMBER = re.compile(r"(?<![^/(:;])#(\d{1,9})(?:/([\w.-]+))?(/|(?=[;:)]|$))", re.ASCII)
_OF_RULE = re.compile(r"pjit_inspect_rule(\d{1,9})_", re.ASCII)
_NAME = re.compile(r'(?<=op_name=")[^"\n]*(?=")')
_FIRST = re.compile(r"[^;:]*")


def _within(places: Sequence[Place]) -> Place:
    """The place of the last operation, with those of the calls before it around it."""
    *calls, own = places
    for call in reversed(calls):
        own = own.within(call)
    return own


def _bracketed(text: str) -> list[str]:
    """The text outside and inside of outermost brackets, in turn."""
    pieces, depth = [""], 0
    for letter in text:
        depth += letter == "("
        if letter in "()" and depth == 1:
            pieces.append("")
        else:
            pieces[-1] += letter
        depth -= letter == ")" and depth > 0
    return pieces


def _split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks that are not in brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def merged_names(name: str) -> tuple[str, ...]:
    """Every name of an operation that XLA joined into one, in the form of `NumberedNames.paths`; () for ""."""
    if len(merged := _split(name, ";")) > 1:
        return tuple(dict.fromkeys(one for part in merged for one in merged_names(part)))
    names = [""]
    for place, piece in enumerate(_bracketed(name)):
        inner = _split(piece, ":") if place % 2 else [piece]
        inner = [f"({piece})"] if place % 2 and len(inner) == 1 else inner
        names = [own + more for own in names for more in inner]
    return tuple(filter(None, names))


class NumberedNames:
    """The names of a numbered copy.

    Args:
      places: the place of each numbered operation.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._known: dict[str, Place] = {}

    def number(self, name: str) -> int | None:
        """The number of the operation that an instruction of this name does; None for one that XLA added."""
        matches = _NUMBER.finditer(_FIRST.match(name)[0])  # type: ignore[index]
        return next((int(own[1]) for own in reversed(list(matches)) if self._numbered(own) is not None), None)

    def paths(self, name: str) -> tuple[tuple[int, ...], ...]:
        """Every operation that a name joins, each as the numbers of its calls and last its own; () for none.

        XLA writes `a;b` for merged operations, and `call/(a:b)` for combined ones.
        """
        if len(merged := _split(name, ";")) > 1:
            return tuple(dict.fromkeys(path for part in merged for path in self.paths(part)))
        paths: list[tuple[int, ...]] = [()]
        for place, piece in enumerate(_bracketed(name)):
            if place % 2:
                inner = [path for part in _split(piece, ":") for path in self.paths(part)] or [()]
            else:
                inner = [tuple(int(own[1]) for own in _NUMBER.finditer(piece) if self._numbered(own) is not None)]
            paths = [path + more for path in paths for more in inner]
        return tuple(path for path in dict.fromkeys(paths) if path)

    def of_path(self, path: Sequence[int]) -> Place:
        """JAX's place of an operation that `paths` gave."""
        return _within([self._places[number] for number in path])

    def of_rules(self, module: HloModule) -> dict[int, Place]:
        """The instructions that partition rules have made of their calls, each with its place in its call.

        XLA gives them the name of the call, and leaves to each instruction its own.
        """
        numbers = map(_OF_RULE.match, module.reader.names(range(len(module))))
        found = ((index, int(number[1])) for index, number in enumerate(numbers) if number is not None)
        return {
            index: self._places[number].within(self.place(module.instruction(index).op_name))
            for index, number in found
            if number < len(self._places)
        }

    def place(self, name: str) -> Place:
        """JAX's place of an instruction, from its name in the copy; without a number, the name alone."""
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str) -> Place:
        numbers = map(self._numbered, _NUMBER.finditer(_FIRST.match(name)[0]))  # type: ignore[index]
        found = [place for place in numbers if place is not None]
        if not found:
            return Place(name=name)
        own = _within(found)
        # Of several merged operations, the first is what the instruction still does, and has the calls.
        first, *others = map(self._restored, name.split(";"))
        others = [part for part in dict.fromkeys(others) if part and not f"/{first}".endswith(f"/{part}")]
        return replace(own, name=";".join((first, *others)))

    def _numbered(self, match: re.Match[str]) -> Place | None:
        """The operation of a number; None for text that only looks like one, as in an argument's name."""
        number, last = int(match[1]), match[2] or ""
        place = self._places[number] if number < len(self._places) else None
        return place if place is not None and place.kept == last else None

    def _restored(self, part: str) -> str:
        restored = part
        for match in reversed(list(_NUMBER.finditer(part))):
            place, rest = self._numbered(match), restored[match.end() :]
            if place is None:
                continue
            # XLA puts calls in place from the inside out, and the name of a call only before what has it not yet.
            has_it = match[3] == "/" and rest.startswith(place.name)
            restored = part[: match.start()] + (rest if has_it or not place.name else f"{place.name}{match[3]}{rest}")
        # The last operation may have no name, while its calls have one.
        return restored.removesuffix("/") if restored != part else part

    def in_text(self, text: str) -> str:
        """A text by XLA with the operations' original names."""
        return _NAME.sub(lambda match: self.place(match[0]).name, text)

    def in_program(self, content: bytes) -> bytes:
        """A serialized `xla.HloModuleProto` with the operations' original names. Raises ParseError."""
        module = decode("Module", content, offset=0)
        for place, computation in enumerate(module.computations):
            module.computations[place] = self._in_computation(computation)
        # XLA takes a name right before a file for that of a function.
        names = module.stack_frame_index.function_names
        for place, name in enumerate(names):
            names[place] = self.place(name).name
        return module.SerializeToString()

    def _in_computation(self, content: bytes) -> bytes:
        computation = decode("Computation", content, offset=0)
        for place, own in enumerate(computation.instructions):
            instruction = decode("Instruction", own, offset=0)
            if name := instruction.metadata.op_name:
                instruction.metadata.op_name = self.place(name).name
                computation.instructions[place] = instruction.SerializeToString()
        return computation.SerializeToString()
