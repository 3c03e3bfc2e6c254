"""Why each collective is there.

A collective that is written says so itself. Any other is looked up in what XLA's partitioner made: there it lies
between operations of the user's program, and the need it serves is its cause. Where XLA could not be asked, or does not
know the collective, the name of its operation may still tell the kind, and the cause says that it rests on that alone.
Not its job: wording (`analyze.causes.cause_wording`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.causes.accumulated import Accumulation
from pjit_inspect.analyze.causes.cause_names import kind_of_name
from pjit_inspect.analyze.causes.cause_wording import Wording, word_match
from pjit_inspect.analyze.causes.need_finder import Match, NeedFinder
from pjit_inspect.analyze.partition.join import Joined, join
from pjit_inspect.analyze.partition.moved_arrays import MovedArray
from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.phases import is_written_name, split_op_names
from pjit_inspect.analyze.program.source import user_frames
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.program.primitive import users_word
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.program.spec import PartitionSpec
from pjit_inspect.model.report.cause import Cause, CauseKind
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedOp, ShardedProgram, axis_name
from pjit_inspect.model.words.sentence import Sentence, axis, joined, name, place, say

_RESHARDS = frozenset(("reshard_requested", "reshard_needed", "output"))
_MOST_ALTERNATIVES = 3
_MOST_STEPS = 64
_MOST_TAKERS = 4


@dataclass(slots=True)
class CauseFinder:
    """Finds the causes of one program's collectives.

    Attributes:
      program: the program with the shardings of its values; None when they are not known.
      sources: the user's source texts, as far as they are known.
      cells: file -> how the notebook calls the cell.
      returned: how each result of the program is split where it is returned; None where that is not known.
    """

    program: ShardedProgram | None
    sources: Sequence[SourceText] = ()
    cells: Mapping[str, str] = field(default_factory=dict)
    returned: Sequence[PartitionSpec | None] = ()
    _needs: NeedFinder | None = field(init=False, default=None)
    _accumulation: Accumulation = field(init=False)
    _names: ValueNames = field(init=False)
    # Equal layers are alike: each of their arrays may be moved by what the partitioner made for any of them.
    _found: dict[tuple[int, tuple[str, ...] | None], Match] = field(init=False, default_factory=dict)
    _worded: dict[tuple[int, tuple[str, ...] | None, CauseKind | None], Wording] = field(
        init=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        if self.program is not None and self.program.collectives:
            self._needs = NeedFinder(self.program)
        self._accumulation = Accumulation(self.program or ShardedProgram())
        self._names = ValueNames(self.program or ShardedProgram(), self.sources, self.cells)

    def explain(self, sites: Sequence[CollectiveOp], rows: Sequence[Collective]) -> list[Collective]:
        """The collectives with a cause for every array each moves, in order.

        Those that serve one need are told of each other; then what else takes what each moves.
        """
        joined = join(self.program, sites)
        found = _with_others([self._explained(*own) for own in zip(rows, joined, strict=True)])
        return [replace(row, causes=tuple(map(_with_takers, row.causes))) for row in found]

    def _explained(self, row: Collective, joined: Joined) -> Collective:
        if any(joined.edges):
            # What the partitioner made is not written, whatever its name.
            row = replace(row, implicit=True)
        is_combined = len(joined.arrays) > 1
        moved = zip(joined.arrays, joined.edges, joined.written, strict=True)
        causes = tuple(self._cause(*own, row, is_combined) for own in moved)
        # XLA marks all of a combined collective as its own, though parts of it were written.
        kinds = {cause.kind == "written" for cause in causes}
        implicit = row.implicit if len(kinds) < 2 else None
        return replace(row, causes=causes, implicit=implicit, source=_source(row, causes))

    def _cause(
        self,
        array: MovedArray,
        edges: Sequence[PartitionedCollective],
        written: Sequence[PartitionedCollective],
        row: Collective,
        is_combined: bool,
    ) -> Cause:
        if not edges and (written or row.implicit is False or self._is_written_part(array, row)):
            return self._written_part(array, written, row) if is_combined else self._written(array, row)
        if not edges or self._needs is None:
            return self._named(array, row)
        matches = [self._match(self._needs, edge, row.axes) for edge in edges]
        causes = [self._proven(match, array, row) for match in matches]
        return self._one_of([*causes, *self._in_code(self._ops(written), array, row)], array, row)

    def _match(self, needs: NeedFinder, edge: PartitionedCollective, axes: tuple[str, ...] | None) -> Match:
        key = (id(edge), axes)
        if key not in self._found:
            self._found[key] = needs.find(edge, axes)
        return self._found[key]

    def _is_written_part(self, array: MovedArray, row: Collective) -> bool:
        """Whether a part of a combined collective was written: it is not the partitioner's, and JAX's name says so."""
        return self._needs is not None and row.operands > 1 and is_written_name(array.op_name, row.kind)

    # ------------------------------------------------------------ the ways a cause is known

    def _proven(self, match: Match, array: MovedArray, row: Collective) -> Cause:
        wording = self._wording(match, self._kind(match, row), row.axes)
        op = wording.op
        return Cause(
            kind=wording.kind,
            sentence=_sentence(row, wording.clause),
            facts=(*wording.facts, *self._accumulation.fact(match.edge, row)),
            evidence="nothing" if wording.kind == "unknown" else "sharding",
            op_name=op.op_name if op is not None else array.op_name,
            source=self._names.frames(op) if op is not None else self._at_value(wording),
            value=wording.value,
            payload_bytes=array.bytes,
            also_for=wording.also_for,
        )

    def _wording(self, match: Match, kind: CauseKind | None, axes: tuple[str, ...] | None) -> Wording:
        key = (id(match.edge), axes, kind)
        if key not in self._worded:
            self._worded[key] = word_match(match, self._names, kind, axes, self.returned)
        return self._worded[key]

    def _one_of(self, causes: Sequence[Cause], array: MovedArray, row: Collective) -> Cause:
        """What is common to several that fit equally well: none of them is picked."""
        also_for = causes[0].also_for if len({cause.also_for for cause in causes}) == 1 else ()
        causes = list(dict.fromkeys(replace(cause, also_for=()) for cause in causes))
        if len(causes) == 1:
            return replace(causes[0], also_for=also_for)
        is_one_kind = len({cause.kind for cause in causes}) == 1
        clauses = list(dict.fromkeys(cause.clause for cause in causes))
        shown = joined(clauses[:_MOST_ALTERNATIVES], "; or ", comma="; or ")
        is_written = causes[0].kind == "written"
        if len(clauses) > 1:
            alike = " alike" if is_written else ", which XLA has made alike"
            shown = say("one of {}{}: {}", len(causes), alike, shown)
        left = len(clauses) - _MOST_ALTERNATIVES
        clause = say("{}; or {} more", shown, left) if left > 0 else shown
        return Cause(
            kind=causes[0].kind if is_one_kind else "unknown",
            sentence=_sentence(row, clause),
            facts=(say("{} operations fit equally well", len(causes)),),
            evidence=causes[0].evidence if is_one_kind else "nothing",
            op_name=array.op_name,
            source=_common_source(causes) if is_written else self._frames_of(array) or row.source,
            payload_bytes=array.bytes,
            candidates=len(causes),
            also_for=also_for,
        )

    def _at_value(self, wording: Wording) -> tuple[Frame, ...]:
        """Where the value of a need that belongs to no op was made."""
        program = self._names.program
        maker = None if wording.moved is None else program.values[wording.moved].op
        return self._names.frames(program.ops[maker]) if maker is not None else ()

    def _written(self, array: MovedArray, row: Collective) -> Cause:
        names = split_op_names(row.op_name)
        own = array if array.op_name in names else None
        op_name = own.op_name if own is not None else row.op_name
        source = user_frames(own.frames, self.cells) if own is not None and own.frames else row.source
        return self._of_code(op_name, source, array, row)

    def _of_code(self, op_name: str, source: tuple[Frame, ...], array: MovedArray, row: Collective) -> Cause:
        where = say(" at {}", place(source[0].where)) if source else ""
        what = "is a collective in your code"
        if "transpose(" in op_name:
            what = "is what differentiation makes of your manual code"
        clause = say("{} {}{}", name(users_word(op_name.rpartition("/")[2])), what, where)
        return Cause(
            kind="written",
            sentence=_sentence(row, clause),
            facts=(say("the operation is named {}", name(users_word(op_name))),),
            evidence="name",
            op_name=op_name,
            source=source,
            payload_bytes=array.bytes,
        )

    def _written_part(self, array: MovedArray, written: Sequence[PartitionedCollective], row: Collective) -> Cause:
        """The cause of one array of several that XLA has combined: it keeps the name and the line of one of them."""
        if written:
            return self._one_of(self._in_code(self._ops(written), array, row), array, row)
        # Where dataflow does not tell, it is known only where all collectives of the kind are of one place.
        kinds = {row.kind.replace("-", "_"), *(("all_reduce",) if row.kind in SUMS else ())}
        alike = self._in_code([op for op in self._names.program.ops if op.kind in kinds], array, row)
        if len({cause.clause for cause in alike}) == 1:
            return self._one_of(alike, array, row)
        where = say(", at {}", place(row.source[0].where)) if row.source else ""
        return Cause(
            kind="written",
            sentence=_sentence(
                row, say("a collective in your code, combined with others; it is not known which of them it is")
            ),
            facts=(say("XLA names what it has combined {}{}", name(users_word(row.op_name)), where),),
            evidence="name",
            payload_bytes=array.bytes,
        )

    def _in_code(self, ops: Iterable[ShardedOp], array: MovedArray, row: Collective) -> list[Cause]:
        """What is said of each of some collectives that were written."""
        return list(dict.fromkeys(self._of_code(*self._name_and_place(op), array, row) for op in ops))

    def _name_and_place(self, op: ShardedOp) -> tuple[str, tuple[Frame, ...]]:
        """As the optimized program has them; in the body of a `shard_map`, both begin at the body."""
        op_name, frames, program = op.op_name, op.frames, self._names.program
        while op.parent is not None:
            op = program.ops[op.parent]
            if op.kind == "call" and not op_name.startswith(op.op_name):
                op_name, frames = f"{op.op_name}/{op_name}", (*frames, *op.frames)
        return op_name, user_frames(frames, self.cells)

    def _ops(self, edges: Iterable[PartitionedCollective]) -> list[ShardedOp]:
        return [self._names.program.ops[op] for edge in edges for op in edge.visited]

    def _named(self, array: MovedArray, row: Collective) -> Cause:
        op_name = array.op_name
        kind = kind_of_name(op_name, row.kind)
        source = self._frames_of(array) or row.source
        where = say(" ({})", place(source[0].where)) if source else ""
        of = say("{}{}", name(self._shown(op_name)), where) if op_name else say("what takes {}", row.moved or "it")
        if kind == "unknown":
            clause = say("the program does not tell why {} needs it", of)
        else:
            clause = say("it belongs to {}; that is all that speaks for {}", of, kind.replace("_", " "))
        return Cause(
            kind=kind,
            sentence=_sentence(row, clause),
            facts=(say("the operation is named {}", name(users_word(op_name))),) if op_name else (),
            evidence="nothing" if kind == "unknown" else "name",
            op_name=op_name,
            source=source,
            payload_bytes=array.bytes,
        )

    def _shown(self, op_name: str) -> str:
        """The operation itself; from JAX 0.12 on, what is resharded may have the name of an argument."""
        labels = {boundary.name: boundary.label for boundary in self._names.program.inputs}
        return labels.get(op_name) or users_word(op_name.rpartition("/")[2])

    def _frames_of(self, array: MovedArray) -> tuple[Frame, ...]:
        return user_frames(array.frames, self.cells)

    # ------------------------------------------------------------ the kind of a match

    def _kind(self, match: Match, row: Collective) -> CauseKind | None:
        """The kind that the need does not tell by itself; None where it does."""
        program = self._names.program
        if self._is_predicate(match):
            return "loop_predicate"
        return "full_replication" if self._gives_up(match, row, program) else None

    def _is_predicate(self, match: Match) -> bool:
        """Whether it is for what decides if a loop goes on, or which branch is taken."""
        program, edge = self._names.program, match.edge
        makers = [program.values[value].op for value in edge.makers]
        if any(op is not None and program.ops[op].in_condition for op in makers):
            return True
        # One number may be compared and converted before it decides; every way it goes must end there.
        border = [(taker.op, taker.operand) for taker in edge.takers]
        is_used = bool(border)
        for _ in range(_MOST_STEPS):
            if not border:
                return is_used
            index, operand = border.pop()
            op = program.ops[index]
            if op.in_condition or (op.kind == "case" and operand == 0):
                continue
            users = [user for result in op.results for user in program.users.get(result, ())]
            if not users or any(program.values[result].shape for result in op.results):
                return False
            border += users
        return False

    def _gives_up(self, match: Match, row: Collective, program: ShardedProgram) -> bool:
        """Whether an array is gathered on every device though each keeps a piece over the same axes again."""
        edge, taker = match.edge, match.taker
        if edge.kind != "all-gather" or not row.axes or taker is None or match.taken is None:
            return False
        if match.need is not None and match.need.kind not in _RESHARDS:
            return False
        size = math.prod(program.values[match.taken].shape)
        wanted = match.target or (match.need.target if match.need is not None else None) or ()
        kept = {axis_name(axis) for axes in wanted for axis in axes} & {axis_name(axis) for axis in row.axes}
        if not kept or math.prod(taker.shape) >= size:
            return False
        # Several gathers may lead there, one after the other.
        ends = set(edge.takers)
        way = (k for k in program.collectives if k.makers == edge.makers and not ends.isdisjoint(k.takers))
        return any(other.kind == "all-gather" and other.elements * other.group_size == size for other in way)


def _common_source(causes: Sequence[Cause]) -> tuple[Frame, ...]:
    """The frames that all have in common, from the innermost on; () where they are of different lines."""
    sources = [cause.source for cause in causes]
    common = 0
    while all(len(source) > common and source[common] == sources[0][common] for source in sources):
        common += 1
    return sources[0][:common]


def _with_others(rows: Sequence[Collective]) -> list[Collective]:
    """The collectives; each cause of one tells the others that move the same array for the same operation."""
    together: dict[object, dict[str, None]] = {}
    for row in rows:
        for cause in row.causes if row.instructions else ():
            if _is_alone(cause):
                together.setdefault(_reshard(cause), {})[row.instructions[0]] = None
    return [replace(row, causes=tuple(_with_these(cause, row, together) for cause in row.causes)) for row in rows]


def _with_these(cause: Cause, row: Collective, together: Mapping[object, Mapping[str, None]]) -> Cause:
    others = together.get(_reshard(cause), ()) if _is_alone(cause) else ()
    return replace(cause, serves_with=tuple(name for name in others if name not in row.instructions))


def _with_takers(cause: Cause) -> Cause:
    """The cause, whose sentence says that what moves goes to others, too; which, where there are many, is a fact."""
    others = cause.also_for
    if not others:
        return cause
    shown = joined(others[:_MOST_TAKERS])
    if len(others) > _MOST_TAKERS:
        shown = say("{} and {} more", joined(others[:_MOST_TAKERS], ", "), len(others) - _MOST_TAKERS)
    where = others[0] if len(others) == 1 else say("{} others", len(others))
    facts = (say("what moves goes to {}, too", shown),) if len(others) > 1 else ()
    sentence = say("{}; what moves goes to {}, too", cause.sentence, where)
    return replace(cause, sentence=sentence, facts=(*cause.facts, *facts))


def _reshard(cause: Cause) -> object:
    """What one logical reshard is known by: what moves, for which operation, and why."""
    return cause.kind, cause.op_name, cause.value, cause.source, cause.clause


def _is_alone(cause: Cause) -> bool:
    return cause.candidates == 1 and cause.kind in (*_RESHARDS, "full_replication") and cause.evidence == "sharding"


def _source(row: Collective, causes: Sequence[Cause]) -> tuple[Frame, ...]:
    """Where a collective comes from.

    XLA of JAX 0.12 names it after the value that moves. Where a function of JAX's own made that, its place is that of
    the first call that was traced, of many; the operation that needs the value has its own.
    """
    is_kept_trace = any(part.startswith("jit(") for part in row.op_name.split("/")[1:])
    if len(causes) != 1 or not is_kept_trace or causes[0].evidence != "sharding":
        return row.source
    own = causes[0].source
    # An operation in a body of `shard_map` has a shorter name there; what `scan` takes its pieces by has frames more.
    has_more = len(row.source) > len(own) and row.source[-len(own) :] == own
    is_own = row.op_name.endswith(causes[0].op_name) and not has_more
    return row.source if is_own else own or row.source


def _sentence(collective: Collective, clause: Sentence) -> Sentence:
    return say("{}: {}", _subject(collective), clause)


def _subject(collective: Collective) -> str:
    axes = collective.axes
    if axes is None:
        return f"{collective.kind} along no single axis"
    over = joined(list(map(axis, axes)), comma=" and ")
    return say("{} over {}", collective.kind, over) if axes else collective.kind
