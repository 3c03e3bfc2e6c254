"""The messages with which JAX refuses a call, or how a function was made ready for one, as facts.

Compiled programs that get other arguments, specs without a mesh, shardings whose tree is not that of the arguments,
`pmap`'s leading axis, ordered effects, arrays whose data is gone, static arguments. Not its job: the shardings
themselves (`parse.messages.sharding_errors`), values not known while tracing (`parse.messages.function_errors`).

*Source*: the texts in `jax/_src` of 0.8.1, 0.8.2, 0.10.2 and 0.12.0: `interpreters/pxla.py`, `stages.py`, `pjit.py`,
`api.py`, `api_util.py`, `sharding_impls.py`, `shard_map.py`, `tree_util.py`, `array.py`, and PJRT's.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts
from pjit_inspect.parse.messages.sharding_phrases import (
    parse_array_type,
    parse_integers,
    parse_named_sharding,
    parse_spec,
)
from pjit_inspect.parse.wire.text_scan import find_close, split_commas

_MOST = 8

# ---------------------------------------------------------------- compiled ahead of time

_COMPILED = re.compile(
    r"^Computation was compiled for input shardings that disagree with the shardings of arguments passed to it\. "
)
_ARGUMENT = re.compile(
    r"Argument (.{1,400}?) with shape (\w{1,24}\[[\d,]{0,200}\]):\n\s*Passed sharding: ([^\n]{1,2000})\n"
    r"\s*Required sharding: ([^\n]{1,2000})"
)
_COMPILED_TYPES = re.compile(r"^Argument types differ from the types for which this computation was compiled\. ")
_ARGUMENT_TYPE = re.compile(r"Argument '(.{1,400}?)' compiled with (\S{1,400}) and called with (\S{1,400})")
_ONE_DEVICE = re.compile(r"^SingleDeviceSharding\(device=\w{1,40}\(id=(\d{1,9})\b")


def _compiled(text: str) -> ErrorFacts | None:
    if not _COMPILED.match(text):
        return None
    matches = list(_ARGUMENT.finditer(text))[:_MOST]
    passed = [_placed(one[1], one[2], one[3]) for one in matches]
    wanted = [_placed(one[1], one[2], one[4]) for one in matches]
    if not matches or any(side is None for side in (*passed, *wanted)):
        return None
    return ErrorFacts(
        kind="compiled", arrays=tuple(side for side in passed if side), wanted=tuple(side for side in wanted if side)
    )


def _placed(name: str, type_: str, sharding: str) -> ErrorArray | None:
    array = replace(parse_array_type(type_), name=name, spec=None, is_named=True)
    if match := _ONE_DEVICE.match(sharding):
        return replace(array, device_ids=(int(match[1]),))
    named = parse_named_sharding(sharding)
    rank = len(array.shape or ())
    if named is None or named.spec is None or len(named.spec) > rank:
        return None
    return replace(array, mesh=named.mesh, spec=(*named.spec, *(None,) * (rank - len(named.spec))))


def _compiled_types(text: str) -> ErrorFacts | None:
    if not _COMPILED_TYPES.match(text):
        return None
    matches = list(_ARGUMENT_TYPE.finditer(text))[:_MOST]
    if not matches:
        return None
    wanted = tuple(replace(parse_array_type(one[2]), name=one[1], is_named=True) for one in matches)
    passed = tuple(replace(parse_array_type(one[3]), name=one[1], is_named=True) for one in matches)
    return ErrorFacts(kind="compiled", arrays=passed, wanted=wanted, reason="types")


# ---------------------------------------------------------------- no mesh

_NO_MESH = (
    (re.compile(
        r"^(\w{1,60}) requires a non-empty mesh in context if you are passing `PartitionSpec`s to (\w{1,40})\."), ""),
    (re.compile(r"^Please set a mesh via `jax\.set_mesh` if a PartitionSpec is passed to (device_put)\b()"), ""),
    (re.compile(
        r"^Using PartitionSpec when you are not under a mesh context is not allowed\. .{1,300} Got ()(.{1,400})$"),
     "explicit"),
    (re.compile(r"^The context mesh cannot be empty\. Use `jax\.set_mesh\(mesh\)` to enter into a mesh context()()$"),
     "shard_map"),
)  # fmt: skip


def _no_mesh(text: str) -> ErrorFacts | None:
    for pattern, reason in _NO_MESH:
        if match := pattern.match(text):
            spec = parse_spec(match[2]) if reason == "explicit" else None
            arrays = (ErrorArray(name="", spec=spec),) if spec is not None else ()
            operation = match[2] if match[2].endswith("_shardings") else match[1] or reason
            return ErrorFacts(kind="no mesh", operation=operation, arrays=arrays, reason=reason)
    return None


# ---------------------------------------------------------------- trees that are no prefix

_PREFIX = re.compile(
    r"pytree structure error: (different types|different lengths of \w{1,40}|different numbers of pytree children"
    r"|different pytree metadata) at key path\s+(?:(?:pjit|shard_map|with_sharding_constraint|device_put|vmap) )?"
    r"(in_shardings|out_shardings|in_specs|out_specs|shardings|device|in_axes)(\S{0,300})\n"
)
_KEYS = re.compile(r"with \d{1,6} child keys\s+([^\n]{0,2000})\n")
_METADATA = re.compile(r"with metadata\s+(\([^\n]{0,2000}\))\n")
_TYPES = re.compile(r"subtree of (?:different )?type\s+<class '([\w.<>]{1,200})'>")
_LENGTHS = re.compile(
    r"of length (\d{1,6}), but the full pytree has a subtree of the same type but of length (\d{1,6})\."
)
_COUNT = re.compile(
    r"^(?:pjit )?(\w{1,40}) specification must be a tree prefix of the positional arguments tuple\. .{0,600} is the "
    r"wrong length: got a tuple or list of length (\d{1,6}) for an args tuple of length (\d{1,6})\.",
    re.S,
)
_NO_TUPLE = re.compile(
    r"^(?:pjit )?(\w{1,40}) specification must be a tree prefix of the positional arguments tuple\. .{0,600} is not a "
    r"tuple: got <class '([\w.]{1,100})'> instead",
    re.S,
)

# Up to 0.9.1 `device_put`, `vmap` and `pmap` print both trees.
_TREES = re.compile(
    r"^(?:device_put|vmap|pmap) (device|in_axes|out_axes) specification must be a tree prefix of the corresponding "
    r"value, got specification (.+) for value tree PyTreeDef\((.+)\)\.$",
    re.S,
)
_ENTRY = re.compile(r"('(?:[^'\\]|\\.){0,200}'|-?\d{1,18}): (.+)", re.S)
_TREE_TYPES = {"{": "dict", "[": "list", "(": "tuple"}
_DEEPEST = 16


def _prefix(text: str) -> ErrorFacts | None:
    if match := _COUNT.match(text):
        return ErrorFacts(kind="prefix", operation=match[1], new_shape=(int(match[2]), int(match[3])), reason="count")
    if match := _NO_TUPLE.match(text):
        return ErrorFacts(kind="prefix", operation=match[1], names=(match[2],), reason="no tuple")
    if match := _TREES.match(text):
        return _first_difference(match[2], match[3], ErrorFacts(kind="prefix", operation=match[1]))
    match = _PREFIX.search(text)
    if match is None:
        return None
    facts = ErrorFacts(kind="prefix", operation=match[2], function=match[3])
    rest = text[match.end() :]
    if len(keys := _KEYS.findall(rest)) == 2 or len(keys := _METADATA.findall(rest)) == 2:
        names = tuple(",".join(_keys(line)) for line in keys)
        return replace(facts, names=names, reason="keys") if all(names) else None
    if lengths := _LENGTHS.search(rest):
        return replace(facts, new_shape=(int(lengths[1]), int(lengths[2])), reason="length")
    types = _TYPES.findall(rest)
    return replace(facts, names=tuple(types[:2]), reason="types") if len(types) >= 2 else None


def _first_difference(given: str, wanted: str, facts: ErrorFacts, depth: int = 0) -> ErrorFacts | None:
    """The first place where a tree is no prefix of another; None where that is not seen: an object, too deep."""
    own, other = _TREE_TYPES.get(given[:1]), "PytreeLeaf" if wanted == "*" else _TREE_TYPES.get(wanted[:1])
    if own is None or other is None or depth > _DEEPEST:
        return None
    entries, others = _children(given), _children(wanted) if wanted != "*" else {}
    if own != other:
        return replace(facts, names=(own, other), reason="types")
    if own == "dict" and entries.keys() != others.keys():
        keys = (",".join(sorted(key.strip("'") for key in side)) for side in (entries, others))
        return replace(facts, names=tuple(keys), reason="keys")
    if len(entries) != len(others):
        return replace(facts, new_shape=(len(entries), len(others)), reason="length")
    deeper = (
        _first_difference(part, others[key], replace(facts, function=f"{facts.function}[{key}]"), depth + 1)
        for key, part in entries.items()
    )
    return next((one for one in deeper if one is not None), None)


def _children(text: str) -> dict[str, str]:
    """The parts of a dict, list or tuple as it prints, by the text of their keys or their numbers."""
    if find_close(text, 0) != len(text):
        raise ValueError("this is no dict, list or tuple")
    parts = [part for part in split_commas(text, 1, len(text) - 1) if part]
    if text[0] != "{":
        return {str(place): part for place, part in enumerate(parts)}
    pairs = [_ENTRY.fullmatch(part) for part in parts]
    if any(pair is None for pair in pairs):
        raise ValueError("one of the keys is neither a text nor a number")
    return {pair[1]: pair[2] for pair in pairs if pair}


def _keys(line: str) -> list[str]:
    """The keys of `b w`, of `['b'] ['w']` (0.12) and of `('b', 'w')`; none of what is neither."""
    if line.startswith("("):
        return [str(key) for key in parse_spec(line) or ()]
    if line.startswith("['"):
        return re.findall(r"\['([^'\n]{0,200})'\]", line)
    return line.split()


# ---------------------------------------------------------------- pmap

# 0.9 and later: the errors of the jit and the `shard_map` that `pmap` now is.
_SQUEEZED = re.compile(
    r"^cannot select an axis to squeeze out which has size not equal to one, got shape=(\([\d, ]{0,200}\)) and "
    r"dimensions=\((\d{1,4}),\)$"
)
_AXIS_SIZE = re.compile(r"^Specified axis_size (\d{1,9}) doesn't match received axis_size (\d{1,9})\.$")
# 0.8
_REPLICAS = re.compile(
    r"^compiling computation (?:`.{0,300}?` )?that requires (\d{1,9}) (?:logical devices|replicas), but only "
    r"(\d{1,9}) XLA devices are available"
)
_SIZES = re.compile(r"^pmap got inconsistent sizes for array axes to be mapped:\n")


def _pmap(text: str) -> ErrorFacts | None:
    if match := _SQUEEZED.match(text):
        shape, dimension = parse_integers(match[1]), int(match[2])
        if dimension >= len(shape):
            return None
        return ErrorFacts(kind="pmap", new_shape=shape, dimension=dimension, reason="squeezed")
    if match := _AXIS_SIZE.match(text):
        return ErrorFacts(kind="pmap", new_shape=(int(match[1]), int(match[2])), reason="axis_size")
    if match := _REPLICAS.match(text):
        return ErrorFacts(kind="pmap", count=int(match[2]), new_shape=(int(match[1]),), reason="replicas")
    if _SIZES.match(text):
        return ErrorFacts(kind="pmap", reason="sizes")
    return None


# ---------------------------------------------------------------- effects, donation, static arguments

_ORDERED = re.compile(
    r"^The following ordered effects are not supported for more than 1 device: \[(.{1,2000})\]$", re.S
)
_DELETED = re.compile(r"^Array has been deleted with shape=(\w{1,24}\[[\d,]{0,200}\])\.?$")
# 0.8 and 0.9 on one device; 0.10. Newer ones say the former.
_BUFFER_GONE = re.compile(
    r"Invalid buffer passed(?: to Execute\(\) as argument \d{1,9} to replica .{0,200}|: buffer has been )"
    r"deleted or donated"
)
_DONATED_TWICE = "Attempt to donate the same buffer twice in Execute()"
_DONATED_AND_USED = "Attempt to use a buffer that was previously donated in the same call to Execute()"
# Elsewhere in JAX: "unexpected cache-misses. Static argument (index 1) of type <class 'list'> for function f is ..".
_STATIC = re.compile(
    r"^Non-hashable static arguments are not supported\. An error occurred (?:during a call to '(.{1,200}?)' )?while "
    r"trying to hash an object of type <class '([^'\n]{1,300})'>, "
)
_STATIC_INDEX = re.compile(
    r"^Non-hashable static arguments are not supported, as this can lead to unexpected cache-misses\. Static argument "
    r"\(index (\d{1,4})\) of type <class '([^'\n]{1,300})'> for function (\S{1,200}) is non-hashable\."
)


# An object that has a hash of its own, but not of all that it holds.
_HELD = re.compile(r"^TypeError: unhashable type: '([^'\n]{1,200})'$", re.M)
_NOT_AN_ARRAY = re.compile(
    r"^Error interpreting argument to .{1,500}? as an abstract array\. The problematic value is of type <class "
    r"'([^'\n]{1,300})'> and was passed to the function at path (\S{1,300}?)\.\n",
    re.S,
)


def _ordered(text: str) -> ErrorFacts | None:
    match = _ORDERED.match(text)
    if match is None:
        return None
    names = re.findall(r"(?:<[\w.]{0,200}?)?(\w{1,60}Effect)\b", match[1])
    return ErrorFacts(kind="ordered effects", names=tuple(dict.fromkeys(names)))


def _deleted(text: str) -> ErrorFacts | None:
    if match := _DELETED.match(text):
        return ErrorFacts(kind="deleted", arrays=(replace(parse_array_type(match[1]), name="", spec=None),))
    if _DONATED_TWICE in text:
        return ErrorFacts(kind="deleted", reason="twice")
    if _DONATED_AND_USED in text:
        return ErrorFacts(kind="deleted", reason="used")
    return ErrorFacts(kind="deleted", reason="buffer") if _BUFFER_GONE.search(text) else None


def _not_an_array(text: str) -> ErrorFacts | None:
    match = _NOT_AN_ARRAY.match(text)
    if match is None:
        return None
    return ErrorFacts(
        kind="static argument", function=match[2], names=(match[1].rpartition(".")[2],), reason="not an array"
    )


def _static(text: str) -> ErrorFacts | None:
    if match := _STATIC.match(text):
        type_, held = match[2].rpartition(".")[2], _HELD.search(text)
        inner = held[1].rpartition(".")[2] if held else type_
        names = (type_,) if inner == type_ else (type_, inner)
        return ErrorFacts(kind="static argument", function=match[1] or "", names=names)
    if match := _STATIC_INDEX.match(text):
        return ErrorFacts(kind="static argument", function=match[3], names=(match[2].rpartition(".")[2],))
    return None


CALL_READERS = (_compiled, _compiled_types, _no_mesh, _prefix, _pmap, _ordered, _deleted, _static, _not_an_array)
