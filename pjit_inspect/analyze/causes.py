"""Why each collective is there.

A collective that is written says so itself. Any other serves a need of the sharded program (`analyze.need_finder`);
where none fits, the name of its operation may still tell the kind, and the cause says that it rests on that alone.
Not its job: wording (`analyze.cause_wording`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.cause_wording import word_need
from pjit_inspect.analyze.moved_arrays import Clue, ConsumerFinder, MovedArray, find_moved_arrays
from pjit_inspect.analyze.need_finder import Match, NeedFinder
from pjit_inspect.analyze.needs import Need, is_cumulative
from pjit_inspect.analyze.phases import split_op_names
from pjit_inspect.analyze.site import Site
from pjit_inspect.analyze.source import user_frames
from pjit_inspect.analyze.value_names import ValueNames
from pjit_inspect.model.cause import Cause, CauseKind
from pjit_inspect.model.collective import Collective
from pjit_inspect.model.propagation import Propagation, axis_name
from pjit_inspect.model.source import Frame, SourceText

__all__ = ["CauseFinder", "link"]

_RESHARDS = frozenset(("reshard_requested", "reshard_needed", "output"))
_SUMS = frozenset(("all-reduce", "reduce-scatter"))
_BY_NAME: tuple[tuple[re.Pattern[str], CauseKind], ...] = (
    (re.compile(r"(sharding_constraint|reshard)$"), "reshard_requested"),
    (
        re.compile(r"(cum(sum|prod|max|min|logsumexp)|gather|scatter.*|dynamic_(update_)?slice|sort|top_k|argsort)$"),
        "indexing",
    ),
    (re.compile(r"(reduce_window.*|slice|pad|concatenate|rev|roll|select_and_scatter_add)$"), "halo"),
    (re.compile(r"(reduce(_\w+)?|argmax|argmin)$"), "reduction"),
)
_DOTS = re.compile(r"((ragged_)?dot_general|conv_general_dilated)$")


@dataclass(slots=True)
class CauseFinder:
    """Finds the causes of one program's collectives.

    Attributes:
      program: the program with the shardings of its values; None when they are not known.
      sources: the user's source texts, as far as they are known.
      cells: file -> how the notebook calls the cell.
    """

    program: Propagation | None
    sources: Sequence[SourceText] = ()
    cells: Mapping[str, str] = field(default_factory=dict)
    _needs: NeedFinder | None = field(init=False, default=None)
    _names: ValueNames = field(init=False)
    _consumers: ConsumerFinder = field(init=False, default_factory=ConsumerFinder)

    def __post_init__(self) -> None:
        # GSPMD tells shardings, but not how the dimensions of an op hang together.
        if self.program is not None and any(op.rule is not None for op in self.program.ops):
            self._needs = NeedFinder(self.program)
        self._names = ValueNames(self.program or Propagation(), self.sources, self.cells)

    def find(self, site: Site, collective: Collective) -> tuple[tuple[Cause, Need | None], ...]:
        """A cause for every array a collective moves, in order, with the need it serves."""
        return tuple(self._cause(array, site, collective) for array in find_moved_arrays(site.op, collective.kind))

    def _cause(self, array: MovedArray, site: Site, collective: Collective) -> tuple[Cause, Need | None]:
        if collective.implicit is False:
            return self._written(array, collective), None
        if self._needs is None:
            return self._named(array, site, collective), None
        match = self._needs.find(array, collective)
        if match is None or not match.is_certain:
            # What uses the result takes longer to find, and is seldom needed.
            consumers, _ = self._consumers.find(site.op)
            match = self._needs.find(replace(array, clues=(*array.clues, *consumers)), collective)
        if match is None:
            return self._named(array, site, collective), None
        return self._served(match, array, collective), match.need

    # ------------------------------------------------------------ the ways a cause is known

    def _served(self, match: Match, array: MovedArray, collective: Collective) -> Cause:
        need = match.need
        kind = "full_replication" if self._gives_up(need, array, collective) else need.kind
        wording = word_need(need, self._names, kind, collective.axes)
        op = None if need.op is None else self._names.program.ops[need.op]
        asked = need.request if need.request is not None and need.request.kind == "reshard_requested" else None
        place = op if asked is None else self._names.program.ops[asked.index]
        facts = wording.facts
        other_way = ""
        if match.is_by_name:
            other_way = ", and the partitioner goes there over other axes"
            facts += ("the operation's name is that of the collective; the axes are not those it needs",)
        if match.candidates > 1:
            facts += (f"{match.candidates} operations of this name and line fit equally well",)
        return Cause(
            kind=kind,
            sentence=f"{_subject(collective)}: {wording.clause}{other_way}",
            facts=facts,
            evidence="name" if match.is_by_name else "sharding",
            op_name=place.op_name if place is not None else collective.op_name,
            source=self._names.frames(place) if place is not None else self._at_value(need),
            value=self._names.argument(need.value) if need.value is not None else "",
            payload_bytes=array.bytes,
            candidates=match.candidates,
        )

    def _at_value(self, need: Need) -> tuple[Frame, ...]:
        """Where the value of a need that belongs to no op was made."""
        program = self._names.program
        maker = program.values[need.value].op if need.value is not None else None
        return self._names.frames(program.ops[maker]) if maker is not None else ()

    def _written(self, array: MovedArray, collective: Collective) -> Cause:
        names = split_op_names(collective.op_name)
        own = next((clue for clue in array.clues if clue.op_name in names), None)
        name = own.op_name if own is not None else collective.op_name
        source = user_frames(own.frames, self.cells) if own is not None and own.frames else collective.source
        where = f" at {source[0].where}" if source else ""
        what = "is a collective in your code"
        if "transpose(" in name:
            what = "is what differentiation makes of your manual code"
        return Cause(
            kind="written",
            sentence=f"{_subject(collective)}: `{name.rpartition('/')[2]}` {what}{where}",
            facts=(f"the operation is named `{name}`",),
            evidence="name",
            op_name=name,
            source=source,
            payload_bytes=array.bytes,
        )

    def _named(self, array: MovedArray, site: Site, collective: Collective) -> Cause:
        name = array.clues[0].op_name if array.clues else ""
        kind = self._kind_of_name(name, collective)
        if kind == "unknown" and collective.kind not in _SUMS and self._consumers.find(site.op)[1]:
            kind = "output"
        source = self._frames_of(array.clues) or collective.source
        where = f" ({source[0].where})" if source else ""
        of = f"`{name.rpartition('/')[2]}`{where}" if name else "an operation without a name"
        if kind == "unknown":
            clause = f"the program does not tell why {of} needs it"
        elif kind == "output":
            clause = f"a result of the program is wanted sharded otherwise than {of} leaves it"
        else:
            clause = f"it belongs to {of}; that is all that speaks for {kind.replace('_', ' ')}"
        return Cause(
            kind=kind,
            sentence=f"{_subject(collective)}: {clause}",
            facts=(f"the operation is named `{name}`",) if name else (),
            evidence="nothing" if kind == "unknown" else "name",
            op_name=name,
            source=source,
            payload_bytes=array.bytes,
        )

    def _frames_of(self, clues: tuple[Clue, ...]) -> tuple[Frame, ...]:
        return user_frames(clues[0].frames, self.cells) if clues else ()

    def _kind_of_name(self, name: str, collective: Collective) -> CauseKind:
        primitive = name.rpartition("/")[2]
        if is_cumulative(name):
            return "indexing"
        if _DOTS.match(primitive):
            if collective.kind in _SUMS:
                return "contraction"
            return "halo" if primitive.startswith("conv") else "reshard_needed"
        for pattern, kind in _BY_NAME:
            if pattern.match(primitive):
                return kind
        return "unknown"

    # ------------------------------------------------------------ gather everything, then slice

    def _gives_up(self, need: Need, array: MovedArray, collective: Collective) -> bool:
        """Whether an array is gathered whole though each device keeps a piece over the same axes again."""
        if collective.kind != "all-gather" or need.value is None or not collective.axes:
            return False
        if need.kind not in _RESHARDS:
            return False
        program = self._names.program
        value = program.values[need.value]
        size = max((len(group) for group in collective.groups), default=1)
        if array.elements * size != _count(value.shape) or not value.shape:
            return False
        kept = {axis_name(axis) for axes in need.target or () for axis in axes}
        return bool(kept & set(collective.axes))


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def _subject(collective: Collective) -> str:
    axes = collective.axes
    if axes is None:
        return f"{collective.kind} along no single axis"
    return f"{collective.kind} over {' and '.join(f'`{axis}`' for axis in axes)}" if axes else collective.kind


def link(rows: Sequence[tuple[Collective, tuple[tuple[Cause, Need | None], ...]]]) -> list[Collective]:
    """The collectives with their causes; those that serve one need are told of each other.

    Where one of them completes a full copy that is cut up again, those before it are part of that.
    """
    serving: dict[int, list[str]] = {}
    given_up: set[int] = set()
    for row, causes in rows:
        for cause, need in causes:
            # Equal layers on one line cannot be told apart: what serves one of them may as well serve another.
            if need is not None and not need.is_sum and cause.candidates == 1 and row.instructions:
                serving.setdefault(id(need), []).append(row.instructions[0])
            if cause.kind == "full_replication":
                given_up.add(id(need))
    linked = []
    for row, causes in rows:
        found = tuple(_linked(row, cause, need, serving, id(need) in given_up) for cause, need in causes)
        linked.append(replace(row, causes=found))
    return linked


def _linked(
    row: Collective, cause: Cause, need: Need | None, serving: dict[int, list[str]], is_given_up: bool
) -> Cause:
    if need is None:
        return cause
    own = set(row.instructions)
    together = serving.get(id(need), ()) if cause.candidates == 1 else ()
    others = tuple(name for name in dict.fromkeys(together) if name not in own)
    kind = "full_replication" if is_given_up and row.kind == "all-gather" else cause.kind
    return replace(cause, kind=kind, serves_with=others)
