"""What makes an operation legal whose operands an Explicit mesh wants split alike: one operand resharded.

Not its job: products (`analyze.errors.products`), operations of one array (`analyze.errors.operations`).

*Source*: `broadcasting_sharding_rule`, `_select_sharding_rule` and `_concatenate_sharding_rule` in
`jax/_src/lax/lax.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import changed_expression, clauses, reshard_fit
from pjit_inspect.analyze.errors.products import explain_product
from pjit_inspect.analyze.errors.specs import has_repeats, is_legal, over_words, spec_words, type_words
from pjit_inspect.model.program.spec import PartitionSpec, SpecEntry, axes_of, entry_of
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say

__all__ = ["NOT_TOLD", "explain_operands"]

NOT_TOLD = say("which variables these are cannot be told from the traceback, so nothing is worked out for them")
"""Said where JAX's message is all there is."""

_UNORDERED = ("select", "concatenate")
"""Operations whose message does not quote the operands in the user's order."""


def explain_operands(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Operands whose specs do not go together."""
    operands = [array for array in scene.operands if array.spec is not None and array.shape is not None]
    facts = _before_stacking(facts, scene)
    if len(operands) == 2 and facts.operation == "dot_general":
        return explain_product(facts, scene, operands[0], operands[1]) or _unmatched(facts)
    if len(operands) > 1 and _are_quoted(facts, operands):
        return _explain_alike(facts, scene, operands)
    return _unmatched(facts)


def _before_stacking(facts: ErrorFacts, scene: ErrorScene) -> ErrorFacts:
    """The specs without the dimension that `stack` adds, which is not split: up to JAX 0.10.0 they have it."""
    texts = [argument.text for argument in scene.arguments if argument.key in ("1", "axis")] or ["0"]
    ranks = {len(array.shape or ()) for array in scene.operands}
    if scene.operator != "stack" or facts.operation != "concatenate" or not texts[0].isdigit() or len(ranks) != 1:
        return facts
    place, rank = int(texts[0]), ranks.pop()
    if any(len(spec) != rank + 1 or place > rank or spec[place] is not None for spec in facts.specs):
        return facts
    return replace(facts, specs=tuple((*spec[:place], *spec[place + 1 :]) for spec in facts.specs), arrays=())


def _are_quoted(facts: ErrorFacts, operands: Sequence[ErrorArray]) -> bool:
    """Whether the message quotes what these operands have."""
    if facts.kind == "axis twice":
        return [(a.shape, a.spec) for a in facts.arrays] == [(b.shape, b.spec) for b in operands]
    rank = max(len(array.shape or ()) for array in operands)
    own = [_aligned(array, rank) for array in operands]
    if facts.operation in _UNORDERED:
        return sorted(map(repr, facts.specs)) == sorted(map(repr, own))
    return list(facts.specs) == own


def _aligned(array: ErrorArray, rank: int) -> PartitionSpec:
    """The spec with entries in front for the dimensions that broadcasting adds."""
    spec = array.spec or ()
    return (*(None,) * (rank - len(spec)), *spec)


def _explain_alike(facts: ErrorFacts, scene: ErrorScene, operands: list[ErrorArray]) -> ExplainedError:
    first, *others = operands
    if len(others) > 1:
        fits = tuple(_all_alike(operands, scene))
        return ExplainedError(kind=facts.kind, sentence=_sentence(facts, operands), arrays=tuple(operands), fits=fits)
    pairs = [(others[0], first), (first, others[0])]
    fits = tuple(fit for own, other in pairs for fit in _alignment(own, other, operands, scene))
    if not fits:
        fits = tuple(fit for own, other in pairs for fit in _yielding(own, other, operands, scene))
    return ExplainedError(kind=facts.kind, sentence=_sentence(facts, operands), arrays=tuple(operands), fits=fits)


def _all_alike(operands: list[ErrorArray], scene: ErrorScene) -> Iterator[Fit]:
    """All of more than two operands brought to the split of the first, or else of none."""
    first, *others = operands
    odd = [own for own in others if own.spec != first.spec]
    fits = [fit for own in odd for fit in _alignment(own, first, operands, scene)]
    if len(fits) < len(odd):
        split = [own for own in operands if any(own.spec or ())]
        fits = [reshard_fit(own, (None,) * len(own.spec or ()), scene) for own in split]
    if len(fits) < 2:
        yield from fits
    elif edit := changed_expression(scene, {fit.target: fit.edit for fit in fits}):
        effect = clauses([fit.effect for fit in fits])
        yield replace(fits[0], edit=edit, effect=effect, replaces=scene.expression)


def _alignment(own: ErrorArray, other: ErrorArray, operands: list[ErrorArray], scene: ErrorScene) -> Iterator[Fit]:
    """One operand brought to another's spec; dimensions that broadcast keep what they have."""
    shape, rank = own.shape or (), max(len(array.shape or ()) for array in operands)
    lengths = (*(1,) * (rank - len(other.shape or ())), *(other.shape or ()))
    wanted = _aligned(other, rank)
    spec: list[SpecEntry] = []
    for number, length in enumerate(shape, start=rank - len(shape)):
        entry = wanted[number] if length == lengths[number] else (own.spec or ())[number - rank + len(shape)]
        spec.append(entry)
    target = tuple(spec)
    result = [one or two for one, two in zip(_aligned_spec(target, rank), wanted, strict=True)]
    sizes = next((array.mesh.sizes for array in operands if array.mesh is not None), {})
    if target == own.spec or has_repeats(tuple(result)) or not is_legal(target, shape, sizes):
        return
    yield _resharded(own, target, operands, scene)


def _yielding(own: ErrorArray, other: ErrorArray, operands: list[ErrorArray], scene: ErrorScene) -> Iterator[Fit]:
    """One operand without the axes that the other brings, where those split other dimensions of the result."""
    shape, rank = own.shape or (), max(len(array.shape or ()) for array in operands)
    wanted = _aligned(other, rank)
    taken = {held for entry in wanted for held in axes_of(entry)}
    target = tuple(entry_of([held for held in axes_of(entry) if held not in taken]) for entry in own.spec or ())
    pairs = list(zip(_aligned_spec(target, rank), wanted, strict=True))
    result = tuple(one or two for one, two in pairs)
    sizes = next((array.mesh.sizes for array in operands if array.mesh is not None), {})
    is_alike = all(not one or not two for one, two in pairs)
    if target != own.spec and is_alike and not has_repeats(result) and is_legal(target, shape, sizes):
        yield _resharded(own, target, operands, scene)


def _resharded(own: ErrorArray, target: PartitionSpec, operands: list[ErrorArray], scene: ErrorScene) -> Fit:
    fit = reshard_fit(own, target, scene)
    call = fit.edit
    if len(operands) == 2 and scene.operator and not scene.operator.isidentifier():
        words = [call if array is own else array.name for array in operands]
        return replace(fit, edit=f"{words[0]} {scene.operator} {words[1]}", replaces=scene.expression)
    return fit


def _aligned_spec(spec: PartitionSpec, rank: int) -> PartitionSpec:
    return (*(None,) * (rank - len(spec)), *spec)


def _sentence(facts: ErrorFacts, operands: list[ErrorArray]) -> Sentence:
    operation = code(facts.operation)
    if facts.kind == "axis twice":
        own = joined([say("{} is {}", name(array.name), spec_words(array.spec)) for array in operands], comma=" and ")
        result = say("{} would give {}", operation, spec_words(facts.specs[0]))
        return say("{}: {}, and an axis can split one dimension only", own, result)
    rank = max(len(array.shape or ()) for array in operands)
    # The first dimension that two operands split differently; reversed, so that the first with an entry names it.
    for dimension in range(rank):
        entries = {_aligned(array, rank)[dimension]: array.name for array in reversed(operands)}
        split = [
            say("{} has it over {}", name(who), over_words(entry)) for entry, who in entries.items() if axes_of(entry)
        ]
        if len(split) > 1:
            sides = joined(split[::-1], comma=" and ")
            return say("{} needs one split of dimension {}, but {}", operation, dimension, sides)
    return say("{} needs operands that are split alike", operation)


def _unmatched(facts: ErrorFacts) -> ExplainedError:
    """What the message alone tells."""
    specs = joined([spec_words(entries) for entries in facts.specs], comma=" and ")
    if facts.kind == "axis twice":
        types = joined(
            [say("{} as {}", type_words(array), spec_words(array.spec)) for array in facts.arrays], comma=" and "
        )
        sentence = say("{} of {} would use an axis for two dimensions of the result", code(facts.operation), types)
    elif facts.kind == "contraction":
        sentence = say("a product sums over dimensions that are split in both operands: {}", specs)
    else:
        sentence = say("{} needs operands that are split alike, but got {}", code(facts.operation), specs)
    return ExplainedError(kind=facts.kind, sentence=sentence, notes=(NOT_TOLD,))
