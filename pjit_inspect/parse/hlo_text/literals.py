"""Constants of HLO text, to `xla.LiteralProto`.

Only what XLA printed in full, and of types that plain numbers can be packed into. Not its job: what a constant is for.

*Source*: `Literal::ToStringWithoutShape`, `xla.LiteralProto`.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.shapes import ELEMENT_TYPES

__all__ = ["read_literal"]

_REPEATED = {"pred": "preds", "s32": "s32s", "s64": "s64s", "u32": "u32s", "u64": "u64s", "f32": "f32s", "f64": "f64s"}
_PACKED = {"s8": ("s8s", "<i1"), "u8": ("u8s", "<u1"), "s16": ("s16s", "<i2"), "u16": ("u16s", "<u2")}
_BOOLS = {"true": True, "false": False, "1": True, "0": False}

_SPLIT = re.compile(r"[\s,{}]+")


def read_literal(shape: Any, text: str) -> bytes | None:
    """A serialised `HloInstructionProto` with nothing but the constant `text`, or None where it cannot hold it.

    Args:
      shape: the `ShapeProto` of the constant.
      text: what stands between the parentheses of `constant(...)`.

    Raises `ValueError` for a text that is no such constant.
    """
    kind = ELEMENT_TYPES.get(shape.element_type, "")
    if (kind not in _REPEATED and kind not in _PACKED) or "..." in text:
        return None
    words = [word for word in _SPLIT.split(text) if word]
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
