"""What makes a product of two arrays legal that an Explicit mesh refuses: an `out_sharding`, or one operand resharded.

Not its job: which dimensions are contracted (`analyze.errors.product_labels`), elementwise operands
(`analyze.errors.elementwise`).

*Source*: `_dot_general_sharding_rule` in `jax/_src/lax/lax.py`: an `out_sharding` overrides it; without one, a
contracted dimension may be split in one operand only, and no axis may split two dimensions of the result.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from pjit_inspect.analyze.errors.fits import changed_call, replaced_text, with_argument
from pjit_inspect.analyze.errors.product_labels import Product, find_product
from pjit_inspect.analyze.errors.proposals import Judge, first_accepted
from pjit_inspect.analyze.errors.specs import (
    divides,
    has_repeats,
    is_legal,
    over_words,
    reshard_words,
    spec_words,
    without_repeats,
)
from pjit_inspect.model.program.spec import PartitionSpec, SpecEntry, axes_of, entry_of, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say

_NUMPY = {"@": "jnp.matmul({}, {}", "matmul": "jnp.matmul({}, {}", "dot": "jnp.matmul({}, {}"}

Entries = dict[str, SpecEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """A product and how its operands are split: what splits each label's dimension, and how long it is."""

    lhs: ErrorArray
    rhs: ErrorArray
    product: Product
    left: Entries
    right: Entries
    lengths: dict[str, int]
    sizes: dict[str, int]
    scene: ErrorScene

    @property
    def summed(self) -> tuple[str, ...]:
        """The axes that split the contracted dimensions of either operand."""
        sides = itertools.product(self.product.contracted, (self.left, self.right))
        return tuple(dict.fromkeys(axis for label, side in sides for axis in axes_of(side[label])))

    @property
    def is_consistent(self) -> bool:
        """Whether both operands' contracted dimensions are split alike."""
        return all(self.left[label] == self.right[label] for label in self.product.contracted)

    @property
    def result(self) -> PartitionSpec:
        """How the result would be split if nothing moved; an axis may stand in it twice."""
        return tuple(_merged(label, self.left, self.right) for label in self.product.out)

    @property
    def result_shape(self) -> tuple[int, ...]:
        return tuple(self.lengths[label] for label in self.product.out)


def explain_product(
    facts: ErrorFacts, scene: ErrorScene, lhs: ErrorArray, rhs: ErrorArray, judge: Judge
) -> ExplainedError | None:
    """A product whose operands' specs do not go together; None when the message does not speak of these operands."""
    product = find_product(scene.operator, lhs.shape or (), rhs.shape or (), scene.subscripts)
    if product is None:
        return None
    left = dict(zip(product.lhs, lhs.spec or (), strict=True))
    right = dict(zip(product.rhs, rhs.spec or (), strict=True))
    lengths = dict(zip(product.lhs, lhs.shape or (), strict=True)) | dict(
        zip(product.rhs, rhs.shape or (), strict=True)
    )
    sizes = lhs.mesh.sizes if lhs.mesh is not None else rhs.mesh.sizes if rhs.mesh is not None else {}
    split = _Split(lhs=lhs, rhs=rhs, product=product, left=left, right=right, lengths=lengths, sizes=sizes, scene=scene)
    if not _is_quoted(facts, split):
        return None
    fits = (*_out_shardings(split), *_reshards(split, judge))
    return ExplainedError(kind=facts.kind, sentence=_sentence(split), arrays=(lhs, rhs), fits=fits)


def _merged(label: str, left: Entries, right: Entries) -> SpecEntry:
    return left[label] if left.get(label) is not None else right.get(label)


def _is_quoted(facts: ErrorFacts, split: _Split) -> bool:
    """Whether the message quotes what these operands have: a library may have multiplied others."""
    if facts.kind == "axis twice":
        quoted = [(array.shape, array.spec) for array in facts.arrays]
        return quoted == [(split.lhs.shape, split.lhs.spec), (split.rhs.shape, split.rhs.spec)]
    product, batch = split.product, facts.kind == "conflict"
    labels = [label for label in product.lhs if label in product.rhs and (label in product.out) == batch]
    if len({len(spec) for spec in facts.specs}) != 1:
        return False
    pairs = sorted(repr(pair) for pair in zip(*facts.specs, strict=True))
    return pairs == sorted(repr((split.left[label], split.right[label])) for label in labels)


# ---------------------------------------------------------------- what is wrong


def _sentence(split: _Split) -> Sentence:
    # Summed dimensions before those of the result: partial sums must be added up however the result is split.
    for label in split.product.contracted:
        if split.left[label] is not None and split.right[label] is not None:
            return _contracted_sentence(split, label)
    for label in split.product.out:
        one, other = split.left.get(label), split.right.get(label)
        if one is not None and other is not None and one != other:
            places = _place_words(split, label)
            words = _split_words(places, one, other)
            return say("{}, but they are one dimension of the result", words)
    own = joined([say("{} is {}", name(array.name), spec_words(array.spec)) for array in (split.lhs, split.rhs)])
    result = spec_words(split.result)
    return say("{}: the result would be {}, and an axis can split one dimension only", own, result)


def _contracted_sentence(split: _Split, label: str) -> Sentence:
    (one, other), places = (split.left[label], split.right[label]), _place_words(split, label)
    if one == other:
        words = "{} and {} are both split over {} along the dimension that {} sums"
        operation = code(split.scene.operator or "the product")
        both = say(words, name(split.lhs.name), name(split.rhs.name), over_words(one), operation)
        return say("{}: say whether to add the partial sums, or to keep them split", both)
    return say("{}, but the product sums over both together", _split_words(places, one, other))


def _split_words(places: tuple[Sentence, Sentence], one: SpecEntry, other: SpecEntry) -> Sentence:
    return say("{} is split over {} and {} over {}", places[0], over_words(one), places[1], over_words(other))


def _place_words(split: _Split, label: str) -> tuple[Sentence, Sentence]:
    lhs, rhs = split.product.lhs.index(label), split.product.rhs.index(label)
    words = "dimension {} of {}"
    return say(words, lhs, name(split.lhs.name)), say(words, rhs, name(split.rhs.name))


# ---------------------------------------------------------------- what would fit


def _out_shardings(split: _Split) -> Iterator[Fit]:
    """Specs of the result that keep what the operands have: each axis once, and summed axes where they divide."""
    natural, summed = split.result, split.summed
    for spec in dict.fromkeys((without_repeats(natural), without_repeats(natural, last=True))):
        if is_legal(spec, split.result_shape, split.sizes):
            yield _out_fit(split, spec, _out_words(split, spec))
    used = {axis for entry in natural for axis in axes_of(entry)}
    if not summed or not split.is_consistent or has_repeats(natural) or used & set(summed):
        return
    parts = math.prod(split.sizes.get(axis, 0) for axis in summed)
    for dimension, length in reversed(list(enumerate(split.result_shape))):
        if natural[dimension] is None and length and divides(entry_of(summed), length, split.sizes):
            spec = (*natural[:dimension], entry_of(summed), *natural[dimension + 1 :])
            effect = say("the same sum; each device keeps {} of dimension {}", f"1/{parts}", dimension)
            yield _out_fit(split, spec, effect)
            return


def _out_words(split: _Split, spec: PartitionSpec) -> Sentence:
    pairs = zip(split.result, spec, strict=True)
    gone = dict.fromkeys(axis for old, new in pairs for axis in axes_of(old) if axis not in axes_of(new))
    lost = over_words(entry_of(list(gone))) if gone else ""
    if split.summed and split.is_consistent:
        over = over_words(entry_of(split.summed))
        words = say("each device multiplies its parts, and the partial sums are added over {}", over)
        # An axis that the result would have had twice: one operand is gathered over it as well.
        return say("{}; communicates over {}, too", words, lost) if lost else words
    if lost:
        return say("communicates over {}", lost)
    return say("one operand is moved to the other's split first")


def _out_fit(split: _Split, spec: PartitionSpec, effect: Sentence) -> Fit:
    names = (split.lhs.name, split.rhs.name)
    call = _NUMPY.get(split.scene.operator, "").format(*names)
    call = call or f"jnp.einsum({split.scene.subscripts!r}, {', '.join(names)}"
    argument = f"out_sharding={spec_text(spec)}"
    own = with_argument(split.scene, argument) if _is_own_call(split) else ""
    return Fit(
        edit=own or f"{call}, {argument})", effect=effect, spec=spec, target="result", replaces=split.scene.expression
    )


def _is_own_call(split: _Split) -> bool:
    """Whether both operands are arguments of the user's call, as they are not in `x @ w` and `x.dot(w)`."""
    texts = [argument.text for argument in split.scene.arguments]
    return {replaced_text(own.name, split.scene) for own in (split.lhs, split.rhs)} <= set(texts)


def _reshards(split: _Split, judge: Judge) -> Iterator[Fit]:
    """Either operand in the nearest split that JAX takes without an `out_sharding`."""
    sides = (
        (split.lhs, split.product.lhs, split.left, split.right),
        (split.rhs, split.product.rhs, split.right, split.left),
    )
    for own, labels, mine, other in sides:
        entries = [tuple(dict.fromkeys((mine[label], None, other.get(label)))) for label in labels]
        changes = [spec for spec in itertools.product(*entries) if spec != own.spec]
        changes.sort(key=lambda spec: sum(new != old for new, old in zip(spec, own.spec or (), strict=True)))
        yield from first_accepted((_resharded(split, own, spec) for spec in changes), judge)


def _resharded(split: _Split, own: ErrorArray, spec: PartitionSpec) -> Fit:
    call = f"jax.sharding.reshard({own.name}, {spec_text(spec)})"
    names = (call, split.rhs.name) if own is split.lhs else (split.lhs.name, call)
    edit = changed_call(split.scene, {own.name: call}) if _is_own_call(split) else ""
    return Fit(
        edit=edit or _product_text(split, *names), effect=reshard_words(own.name, own.spec or (), spec), spec=spec,
        target=own.name, replaces=split.scene.expression,
    )  # fmt: skip


def _product_text(split: _Split, lhs: str, rhs: str) -> str:
    if split.scene.operator == "einsum":
        return f"jnp.einsum({split.scene.subscripts!r}, {lhs}, {rhs})"
    return f"{lhs} @ {rhs}"
