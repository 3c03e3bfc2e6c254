"""Places where one change of the source changes how a program splits its arrays.

A place is one that a person can write: the value that a line binds (in all layers of a Python loop at once, with the
gradient that JAX binds with it), a constraint that is there, arguments that differ in the number of a layer with the
optimizer's state of them, a result. Not its job: what may be written there (`specs`), or whether that saves anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from pjit_inspect.analyze.advice.argument_groups import EqualArguments, argument_groups
from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.analyze.advice.lines import Lines
from pjit_inspect.analyze.advice.requests import Requests, is_asked
from pjit_inspect.analyze.advice.site import Place, Site, SiteKind, is_large
from pjit_inspect.analyze.advice.specs import with_axis
from pjit_inspect.analyze.advice.updates import root_of
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.edit import Edit, EditKind
from pjit_inspect.model.sharding.sharded_program import ShardedOp
from pjit_inspect.model.words.sentence import Sentence, code, say

_Call = tuple[str, str, tuple[Frame, ...]]
"""A function by its file and name, and the frames from its call on."""


class Sites:
    """Finds the places of one program."""

    def __init__(self, program: EditedProgram) -> None:
        self._own, self._names = program, program.names
        self._ops, self._values = program.program.ops, program.program.values

    def find(self) -> Iterator[Site]:
        """All places, each once."""
        yield from self._requests()
        yield from self._trees()
        yield from self._arguments()
        yield from self._together()
        yield from self._results()
        yield from Lines(self._own).find()

    # ------------------------------------------------------------ what is written already

    def _requests(self) -> Iterator[Site]:
        requests, done = Requests(self._names), set[tuple[int, ...]]()
        for index, op in enumerate(self._ops):
            if not is_asked(op) or op.manual:
                continue
            frames, alone, every = self._names.frames(op), requests.of(index), requests.of_every_call(index)
            call = self._helpers_call(op, frames, is_alike=every is not None)
            # What is asked for in a function that computes, too, is the same in every call of it.
            for request, source in ((alone if call or every is None else None, call or frames), (every, frames)):
                if request is None or request.ops in done:
                    continue
                done.add(request.ops)
                yield Site(
                    kind="request",
                    words=request.words,
                    places=tuple(("respec", own, 0) for own in request.ops),
                    arrays=self._made(request.ops),
                    ops=tuple(sorted(request.ops)),
                    source=source,
                    is_on_purpose=self._is_at_the_border(op),
                )

    def _is_at_the_border(self, op: ShardedOp) -> bool:
        """True if a constraint is on an argument or a result of the program, or a view of one."""
        names = self._names
        results = {names.seen_through(own.value) for own in self._own.program.outputs}
        return bool(names.argument(op.operands[0])) or names.seen_through(op.results[0]) in results

    def _helpers_call(self, op: ShardedOp, frames: tuple[Frame, ...], *, is_alike: bool) -> tuple[Frame, ...]:
        """The frames from the call of a helper on that makes a constraint; () where the constraint itself is meant.

        A helper does nothing but ask, or is told what to ask for: then not all of several calls ask alike. Whoever
        hands a function on, as to `lax.scan`, does not say what is asked for in it.
        """
        if self._names.caller(op) is None:
            return ()
        called = self._names.text(op, 1).partition("(")[0].rpartition(".")[2]
        is_call = called == frames[0].function.rpartition(".")[2]
        asking = {self._names.frames(other) for other in self._ops if is_asked(other)}
        is_told = not is_alike and len({own[1:2] for own in asking if own[:1] == frames[:1]}) > 1
        return frames[1:] if is_call and (is_told or _call(frames, 1) not in self._computing) else ()

    @cached_property
    def _computing(self) -> frozenset[_Call]:
        """The calls of functions that compute something."""
        stacks = {self._names.frames(op) for op in self._ops if op.kind not in REQUESTS}
        return frozenset(_call(stack, depth) for stack in stacks for depth in range(1, len(stack)))

    def _arguments(self) -> Iterator[Site]:
        groups = argument_groups(self._own.program)
        # The optimizer's state of a parameter goes with it, and is a place of its own where it is split differently.
        peers = {index for group in groups for index in group.peers}
        for group in groups:
            value = self._own.program.inputs[group.members[0]].value
            if not peers.issuperset(group.members) and is_large(self._own, value, len(group.members)):
                yield self._argument(group, value)

    def _argument(self, group: EqualArguments, value: int) -> Site:
        arguments: list[Place] = [("argument", index, 0) for index in (*group.members, *group.peers)]
        results: list[Place] = [("result", index, 0) for index in group.results]
        return Site(
            kind="argument",
            words=say("{}", code(group.label)) if len(group.members) == 1 else Sentence(group.words),
            places=(*arguments, *results),
            arrays=((value, group.spec),),
            count=len(arguments),
        )

    def _together(self) -> Iterator[Site]:
        """Arguments that share a class of dimensions, all of them split there over one axis.

        Two weights in a row are best cut along the dimension between them: to cut one alone helps nothing.
        """
        sharing: dict[int, list[tuple[EqualArguments, int, int]]] = defaultdict(list)
        for group in argument_groups(self._own.program):
            value = self._own.program.inputs[group.members[0]].value
            for dimension, own_class in enumerate(self._own.classes(value)):
                sharing[own_class].append((group, value, dimension))
        for rows in sharing.values():
            for axis in self._own.program.sizes if len(rows) > 1 else ():
                changes = [(group, value, with_axis(group.spec, dimension, axis)) for group, value, dimension in rows]
                changed = [(group, value, spec) for group, value, spec in changes if spec != group.spec]
                fits = all(self._own.fits(value, spec) for _, value, spec in changed)
                if fits and len({group.label for group, _, _ in changed}) > 1:
                    taken = {c for _, value, _ in changed for c in self._split_over(value, axis)}
                    # To take an axis from the data is another layout.
                    yield self._all_of(changed, is_on_purpose=not self._own.kept.isdisjoint(taken))

    def _split_over(self, value: int, axis: str) -> Iterator[int]:
        """The classes of a value's dimensions that an axis splits."""
        return (c for c, axes in zip(self._own.classes(value), self._own.spec(value), strict=True) if axis in axes)

    def _all_of(self, changed: Sequence[tuple[EqualArguments, int, Dimensions]], *, is_on_purpose: bool) -> Site:
        edits: dict[tuple[EditKind, int], tuple[int, Dimensions, Edit]] = {
            (edit.kind, edit.index): (value, group.spec, edit)
            for group, value, new in changed
            for edit in group.edits(new)
        }
        first, second = (changed[k][0] for k in range(2))
        more = f" and {len(changed) - 2} more" if len(changed) > 2 else ""
        return Site(
            kind="argument",
            words=say("{} and {}{}", code(first.label), code(second.label), more),
            places=tuple((edit.kind, edit.index, 0) for _, _, edit in edits.values()),
            arrays=tuple((value, spec) for value, spec, _ in edits.values()),
            fixed=tuple(edit.spec or () for _, _, edit in edits.values()),
            sentence=say(
                "{} arrives as {}, {} as {}{}",
                code(first.label),
                code(spec_text(first.spec)),
                code(second.label),
                code(spec_text(second.spec)),
                more,
            ),
            count=len(edits),
            is_on_purpose=is_on_purpose,
        )

    def _results(self) -> Iterator[Site]:
        for index, own in enumerate(self._own.program.outputs):
            if is_large(self._own, own.value):
                words = say("{}", code(own.label or f"result[{index}]"))
                now = self._own.spec(own.value) if own.spec is None else own.spec
                yield Site(kind="result", words=words, places=(("result", index, 0),), arrays=((own.value, now),))

    def _trees(self) -> Iterator[Site]:
        """Arrays of one tree that every device holds in full, each split as another argument of its dimensions is."""
        trees: dict[tuple[SiteKind, str], list[tuple[Place, int, Dimensions]]] = defaultdict(list)
        for group in argument_groups(self._own.program):
            value = self._own.program.inputs[group.members[0]].value
            if not any(group.spec) and (spec := self._as_argument(value)):
                own = trees["argument", root_of(group.label)]
                own += [(("argument", index, 0), value, spec) for index in (*group.members, *group.peers)]
                own += [(("result", index, 0), value, spec) for index in group.results]
        for index, result in enumerate(self._own.program.outputs):
            is_whole = result.spec is not None and not any(result.spec)
            if is_whole and (spec := self._as_argument(result.value)):
                trees["result", root_of(result.label)].append((("result", index, 0), result.value, spec))
        for (kind, root), rows in trees.items():
            places = {place: (value, spec) for place, value, spec in rows}
            if len(places) > 1 and is_large(self._own, rows[0][1], len(places)):
                yield Site(
                    kind=kind,
                    words=say("the {} arrays of {} that every device holds in full", len(places), code(root or kind)),
                    places=tuple(places),
                    arrays=tuple((value, ((),) * len(spec)) for value, spec in places.values()),
                    fixed=tuple(spec for _, spec in places.values()),
                    count=len(places),
                )

    def _as_argument(self, value: int) -> Dimensions | None:
        """The spec of a split argument of the same dimensions; None if there is none."""
        own = (self._own.spec(one.value) for one in self._own.program.inputs if self._is_alike(one.value, value))
        return next((spec for spec in own if any(spec)), None)

    def _is_alike(self, one: int, other: int) -> bool:
        is_same = self._own.classes(one) == self._own.classes(other)
        return is_same and self._own.shape(one) == self._own.shape(other)

    def _made(self, ops: Sequence[int]) -> tuple[tuple[int, Dimensions], ...]:
        """The results of ops, and their specs."""
        return tuple((value, self._own.spec(value)) for index in ops for value in self._ops[index].results[:1])


def _call(frames: tuple[Frame, ...], depth: int) -> _Call:
    """The call of the function that so many frames are within."""
    return frames[depth - 1].file, frames[depth - 1].function, frames[depth:]
