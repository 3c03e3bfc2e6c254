"""Where the operations of a program were written, and which of them make the value of the text they were written as.

A piece of text that is being run (`m.attend(x)`) may belong to many operations. Its value is what the last of them
makes: what operations of other pieces take. The others are inside it, or of its gradient where that alone takes them.
Not its job: what a value is called (`analyze.sharding.value_names`).
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pjit_inspect.analyze.program.phases import find_phase, transposed, untransposed
from pjit_inspect.analyze.program.source import UserFiles, is_library, user_frames
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE, SameData
from pjit_inspect.analyze.sharding.source_text import text_of
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.program.primitive import users_word
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.report.collective import Phase
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, Span

_SUM = "add_any"
"""JAX's name of the sum of all gradients of one value: it stands where the last of them was made."""
_TURNS = ("/body/jit(dynamic_index_in_dim)", "/body/jit(dynamic_update_index_in_dim)")
"""JAX's name, behind that of the loop, of what `scan` does to take a turn's piece and to put it into the result."""
_BODIES = ("/body/closed_call/", "/body/eval_jaxpr/")
"""The same of what the user wrote in a `scan`, before JAX 0.11.2 and from it on."""
_ROOTS = ("jit(", "pjit(", "pmap(")
"""What JAX's full name of an op begins with; any other name begins in the region the op stands in."""
_LOOPS_OWN = frozenset((*RESHAPED, *SAME_SHAPE, "slice", "concatenate", "dynamic_slice", "dynamic_update_slice"))
"""What a loop does at the place of its call: before and after it, and to take and put a turn's piece."""
_WRAPPERS = re.compile(r"^(?:(?:transpose|jvp|vmap)\()+")
_JAXS = frozenset(("checkpoint", "rematted_computation", "while", "body", "closed_call", "eval_jaxpr", "cond"))
"""Scopes that JAX gives what it makes."""
_MOST_STEPS = 10_000
_NEAR = 5
"""How many operations before a value tell it from that of another layer."""

Place = tuple[Any, ...]
"""A piece of source on one way of calls: the piece, and of each user's frame, innermost first, what was being run."""


@dataclass
class WrittenOps:
    """The operations of one program, as they were written.

    Attributes:
      program: the program.
      sources: texts of the user's files and cells, as far as they are known.
      files: which files are the user's.
    """

    program: ShardedProgram
    sources: Iterable[SourceText] = ()
    files: UserFiles = field(default_factory=UserFiles)

    def __post_init__(self) -> None:
        self._data = SameData(self.program)
        self._sources = {source.file: source for source in self.sources}
        self._texts: dict[Any, str] = {}
        self._stacks: dict[int | None, tuple[Frame, ...]] = {}
        self._sides: dict[int, int | None] = {}
        self._known_modules: dict[tuple[int, ...], Any] = {}

    def frames(self, op: ShardedOp) -> tuple[Frame, ...]:
        """The user's frames of an op, innermost first; () when there are none."""
        number = self._number(op)
        if number is None or number not in self._stacks:
            self._stacks[number] = user_frames(op.frames[self._kept_frames(op) :], self.files)
        return self._stacks[number]

    def _kept_frames(self, op: ShardedOp) -> int:
        """How many of the innermost frames of an op are those of another loop.

        What `scan` takes its pieces by is a function that JAX traces once for all scans over arrays of a shape, where
        the first of them was called; the frames behind that call's are the loop's.
        """
        # In a `while_loop` the user may have called that function.
        if op.parent is None or op.parent not in self._scans:
            return 0
        loop = self.program.ops[op.parent]
        if not loop.frames or not op.op_name.removeprefix(loop.op_name).startswith(_TURNS):
            return 0
        # Of a deep stack the last frames may be missing.
        places = (place for place in range(len(op.frames)) if all(map(operator.eq, op.frames[place:], loop.frames)))
        return next(places, 0)

    @cached_property
    def _scans(self) -> frozenset[int]:
        inner = ((op, op.parent) for op in self.program.ops if op.parent is not None)
        return frozenset(
            loop for op, loop in inner if op.op_name.removeprefix(self.program.ops[loop].op_name).startswith(_BODIES)
        )

    def phase(self, op: ShardedOp) -> Phase:
        """The phase of training an op belongs to; what has a name within a region's has the region's."""
        number = self._number(op)
        return find_phase(self._phased(op).op_name) if number is None else self._phases[number]

    @cached_property
    def _phases(self) -> list[Phase]:
        return [find_phase(self._phased(op).op_name) for op in self.program.ops]

    def _phased(self, op: ShardedOp) -> ShardedOp:
        """The op whose name tells the phase of one: itself, or what it stands in."""
        for _ in range(_MOST_STEPS):
            if find_phase(op.op_name) is not None or op.parent is None or op.op_name.startswith(_ROOTS):
                break
            op = self.program.ops[op.parent]
        return op

    def may_be_tangent(self, op: ShardedOp) -> bool:
        """Whether an op may make the tangent of what its text computes: JAX gives both one name and one place."""
        return not untransposed(self._phased(op).op_name) <= self._transposed

    @cached_property
    def _transposed(self) -> frozenset[str]:
        return frozenset[str]().union(*(transposed(op.op_name) for op in self.program.ops))

    def text(self, op: ShardedOp, depth: int = 0) -> str:
        """The piece of the user's source an op was written as, on one line; "" when it is not known.

        With a `depth`, the piece of so many calls further out.
        """
        frames = self.frames(op)[depth : depth + 1]
        source = self._sources.get(frames[0].file) if frames else None
        if source is None or source.line(frames[0].line) is None:
            return ""
        key = frames[0].file, frames[0].line, _span(op, frames[0])
        if key not in self._texts:
            self._texts[key] = text_of(source, *key[1:])
        return self._texts[key]

    def column(self, frame: Frame) -> int:
        """Where on its line the piece of a frame begins, in characters from 1; its first column has to be known."""
        source = self._sources.get(frame.file)
        line = (source and source.line(frame.line)) or ""
        return len(line.encode()[: frame.columns[0]].decode(errors="replace") or " " * frame.columns[0]) + 1

    def place(self, op: ShardedOp) -> Place | None:
        """The piece an op was written as; None where it has no frames."""
        number = self._number(op)
        return self._place(op) if number is None else self._places[number]

    def _place(self, op: ShardedOp) -> Place | None:
        if not (frames := self.frames(op)):
            return None
        # JAX may tell a call twice.
        return (_span(op, frames[0]), *dict.fromkeys((frame.file, frame.line, frame.columns) for frame in frames))

    @cached_property
    def _places(self) -> list[Place | None]:
        return list(map(self._place, self.program.ops))

    @cached_property
    def _roles(self) -> list[str]:
        """For each op whether it computes a value, a gradient, or a value again."""
        return [phase if phase in ("backward", "recompute") else "forward" for phase in self._phases]

    def _number(self, op: ShardedOp) -> int | None:
        return self.program.values[op.results[0]].op if op.results else None

    def _maker(self, value: int) -> ShardedOp | None:
        maker = self.program.values[self._data.behind(value)].op
        return None if maker is None else self.program.ops[maker]

    def is_one_piece(self, one: ShardedOp, other: ShardedOp) -> bool:
        """Whether two ops were written as the very same piece of text, in one phase."""
        place = self.place(one)
        return place is not None and place == self.place(other) and self.phase(one) == self.phase(other)

    def makes(self, op: ShardedOp) -> bool:
        """Whether an op makes the value of its piece, the last views of it aside; in a gradient, what that hands on."""
        number = self._number(op)
        return number is None or number in self._uses[0]

    def is_of_gradient(self, op: ShardedOp) -> bool:
        """Whether an op of the forward pass makes the factor that the gradient of its piece is a product with."""
        if self.phase(op) != "forward" or any(self._number(op) in numbers for numbers in self._uses):
            return False
        return len({(other.kind, other.op_name) for other in self._of_piece(op, "backward")}) <= 1

    def _of_piece(self, op: ShardedOp, *roles: str) -> list[ShardedOp]:
        """The ops of a piece that are no views."""
        place = self.place(op)
        # JAX leaves frames out of what it has traced before.
        for numbers in (self._pieces.get(place, ()), self._pieces.get(_text(place), ())):
            if ops := [self.program.ops[number] for number in numbers if self._roles[number] in roles]:
                return [other for other in ops if other.kind not in RESHAPED and other.kind not in SAME_SHAPE]
        return []

    @cached_property
    def _pieces(self) -> dict[Place | None, dict[int, None]]:
        """The ops of each piece, on one way of calls and on all."""
        found: dict[Place | None, dict[int, None]] = {}
        for number, place in enumerate(self._places):
            for key in (place, _text(place)):
                found.setdefault(key, {})[number] = None
        return found

    @cached_property
    def _loops(self) -> dict[Place | None, ShardedOp]:
        return {place: op for op in self.program.ops if op.kind == "while" and (place := self.place(op)) is not None}

    def loop_of(self, op: ShardedOp) -> ShardedOp | None:
        """The loop whose own op it is: what `scan` does to hand each turn its piece stands at the call of `scan`."""
        parent = None if op.parent is None else self.program.ops[op.parent]
        if parent is not None and parent.kind == "while" and self.place(parent) == self.place(op):
            return parent
        return self._loops.get(self.place(op)) if op.kind in _LOOPS_OWN and op.operands else None

    @cached_property
    def _uses(self) -> tuple[frozenset[int], frozenset[int]]:
        """The ops that make the value of their piece, and those that lead to them within it; from the last on."""
        makers, leading, left = set[int](), set[int](), list[int]()
        for number, place in reversed(tuple(enumerate(self._places))):
            users = list(self._users(number)) if place is not None else []
            inner = [user for user in users if user in leading and self._is_within(number, user)]
            views = [user for user in inner if self.program.ops[user].kind in (*SAME_SHAPE, "transpose")]
            is_taken = any(user is None or self._is_taken(number, user) for user in users)
            if is_taken or inner:
                leading.add(number)
            is_maker = inner == views and makers.issuperset(views) if inner else is_taken
            (makers.add if is_maker else left.append)(number)
        makers |= {number for number in left if self._is_run_again(number, makers, leading)}
        return frozenset(makers), frozenset(leading)

    def _is_within(self, number: int, user: int | None) -> bool:
        """Whether an op's user is of its piece."""
        if user is None or self._is_mixed(user):
            return False
        return self._places[user] == self._places[number] and self._roles[user] == self._roles[number]

    def _is_taken(self, number: int, user: int) -> bool:
        """Whether an op's user takes the value of its piece."""
        role, other, text = self._roles[number], self._roles[user], _text(self._places[user])
        if role == other or text == _text(self._places[number]):
            return role == other and not self._is_within(number, user)
        # The gradient of an operation takes what that took; else it takes a factor of the gradient that it is handed,
        # where XLA made nothing of the product with it.
        return other != "backward" or (text, role) not in self._computing

    @cached_property
    def _computing(self) -> frozenset[tuple[Any, str]]:
        """The pieces that are not views only, each with what is done there."""
        rows = zip(self.program.ops, self._places, self._roles, strict=True)
        return frozenset((_text(place), role) for op, place, role in rows if op.kind not in RESHAPED)

    def _is_run_again(self, number: int, makers: set[int], leading: set[int]) -> bool:
        """Whether an op is like one that makes the value of the piece, which may be run several times, as by layer."""
        op, place = self.program.ops[number], self._places[number]
        rivals = [self.program.ops[other] for other in self._pieces[place] if other in makers] if place else []
        alike = [other for other in rivals if (other.kind, _last(other)) == (op.kind, _last(op))]
        if number not in leading:
            return any(self._inner(other) == self._inner(op) for other in alike)
        # Within a call, one of several that are alike may be on the way to the last.
        return bool(alike) and not isinstance(self._tree(op), (ast.Call, type(None)))

    def _inner(self, op: ShardedOp) -> list[bool]:
        """Which operands of an op are of its own piece."""
        makers = [self.program.values[value].op for value in op.operands]
        return [maker is not None and self._places[maker] == self.place(op) for maker in makers]

    def _tree(self, op: ShardedOp) -> ast.expr | None:
        """The expression that an op was written as; None for what is none."""
        try:
            return ast.parse(self.text(op), mode="eval").body
        except (SyntaxError, ValueError):
            return None

    def _users(self, number: int) -> Iterator[int | None]:
        """The ops that take what one makes, past XLA's own and those of loops; None for a result of the program."""
        ops, own = self.program.ops, self.program.ops[number]
        waiting, seen = list(own.results), set(own.results)
        while waiting:
            value = waiting.pop()
            if value in self._returned:
                yield None
            following = list(self._linked.get(value, ()))
            if value in own.results and own.parent is not None and set(following) & set(ops[own.parent].results):
                yield own.parent
            for user, _ in self.program.users.get(value, ()):
                op = ops[user]
                is_own = self._places[user] is None or op.kind == "optimization_barrier"
                if is_own or (self._places[user] != self._places[number] and self.loop_of(op) is not None):
                    following += op.results
                elif not (op.kind in ("while", "case", "call") and value in self._linked):
                    yield user
            waiting += [target for target in following if target not in seen]
            seen.update(following)

    @cached_property
    def _linked(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for source, target in self.program.links:
            found.setdefault(source, []).append(target)
        return found

    @cached_property
    def _returned(self) -> frozenset[int]:
        return frozenset(output.value for output in self.program.outputs)

    def is_mixed(self, op: ShardedOp) -> bool:
        """Whether an op adds up gradients of a value that are made at several places, of which it stands at one."""
        number = self._number(op)
        return number is not None and self._is_mixed(number)

    def _is_mixed(self, number: int) -> bool:
        sums = [number] if _last(self.program.ops[number]) == _SUM else []
        for own in sums:
            for operand in self.program.ops[own].operands:
                maker = self.program.values[self._data.behind(operand)].op
                if maker is None or self._places[maker] != self._places[number] or self._roles[maker] != "backward":
                    return True
                # Layers in a Python loop have one text: what the sum of one is made of may be that of the next.
                if _last(self.program.ops[maker]) == _SUM and len(sums) < _MOST_STEPS:
                    sums.append(maker)
        return False

    def last_views(self, op: ShardedOp) -> list[ShardedOp]:
        """The views of what an op makes that are of its own piece: JAX transposes the product of an `einsum`."""
        found = [op]
        for last in found:
            users = [
                self.program.ops[user] for result in last.results for user, _ in self.program.users.get(result, ())
            ]
            views = (user for user in users if user.kind in (*SAME_SHAPE, "transpose") and self.is_one_piece(user, op))
            found += list(views)[:1]
        return found[1:]

    def differentiated(self, op: ShardedOp) -> int | None:
        """The operand of its piece that a gradient is with respect to; None where that is not known."""
        number = self._number(op)
        if number is None or self._roles[number] != "backward" or not self.makes(op):
            return None
        if number not in self._sides:
            self._sides[number] = self._differentiated(op)
        return self._sides[number]

    def _differentiated(self, op: ShardedOp) -> int | None:
        forward = self._forward(op)
        if op.kind == "dot_general":
            return self._other_side(op, [other for other in forward if other.kind == op.kind])
        shapes = [self.program.values[other.results[0]].shape for other in forward if self.makes(other)]
        alike = self._alike(op, forward)
        is_other = self._shape(op) not in shapes and bool(shapes)
        return alike[0] if len(alike) == 1 and is_other else None

    def summed(self, op: ShardedOp) -> list[int]:
        """The values whose gradients a sum that is mixed may add up: what its own piece takes of its shape.

        What an expression makes on the way nobody else takes. Layers in a Python loop have one each.
        """
        return self._alike(op, self._forward(op))

    def _forward(self, op: ShardedOp) -> list[ShardedOp]:
        """The operations of the forward pass of an op's piece and module."""
        forward, module = self._of_piece(op, "forward", "recompute"), self._module(op)
        return [other for other in forward if self._module(other) == module]

    def _module(self, op: ShardedOp) -> Any:
        """The module that an op is of, and where in a library."""
        if op.results not in self._known_modules:
            self._known_modules[op.results] = module_path(op), self._library(op)
        return self._known_modules[op.results]

    def _alike(self, op: ShardedOp, forward: Sequence[ShardedOp]) -> list[int]:
        """What some operations take from elsewhere that has the shape of what an op makes, and is no constant."""
        made = {value for other in forward for value in other.results}
        inputs = {self._data.behind(value) for other in forward for value in other.operands} - made
        shape = self._shape(op)
        return [own for own in inputs if self.program.values[own].shape == shape and not self.is_constant(own)]

    def _shape(self, op: ShardedOp) -> tuple[int, ...]:
        return self.program.values[(op, *self.last_views(op))[-1].results[0]].shape

    def _other_side(self, op: ShardedOp, products: Sequence[ShardedOp]) -> int | None:
        """The side of a product whose gradient is a product with the other side."""
        pairs = [pair for other in products for pair in (other.operands, other.operands[::-1])]
        for known in (self._data.behind, self._twin):
            given = set(map(known, op.operands))
            sides = {self._data.behind(a) for a, b in pairs if known(b) in given and known(a) not in given}
            if sides:
                return sides.pop() if len(sides) == 1 else None
        return None

    def _twin(self, value: int) -> Any:
        """What a value and the same one computed again have in common: its text, and arguments close before it."""
        op = self._maker(value)
        if op is None or self.place(op) is None or self.phase(op) == "backward":
            return self._data.behind(value)
        found, reached = set[int](), {value}
        for _ in range(_NEAR):
            makers = [maker for own in reached if (maker := self._maker(own)) is not None]
            reached = {self._data.behind(own) for maker in makers for own in maker.operands}
            found |= {own for own in reached if self.program.values[own].argument is not None}
        return _text(self.place(op)), op.kind, _last(op), module_path(op), frozenset(found)

    def side(self, op: ShardedOp, operand: int) -> str:
        """How an operand of a product of an op's piece was written, where that is `a @ b`; "" for any other."""
        tree = self._tree(op)
        if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, ast.MatMult):
            return ""
        products = [other for other in self._of_piece(op, "forward", "recompute") if other.kind == "dot_general"]
        sides = [list(map(self._data.behind, other.operands)) for other in products]
        found = {(tree.left, tree.right)[own.index(operand)] for own in sides if operand in own}
        return ast.get_source_segment(self.text(op), found.pop()) or "" if len(found) == 1 else ""

    def is_constant(self, index: int) -> bool:
        """Whether a value is a constant, or a view of one."""
        op = self._maker(index)
        return op is not None and op.kind == "constant"

    def caller(self, op: ShardedOp) -> Frame | None:
        """The innermost call that tells an op from others of its piece; of a request for a sharding, any call.

        None where one way of calls leads there.
        """
        frames = self.frames(op)
        if len(frames) < 2:
            return None
        own, called, *_ = frames
        if op.kind in REQUESTS:
            is_other = own.function != called.function and (own.file, own.line) != (called.file, called.line)
            return called if is_other and called not in self._outer else None
        number = self._number(op)
        ways = [] if number is None else self._ways[_text(self._places[number]), self._roles[number]]
        for most in (1, len(ways) - 1):
            for depth, frame in enumerate(frames[1:], 1):
                if sum(way[depth : depth + 1] == (frame,) for way in ways) <= most and len(ways) > 1:
                    return None if frame in self._outer else frame
        return None

    @cached_property
    def _outer(self) -> frozenset[Frame]:
        """The frames that all ops have in common."""
        stacks = [set(op.frames) for op in self.program.ops if op.frames and op.op_name.startswith(_ROOTS)]
        return frozenset(set[Frame]().union(*stacks[:1]).intersection(*stacks))

    @cached_property
    def _ways(self) -> dict[tuple[Place | None, str], list[tuple[Frame, ...]]]:
        """For each piece the ways of calls that lead to it, without those that JAX left frames out of."""
        found: dict[tuple[Place | None, str], dict[tuple[Frame, ...], None]] = {}
        for op, place, role in zip(self.program.ops, self._places, self._roles, strict=True):
            found.setdefault((_text(place), role), {})[self.frames(op)] = None
        return {
            key: [way for way in ways if not any(way != other and _is_within(way, other) for other in ways)]
            for key, ways in found.items()
        }

    def _library(self, op: ShardedOp) -> tuple[Frame, ...]:
        """The frames of a library of the user's that an op has within what the user wrote, innermost first."""
        frames = self.frames(op)
        inner = op.frames[: op.frames.index(frames[0])] if frames and frames[0] in op.frames else ()
        return inner if inner and is_library(inner[0].file) else ()

    def label(self, op: ShardedOp) -> str:
        """An op by its primitive, in a library of the user's with the module or function there: "wq/dot_general"."""
        library, primitive = self._library(op), users_word(_last(op)) or op.kind
        if not library:
            return primitive
        function = library[0].function.partition(".<locals>")[0].removesuffix(".__call__")
        return f"{(module_path(op) or (function,))[-1]}/{primitive}"

    def part(self, op: ShardedOp) -> str:
        """Which part of its piece an op is, where a library does several things of the kind there; "" for any other."""
        number = self._number(op)
        if number is None or not self._library(op) or number in self._uses[0]:
            return ""
        alike = [other for other in self._of_piece(op, self._roles[number]) if other.kind == op.kind]
        return self.label(op) if len({(other.frames, other.op_name) for other in alike}) > 1 else ""


def module_path(op: ShardedOp) -> tuple[str, ...]:
    """The modules and scopes of an op in JAX's name of it, without what JAX has done to them."""
    scopes = (_WRAPPERS.sub("", scope).rstrip(")") for scope in op.op_name.partition(";")[0].split("/")[:-1])
    found = [scope for scope in scopes if scope and "(" not in scope and "->" not in scope and scope not in _JAXS]
    return tuple(dict.fromkeys(found))


def _text(place: Place | None) -> Place | None:
    """The piece of source without the way of calls."""
    return None if place is None else place[:2]


def _last(op: ShardedOp) -> str:
    return op.op_name.rpartition("/")[2]


def _span(op: ShardedOp, frame: Frame) -> Span | None:
    """The piece of text that belongs to a user's frame of an op."""
    piece = (frame.file, frame.line, frame.columns[:1])
    places = zip(op.frames, op.spans, strict=False)
    own = (span for other, span in places if (other.file, other.line, other.columns[:1]) == piece)
    span = next(own, None)
    return span if span is not None and span.line == frame.line else None


def _is_within(one: Sequence[Frame], other: Sequence[Frame]) -> bool:
    """Whether all frames of one stack are in another, in order."""
    rest = iter(other)
    return all(frame in rest for frame in one)
