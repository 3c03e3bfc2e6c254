"""Finds where each operation was written, and which operations make the value of the text they were written as.

A piece of text that is being run (`m.attend(x)`) may belong to many operations. Its value is what the last of them
makes: what operations of other pieces take. The others are inside it, or of its gradient where that alone takes them.
Not its job: what a value is called (`analyze.sharding.value_names`).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pjit_inspect.analyze.program.phases import find_phase
from pjit_inspect.analyze.program.source import UserFiles, user_frames
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE, SameData, kept
from pjit_inspect.analyze.sharding.source_texts import shortened, text_of
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.report.collective import Phase
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, Span

SUM_OF_GRADIENTS = "add_any"
"""JAX's name of the sum of all gradients of one value: it stands where the last of them was made."""
_TURNS = ("/body/jit(dynamic_index_in_dim)", "/body/jit(dynamic_update_index_in_dim)")
"""JAX's name, behind that of the loop, of what `scan` does to take a turn's piece and to put it into the result."""
_BODIES = ("/body/closed_call/", "/body/eval_jaxpr/")
"""The same of what the user wrote in a `scan`, before JAX 0.11.2 and from it on."""
_ROOTS = ("jit(", "pjit(", "pmap(")
"""The beginnings of JAX's full names of ops; any other name begins in the region the op stands in."""
_LOOPS_OWN = frozenset((*RESHAPED, *SAME_SHAPE, "slice", "concatenate", "dynamic_slice", "dynamic_update_slice"))
"""Operations of a loop at the place of its call: before and after it, and to take and put a turn's piece."""
VIEWS = frozenset((*RESHAPED, *SAME_SHAPE))
OWN_VIEWS = frozenset(("transpose", *SAME_SHAPE))
"""Views that JAX makes of the value of a piece within it: it transposes the product of an `einsum`."""
_ONE_OF = re.compile(r"(\d+):(\d+)(?:,|$)", re.ASCII)
"""The piece of a slice along its first dimension."""
_BATCHED = "vmap("
"""The beginning of a part of JAX's name of an operation that `vmap` has given a dimension."""

_Place = tuple[Any, ...]
"""A piece of source on one way of calls: the piece, then where each call to it stands, innermost first."""


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
        self._stacks: dict[int, tuple[Any, tuple[Frame, ...]]] = {}

    # ------------------------------------------------------------ where an op was written

    def frames(self, op: ShardedOp) -> tuple[Frame, ...]:
        """The user's frames of an op, innermost first; () when there are none."""
        own = op.frames
        loop = self.program.ops[op.parent] if op.parent is not None and op.parent in self._scans else op
        if loop.frames and op.op_name.removeprefix(loop.op_name).startswith(_TURNS):
            # JAX traces that function once for all scans over arrays of a shape: the first frames may be another's.
            own = loop.frames
        # Ops of one line share one tuple of frames.
        if id(own) not in self._stacks:
            self._stacks[id(own)] = own, self._once(user_frames(own, self.files))
        return self._stacks[id(own)][1]

    def _once(self, frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
        """The frames without those of another call of a function that JAX traced once for both.

        Such a stack begins with that of the first call: its functions come again, at other lines. A function that
        calls itself has them, too; then it names what is called, or is that.
        """
        functions = [(frame.file, frame.function) for frame in frames]
        for most in range(1, len(frames) // 2 + 1):
            again, called = frames[most], frames[most - 1].function.rpartition(".")[2]
            if functions[:most] == functions[most : 2 * most]:
                source = self._sources.get(again.file)
                line = source.line(again.line) if source is not None else None
                is_called = functions[most - 1] == functions[most] if line is None else called in words_of(line)
                if not is_called:
                    return frames[most:]
        return frames

    @cached_property
    def _scans(self) -> frozenset[int]:
        """The loops of `scan`; in another the user may have called what it takes its pieces by."""
        inner = ((op.op_name, op.parent) for op in self.program.ops if op.parent is not None)
        ops = self.program.ops
        return frozenset(loop for own, loop in inner if own.removeprefix(ops[loop].op_name).startswith(_BODIES))

    def phase(self, op: ShardedOp) -> Phase:
        """The phase of training an op belongs to; what has a name within a region's has the region's."""
        return find_phase(self._named(op).op_name)

    def _named(self, op: ShardedOp) -> ShardedOp:
        while op.parent is not None and not op.op_name.startswith(_ROOTS) and find_phase(op.op_name) is None:
            op = self.program.ops[op.parent]
        return op

    @kept
    def text(self, op: ShardedOp, depth: int = 0) -> str:
        """The piece of the user's source an op was written as, on one line and short; "" when it is not known.

        With a `depth`, the piece of so many calls further out.
        """
        frames = self.frames(op)[depth : depth + 1]
        text = self._texts(frames[0], _span(op, frames[0]))[1] if frames else ""
        return (self._target(op) if not depth and "," in text else "") or text

    def _target(self, op: ShardedOp) -> str:
        """The target of an assignment that an op unpacks an array to, as `k` in `q, k = f(x)`; "" for any other op."""
        tree, own = self._tree(op), op
        while own.kind == "reshape" and (maker := self._maker(own.operands[0])) and self._is_one_piece(maker, op):
            own = maker
        place = _ONE_OF.match(own.detail) if own.kind == "slice" and isinstance(tree, ast.Tuple) else None
        if place is None or not isinstance(tree, ast.Tuple):
            return ""
        number, end, count = int(place[1]), int(place[2]), self.program.values[own.operands[0]].shape[:1]
        is_each = count == (len(tree.elts),) and number + 1 == end <= len(tree.elts)
        is_each &= not any(isinstance(target, ast.Starred) for target in tree.elts)
        return shortened(ast.unparse(tree.elts[number])) if is_each else ""

    @kept
    def _texts(self, frame: Frame, span: Span | None) -> tuple[str, str]:
        """The piece that a frame stands at, as the user wrote it and short; "" when it is not known."""
        source = self._sources.get(frame.file)
        text = text_of(source, frame.line, span) if source is not None and source.line(frame.line) is not None else ""
        return text, shortened(text)

    def column(self, frame: Frame) -> int:
        """The column at which a frame's piece begins, in characters from 1; its first column has to be known."""
        source = self._sources.get(frame.file)
        line = (source and source.line(frame.line)) or ""
        return len(line.encode()[: frame.columns[0]].decode(errors="replace") or " " * frame.columns[0]) + 1

    def caller(self, op: ShardedOp) -> Frame | None:
        """The innermost call that tells an op from others of its piece; of a request for a sharding, any call.

        None where one way of calls leads there.
        """
        number, frames = self._number(op), self.frames(op)
        if len(frames) < 2 or number is None:
            return None
        own, called, *_ = frames
        if op.kind in REQUESTS:
            is_other = own.function != called.function and (own.file, own.line) != (called.file, called.line)
            # A call within the compiled function is told, even where all operations are made by it.
            function = op.op_name.partition("(")[2].partition(")")[0]
            within = [depth for depth, frame in enumerate(frames) if frame.function.rpartition(".")[2] == function]
            return called if is_other and (called not in self._outer or within[-1:] > [0]) else None
        ways = self._ways[piece_of(self._places[number]), self._roles[number]]
        # Best is a call that no other way has.
        for most in (1, len(ways) - 1):
            for depth, frame in enumerate(frames[1:], 1):
                if sum(way[depth : depth + 1] == (frame,) for way in ways) <= most and len(ways) > 1:
                    return None if frame in self._outer else frame
        return None

    @cached_property
    def _outer(self) -> frozenset[Frame]:
        """The frames that all ops have in common, but for those whose stack JAX has cut off."""
        stacks = [op.frames for op in self.program.ops if op.frames and op.op_name.startswith(_ROOTS)]
        outermost = Counter(stack[-1] for stack in stacks).most_common(1)
        whole = [frozenset(stack) for stack in stacks if stack[-1] == outermost[0][0]]
        return frozenset[Frame]().union(*whole[:1]).intersection(*whole)

    @cached_property
    def _ways(self) -> dict[tuple[_Place | None, str], list[tuple[Frame, ...]]]:
        """For each piece the ways of calls that lead to it, without those that JAX left frames out of."""
        found: dict[tuple[_Place | None, str], dict[tuple[Frame, ...], None]] = {}
        for op, own, role in zip(self.program.ops, self._places, self._roles, strict=True):
            found.setdefault((piece_of(own), role), {})[self.frames(op)] = None
        return {
            key: [way for way in ways if not any(way != other and _has_in_order(other, way) for other in ways)]
            for key, ways in found.items()
        }

    def is_by_helper(self, op: ShardedOp) -> bool:
        """True if a function asks for a sharding that may have many callers: the call is what one would change."""
        return op.kind in REQUESTS and self.caller(op) is not None

    def scopes(self, op: ShardedOp) -> tuple[str, ...]:
        """The names of an op and of those it stands in: of loops, and of functions that are called."""
        found = [op.op_name]
        while op.parent is not None:
            op = self.program.ops[op.parent]
            found.append(op.op_name)
        return tuple(found)

    def is_batched(self, op: ShardedOp) -> bool:
        """True if `vmap` may have given an op a dimension of which its text knows nothing."""
        return _BATCHED not in self.text(op) and any(_BATCHED in own for own in self.scopes(op))

    @cached_property
    def _places(self) -> list[_Place | None]:
        """For each op the piece it was written as, on its way of calls; None where it has no frames."""

        def found(op: ShardedOp) -> _Place | None:
            frames = self.frames(op)
            # JAX may tell a call twice.
            calls = dict.fromkeys((frame.file, frame.line, frame.columns) for frame in frames)
            return (_span(op, frames[0]), *calls) if frames else None

        return list(map(found, self.program.ops))

    @cached_property
    def _roles(self) -> list[str]:
        """For each op whether it computes a value, a gradient, or a value again."""
        phases = map(self.phase, self.program.ops)
        return [phase if phase in ("backward", "recompute") else "forward" for phase in phases]

    @cached_property
    def _pieces(self) -> dict[_Place | None, dict[int, None]]:
        """The ops of each piece, on one way of calls and on all."""
        found: dict[_Place | None, dict[int, None]] = {}
        for number, own in enumerate(self._places):
            for key in (own, piece_of(own)):
                found.setdefault(key, {})[number] = None
        return found

    def _shape_of(self, op: ShardedOp) -> tuple[int, ...]:
        return self.program.values[op.results[0]].shape

    def _number(self, op: ShardedOp) -> int | None:
        return self.program.values[op.results[0]].op if op.results else None

    def _maker(self, value: int) -> ShardedOp | None:
        maker = self.program.values[value].op
        return None if maker is None else self.program.ops[maker]

    def _place(self, op: ShardedOp) -> _Place | None:
        number = self._number(op)
        return None if number is None else self._places[number]

    def _is_one_piece(self, one: ShardedOp, other: ShardedOp) -> bool:
        """True if two ops were written as the very same piece of text, in one phase."""
        own = self._place(one)
        return own is not None and own == self._place(other) and self.phase(one) == self.phase(other)

    def _loop_of(self, op: ShardedOp) -> ShardedOp | None:
        """The loop whose own op it is: what `scan` does to hand each turn its piece stands at the call of `scan`."""
        parent = None if op.parent is None else self.program.ops[op.parent]
        if parent is not None and parent.kind == "while" and self._place(parent) == self._place(op):
            return parent
        number = self._number(op)
        if number is None or op.kind not in _LOOPS_OWN or not op.operands:
            return None
        return self._loops.get((self._places[number], self._roles[number]))

    @cached_property
    def _loops(self) -> dict[tuple[_Place | None, str], ShardedOp]:
        rows = zip(self.program.ops, self._places, self._roles, strict=True)
        return {(own, role): op for op, own, role in rows if op.kind == "while" and own is not None}

    # ------------------------------------------------------------ which op makes the value of its piece

    def makes(self, op: ShardedOp) -> bool:
        """True if an op makes the value of its piece, the last views of it aside; in a gradient, what that hands on."""
        number = self._number(op)
        return number is None or number in self._uses[0]

    @kept
    def _is_of_gradient(self, op: ShardedOp) -> bool:
        """True if an op of the forward pass makes the factor that the gradient of its piece is a product with."""
        number = self._number(op)
        if number is None or self.phase(op) != "forward" or any(number in numbers for numbers in self._uses):
            return False
        users = [user for user in self._users(number) if user is not None]
        if not any(self._roles[user] == "backward" or self._is_of_gradient(self.program.ops[user]) for user in users):
            return False
        return len({(other.kind, other.op_name) for other in self._of_piece(op, "backward")}) <= 1

    def _of_piece(self, op: ShardedOp, *roles: str) -> list[ShardedOp]:
        """The ops of a piece that are no views."""
        return [other for other in self._all_of_piece(op, *roles) if other.kind not in VIEWS]

    def _all_of_piece(self, op: ShardedOp, *roles: str) -> list[ShardedOp]:
        own = self._place(op)
        # JAX leaves frames out of what it has traced before.
        for numbers in (self._pieces.get(own, ()), self._pieces.get(piece_of(own), ())):
            if ops := [self.program.ops[number] for number in numbers if self._roles[number] in roles]:
                return ops
        return []

    @cached_property
    def _uses(self) -> tuple[frozenset[int], frozenset[int]]:
        """The ops that make the value of their piece, and those that lead to them within it; from the last on."""
        makers, leading, left = set[int](), set[int](), list[int]()
        for number, own in reversed(tuple(enumerate(self._places))):
            users = list(self._users(number)) if own is not None else []
            inner = [user for user in users if user in leading and self._is_within(number, user)]
            views = [user for user in inner if self.program.ops[user].kind in OWN_VIEWS]
            is_taken = any(user is None or self._is_taken(number, user) for user in users)
            is_given = any(
                user is not None and (self._is_called_by(number, user) or self._is_merged(number, user))
                for user in users
            )
            if is_taken or inner:
                leading.add(number)
            is_maker = inner == views and makers.issuperset(views) if inner else is_taken and not is_given
            (makers.add if is_maker else left.append)(number)
        makers |= {number for number in left if self._is_run_again(number, makers, leading)}
        return frozenset(makers) - self._kept_inside(makers), frozenset(leading)

    def _kept_inside(self, makers: set[int]) -> set[int]:
        """The ops of a library at an earlier line than that of the value, as for the statistics a module keeps."""
        found, pieces = set[int](), dict[object, dict[tuple[Frame, ...], list[int]]]()
        for number in makers:
            op, own = self.program.ops[number], self._places[number]
            frames = self.frames(op)
            inner = op.frames[: op.frames.index(frames[0])] if frames and frames[0] in op.frames else ()
            if inner and self._roles[number] != "backward":
                pieces.setdefault((own, self._roles[number]), {}).setdefault(inner[::-1], []).append(number)
        for stacks in pieces.values():
            last = _last(stacks)
            found.update(number for stack, numbers in stacks.items() if stack not in last for number in numbers)
        return found

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
                # A view that an operation is lowered to may be one for its value and its gradient.
                is_own = self._places[user] is None or op.kind == "optimization_barrier" or not self._is_users(op)
                if is_own or (self._places[user] != self._places[number] and self._loop_of(op) is not None):
                    following += op.results
                elif not (op.kind in ("while", "case", "call") and value in self._linked):
                    yield user
            waiting += [target for target in following if target not in seen]
            seen.update(following)

    def _is_users(self, op: ShardedOp) -> bool:
        """True if somebody wrote an op; XLA names views that it adds as the operation that they are for."""
        return op.kind not in RESHAPED or op.op_name not in self._computed_names

    @cached_property
    def _computed_names(self) -> frozenset[str]:
        return frozenset(op.op_name for op in self.program.ops if op.op_name and op.kind not in VIEWS)

    @cached_property
    def _linked(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for source, target in self.program.links:
            found.setdefault(source, []).append(target)
        return found

    @cached_property
    def _returned(self) -> frozenset[int]:
        return frozenset(output.value for output in self.program.outputs)

    def _is_within(self, number: int, user: int) -> bool:
        """True if an op's user is of its piece."""
        is_same = self._places[user] == self._places[number] and self._roles[user] == self._roles[number]
        return is_same and not self._is_mixed(user)

    def _is_mixed(self, number: int | None) -> bool:
        """True if an op adds up gradients of a value that are made at several places, of which it stands at one."""
        if number is None:
            return False
        sums = [number] if last_part(self.program.ops[number]) == SUM_OF_GRADIENTS else []
        for own in sums:
            for operand in self.program.ops[own].operands:
                maker = self.program.values[self._data.behind(operand)].op
                if maker is None or self._places[maker] != self._places[number] or self._roles[maker] != "backward":
                    return True
                # Layers in a Python loop have one text: what the sum of one is made of may be that of the next.
                sums += [maker] if last_part(self.program.ops[maker]) == SUM_OF_GRADIENTS and maker not in sums else []
        return False

    def _is_taken(self, number: int, user: int) -> bool:
        """True if an op's user takes the value of its piece."""
        role, other, text = self._roles[number], self._roles[user], piece_of(self._places[user])
        if role == other or text == piece_of(self._places[number]):
            return role == other and not self._is_within(number, user)
        # The gradient of an operation takes what that took; else it takes a factor of the gradient that it is handed,
        # where XLA made nothing of the product with it.
        return other != "backward" or (text, role) not in self._computing

    def _is_called_by(self, number: int, user: int) -> bool:
        """True if an op's user stands in a function that its piece calls: then the value of the piece comes later."""
        own, other = self._places[number], self._places[user]
        return own is not None and other is not None and len(other) > len(own) and other[1 - len(own) :] == own[1:]

    def _is_merged(self, number: int, user: int) -> bool:
        """True if XLA has made one view of an op's user and of the last view of its piece, which is lost."""
        parts = self.program.ops[user].op_name.split(";")[1:] if self.program.ops[user].kind in RESHAPED else ()
        return self.program.ops[number].op_name in parts

    @cached_property
    def _computing(self) -> frozenset[tuple[Any, str]]:
        """The pieces that are not views only, by themselves or in what they call, each with what is done there."""
        rows = [(op, role) for op, role in zip(self.program.ops, self._roles, strict=True) if op.kind not in RESHAPED]
        return frozenset(
            ((_span(op, frame), (frame.file, frame.line, frame.columns)), role)
            for op, role in rows
            for frame in self.frames(op)
        )

    def _is_run_again(self, number: int, makers: set[int], leading: set[int]) -> bool:
        """True if an op is like one that makes the value of the piece, which may be run several times, as by layer."""
        op, own = self.program.ops[number], self._places[number]
        rivals = [self.program.ops[other] for other in self._pieces[own] if other in makers] if own else []
        alike = [other for other in rivals if (other.kind, last_part(other)) == (op.kind, last_part(op))]
        if number not in leading:
            return any(self._inner(other) == self._inner(op) for other in alike)
        # Within a call, one of several that are alike may be on the way to the last, unless it is a call of just that.
        tree = self._tree(op) if alike else None
        if isinstance(tree, ast.Call):
            is_named = words_of(ast.unparse(tree.func))[-1:] == [last_part(op)]
            return is_named and self._shape_of(op) in map(self._shape_of, alike)
        return tree is not None

    def _inner(self, op: ShardedOp) -> list[bool]:
        """True for each operand of an op that its own piece makes."""
        makers = [self.program.values[value].op for value in op.operands]
        return [maker is not None and self._places[maker] == self._place(op) for maker in makers]

    def _tree(self, op: ShardedOp) -> ast.expr | None:
        """The expression of `_expression`; None for what is none."""
        try:
            return ast.parse(self._expression(op), mode="eval").body
        except (SyntaxError, ValueError):
            return None

    def _expression(self, op: ShardedOp) -> str:
        """All of the text that an op was written as, in brackets: it may have several lines."""
        frames = self.frames(op)
        return f"({self._texts(frames[0], _span(op, frames[0]))[0]}\n)" if frames else ""


def words_of(text: str) -> list[str]:
    """The names, numbers and keywords in a text."""
    return re.findall(r"\w+", text)


def piece_of(place: _Place | None) -> _Place | None:
    """The piece of source without the way of calls."""
    return None if place is None else place[:2]


def last_part(op: ShardedOp) -> str:
    """The last part of JAX's name of an op: its primitive."""
    return op.op_name.rpartition("/")[2]


def _span(op: ShardedOp, frame: Frame) -> Span | None:
    """The piece of text that belongs to a user's frame of an op."""
    piece = (frame.file, frame.line, frame.columns[:1])
    places = zip(op.frames, op.spans, strict=False)
    own = (span for other, span in places if (other.file, other.line, other.columns[:1]) == piece)
    span = next(own, None)
    return span if span is not None and span.line == frame.line else None


def _last(stacks: Collection[tuple[Frame, ...]]) -> Collection[tuple[Frame, ...]]:
    """Of ways of calls, outermost first, those that no other leaves behind at a later line of one function."""
    for depth in range(max(map(len, stacks))):
        latest = dict[object, int]()
        going = [(stack, stack[depth]) for stack in stacks if len(stack) > depth]
        for stack, frame in going:
            key = stack[:depth], frame.file, frame.function
            latest[key] = max(latest.get(key, 0), frame.line)
        behind = {stack for stack, own in going if own.line < latest[stack[:depth], own.file, own.function]}
        stacks = [stack for stack in stacks if stack not in behind]
    return stacks


def _has_in_order(stack: Sequence[Frame], frames: Sequence[Frame]) -> bool:
    """True if a stack has all these frames, in order."""
    rest = iter(stack)
    return all(frame in rest for frame in frames)
