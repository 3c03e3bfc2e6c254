"""One of two compared programs: its facts, and its names made comparable.

Not its job: comparing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.diff.axes import called_after, code_after, find_renamed, source_after, spec_after
from pjit_inspect.analyze.diff.names import LayerNames, clean_scope, same_layers, skeleton
from pjit_inspect.analyze.diff.places import Place, Places
from pjit_inspect.model.diff.pairs import ArrayDiff
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.program.opcodes import may_communicate
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.model.words.sentence import Sentence

Stack = tuple[Place | None, ...]

"""Opcodes that some backends use to implement collectives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSharding:
    """A sharding that the user's code asks for.

    Attributes:
      op_name: JAX's name of it, with scopes.
      source: the user's frames, innermost first.
      values: its operands and results, as indices in `ShardedProgram.values`.
      type: the type and the global shape of the array.
      spec: the sharding.
    """

    op_name: str
    source: tuple[Frame, ...]
    values: tuple[int, ...]
    type: Hashable
    spec: PartitionSpec

    @property
    def where(self) -> str:
        """The short place a person reads; "" where none is known."""
        return self.source[0].where if self.source else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffSide:
    """One of two compared programs.

    Attributes:
      report: its record, with all analyses.
      module: its optimized program; None for none.
      program: the program before partitioning; None if unknown.
      shardings: its values before partitioning.
      requests: the shardings that its code asks for, in order.
      sources: the user's known source texts.
      warnings: XLA's warnings.
    """

    report: RecordReport
    module: HloModule | None = None
    program: ShardedProgram | None = None
    shardings: ShardingTable = field(default_factory=ShardingTable)
    requests: tuple[AskedSharding, ...] = ()
    sources: Sequence[SourceText] = ()
    warnings: tuple[XlaWarning, ...] = ()

    @property
    def data(self) -> RecordData:
        """The record."""
        return self.report.data

    @property
    def collectives(self) -> CollectiveTable:
        """The collectives in the order in which they are scheduled."""
        rows = self.report.collectives or CollectiveTable(())
        module = self.module
        if module is None:
            return rows

        places = _places(module)

        def place(row: Collective) -> int:
            return places.get(row.instructions[0], -1) if row.instructions else -1

        return CollectiveTable(tuple(sorted(rows, key=place)))

    def stacks(self) -> Iterable[tuple[Frame, ...]]:
        """The stacks of frames of all rows, each once."""
        rows = (*(self.report.collectives or ()), *(self.report.fusions or ()), *self.shardings.rows, *self.requests)
        return {id(row.source): row.source for row in rows}.values()

    @property
    def values(self) -> tuple[ValueSharding, ...]:
        """The values in the order of the program."""
        return tuple(sorted(self.shardings.rows, key=lambda row: row.position))


def _places(module: HloModule) -> dict[str, int]:
    """Schedule positions of the instructions of collectives, by name; no others, as there may be 100,000."""
    wanted = filter(may_communicate, module.opcodes)
    return {module.reader.name(k): int(module.places[k]) for k in module.with_opcode(*wanted).tolist()}


@dataclass(slots=True)
class ProgramNames:
    """The meaning of one program's names and places, in words that both programs share.

    Attributes:
      layers: the layers that its numbers denote.
      places: its lines of source.
      paths: the names of its arguments and results.
      function: the name of the function that was compiled.
      renamed: arguments and results that the other program has under another name -> that name.
      renamed_axes: mesh axes that the program after has under another name -> that name.
    """

    layers: LayerNames
    places: Places
    paths: frozenset[str]
    function: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    renamed_axes: Mapping[str, str] = field(default_factory=dict)
    _scopes: dict[str, str] = field(init=False, default_factory=dict)
    _stacks: dict[tuple[int, bool], Stack] = field(init=False, default_factory=dict)

    def scope(self, op_name: str) -> str:
        """The user's scopes and the primitive of an operation."""
        if op_name not in self._scopes:
            self._scopes[op_name] = self.layers.of(clean_scope(op_name))
        return self._scopes[op_name]

    def path(self, path: str) -> str:
        """An argument or result."""
        return self.layers.of(self.renamed.get(path, path))

    def axes(self, axes: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Mesh axes."""
        return None if axes is None else tuple(called_after(own, self.renamed_axes) for own in axes)

    def spec(self, spec: PartitionSpec | None) -> PartitionSpec | None:
        """A PartitionSpec."""
        return spec_after(spec, self.renamed_axes)

    def code(self, text: str) -> str:
        """A name or a piece of code in a sentence: an argument by its path, code without names of variables."""
        return self.path(text) if text in self.paths else skeleton(code_after(text, self.renamed_axes))

    def stack(self, frames: tuple[Frame, ...], *, is_loose: bool = False) -> Stack:
        """The places of some frames; the function that was compiled has no name."""
        key = (id(frames), is_loose)
        if key not in self._stacks:
            found = self.places.stack(frames, is_loose=is_loose)
            self._stacks[key] = tuple(p and (("" if p[0] == self.function else p[0]), p[1], p[2]) for p in found)
        return self._stacks[key]

    def sentence(self, sentence: Sentence) -> tuple[str, ...]:
        """The names and the code in a sentence, without axes, specs, places and plain words."""
        return tuple(self.code(phrase.text) for phrase in sentence.phrases if phrase.kind in ("name", "code"))


def names_of_both(before: DiffSide, after: DiffSide) -> tuple[ProgramNames, ProgramNames]:
    """The names of two programs."""
    is_known = bool(before.shardings.rows and after.shardings.rows)
    one, two = (_named(side, is_known=is_known) for side in (before, after))
    layers = same_layers(one, two, by_number=not is_known)
    renamed = find_renamed(before.data.mesh, after.data.mesh)
    return _names(before, layers[0], renamed), _names(after, layers[1], {})


def with_renamed(
    names: tuple[ProgramNames, ProgramNames], arrays: Iterable[ArrayDiff]
) -> tuple[ProgramNames, ProgramNames]:
    """The names of two programs, with one shared name for joined arrays that are named differently."""
    pairs = [(pair.before, pair.after) for table in arrays for pair in table]
    paths = ((one.path, two.path) for one, two in pairs if one is not None and two is not None)
    same = [(one, two) for one, two in paths if names[0].path(one) != names[1].path(two)]
    # A name of neither program: both get the same one, whichever comes first.
    shared = tuple({pair[side]: "|".join(sorted(pair)) for pair in same} for side in (0, 1))
    return replace(names[0], renamed=shared[0]), replace(names[1], renamed=shared[1])


def _names(side: DiffSide, layers: LayerNames, renamed_axes: Mapping[str, str]) -> ProgramNames:
    data = side.data
    stacks = [frames for frames in side.stacks() if frames]
    outside = frozenset(stacks[0]).intersection(*map(frozenset, stacks[1:])) if stacks else frozenset()
    return ProgramNames(
        layers=layers,
        places=Places(source_after(side.sources, renamed_axes), outside),
        paths=frozenset(layout.path for layout in (*data.inputs, *data.outputs)),
        function=data.name,
        renamed_axes=renamed_axes,
    )


def _named(side: DiffSide, *, is_known: bool) -> list[tuple[str, Hashable]]:
    """Every name with layer numbers in it, and the facts about its value."""
    data = side.data
    named: list[tuple[str, Hashable]] = [
        (layout.path, (layout.dtype, layout.global_shape)) for layout in (*data.inputs, *data.outputs)
    ]
    values = side.shardings.rows if is_known else ()
    named += [(clean_scope(row.op_name), (row.dtype, row.global_shape)) for row in values if row.op_name]
    # If nothing is known before partitioning, compare only names: shapes after it depend on the shardings.
    rows = () if is_known else (*(side.report.fusions or ()), *(side.report.collectives or ()))
    named += [(clean_scope(row.op_name), None) for row in rows if row.op_name]
    return named
