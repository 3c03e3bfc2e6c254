"""The messages of JAX's that are known, as facts; here those with which it refuses shardings.

Each message has its pattern; the versions that write it stand beside it. What does not match in full is not known, and
None comes back: an explanation of half a message would be a guess. Not its job: the user's names and lines
(`observe.errors.scene`), specs, meshes and types in them (`sharding_phrases`); types
(`typed_errors`), and calls and functions, which are rows of the table (`analyze.errors.table`).

*Source*: the texts in `jax/_src` of 0.8.1, 0.8.2, 0.9.2, 0.10.2 and 0.12.0: `sharding.py`, `pjit.py`, `stages.py`,
`named_sharding.py`, `sharding_impls.py`, `mesh.py`, `core.py`, `shard_map.py`, `lax/lax.py`, `lax/slicing.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from pjit_inspect.model.program.spec import SpecEntry
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts
from pjit_inspect.model.sharding.mesh import MeshAxes
from pjit_inspect.parse.messages.sharding_phrases import (
    parse_array_type,
    parse_integers,
    parse_named_sharding,
    parse_optional_mesh,
    parse_spec,
)
from pjit_inspect.parse.messages.typed_errors import TYPED_READERS
from pjit_inspect.parse.wire.text_scan import find_close

_LONGEST = 20_000
"""A longer message is cut; JAX's messages about shardings have a few hundred characters."""

_MOST_ARRAYS = 8

Reader = Callable[[str], ErrorFacts | None]


def parse_sharding_error(message: str) -> ErrorFacts | None:
    """What a message of JAX's says; None when it is none that is known. Raises nothing."""
    text = message[:_LONGEST]
    for reader in _READERS:
        with suppress(ValueError, KeyError, IndexError, OverflowError):
            facts = reader(text)
            if facts is not None:
                return facts
    return None


# ---------------------------------------------------------------- a dimension that its axes do not divide

# 0.9 and 0.10: "Sharding NamedSharding(..) implies that array axis 0 is partitioned 4 times, but the dimension size is
# 6 (full shape: (6, 8), ..". 0.12 puts "One of pjit arguments with pytree key path w was given the sharding" before it.
_PARTITIONED = re.compile(
    r"implies that array axis (\d{1,4}) is partitioned (\d{1,12}) times, but the dimension size is \d{1,18} "
    r"\(full shape: (\([\d, ]{0,400}\))"
)
# 0.8: "One of pjit arguments with pytree key path w was given the sharding of NamedSharding(..), which implies that
# the global size of its dimension 0 should be divisible by 4, but it is equal to 6 (full shape: (6, 8))".
_GLOBAL_SIZE = re.compile(
    r"which implies that the global size of its dimension (\d{1,4}) should be divisible by (\d{1,12}), "
    r"but it is equal to \d{1,18} \(full shape: (\([\d, ]{0,400}\))"
)
# An Explicit mesh: "Sharding spec ('model',) implies that array axis 0 is partitioned 4 times, but does not evenly
# divide the dimension size 6. Got shape: (6, 4) and sharding NamedSharding(..)".
_OF_A_TYPE = re.compile(
    r"implies that array axis (\d{1,4}) is partitioned (\d{1,12}) times, but does not evenly divide the dimension "
    r"size \d{1,18}\. Got shape: (\([\d, ]{0,400}\)) and sharding "
)
_KEY_PATH = re.compile(r"One of (.{1,80}?) with pytree key path (.{1,500}?) was given the sharding ", re.S)


def _indivisible(text: str) -> ErrorFacts | None:
    match = _PARTITIONED.search(text) or _GLOBAL_SIZE.search(text)
    array = parse_named_sharding(text[: match.start()]) if match else None
    if match is None and (match := _OF_A_TYPE.search(text)):
        array = parse_named_sharding(text[match.end() :])
    if match is None:
        return None
    shape = parse_integers(match[3])
    path = _KEY_PATH.search(text[: match.start()])
    given = array or ErrorArray(name="")
    array = _of_shape(replace(given, name=path[2] if path else "", is_named=path is not None), shape)
    # What an operation's type says is about its result, whatever its operands are.
    operation = "result" if match.re is _OF_A_TYPE else ""
    dimension = _within(int(match[1]), shape)
    return ErrorFacts(
        kind="indivisible", arrays=(array,), dimension=dimension, count=int(match[2]), operation=operation
    )


def _of_shape(array: ErrorArray, shape: tuple[int, ...]) -> ErrorArray:
    """The array with a shape, and its spec with an entry for each dimension."""
    spec = array.spec
    if spec is not None:
        spec = (*spec, *(None,) * (len(shape) - len(spec))) if len(spec) <= len(shape) else None
    return replace(array, shape=shape, spec=spec)


def _within(dimension: int, shape: tuple[int, ...]) -> int:
    if dimension >= len(shape):
        raise ValueError(f"{shape} has no dimension {dimension}")
    return dimension


_SHARD_MAP_MESH = re.compile(
    r"The mesh given has shape (\([\d, ]{0,200}\)) with corresponding axis names (\([^()\n]{0,400}\))"
)
_SHARD_MAP_ARGUMENT = re.compile(
    r"the passed (args\S{0,400}?) of shape (\w{1,24})\[([\d,]{0,200})\](?:, where (args\S{0,100}?) is bound to "
    r"\S{1,200}?'s parameter '(\w{1,200})')?, corresponds to in_specs\S{0,400}? of value "
    r"((?:P|PartitionSpec)\([^\n]{0,400}?\)), which maps array axis (\d{1,4}) \(of size "
    r"\d{1,18}\) to mesh ax[^\n]{0,800}?, but (\d{1,12}) does not evenly divide"
)


def _shard_map(text: str) -> ErrorFacts | None:
    """The same in all versions but for `P` and `PartitionSpec`."""
    if "are not evenly divisible by the corresponding mesh axis sizes" not in text:
        return None
    mesh = _shard_map_mesh(text)
    arrays, cuts = [], []
    for match in list(_SHARD_MAP_ARGUMENT.finditer(text))[:_MOST_ARRAYS]:
        path = match[5] + match[1][len(match[4]) :] if match[5] else match[1]
        shape = parse_integers(f"({match[3]})")
        array = ErrorArray(name=path, dtype=match[2], spec=parse_spec(match[6]), mesh=mesh, is_named=bool(match[5]))
        arrays.append(_of_shape(array, shape))
        cuts.append((_within(int(match[7]), shape), int(match[8])))
    if not arrays:
        return None
    dimension, count = cuts[0]
    return ErrorFacts(kind="indivisible", arrays=tuple(arrays), dimension=dimension, count=count, operation="shard_map")


def _shard_map_mesh(text: str) -> MeshAxes | None:
    mesh = _SHARD_MAP_MESH.search(text)
    names = parse_spec(mesh[2]) if mesh else None
    sizes = parse_integers(mesh[1]) if mesh else ()
    if names is None or len(names) != len(sizes) or not all(isinstance(name, str) for name in names):
        return None
    return MeshAxes(axis_names=tuple(map(str, names)), shape=sizes)


# ---------------------------------------------------------------- an Explicit mesh

_SPEC = r"(\([^()]{0,400}(?:\([^()]{0,400}\)[^()]{0,400}){0,16}\))"
_CONTRACTION = re.compile(rf"Got lhs_contracting_spec={_SPEC} and rhs_contracting_spec={_SPEC}$")
_CONTRACTING = re.compile(
    rf"dot_general requires contracting dimensions to have consistent sharding, got {_SPEC} and {_SPEC}\."
)
_BATCH = re.compile(
    r"dot_general requires lhs batch dimensions and rhs batch dimensions to have the (?:consistent|same) sharding, "
    rf"got {_SPEC} and {_SPEC}\."
)
_BROADCASTING = re.compile(r"^(\w{1,80}) got incompatible shardings for broadcasting: (.{1,4000})\.$", re.S)
_SAME = re.compile(
    r"^(?:(select) (?:cases must have the same shardings|`which` must be scalar or have the same sharding as cases), "
    r"got|All operands should have the same sharding\. Got shardings) "
)
_TWICE = re.compile(
    r"^(\w{1,80}) operation with inputs: (.{1,4000}?) produces an illegally sharded result: (\S{1,400})$", re.S
)


def _contraction(text: str) -> ErrorFacts | None:
    match = _CONTRACTION.search(text) or _CONTRACTING.search(text)
    if match is None:
        return None
    return ErrorFacts(kind="contraction", operation="dot_general", specs=_specs(match[1], match[2]))


def _conflict(text: str) -> ErrorFacts | None:
    if match := _BATCH.search(text):
        return ErrorFacts(kind="conflict", operation="dot_general", specs=_specs(match[1], match[2]))
    if match := _BROADCASTING.match(text):
        specs = _specs(*re.findall(_SPEC, match[2]))
        return ErrorFacts(kind="conflict", operation=match[1], specs=specs) if len(specs) > 1 else None
    if match := _SAME.match(text):
        arrays = _named_shardings(text[match.end() :])
        specs = tuple(array.spec for array in arrays if array.spec is not None)
        operation = match[1] or "concatenate"
        return ErrorFacts(kind="conflict", operation=operation, specs=specs, arrays=arrays) if len(specs) > 1 else None
    return None


def _specs(*texts: str) -> tuple[tuple[SpecEntry, ...], ...]:
    specs = [parse_spec(text) for text in texts]
    if any(spec is None for spec in specs):
        raise ValueError("one of the specs is not understood")
    return tuple(spec for spec in specs if spec is not None)


def _named_shardings(text: str) -> tuple[ErrorArray, ...]:
    arrays, position = [], 0
    while len(arrays) < _MOST_ARRAYS and (position := text.find("NamedSharding(", position)) >= 0:
        end = find_close(text, position + len("NamedSharding"))
        if array := parse_named_sharding(text[position:end]):
            arrays.append(array)
        position = end
    return tuple(arrays)


def _twice(text: str) -> ErrorFacts | None:
    match = _TWICE.match(text)
    if match is None:
        return None
    arrays = tuple(map(parse_array_type, re.findall(r"\w+\[[^\]]*\](?:\{[^}]*\})?", match[2])[:_MOST_ARRAYS]))
    result = parse_array_type(match[3])
    return ErrorFacts(kind="axis twice", operation=match[1], arrays=arrays, specs=(result.spec or (),))


# 0.8.1 ends before "Got", where it picks.
_INDEXING = re.compile(
    r"^Use `\.at\[\.\.\.\]\.(get|set/add/mul/\.\.\.)\(out_sharding=\)` .{0,400}? on inputs\)\.(?: "
    r"Got operand=ShapedArray\((.{1,400}?)\), "
    r"indices=ShapedArray\((.{1,400}?)\)(?:, updates=ShapedArray\((.{1,400}?)\))?)?$",
    re.S,
)
_RESHAPE = re.compile(
    r"^This reshape is not supported\..{0,400}? Got operand type: (\S{1,400}), new sizes: (\([\d, ]{0,400}\))", re.S
)


def _indexing(text: str) -> ErrorFacts | None:
    match = _INDEXING.match(text)
    if match is None:
        return None
    types = zip(("operand", "indices", "updates"), (match[2], match[3], match[4]), strict=True)
    arrays = tuple(replace(parse_array_type(type_), name=name) for name, type_ in types if type_)
    return ErrorFacts(kind="indexing", operation="gather" if match[1] == "get" else "scatter", arrays=arrays)


def _reshape(text: str) -> ErrorFacts | None:
    match = _RESHAPE.match(text)
    if match is None:
        return None
    array = replace(parse_array_type(match[1]), name="operand")
    return ErrorFacts(kind="reshape", operation="reshape", arrays=(array,), new_shape=parse_integers(match[2]))


_ALONG = re.compile(
    r"^(?:Input should be unsharded over the axis being reduced"
    r"|The input should be unsharded over the axis along which to compute the top_k values)\. "
    r"Got input type=(\S{1,400}) and axis=(\d{1,4})$"
)
_SORT = re.compile(r"^Arguments to sort must be unsharded over the sorting dimension\. Got arg sharding=")
_SORT_DIMENSION = re.compile(r" and sorting dimension=(\d{1,4})$")


def _split_dimension(text: str) -> ErrorFacts | None:
    if match := _ALONG.match(text):
        array, dimension = replace(parse_array_type(match[1]), name="operand"), int(match[2])
    elif _SORT.match(text) and (match := _SORT_DIMENSION.search(text)) and (given := parse_named_sharding(text)):
        array, dimension = replace(given, name="operand"), int(match[1])
    else:
        return None
    if dimension >= len(array.spec or ()):
        return None
    return ErrorFacts(kind="split dimension", arrays=(array,), dimension=dimension)


_JIT_SPEC = re.compile(r"^Sharding passed to (\w{1,40}) does not match the sharding on the respective arg\. Got ")
_ARG_TYPE = re.compile(r" for arg type: (\S{1,400})\s*$")
_ASSERTED = re.compile(
    r"^`with_sharding_constraint` acts as an assert .{0,400}? The array sharding: ((?:P|PartitionSpec)\(.{0,400}?\)) "
    r"did not match the sharding provided: ((?:P|PartitionSpec)\(.{0,400}?\))\. ",
    re.S,
)


def _other_spec(text: str) -> ErrorFacts | None:
    if match := _ASSERTED.match(text):
        own, wanted = _specs(match[1], match[2])
        array = ErrorArray(name="operand", spec=own)
        return ErrorFacts(kind="other spec", operation="with_sharding_constraint", arrays=(array,), specs=(wanted,))
    typed, start = _ARG_TYPE.search(text), _JIT_SPEC.match(text)
    both = _named_shardings(text) if start and typed else ()
    if start is None or typed is None or len(both) != 2:
        return None
    wanted, own = both
    array = _of_shape(
        replace(own, name="argument", dtype=typed[1].partition("[")[0]), parse_array_type(typed[1]).shape or ()
    )
    meshes = tuple(side.mesh for side in both if side.mesh is not None)
    if wanted.spec is None or len(meshes) != 2:
        return None
    return ErrorFacts(kind="other spec", operation="in_shardings", arrays=(array,), specs=(wanted.spec,), meshes=meshes)


_CONTEXT_MESH = re.compile(r"^For primitive (\w{1,80}), context mesh (?=AbstractMesh)")
_FOR_SHAPE = re.compile(r"^ for shape (\S{1,400}?)\. ")
_TWO_MESHES = re.compile(r"(?:Got one mesh: |Got lhs: ?)(?=AbstractMesh|Mesh)")


def _mesh(text: str) -> ErrorFacts | None:
    if match := _CONTEXT_MESH.match(text):
        context, end = parse_optional_mesh(text, match.end())
        other, end = parse_optional_mesh(text, text.index("AbstractMesh", end))
        shape = _FOR_SHAPE.match(text[end:])
        array = replace(parse_array_type(shape[1]), name="operand", mesh=other) if shape else None
        operation, arrays = match[1], (array,) if array else ()
    elif match := _TWO_MESHES.search(text):
        context, end = parse_optional_mesh(text, match.end())
        other, _ = parse_optional_mesh(
            text, text.index("Mesh(", end) - 8 * text.startswith("Abstract", text.index("Mesh(", end) - 8)
        )
        operation, arrays = "", ()
    else:
        return None
    if context is None or other is None:
        return None
    return ErrorFacts(kind="mesh", operation=operation, arrays=arrays, meshes=(context, other))


# ---------------------------------------------------------------- devices

# 0.8 and 0.9 write "and device ids", 0.10 and later "and with device ids".
_SIDE = re.compile(
    r"(?:argument (?P<name>.{1,500}?) of (?P<function>.{1,300}?) with shape (?P<type>\w{1,24}\[[\d,]{0,200}\]) and "
    r"|(?P<place>[\w' ]{1,60}?) )(?:with )?device ids (?P<ids>\[[\d, ]{0,16000}\]) on platform \w{1,40}",
    re.S,
)
_AT_LINE = re.compile(r" at ([^\n]{1,1000}?:\d{1,9}):\d{1,9}(?: |$)")
_INCOMPATIBLE = re.compile(r"^Received incompatible devices for \w{1,40} computation\. Got ")


def _devices(text: str) -> ErrorFacts | None:
    start = _INCOMPATIBLE.match(text)
    first = _SIDE.match(text, start.end()) if start else None
    joint = re.compile(r"(?: at [^\n]{0,300}?)?\s+and\s+").match(text, first.end()) if first else None
    second = _SIDE.match(text, joint.end()) if joint else None
    if first is None or second is None:
        return None
    sides = (_side(first), _side(second))
    # Where the program, and not an argument, names devices, JAX says the line.
    place = _AT_LINE.match(text, second.end())
    return ErrorFacts(
        kind="devices", operation=first["function"] or second["function"] or "", arrays=sides,
        place=place[1] if place else "",
    )  # fmt: skip


_PLACES = {
    "ARG_SHARDING": "in_shardings",
    "explicit output sharding": "out_shardings",
    "sharding_constraint inside jit": "with_sharding_constraint",
    "shard_map inside jit": "shard_map",
    "jit's context mesh": "set_mesh",
}


def _side(found: re.Match[str]) -> ErrorArray:
    ids = parse_integers(f"({found['ids'][1:-1]})")
    if not found["name"]:
        place = found["place"].strip()
        return ErrorArray(name=_PLACES.get(place, place), device_ids=ids)
    typed = parse_array_type(found["type"])
    return replace(typed, name=found["name"], spec=None, device_ids=ids, is_named=True)


# ---------------------------------------------------------------- specs and meshes in themselves

_RANK = re.compile(r"is only valid for values of rank at least (\d{1,4}), but was applied to a value of rank (\d{1,4})")
_RANK_PATH = re.compile(r"with pytree key path (.{1,500}?) is incompatible with its sharding annotation ", re.S)
_SHARD_MAP_RANK = re.compile(
    r"(?:in|out)_specs\S{0,400}? is ((?:P|PartitionSpec)\([^\n]{0,400}?\)) which has length \d{1,4}, but "
    r"(?:the passed )?(\S{1,400}?)(?:, where (args\S{0,100}?) is bound to \S{1,200}?'s parameter '(\w{1,200})',)? has "
    r"shape (\w{1,24}\[[\d,]{0,200}\])"
)
_AXIS = re.compile(
    r"^Resource axis: (.{1,200}?) of ((?:P|PartitionSpec)\(.{0,400}?\)) is not found in mesh: (\(.{0,400}\))\.?$", re.S
)
# The axes are those that the function is manual over, in no order.
_SHARD_MAP_AXIS = re.compile(
    r"^shard_map (?:in|out)_specs argument must refer to an axis marked as manual "
    r"\(frozenset\(\{([^{}\n]{0,400})\}\)\), but:\s+((?:in|out)_specs\S{0,400}) refers to '([^'\n]{1,200})'"
)
_REPEATED = re.compile(r"but ((?:P|PartitionSpec)\(.{0,400}\)) has duplicate entries for `(.{1,200}?)`", re.S)
_MESH_SIZE = re.compile(r"^Number of devices (\d{1,9}) must be >= the product of mesh_shape (\([\d, ]{0,200}\))")


def _rank(text: str) -> ErrorFacts | None:
    if match := _RANK.search(text):
        array = parse_named_sharding(text[: match.start()])
        if array is None or array.spec is None:
            return None
        path = _RANK_PATH.search(text)
        array = replace(array, name=path[1] if path else "", is_named=path is not None)
        return ErrorFacts(kind="rank", arrays=(array,), count=int(match[2]))
    if "_specs entry which is too long to be compatible" in text and (match := _SHARD_MAP_RANK.search(text)):
        path = match[4] + match[2][len(match[3]) :] if match[4] else match[2]
        array = replace(parse_array_type(match[5]), name=path, spec=parse_spec(match[1]), is_named=bool(match[4]))
        return ErrorFacts(kind="rank", arrays=(array,), count=len(array.shape or ()), operation="shard_map")
    return None


def _axis(text: str) -> ErrorFacts | None:
    match = _AXIS.match(text)
    names = parse_spec(match[3]) if match else None
    if match is None or names is None:
        return None
    mesh = _unsized(map(str, names))
    array = ErrorArray(name="", spec=parse_spec(match[2]), mesh=mesh)
    return ErrorFacts(kind="unknown axis", axis=match[1], arrays=(array,), meshes=(mesh,))


def _manual_axis(text: str) -> ErrorFacts | None:
    match = _SHARD_MAP_AXIS.match(text)
    if match is None:
        return None
    names = sorted(re.findall(r"'([^'\n]{1,200})'", match[1]))
    manual, spec = _unsized(names), ErrorArray(name=match[2])
    return ErrorFacts(kind="unknown axis", axis=match[3], arrays=(spec,), meshes=(manual,), operation="shard_map")


def _unsized(names: Iterable[str]) -> MeshAxes:
    """A mesh of which the message tells no sizes: 0 for each."""
    names = tuple(names)
    return MeshAxes(axis_names=names, shape=(0,) * len(names))


def _repeated(text: str) -> ErrorFacts | None:
    match = _REPEATED.search(text)
    spec = parse_spec(match[1]) if match else None
    if match is None or spec is None:
        return None
    return ErrorFacts(kind="repeated axis", axis=match[2], arrays=(ErrorArray(name="", spec=spec),))


def _mesh_size(text: str) -> ErrorFacts | None:
    match = _MESH_SIZE.match(text)
    if match is None:
        return None
    return ErrorFacts(kind="mesh size", count=int(match[1]), new_shape=parse_integers(match[2]))


_READERS: tuple[Reader, ...] = (
    _indivisible, _shard_map, _contraction, _conflict, _twice, _indexing, _reshape, _split_dimension,
    _other_spec, _mesh, _devices, _rank, _axis, _manual_axis,
    _repeated, _mesh_size, *TYPED_READERS,
)  # fmt: skip
