"""The table's rows of trees that do not go together: shardings and specs that are no prefix, trees that are mapped.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `tree_util.py`, `api_util.py`, `pjit.py`, `api.py`, `shard_map.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import ast
import re

from pjit_inspect.analyze.errors.fits import listed
from pjit_inspect.analyze.errors.printed import SHARDING, SPEC, type_name
from pjit_inspect.analyze.errors.specs import counted
from pjit_inspect.analyze.errors.table import Facts, Way, first_filled
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.report.explained_error import ErrorScene
from pjit_inspect.model.words.sentence import code, say

_KEYS = re.compile(r"with (?:\d{1,6} child keys\s+([^\n]{0,2000})|metadata\s+(\([^\n]{0,2000}\)))\n")
_TYPES = re.compile(r"subtree of (?:different )?type\s+<class '([\w.<>]{1,200})'>")
_LENGTHS = re.compile(
    r"of length (\d{1,6}), but the full pytree has a subtree of the same type but of length (\d{1,6})\."
)


def _keys(line: str) -> list[str]:
    """The keys of `b w`, of `['b'] ['w']` (0.12) and of `('b', 'w')`."""
    return re.findall(r"'([^'\n]{0,200})'", line) if line.startswith(("(", "['")) else line.split()


def _two(
    keys: list[list[str]] | None = None, lengths: tuple[int, int] | None = None, types: list[str] | None = None
) -> Facts | None:
    """How two trees differ at one place: in keys, in lengths, or in types; None where that is not known."""
    if keys and len(keys) == 2 and all(keys):
        own, wanted = keys
        extra, missing = [key for key in own if key not in wanted], [key for key in wanted if key not in own]
        alone = {key: listed(held, code) for key, held in (("extra", extra), ("missing", missing)) if held}
        return {"own_keys": listed(own, code), "keys": listed(wanted, code), **alone}
    if lengths:
        own_entries, entries = (counted(length, "entry", "entries") for length in lengths)
        return {"own_entries": own_entries, "own_count": lengths[0], "count": lengths[1], "entries": entries}
    if types and len(types) > 1:
        own, wanted = map(type_name, types[:2])
        return {"own_type": own, "type": wanted, **({} if wanted == "one array" else {"as_type": wanted})}
    return None


def _said(match: re.Match[str]) -> Facts | None:
    """What a message says after the first place where two trees differ."""
    text = match.string[match.end() :].partition("pytree structure error: ")[0]
    lengths = _LENGTHS.search(text)
    counts = (int(lengths[1]), int(lengths[2])) if lengths else None
    return _two([_keys(one or other) for one, other in _KEYS.findall(text)], counts, _TYPES.findall(text))


# ---------------------------------------------------------------- trees that are printed

_OBJECT = re.compile(rf"{SHARDING}|{SPEC}|\*(?=[,)\]}}]|$)")


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
        kinds = [
            type(one).__name__ if isinstance(one, (dict, list, tuple)) else "PytreeLeaf" for one in (given, wanted)
        ]
        return path, _two(types=kinds)
    own, other = (one if isinstance(one, dict) else dict(enumerate(one)) for one in (given, wanted))  # type: ignore[arg-type]
    if own.keys() != other.keys():
        keys = [sorted(map(str, one)) for one in (own, other)]
        return path, _two(keys if isinstance(given, dict) else None, (len(own), len(other)))
    deeper = (_first_difference(part, other[key], f"{path}[{key!r}]") for key, part in own.items())
    return next((one for one in deeper if one is not None), None)


# ---------------------------------------------------------------- prefixes

_ONE = {"in_specs": "one spec", "out_specs": "one spec", "in_axes": "one number", "out_axes": "one number"}
_PREFIX_WORDS = (
    "{given} has the keys {own_keys}, but {what} {has} {keys}",
    "{given} has {own_entries}, but {counted}",
    "{given} is {own_type}, but {what} {is} {type}",
)
_STEPS = (
    "take {extra} out of {given} and add {missing} to it",
    "take {extra} out of {given}",
    "add {missing} to {given}",
)


def _prefix(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """What is no prefix of what, and at which place."""
    groups = match.groupdict()
    which, path = match["which"] or match["which2"], groups.get("path") or ""
    if groups.get("tree"):
        path, found = _first_difference(_tree(match["tree"]), _tree(match["full"])) or ("", None)
    else:
        found = _two(lengths=(int(match["own"]), int(match["wanted"]))) if groups.get("own") else _said(match)
    if found is None:
        return None
    what = "the result" if which.startswith("out_") else "the argument" if path else "the arguments"
    is_placed = which in ("shardings", "device")
    is_several = what == "the arguments" and not is_placed
    count = found.get("count")
    facts = {
        "given": say("the tree of shardings") if is_placed else code(which + path), "what": "what is placed" if is_placed else what,
        "has": "have" if is_several else "has", "is": "are" if is_several else "is",
        # One number for a whole tree would also map what has no such dimension, or was not to be mapped.
        **({} if which.endswith("axes") else {"one": _ONE.get(which, "one sharding")}), **found,
        "counted": f"the call has {'1 argument' if count == 1 else f'{count} arguments'}" if is_several else f"{what} has {count}",
    }  # fmt: skip
    steps = first_filled(_STEPS, facts)
    return {**facts, "words": first_filled(_PREFIX_WORDS, facts), **({"steps": steps} if steps else {})}


def _no_tuple(match: re.Match[str], scene: ErrorScene) -> Facts:
    return {"one": _ONE.get(match["code_which"], "one sharding"), "type": match["type"].rpartition(".")[2]}


_ALONE = Way("give {one} in place of the tree", "it then goes for all of {what}")
_ARGUMENTS = r"specification must be a tree prefix of the positional arguments tuple\. .{0,600} is "

# ---------------------------------------------------------------- trees that are mapped

_MAPPED_WORDS = (
    "only the first has {extra}; only the second has {missing}", "only the first has {extra}", "only the second has {missing}",
    "the first has {own_count} entries, the second {count}", "the first has {own_type}, the second {type}",
)  # fmt: skip


def _mapped(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    found = _said(match)
    place = say(" at {}", code(match["where"])) if match["where"] else ""
    return {"place": place, "what": first_filled(_MAPPED_WORDS, found)} if found else None


_SAME = Way("give trees with the same keys and lengths", "the function is called once for each leaf of the first")

TREE_ROWS = (
    _row("prefix", rf"(?:pjit )?(?P<which>\w{{1,40}})(?P<which2>) {_ARGUMENTS}the wrong length: got a tuple or list of length (?P<own>\d{{1,6}}) for an args tuple of length (?P<wanted>\d{{1,6}})\.",
         "{words}", Way("give {given} {entries}", "one for each"), _ALONE, facts=_prefix),
    _row("prefix", rf"(?:pjit )?(?P<code_which>\w{{1,40}}) {_ARGUMENTS}not a tuple: got <class '(?P<type>[\w.]{{1,100}})'> instead",
         "{code_which} is a {type}, which is neither {one} nor a tuple with an entry for each argument",
         Way("write a tuple with an entry for each argument", "the {type} is then one of them"), Way("give {one} in place of the tree", "it then goes for all of the arguments"), facts=_no_tuple),
    # Up to 0.9.1 `device_put`, `vmap` and `pmap` print both trees.
    _row("prefix", r"(?:(?:device_put|vmap|pmap) (?P<which>device|in_axes|out_axes) specification must be a tree prefix of the corresponding value, got specification (?P<tree>.+) for value tree PyTreeDef\((?P<full>.+)\)\.$"
         r"|.*?pytree structure error: (?:different types|different lengths of \w{1,40}|different numbers of pytree children|different pytree metadata) at key path\s+"
         r"(?:(?:pjit|shard_map|with_sharding_constraint|device_put|vmap) )?(?P<which2>in_shardings|out_shardings|in_specs|out_specs|shardings|device|in_axes|out_axes)(?P<path>\S{0,300})\n)",
         "{words}",
         Way("{steps}", "the keys are then the same"), Way("give {given} {entries}", "one for each"), Way("write it as {as_type}", "it then is the same tree"), _ALONE, facts=_prefix),
    _row("tree", r".{0,400}?pytree structure error: [^\n]{1,100} at key path\s+tree_map tree(?P<where>\S*)\n",
         "the trees of {expression} differ{place}: {what}",
         Way("give trees with the same keys, or pass the second as one leaf", "the function is called once for each leaf of the first"), facts=_mapped),
    _row("tree", r".{0,400}?Dict key mismatch; expected keys: (?P<one>\[[^\n]{0,300}?\]); present keys: (?P<other>\[[^\n]{0,300}?\])",
         "the trees of {expression} differ: the first has the keys {one}, another {other}", _SAME),
    _row("tree", r"(?:Tuple arity mismatch|List arity mismatch|Expected \w+, got)[^\n]{0,20}(?P<text>[^\n]{1,300})",
         "the trees of {expression} differ: {text}", _SAME),
)  # fmt: skip
"""Each tried in turn."""
