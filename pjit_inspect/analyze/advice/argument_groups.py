"""Arguments that change together: those of equal layers, with the optimizer's state that goes with a parameter.

Not its job: what they are changed to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

_NUMBER = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualArguments:
    """Arguments that differ in the number of a layer only.

    Attributes:
      pattern: their name, numbers as `[*]`.
      label: the name of the first.
      members: their positions.
      peers: positions of arguments of the same path under another name (the optimizer's state).
      results: positions of results of the same path that must be sharded as these arguments are.
      shape, spec: of each.
    """

    pattern: str
    label: str
    members: tuple[int, ...]
    peers: tuple[int, ...]
    results: tuple[int, ...]
    shape: tuple[int, ...]
    spec: Dimensions

    def edits(self, spec: Dimensions) -> tuple[Edit, ...]:
        """The change of all of them to a sharding."""
        arguments = (Edit(kind="argument", index=index, spec=spec) for index in (*self.members, *self.peers))
        return (*arguments, *(Edit(kind="result", index=index, spec=spec) for index in self.results))

    @property
    def words(self) -> str:
        """`params['w1']`, or "the 4 `layers[*]['w1']`"."""
        return f"`{self.label}`" if len(self.members) == 1 else f"the {len(self.members)} `{self.pattern}`"


def argument_groups(program: ShardedProgram) -> tuple[EqualArguments, ...]:
    """All arguments that have a name and dimensions, in groups."""
    by_key: dict[tuple[str, tuple[int, ...], Dimensions], list[int]] = {}
    for index, boundary in enumerate(program.inputs):
        value = program.values[boundary.value]
        if boundary.label and value.shape:
            by_key.setdefault((_NUMBER.sub("[*]", boundary.label), value.shape, value.spec), []).append(index)
    return tuple(
        EqualArguments(
            pattern=pattern,
            label=program.inputs[members[0]].label,
            members=tuple(members),
            peers=tuple(_peers(program, members, shape, spec)),
            results=tuple(_results(program, members, shape, spec)),
            shape=shape,
            spec=spec,
        )
        for (pattern, shape, spec), members in by_key.items()
    )


def _path(name: str) -> str:
    """The part of a path after the argument's name: `['layers'][0]['w1']`; "" for an argument that is one array."""
    return name[min((name.index(sign) for sign in "[." if sign in name), default=len(name)) :]


def _peers(program: ShardedProgram, members: list[int], shape: tuple[int, ...], spec: Dimensions) -> Iterator[int]:
    paths = {_path(program.inputs[index].label) for index in members} - {""}
    for index, boundary in enumerate(program.inputs):
        value = program.values[boundary.value]
        if index not in members and _ends_with(boundary.label, paths) and (value.shape, value.spec) == (shape, spec):
            yield index


def _results(program: ShardedProgram, members: list[int], shape: tuple[int, ...], spec: Dimensions) -> Iterator[int]:
    """A result of the same path that must be sharded as the argument is: it is the argument of the next call."""
    paths = {_path(program.inputs[index].label) for index in members} - {""}
    for index, boundary in enumerate(program.outputs):
        if (
            boundary.spec == spec
            and program.values[boundary.value].shape == shape
            and _ends_with(boundary.label, paths)
        ):
            yield index


def _ends_with(name: str, paths: set[str]) -> bool:
    return any(name.endswith(path) for path in paths)
