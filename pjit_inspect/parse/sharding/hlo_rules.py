"""Relations between the dimensions of an HLO instruction's arrays, read from its attributes.

Dimensions that must be split alike are one factor; a factor may be summed away, may have to be replicated, or may need
its neighbours. Shardy describes its operations in the same way. Not its job: the communication that follows
(`analyze.sharding.needs`).

*Source*: the semantics of each operation in XLA's operation reference; Shardy's sharding rule registry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.sharding.sharded_program import ShardingRule

_Factors = tuple[tuple[str, ...], ...]
_TOP_K = frozenset(("TopK", "mhlo.topk", "ApproxTopK", "PartialReduce"))
_NO_RULE = operations("barrier", "body", "collective", "host", "parameter", "random", "region") | {"custom-call", "map"}
"""Instructions whose dimensions are unrelated, or which are no operation on arrays."""


def find_rule(message: Any, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule | None:
    """The rule of an instruction; None if its dimensions are unrelated, or not understood.

    Args:
      message: the decoded `xla.HloInstructionProto`.
      operands: the shapes of its operands, with tuples flattened.
      results: the shapes of its results, with tuples flattened.
    """
    opcode = message.opcode
    if opcode == "custom-call" and message.custom_call_target in _TOP_K:
        opcode = "topk"
    if opcode in _NO_RULE:
        return None
    maker = _Maker(message, tuple(s.dimensions for s in operands), tuple(s.dimensions for s in results))
    special = _SPECIAL.get(opcode)
    try:
        return special(maker) if special is not None else maker.elementwise()
    except (IndexError, KeyError, ValueError):
        # A damaged program: attributes do not fit the shapes.
        return None


def find_edges(message: Any) -> tuple[tuple[int, int], ...]:
    """The elements that a window reads beyond a piece, as in `ShardedOp.edges`; () without a window.

    A window that spans e elements and moves by s reads e - s beyond the piece; divided by the base dilation for an
    array with holes.
    """
    steps = list(message.window.dimensions)
    if message.opcode == "convolution":
        places = list(message.convolution_dimension_numbers.input_spatial_dimensions)
    else:
        places = list(range(len(steps))) if message.opcode == "reduce-window" else []
    return tuple((place, _beyond(step)) for place, step in zip(places, steps, strict=False))


def _beyond(step: Any) -> int:
    spanned = (step.size - 1) * max(1, step.window_dilation) + 1
    return max(0, -(-(spanned - max(1, step.stride)) // max(1, step.base_dilation)))


@dataclass(slots=True)
class _Maker:
    """Makes the rule of one instruction, and collects the factors of each kind."""

    message: Any
    operands: tuple[tuple[int, ...], ...]
    results: tuple[tuple[int, ...], ...]
    sizes: dict[str, int] = field(default_factory=dict)
    reduction: list[str] = field(default_factory=list)
    replicated: list[str] = field(default_factory=list)
    permuted: list[str] = field(default_factory=list)

    def new(self, size: int, kind: list[str] | None = None) -> str:
        name = f"d{len(self.sizes)}"
        self.sizes[name] = size
        if kind is not None:
            kind.append(name)
        return name

    def all_new(self, shape: Sequence[int]) -> list[str]:
        return [self.new(size) for size in shape]

    def rule(self, operands: Sequence[Sequence[Any]], results: Sequence[Sequence[Any]]) -> ShardingRule:
        return ShardingRule(
            operands=tuple(map(_tuples, operands)),
            results=tuple(map(_tuples, results)),
            sizes=self.sizes,
            reduction=tuple(self.reduction),
            need_replication=tuple(self.replicated),
            permutation=tuple(self.permuted),
        )

    # ------------------------------------------------------------ elementwise

    def elementwise(self) -> ShardingRule | None:
        shape = self.results[0]
        if any(other != shape for other in self.results) or any(other not in (shape, ()) for other in self.operands):
            return None
        factors = self.all_new(shape)
        return self.rule([factors if other else [] for other in self.operands], [factors for _ in self.results])

    def iota(self) -> ShardingRule:
        return self.rule([], [self.all_new(self.results[0])])

    def broadcast(self) -> ShardingRule:
        result = self.all_new(self.results[0])
        given = self.operands[0]
        places = list(self.message.dimensions)
        # A dimension of length 1 that is broadcast is not split with the result's.
        own = [
            result[place] if given[k] == self.results[0][place] else self.new(given[k])
            for k, place in enumerate(places[: len(given)])
        ]
        return self.rule([own], [result])

    def transpose(self) -> ShardingRule:
        factors = self.all_new(self.operands[0])
        return self.rule([factors], [[factors[k] for k in self.message.dimensions]])

    def reshape(self) -> ShardingRule | None:
        given, wanted = self.operands[0], self.results[0]
        if 0 in given or math.prod(given) != math.prod(wanted):
            return None
        sides: tuple[list[list[str]], list[list[str]]] = [[] for _ in given], [[] for _ in wanted]
        self._cut(given, wanted, *sides)
        return self.rule([sides[0]], [sides[1]])

    def _cut(self, given: Sequence[int], wanted: Sequence[int], left: list[list[str]], right: list[list[str]]) -> None:
        """Both shapes as products of common factors, outermost first; dimensions without one need replication."""
        i = j = 0
        a, b = (given[0] if given else 1), (wanted[0] if wanted else 1)
        while i < len(given) and j < len(wanted):
            common = math.gcd(a, b)
            if common == 1 and a > 1 and b > 1:
                # [6] to [2, 3] is fine, [3, 2] to [2, 3] is not: its parts cannot be matched.
                left[i].append(self.new(a, self.replicated))
                right[j].append(self.new(b, self.replicated))
                a = b = 1
            elif common > 1:
                factor = self.new(common)
                left[i].append(factor)
                right[j].append(factor)
                a, b = a // common, b // common
            if a == 1:
                i += 1
                a = given[i] if i < len(given) else 1
            if b == 1:
                j += 1
                b = wanted[j] if j < len(wanted) else 1

    # ------------------------------------------------------------ products and sums

    def reduce(self) -> ShardingRule:
        summed = set(self.message.dimensions)
        given = self.operands[0]
        factors = [self.new(size, self.reduction if k in summed else None) for k, size in enumerate(given)]
        kept = [factor for k, factor in enumerate(factors) if k not in summed]
        arrays = len(self.results)
        return self.rule([*[factors] * arrays, *[[]] * (len(self.operands) - arrays)], [kept] * arrays)

    def dot(self) -> ShardingRule:
        numbers = self.message.dot_dimension_numbers
        left, right = self.operands[:2]
        a, b = [""] * len(left), [""] * len(right)
        pairs = (
            (numbers.lhs_batch_dimensions, numbers.rhs_batch_dimensions, None),
            (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions, self.reduction),
        )
        batch: list[str] = []
        for ours, theirs, kind in pairs:
            for i, j in zip(ours, theirs, strict=True):
                a[i] = b[j] = self.new(left[i], kind)
                if kind is None:
                    batch.append(a[i])
        free = [
            [self._free(side, shape, k) for k in range(len(shape)) if not side[k]]
            for side, shape in ((a, left), (b, right))
        ]
        return self.rule([a, b, *self._rest(2)], [[*batch, *free[0], *free[1]]])

    def _free(self, side: list[str], shape: Sequence[int], k: int) -> str:
        side[k] = self.new(shape[k])
        return side[k]

    def _rest(self, known: int) -> list[list[str]]:
        """Operands outside the rule, each with new factors."""
        return [self.all_new(shape) for shape in self.operands[known:]]

    def convolution(self) -> ShardingRule:
        numbers, window = self.message.convolution_dimension_numbers, list(self.message.window.dimensions)
        left, right, result = self.operands[0], self.operands[1], self.results[0]
        a, b, c = [""] * len(left), [""] * len(right), [""] * len(result)
        groups = max(self.message.feature_group_count, 1)
        batches = max(self.message.batch_group_count, 1)
        # With groups, input and output features are split alike; without, the input's are summed away.
        i, o, k = numbers.input_batch_dimension, numbers.output_batch_dimension, numbers.kernel_output_feature_dimension
        f, g = numbers.input_feature_dimension, numbers.output_feature_dimension
        a[i] = self.new(left[i], None if batches == 1 else self.reduction)
        c[o] = a[i] if batches == 1 else self.new(result[o])
        b[k] = c[g] = self.new(result[g])
        if groups == 1:
            a[f] = b[numbers.kernel_input_feature_dimension] = self.new(left[f], self.reduction)
        else:
            a[f] = c[g] if left[f] == result[g] else self.new(left[f])
            b[numbers.kernel_input_feature_dimension] = self.new(
                right[numbers.kernel_input_feature_dimension], self.reduction
            )
        places = zip(
            numbers.input_spatial_dimensions, numbers.kernel_spatial_dimensions, numbers.output_spatial_dimensions,
            window, strict=False,
        )  # fmt: skip
        for s, t, u, step in places:
            if step.size == left[s] and result[u] == 1 and not step.padding_low:
                # The window is as large as the array: the dimension is summed away.
                a[s] = b[t] = self.new(left[s], self.reduction)
                c[u] = self.new(1)
            elif step.size == 1 and step.stride in (0, 1) and left[s] == result[u]:
                a[s] = c[u] = self.new(left[s])
                b[t] = self.new(right[t])
            else:
                a[s] = c[u] = self.new(left[s], self.permuted)
                # In a kernel gradient, the window is the other array, as large as the input: its pieces give partial
                # sums.
                b[t] = self.new(right[t], self.reduction)
        return self.rule([a, b, *self._rest(2)], [c])

    # ------------------------------------------------------------ neighbours

    def sliced(self) -> ShardingRule:
        given, result = self.operands[0], self.results[0]
        factors = [self.new(a, None if a == b else self.permuted) for a, b in zip(given, result, strict=True)]
        return self.rule([factors, *self._rest(1)], [factors])

    def along(self) -> ShardingRule:
        """Arrays of the same dimensions, of which some need their neighbours, or for a sort all of them."""
        kind = self.replicated if self.message.opcode == "sort" else self.permuted
        places = set(self.message.dimensions)
        factors = [self.new(size, kind if k in places else None) for k, size in enumerate(self.results[0])]
        return self.rule([factors] * len(self.operands), [factors] * len(self.results))

    def windowed(self) -> ShardingRule:
        arrays = len(self.results)
        given = self.operands[0]
        steps = list(self.message.window.dimensions)
        moved = {k for k, step in enumerate(steps) if step.size > 1 or step.stride > 1}
        # A window as long as the array accumulates: a cumulative sum, a maximum, ...
        running = {k for k in moved if steps[k].size == given[k]}
        kinds = [self.replicated if k in running else self.permuted if k in moved else None for k in range(len(given))]
        factors = [self.new(size, kind) for size, kind in zip(given, kinds, strict=True)]
        # The second operand of select-and-scatter has one element per window.
        count = len(self.operands)
        sides = [factors if k < arrays or len(shape) == len(given) else [] for k, shape in enumerate(self.operands)]
        return self.rule(sides[:count], [factors] * arrays)

    # ------------------------------------------------------------ positions

    def gather(self) -> ShardingRule:
        numbers, slices = self.message.gather_dimension_numbers, list(self.message.gather_slice_sizes)
        table, indices, result = self.operands[0], self.operands[1], self.results[0]
        batch_of = dict(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True))
        at = [
            self.new(size, self.replicated if k == numbers.index_vector_dim else None) for k, size in enumerate(indices)
        ]
        offsets = list(numbers.offset_dims)
        batches = iter([factor for k, factor in enumerate(at) if k != numbers.index_vector_dim])
        out = ["" if k in offsets else next(batches) for k in range(len(result))]
        kept = [k for k in range(len(table)) if k not in numbers.collapsed_slice_dims and k not in batch_of]
        of = [""] * len(table)
        for k, size in enumerate(table):
            if k in batch_of:
                of[k] = at[batch_of[k]]
            elif k in kept:
                place = offsets[kept.index(k)]
                if slices[k] == size:
                    of[k] = out[place] = self.new(size)
                else:
                    # Each lookup takes a piece, wherever it begins.
                    of[k], out[place] = self.new(size, self.reduction), self.new(slices[k])
            else:
                # A device without the row gives zeros; the sum over devices has all rows.
                of[k] = self.new(size, self.reduction)
        return self.rule([of, at], [out])

    def scatter(self) -> ShardingRule:
        numbers = self.message.scatter_dimension_numbers
        arrays = len(self.results)
        given, indices, updates = self.operands[0], self.operands[arrays], self.operands[arrays + 1]
        batch_of = dict(zip(numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True))
        at = [
            self.new(size, self.replicated if k == numbers.index_vector_dim else self.reduction)
            for k, size in enumerate(indices)
        ]
        window = list(numbers.update_window_dims)
        batches = iter([factor for k, factor in enumerate(at) if k != numbers.index_vector_dim])
        new = ["" if k in window else next(batches) for k in range(len(updates))]
        kept = [k for k in range(len(given)) if k not in numbers.inserted_window_dims and k not in batch_of]
        of = [""] * len(given)
        for k, size in enumerate(given):
            if k in batch_of:
                of[k] = at[batch_of[k]]
                self.reduction.remove(of[k])
            elif k in kept and updates[window[kept.index(k)]] == size:
                of[k] = new[window[kept.index(k)]] = self.new(size)
            else:
                # A window of several rows may cross the edges of pieces; one row is in one piece.
                rows = updates[window[kept.index(k)]] if k in kept else 1
                of[k] = self.new(size, self.replicated if rows > 1 else None)
                if k in kept:
                    new[window[kept.index(k)]] = self.new(rows, self.replicated)
        return self.rule([*[of] * arrays, at, *[new] * arrays], [of] * arrays)

    def dynamic(self) -> ShardingRule:
        """A piece of an array at a place that is computed: a slice, or what replaces it."""
        is_update = self.message.opcode == "dynamic-update-slice"
        a, b = [], []
        for size, piece in zip(self.operands[0], self.operands[1] if is_update else self.results[0], strict=True):
            a.append(self.new(size, None if size == piece else self.replicated))
            b.append(a[-1] if size == piece else self.new(piece, self.replicated if is_update else None))
        arrays = [a, b] if is_update else [a]
        return self.rule([*arrays, *[[]] * (len(self.operands) - len(arrays))], [a if is_update else b])

    def top_k(self) -> ShardingRule:
        given, result = self.operands[0], self.results[0]
        factors = [self.new(size, self.replicated if k == len(given) - 1 else None) for k, size in enumerate(given)]
        kept = [*factors[:-1], self.new(result[-1])] if given[:-1] == result[:-1] else self.all_new(result)
        return self.rule([factors, *[[]] * (len(self.operands) - 1)], [kept] * len(self.results))

    # ------------------------------------------------------------ matrices

    def inner(self) -> ShardingRule:
        """The last dimensions are processed together; those before are independent."""
        count = len(self.message.fft_length) or 2
        given = self.operands[0]
        outer = self.all_new(given[: len(given) - count])
        inner: dict[tuple[int, int], str] = {}

        def side(shape: Sequence[int]) -> list[str]:
            places = list(enumerate(shape[len(outer) :]))
            for place in places:
                if place not in inner:
                    inner[place] = self.new(place[1], self.replicated)
            return [*outer, *(inner[place] for place in places)]

        return self.rule([side(shape) for shape in self.operands], [side(shape) for shape in self.results])


_SPECIAL: dict[str, Callable[[_Maker], ShardingRule | None]] = {
    "broadcast": _Maker.broadcast,
    "cholesky": _Maker.inner,
    "concatenate": _Maker.along,
    "convolution": _Maker.convolution,
    "dot": _Maker.dot,
    "dynamic-slice": _Maker.dynamic,
    "dynamic-update-slice": _Maker.dynamic,
    "fft": _Maker.inner,
    "gather": _Maker.gather,
    "iota": _Maker.iota,
    "pad": _Maker.sliced,
    "reduce": _Maker.reduce,
    "reduce-window": _Maker.windowed,
    "reshape": _Maker.reshape,
    "reverse": _Maker.along,
    "scatter": _Maker.scatter,
    "select-and-scatter": _Maker.windowed,
    "slice": _Maker.sliced,
    "sort": _Maker.along,
    "topk": _Maker.top_k,
    "transpose": _Maker.transpose,
    "triangular-solve": _Maker.inner,
}


def _tuples(dimensions: Sequence[Any]) -> _Factors:
    return tuple((part,) if isinstance(part, str) else tuple(part) for part in dimensions)
