"""Why each collective is there.

A collective that is written says so itself. Any other is looked up in what XLA's partitioner made: there it lies
between operations of the user's program, and the need it serves is its cause. Where XLA could not be asked, or does not
know the collective, the name of its operation may still tell the kind, and the cause says that it rests on that alone.
Not its job: the sentences (`analyze.causes.wording`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from pjit_inspect.analyze.causes.accumulated import Accumulation
from pjit_inspect.analyze.causes.cause_form import cause_of
from pjit_inspect.analyze.causes.cause_subject import axes_or_parts
from pjit_inspect.analyze.causes.need_finder import NeedFinder
from pjit_inspect.analyze.causes.wording import worded
from pjit_inspect.analyze.causes.written import WrittenFinder
from pjit_inspect.analyze.partition.join import MovedArray, join
from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.phases import find_phase, is_written_name, split_op_names
from pjit_inspect.analyze.program.source import UserFiles, user_frames
from pjit_inspect.analyze.sharding.needs import RESHARDS, is_cumulative
from pjit_inspect.analyze.sharding.value_names import ValueNames, line_near
from pjit_inspect.guard import Guard
from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.program.primitive import users_word
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.report.cause import Cause, CauseKind
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedProgram
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, code, joined, name, place, say

_WRITTEN = {
    "user": "written",
    "transpose": "written, differentiated",
    "spread": "written, spread",
    "backward": "written, backward",
}
"""Maker of a collective in manual code -> the form that says so."""
_SUMMED: dict[CauseKind, str] = {"contraction": "sums over", "reduction": "reduces"}
_MOST_ALTERNATIVES = 3
_OWN_RULE = "/custom_partitioning"
"""The end of JAX's name of a call whose collectives a function of the user's writes."""


_BY_NAME: tuple[tuple[re.Pattern[str], CauseKind], ...] = (
    (re.compile(r"(sharding_constraint|reshard)$"), "reshard_requested"),
    (
        re.compile(r"(fft|cholesky|triangular_solve|\w*callback\w*|custom_call|ffi_call|pallas_call)$"),
        "no_sharding_rule",
    ),
    (re.compile(r"(gather|scatter.*|dynamic_(update_)?slice|sort|top_k|argsort)$"), "indexing"),
    (re.compile(r"(reduce_window.*|slice|pad|concatenate|rev|roll|select_and_scatter_add)$"), "halo"),
    (re.compile(r"(reduce(_\w+)?|argmax|argmin)$"), "reduction"),
)
_DOTS = re.compile(r"((ragged_)?dot_general|conv_general_dilated)$")


@dataclass
class CauseFinder:
    """Finds the causes of one program's collectives.

    Attributes:
      program: the program with the shardings of its values; None when they are not known.
      sources: the user's source texts, as far as they are known.
      files: which files are the user's.
      returned: how each result of the program is split where it is returned; None where that is not known.
    """

    program: ShardedProgram | None
    sources: Sequence[SourceText] = ()
    files: UserFiles = field(default_factory=UserFiles)
    returned: Sequence[PartitionSpec | None] = ()

    def __post_init__(self) -> None:
        self._program = self.program or ShardedProgram()
        self._names = ValueNames(self._program, self.sources, self.files)
        # Equal layers are alike: each of their arrays may be moved by what the partitioner made for any of them.
        self._worded: dict[object, Cause] = {}

    @cached_property
    def _writers(self) -> WrittenFinder:
        return WrittenFinder(self._names)

    @cached_property
    def _accumulation(self) -> Accumulation:
        return Accumulation(self._program)

    @cached_property
    def _needs(self) -> NeedFinder:
        return NeedFinder(self._program, self.sources)

    def explain(self, sites: Sequence[CollectiveOp], rows: Sequence[Collective]) -> list[Collective]:
        """The collectives with a cause for every array each moves, in order; those of one need know of each other."""
        joined = join(self.program, sites)
        return _with_others([self._explained(*own) for own in zip(rows, joined, strict=True)])

    def _explained(self, row: Collective, arrays: tuple[MovedArray, ...]) -> Collective:
        if any(array.edges for array in arrays):
            # What the partitioner made is not written, whatever its name.
            row = replace(row, implicit=True)
        # An error of ours in one cause costs no other.
        failed = Cause(kind="unknown", sentence=_worded("failed"))
        found = (Guard().run("a cause", partial(self._cause, array, row, arrays), failed) for array in arrays)
        causes = tuple(replace(cause, payload_bytes=array.bytes) for cause, array in zip(found, arrays, strict=True))
        # XLA marks all of a combined collective as its own, though parts of it were written.
        kinds = {cause.kind == "written" for cause in causes}
        implicit = None if len(kinds) == 2 else row.implicit and kinds != {True}
        return replace(row, causes=causes, implicit=implicit, source=_source(row, causes))

    def _cause(self, array: MovedArray, row: Collective, arrays: tuple[MovedArray, ...]) -> Cause:
        causes = [*(self._proven(edge, array, row) for edge in array.edges), *self._in_code(_ops(array.written), row)]
        is_of_rule = array.op_name.endswith(_OWN_RULE)
        if array.edges or (array.written and (len(arrays) > 1 or is_of_rule)):
            return self._one_of(causes, array, row, len(array.edges) + len(array.written))
        # A part of a combined collective was written where it is not the partitioner's, and JAX's name says so.
        is_known = bool(self._program.collectives)
        is_part = is_known and row.operands > 1 and is_written_name(array.op_name, row.kind)
        if array.written or row.implicit is False or is_part:
            return self._written_part(array, row) if len(arrays) > 1 else self._written(array, row)
        return self._named(array, row)

    # ------------------------------------------------------------ the ways a cause is known

    def _proven(self, edge: PartitionedCollective, array: MovedArray, row: Collective) -> Cause:
        key = (id(edge), row.axes, row.kind)
        if key not in self._worded:
            self._worded[key] = cause_of(
                self._needs.find(edge, row.axes), self._names, row.axes, row.kind, self.returned
            )
        found = self._worded[key]
        more = self._accumulation.fact(edge, row) if (row.count or 0) > 1 else ()
        return replace(found, facts=(*found.facts, *more), op_name=found.op_name or array.op_name)

    def _one_of(self, causes: Sequence[Cause], array: MovedArray, row: Collective, count: int = 0) -> Cause:
        """The common part of several causes, of `count` arrays, that fit equally well: none of them is picked."""
        causes = list(dict.fromkeys(causes))
        if len(causes) == 1:
            return causes[0]
        is_one_kind = _is_one_kind(causes)
        is_written = causes[0].kind == "written"
        sentences = {cause.sentence for cause in causes}
        operations = list(dict.fromkeys(cause.operation or cause.sentence for cause in causes))
        # Of one operation, several arrays may be what moves, or is summed.
        arrays = list(dict.fromkeys(cause.moved or cause.summed for cause in causes))
        told = operations if len(operations) > 1 else arrays
        # Several may have one name.
        number = max(count, len(told))
        alike = _alike(causes, told, number, row) if len(sentences) > 1 else causes[0].sentence
        return Cause(
            kind=causes[0].kind if is_one_kind else "unknown",
            sentence=alike,
            facts=(say("{} operations fit equally well", number),),
            evidence=causes[0].evidence if is_one_kind else "nothing",
            operation=operations[0] if len(operations) == 1 else Sentence(),
            phase=causes[0].phase if len({cause.phase for cause in causes}) == 1 else None,
            op_name=array.op_name,
            source=_common_source(causes) if is_written else self._frames_of(array) or row.source,
            candidates=number,
        )

    def _written(self, array: MovedArray, row: Collective) -> Cause:
        is_own = array.op_name in split_op_names(row.op_name)
        op_name = array.op_name if is_own else row.op_name
        source = self._frames_of(array) if is_own and array.frames else row.source
        places = {op: self._name_and_place(op) for op in self._ops_of_kind(row)}
        ops = [op for op, own in places.items() if own == (op_name, source)]
        # Before JAX 0.10 the frames of a body go on to the end.
        ops = ops or [op for op, (own, frames) in places.items() if own == op_name and frames[: len(source)] == source]
        # Of several of one place, what lies before and behind may tell.
        known = set(_ops(array.written))
        ops = [op for op in ops if op in known] or ops
        return self._of_code(op_name, source, row, ops)

    def _of_code(self, op_name: str, source: tuple[Frame, ...], row: Collective, ops: Sequence[int]) -> Cause:
        """The cause of what was written with a name at a place: one of these operations."""
        collective: Sentence | Phrase = name(users_word(op_name.rpartition("/")[2]))
        at = self._at(source, ops)
        written = self._writers.find(ops, row.axes or ())
        op = self._program.ops[ops[0]] if len(ops) == 1 else None
        call = None if op is None else self._program.rule_call(op)
        form = "in a rule" if call else _WRITTEN[written.by if find_phase(op_name) == "backward" else "user"]
        if form == "written" and op is not None and (text := self._names.text(op)) and collective.text not in text:
            # A function of JAX's may be made of it, as `pmean` is of `psum`.
            collective = say("{} in {}", collective, code(text))
        # A sum of gradients is told by the operand that they are of.
        is_taken = form != "written, spread" and op is not None and len(op.operands) == 1
        operand = op.operands[0] if is_taken and op is not None else written.operand
        moved = Sentence() if operand is None else self._names.value(operand, op)
        sentence = _worded(
            f"{form}, returned" if written.is_returned else form,
            collective=collective,
            at=at,
            call="" if call is None else self._names.op(call),
            moved=moved or "an operand",
            axes=joined(list(map(axis, row.axes or ()))),
        )
        maker = self._program.op_of(operand)
        # What the same piece of text has made before has no other name.
        is_same = op is not None and maker is not None and self._names.text(maker) == self._names.text(op) != ""
        is_told = not is_same and any(phrase.kind in ("name", "code") for phrase in moved.phrases)
        if form != "written, spread" and is_told:
            sentence = say("{} {}", sentence, _worded("written, of an array", moved=moved))
        return Cause(
            kind="written",
            sentence=sentence,
            moved=moved,
            facts=(say("the operation is named {}", name(users_word(op_name))),),
            evidence="name",
            operation=say("{}{}", collective, at),
            phase=find_phase(op_name),
            op_name=op_name,
            source=source,
        )

    def _at(self, source: Sequence[Frame], ops: Sequence[int]) -> Sentence | str:
        """Where a collective is written, and where the function around it is called; "" if that is not known."""
        caller = self._names.caller(self._program.ops[ops[0]]) if len(ops) == 1 and source else None
        called = say(", called at {}", place(line_near(caller, source[0]))) if caller is not None else ""
        return say(" at {}{}", place(source[0].where), called) if source else ""

    def _written_part(self, array: MovedArray, row: Collective) -> Cause:
        """The cause of one array of several that XLA has combined: it keeps the name and the line of one of them."""
        # Where dataflow does not tell, it is known only where all collectives of the kind are of one place.
        alike = self._in_code(self._ops_of_kind(row), row)
        if len({cause.sentence for cause in alike}) == 1:
            return self._one_of(alike, array, row)
        where = say(", at {}", place(row.source[0].where)) if row.source else ""
        common = _common_source(alike) if alike else ()
        return Cause(
            kind="written",
            sentence=_worded("written, combined", at=say(" at {}", place(common[0].where)) if common else ""),
            facts=(say("XLA names what it has combined {}{}", name(users_word(row.op_name)), where),),
            evidence="name",
        )

    def _in_code(self, ops: Iterable[int], row: Collective) -> list[Cause]:
        """The causes of some collectives that were written."""
        return list(dict.fromkeys(self._of_code(*self._name_and_place(op), row, (op,)) for op in ops))

    def _ops_of_kind(self, row: Collective) -> list[int]:
        """The collectives of the program before partitioning that one of the optimized program may be by its kind."""
        kinds = {row.kind.replace("-", "_"), *(("all_reduce",) if row.kind in SUMS else ())}
        return [op for op in self._writers.collectives if self._program.ops[op].kind in kinds]

    def _name_and_place(self, index: int) -> tuple[str, tuple[Frame, ...]]:
        """As the optimized program has them; in the body of a `shard_map`, both begin at the body."""
        op = self._program.ops[index]
        op_name, frames = op.op_name, op.frames
        while op.parent is not None:
            op = self._program.ops[op.parent]
            if op.kind == "call" and not op_name.startswith(op.op_name):
                op_name, frames = f"{op.op_name}/{op_name}", (*frames, *op.frames)
        return op_name, user_frames(frames, self.files)

    def _named(self, array: MovedArray, row: Collective) -> Cause:
        op_name = array.op_name
        kind = _kind_of_name(op_name, row.kind)
        source = self._frames_of(array) or row.source
        where = say(" ({})", place(source[0].where)) if source else ""
        # From JAX 0.12 on, what is resharded may have the name of an argument.
        labels = {boundary.name: boundary.label for boundary in self._program.inputs}
        shown = name(labels.get(op_name) or users_word(op_name.rpartition("/")[2]))
        of = say("{}{}", shown, where) if op_name else Sentence()
        form = ("belongs" if of else "unknown") if kind == "unknown" else "by name"
        form = "by a rule" if op_name.endswith(_OWN_RULE) else form
        return Cause(
            kind=kind,
            sentence=_worded(form, of=of, kind=kind.replace("_", " ")),
            facts=(say("the operation is named {}", name(users_word(op_name))),) if op_name else (),
            evidence="nothing" if kind == "unknown" else "name",
            operation=of,
            phase=find_phase(op_name),
            op_name=op_name,
            source=source,
        )

    def _frames_of(self, array: MovedArray) -> tuple[Frame, ...]:
        return user_frames(array.frames, self.files)


def _ops(edges: Iterable[PartitionedCollective]) -> list[int]:
    return [op for edge in edges for op in edge.visited]


def _is_one_kind(causes: Sequence[Cause]) -> bool:
    return len({cause.kind for cause in causes}) == 1


def _alike(causes: Sequence[Cause], told: Sequence[Sentence], number: int, row: Collective) -> Sentence:
    """The sentence that names several causes that fit equally well: `told` is what they differ in, of `number`."""
    is_written = causes[0].kind == "written"
    operations = list(dict.fromkeys(cause.operation or cause.sentence for cause in causes))
    shown = told[:_MOST_ALTERNATIVES]
    rest = [f"{number - len(shown)} more"] if number > len(shown) else []
    form = "alike" if len(operations) > 1 else "arrays alike"
    verb = _SUMMED.get(causes[0].kind, "") if _is_one_kind(causes) and all(cause.summed for cause in causes) else ""
    if verb and row.axes:
        form = f"{form}, summed"
    elif is_written and len(operations) == 1:
        form = f"{form}, written"
    return _worded(
        form,
        verb=verb,
        axes=axes_or_parts(row.axes or ()),
        number=number,
        alike="" if is_written else ", which XLA has made alike",
        operations=joined([*shown, *rest], " or "),
        of=operations[0],
    )


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

    def with_these(cause: Cause, row: Collective) -> Cause:
        others = together.get(_reshard(cause), ()) if _is_alone(cause) else ()
        return replace(cause, serves_with=tuple(name for name in others if name not in row.instructions))

    return [replace(row, causes=tuple(with_these(cause, row) for cause in row.causes)) for row in rows]


def _reshard(cause: Cause) -> object:
    """The key of one logical reshard: the array, the operation, and the kind of cause."""
    return cause.kind, cause.op_name, cause.value, cause.source, cause.operation, cause.moved


def _is_alone(cause: Cause) -> bool:
    return cause.candidates == 1 and cause.kind in (*RESHARDS, "full_replication") and cause.evidence == "sharding"


def _source(row: Collective, causes: Sequence[Cause]) -> tuple[Frame, ...]:
    """The source frames of a collective.

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


def _worded(form: str, **given: object) -> Sentence:
    return worded(form, given.__getitem__)


def _kind_of_name(name: str, collective: str) -> CauseKind:
    """The kind of cause that the name of an operation speaks for, where nothing else is known; "unknown" for none."""
    primitive = name.rpartition("/")[2]
    if is_cumulative(name):
        return "indexing"
    if _DOTS.match(primitive):
        if collective in SUMS:
            return "contraction"
        return "halo" if primitive.startswith("conv") else "reshard_needed"
    for pattern, kind in _BY_NAME:
        if pattern.match(primitive):
            return kind
    return "unknown"
