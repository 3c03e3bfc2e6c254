"""The computations of HLO text, written as `xla.HloComputationProto`.

An unreadable line becomes an instruction of opcode "unreadable"; a missing reference becomes one of opcode "missing",
so that the program stays complete. Fields without references are often repeated; they are written once. Not its job:
splitting the text (`parse.hlo_text.sections`, `parse.wire.text_lines`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from pjit_inspect.model.program.incomplete import MISSING, UNREADABLE_LINES
from pjit_inspect.parse.hlo_proto.columns import KEPT_AS_TEXT, UNREADABLE, verbatim_field
from pjit_inspect.parse.hlo_proto.hlo import LEAST, OPCODES
from pjit_inspect.parse.hlo_text.attributes import DEPENDS_ON_OPCODE, read_attribute
from pjit_inspect.parse.hlo_text.sections import ComputationText, cut_nested
from pjit_inspect.parse.hlo_text.shapes import SHAPE_FOLLOWS, read_literal, read_shape, split_tuple, written_shape
from pjit_inspect.parse.hlo_text.source import read_metadata
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.text_lines import InstructionText, instruction_name, operand_texts, scan_call
from pjit_inspect.parse.wire.text_scan import find_close, inside, split_pairs, unquote
from pjit_inspect.parse.wire.text_wire import content_field, number_field, packed_field

_NAME, _PARAMETER_NUMBER, _ID, _OPERANDS, _CONTROL, _CALLED = 1, 9, 35, 36, 37, 38
_COMPUTATIONS, _INSTRUCTIONS, _COMPUTATION_ID, _ROOT, _THREAD = 3, 2, 5, 6, 8

_CALLS = {
    "body": 0, "condition": 1, "calls": 0, "to_apply": 0, "branch_computations": 0, "called_computations": 0,
    "true_computation": 0, "false_computation": 1, "select": 0, "scatter": 1,
}  # fmt: skip
"""Attributes that name computations, and their order in the proto."""

_OUTER_ONLY = ("sharding", "control-predecessors", "async_execution_thread")
_SHARED = ("metadata", "backend_config", "frontend_attributes", "statistics", "origin")
"""Attributes of an asynchronous instruction itself; those in the second tuple are also the wrapped instruction's."""


_ELEMENT = re.compile(r"(.+)#(\d{1,9})")
"""An operand that is an element of a tuple, in dumps of XLA of JAX 0.12: `%param#1`."""


class _Body:
    """One computation being written."""

    def __init__(self) -> None:
        self.fields: list[bytes] = []
        self.ids: list[int] = []
        self.root: int | None = None
        self.places: dict[str, tuple[int, str]] = {}
        """Name -> id and shape."""
        self.shapes: dict[int, str] = {}
        """Id -> shape."""
        self.elements: dict[str, list[str]] = {}
        """Name of a tuple -> the shapes of its elements, for tuples with an element as an operand."""

    def add(self, name: str, shape: str, id: int, content: bytes) -> None:
        """Appends the instruction whose other fields are `content`."""
        fields = b"".join((content_field(_NAME, name.encode()), number_field(_ID, id), content))
        self.fields.append(content_field(_INSTRUCTIONS, fields))
        self.ids.append(id)
        self.places[name] = id, shape
        self.shapes[id] = shape


class ComputationWriter:
    """Writes the computations of one program, each after its callees.

    Attributes:
      messages: each computation as a field of the module.
      readable: the number of readable instructions.
      stray: unknown text after computations.
    """

    def __init__(self, frames: Mapping[int, int]) -> None:
        """`frames` as in `_Pieces`."""
        self.messages: list[bytes] = []
        self.readable: int = 0
        self.stray: list[str] = []
        self._pieces = _Pieces(frames)
        self._sequences: dict[int, list[int]] = {}
        self._fused: set[int] = set()
        self._computations: dict[str, int] = {}
        self._next_id = 0
        self._wrapped = 0
        self._shape = ""

    @property
    def sequences(self) -> dict[int, list[int]]:
        """For each computation except fusion bodies, its id and the ids of its instructions in order."""
        return {id: ids for id, ids in self._sequences.items() if id not in self._fused}

    def write(self, text: ComputationText) -> int:
        """Writes one computation; gives its id."""
        body = _Body()
        for instruction in text.instructions:
            self._write_instruction(body, instruction)
        thread, stray = _thread(text.end or "")
        self.stray += [stray] if stray else []
        return self._finish(text.name, body, thread)

    def _write_instruction(self, body: _Body, given: InstructionText | str) -> None:
        if isinstance(given, str):
            name, is_root = instruction_name(given)
            shape, content = "", self._unreadable(given)
        else:
            name, is_root = given.name, given.is_root
            try:
                content = self._content(body, given)
                shape = self._shape
                self.readable += 1
            except ValueError:
                shape, content = "", self._unreadable(_written(given))
        id = self._id()
        body.add(name, shape, id, content)
        if is_root:
            body.root = id

    def _unreadable(self, text: str) -> bytes:
        """The fields of an unreadable instruction."""
        return self._pieces.opcode(UNREADABLE) + verbatim_field(UNREADABLE_LINES, text)

    def _id(self) -> int:
        self._next_id += 1
        return self._next_id

    def _finish(self, name: str, body: _Body, thread: bytes) -> int:
        id = self._id()
        root = body.ids[-1] if body.root is None else body.root
        fields = [content_field(_NAME, name.encode()), *body.fields]
        fields += [number_field(_COMPUTATION_ID, id), number_field(_ROOT, root)]
        fields += [content_field(_THREAD, thread)] if thread else []
        self.messages.append(content_field(_COMPUTATIONS, b"".join(fields)))
        self._sequences[id] = body.ids
        self._computations[name] = id
        return id

    def _content(self, body: _Body, parts: InstructionText) -> bytes:
        """The fields of an instruction except its name and id. Raises `ValueError` if a required part is missing."""
        wrapped, _, step = parts.opcode.rpartition("-")
        if parts.opcode not in OPCODES and wrapped in OPCODES and step in ("start", "update", "done"):
            if step == "start":
                return self._wrap(body, parts, wrapped)
            parts = parts._replace(opcode=f"async-{step}")
        operands, values = self._operands(body, parts)
        called, others = self._references(body, parts)
        fewest, fewest_called = LEAST.get(parts.opcode, (0, 0))
        if len(operands) < fewest or len(called) < fewest_called:
            raise ValueError("the instruction lacks operands or computations")
        if parts.opcode == "fusion":
            self._fused.update(called)
        self._shape = parts.shape
        if not parts.shape or parts.opcode in SHAPE_FOLLOWS:
            self._shape = written_shape(parts.opcode, parts.shape, parts.attributes, [body.shapes[i] for i in operands])
            parts = parts._replace(shape=self._shape)
        return self._join(parts, operands, called, values + others)

    def _join(self, parts: InstructionText, operands: list[int], called: list[int], others: bytes) -> bytes:
        pieces = self._pieces
        return b"".join((
            pieces.opcode(parts.opcode), pieces.shape(parts.shape), packed_field(_OPERANDS, operands),
            packed_field(_CALLED, called), others,
            verbatim_field(UNREADABLE_LINES, parts.rest) if parts.rest else b"",
        ))  # fmt: skip

    def _operands(self, body: _Body, parts: InstructionText) -> tuple[list[int], bytes]:
        """The ids of the operands; and the field of the value that constants and parameters have in their place."""
        if parts.opcode == "parameter":
            if not parts.operands.strip().isdecimal() or len(parts.operands) > 18:
                raise ValueError("this is no parameter number")
            return [], number_field(_PARAMETER_NUMBER, int(parts.operands))
        if parts.opcode == "constant":
            return [], self._pieces.literal(parts.shape, parts.operands)
        return self._named(body, parts.operands), b""

    def _named(self, body: _Body, text: str) -> list[int]:
        """The ids of the instructions named in `text`; instructions written in place of a name are added."""
        return [self._nested(body, one) if one[-1] == ")" else self._place(body, one) for one in operand_texts(text)]

    def _nested(self, body: _Body, text: str) -> int:
        """The id of an instruction written among another's operands, without name and attributes."""
        shape, opcode, start = scan_call(text, 0, len(text))
        if find_close(text, start - 1) != len(text):
            raise ValueError("this is no operand")
        content = self._content(body, InstructionText("", False, shape, opcode, text[start:-1], {}, ""))
        id = self._id()
        body.add(f"{opcode}.{id}", self._shape, id, content)
        return id

    def _place(self, body: _Body, name: str) -> int:
        """The id of the instruction with this name; one is added if none is above."""
        known = body.places.get(name)
        if known is not None:
            return known[0]
        shape, content = self._element(body, name) or ("", self._pieces.opcode(MISSING))
        id = self._id()
        body.add(name, shape, id, content)
        return id

    def _element(self, body: _Body, name: str) -> tuple[str, bytes] | None:
        """The shape of an operand that is an element of a tuple above, and the fields that extract it; else None."""
        match = _ELEMENT.fullmatch(name)
        if match is None or match[1] not in body.places:
            return None
        id, shape = body.places[match[1]]
        if match[1] not in body.elements:
            body.elements[match[1]] = split_tuple(shape) if shape.startswith("(") else []
        shapes, number = body.elements[match[1]], int(match[2])
        if number >= len(shapes):
            return None
        parts = InstructionText(name, False, shapes[number].strip(), "get-tuple-element", "", {}, "")
        return parts.shape, self._join(parts, [id], [], self._pieces.attribute(parts.opcode, "index", match[2]))

    def _references(self, body: _Body, parts: InstructionText) -> tuple[list[int], bytes]:
        """The ids of the called computations; and the fields of all other attributes."""
        called: list[tuple[int, list[int]]] = []
        fields: list[bytes] = []
        for key, value in parts.attributes.items():
            if key in _CALLS:
                called.append((_CALLS[key], self._called(value)))
            elif key == "control-predecessors":
                fields.append(packed_field(_CONTROL, self._named(body, inside(value, "{"))))
            else:
                fields.append(self._pieces.attribute(parts.opcode, key, value))
        if len(called) > 1:
            called.sort(key=lambda ranked: ranked[0])
        return [id for _, ids in called for id in ids], b"".join(fields)

    def _called(self, text: str) -> list[int]:
        """The ids of the computations that `text` names, or contains."""
        if "=" in text and text.startswith("{"):
            return [self.write(cut_nested(text))]
        return [self._computation(name) for name in operand_texts(inside(text, "{") if text[:1] == "{" else text)]

    def _computation(self, name: str) -> int:
        """The id of the computation with this name; one is added if none is above."""
        known = self._computations.get(name)
        if known is not None:
            return known
        body = _Body()
        body.add(name, "", self._id(), self._pieces.opcode(MISSING))
        return self._finish(name, body, b"")

    def _wrap(self, body: _Body, parts: InstructionText, opcode: str) -> bytes:
        """The fields of an instruction such as `slice-start`: XLA prints an async-start and its wrapped op as one."""
        operands = self._named(body, parts.operands)
        called = self._wrapped_computation(parts, opcode, [body.shapes[id] for id in operands])
        outer = {key: value for key, value in parts.attributes.items() if key in (*_OUTER_ONLY, *_SHARED)}
        parts = parts._replace(opcode="async-start", attributes=outer)
        return self._join(parts, operands, [called], self._references(body, parts)[1])

    def _wrapped_computation(self, parts: InstructionText, opcode: str, shapes: list[str]) -> int:
        """Writes the wrapped computation on operands of these shapes, as XLA's parser does; gives its id."""
        elements = split_tuple(parts.shape)
        if len(elements) < 2:
            raise ValueError("the shape of an asynchronous start is a tuple of operands, results, ...")
        suffix = f".{self._wrapped}" if self._wrapped else ""
        self._wrapped += 1
        body = _Body()
        for number, shape in enumerate(shapes):
            fields = self._pieces.opcode("parameter") + self._pieces.shape(shape)
            body.add(f"async_param.{number}", shape, self._id(), fields + number_field(_PARAMETER_NUMBER, number))
        given = parts.attributes
        op = InstructionText(
            f"{opcode}.async{suffix}", True, elements[1], opcode, ", ".join(body.places),
            {key: value for key, value in given.items() if key not in _OUTER_ONLY}, "",
        )  # fmt: skip
        content = self._content(body, op)
        body.add(op.name, op.shape, self._id(), content)
        thread = unquote(given["async_execution_thread"]) if "async_execution_thread" in given else b""
        return self._finish(f"async_wrapped{suffix}", body, thread)


def _written(parts: InstructionText) -> str:
    """An instruction as text."""
    attributes = "".join(f", {key}={value}" for key, value in parts.attributes.items())
    return f"%{parts.name} = {parts.shape} {parts.opcode}({parts.operands}){attributes} {parts.rest}".rstrip()


def _thread(text: str) -> tuple[bytes, str]:
    """The thread of a computation, from the text after its closing brace; and any other text there."""
    text = text.strip()
    if text.startswith("//") or not text:
        return b"", ""
    try:
        given = dict(split_pairs(text.removeprefix(",")))
        return unquote(given["execution_thread"]), "" if len(given) == 1 else text
    except (KeyError, ValueError):
        return b"", text


_OPCODE, _SHAPE, _METADATA = 2, 3, 7


class _Pieces:
    """Writes parts of instructions as fields of `xla.HloInstructionProto`, each text once.

    An unknown part becomes a field that keeps the text. No method raises an exception.
    """

    def __init__(self, frames: Mapping[int, int]) -> None:
        """`frames`: the number of each stack frame in the text -> its number in the proto."""
        self.opcode = functools.cache(_opcode_field)
        self._shape = functools.cache(_shape_field)
        self._attribute = functools.cache(functools.partial(_attribute_field, frames))

    def shape(self, text: str) -> bytes:
        """The shape of an instruction's result."""
        return self._shape(text)[0]

    def literal(self, shape: str, text: str) -> bytes:
        """The value of a constant of this shape; nothing for a value that XLA omitted."""
        if text == "{...}":
            return b""
        try:
            field = read_literal(self._shape(shape)[1], text)
        except ValueError:
            return verbatim_field("attribute literal", text)
        return verbatim_field("literal", text) if field is None else field

    def attribute(self, opcode: str, key: str, value: str) -> bytes:
        """One attribute of an instruction with this opcode."""
        return self._attribute(opcode if key in DEPENDS_ON_OPCODE else "", key, value)


def _opcode_field(text: str) -> bytes:
    return content_field(_OPCODE, text.encode())


def _shape_field(text: str) -> tuple[bytes, Any]:
    try:
        message, whole = read_shape(text)
    except ValueError:
        message, whole = message_class("Shape")(), False
    field = content_field(_SHAPE, message.SerializeToString())
    return field if whole else field + verbatim_field("attribute shape", text), message


def _attribute_field(frames: Mapping[int, int], opcode: str, key: str, value: str) -> bytes:
    if key in KEPT_AS_TEXT:
        return verbatim_field(key, value)
    try:
        if key != "metadata":
            return read_attribute(opcode, key, value)
        message, others = read_metadata(value, frames)
    except (KeyError, ValueError):
        return verbatim_field(f"attribute {key}", value)
    kept = [verbatim_field(f"attribute metadata.{key}", text) for key, text in others]
    return b"".join((content_field(_METADATA, message), *kept))
