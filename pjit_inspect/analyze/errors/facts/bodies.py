"""Facts of errors of loops, branches and results of `shard_map`: a function returns something else than it must."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pjit_inspect.analyze.errors import specs
from pjit_inspect.analyze.errors.printed import read_spec, read_type, type_name
from pjit_inspect.analyze.errors.specs import axes_list, spec_words
from pjit_inspect.analyze.errors.table import Facts, first_filled, read_code
from pjit_inspect.analyze.errors.ways import advice, clauses, listed
from pjit_inspect.model.report.explained_error import ErrorArgument, ErrorFunction, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, name, place, say

_MOST = 3
_LONGEST = 120
_LOOPS = {
    "scan": (("0", "f"), ("1", "init")), "fori_loop": (("2", "body_fun"), ("3", "init_val")),
    "while_loop": (("1", "body_fun"), ("2", "init_val")),
}  # fmt: skip
"""Arguments of each loop: its body, and the start of its carry."""

Parts = Sequence[re.Match[str]]

# ---------------------------------------------------------------- the user's functions


def _function(scene: ErrorScene, *keys: str) -> ErrorFunction | None:
    return next((function for function in scene.functions if function.key in keys), None)


def _called(function: ErrorFunction | None, role: Phrase | str) -> Phrase | str:
    return name(function.name) if function is not None and function.name else role


def _returned(scene: ErrorScene, *functions: tuple[Phrase | str, ErrorFunction | None]) -> tuple[Sentence, ...]:
    """Notes on the lines where the functions return."""
    return tuple(_returns(_called(one, role), one, scene) for role, one in functions if one and one.returns is not None)


def _returns(who: str | Phrase, function: ErrorFunction, scene: ErrorScene) -> Sentence:
    places = list(function.returns or ())
    is_here = scene.frame is not None and function.file == scene.frame.file
    where = "" if is_here else say(" of {}", place(function.file))
    if not places:
        return say("{} has no `return`", who)
    if len(places) > 1:
        more = " and more" if len(places) > _MOST + 1 else ""
        lines = joined([str(line) for line, _ in places[: _MOST + 1]])
        return say("{} returns in the lines {}{}{}", who, lines, more, where)
    line, text = places[0]
    what = say(" {}", code(text)) if text and len(text) <= _LONGEST and "`" not in text else ""
    return say("{} returns{} in line {}{}", who, what, line, where)


# ---------------------------------------------------------------- types that differ


def _types(match: re.Match[str], what: Phrase) -> Facts:
    """Compares two types: shapes first, as another shape has another split."""
    one, other = read_type(match["first"]), read_type(match["second"])
    facts: dict[str, object] = {"first": specs.type_words(one), "second": specs.type_words(other)}
    if one.shape != other.shape:
        is_longer = any(before < after for before, after in zip(one.shape or (), other.shape or (), strict=False))
        shape = specs.shape_words(one.shape)
        return {**facts, "shape": shape, "one_shape": "one shape", "grows": what if is_longer else None}
    if one.dtype != other.dtype:
        return facts | {"dtype": code(one.dtype), "astype": code(f".astype('{one.dtype}')")}
    if one.spec != other.spec:
        own, moves = spec_words(one.spec), specs.reshard_words(what, other.spec or (), one.spec or ())
        return {"first": own, "second": spec_words(other.spec), "spec": own, "moves": moves}
    varying = {"first": _varying(match["first"]), "second": _varying(match["second"])}
    for side, lacking in (("first", "second"), ("second", "first")):
        facts[side] = say("varying over {}", axes_list(varying[side])) if varying[side] else "the same on all devices"
        if more := tuple(axis for axis in varying[side] if axis not in varying[lacking]):
            facts |= {f"over_{lacking}": axes_list(more), f"axes_{lacking}": repr(more)}
    is_old = "applying `jax.lax.pvary(" in match.string
    return facts | {"cast": code(f"jax.lax.{'pvary' if is_old else 'pcast'}"), "to": "" if is_old else ", to='varying'"}


def _varying(text: str) -> tuple[str, ...]:
    """The axes that a type varies over: `data` and `model` of `float32[4]{V:(data,model)}`."""
    match = re.search(r"\{V:\(?([\w.,-]{1,200}?)\)?[};]", text)
    return tuple(match[1].split(",")) if match else ()


# ---------------------------------------------------------------- trees that differ

TREE_NODE = re.compile(
    r"(?:<(?:class|enum) '([^'\n]{1,300})'>|(pytree leaf)|(\w{1,100}) of length (\d{1,9}))"
    r"(?: with (\d{1,9}) child(?:ren)?$)?"
)
_METADATA = re.compile(r" with pytree metadata ([\[(][^\n]{0,2000}[\])])$")
_KEY = re.compile(r"'((?:[^'\\]|\\.){0,200})'|(-?\d{1,18})(?=\s|$)")
_PATH_KEY = re.compile(r"\['((?:[^'\\]|\\.)*)'\]|\[(-?\d+)\]|\.(\w+)|\[[^\]]*\]")
_UNSHARED = re.compile(r"\bwith the symmetric difference of key sets: \{([^\n]{1,2000}?)\}$")


class _Node(NamedTuple):
    """One place of a tree: its type, and of its children how many there are, and their keys, if the message says so."""

    type: Sentence
    count: int | None = None
    keys: tuple[str, ...] = ()


def _node(text: str) -> _Node:
    match = TREE_NODE.match(text)
    if match is None:
        raise ValueError("this is no place of a tree")
    if match[3]:
        return _Node(type_name(match[3]), int(match[4]))
    held = (match[1] or "PytreeLeaf").rpartition(".")[2]
    # Of any other type they are what is static in it.
    metadata = _METADATA.match(text, match.end()) if held in ("dict", "OrderedDict") else None
    keys = tuple(map(str, ast.literal_eval(metadata[1]))) if metadata else ()
    return _Node(type_name(held), int(match[5]) if match[5] else len(keys) or None, keys)


def _trees(match: re.Match[str], keys: tuple[str, ...] = ()) -> Facts:
    """Compares two trees at one place; `keys` are those of the first there, where they are known."""
    one, other = _node(match["first"]), _node(match["second"])
    alone = _unshared(one, other, match["why"], keys)
    if any(alone):
        return {key: listed(held, code) for key, held in zip(("missing", "extra"), alone, strict=True) if held}
    if one.type != other.type:
        none = [side for side, node in (("first", one), ("second", other)) if node.type == "None"]
        key = "as_list" if one.type in ("a list", "a tuple") else "as_other"
        wanted = {f"none_{none[0]}": "None"} if none else {key: one.type, "wanted": one.type}
        return {"first": one.type, "second": other.type, **wanted}
    if one.count != other.count and None not in (one.count, other.count):
        words = [say("{} of {}", node.type, node.count) for node in (one, other)]
        return {"first": words[0], "second": words[1], "count": one.count, "as_many": "as many"}
    return {"both": one.type, "static": "static"}


def _unshared(one: _Node, other: _Node, why: str, first: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The keys that only one of two trees has, by side; none where it cannot be told."""
    if one.keys and other.keys:
        return [key for key in one.keys if key not in other.keys], [key for key in other.keys if key not in one.keys]
    match = _UNSHARED.search(why)
    keys = sorted(key[1] if key[1] is not None else key[2] for key in _KEY.finditer(match[1])) if match else []
    if not match or _KEY.sub("", match[1]).strip() or one.count is None or other.count is None:
        return [], []
    # JAX names the keys that one side lacks, not which side. All are on one side where that has as many more children;
    # else the first side's own keys must tell, and the counts must agree with them.
    more = other.count - one.count
    known = keys if -more == len(keys) else [] if more == len(keys) else [key for key in keys if key in first]
    is_known = len(first) == one.count or abs(more) == len(keys)
    rest = [key for key in keys if key not in known]
    return (known, rest) if is_known and len(rest) - len(known) == more else ([], [])


# ---------------------------------------------------------------- loops and branches

_WORDS = (
    "{carry} loses {missing}[[ and gains {extra}]]",
    "{carry} gains {extra}",
    "{carry} stays {both}, but its static parts differ",
    "{carry} goes in as {first} and comes out as {second}",
    "only {one} has {missing}{at}[[, and only {other} has {extra}]]",
    "only {other} has {extra}{at}",
    "{one} and {other} give {both}{at}, but its static parts differ",
    "{one} gives {first}{at}, {other} gives {second}",
)


def _place_by_place(each: Sequence[Facts], parts: Parts) -> Facts:
    more = [f"and {len(parts) - _MOST} more"] if len(parts) > _MOST else []
    return {"each": tuple(each), "what": clauses([*(first_filled(_WORDS, part) for part in each), *more])}


def _is_tree(parts: Parts) -> bool:
    return "why" in parts[0].groupdict()


def loop(match: re.Match[str], scene: ErrorScene, parts: Parts) -> Facts:
    """A loop's carry as it goes in and as it comes out, place by place."""
    own = scene.operator if scene.operator in _LOOPS else ""
    bodies, starts = _LOOPS.get(own, ((), ()))
    body = _function(scene, *bodies)
    given = [argument for argument in scene.arguments if argument.key in starts]

    def read(one: re.Match[str]) -> Facts:
        path, is_tree = one["path"] or "", _is_tree(parts)
        parameter = body.parameters[1] if body is not None and len(body.parameters) > 1 else "init_val"
        # `fori_loop` has a carry of its own around the user's.
        called = re.sub(r"^loop_carry\[\d+\]", lambda _: parameter, path) if own == "fori_loop" else path
        carry = name(called or ("the carry" if is_tree else "carry"))
        is_whole = len(given) == 1 and given[0].text and called.isidentifier()
        differ = _trees(one, _start_keys(path, given)) if is_tree else _types(one, carry)
        return {"carry": carry, "start": code(given[0].text) if is_whole else None, **differ}

    notes = _returned(scene, ("the body", body)) if _is_tree(parts) else ()
    each = [read(one) for one in parts[:_MOST]]
    named = {"loop": code(own or match["loop"].removesuffix("_loop")), "who": _called(body, "the body")}
    return {**named, "notes": notes, **_place_by_place(each, parts)}


def _start_keys(path: str, given: Sequence[ErrorArgument]) -> tuple[str, ...]:
    """The keys at a place of what the loop starts with; () when they are not known."""
    root = re.match(r"loop_carry\[\d+\]|\w*", path)
    below = path[root.end() :] if root else path
    leaves = [leaf for argument in given[:1] for leaf in argument.paths]
    keys = [_PATH_KEY.match(rest) for leaf in leaves if (rest := leaf.removeprefix(below)) != leaf or not below]
    return tuple(dict.fromkeys(next(filter(None, key.groups()), "") for key in keys if key))


def branches(match: re.Match[str], scene: ErrorScene, parts: Parts) -> Facts:
    """The results of two branches, place by place."""
    both, is_tree = ("one", "other"), _is_tree(parts)
    # The functions' own names are in the message about trees alone.
    sides = [(match[side].replace(" ", ""), match[f"name_{side}"]) for side in both] if is_tree else []

    def read(one: re.Match[str]) -> Facts:
        roles = sides or [(one[side].replace(" ", ""), "") for side in both]
        is_same = roles[0][1] == roles[1][1]
        labels = [name(role if is_same or held == "<lambda>" else held) for role, held in roles]
        facts = _trees(one) if is_tree else _types(one, Phrase("word", "its result"))
        nobody = labels["none_second" in facts] if facts.keys() & {"none_first", "none_second"} else None
        at = say(" at {}", code(one["path"])) if one["path"] else ""
        return {"one": labels[0], "other": labels[1], "at": at, "nobody": nobody, **facts}

    notes = _returned(scene, *((name(role), _branch(role, held, scene)) for role, held in sides))
    return {"notes": notes, **_place_by_place([read(one) for one in parts[:_MOST]], parts)}


def _branch(role: str, own: str, scene: ErrorScene) -> ErrorFunction | None:
    """The function of a branch, where its name is the one that the message has."""
    number = role.removeprefix("branch")
    named = {"true_fun": ("1", "true_fun"), "false_fun": ("2", "false_fun")}
    keys = named.get(role, (f"1[{number}]", f"branches[{number}]"))
    function = _function(scene, *keys) if scene.operator in ("cond", "switch") else None
    return function if function is not None and (function.name or "<lambda>") == own else None


def pair(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The body of a `scan`."""
    body = _function(scene, *_LOOPS["scan"][0])
    return {"who": _called(body, "the body"), "notes": _returned(scene, ("the body", body))}


def truth(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The condition of a loop, by what it gives in place of a truth."""
    condition = _function(scene, "0", "cond_fun") if scene.operator == "while_loop" else None
    array, who = read_type(match["type"]), _called(condition, "the condition")
    key, notes = "who_each" if array.dtype == "bool" else "who_compares", _returned(scene, ("the condition", condition))
    return {"type": specs.type_words(array), "notes": notes, key: who}


def lengths(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The lengths of what a loop goes over."""
    lengths = match["lengths"].split(", ")
    given = ", ".join(lengths[:8]) + (" and more" if len(lengths) > 8 else "")
    loop = code("map" if scene.operator == "map" else "scan")
    return {"loop": loop, "shortest": min(map(int, lengths)), "given": given}


def predicate(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The predicate of a `cond`."""
    texts = [argument.text for argument in scene.arguments if argument.key in ("0", "pred") and argument.text]
    return {"what": code(texts[0])} if scene.operator == "cond" and len(texts) == 1 else {}


# ---------------------------------------------------------------- results of shard_map

_ACROSS = {
    "psum": ("adds the devices' values", ": for a sum over parts"), "pmax": ("takes the largest", ""),
    "pmean": ("averages the devices' values", ": for a mean over equal parts"), "pmin": ("takes the smallest", ""),
}  # fmt: skip
"""Collectives that turn the devices' results into that of the whole: `psum` for `sum`, and so on."""


def replicated(match: re.Match[str], scene: ErrorScene, parts: Parts) -> Facts:
    """The results that `out_specs` says are equal on devices where JAX cannot see it."""
    axes = [tuple(filter(None, (one["one"] or one["axes"]).split(","))) for one in parts[:8]]
    unseen = "{}{} says that the result is equal along {}, which JAX cannot see"
    words = [
        say(unseen, code(f"out_specs{one['path']}"), _spec(one["spec"]), axes_list(own))
        for one, own in zip(parts[:_MOST], axes, strict=False)
    ]
    names = list(dict.fromkeys(axis for own in axes for axis in own))
    over, made = axes_list(names), _made_by(names, scene)
    unknown = None if made else "if it is known to be equal"
    return {"what": clauses(words), "over": over, "fits": tuple(_made_equal(made, over)), "unknown": unknown}


def _spec(text: str) -> Sentence | str:
    """A spec in brackets; "" for one that holds what is no axis, as `UNCONSTRAINED`."""
    try:
        return say(" ({})", spec_words(read_spec(text)))
    except ValueError:
        return ""


def _made_by(axes: Sequence[str], scene: ErrorScene) -> str:
    """The function that makes what a function under `shard_map` returns; "" where that cannot be told."""
    returns = [(text, one.values) for one in scene.functions for _, text in one.returns or ()]
    node = read_code(returns[0][0]) if len(returns) == 1 else None
    node = read_code(returns[0][1].get(node.id, "")) if isinstance(node, ast.Name) else node
    match node:
        case ast.Call(func=ast.Attribute(attr=made) | ast.Name(id=made)):
            held = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
            return made if {made, f"p{made}"} & _ACROSS.keys() or (made == "all_gather" and held >= set(axes)) else ""
    return ""


def _made_equal(made: str, over: Sentence) -> Iterator[Fit]:
    """Makes a result equal on all devices: first by the collective that gives the value of the whole, if known."""
    right = next((own for own in (made, f"p{made}") if own in _ACROSS), "pmean" if made else "")
    if made == "all_gather":
        why = say("{} has made it equal: one device's result is that of all", code(made))
        yield advice("give `jax.shard_map` `check_vma=False`", why)
    for across in dict.fromkeys((right or "psum", "psum", "pmean")):
        (does, use), is_same = _ACROSS[across], across == right or not made
        of = say(": that is {}the {} over all parts", "" if is_same else "not ", code(made)) if made else use
        edit = say("return it through {} over {}", code(f"jax.lax.{across}"), over)
        yield replace(advice(edit, say("{}{}", does, of)), is_same=is_same)
