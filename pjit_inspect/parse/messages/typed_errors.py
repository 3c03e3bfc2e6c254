"""The messages with which JAX refuses types on an Explicit mesh, as facts.

New lengths that axes do not divide, updates, convolutions. Not its job: operands that conflict and specs in themselves
(`parse.messages.sharding_errors`).

*Source*: the texts in `jax/_src` of 0.8.1, 0.8.2, 0.10.2 and 0.12.0: `lax/slicing.py`, `lax/lax.py`, `lax/linalg.py`,
`lax/convolution.py`, `lax/control_flow/loops.py`, `numpy/lax_numpy.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts
from pjit_inspect.parse.messages.sharding_phrases import parse_array_type, parse_integers, parse_spec

_MOST = 16
_ENTRY = r"(?:P|PartitionSpec)\([^()\n]{0,200}(?:\([^()\n]{0,200}\)[^()\n]{0,200}){0,8}\)"

# ---------------------------------------------------------------- one array

# Up to 0.10.0 it ends with "is not implemented.".
_NEW_SIZE = re.compile(
    r"^(\w{1,40}) on sharded dims where out dim \((\d{1,18})\) is not divisible by mesh axes \((\d{1,12})\) with spec "
    r"\((.{1,200}?)\) is not implemented\.(?: Got input type=(\S{1,400}) and output shape=(\(.{0,600}\)))?$"
)
_TILE = re.compile(
    r"^Operand cannot be sharded on dimension (\d{1,4}) when the tiling is non-trivial\. Got input type: (\S{1,400}) "
    r"with reps: (\([\d, ]{0,200}\))$"
)
# 0.12.0.1; earlier ones refuse the slices that it makes.
_ROLL = re.compile(
    r"^`a` cannot be sharded on the axis being rolled over\. Got arr type=(\S{1,400}) and axis=(\([\d, ]{0,200}\))$"
)
_LINALG = re.compile(
    rf"^Input \d{{1,4}} to (\w{{1,40}}) must be unsharded on non-batch dimensions, but got ({_ENTRY})\.$"
)
_SCANNED = re.compile(rf"^0th dimension of all xs should be replicated\. Got ({_ENTRY}(?:, {_ENTRY}){{0,100}})$")
_REPEAT = "Please pass sharding to `jnp.repeat` via `out_sharding` parameter."
_CONVOLUTION = "Please specify the output sharding via `out_sharding` parameter of `conv_general_dilated`"


def _new_size(text: str) -> ErrorFacts | None:
    match = _NEW_SIZE.match(text)
    if match is None:
        return None
    entry = match[4].strip()
    axes = re.findall(r"'([^']{1,200})'", entry) or [entry]
    facts = ErrorFacts(kind="new size", operation=match[1], names=tuple(axes), count=int(match[3]), dimension=None)
    length = int(match[2])
    if match[5] is None:
        return replace(facts, new_shape=(length,), reason="one length")
    array = replace(parse_array_type(match[5]), name="operand")
    # Before numpy 2, and where JAX worked it out itself: `8`; else `np.int64(8)`.
    shape = parse_integers(re.sub(r"np\.int64\((\d+)\)", r"\1", match[6]))
    if len(shape) != len(array.shape or ()):
        return None
    return replace(facts, arrays=(array,), new_shape=shape)


def _tile(text: str) -> ErrorFacts | None:
    match = _TILE.match(text)
    if match is None:
        return None
    array, reps = replace(parse_array_type(match[2]), name="operand"), parse_integers(match[3])
    if len(reps) != len(array.shape or ()):
        return None
    return ErrorFacts(
        kind="split dimension", operation="tile", arrays=(array,), dimension=int(match[1]), new_shape=reps
    )


def _roll(text: str) -> ErrorFacts | None:
    match = _ROLL.match(text)
    if match is None:
        return None
    array, axes = replace(parse_array_type(match[1]), name="operand"), parse_integers(match[2])
    split = [axis for axis in axes if axis < len(array.spec or ()) and (array.spec or ())[axis] is not None]
    # Of several only a part could be said.
    if len(split) != 1:
        return None
    return ErrorFacts(kind="split dimension", operation="roll", arrays=(array,), dimension=split[0])


def _linalg(text: str) -> ErrorFacts | None:
    match = _LINALG.match(text)
    spec = parse_spec(match[2]) if match else None
    if match is None or spec is None or len(spec) < 2:
        return None
    dimension = next((len(spec) - 2 + place for place, entry in enumerate(spec[-2:]) if entry is not None), None)
    if dimension is None:
        return None
    array = ErrorArray(name="operand", spec=spec)
    return ErrorFacts(kind="split dimension", operation=match[1], arrays=(array,), dimension=dimension)


def _scanned(text: str) -> ErrorFacts | None:
    match = _SCANNED.match(text)
    if match is None:
        return None
    specs = [parse_spec(part) for part in re.findall(_ENTRY, match[1])[:_MOST]]
    split = [spec for spec in specs if spec and spec[0] is not None]
    if not split:
        return None
    arrays = tuple(ErrorArray(name="operand", spec=spec) for spec in split)
    return ErrorFacts(kind="split dimension", operation="scan", arrays=arrays, dimension=0)


def _without_types(text: str) -> ErrorFacts | None:
    if text == _REPEAT:
        return ErrorFacts(kind="split dimension", operation="repeat")
    return ErrorFacts(kind="convolution", operation="conv_general_dilated") if text == _CONVOLUTION else None


_UPDATE = re.compile(
    r"^dynamic_update_slice operand sharding must be equal to update sharding, got operand sharding "
    r"(\S{1,400}?)(?:\(\{[^\n]{0,400}?\}\))? and update sharding (\S{1,400}?)(?:\(\{[^\n]{0,400}?\}\))?\.$"
)


def _update(text: str) -> ErrorFacts | None:
    match = _UPDATE.match(text)
    if match is None:
        return None
    arrays = tuple(
        replace(parse_array_type(type_), name=name)
        for type_, name in zip((match[1], match[2]), ("operand", "update"), strict=True)
    )
    return ErrorFacts(kind="update", operation="dynamic_update_slice", arrays=arrays)


TYPED_READERS = (_new_size, _tile, _roll, _linalg, _scanned, _without_types, _update)
