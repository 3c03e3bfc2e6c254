"""Finds the parts of a program that can be set, and those that belong together, once for a record.

Not its job: the present settings (`controls`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.play.mirrors import find_followed
from pjit_inspect.analyze.play.next_values import find_next_values, is_differentiated
from pjit_inspect.analyze.program.explicit_axes import find_explicit_axes
from pjit_inspect.analyze.program.paths import split_path
from pjit_inspect.analyze.program.phases import find_phase, is_asked_name
from pjit_inspect.model.play.code import Call
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import PartitionSpec, entry_of
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.sharding.sharded_program import EntryValue, ShardedProgram

_SAME = operations("convert", "copy", "request")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundConstraint:
    """The constraints of one line.

    Attributes:
      place, source, count, shape, asked: as in `ConstraintControl`.
      shapes: the shapes of all constrained arrays.
    """

    place: str
    source: tuple[Frame, ...]
    count: int
    shape: tuple[int, ...] | None
    asked: PartitionSpec | None
    shapes: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The parts of a record that can be set.

    Attributes:
      name: the function's name.
      mesh: axes with their sizes, as captured.
      target: the default machine of variants.
      arguments, results: those of the compiled program, in order.
      specs: path -> the captured sharding of an argument or result; None if unknown.
      free_arguments, free_results: the paths whose sharding XLA chooses.
      follows: path of an argument -> the parameter it follows.
      returns: path of a result -> the argument it is the next value of.
      differentiated: the paths of arguments that differentiated code uses.
      constraints: the user's constraints, in program order.
      is_mesh_given: whether the program names no mesh: `mesh` was then made for it.
      call: its call, including static arguments and those that the program does not use.
      explicit: the axes that are part of its array types, in words: they prevent changes of specs; "" for none.
    """

    name: str
    mesh: tuple[tuple[str, int], ...]
    target: str
    arguments: tuple[ArrayLayout, ...]
    results: tuple[ArrayLayout, ...]
    specs: dict[str, PartitionSpec | None] = field(default_factory=dict)
    free_arguments: frozenset[str] = frozenset()
    free_results: frozenset[str] = frozenset()
    follows: dict[str, str] = field(default_factory=dict)
    returns: dict[str, str] = field(default_factory=dict)
    differentiated: frozenset[str] = frozenset()
    constraints: tuple[FoundConstraint, ...] = ()
    is_mesh_given: bool = False
    explicit: str = ""
    call: Call = field(default_factory=lambda: Call(arguments=()))

    @property
    def why_fixed(self) -> str:
        """Why no spec can be changed; "" where they can."""
        if not self.explicit:
            return ""
        return f"traced with Explicit axes ({self.explicit}), so specs are part of the program: trace it with others"


def find_facts(
    data: RecordData,
    program: ShardedProgram | None,
    mesh: tuple[tuple[str, int], ...],
    target: str,
    *,
    is_mesh_given: bool = False,
    call: Call | None = None,
) -> Facts:
    """The facts of a record on its mesh; without the `program` before partitioning, only from its arguments.

    `call` is the function's call, if known; the default has the arguments with arrays, in order.
    """
    arguments = tuple(own for own in data.inputs if own.kept)
    shapes = {own.path: own.global_shape for own in arguments}
    inputs, outputs = (program.inputs, program.outputs) if program is not None else ((), ())
    chosen = [replace(own, spec=program.values[own.value].spec) for own in inputs] if program is not None else []
    differentiated = frozenset(_differentiated(program, arguments))
    return Facts(
        name=data.name,
        mesh=mesh,
        target=target,
        arguments=arguments,
        results=data.outputs,
        specs=_specs(arguments, chosen) | _specs(data.outputs, outputs),
        free_arguments=_free(arguments, [own.spec is None for own in inputs]),
        free_results=_free(data.outputs, [own.spec is None for own in outputs]),
        follows=find_followed(shapes, differentiated),
        differentiated=differentiated,
        returns={} if program is None else _returned(program, arguments, data.outputs),
        constraints=() if program is None else _constraints(program),
        is_mesh_given=is_mesh_given,
        explicit=find_explicit_axes(data),
        call=_called(data) if call is None else call,
    )


def _called(data: RecordData) -> Call:
    """A call with the arguments that have arrays; an argument whose arrays are all donated is donated again."""
    roots: dict[str, list[bool]] = {}
    for own in data.inputs:
        roots.setdefault(split_path(own.path)[0], []).append(own.donated)
    donated = tuple(root for root, own in roots.items() if all(own))
    return Call(arguments=tuple(roots), options=(f"donate_argnames={donated!r}",) if donated else ())


def _specs(layouts: Sequence[ArrayLayout], entries: Sequence[EntryValue]) -> dict[str, PartitionSpec | None]:
    """The specs of arrays; for a program that was only lowered, they are found only in the program."""
    found: dict[str, PartitionSpec | None] = {own.path: own.spec for own in layouts}
    for own, entry in zip(layouts, entries, strict=True) if len(layouts) == len(entries) else ():
        if entry.spec is not None:
            # A random key is an array of words in the program, with one dimension more than the user sees.
            found[own.path] = tuple(map(entry_of, entry.spec[: len(own.global_shape)]))
    return found


def _free(layouts: Sequence[ArrayLayout], are_free: Sequence[bool]) -> frozenset[str]:
    if len(layouts) != len(are_free):
        return frozenset()
    return frozenset(own.path for own, is_free in zip(layouts, are_free, strict=True) if is_free)


def _returned(
    program: ShardedProgram, arguments: Sequence[ArrayLayout], results: Sequence[ArrayLayout]
) -> dict[str, str]:
    return find_next_values(program, [own.path for own in arguments], [own.path for own in results])


def _differentiated(program: ShardedProgram | None, arguments: Sequence[ArrayLayout]) -> Collection[str]:
    """The arguments that code uses which was differentiated, as they are or as another type, inside loops, too."""
    if program is None or len(program.inputs) != len(arguments):
        return ()
    inside: dict[int, list[int]] = {}
    for source, target in program.links:
        inside.setdefault(source, []).append(target)

    def is_used(value: int) -> bool:
        border, seen = [value], {value}
        while border:
            own = border.pop()
            users = [program.ops[user] for user, _ in program.users.get(own, ())]
            if any(map(is_differentiated, users)):
                return True
            same = [one for user in users if user.kind in _SAME for one in user.results]
            border += [one for one in (*same, *inside.get(own, ())) if one not in seen]
            seen.update(border)
        return False

    return {own.path for own, entry in zip(arguments, program.inputs, strict=True) if is_used(entry.value)}


def _constraints(program: ShardedProgram) -> tuple[FoundConstraint, ...]:
    """The user's constraints, grouped by line; the one before differentiation gives the place."""
    found: dict[str, list[int]] = {}
    for index, op in enumerate(program.ops):
        if op.kind == "sharding_constraint" and op.frames and not op.manual and is_asked_name(op.op_name):
            found.setdefault(op.frames[0].where, []).append(index)
    return tuple(_constraint(program, place, own) for place, own in found.items())


def _constraint(program: ShardedProgram, place: str, indices: Sequence[int]) -> FoundConstraint:
    first = next((own for own in indices if find_phase(program.ops[own].op_name) == "forward"), indices[0])
    values = [program.values[program.ops[own].results[0]] for own in indices]
    shapes = tuple(dict.fromkeys(value.shape for value in values))
    specs = {value.spec for value in values}
    asked = tuple(map(entry_of, next(iter(specs)))) if len(specs) == 1 else None
    return FoundConstraint(
        place=place,
        source=program.ops[first].frames,
        count=len(indices),
        shape=shapes[0] if len(shapes) == 1 else None,
        asked=asked,
        shapes=shapes,
    )
