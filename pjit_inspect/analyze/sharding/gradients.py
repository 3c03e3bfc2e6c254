"""Finds the value that an array of the backward pass is the gradient of, by JAX's rules of differentiation.

"The gradient of V" is dL/dV everywhere: an array of V's dimensions. The gradient of a product's operand is a product
with the other operand, so what is left is the gradient of the product's value, whatever made it. Other pieces of text
hand on the gradient of what they take.
Not its job: what these values are called (`analyze.sharding.value_names`).
"""

from __future__ import annotations

import ast
import functools
import math
import re
from functools import cached_property
from typing import Any

from pjit_inspect.analyze.program.phases import transposed, untransposed
from pjit_inspect.analyze.program.source import is_library
from pjit_inspect.analyze.sharding.same_data import kept
from pjit_inspect.analyze.sharding.source_texts import shortened
from pjit_inspect.analyze.sharding.written_ops import (
    OWN_VIEWS,
    SUM_OF_GRADIENTS,
    VIEWS,
    WrittenOps,
    last_part,
    piece_of,
)
from pjit_inspect.model.program.opcodes import PRODUCTS
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import ShardedOp

_SIDED = frozenset((*PRODUCTS, "multiply"))
"""Operations of two operands whose gradient for one of them is made with the other."""
_WRAPPERS = re.compile(r"^(?:(?:transpose|jvp|vmap)\()+")
_JAXS = frozenset(("checkpoint", "rematted_computation", "while", "body", "closed_call", "eval_jaxpr", "cond"))
"""Scopes that JAX gives what it makes."""
_NEAR = 5
"""The number of operations before a value that tell it from that of another layer."""

Order = tuple[int, ...]
"""For each dimension of an array, which one it is of another array."""


class Gradients(WrittenOps):
    """Finds what the gradients of one program are gradients of."""

    # ------------------------------------------------------------ of the value of a product

    def cotangent(self, index: int, inside: ShardedOp | None = None) -> tuple[int, Order] | None:
        """The value that another is the gradient of, as products take it, and its order of dimensions.

        Of several the one that `inside` differentiates.
        """
        products = self._cotangents.get(index, {})
        number = None if inside is None else self._number(inside)
        return products.get(-1 if number is None else number) or next(iter(products.values()), None)

    @cached_property
    def _cotangents(self) -> dict[int, dict[int, tuple[int, Order]]]:
        """For each value that the backward pass takes as a gradient: what it is the gradient of, in each that does."""
        found: dict[int, dict[int, tuple[int, Order]]] = {}
        for number, op in enumerate(self.program.ops):
            if self._roles[number] != "backward" or self._places[number] is None or self._is_mixed(number):
                continue
            for index in op.operands:
                if (value := self._taken_as(op, index)) is not None and self._fits(index, *value):
                    found.setdefault(index, {})[number] = value
        return found

    def _fits(self, index: int, value: int, order: Order) -> bool:
        """True if a value has the shape of the one that it may be the gradient of, in its order of dimensions."""
        own, shape = self.program.values[index].shape, self.program.values[value].shape
        return len(own) == len(order) and tuple(own[order.index(place)] for place in range(len(order))) == shape

    def _taken_as(self, op: ShardedOp, index: int) -> tuple[int, Order] | None:
        """The value whose gradient an operation of the backward pass takes as an operand."""
        if op.kind in PRODUCTS and len(op.operands) == 2:
            first, second = op.operands
            made = self._product(op, first, second), self._product(op, second, first)
            value = made[index == second]
            return self._handed_on(value) if value is not None and None in made and first != second else None
        # What the forward pass has saved is taken from a loop of its own.
        first, maker = self._maker(self._seen(index)[0]), self._maker(index)
        is_own = maker is None or self._place(maker) == self._place(op) or maker.kind == "slice"
        if is_own or first is None or first.kind == "constant" or self._roles[self._number(first) or 0] != "backward":
            return None
        return self._value_of_piece(op, index)

    def _value_of_piece(self, op: ShardedOp, index: int) -> tuple[int, Order] | None:
        """The one value of an operation's piece that has the shape of another: what the piece is given is of that."""
        shape, forward = self.program.values[index].shape, self._forward(op)
        if (key := id(forward)) not in self._values:
            last = [own for own in forward if own.results and self.makes(own) and not self._last_views(own)]
            self._values[key] = {(own.kind, own.op_name, self._shape(own)): own.results[0] for own in reversed(last)}
        found = [value for (*_, own), value in self._values[key].items() if own == shape]
        return (found[0], tuple(range(len(shape)))) if len(found) == 1 else None

    @cached_property
    def _values(self) -> dict[int, dict[tuple[str, str, tuple[int, ...]], int]]:
        """For each list of `_forwards` the values of its piece."""
        return {}

    def _product(self, op: ShardedOp, given: int, other: int) -> int | None:
        """The value of the forward product that takes `other`, and whose gradient `given` is."""
        shape = self.program.values[given].shape
        forward = [own for own in self._forward(op) if own.kind == op.kind]
        for known in (self._seen, self._twin):
            for own in forward:
                taken = set(map(known, own.operands))
                is_of = known(other) in taken and known(given) not in taken
                if is_of and self.program.values[own.results[0]].shape == shape and not self.is_constant(given):
                    return own.results[0]
        return None

    def _handed_on(self, value: int) -> tuple[int, Order]:
        """The value of the piece that a product is the last part of: what is added to it changes no gradient."""
        order = tuple(range(len(self.program.values[value].shape)))
        last, turned = value, order
        for _ in range(_NEAR):
            op = self._maker(last)
            if op is None or self.makes(op):
                return last, turned
            users = {user for user, _ in self.program.users.get(last, ()) if self._roles[user] != "backward"}
            user = self.program.ops[users.pop()] if len(users) == 1 else None
            if user is None or user.kind not in ("add", *OWN_VIEWS) or not self._is_one_piece(user, op):
                break
            if user.kind == "transpose":
                if user.rule is None:
                    break
                turned = tuple(user.rule.results[0].index(user.rule.operands[0][place]) for place in turned)
            last = user.results[0]
        return value, order

    @kept
    def _side(self, op: ShardedOp, operand: int) -> str:
        """The text of an operand of a product of an op's piece, where that is `a @ b`; "" for any other."""
        tree = self._tree(op)
        if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, ast.MatMult):
            return ""
        products = [other for other in self._of_piece(op, "forward", "recompute") if other.kind == "dot_general"]
        sides = [list(map(self._data.behind, other.operands)) for other in products]
        found = {(tree.left, tree.right)[own.index(operand)] for own in sides if operand in own}
        return shortened(ast.get_source_segment(self._expression(op), found.pop()) or "") if len(found) == 1 else ""

    def _may_be_tangent(self, op: ShardedOp) -> bool:
        """True if an op may make the tangent of what its text computes: JAX gives both one name and one place."""
        return not untransposed(self._named(op).op_name) <= self._transposed

    @cached_property
    def _transposed(self) -> frozenset[str]:
        return frozenset[str]().union(*(transposed(op.op_name) for op in self.program.ops))

    # ------------------------------------------------------------ of what a piece takes

    @kept
    def differentiated(self, op: ShardedOp) -> list[int]:
        """The values that a gradient may be with respect to: operands of its piece, of its shape.

        The gradient of one side of a product is a product with the other side. A sum of gradients is that of the value
        that one of them is known to be of.
        """
        number = self._number(op)
        if number is None or self._roles[number] != "backward" or op.kind == "while":
            return []
        if self._is_mixed(number):
            return self._summed(op)
        if not self._hands_on(op) or self._is_term(op):
            return []
        # What is computed again is not another operand.
        found = {self._seen(own): own for own in self._operands(op)}
        return list({self._twin(own): own for own in found.values()}.values())

    def _operands(self, op: ShardedOp) -> list[int]:
        """The operands of an op's piece that it may make the gradient of."""
        shape, forward = self._shape(op), self._forward(op)
        made = {value for other in forward for value in other.results}
        # The gradient of what was broadcast is the sum of that of the broadcast.
        term = self._maker(self._data.behind(op.operands[0])) if op.kind == "reduce" else op
        is_own = term is not None and self._is_one_piece(term, op)
        of = term if term is not None and is_own and term.kind == "multiply" else op
        for known in (self._seen, self._twin) if of.kind in _SIDED else ():
            given = set(map(known, of.operands))
            near = [other for other in forward if other.kind == of.kind and given & set(map(known, other.operands))]
            if found := [own for own in self._inputs(near, made) if known(own) not in given]:
                return found if of.kind in PRODUCTS else [own for own in found if self._has_shape(own, shape)]
        if not is_own:
            # What is summed as the piece is given it is not the gradient of a factor.
            left = [other for other in forward if other.kind not in _SIDED and other.kind not in VIEWS]
            forward = left if self._inputs(left, made) else forward
        if op.kind in PRODUCTS:
            # What it is made with may be lost in a loop.
            forward = [other for other in forward if other.kind == op.kind]
            return self._only(forward, made, shape) if len({other.op_name for other in forward}) == 1 else []
        return [own for own in self._inputs(forward, made) if self._has_shape(own, shape)]

    def _only(self, forward: list[ShardedOp], made: set[int], shape: tuple[int, ...]) -> list[int]:
        """The one operand of a shape, where no other operand has it."""
        shapes = [[self.program.values[own].shape for own in other.operands] for other in forward]
        found = [own for own in self._inputs(forward, made) if self.program.values[own].shape == shape]
        return found if all(own.count(shape) == 1 for own in shapes) else []

    def _forward(self, op: ShardedOp) -> list[ShardedOp]:
        """The forward operations of a gradient's piece, of its module."""
        key = self._place(op), modules_of(op.op_name), self._library(op)
        if key not in self._forwards:
            found = self._all_of_piece(op, "forward", "recompute")
            found = [other for other in found if (modules_of(other.op_name), self._library(other)) == key[1:]]
            self._forwards[key] = found
        return self._forwards[key]

    @cached_property
    def _forwards(self) -> dict[Any, list[ShardedOp]]:
        return {}

    def _hands_on(self, op: ShardedOp) -> bool:
        """True if an operation makes what its piece hands on, reshaped or not, also by a sum over length 1."""
        while not self.makes(op):
            users = [self.program.ops[user] for result in op.results for user, _ in self.program.users.get(result, ())]
            if len(users) != 1 or users[0].kind not in ("reshape", "reduce") or not self._is_one_piece(users[0], op):
                return False
            if math.prod(self._shape_of(users[0])) != math.prod(self._shape_of(op)):
                return False
            op = users[0]
        return True

    def _is_term(self, op: ShardedOp) -> bool:
        """True if an op makes one of several terms that its piece adds to one sum of gradients."""
        place, sums, terms = self._place(op), [op], 0
        for own in sums:
            users = (self.program.ops[user] for result in own.results for user, _ in self.program.users.get(result, ()))
            sums += [user for user in users if last_part(user) == SUM_OF_GRADIENTS and user not in sums]
        for own in (operand for add in sums[1:] for operand in add.operands):
            maker = self._maker(self._data.behind(own))
            terms += maker is not None and last_part(maker) != SUM_OF_GRADIENTS and self._place(maker) == place
        return terms > 1

    def _inputs(self, ops: list[ShardedOp], made: set[int]) -> set[int]:
        """The values from outside of a piece that its operations take, and that have a gradient."""
        found = set[int]()
        for value in {value for other in ops for value in other.operands}:
            while value in made and (step := self._data.before(value)) is not None:
                value = step.value
            if value not in made and not self.is_constant(value) and self.program.values[value].dtype[:1] in "fbc":
                found.add(self._data.behind(value, views=()))
        return found

    def _has_shape(self, value: int, shape: tuple[int, ...]) -> bool:
        """True if a value has a shape, dimensions of length 1 aside: a broadcast adds them, its gradient has none."""
        return [n for n in self.program.values[value].shape if n != 1] == [n for n in shape if n != 1]

    def _summed(self, op: ShardedOp) -> list[int]:
        """The value whose gradients are added up: what each of those that are known is of."""
        shape, found, sums = self._shape(op), set[int](), [op]
        for own in sums:
            for operand in own.operands:
                maker = self._maker(self._data.behind(operand))
                if maker is None or maker.kind == "while":
                    continue
                if self._is_mixed(self._number(maker)):
                    # A whole sum goes to the operation that made its value, too; it is that of a later value.
                    users = {user for result in maker.results for user, _ in self.program.users.get(result, ())}
                    sums += [maker] if len(users) == 1 and maker not in sums else []
                elif len(given := self.differentiated(maker)) == 1:
                    found |= {value for value in given if self.program.values[value].shape == shape}
        return list(found)

    def _shape(self, op: ShardedOp) -> tuple[int, ...]:
        return self.program.values[(op, *self._last_views(op))[-1].results[0]].shape

    @kept
    def _seen(self, value: int) -> Any:
        """The value that another is a view of, and of how many loops it is the turn's piece: known in each of them."""
        turns = 0
        while True:
            value = self._data.behind(value)
            step, op = self._data.before(value), self._maker(value)
            if step is not None and step.is_turn:
                value, turns = step.value, turns + 1
            elif op is not None and op.kind == "reverse":
                value = op.operands[0]
            else:
                return value, turns

    @kept
    def _twin(self, value: int) -> Any:
        """A key that a value and the same one computed again share: its text, and arguments close before it."""
        value, turns = self._seen(value)
        op = self._maker(value)
        if op is None or self._place(op) is None or self.phase(op) == "backward":
            return value, turns
        found, reached = set[int](), {value}
        for _ in range(_NEAR):
            makers = [maker for own in reached if (maker := self._maker(own)) is not None]
            reached = {self._seen(own)[0] for maker in makers for own in maker.operands}
            found |= {own for own in reached if self.program.values[own].argument is not None}
        return piece_of(self._place(op)), op.kind, last_part(op), frozenset(found), turns

    def is_constant(self, index: int) -> bool:
        """True if a value is a constant, or a view of one."""
        op = self._maker(self._data.behind(index))
        return op is not None and op.kind == "constant"

    @kept
    def _last_views(self, op: ShardedOp) -> list[ShardedOp]:
        """The views of what an op makes that are of its own piece: JAX transposes the product of an `einsum`."""
        found = [op]
        for last in found:
            numbers = (user for result in last.results[:1] for user, _ in self.program.users.get(result, ()))
            users = map(self.program.ops.__getitem__, numbers)
            found += [user for user in users if user.kind in OWN_VIEWS and self._is_one_piece(user, op)][:1]
        return found[1:]

    def _library(self, op: ShardedOp) -> tuple[Frame, ...]:
        """The frames of a library of the user's that an op has within what the user wrote, innermost first."""
        frames = self.frames(op)
        inner = op.frames[: op.frames.index(frames[0])] if frames and frames[0] in op.frames else ()
        return inner if inner and is_library(inner[0].file) else ()


@functools.lru_cache(maxsize=4096)
def modules_of(op_name: str) -> tuple[str, ...]:
    """The modules and scopes in JAX's name of an op, without what JAX has done to them."""
    scopes = (_WRAPPERS.sub("", scope).rstrip(")") for scope in op_name.partition(";")[0].split("/")[:-1])
    found = [scope for scope in scopes if scope and "(" not in scope and "->" not in scope and scope not in _JAXS]
    return tuple(dict.fromkeys(found))
