"""Fields of instructions that occur again and again: written once, used again.

Not its job: fields that refer to other parts of the program (`parse.hlo_text.instructions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pjit_inspect.parse.hlo_proto.verbatim import KEPT_AS_TEXT, verbatim_field
from pjit_inspect.parse.hlo_text.attributes import DEPENDS_ON_OPCODE, read_attribute
from pjit_inspect.parse.hlo_text.literals import read_literal
from pjit_inspect.parse.hlo_text.shapes import read_shape
from pjit_inspect.parse.hlo_text.source import read_metadata
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.text_wire import content_field

__all__ = ["Pieces"]

_OPCODE, _SHAPE, _METADATA = 2, 3, 7


class Pieces:
    """Writes parts of instructions as fields of `xla.HloInstructionProto`.

    What is not understood becomes a field that keeps the text. No method raises an exception.
    """

    def __init__(self, frames: Mapping[int, int]) -> None:
        """`frames` has the number of each stack frame in the proto by its number in the text."""
        self._frames = frames
        self._opcodes: dict[str, bytes] = {}
        self._shapes: dict[str, tuple[bytes, Any]] = {}
        self._attributes: dict[str, bytes] = {}

    def opcode(self, text: str) -> bytes:
        """The opcode."""
        field = self._opcodes.get(text)
        if field is None:
            field = self._opcodes[text] = content_field(_OPCODE, text.encode())
        return field

    def shape(self, text: str) -> bytes:
        """The shape of what an instruction yields."""
        return self._shape(text)[0]

    def _shape(self, text: str) -> tuple[bytes, Any]:
        found = self._shapes.get(text)
        if found is None:
            try:
                message, whole = read_shape(text)
            except ValueError:
                message, whole = message_class("Shape")(), False
            field = content_field(_SHAPE, message.SerializeToString())
            found = (field if whole else field + verbatim_field("attribute shape", text)), message
            self._shapes[text] = found
        return found

    def literal(self, shape: str, text: str) -> bytes:
        """The value of a constant of this shape; nothing for one that XLA left out."""
        if text == "{...}":
            return b""
        try:
            field = read_literal(self._shape(shape)[1], text)
        except ValueError:
            return verbatim_field("attribute literal", text)
        return verbatim_field("literal", text) if field is None else field

    def attribute(self, opcode: str, key: str, value: str) -> bytes:
        """One attribute of an instruction with this opcode."""
        known = f"{opcode} {key}={value}" if key in DEPENDS_ON_OPCODE else f"{key}={value}"
        field = self._attributes.get(known)
        if field is None:
            field = self._attributes[known] = self._write_attribute(opcode, key, value)
        return field

    def _write_attribute(self, opcode: str, key: str, value: str) -> bytes:
        if key in KEPT_AS_TEXT:
            return verbatim_field(key, value)
        try:
            return self._write_metadata(value) if key == "metadata" else read_attribute(opcode, key, value)
        except (KeyError, ValueError):
            return verbatim_field(f"attribute {key}", value)

    def _write_metadata(self, value: str) -> bytes:
        message, others = read_metadata(value, self._frames)
        kept = [verbatim_field(f"attribute metadata.{key}", text) for key, text in others]
        return b"".join((content_field(_METADATA, message), *kept))
