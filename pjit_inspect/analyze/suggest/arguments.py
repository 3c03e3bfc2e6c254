"""Other PartitionSpecs for arguments that may save communication.

Arguments of equal layers, and the optimizer's state that goes with a parameter, change together. Not its job: whether a
change saves anything (`analyze.suggest.suggestions`), or changes inside the program (`analyze.suggest.constraints`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pjit_inspect.analyze.suggest.argument_groups import EqualArguments, argument_groups
from pjit_inspect.analyze.suggest.cost import Cost, NeedCost
from pjit_inspect.analyze.suggest.option import Option
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.program.opcodes import DOTS, VIEWS, operations
from pjit_inspect.model.sharding.sharded_program import ShardedProgram, axis_name

_VIEWS = VIEWS | operations("convert", "broadcast")
_HOPS = 60


class ArgumentOptions:
    """Finds them for one program."""

    def __init__(self, program: ShardedProgram) -> None:
        self._program = program
        self._groups = argument_groups(program)
        self._group_of = {index: group for group in self._groups for index in group.members}

    def find(self, cost: Cost) -> Iterator[Option]:
        """Options for every argument whose sharding makes the program communicate, most bytes at stake first."""
        stakes: dict[tuple[str, str], int] = {}
        by_pattern = {group.pattern: group for group in self._groups}
        for cost_of_need in cost.needs:
            for pattern, axis in self._blamed(cost_of_need):
                stakes[pattern, axis] = stakes.get((pattern, axis), 0) + cost_of_need.bytes
        yield from self._wanted(cost)
        for (pattern, axis), stake in sorted(stakes.items(), key=lambda item: -item[1]):
            yield from self._respecs(by_pattern[pattern], axis, stake)
        yield from self._pairs(stakes)

    def _blamed(self, found: NeedCost) -> set[tuple[str, str]]:
        """The arguments, and their axes, that the sharding a need is about came from."""
        blamed = set()
        for part in found.need.parts:
            value = self._program.values[part.value]
            axes = {axis_name(axis) for axis in part.axes} & found.need.axes
            own = self._argument(part.value)
            if own is not None:
                blamed |= {(own, axis) for axis in axes}
            blamed |= {
                (origin.index, origin.axis)
                for origin in value.origins
                if origin.kind == "input" and origin.index is not None and origin.axis in axes
            }
        return {(self._group_of[index].pattern, axis) for index, axis in blamed if index in self._group_of}

    def _wanted(self, cost: Cost) -> Iterator[Option]:
        """Arguments sharded as their users need them, over axes they do not have yet; most bytes at stake first."""
        stakes: dict[tuple[str, Dimensions], int] = {}
        for found in cost.needs:
            need = found.need
            argument = None if need.value is None else self._program.values[need.value].argument
            group = self._group_of.get(argument) if argument is not None else None
            if group is None or need.is_sum or need.target is None or not self._brings_axes(group, need.target):
                continue
            stakes[group.pattern, need.target] = stakes.get((group.pattern, need.target), 0) + found.bytes
        by_pattern = {group.pattern: group for group in self._groups}
        for (pattern, spec), stake in sorted(stakes.items(), key=lambda item: -item[1]):
            yield self._option((by_pattern[pattern],), (spec,), stake)

    def _brings_axes(self, group: EqualArguments, spec: Dimensions) -> bool:
        """True if a sharding that divides the arguments has axes which they do not have."""
        own = {axis_name(axis) for axes in group.spec for axis in axes}
        is_divided = all(
            length % self._program.pieces(axes) == 0 for length, axes in zip(group.shape, spec, strict=False)
        )
        return is_divided and any(axis_name(axis) not in own for axes in spec for axis in axes)

    def _argument(self, value: int) -> int | None:
        """The argument a value is, or is a plain view of."""
        for _ in range(8):
            entry = self._program.values[value]
            op = self._program.ops[entry.op] if entry.op is not None else None
            if op is None or op.kind not in _VIEWS or not op.operands:
                return entry.argument
            value = op.operands[0]
        return None

    # ------------------------------------------------------------ one argument

    def _respecs(self, group: EqualArguments, axis: str, stake: int) -> Iterator[Option]:
        """Without the axis; or with it on another dimension."""
        bare = _without(group.spec, axis)
        if bare == group.spec:
            return
        yield self._option((group,), (bare,), stake)
        for dimension in range(len(group.shape)):
            if dimension < len(group.spec) and axis not in map(axis_name, group.spec[dimension]):
                moved = self._with(group, bare, axis, dimension)
                if moved is not None:
                    yield self._option((group,), (moved,), stake)

    def _with(self, group: EqualArguments, spec: Dimensions, axis: str, dimension: int) -> Dimensions | None:
        # XLA's choice is hard to predict if a dimension is cut by several axes and an op needs only one.
        if spec[dimension] or group.shape[dimension] % self._program.length(axis):
            return None
        return (*spec[:dimension], (axis,), *spec[dimension + 1 :])

    def _option(self, groups: tuple[EqualArguments, ...], specs: tuple[Dimensions, ...], stake: int) -> Option:
        phrases = [
            f"{group.words} as `{spec_text(spec)}` instead of `{spec_text(group.spec)}`"
            for group, spec in zip(groups, specs, strict=True)
        ]
        peers = sum(len(group.peers) for group in groups)
        also = (
            f", and the {peers} arguments of the same path with {'it' if len(groups) == 1 else 'them'}" if peers else ""
        )
        title = " and ".join(f"{g.words} as {spec_text(s)}" for g, s in zip(groups, specs, strict=True))
        return Option(
            exclusive_with=("argument", *(group.pattern for group in groups)),
            title=f"pass {title}",
            words=f"pass {' and '.join(phrases)}{also}",
            edits=tuple(edit for group, spec in zip(groups, specs, strict=True) for edit in group.edits(spec)),
            stake=stake,
        )

    # ------------------------------------------------------------ column- then row-parallel

    def _pairs(self, stakes: dict[tuple[str, str], int]) -> Iterator[Option]:
        """Two weights in a row: the first cut along its kept dimension, the second along its contracted one."""
        axes = dict.fromkeys(axis for _, axis in stakes)
        for (first, kept), (second, summed) in self._chains():
            for axis in axes:
                stake = stakes.get((first.pattern, axis), 0) + stakes.get((second.pattern, axis), 0)
                one = self._on_first_of(first, axis, kept)
                two = self._on_first_of(second, axis, summed)
                if stake and one and two and (one, two) != (first.spec, second.spec):
                    yield self._option((first, second), (one, two), stake)

    def _on_first_of(self, group: EqualArguments, axis: str, dimensions: tuple[int, ...]) -> Dimensions | None:
        bare = _without(group.spec, axis)
        specs = (self._with(group, bare, axis, dimension) for dimension in dimensions)
        return next((spec for spec in specs if spec is not None), None)

    def _chains(self) -> list[tuple[tuple[EqualArguments, tuple[int, ...]], tuple[EqualArguments, tuple[int, ...]]]]:
        """Pairs of weights where the product with one leads to the product with the other, each once.

        With each weight come its dimensions: the kept ones of the first, the contracted ones of the second.
        """
        chains: dict[
            tuple[str, str], tuple[tuple[EqualArguments, tuple[int, ...]], tuple[EqualArguments, tuple[int, ...]]]
        ] = {}
        weights = {
            index: (operand, self._group_of[argument])
            for index, op in enumerate(self._program.ops)
            if op.kind in DOTS and op.rule is not None and "transpose(" not in op.op_name
            for operand, value in enumerate(op.operands)
            if (argument := self._argument(value)) in self._group_of and len(self._program.values[value].shape) > 1
        }
        for index, (operand, group) in weights.items():
            for earlier in self._dots_before(index, 1 - operand, set(weights)):
                number, first = weights[earlier]
                if first is not group and (first.pattern, group.pattern) not in chains:
                    pair = (
                        (first, self._dimensions(earlier, number, False)),
                        (group, self._dimensions(index, operand, True)),
                    )
                    chains[first.pattern, group.pattern] = pair
        return list(chains.values())

    def _dimensions(self, index: int, operand: int, is_summed: bool) -> tuple[int, ...]:
        op = self._program.ops[index]
        rule = op.rule
        if rule is None or self._argument(op.operands[operand]) is None:
            return ()
        return tuple(
            dimension
            for dimension, factors in enumerate(rule.operands[operand])
            if set(rule.reduction).isdisjoint(factors) != is_summed
        )

    def _dots_before(self, index: int, operand: int, weights: set[int]) -> set[int]:
        """The nearest products with a weight that an operand is made from."""
        border, seen, dots = [self._program.ops[index].operands[operand]], set(), set()
        for _ in range(_HOPS):
            reached = []
            for value in border:
                maker = self._program.values[value].op
                if maker is None or maker in seen:
                    continue
                seen.add(maker)
                if maker in weights:
                    dots.add(maker)
                else:
                    reached += self._program.ops[maker].operands
            border = reached
        return dots


def _without(spec: Dimensions, axis: str) -> Dimensions:
    return tuple(tuple(own for own in axes if axis_name(own) != axis) for axes in spec)
