"""The messages with which JAX refuses what functions do that it traces, as facts.

What the functions of loops and branches return (trees, pairs, truths), and values that are not known while JAX traces a
function or that outlive it.

Not its job: types of leaves (`parse.messages.typed_errors`), trees of shardings, and effects that must
keep their order on several devices (`parse.messages.call_errors`), but for the text of XLA's.

*Source*: the texts in `jax/_src` of 0.8.1, 0.8.2, 0.10.2 and 0.12.0: `lax/control_flow/loops.py`,
`lax/control_flow/conditionals.py`, `tree_util.py`, `callback.py`, `ffi.py`, `ad_checkpoint.py`, `errors.py`, `core.py`,
`numpy/indexing.py`; XLA's `spmd_partitioner.cc` of 0.8 and 0.9; and Python's own of objects that cannot be hashed or
formatted.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, TreeDifference, TreeNode
from pjit_inspect.parse.messages.sharding_phrases import parse_array_type, parse_integers

_MOST = 8

# ---------------------------------------------------------------- one place of a tree

_THING = r"(?:<class '[^'\n]{1,300}'>|pytree leaf|\w{1,100})(?: of length \d{1,9}| with [^\n]{1,2000}?)?"
_CLASS = re.compile(r"(?:<class '([^'\n]{1,300})'>|(pytree leaf)|(\w{1,100}) of length (\d{1,9}))")
_CHILDREN = re.compile(r" with (\d{1,9}) child(?:ren)?$")
_METADATA = re.compile(r" with pytree metadata ([\[(][^\n]{0,2000}[\])])$")
_LEAVES = ("ShapedArray", "ArrayImpl", "ShapeDtypeStruct", "Leaf")
_NUMBERS = ("bool", "int", "float", "complex")
"""Leaves, too: 0.8.1 names what a loop starts with as Python has it."""
# Keys are their `repr`, with a blank between them.
_UNSHARED = re.compile(r", with the symmetric difference of key sets: \{([^\n]{1,2000}?)\}(?=[.;]|$)")
_KEY = re.compile(r"'((?:[^'\\]|\\.){0,200})'|(-?\d{1,18})(?=\s|$)")


def _node(text: str) -> TreeNode:
    match = _CLASS.match(text)
    if match is None:
        raise ValueError("this is no place of a tree")
    if match[3]:
        return TreeNode(type=match[3], count=int(match[4]))
    name = (match[1] or "Leaf").rpartition(".")[2]
    is_array = name in _NUMBERS or name.endswith((*_LEAVES, "Tracer"))
    type_ = "array" if is_array else "None" if name == "NoneType" else name
    rest = text[match.end() :]
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
    match = _UNSHARED.search(text)
    keys = [one[1] if one[1] is not None else one[2] for one in _KEY.finditer(match[1])] if match else []
    return tuple(sorted(keys)) if match and not _KEY.sub("", match[1]).strip() else ()


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
    matches = list(_CARRY.finditer(text, start.end()))[:_MOST] if start else []
    if start is None or not matches:
        return None
    return ErrorFacts(
        kind="loop structure", operation=start[1].removesuffix("_loop"), differences=tuple(map(_difference, matches))
    )


def _branches(text: str) -> ErrorFacts | None:
    start = _BRANCHES.match(text)
    matches = list(_OUTPUTS.finditer(text, start.end()))[:_MOST] if start else []
    if start is None or not matches:
        return None
    names = [(_WHERE.match(where) or [where, where])[1] for where in (start[3], start[5])]
    roles = [start[2].replace(" ", ""), start[4].replace(" ", "")]
    return ErrorFacts(
        kind="branch structure",
        operation=start[1],
        names=(*roles, *names),
        differences=tuple(map(_difference, matches)),
    )


def _difference(match: re.Match[str]) -> TreeDifference:
    return TreeDifference(
        path=match[1] or "", first=_node(match[2]), second=_node(match[3]), unshared=_unshared(f", {match[4]}")
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
    if match := _TRUTH.match(text):
        array = parse_array_type(match[1])
        return ErrorFacts(kind="loop structure", operation="while", arrays=(array,), reason="truth")
    if match := _PREDICATE.match(text):
        array = ErrorArray(name="", shape=parse_integers(match[1]))
        return ErrorFacts(kind="branch structure", operation="cond", arrays=(array,), reason="predicate")
    if match := _LENGTHS.match(text):
        lengths = tuple(int(part) for part in match[1].split(", "))
        return ErrorFacts(kind="loop structure", operation="scan", new_shape=lengths, reason="lengths")
    if match := _LENGTH.match(text):
        lengths = (int(match[1]), int(match[2]))
        return ErrorFacts(kind="loop structure", operation="scan", new_shape=lengths, reason="length")
    return None


# ---------------------------------------------------------------- callbacks that must keep their order

# What XLA's partitioner of 0.8 and 0.9 says of an `io_callback` that must keep its order and has a result.
_SIDE_EFFECT = "side-effect HLO cannot have a replicated sharding: %"
_ORDERED_CALL = re.compile(
    r" = \(token\[\],[^\n]{0,2000}? custom-call\([^\n]{0,2000}?custom_call_target=\"xla_(?:ffi_)?python_"
)


def _ordered(text: str) -> ErrorFacts | None:
    if _SIDE_EFFECT in text and _ORDERED_CALL.search(text):
        return ErrorFacts(kind="ordered effects", names=("OrderedIOEffect",), reason="partitioner")
    return None


# ---------------------------------------------------------------- values while JAX traces

_TYPE = r"(~?\w{1,24}\[[^\]\n]{0,400}\](?:\{[^}\n]{0,200}\})?)"
_FORMS = (
    ("bool", re.compile(rf"^Attempted boolean conversion of traced array with shape {_TYPE}")),
    ("array", re.compile(
        rf"^The numpy\.ndarray conversion method __array__\(\) was called on traced array with shape {_TYPE}")),
    ("integer", re.compile(rf"^The __index__\(\) method was called on traced array with shape {_TYPE}")),
    ("concrete", re.compile(
        rf"^Abstract tracer value encountered where concrete value is expected: traced array with shape {_TYPE}")),
    ("mask", re.compile(rf"^Array boolean indices must be concrete; got (?:ShapedArray\()?{_TYPE}")),
    ("mask", re.compile(rf"^Array boolean indices must be concrete: ShapedArray\({_TYPE}\)")),
)  # fmt: skip
_SHAPES = re.compile(r"^Shapes must be 1D sequences of concrete values of integer type, got (?=.{0,400}Trace)")
# 0.12.0.1 has the longer words; 0.8.1 has "Found".
_SLICE = re.compile(
    r"^(?:Slice entries must be static integers|Array slice indices must have static start/stop/step to be used with "
    r"NumPy indexing syntax)\. (?:Got .{0,400}Trace.{0,400} at position \d|Found slice\(.{0,400}Trace)"
)
_HASH = re.compile(r"^unhashable type: '(?:\w{0,40}Tracer)'$")
_FORMAT = re.compile(r"^unsupported format string passed to \w{0,40}Tracer\.__format__$")

_TRACING = re.compile(
    r"The error occurred while tracing the function (.{1,300}?)(?: at ([^\n]{1,1000}?:\d{1,9}))? for (\w{1,40})\."
)
_BECAME = "This value became a tracer due to"
_DEPENDS = re.compile(r"because it depends on the values? of the arguments? ([^\n]{1,2000}?)\.(?:\s|$)")
_CONTEXT = (
    ("float", re.compile(r"The problem arose with the `(?:float|complex)` function")),
    ("int", re.compile(r"The problem arose with the `int` function")),
    ("item", re.compile(r"This occurred in the item\(\) method")),
    ("tolist", re.compile(r"This occurred in the tolist\(\) method")),
    ("size", re.compile(
        r"[Tt]he size argument of|value for the size argument|total_repeat_length|number of repeats must be")),
    ("axis", re.compile(r"axis argument must be known statically")),
    ("shape", re.compile(r"It arose in the jnp\.arange argument|'num' argument of jnp\.linspace|jnp\.\w+ argument")),
)  # fmt: skip

_LEAK = re.compile(
    r"^Encountered an unexpected tracer\. .{0,300}?(?:intermediate value with type|intermediate value with shape) "
    rf"{_TYPE} (?:wrapped in a \w{{1,60}} )?to escape the scope of the transformation",
    re.S,
)
_LEAKED_FROM = re.compile(
    r"The function being traced when the value leaked was (.{1,300}?) at ([^\n]{1,1000}?:\d{1,9}) "
    r"traced for (\w{1,40})\."
)
_MADE_AT = re.compile(r"The leaked intermediate value was created on line (\S[^\n]{0,1000}?:\d{1,9}):\d{1,9} ")


def _traced(text: str) -> ErrorFacts | None:
    for reason, pattern in _FORMS:
        if match := pattern.match(text):
            return _tracing(text, reason, _array(match[1]))
    if _SHAPES.match(text):
        return _tracing(text, "shape", None)
    for reason, pattern in (("slice", _SLICE), ("hash", _HASH), ("format", _FORMAT)):
        if pattern.match(text):
            return ErrorFacts(kind="traced value", reason=reason)
    return None


def _array(text: str) -> ErrorArray:
    return replace(parse_array_type(text.removeprefix("~")), name="")


def _tracing(text: str, reason: str, array: ErrorArray | None) -> ErrorFacts:
    if reason == "concrete":
        reason = next((name for name, pattern in _CONTEXT if pattern.search(text)), "concrete")
    where, depends = _TRACING.search(text), _DEPENDS.search(text)
    # Only of what depends on nothing that JAX names may it be said that it outlived the function.
    place = (where[2] or "") if where and not depends and _BECAME not in text else ""
    names = re.split(r", and |, | and ", depends[1]) if depends else []
    return ErrorFacts(
        kind="traced value", reason=reason, arrays=(array,) if array else (), operation=where[3] if where else "",
        function=where[1] if where else "", place=place,
        names=tuple(name for name in names if name),
    )  # fmt: skip


def _leaked(text: str) -> ErrorFacts | None:
    match = _LEAK.match(text)
    if match is None:
        return None
    where, made = _LEAKED_FROM.search(text), _MADE_AT.search(text)
    return ErrorFacts(
        kind="leaked value", arrays=(_array(match[1]),), operation=where[3] if where else "",
        function=where[1] if where else "", place=made[1] if made else "",
    )  # fmt: skip


FUNCTION_READERS = (_loop, _branches, _values, _ordered, _traced, _leaked)
