"""What a loop's body or a branch returns that is not what it must be: another tree, no pair, no truth.

Not its job: leaves whose types differ (`analyze.errors.types`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pjit_inspect.analyze.errors.fits import advice, clauses, listed
from pjit_inspect.analyze.errors.specs import shape_words, type_words
from pjit_inspect.model.report.explained_error import (
    ErrorFacts,
    ErrorFunction,
    ErrorKind,
    ErrorScene,
    ExplainedError,
    Fit,
    TreeDifference,
    TreeNode,
)
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, name, place, say

_MOST = 3
_MOST_RETURNS = 4
_LONGEST = 120
_BODY = {"scan": ("0", "f"), "fori_loop": ("2", "body_fun"), "while_loop": ("1", "body_fun")}
"""Where each loop takes its body."""
_START = {"scan": ("1", "init"), "fori_loop": ("3", "init_val"), "while_loop": ("2", "init_val")}
"""Where each loop takes what its carry starts with."""
_CONDITION = ("0", "cond_fun")
_OWN_CARRY = re.compile(r"^loop_carry\[\d+\]")
_KEY = re.compile(r"\['((?:[^'\\]|\\.)*)'\]|\[(-?\d+)\]|\.(\w+)|\[[^\]]*\]")


def named_carry(path: str, operator: str, scene: ErrorScene) -> str:
    """The carry under the name of the body's parameter, where `fori_loop` has a carry of its own around it."""
    if operator != "fori_loop":
        return path
    body = _function(_BODY[operator], scene)
    own = body.parameters[1] if body is not None and len(body.parameters) > 1 else "init_val"
    return _OWN_CARRY.sub(own, path)


def _function(keys: Sequence[str], scene: ErrorScene) -> ErrorFunction | None:
    return next((function for function in scene.functions if function.key in keys), None)


# ---------------------------------------------------------------- loops


def explain_loop_structure(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A carry that comes out of a loop's body as another tree, and what else a loop's functions must return."""
    loop = code(scene.operator if scene.operator in _BODY else facts.operation)
    body = _function(_BODY.get(scene.operator, ()), scene)
    if facts.reason == "pair":
        return _no_pair(body, scene)
    if facts.reason == "truth":
        return _no_truth(facts, scene)
    if facts.reason in ("lengths", "length"):
        return _lengths(facts, scene)
    words, fits = [], []
    for difference in facts.differences[:_MOST]:
        carry = name(named_carry(difference.path, scene.operator, scene) or "the carry")
        unshared = _sides(difference, _start_keys(difference.path, scene))
        words.append(_carry_words(carry, difference, unshared))
        fits += _carry_fits(carry, difference, unshared, body)
    more = [f"and {len(facts.differences) - _MOST} more"] if len(facts.differences) > _MOST else []
    sentence = say("the body of {} must return its carry as the same tree: {}", loop, clauses([*words, *more]))
    return _explained("loop structure", sentence, fits, {"the body": body}, scene)


def _start_keys(path: str, scene: ErrorScene) -> tuple[str, ...]:
    """The keys at a place of what the loop starts with; () when they are not known."""
    keys = _START.get(scene.operator, ())
    paths = next((argument.paths for argument in scene.arguments if argument.key in keys), ())
    root = re.match(r"loop_carry\[\d+\]|\w*", path)
    below = path[root.end() :] if root else path
    keys_below = [_KEY.match(rest) for leaf in paths if (rest := leaf.removeprefix(below)) != leaf or not below]
    return tuple(dict.fromkeys(next(filter(None, key.groups()), "") for key in keys_below if key))


Unshared = tuple[list[str], list[str]] | None
"""The keys that only the first of two trees has, and those that only the second has; None when it cannot be told."""


def _sides(difference: TreeDifference, first: tuple[str, ...] = ()) -> Unshared:
    """The keys that the trees do not share, by side; `first` are all keys that the first has, where they are known."""
    if difference.first.keys and difference.second.keys:
        own, other = difference.first.keys, difference.second.keys
        return _without(own, other), _without(other, own)
    keys, counts = list(difference.unshared), (difference.first.count, difference.second.count)
    if not keys or counts[0] is None or counts[1] is None:
        return None
    # JAX names the keys that one side lacks, not which side. All are on one side where that has as many more children;
    # else the first side's own keys must tell, and the counts must agree with them.
    if counts[1] - counts[0] == len(keys):
        return [], keys
    if counts[0] - counts[1] == len(keys):
        return keys, []
    if len(first) != counts[0]:
        return None
    only = [key for key in keys if key in first]
    rest = [key for key in keys if key not in first]
    return (only, rest) if len(rest) - len(only) == counts[1] - counts[0] else None


def _without(keys: Sequence[str], others: Sequence[str]) -> list[str]:
    return [key for key in keys if key not in others]


def _carry_words(carry: Phrase, difference: TreeDifference, unshared: Unshared) -> Sentence:
    if unshared is not None and any(unshared):
        missing, extra = (listed(keys, code) for keys in unshared)
        without = say("{} comes out without {}, which it went in with", carry, missing)
        if not unshared[1]:
            return without
        more = say("{}, which it went in without", extra)
        return say("{} and with {}", without, more) if unshared[0] else say("{} comes out with {}", carry, more)
    first, second = difference.first, difference.second
    given, returned = _node(first, second), _node(second, first)
    if given == returned:
        return say("{} goes in and comes out as {}, but what is static in it differs", carry, given)
    return say("{} goes in as {} and comes out as {}", carry, given, returned)


def _node(node: TreeNode, other: TreeNode) -> Sentence:
    """What a place holds, with as much of it as differs."""
    if node.type == "None":
        return say("None")
    words = _type(node.type)
    if node.type == other.type != "array" and node.count is not None and node.count != other.count:
        return say("{} of {}", words, node.count)
    return words


def _type(type_: str) -> Sentence:
    if type_ == "array":
        return say("one array")
    return say("a {}", type_) if type_ in ("dict", "list", "tuple") else say("an object of the type {}", code(type_))


def _carry_fits(
    carry: Phrase, difference: TreeDifference, unshared: Unshared, body: ErrorFunction | None
) -> Iterator[Fit]:
    who, (first, second) = _named(body, "the body"), (difference.first, difference.second)
    if unshared is not None and any(unshared):
        missing, extra = (listed(keys, code) for keys in unshared)
        if unshared[0]:
            words = say("let {} return {} in {}, too", who, missing, carry)
            yield advice(words, "unchanged, if the step has no new one")
        if unshared[1]:
            yield advice(say("leave {} out of what {} returns for {}", extra, who, carry), "if only the step needs it")
            yield advice(say("start {} with {}, too", carry, extra), "if the next step needs it")
    elif second.type == "None":
        words = say("let {} return an array for {}", who, carry)
        yield advice(words, "what is not returned is None, and None is no array")
    elif first.type == "None":
        yield advice(say("start {} with an array of the shape that comes out, in place of None", carry), "as zeros")
    elif first.type != second.type and first.type in ("list", "tuple"):
        yield advice(say("let {} return {} as {}", who, carry, _type(first.type)), "as it goes in")
    elif first.type != second.type:
        yield advice(say("let {} return {} for {}", who, _type(first.type), carry), "as it goes in")
    elif first.count is not None and first.count != second.count:
        yield advice(say("let {} return {} in {}", who, first.count, carry), "as many as go in")
    else:
        yield advice(say("let {} return {} with what is static in it unchanged", who, carry), "as it goes in")


def _named(function: ErrorFunction | None, role: str) -> Phrase | str:
    return name(function.name) if function is not None and function.name else role


def _no_pair(body: ErrorFunction | None, scene: ErrorScene) -> ExplainedError:
    sentence = say("the body of `scan` must return a pair: the carry, and what is kept of each step")
    words = say("let {} return the carry and `None`", _named(body, "the body"))
    fit = advice(words, "if nothing of a step is to be kept")
    return _explained("loop structure", sentence, [fit], {"the body": body}, scene)


def _no_truth(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    condition = _function(_CONDITION, scene) if scene.operator == "while_loop" else None
    array = facts.arrays[0]
    who = _named(condition, "the condition")
    sentence = say("the condition of `while_loop` must give one truth, and gives {}", type_words(array))
    fit = (
        advice(say("let {} compare, as with `!= 0`", who), "a loop does not ask a number for its truth")
        if array.dtype != "bool"
        else advice(say("let {} return `jnp.all` or `jnp.any` of it", who), "that is one truth")
    )
    return _explained("loop structure", sentence, [fit], {"the condition": condition}, scene)


def _lengths(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    lengths = facts.new_shape
    if facts.reason == "length":
        asked, own = (f"{length:,}" for length in lengths[:2])
        sentence = say("`length` is {}, but what `scan` goes over has {} along dimension 0", asked, own)
        fit = advice("leave `length` out", say("`scan` then takes {} from the arrays", own))
        return ExplainedError(kind="loop structure", sentence=sentence, fits=(fit,))
    loop = code(scene.operator if scene.operator in ("scan", "map") else "scan")
    given = ", ".join(f"{length:,}" for length in lengths[:8]) + (" and more" if len(lengths) > 8 else "")
    sentence = say("what {} goes over must have one length along dimension 0, and has {}", loop, given)
    shortest = min(lengths)
    fit = advice(f"take the first {shortest:,} of each", "the loop then has as many steps")
    return ExplainedError(kind="loop structure", sentence=sentence, fits=(fit,))


# ---------------------------------------------------------------- branches


def explain_branch_structure(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Branches that return different trees, and a predicate that is no scalar."""
    if facts.reason == "predicate":
        return _no_predicate(facts, scene)
    roles, names = facts.names[:2], facts.names[2:]
    functions: dict[str | Phrase, ErrorFunction | None] = {
        name(role): _branch(role, own, scene) for role, own in zip(roles, names, strict=True)
    }
    labels = [
        name(role if own in ("<lambda>", "") or names[0] == names[1] else own)
        for role, own in zip(roles, names, strict=True)
    ]
    words, fits = [], []
    for difference in facts.differences[:_MOST]:
        unshared = _sides(difference)
        words.append(_branch_words(labels, difference, unshared))
        fits += _branch_fits(labels, difference, unshared)
    sentence = say("the branches of {} must return the same tree: {}", code(facts.operation), clauses(words))
    return _explained("branch structure", sentence, fits, functions, scene)


def _branch(role: str, own: str, scene: ErrorScene) -> ErrorFunction | None:
    """The function of a branch, where its name is the one that the message has."""
    keys = {"true_fun": ("1", "true_fun"), "false_fun": ("2", "false_fun")}.get(
        role, (f"1[{role.removeprefix('branch')}]", f"branches[{role.removeprefix('branch')}]")
    )
    function = _function(keys, scene) if scene.operator in ("cond", "switch") else None
    return function if function is not None and (function.name or "<lambda>") == own else None


def _at(difference: TreeDifference) -> Sentence:
    return say(" at {}", code(difference.path)) if difference.path else Sentence()


def _branch_words(labels: Sequence[Phrase], difference: TreeDifference, unshared: Unshared) -> Sentence:
    at = _at(difference)
    if unshared is not None and any(unshared):
        parts = [
            say("{} has {}{}, which {} has not", label, listed(keys, code), at, other)
            for label, other, keys in zip(labels, reversed(labels), unshared, strict=True)
            if keys
        ]
        return joined(parts, ", and ")
    first, second = _node(difference.first, difference.second), _node(difference.second, difference.first)
    if first == second:
        return say("{} and {} give {}{}, but what is static in it differs", *labels, first, at)
    return say("{} gives {}{}, {} gives {}", labels[0], first, at, labels[1], second)


def _branch_fits(labels: Sequence[Phrase], difference: TreeDifference, unshared: Unshared) -> Iterator[Fit]:
    at, sides = _at(difference), (difference.first, difference.second)
    if unshared is not None and any(unshared):
        for (label, other), keys in zip((labels, labels[::-1]), unshared, strict=True):
            if keys:
                own = listed(keys, code)
                yield advice(say("let {} return {}{}, too", other, own, at), "as zeros, where it has none")
                yield advice(say("leave {} out of what {} returns{}", own, label, at), "if nobody needs it after")
    elif none := [label for label, side in zip(labels, sides, strict=True) if side.type == "None"]:
        yield advice(say("let {} return a value{}", none[0], at), "a function that returns nothing gives None")
    elif sides[0].type == sides[1].type and sides[0].count != sides[1].count:
        yield advice(say("let both return as many{}", at), "as zeros, where one has none")
    elif sides[0].type != sides[1].type:
        words = say("let {} return {}{}", labels[1], _type(sides[0].type), at)
        yield advice(words, say("as {} does", labels[0]))
    else:
        yield advice(say("let both return the same static parts{}", at), "they belong to the tree")


def _no_predicate(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    shape = shape_words(facts.arrays[0].shape or ())
    texts = [argument.text for argument in scene.arguments if argument.key in ("0", "pred") and argument.text]
    what = code(texts[0]) if scene.operator == "cond" and len(texts) == 1 else "the predicate"
    sentence = say("{} has the shape {}, and `cond` takes one truth for all", what, shape)
    fits = (
        advice("use `jnp.where` of the predicate and of what the branches return", "picks for each element"),
        advice("give `cond` the `jnp.any` or `jnp.all` of it", "if one branch is to run for all"),
    )
    return ExplainedError(kind="branch structure", sentence=sentence, fits=fits)


# ---------------------------------------------------------------- where they return


def _explained(
    kind: ErrorKind,
    sentence: Sentence,
    fits: Sequence[Fit],
    functions: Mapping[str | Phrase, ErrorFunction | None],
    scene: ErrorScene,
) -> ExplainedError:
    """With where the functions return, as their source has it."""
    own = scene.frame.file if scene.frame is not None else ""
    notes = [words for role, function in functions.items() if function and (words := _returns(role, function, own))]
    unlike = tuple({fit.edit: fit for fit in fits}.values())
    return ExplainedError(kind=kind, sentence=sentence, fits=unlike, notes=tuple(notes))


def _returns(role: str | Phrase, function: ErrorFunction, own: str) -> Sentence | None:
    if function.returns is None:
        return None
    who = name(function.name) if function.name else role
    where = "" if function.file == own else say(" of {}", place(function.file))
    places = list(function.returns)
    if not places:
        return say("{} has no `return`", who)
    if len(places) > 1:
        lines = joined([str(line) for line, _ in places[:_MOST_RETURNS]])
        more = " and more" if len(places) > _MOST_RETURNS else ""
        return say("{} returns in the lines {}{}{}", who, lines, more, where)
    line, text = places[0]
    what = say(" {}", code(text)) if text and len(text) <= _LONGEST and "`" not in text else ""
    return say("{} returns{} in line {}{}", who, what, line, where)
