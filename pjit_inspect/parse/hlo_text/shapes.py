"""Shapes and constants, from HLO text to `xla.ShapeProto` and `xla.LiteralProto`.

Constants are read only if XLA printed them in full, and if plain numbers can be packed into their type. Not its job:
sizes of shapes (`model.program.shape`), or reading the proto (`parse.hlo_proto.reader`).

*Source*: `Shape::ToString`, `Layout::ToString` and `ParseShape`, `Literal::ToStringWithoutShape` in XLA.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pjit_inspect.model.program.shape import COMBINED, UNBOUNDED
from pjit_inspect.parse.hlo_proto.reader import ELEMENT_TYPES, MAX_RANK
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.text_scan import find_close, integers, split_commas, without_comments

_NUMBERS = {name: number for number, name in ELEMENT_TYPES.items()}
_TUPLE, _BUFFER = _NUMBERS["tuple"], _NUMBERS["buffer"]

_ARRAY = re.compile(r"([A-Za-z]\w*)\[([^\[\]{}()]*)\]")
_BRACKETS = r"\((?:[^()]|\([^()]*\))*+\)"
_ATTRIBUTE = re.compile(rf"([A-Z]+|#|\*)((?:{_BRACKETS})+)")
_GROUP = re.compile(_BRACKETS)

_MAX_DEPTH = 40
"""Deeper tuples are damage; a protocol buffer has at most 100 levels."""


def read_shape(text: str) -> tuple[Any, bool]:
    """The `ShapeProto` of a text such as `(f32[2,3]{1,0:T(8,128)}, token[])`, and whether all was understood.

    Unknown element types or layout attributes are left out. Raises `ValueError` for a text that is no shape.
    """
    return _read(without_comments(text).strip(), 0)


def split_tuple(text: str) -> list[str]:
    """The texts of a tuple's elements. Raises `ValueError` if `text` is no tuple."""
    text = without_comments(text).strip()
    if not text.startswith("(") or find_close(text, 0) != len(text):
        raise ValueError("this is no tuple")
    return split_commas(text, 1, len(text) - 1)


def _read(text: str, depth: int) -> tuple[Any, bool]:
    if depth > _MAX_DEPTH:
        raise ValueError("tuples are nested too deeply")
    if text.startswith("b(") and text.endswith(")"):
        element, whole = _read(text[2:-1].strip(), depth + 1)
        return message_class("Shape")(element_type=_BUFFER, tuple_shapes=[element]), whole
    if not text.startswith("("):
        return _array(text, depth)
    read = [_read(element, depth + 1) for element in split_tuple(text)]
    shape = message_class("Shape")(element_type=_TUPLE, tuple_shapes=[element for element, _ in read])
    return shape, all(whole for _, whole in read)


def _array(text: str, depth: int) -> tuple[Any, bool]:
    head = _ARRAY.match(text)
    if head is None:
        raise ValueError("this is no shape")
    name, rest = head[1], text[head.end() :].strip()
    shape = message_class("Shape")(element_type=_NUMBERS.get(name, 0))
    dimensions = head[2].split(",") if head[2].strip() else []
    if len(dimensions) > MAX_RANK:
        raise ValueError("a shape has too many dimensions")
    for dimension in dimensions:
        _add_dimension(shape, dimension.strip())
    whole = name in _NUMBERS
    if rest:
        if not rest.startswith("{") or find_close(rest, 0) != len(rest):
            raise ValueError("this is no layout")
        whole = _read_layout(shape, rest[1:-1], depth) and whole
    elif not shape.dimensions and name not in ("token", "opaque"):
        # XLA prints no layout for a scalar.
        shape.layout.tail_padding_alignment_in_elements = 1
    return shape, whole


def _add_dimension(shape: Any, text: str) -> None:
    is_bound = text.startswith("<=")
    (length,) = [UNBOUNDED] if text == "?" else integers(text[2:] if is_bound else text)
    if length < 0 and text != "?":
        raise ValueError("this is no dimension")
    shape.dimensions.append(length)
    shape.is_dynamic_dimension.append(is_bound or text == "?")


def _read_layout(shape: Any, text: str, depth: int) -> bool:
    """Fills the layout of `shape`; gives whether every attribute is known."""
    order, _, attributes = text.partition(":")
    layout = shape.layout
    layout.minor_to_major.extend(integers(order))
    layout.tail_padding_alignment_in_elements = 1
    position, whole = 0, True
    attributes = attributes.strip()
    while position < len(attributes):
        match = _ATTRIBUTE.match(attributes, position)
        if match is None:
            raise ValueError("this is no layout")
        whole = _read_attribute(layout, match[1], match[2], depth) and whole
        position = match.end()
    return whole


def _read_attribute(layout: Any, name: str, text: str, depth: int) -> bool:
    groups = [group[1:-1] for group in _GROUP.findall(text)]
    if name == "T":
        for group in groups:
            layout.tiles.add(dimensions=integers(group.replace("*", str(COMBINED))))
    elif name == "SC":
        for group in groups:
            dimension, _, indices = group.partition(":")
            (number,) = integers(dimension)
            layout.split_configs.add(dimension=number, split_indices=integers(indices))
    elif name == "P":
        layout.physical_shape.CopyFrom(_read(groups[0].strip(), depth + 1)[0])
    elif name in _LAYOUT_NUMBERS:
        (value,) = integers(groups[0])
        setattr(layout, _LAYOUT_NUMBERS[name], value)
    else:
        return False
    return True


_LAYOUT_NUMBERS = {
    "L": "tail_padding_alignment_in_elements",
    "E": "element_size_in_bits",
    "S": "memory_space",
    "M": "dynamic_shape_metadata_prefix_bytes",
}


_GIVEN = {"after-all": "token[]", "send-done": "token[]", "outfeed": "token[]"}
SHAPE_FOLLOWS = frozenset(("outfeed", "recv", "recv-done", "send", "send-done"))
"""Opcodes whose shape XLA's parser takes from their operands, whatever the text says."""
_LIKE_OPERAND = frozenset((
    "abs", "add", "all-reduce", "and", "ceil", "collective-permute", "copy", "cosine", "divide", "exponential", "floor",
    "log", "maximum", "minimum", "multiply", "negate", "not", "optimization-barrier", "or", "power", "remainder",
    "rsqrt", "sign", "sine", "sqrt", "subtract", "tanh", "while", "xor",
))  # fmt: skip
_LAYOUT = re.compile(r"\{[^{}]*\}")


def written_shape(opcode: str, shape: str, attributes: Mapping[str, str], operands: Sequence[str]) -> str:
    """The shape of an instruction: as written, or derived from its operands' shapes as in XLA's parser.

    It is derived if it is omitted, and for sends and receives, where the parser ignores the text. "" if neither is
    possible.
    """
    if (opcode in SHAPE_FOLLOWS and opcode not in _GIVEN) or (not shape and opcode == "get-tuple-element"):
        return _of_elements(opcode, shape, attributes, operands)
    if shape and (opcode not in SHAPE_FOLLOWS or shape.startswith("token")):
        return shape
    if opcode in _GIVEN:
        return _GIVEN[opcode]
    if opcode == "tuple":
        return f"({', '.join(operands)})" if all(operands) else ""
    return operands[0] if operands and opcode in _LIKE_OPERAND else ""


def _of_elements(opcode: str, shape: str, attributes: Mapping[str, str], operands: Sequence[str]) -> str:
    whole = operands[0] if opcode in ("get-tuple-element", "recv-done") and operands else shape
    elements = split_tuple(whole) if whole.startswith("(") else []
    if opcode == "get-tuple-element":
        number = attributes.get("index", "")
        return elements[int(number)] if number.isdecimal() and int(number[:9]) < len(elements) else ""
    moved = operands[0] if opcode == "send" and operands and operands[0] else "".join(elements[:1])
    found = f"({moved}, token[])" if opcode == "recv-done" else f"({moved}, u32[], token[])"
    return found if moved and _LAYOUT.sub("", found) != _LAYOUT.sub("", without_comments(shape)) else shape


_REPEATED = {"pred": "preds", "s32": "s32s", "s64": "s64s", "u32": "u32s", "u64": "u64s", "f32": "f32s", "f64": "f64s"}
_PACKED = {"s8": ("s8s", "<i1"), "u8": ("u8s", "<u1"), "s16": ("s16s", "<i2"), "u16": ("u16s", "<u2")}
_BOOLS = {"true": True, "false": False, "1": True, "0": False}

_SPLIT = re.compile(r"[\s,{}]+")


def read_literal(shape: Any, text: str) -> bytes | None:
    """A serialised `HloInstructionProto` with nothing but the constant `text`; None if it cannot hold the constant.

    Args:
      shape: the `ShapeProto` of the constant.
      text: the text between the parentheses of `constant(...)`.

    Raises `ValueError` for a text that does not fit the shape.
    """
    kind = ELEMENT_TYPES.get(shape.element_type, "")
    if (kind not in _REPEATED and kind not in _PACKED) or "..." in text:
        return None
    words = [word for word in _SPLIT.split(without_comments(text)) if word]
    if len(words) != math.prod(shape.dimensions):
        raise ValueError("the constant has another number of elements than its shape")
    literal = message_class("Literal")(shape=shape)
    if kind in _REPEATED:
        getattr(literal, _REPEATED[kind]).extend(_value(kind, word) for word in words)
    else:
        field, dtype = _PACKED[kind]
        setattr(literal, field, _packed([int(word) for word in words], dtype))
    return message_class("Instruction")(literal=literal).SerializeToString()


def _value(kind: str, word: str) -> bool | int | float:
    if kind == "pred":
        if word not in _BOOLS:
            raise ValueError("this is neither true nor false")
        return _BOOLS[word]
    return float(word) if kind[0] == "f" else int(word)


def _packed(values: list[int], dtype: str) -> bytes:
    limits = np.iinfo(dtype)
    if any(not limits.min <= value <= limits.max for value in values):
        raise ValueError("a number does not fit its type")
    return np.array(values, dtype).tobytes()
