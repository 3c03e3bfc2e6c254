"""Why each collective is there.

A collective that is written says so itself. Any other serves a need of the sharded program (`analyze.need_finder`);
where none fits, the name of its operation may still tell the kind, and the cause says that it rests on that alone.
Not its job: wording (`analyze.cause_wording`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.cause_names import kind_of_name
from pjit_inspect.analyze.cause_wording import word_need
from pjit_inspect.analyze.moved_arrays import Clue, ConsumerFinder, MovedArray, find_moved_arrays
from pjit_inspect.analyze.need_finder import Match, NeedFinder
from pjit_inspect.analyze.needs import Need
from pjit_inspect.analyze.phases import split_op_names
from pjit_inspect.analyze.site import Site
from pjit_inspect.analyze.source import user_frames
from pjit_inspect.analyze.value_names import ValueNames
from pjit_inspect.model.cause import Cause, CauseKind
from pjit_inspect.model.collective import Collective
from pjit_inspect.model.propagation import Propagation, axis_name
from pjit_inspect.model.source import Frame, SourceText

__all__ = ["CauseFinder"]

_RESHARDS = frozenset(("reshard_requested", "reshard_needed", "output"))
_SUMS = frozenset(("all-reduce", "reduce-scatter"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Served:
    """An array that a collective moves, and the need that serves; None when none is known."""

    array: MovedArray
    match: Match | None


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

    def explain(self, sites: Sequence[Site], rows: Sequence[Collective]) -> list[Collective]:
        """The collectives with a cause for every array each moves, in order.

        Those that serve one need are told of each other. Where one of them completes a full copy that is cut up again,
        the gathers before it are part of that.
        """
        served = [self._served(site, row) for site, row in zip(sites, rows, strict=True)]
        together = _together(rows, served)
        given_up = {
            id(one.match.need)
            for row, found in zip(rows, served, strict=True)
            for one in found
            if one.match is not None and self._gives_up(one.match.need, one.array, row)
        }
        return [
            replace(row, causes=tuple(self._cause(one, site, row, together, given_up) for one in found))
            for site, row, found in zip(sites, rows, served, strict=True)
        ]

    def _served(self, site: Site, collective: Collective) -> tuple[_Served, ...]:
        """Every array it moves, with the need it serves."""
        arrays = find_moved_arrays(site.op, collective.kind)
        return tuple(_Served(array=array, match=self._match(array, site, collective)) for array in arrays)

    def _match(self, array: MovedArray, site: Site, collective: Collective) -> Match | None:
        if collective.implicit is False or self._needs is None:
            return None
        match = self._needs.find(array, collective)
        if match is not None and match.is_certain:
            return match
        # What uses the result takes longer to find, and is seldom needed.
        consumers, _ = self._consumers.find(site.op)
        return self._needs.find(replace(array, clues=(*array.clues, *consumers)), collective)

    def _cause(
        self, one: _Served, site: Site, collective: Collective, together: Mapping[int, list[str]], given_up: set[int]
    ) -> Cause:
        if collective.implicit is False:
            return self._written(one.array, collective)
        if one.match is None:
            return self._named(one.array, site, collective)
        need = one.match.need
        is_given_up = id(need) in given_up and collective.kind == "all-gather"
        cause = self._proven(one.match, one.array, collective, "full_replication" if is_given_up else need.kind)
        if not _is_alone(one.match):
            return cause
        others = (name for name in together.get(id(need), ()) if name not in collective.instructions)
        return replace(cause, serves_with=tuple(dict.fromkeys(others)))

    # ------------------------------------------------------------ the ways a cause is known

    def _proven(self, match: Match, array: MovedArray, collective: Collective, kind: CauseKind) -> Cause:
        need = match.need
        moves_result = self._moves_result(need, array)
        wording = word_need(need, self._names, kind, collective.axes, moves_result=moves_result)
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
            value="" if need.value is None or moves_result else self._names.argument(need.value),
            payload_bytes=array.bytes,
            candidates=match.candidates,
        )

    def _moves_result(self, need: Need, array: MovedArray) -> bool:
        """Whether what moves is the result of the op a need belongs to: computed with its operands as they are.

        Not where the operand is made by an op of the same name: then it may as well be that.
        """
        if need.op is None or need.value is None or need.kind not in _RESHARDS:
            return False
        program = self._names.program
        maker = program.values[self._names.seen_through(need.value)].op
        made_by = "" if maker is None else program.ops[maker].op_name
        return program.ops[need.op].op_name in array.makers and made_by not in array.makers

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
        kind = kind_of_name(name, collective.kind)
        if kind == "unknown" and collective.kind not in _SUMS and self._consumers.find(site.op)[1]:
            kind = "output"
        source = self._frames_of(array.clues) or collective.source
        where = f" ({source[0].where})" if source else ""
        of = f"`{self._shown(name)}`{where}" if name else "an operation without a name"
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

    def _shown(self, name: str) -> str:
        """The operation itself; from JAX 0.12 on, what is resharded may have the name of an argument."""
        labels = {boundary.name: boundary.label for boundary in self._names.program.inputs}
        return labels.get(name) or name.rpartition("/")[2]

    def _frames_of(self, clues: tuple[Clue, ...]) -> tuple[Frame, ...]:
        return user_frames(clues[0].frames, self.cells) if clues else ()

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
        if array.elements * size != math.prod(value.shape) or not value.shape:
            return False
        kept = {axis_name(axis) for axes in need.target or () for axis in axes}
        return bool(kept & set(collective.axes))


def _subject(collective: Collective) -> str:
    axes = collective.axes
    if axes is None:
        return f"{collective.kind} along no single axis"
    return f"{collective.kind} over {' and '.join(f'`{axis}`' for axis in axes)}" if axes else collective.kind


def _together(rows: Sequence[Collective], served: Sequence[tuple[_Served, ...]]) -> dict[int, list[str]]:
    """Need -> the collectives that serve it, where it is no sum."""
    found: dict[int, list[str]] = {}
    for row, ones in zip(rows, served, strict=True):
        for one in ones:
            if one.match is not None and _is_alone(one.match) and row.instructions:
                found.setdefault(id(one.match.need), []).append(row.instructions[0])
    return found


def _is_alone(match: Match) -> bool:
    """Whether the need can be told from others, so that what serves it can be told of each other.

    Equal layers on one line cannot: what serves one of them may as well serve another.
    """
    return match.candidates == 1 and not match.need.is_sum
