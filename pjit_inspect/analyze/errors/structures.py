"""What a loop's body or a branch returns that is not what it must be: another tree, no pair, no truth.

Not its job: leaves whose types differ (`analyze.errors.types`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pjit_inspect.analyze.errors.fits import advice, listed
from pjit_inspect.analyze.errors.specs import shape_words
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

__all__ = ["explain_branch_structure", "explain_loop_structure", "named_carry"]

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


def named_carry(name: str, operator: str, scene: ErrorScene) -> str:
    """The carry under the name of the body's parameter, where `fori_loop` has a carry of its own around it."""
    if operator != "fori_loop":
        return name
    body = _function(_BODY[operator], scene)
    own = body.parameters[1] if body is not None and len(body.parameters) > 1 else "init_val"
    return _OWN_CARRY.sub(own, name)


def _function(keys: Sequence[str], scene: ErrorScene) -> ErrorFunction | None:
    return next((function for function in scene.functions if function.key in keys), None)


# ---------------------------------------------------------------- loops


def explain_loop_structure(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A carry that comes out of a loop's body as another tree, and what else a loop's functions must return."""
    name = scene.operator if scene.operator in _BODY else facts.operation
    body = _function(_BODY.get(scene.operator, ()), scene)
    if facts.reason == "pair":
        return _no_pair(body, scene)
    if facts.reason == "truth":
        return _no_truth(facts, scene)
    if facts.reason in ("lengths", "length"):
        return _lengths(facts, scene)
    words, fits = [], []
    for one in facts.differences[:_MOST]:
        place = named_carry(one.path, scene.operator, scene) or "the carry"
        unshared = _sides(one, _start_keys(one.path, scene))
        words.append(_carry_words(place, one, unshared))
        fits += _carry_fits(place, one, unshared, body)
    more = [f"and {len(facts.differences) - _MOST} more"] if len(facts.differences) > _MOST else []
    sentence = f"the body of `{name}` must return its carry as the same tree: {'; '.join([*words, *more])}"
    return _explained("loop structure", sentence, fits, {"the body": body}, scene)


def _start_keys(path: str, scene: ErrorScene) -> tuple[str, ...]:
    """The keys at a place of what the loop starts with; () when they are not known."""
    keys = _START.get(scene.operator, ())
    paths = next((argument.paths for argument in scene.arguments if argument.key in keys), ())
    root = re.match(r"loop_carry\[\d+\]|\w*", path)
    below = path[root.end() :] if root else path
    found = [_KEY.match(rest) for one in paths if (rest := one.removeprefix(below)) != one or not below]
    return tuple(dict.fromkeys(next(filter(None, key.groups()), "") for key in found if key))


def _sides(one: TreeDifference, first: tuple[str, ...] = ()) -> tuple[list[str], list[str]] | None:
    """The keys that only the first has, and those that only the second has; None when it cannot be told."""
    if one.first.keys and one.second.keys:
        return _without(one.first.keys, one.second.keys), _without(one.second.keys, one.first.keys)
    keys, counts = list(one.unshared), (one.first.count, one.second.count)
    if not keys or counts[0] is None or counts[1] is None:
        return None
    # All of them are on one side where that has as many more children.
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


def _carry_words(place: str, one: TreeDifference, unshared: tuple[list[str], list[str]] | None) -> str:
    if unshared is not None and any(unshared):
        missing, extra = unshared
        parts = [f"`{place}` comes out without {listed(missing)}, which it went in with"] if missing else []
        joint = "and with" if missing else f"`{place}` comes out with"
        parts += [f"{joint} {listed(extra)}, which it went in without"] if extra else []
        return " ".join(parts)
    given, returned = _node(one.first, one.second), _node(one.second, one.first)
    if given == returned:
        return f"`{place}` goes in and comes out as {given}, but what is static in it differs"
    return f"`{place}` goes in as {given} and comes out as {returned}"


def _node(node: TreeNode, other: TreeNode) -> str:
    """What a place holds, with as much of it as differs."""
    if node.type == "array":
        return "one array"
    if node.type == "None":
        return "None"
    words = _type(node.type)
    if node.type == other.type and node.count is not None and node.count != other.count:
        return f"{words} of {node.count}"
    return words


def _type(name: str) -> str:
    return f"a {name}" if name in ("dict", "list", "tuple") else f"an object of the type `{name}`"


def _carry_fits(
    place: str, one: TreeDifference, unshared: tuple[list[str], list[str]] | None, body: ErrorFunction | None
) -> Iterator[Fit]:
    name = _body(body)
    if unshared is not None and any(unshared):
        missing, extra = unshared
        if missing:
            yield advice(
                f"let {name} return {listed(missing)} in `{place}`, too", "unchanged, if the step has no new one"
            )
        if extra:
            yield advice(f"leave {listed(extra)} out of what {name} returns for `{place}`", "if only the step needs it")
            yield advice(f"start `{place}` with {listed(extra)}, too", "if the next step needs it")
    elif one.second.type == "None":
        yield advice(f"let {name} return an array for `{place}`", "what is not returned is None, and None is no array")
    elif one.first.type == "None":
        yield advice(f"start `{place}` with an array of the shape that comes out, in place of None", "as zeros")
    elif one.first.type != one.second.type and one.first.type in ("list", "tuple"):
        yield advice(f"let {name} return `{place}` as {_type(one.first.type)}", "as it goes in")
    elif one.first.type != one.second.type and one.first.type == "array":
        yield advice(f"let {name} return one array for `{place}`", "as it goes in")
    elif one.first.type != one.second.type:
        yield advice(f"let {name} return {_type(one.first.type)} for `{place}`", "as it goes in")
    elif one.first.count is not None and one.first.count != one.second.count:
        yield advice(f"let {name} return {one.first.count} in `{place}`", "as many as go in")
    else:
        yield advice(f"let {name} return `{place}` with what is static in it unchanged", "as it goes in")


def _body(body: ErrorFunction | None) -> str:
    return f"`{body.name}`" if body is not None and body.name else "the body"


def _no_pair(body: ErrorFunction | None, scene: ErrorScene) -> ExplainedError:
    sentence = "the body of `scan` must return a pair: the carry, and what is kept of each step"
    fit = advice(f"let {_body(body)} return the carry and `None`", "if nothing of a step is to be kept")
    return _explained("loop structure", sentence, [fit], {"the body": body}, scene)


def _no_truth(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    condition = _function(_CONDITION, scene) if scene.operator == "while_loop" else None
    array = facts.arrays[0]
    type_ = f"{array.dtype}{shape_words(array.shape or ())}"
    name = f"`{condition.name}`" if condition is not None and condition.name else "the condition"
    sentence = f"the condition of `while_loop` must give one truth, and gives `{type_}`"
    fit = (
        advice(f"let {name} compare, as with `!= 0`", "a loop does not ask a number for its truth")
        if array.dtype != "bool"
        else advice(f"let {name} return `jnp.all` or `jnp.any` of it", "that is one truth")
    )
    return _explained("loop structure", sentence, [fit], {"the condition": condition}, scene)


def _lengths(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    lengths = facts.new_shape
    if facts.reason == "length":
        sentence = f"`length` is {lengths[0]:,}, but what `scan` goes over has {lengths[1]:,} along dimension 0"
        fits = [advice("leave `length` out", f"`scan` then takes {lengths[1]:,} from the arrays")]
        return ExplainedError(kind="loop structure", sentence=sentence, fits=tuple(fits))
    name = scene.operator if scene.operator in ("scan", "map") else "scan"
    given = ", ".join(f"{length:,}" for length in lengths[:8]) + (" and more" if len(lengths) > 8 else "")
    sentence = f"what `{name}` goes over must have one length along dimension 0, and has {given}"
    shortest = min(lengths)
    fit = advice(f"take the first {shortest:,} of each", "the loop then has as many steps")
    return ExplainedError(kind="loop structure", sentence=sentence, fits=(fit,))


# ---------------------------------------------------------------- branches


def explain_branch_structure(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Branches that return different trees, and a predicate that is no scalar."""
    if facts.reason == "predicate":
        return _no_predicate(facts, scene)
    roles, names = facts.names[:2], facts.names[2:]
    functions = {f"`{role}`": _branch(role, name, scene) for role, name in zip(roles, names, strict=True)}
    labels = [
        role if name in ("<lambda>", "") or names[0] == names[1] else name
        for role, name in zip(roles, names, strict=True)
    ]
    words, fits = [], []
    for one in facts.differences[:_MOST]:
        unshared = _sides(one)
        words.append(_branch_words(labels, one, unshared))
        fits += _branch_fits(labels, one, unshared)
    sentence = f"the branches of `{facts.operation}` must return the same tree: {'; '.join(words)}"
    return _explained("branch structure", sentence, fits, functions, scene)


def _branch(role: str, name: str, scene: ErrorScene) -> ErrorFunction | None:
    """The function of a branch, where its name is the one that the message has."""
    keys = {"true_fun": ("1", "true_fun"), "false_fun": ("2", "false_fun")}.get(
        role, (f"1[{role.removeprefix('branch')}]", f"branches[{role.removeprefix('branch')}]")
    )
    found = _function(keys, scene) if scene.operator in ("cond", "switch") else None
    return found if found is not None and (found.name or "<lambda>") == name else None


def _branch_words(labels: Sequence[str], one: TreeDifference, unshared: tuple[list[str], list[str]] | None) -> str:
    place = f" at `{one.path}`" if one.path else ""
    if unshared is not None and any(unshared):
        parts = [
            f"`{label}` has {listed(keys)}{place}, which `{other}` has not"
            for label, other, keys in zip(labels, reversed(labels), unshared, strict=True)
            if keys
        ]
        return ", and ".join(parts)
    first, second = _node(one.first, one.second), _node(one.second, one.first)
    if first == second:
        return f"`{labels[0]}` and `{labels[1]}` give {first}{place}, but what is static in it differs"
    return f"`{labels[0]}` gives {first}{place}, `{labels[1]}` gives {second}"


def _branch_fits(
    labels: Sequence[str], one: TreeDifference, unshared: tuple[list[str], list[str]] | None
) -> Iterator[Fit]:
    place = f" at `{one.path}`" if one.path else ""
    sides = (one.first, one.second)
    if unshared is not None and any(unshared):
        for (label, other), keys in zip((labels, labels[::-1]), unshared, strict=True):
            if keys:
                yield advice(f"let `{other}` return {listed(keys)}{place}, too", "as zeros, where it has none")
                yield advice(f"leave {listed(keys)} out of what `{label}` returns{place}", "if nobody needs it after")
    elif none := [label for label, side in zip(labels, sides, strict=True) if side.type == "None"]:
        yield advice(f"let `{none[0]}` return a value{place}", "a function that returns nothing gives None")
    elif one.first.type == one.second.type and one.first.count != one.second.count:
        yield advice(f"let both return as many{place}", "as zeros, where one has none")
    elif one.first.type != one.second.type:
        first = "one array" if one.first.type == "array" else _type(one.first.type)
        yield advice(f"let `{labels[1]}` return {first}{place}", f"as `{labels[0]}` does")
    else:
        yield advice(f"let both return the same static parts{place}", "they belong to the tree")


def _no_predicate(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    shape = shape_words(facts.arrays[0].shape or ())
    texts = [argument.text for argument in scene.arguments if argument.key in ("0", "pred") and argument.text]
    what = f"`{texts[0]}`" if scene.operator == "cond" and len(texts) == 1 else "the predicate"
    sentence = f"{what} has the shape {shape}, and `cond` takes one truth for all"
    fits = (
        advice("use `jnp.where` of the predicate and of what the branches return", "picks for each element"),
        advice("give `cond` the `jnp.any` or `jnp.all` of it", "if one branch is to run for all"),
    )
    return ExplainedError(kind="branch structure", sentence=sentence, fits=fits)


# ---------------------------------------------------------------- where they return


def _explained(
    kind: ErrorKind,
    sentence: str,
    fits: Sequence[Fit],
    functions: Mapping[str, ErrorFunction | None],
    scene: ErrorScene,
) -> ExplainedError:
    """With where the functions return, as their source has it."""
    own = scene.frame.file if scene.frame is not None else ""
    notes = [words for name, function in functions.items() if function and (words := _returns(name, function, own))]
    unlike = tuple({fit.edit: fit for fit in fits}.values())
    return ExplainedError(kind=kind, sentence=sentence, fits=unlike, notes=tuple(notes))


def _returns(role: str, function: ErrorFunction, own: str) -> str:
    if function.returns is None:
        return ""
    name = f"`{function.name}`" if function.name else role
    where = "" if function.file == own else f" of {function.file}"
    places = list(function.returns)
    if not places:
        return f"{name} has no `return`"
    if len(places) > 1:
        lines = [str(line) for line, _ in places[:_MOST_RETURNS]]
        more = " and more" if len(places) > _MOST_RETURNS else ""
        return f"{name} returns in the lines {', '.join(lines[:-1])} and {lines[-1]}{more}{where}"
    line, text = places[0]
    what = f" `{text}`" if text and len(text) <= _LONGEST and "`" not in text else ""
    return f"{name} returns{what} in line {line}{where}"
