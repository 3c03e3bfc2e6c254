"""The messages with which JAX refuses what the functions of loops and branches return, as facts: trees, pairs, truths.

Not its job: types of leaves (`parse.messages.typed_errors`), trees of shardings (`parse.messages.call_errors`).

*Source*: the texts in `jax/_src` of 0.8.2, 0.10.2 and 0.12.0: `lax/control_flow/loops.py`,
`lax/control_flow/conditionals.py`, `tree_util.py`.
"""

from __future__ import annotations

import ast
import re

from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, TreeDifference, TreeNode
from pjit_inspect.parse.messages.sharding_phrases import parse_array_type, parse_integers

__all__ = ["STRUCTURE_READERS"]

_MOST = 8

# ---------------------------------------------------------------- one place of a tree

_THING = r"(?:<class '[^'\n]{1,300}'>|pytree leaf|\w{1,100})(?: of length \d{1,9}| with [^\n]{1,2000}?)?"
_CLASS = re.compile(r"(?:<class '([^'\n]{1,300})'>|(pytree leaf)|(\w{1,100}) of length (\d{1,9}))")
_CHILDREN = re.compile(r" with (\d{1,9}) child(?:ren)?$")
_METADATA = re.compile(r" with pytree metadata ([\[(][^\n]{0,2000}[\])])$")
_LEAVES = ("ShapedArray", "ArrayImpl", "ShapeDtypeStruct", "Leaf")
# Keys are their `repr`, with a blank between them.
_UNSHARED = re.compile(r", with the symmetric difference of key sets: \{([^\n]{1,2000}?)\}(?=[.;]|$)")
_KEY = re.compile(r"'((?:[^'\\]|\\.){0,200})'|(-?\d{1,18})(?=\s|$)")


def _node(text: str) -> TreeNode:
    found = _CLASS.match(text)
    if found is None:
        raise ValueError("this is no place of a tree")
    if found[3]:
        return TreeNode(type=found[3], count=int(found[4]))
    name = (found[1] or "Leaf").rpartition(".")[2]
    type_ = "array" if name.endswith(_LEAVES) or name.endswith("Tracer") else "None" if name == "NoneType" else name
    rest = text[found.end() :]
    if children := _CHILDREN.match(rest):
        return TreeNode(type=type_, count=int(children[1]))
    # Of any other type they are what is static in it.
    metadata = _METADATA.match(rest) if type_ in ("dict", "OrderedDict") else None
    keys = _literal_keys(metadata[1]) if metadata else ()
    return TreeNode(type=type_, count=len(keys) or None, keys=keys)


def _literal_keys(text: str) -> tuple[str, ...]:
    try:
        held = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    return tuple(map(str, held)) if all(isinstance(key, (str, int)) for key in held) else ()


def _unshared(text: str) -> tuple[str, ...]:
    """The keys; () where one of them is neither a text nor a number."""
    found = _UNSHARED.search(text)
    keys = [one[1] if one[1] is not None else one[2] for one in _KEY.finditer(found[1])] if found else []
    return tuple(sorted(keys)) if found and not _KEY.sub("", found[1]).strip() else ()


# ---------------------------------------------------------------- trees

_LOOP = re.compile(
    r"^(\w{1,40}) (?:body )?(?:body function|function) carry input and carry output must have the same pytree "
    r"structure, but they differ:\n\n"
)
_CARRY = re.compile(
    rf"[Tt]he input carry (?:(?:component |at path )?(.{{1,300}}?) )?is a ({_THING}) but the corresponding component "
    rf"of the carry output is a ({_THING}), so ([^\n]{{1,2400}}?)[.;]?$",
    re.M,
)
_BRANCHES = re.compile(
    r"^(cond|switch) branch outputs must have the same pytree structure, but they differ:\n\n"
    r"(true_fun|branch ?\d{1,4}) is ([^\n]{1,600})\n(false_fun|branch ?\d{1,4}) is ([^\n]{1,600})\n\n"
)
_OUTPUTS = re.compile(
    r"(?:true_fun|branch ?\d{1,4}) output(?: at path (.{1,300}?))? is a "
    rf"({_THING}) but (?:false_fun|branch ?\d{{1,4}}) output(?: at path .{{1,300}}?)? is a ({_THING}), "
    r"so ([^\n]{1,2400}?)[.;]?$",
    re.M,
)
_WHERE = re.compile(r"^(.{1,300}?)(?: at [^\n]{1,1000}?:\d{1,9})?$")


def _loop(text: str) -> ErrorFacts | None:
    start = _LOOP.match(text)
    found = list(_CARRY.finditer(text, start.end()))[:_MOST] if start else []
    if start is None or not found:
        return None
    return ErrorFacts(
        kind="loop structure", operation=start[1].removesuffix("_loop"), differences=tuple(map(_difference, found))
    )


def _branches(text: str) -> ErrorFacts | None:
    start = _BRANCHES.match(text)
    found = list(_OUTPUTS.finditer(text, start.end()))[:_MOST] if start else []
    if start is None or not found:
        return None
    names = [(_WHERE.match(where) or [where, where])[1] for where in (start[3], start[5])]
    roles = [start[2].replace(" ", ""), start[4].replace(" ", "")]
    return ErrorFacts(
        kind="branch structure", operation=start[1], names=(*roles, *names), differences=tuple(map(_difference, found))
    )


def _difference(found: re.Match[str]) -> TreeDifference:
    return TreeDifference(
        path=found[1] or "", first=_node(found[2]), second=_node(found[3]), unshared=_unshared(f", {found[4]}")
    )


# ---------------------------------------------------------------- pairs, truths and lengths

_PAIR = re.compile(r"^scan body output must be a pair, got ([^\n]{1,4000})\.$")
_TRUTH = re.compile(
    r"^cond_fun must return a boolean scalar, but got output type\(s\) "
    r"\[(?:ShapedArray\()?(\w{1,24}\[[\d,]{0,200}\])[^\[\]\n]{0,200}\]\.$"
)
_PREDICATE = re.compile(r"^Pred must be a scalar, got .{1,4000} of shape (\([\d, ]{0,200}\))\.$", re.S)
_LENGTHS = re.compile(r"^scan got values with different leading axis sizes: (\d{1,18}(?:, \d{1,18}){1,200})\.$")
_LENGTH = re.compile(
    r"^scan got `length` argument of `?(\d{1,18})`? which disagrees with leading axis sizes \[(\d{1,18})"
    r"(?:, \d{1,18}){0,200}\]\.$"
)


def _values(text: str) -> ErrorFacts | None:
    if _PAIR.match(text):
        return ErrorFacts(kind="loop structure", operation="scan", reason="pair")
    if found := _TRUTH.match(text):
        array = parse_array_type(found[1])
        return ErrorFacts(kind="loop structure", operation="while", arrays=(array,), reason="truth")
    if found := _PREDICATE.match(text):
        array = ErrorArray(name="", shape=parse_integers(found[1]))
        return ErrorFacts(kind="branch structure", operation="cond", arrays=(array,), reason="predicate")
    if found := _LENGTHS.match(text):
        lengths = tuple(int(part) for part in found[1].split(", "))
        return ErrorFacts(kind="loop structure", operation="scan", new_shape=lengths, reason="lengths")
    if found := _LENGTH.match(text):
        lengths = (int(found[1]), int(found[2]))
        return ErrorFacts(kind="loop structure", operation="scan", new_shape=lengths, reason="length")
    return None


STRUCTURE_READERS = (_loop, _branches, _values)
