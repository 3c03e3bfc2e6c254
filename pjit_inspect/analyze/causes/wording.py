"""Every sentence that a cause can have: at most two short ones, with places for the user's names and sizes.

A place, such as {op}, is a method of `analyze.causes.cause_subject.CauseSubject`, or given with the form. {then} is
another form without its full stop. Not its job: choosing the form (`analyze.causes.cause_form`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pjit_inspect.model.words.sentence import Sentence, joined, say

FORMS: dict[str, tuple[str, ...]] = {
    # An operation sums, or reduces in another way, over a split dimension.
    "sum": (
        "{op} sums over {dimensions}.",
        "{elements} are split over {axes}, so each device has a partial sum; {adds}.",
    ),
    "sum split by XLA": (
        "{op} sums over {dimensions}.",
        "XLA splits them over {axes}, though no sharding asks for it: each device has a partial sum, and {adds}.",
    ),
    "reduction": (
        "{op} reduces {dimensions}.",
        "{elements} are split over {axes}, so each device has the result of its part; {combines}.",
    ),
    "reduction split by XLA": (
        "{op} reduces {dimensions}.",
        "XLA splits them over {axes}, though no sharding asks for it: each device has a part's result, and {combines}.",
    ),
    # Somebody asks for a sharding.
    "asked": ("{asks} for {wanted}, but {moved} is {had}.",),
    "asked, so": ("{asks} for {asked}.", "For that {then}."),
    "asked, result": (
        "{asks} for {asked}.",
        "{made} is computed {as_computed}, so its result moves.",
    ),
    "step": ("Step {step} of {steps} of bringing {moved} from {had} to {wanted}.", "{needs_it}."),
    "step, positions": ("Step {step} of {steps} of bringing the positions that {op} uses from {had} to {wanted}.",),
    # A result of the program has another sharding than it is computed with.
    "result": ("{result} must be {asked}, but is computed as {computed}.",),
    "result, so": ("{result} must be {asked}.", "For that {then}."),
    "result, other pieces": ("{result} must be {asked}, and is computed in other pieces.",),
    "result, result": (
        "{result} must be {asked}.",
        "{made} is computed {as_computed}, so its result moves.",
    ),
    "result over part of an axis": (
        "{result} is returned replicated over {axes}.",
        "It is computed as {computed}, and a result may only be split over all of an axis.",
    ),
    "result that does not divide": (
        "{result} is returned replicated over {axes}.",
        "Its dimension {dimension} has {length} elements, which {devices} devices do not divide.",
    ),
    "result left free": ("{result} is computed as {computed}, but returned as {returned}.",),
    "result returned": ("{result} is returned as {returned}, and is computed in other pieces.",),
    "result computed": ("{result} is computed as {computed}, and is returned in other pieces.",),
    "a result": ("{result} must be split differently from how it is computed.",),
    # An operation needs an operand differently.
    "needed": ("{op} needs {moved} {as_wanted}, but {it_is} {had}.",),
    "needed, way unknown": ("{op} takes pieces of {moved} that other devices hold.",),
    "needed, axis taken": ("{op} needs {moved} {as_wanted}, but {it_is} {had}.", "{taken}."),
    "needed elsewhere": ("{moved} is {had}, and its pieces are needed on other devices than those that have them.",),
    "needed by positions": ("{op} takes its positions, which are {had}, on other devices than those that have them.",),
    "needed otherwise": ("{moved} is {had}, and is needed {as_wanted}.",),
    "needed result": ("{made} is computed as {had}, and its result is needed {as_wanted}.",),
    "result of other pieces": (
        "{made} is computed {as_computed}{as_split}.",
        "Its result is needed as {made_as}.",
    ),
    "result of other pieces, step": (
        "{made} is computed {as_computed}{as_split}.",
        "This is step {step} of {steps} of bringing its result to {made_as}.",
    ),
    "result of other pieces, taken": (
        "{made} is computed {as_computed}{as_split}.",
        "{taker} takes it {as_taken}.",
    ),
    "made by XLA": ("XLA has made {helper} to split {splitting}.", "That is what moves here."),
    "one element": (
        "{op} takes one element along {numbers} of {looked_up}, which is split over {axes}.",
        "Only the devices that hold it can give it to the others.",
    ),
    "full replication": (
        "XLA found no direct way from {had} to {wanted} for {moved}.",
        "Every device gathers all of it for {op}, and keeps its piece.",
    ),
    "full replication, way unknown": (
        "XLA found no direct way to reshard {moved}.",
        "Every device gathers all of it for {op}, and keeps its piece.",
    ),
    "full replication, padded": (
        "{op} takes {moved}, with {length} elements along {along}, which {devices} devices do not divide.",
        "Every device gathers the whole array, pads it, and keeps its piece.",
    ),
    # Neighbours' edges.
    "reverse": ("{op} reverses {dimensions}, split over {shown_axes}.", "Each device needs another device's piece."),
    "roll": (
        "{op} shifts {rolled} along {numbers}, split over {shown_axes}.",
        "Pieces of the result begin where other devices hold data.",
    ),
    "edges": (
        "{op} {verb} {dimensions}, split over {shown_axes}.",
        "Pieces of the result begin where other devices hold data.",
    ),
    "window": (
        "{op} slides a window along {dimensions}, split over {shown_axes}.",
        "Devices need their neighbours' edges.",
    ),
    "of result": (
        "The result of {op} is split over {shown_axes} along {numbers}.",
        "Its pieces need what other devices hold.",
    ),
    # Positions that are known only when the program runs.
    "positions": ("{op} {verb} {dimensions}, split over {shown_axes}.", "A device needs what others hold."),
    "positions split by XLA": (
        "{op} looks up positions along {dimensions}.",
        "XLA splits them over {shown_axes}, though no sharding asks for it, so a device needs what others hold.",
    ),
    "scatter": (
        "{op} {verb} what lies along {dimensions}, split over {axes}.",
        "Each device has a partial {partial}; {combines}.",
    ),
    "scatter split by XLA": (
        "{op} adds up what lies along {dimensions}.",
        "XLA splits them over {axes}, though no sharding asks for it: each device has a partial sum, and {adds}.",
    ),
    "scatter, written": (
        "{op} writes {moved} at positions that any device may hold.",
        "Every device needs all of it, but it is {had}.",
    ),
    "scatter, positions": (
        "{op} writes at positions that are split over {shown_axes}.",
        "Every device needs all of them.",
    ),
    # Operations that XLA does not split.
    "no rule": (
        "XLA has no rule for splitting {op} ({target}), so each device gets all of {moved}, which is {had}.",
        "Where it works on pieces, call it in `jax.shard_map` with their specs.",
    ),
    "no rule, dimension": (
        "{op} ({target}) works on all of {dimensions} at once, which XLA cannot split.",
        "They are split over {shown_axes}.",
    ),
    "no rule, matrix": (
        "{op} ({target}) works on all of a matrix at once.",
        "Each device gets all of {moved}, which is {had}.",
    ),
    "no rule, result": ("{op} ({target}) runs on one device.", "All others get its result from there."),
    "one device sends": ("One device alone runs {op}, and sends its result to all others.",),
    "one device gets": ("One device alone runs {op}.", "It gets all of {moved}, which is {had}."),
    "predicate": (
        "{made} decides {decided}, and is computed from values split over {over}.",
        "Every device waits there for all others.",
    ),
    # Collectives that somebody wrote, and those of which only a name, or nothing, is known.
    "written": ("{collective} is a collective in your code{at}.",),
    "in a rule": ("{collective}{at} is a collective in the partition rule of {call}.",),
    "written, differentiated": ("{collective} is what differentiation makes of your manual code{at}.",),
    "written, backward": ("{collective} runs in the backward pass of the code{at}.",),
    "written, spread": (
        "{collective} adds up the gradient of {moved}, which all devices have alike, over {axes}{at}.",
    ),
    "written, spread, returned": (
        "{collective} adds up the gradient of {moved}, which all devices have alike, over {axes}{at}.",
        "To add up later, pass it broadcast along a new dimension that `in_specs` split over {axes}.",
    ),
    "written, of an array": ("It takes {moved}.",),
    "written, combined": (
        "This is a collective in your code{at}, combined with others.",
        "Which of them it is, is not known.",
    ),
    "by name": ("It belongs to {of}.", "By that name alone, the cause is probably {kind}."),
    "by a rule": (
        "It belongs to {of}.",
        "By that name alone, its partition rule has probably made it.",
    ),
    "alike": ("{number} operations fit equally well{alike}: {operations}.",),
    "alike, summed": (
        "{number} operations fit equally well{alike}: {operations}.",
        "Each {verb} a dimension that is split over {axes}.",
    ),
    "arrays alike, summed": (
        "{of} {verb} {operations}.",
        "These are split over {axes}; XLA has not kept which of the {number} it is.",
    ),
    "arrays alike, written": ("{of} takes one of {number} arrays that fit equally well: {operations}.",),
    "arrays alike": ("{of} has {number} that fit equally well{alike}: {operations}.",),
    "belongs": ("It belongs to {of}.", "The program does not tell what needs it."),
    "failed": ("The cause is not told, as pjit_inspect failed at it; a warning has the error.",),
    "unknown": ("XLA's partitioner made it.", "What needs it is not known."),
    "unknown, made of": ("XLA's partitioner made it from the result of {made}.", "What needs it is not known."),
}
"""Name of the form -> its sentences."""

_PLACE = re.compile(r"\{(\w+)\}")
Piece = Callable[[str], object]
"""Gives the words at a place of a form, by the name of the place."""


def worded(form: str, piece: Piece) -> Sentence:
    """A cause in one or two sentences. Raises KeyError for a form that there is not."""
    return joined([_capital(_filled(text, piece)) for text in FORMS[form]], " ")


def clause(form: str, piece: Piece) -> Sentence:
    """The first sentence of a form as a part of another one: without capital and full stop."""
    return _filled(FORMS[form][0].removesuffix("."), piece)


def _filled(text: str, piece: Piece) -> Sentence:
    return say(_PLACE.sub("{}", text), *(piece(name) for name in _PLACE.findall(text)))


def _capital(sentence: Sentence) -> Sentence:
    first, *rest = sentence.phrases
    if first.kind != "word":
        return sentence
    return Sentence.of((replace(first, text=first.text[:1].upper() + first.text[1:]), *rest))
