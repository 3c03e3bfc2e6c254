"""Facts of errors of trees: shardings and specs that are no prefix, trees that are mapped or compiled for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from pjit_inspect.analyze.errors import ways
from pjit_inspect.analyze.errors.facts.bodies import TREE_NODE
from pjit_inspect.analyze.errors.printed import SHARDING, SPEC, type_name
from pjit_inspect.analyze.errors.specs import counted
from pjit_inspect.analyze.errors.table import Facts, first_filled, listed_facts, quoted
from pjit_inspect.analyze.errors.ways import clauses, listed
from pjit_inspect.model.report.explained_error import ErrorScene, Fit
from pjit_inspect.model.words.sentence import Sentence, code, name, say

# ---------------------------------------------------------------- prefixes

_KEYS = re.compile(r"with (?:\d{1,6} child keys\s+([^\n]{0,2000})|metadata\s+(\([^\n]{0,2000}\)))\n")
_KINDS = re.compile(r"subtree of (?:different )?type\s+<class '([\w.<>]{1,200})'>")
_COUNTS = re.compile(r"of length (\d{1,6}), but the full .{1,80} of the same type but of length (\d{1,6})\.")
_OBJECT = re.compile(rf"{SHARDING}|{SPEC}|\*(?=[,)\]}}]|$)")
_ONE = {"in_specs": "one spec", "out_specs": "one spec", "in_axes": "one number", "out_axes": "one number"}
_STEPS = (
    "take {extra} out of {given}[[ and add {missing} to it]]",
    "add {missing} to {given}",
)


def _between(keys: Sequence[Sequence[str]], lengths: Sequence[int], types: Sequence[str]) -> Facts | None:
    """Compares two trees at one place: their keys, lengths or types; None where these are not known."""
    if len(keys) == 2 and all(keys):
        own, wanted = keys
        extra, missing = [key for key in own if key not in wanted], [key for key in wanted if key not in own]
        alone = {key: listed(held, code) for key, held in (("extra", extra), ("missing", missing)) if held}
        return {"own_keys": listed(own, code), "keys": listed(wanted, code), **alone}
    if len(lengths) == 2:
        return {"n_own": lengths[0], "n": lengths[1]}
    if len(types) > 1:
        own_type, wanted_type = map(type_name, types[:2])
        is_leaf = wanted_type == "one array"
        return {"own_type": own_type, "type": wanted_type, "as_type": None if is_leaf else wanted_type}
    return None


def _said(match: re.Match[str]) -> Facts | None:
    """Reads what follows the first place where two trees differ."""
    text = match.string[match.end() :].partition("pytree structure error: ")[0]
    lengths = _COUNTS.search(text)
    # The keys of `b w`, of `['b'] ['w']` (0.12) and of `('b', 'w')`.
    lines = [one or other for one, other in _KEYS.findall(text)]
    keys = [re.findall(r"'([^'\n]{0,200})'", line) if line.startswith(("(", "['")) else line.split() for line in lines]
    return _between(keys, [int(lengths[1]), int(lengths[2])] if lengths else [], _KINDS.findall(text))


def _tree(text: str) -> object:
    """A tree as it prints, its shardings and leaves as 0. Raises `ValueError` for one with other objects."""
    try:
        return ast.literal_eval(_OBJECT.sub("0", text))
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError("this is no tree") from error


def _first_difference(given: object, wanted: object, path: str = "") -> tuple[str, Facts | None] | None:
    """The first place where a tree is no prefix of another; None where it is one."""
    if not isinstance(given, (dict, list, tuple)):
        return None
    if not isinstance(wanted, type(given)):
        is_tree = isinstance(wanted, (dict, list, tuple))
        return path, _between([], [], [type(given).__name__, type(wanted).__name__ if is_tree else "PytreeLeaf"])
    own, other = (one if isinstance(one, dict) else dict(enumerate(one)) for one in (given, wanted))  # type: ignore[arg-type]
    if own.keys() != other.keys():
        keys = [sorted(map(str, one)) for one in (own, other)] if isinstance(given, dict) else []
        return path, _between(keys, (len(own), len(other)), [])
    deeper = (_first_difference(part, other[key], f"{path}[{key!r}]") for key, part in own.items())
    return next((one for one in deeper if one is not None), None)


def prefix(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """The tree that is no prefix of another, and the place where it is not."""
    groups = match.groupdict()
    which, path = match["which"] or match["which2"], groups.get("path") or ""
    if groups.get("tree"):
        path, found = _first_difference(_tree(match["tree"]), _tree(match["full"])) or ("", None)
    else:
        found = _between([], (int(match["own"]), int(match["wanted"])), []) if groups.get("own") else _said(match)
    if found is None:
        return None
    is_placed, what = which in ("shardings", "device"), "the argument" if path else "the arguments"
    what = "the result" if which.startswith("out_") else what
    is_several, count = what == "the arguments" and not is_placed, found.get("n", 0)
    facts = {
        "given": say("the tree of shardings") if is_placed else code(which + path),
        "what": "what is placed" if is_placed else what,
        "has": "have" if is_several else "has", "is": "are" if is_several else "is",
        # One number for a whole tree would also map what has no such dimension, or was not to be mapped.
        "one": None if which.endswith("axes") else _ONE.get(which, "one sharding"), **found,
        "counted": f"the call has {counted(int(str(count)), 'argument')}" if is_several else f"{what} has {count}",
    }  # fmt: skip
    return {**facts, "steps": first_filled(_STEPS, facts) or None}


def no_tuple(match: re.Match[str], scene: ErrorScene) -> Facts:
    """Names the one entry that could stand in place of a tree that is no tuple."""
    return {"one": _ONE.get(match["code_which"], "one sharding"), "type": match["type"].rpartition(".")[2]}


# ---------------------------------------------------------------- trees that are mapped, or were compiled for

_MAPPED_WORDS = (
    "only the first has {extra}[[; only the second has {missing}]]", "only the second has {missing}",
    "the first has {n_own} entries, the second {n}", "the first has {own_type}, the second {type}",
)  # fmt: skip


def mapped(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """The place where two trees differ that are mapped together."""
    found = _said(match)
    place = say(" at {}", code(match["where"])) if match["where"] else ""
    return {"place": place, "what": first_filled(_MAPPED_WORDS, found)} if found else None


def compiled_for(match: re.Match[str], scene: ErrorScene, parts: Sequence[re.Match[str]]) -> Facts:
    """Compares the arguments' trees with those that a program was compiled for."""
    words, facts = [], dict[str, object]()
    if count := next((one for one in parts if one["seen"]), None):
        seen, given = int(count["seen"]), int(count["given"])
        words.append(say("it takes {}, and got {}", counted(seen, "positional argument"), given))
        facts |= {"more": given > seen, "fewer": given < seen}
    if keywords := next((one for one in parts if one["kwargs"]), None):
        keys = quoted(keywords["keys"] or "")
        words.append(say("the keywords differ: {}", listed(keys, code)) if keys else say("the keywords differ"))
        facts["keys"] = tuple(keys)
    if place := next((one for one in parts if one["place"]), None):
        text, keys = ways.texts_of(scene).get(place["place"], ""), quoted(place["keys_there"] or "")
        root = text if text.isidentifier() else f"args[{place['place']}]"
        path = name(root + place["path"])
        both = say("{} was {}, and is {}", path, _seen(place["was"]), _seen(place["now"]))
        is_other = "metadata" not in place["was"] and keys
        words.append(say("{} has other keys: {}", path, listed(keys, code)) if is_other else both)
    own = scene.expression.partition("(")[0]
    compiled = code(own) if own.isidentifier() else "the compiled program"
    return {"what": clauses(words), "compiled": compiled, **facts}


def _seen(text: str) -> Sentence:
    """Describes one place of a tree."""
    match, keys = TREE_NODE.match(text), re.search(r"metadata \((.+?),?\)$", text)
    if match is None:
        return say("an array" if "leaf" in text else "another tree")
    words = say("an array") if match[2] else type_name(match[1] or match[3])
    count = match[4] or match[5] or next(iter(re.findall(r"with (\d+) child", text)), "")
    return say("{} with {}", words, keys[1]) if keys else say("{} of {}", words, count) if count else words


def fewer_arguments(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The call without its static arguments: these are part of a compiled program, and not given to it."""
    keys, text = listed_facts(facts, "keys", str), scene.expression
    if (facts.get("more") or keys) and not facts.get("fewer"):
        plain = ("int", "str", "bool", "float")
        static = [one for one in scene.arguments[::-1] if one.text and (one.key in keys if keys else one.type in plain)]
        for own in [one.text if one.key.isdigit() else f"{one.key}={one.text}" for one in static[:1]]:
            pattern = rf",\s*{re.escape(own)}\s*(?=[,)])|(?<=\(){re.escape(own)}\s*(?:,\s*|(?=\)))"
            effect = say("{} is static, and part of the compiled program", code(own))
            yield ways.instead(scene, re.sub(pattern, "", text, count=1), effect)
    elif keys:
        positional = re.sub(rf"\b(?:{'|'.join(map(re.escape, keys))})\s*=\s*(?!=)", "", text)
        yield ways.instead(scene, positional, "as it was compiled")
