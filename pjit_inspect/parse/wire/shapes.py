"""Shapes, from `xla.ShapeProto` to `model.program.shape`.

Not its job: what a shape weighs (`model.program.shape`).
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.shape import UNBOUNDED, Layout, Shape

MAX_RANK = 64
"""More dimensions than any array has; XLA and NumPy stop earlier."""

ELEMENT_TYPES = {
    1: "pred", 2: "s8", 3: "s16", 4: "s32", 5: "s64", 6: "u8", 7: "u16", 8: "u32", 9: "u64", 10: "f16", 11: "f32",
    12: "f64", 13: "tuple", 14: "opaque", 15: "c64", 16: "bf16", 17: "token", 18: "c128", 19: "f8e5m2",
    20: "f8e4m3fn", 21: "s4", 22: "u4", 23: "f8e4m3b11fnuz", 24: "f8e5m2fnuz", 25: "f8e4m3fnuz", 26: "s2", 27: "u2",
    28: "f8e4m3", 29: "f8e3m4", 30: "s1", 31: "u1", 32: "f4e2m1fn", 33: "f8e8m0fnu", 34: "buffer", 35: "f6e3m2fn",
    36: "f6e2m3fn",
}  # fmt: skip
"""XLA's name of each element type. *Source*: `xla.PrimitiveType`."""


def parse_shape(message: Any) -> Shape:
    """The shape a decoded `ShapeProto` describes; an element type of unknown number n is called "type n".

    Raises `ParseError` for a length or a rank that none can have.
    """
    kind = message.element_type
    if len(message.dimensions) > MAX_RANK:
        raise ParseError(f"a shape has {len(message.dimensions)} dimensions", expected=f"at most {MAX_RANK}")
    for length in message.dimensions:
        if length < 0 and length != UNBOUNDED:
            raise ParseError(f"a dimension is {length} long", expected="0 or more, or no bound")
    return Shape(
        dtype=ELEMENT_TYPES.get(kind, f"type {kind}"),
        dimensions=tuple(message.dimensions),
        dynamic=_dynamic(message),
        layout=_layout(message.layout) if message.HasField("layout") else None,
        elements=_elements(message.tuple_shapes),
    )


def _elements(messages: Any) -> tuple[Shape, ...]:
    # A tuple of ten thousand arrays has a few different ones.
    known: dict[bytes, Shape] = {}
    contents = [message.SerializeToString() for message in messages]
    for message, content in zip(messages, contents, strict=True):
        if content not in known:
            known[content] = parse_shape(message)
    return tuple(known[content] for content in contents)


def _dynamic(message: Any) -> tuple[bool, ...]:
    flags = tuple(message.is_dynamic_dimension)
    # XLA writes one flag per dimension, all False for a static shape.
    return flags if any(flags) and len(flags) == len(message.dimensions) else ()


def _layout(message: Any) -> Layout:
    return Layout(
        minor_to_major=tuple(message.minor_to_major),
        tiles=tuple(tuple(tile.dimensions) for tile in message.tiles),
        memory_space=message.memory_space,
        element_bits=message.element_size_in_bits,
        tail_padding=message.tail_padding_alignment_in_elements or 1,
        other=_other(message),
    )


_LEVELS = {0: "D", 1: "C", 2: "S", 3: "H"}
"""XLA's letters for how a dimension of a sparse array is stored. *Source*: `xla.DimLevelType`."""


def _other(message: Any) -> tuple[str, ...]:
    other = []
    if any(message.dim_level_types):
        other.append(f"D({','.join(_LEVELS.get(level, str(level)) for level in message.dim_level_types)})")
    for mark, kind in (("#", message.index_primitive_type), ("*", message.pointer_primitive_type)):
        if kind:
            other.append(f"{mark}({ELEMENT_TYPES.get(kind, f'type {kind}')})")
    texts = [f"({split.dimension}:{','.join(map(str, split.split_indices))})" for split in message.split_configs]
    if texts:
        other.append(f"SC{''.join(texts)}")
    if message.HasField("physical_shape"):
        other.append(f"P({parse_shape(message.physical_shape).text()})")
    if message.dynamic_shape_metadata_prefix_bytes:
        other.append(f"M({message.dynamic_shape_metadata_prefix_bytes})")
    return tuple(other)
