"""Everything in which two programs differ, as JAX lowered them and as XLA compiled them, as frozen data.

Not its job: finding it (`analyze.diff`), laying it out (`view.diff`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.diff.pairs import ArrayDiff, CollectiveDiff, KernelDiff, ShardingDiff, WarningDiff
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.words.sentence import Sentence, joined, say

Provenance = Literal["counted", "modelled", "measured"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFacts:
    """One of the two programs.

    Attributes:
      name: the function's name as the user wrote it.
      where: the user's line that led to the compile; None when it is not known.
      mesh: the mesh of most arguments and results; None when they follow none.
      devices: the devices it was compiled for, in words ("8 cpu devices").
      asked: changes made in a copy, in words, for a program that never ran; () for others.
      is_partial: whether it is the program as XLA's partitioner left it: not combined, fused or scheduled.
      jax: the version of JAX that made it; "" when it is not known.
      incomplete: the missing part of its optimized program; "" if it is complete.
      beside: its communication outside HLO collectives, in words; "" for none.
    """

    name: str
    where: Frame | None = None
    mesh: Mesh | None = None
    devices: str = ""
    asked: tuple[str, ...] = ()
    is_partial: bool = False
    jax: str = ""
    incomplete: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of both programs.

    Attributes:
      name: the quantity ("sent", "temporary memory").
      unit: "bytes", "s", "FLOP", or "" for a count. Bytes and FLOP are per device and call.
      before, after: its values; None if unknown.
      provenance: "counted" from the program, "modelled" by a formula, "measured" on a machine.
      at_least: whether the values before and after are lower bounds, because a part of the program is missing.
    """

    name: str
    unit: Literal["bytes", "s", "FLOP", ""]
    before: float | None
    after: float | None
    provenance: Provenance = "counted"
    at_least: tuple[bool, bool] = (False, False)

    @property
    def is_same(self) -> bool:
        """True if both are equal; a value and the least of another are not."""
        return self.before == self.after and self.at_least[0] == self.at_least[1]

    @property
    def is_comparable(self) -> bool:
        """True if both values are known, and of whole programs: only then the change is."""
        return self.before is not None and self.after is not None and not any(self.at_least)


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisDiff:
    """Traffic of all collectives over the same axes, in both programs.

    Attributes:
      axes: as in `Collective.axes`.
      before_count, after_count: number of collectives (counted).
      before_bytes, after_bytes: bytes the busiest device sends per call (modelled: ring).
    """

    axes: tuple[str, ...] | None
    before_count: int
    after_count: int
    before_bytes: int
    after_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Something that was chosen around the program: a flag, a version, the mesh.

    Attributes:
      kind: which of these.
      name: the flag's, the package's; "mesh".
      before, after: its values; None where it is not set.
    """

    kind: Literal["flag", "version", "mesh", "devices"]
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceChange:
    """A line of the user's source that only one of the programs has. Lines that only moved are none.

    Attributes:
      before: where it was; None for a line that is new.
      after: where it is; None for a line that is gone.
      text: the line, without the spaces before it.
    """

    before: Frame | None
    after: Frame | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The parts of a change that are due to JAX and to XLA.

    Attributes:
      lowering: the comparison of both programs as JAX lowered them.
      by_xla: the change due to XLA: the old program against its StableHLO compiled by the new XLA; None if that was not
        compiled.
      by_jax: the change due to JAX's lowering: that program against the new one; None likewise.
      missing: why it was not compiled; "" if it was, or need not be because the lowering is the same.
    """

    lowering: LoweringDiff
    by_xla: DiffData | None = None
    by_jax: DiffData | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffData:
    """Two programs compared.

    Attributes:
      before, after: which programs.
      answer: what got more, what less, and because of what, as far as facts prove it.
      parity: how the work of the two differs (argument shapes, functions, FLOP by more than 1 %), each in a sentence;
        () where they are the same.
      collectives, kernels, shardings: the rows of both.
      arguments, results: the flattened arguments and results of both.
      warnings: XLA's warnings.
      figures: bytes sent, memory, kernels, FLOP, seconds of compiling.
      axes: bytes sent and number of collectives for each set of mesh axes, most bytes first.
      renamed_axes: mesh axes with the same devices in both, under other names: (before, after).
      settings: flags, versions, meshes and devices that differ.
      source: lines of the user's functions that differ.
      notes: surprises for a reader ("there is no optimized program before").
      stages: the parts of the change due to JAX's lowering and to XLA, for programs of two versions of JAX; None for
        others.
    """

    before: SideFacts
    after: SideFacts
    answer: Sentence = Sentence()  # noqa: RUF009  (frozen)
    parity: tuple[Sentence, ...] = ()
    collectives: CollectiveDiff = CollectiveDiff(())  # noqa: RUF009
    kernels: KernelDiff = KernelDiff(())  # noqa: RUF009
    shardings: ShardingDiff = ShardingDiff(())  # noqa: RUF009
    arguments: ArrayDiff = ArrayDiff(())  # noqa: RUF009
    results: ArrayDiff = ArrayDiff(())  # noqa: RUF009
    warnings: WarningDiff = WarningDiff(())  # noqa: RUF009
    figures: tuple[Figure, ...] = ()
    axes: tuple[AxisDiff, ...] = ()
    renamed_axes: tuple[tuple[str, str], ...] = ()
    settings: tuple[Setting, ...] = ()
    source: tuple[SourceChange, ...] = ()
    notes: tuple[Sentence, ...] = ()
    stages: Stages | None = None

    @property
    def sentence(self) -> Sentence:
        """The answer; preceded by the differences in work, if the two do not do the same work."""
        if not self.parity:
            return self.answer
        return say("not the same work: {}; {}", joined(self.parity, "; ", comma="; "), self.answer)

    @property
    def is_incomplete(self) -> bool:
        """True if one or both of the programs are incomplete: parts they lack may not be gone."""
        return bool(self.before.incomplete or self.after.incomplete)

    @property
    def is_empty(self) -> bool:
        """True if the programs are the same in all that is counted, and were compiled alike.

        Of an incomplete program the part that is there is compared. What is measured differs from run to run, and lines
        of source that only moved, or whose names and comments changed, make no other program.
        """
        tables = (self.collectives, self.kernels, self.shardings, self.arguments, self.results, self.warnings)
        counted = (figure for figure in self.figures if figure.provenance != "measured")
        is_alike = not self.settings and self.before.beside == self.after.beside
        return is_alike and all(t.is_empty for t in tables) and all(figure.is_same for figure in counted)

    @property
    def is_same_program(self) -> bool:
        """True if both have the same collectives and kernels, and the same counted figures."""
        counted = (figure for figure in self.figures if figure.provenance == "counted")
        return self.collectives.is_empty and self.kernels.is_empty and all(figure.is_same for figure in counted)

    def figure(self, name: str) -> Figure:
        """The figure of a name. Raises KeyError with the names there are."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise KeyError(f"there is no figure {name!r}; there are {', '.join(f.name for f in self.figures)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationChange:
    """The number of operations of one name in two programs before optimization.

    Attributes:
      name: the operation ("stablehlo.transpose").
      before, after: their number in each.
      removed, added: the number that the other program lacks, because types or attributes differ.
      example: one that only one of the programs has, in MLIR without operand names.
    """

    name: str
    before: int
    after: int
    removed: int
    added: int
    example: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweringDiff:
    """Two programs as JAX lowered them, compared without names, source lines and the order of independent operations.

    Attributes:
      before, after: number of operations (counted).
      is_same: whether the operations of both, and their operands, are the same.
      changes: the operations whose number, types or attributes differ, most first; () if only operands differ.
    """

    before: int
    after: int
    is_same: bool
    changes: tuple[OperationChange, ...] = ()
