"""What makes an operation legal whose operands an Explicit mesh wants split alike: one operand resharded.

Not its job: products (`analyze.errors.products`), operations of one array (`analyze.errors.operations`).

Which splits go together is JAX's to say (`judge`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import reshard_fit
from pjit_inspect.analyze.errors.products import explain_product
from pjit_inspect.analyze.errors.proposals import Judge, first_accepted, specs_towards, together
from pjit_inspect.analyze.errors.specs import over_words, spec_words, type_words
from pjit_inspect.model.program.spec import PartitionSpec, axes_of
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say

NOT_TOLD = say("which variables these are cannot be told from the traceback, so nothing is worked out for them")
"""Said where JAX's message is all there is."""

_UNORDERED = ("concatenate",)
"""Operations whose message does not quote the operands in the user's order."""


def explain_operands(facts: ErrorFacts, scene: ErrorScene, judge: Judge) -> ExplainedError:
    """Operands whose specs do not go together."""
    operands = [array for array in scene.operands if array.spec is not None and array.shape is not None]
    facts = _before_stacking(facts, scene)
    if len(operands) == 2 and facts.operation == "dot_general":
        return explain_product(facts, scene, operands[0], operands[1], judge) or _unmatched(facts)
    if len(operands) > 1 and _are_quoted(facts, operands):
        return _explain_alike(facts, scene, operands, judge)
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
    if facts.operation == "select":
        # It quotes the condition's split and one of the cases'.
        return set(map(repr, facts.specs)) <= set(map(repr, own))
    if facts.operation in _UNORDERED:
        return sorted(map(repr, facts.specs)) == sorted(map(repr, own))
    return list(facts.specs) == own


def _aligned(array: ErrorArray, rank: int) -> PartitionSpec:
    """The spec with entries in front for the dimensions that broadcasting adds."""
    spec = array.spec or ()
    return (*(None,) * (rank - len(spec)), *spec)


def _explain_alike(facts: ErrorFacts, scene: ErrorScene, operands: list[ErrorArray], judge: Judge) -> ExplainedError:
    if len(operands) > 2:
        fits = first_accepted(_all_alike(operands, scene), judge)
    else:
        first, second = operands
        sides = (_like(second, first, scene), _like(first, second, scene))
        fits = [fit for side in sides for fit in first_accepted(side, judge)]
    return ExplainedError(
        kind=facts.kind, sentence=_sentence(facts, operands), arrays=tuple(operands), fits=tuple(fits)
    )  # fmt: skip


def _all_alike(operands: list[ErrorArray], scene: ErrorScene) -> Iterator[Fit]:
    """All of more than two operands brought to the split of the first, of another, or of none."""
    rank = max(len(array.shape or ()) for array in operands)
    for like in (*(_aligned(array, rank) for array in operands), (None,) * rank):
        yield from together(((own, like[rank - len(own.shape or ()) :]) for own in operands), scene)


def _like(own: ErrorArray, other: ErrorArray, scene: ErrorScene) -> Iterator[Fit]:
    """One operand in every split between its own and that of the other, those like the other first."""
    rank = max(len(own.shape or ()), len(other.shape or ()))
    lengths = (*(1,) * (rank - len(other.shape or ())), *(other.shape or ()))
    pairs = list(zip(_aligned(other, rank), lengths, strict=True))[rank - len(own.shape or ()) :]
    # A dimension that broadcasts keeps what it has.
    wanted = [
        entry if length == mine else before
        for (entry, length), mine, before in zip(pairs, own.shape or (), own.spec or (), strict=True)
    ]
    for target in specs_towards(own, wanted):
        fit = reshard_fit(own, target, scene)
        if scene.operator and not scene.operator.isidentifier():
            words = _operation(own, other, fit.edit, scene)
            fit = replace(fit, edit=words, replaces=scene.expression)
        yield fit


def _operation(own: ErrorArray, other: ErrorArray, text: str, scene: ErrorScene) -> str:
    words = (text, other.name) if scene.operands[0] is own else (other.name, text)
    return f"{words[0]} {scene.operator} {words[1]}"


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
