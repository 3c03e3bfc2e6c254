"""Which mesh axes split each factor of an op, in each of its arrays.

A factor is a dimension the op's arrays share: `i`, `j` and `k` of a matrix product. A dimension that a reshape merges
or cuts up has several. Not its job: what follows where the arrays disagree (`analyze.sharding.needs`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, ShardingRule

Axes = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """One operand or result of an op: its position, its index among the program's values, and the factors it has.

    Attributes:
      number: the position among the operands, or among the results.
      value: the index in `ShardedProgram.values`.
      is_result: whether it is a result.
      axes: factor -> the mesh axes that split it here, outermost first; factors it has and that are not split, too.
      dimension: factor -> the dimension of the array it is (part of).
      left: dimension -> axes there that split no factor evenly.
    """

    number: int
    value: int
    is_result: bool
    axes: dict[str, Axes] = field(default_factory=dict)
    dimension: dict[str, int] = field(default_factory=dict)
    left: dict[int, Axes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorAxes:
    """All arrays of one op with a sharding rule."""

    rule: ShardingRule
    operands: tuple[Array, ...]
    results: tuple[Array, ...]

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Operands, then results."""
        return (*self.operands, *self.results)

    def result_with(self, factor: str) -> Array | None:
        """The first result that has a factor; None when it is summed away."""
        return next((array for array in self.results if factor in array.axes), None)


def find_factor_axes(program: ShardedProgram, op: ShardedOp) -> FactorAxes | None:
    """The factors of `op`, split as its arrays are; None when it has no rule, or one that does not fit it."""
    rule = op.rule
    if rule is None or len(rule.operands) != len(op.operands) or len(rule.results) != len(op.results):
        return None
    return FactorAxes(
        rule=rule,
        operands=_arrays(program, rule, rule.operands, op.operands, is_result=False),
        results=_arrays(program, rule, rule.results, op.results, is_result=True),
    )


def _arrays(
    program: ShardedProgram,
    rule: ShardingRule,
    factors: tuple[tuple[tuple[str, ...], ...], ...],
    values: tuple[int, ...],
    *,
    is_result: bool,
) -> tuple[Array, ...]:
    return tuple(
        _array(program, rule, dimensions, Array(number=number, value=value, is_result=is_result))
        for number, (dimensions, value) in enumerate(zip(factors, values, strict=True))
    )


def _array(program: ShardedProgram, rule: ShardingRule, dimensions: tuple[tuple[str, ...], ...], array: Array) -> Array:
    spec = program.values[array.value].spec
    for position, factors in enumerate(dimensions):
        axes = list(spec[position]) if position < len(spec) else []
        for factor in factors:
            taken = axes if len(factors) == 1 else _fitting(program, axes, rule.sizes.get(factor, 1))
            array.axes[factor], array.dimension[factor] = tuple(taken), position
            axes = axes[len(taken) :]
        if axes:
            array.left[position] = tuple(axes)
    return array


def _fitting(program: ShardedProgram, axes: list[str], size: int) -> list[str]:
    """The first axes that together cut a factor of this length evenly."""
    taken: list[str] = []
    for axis in axes:
        pieces = program.length(axis)
        if size <= 1 or size % pieces:
            break
        taken.append(axis)
        size //= pieces
    return taken
