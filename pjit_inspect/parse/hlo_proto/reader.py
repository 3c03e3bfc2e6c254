"""Parts of a module that are decoded from its bytes on demand: names, shapes, and rare details.

Not its job: the columns (`parse.hlo_proto.hlo`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence, Set
from typing import Any

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import Details
from pjit_inspect.model.program.shape import UNBOUNDED, Layout, Shape
from pjit_inspect.parse.hlo_proto.columns import parts_by_name, read_texts
from pjit_inspect.parse.wire.clean import clean_text
from pjit_inspect.parse.wire.hlo_schema import decode, is_whole, known_fields, text
from pjit_inspect.parse.wire.replica_groups import group_form, parse_optional_replica_groups, print_replica_groups
from pjit_inspect.parse.wire.wire import split_message

_COLUMNS = {
    "name", "opcode", "shape", "metadata", "id", "operand_ids", "control_predecessor_ids", "called_computation_ids",
    "channel_id", "kept",
}  # fmt: skip
_TYPED = {
    "replica_groups", "collective_device_list", "iota_collective_device_list", "mesh_axes_replica_group_list",
    "source_target_pairs", "use_global_device_ids", "fusion_kind", "custom_call_target", "backend_config",
    "backend_config_payload", "frontend_attributes", "sharding", "dimensions", "comparison_direction", "literal",
    "parameter_number", "tuple_index", "is_host_transfer", "async_execution_thread",
}  # fmt: skip
_METADATA = {"op_name", "stack_frame_id", "scheduling_name", "source_file", "source_line"}
_MODULE = {
    "name", "entry_computation_name", "entry_computation_id", "computations", "schedule", "input_output_alias",
    "stack_frame_index", "frontend_attributes", "device_assignment", "payloads", "buffer_donor", "kept",
}  # fmt: skip
_INTEGERS = ("preds", "s32s", "s64s", "u32s", "u64s")
_SMALL_INTEGERS = {"s8s": ("<i1", 1), "u8s": ("<u1", 1), "s16s": ("<i2", 2), "u16s": ("<u2", 2)}

MAX_RANK = 64
"""The most dimensions of an array; XLA and NumPy stop earlier."""

ELEMENT_TYPES = {
    1: "pred", 2: "s8", 3: "s16", 4: "s32", 5: "s64", 6: "u8", 7: "u16", 8: "u32", 9: "u64", 10: "f16", 11: "f32",
    12: "f64", 13: "tuple", 14: "opaque", 15: "c64", 16: "bf16", 17: "token", 18: "c128", 19: "f8e5m2",
    20: "f8e4m3fn", 21: "s4", 22: "u4", 23: "f8e4m3b11fnuz", 24: "f8e5m2fnuz", 25: "f8e4m3fnuz", 26: "s2", 27: "u2",
    28: "f8e4m3", 29: "f8e3m4", 30: "s1", 31: "u1", 32: "f4e2m1fn", 33: "f8e8m0fnu", 34: "buffer", 35: "f6e3m2fn",
    36: "f6e2m3fn",
}  # fmt: skip
"""XLA's name of each element type. *Source*: `xla.PrimitiveType`."""
_LEVELS = {0: "D", 1: "C", 2: "S", 3: "H"}
"""XLA's letters for the storage of a sparse array's dimensions. *Source*: `xla.DimLevelType`."""


class ProtoReader:
    """A `model.program.hlo.HloReader` over a serialised `xla.HloModuleProto`.

    It keeps its bytes; decoding copies only the requested part.
    """

    def __init__(
        self,
        data: bytes,
        *,
        spans: np.ndarray,
        names: np.ndarray,
        shapes: Sequence[bytes],
        kernels: tuple[Sequence[str], np.ndarray, np.ndarray],
        head: Any,
        ids: np.ndarray,
        path: str | None = None,
    ) -> None:
        """`kernels`: words, and for each instruction the rows of its fusion's kind and of its call's target in them."""
        self._words, self._kinds, self._targets = kernels
        self._data, self._spans, self._names, self._path = data, spans, names, path
        self._shape_bytes, self._head, self._ids = shapes, head, ids
        self._shapes: list[Shape | None] = [None] * len(shapes)

    def name(self, index: int) -> str:
        """The name of instruction `index`."""
        start, end = self._names[index].tolist()
        return text(self._data[start:end]) if start >= 0 else ""

    def names(self, indices: Sequence[int] | np.ndarray) -> Sequence[str]:
        """The names of these instructions, read together."""
        return read_texts(self._data, *self._names[np.asarray(indices, np.int64)].T)

    def shape(self, shape_id: int) -> Shape:
        """Row `shape_id` of the table of shapes; decoded once. Raises `ParseError` when its bytes are damaged."""
        shape = self._shapes[shape_id]
        if shape is None:
            shape = parse_shape(decode("Shape", self._shape_bytes[shape_id], offset=0, path=self._path))
            self._shapes[shape_id] = shape
        return shape

    def ids(self) -> np.ndarray:
        """The program's number of each instruction."""
        return self._ids

    def raw(self, index: int) -> bytes:
        """Instruction `index` as a serialised `xla.HloInstructionProto`."""
        start, end = self._spans[index].tolist()
        return self._data[start:end]

    def entry_shapes(self) -> tuple[tuple[Shape, ...], Shape] | None:
        """The program's arguments and result as its caller has them, with their memories; None if unknown.

        Raises `ParseError` when the bytes are damaged.
        """
        if not self._head.host_program_shape:
            return None
        found = decode("ProgramShape", self._head.host_program_shape, offset=0, path=self._path)
        return tuple(map(parse_shape, found.parameters)), parse_shape(found.result)

    def module_fields(self) -> dict[str, Any]:
        """The module's fields beyond `HloModule`, by name."""
        return _other(self._head, _MODULE) | parts_by_name(self._head.kept)

    def number(self, index: int) -> int:
        """A parameter's number, or the element that a get-tuple-element takes, 0 or more.

        Raises `ParseError` for a damaged instruction.
        """
        message = self._message(index, self.raw(index))
        number = message.parameter_number if message.HasField("parameter_number") else message.tuple_index
        if number < 0:
            raise ParseError(f"an instruction has the number {number}", expected="0 or more")
        return number

    def kernel(self, index: int) -> tuple[str, str]:
        """The kind of a fusion and the target of a custom call; "" for neither."""
        return self._words[int(self._kinds[index])], self._words[int(self._targets[index])]

    def groups(self, index: int) -> tuple[tuple[int, ...], ...] | None:
        """`Details.replica_groups` of instruction `index`. Raises `ParseError` for damaged bytes."""
        return _groups(self._message(index, self.raw(index)))[0]

    def details(self, index: int) -> Details:
        """The details of instruction `index` beyond its columns. Raises `ParseError` for damaged bytes."""
        content = self.raw(index)
        message = self._message(index, content)
        groups, unread = _groups(message)
        return Details(
            replica_groups=groups,
            replica_groups_text=print_replica_groups(message),
            source_target_pairs=tuple((pair.source, pair.target) for pair in message.source_target_pairs),
            use_global_device_ids=message.use_global_device_ids or None,
            fusion_kind=text(message.fusion_kind),
            custom_call_target=text(message.custom_call_target),
            backend_config=self._backend_config(message),
            frontend_attributes={text(entry.key): text(entry.value) for entry in message.frontend_attributes.map},
            sharding=_one_line(message.sharding) if message.HasField("sharding") else None,
            dimensions=tuple(message.dimensions),
            comparison_direction=text(message.comparison_direction),
            literal=_scalar(message.literal) if message.HasField("literal") else None,
            parameter_number=message.parameter_number if message.HasField("parameter_number") else None,
            tuple_index=message.tuple_index if text(message.opcode) == "get-tuple-element" else None,
            is_host_transfer=message.is_host_transfer,
            async_thread=text(message.async_execution_thread),
            scheduling_name=text(message.metadata.scheduling_name),
            other=_other(message, _COLUMNS | _TYPED)
            | {f"metadata.{name}": value for name, value in _other(message.metadata, _METADATA).items()}
            | parts_by_name(message.kept),
            unknown=(_unknown(content) if len(UnknownFieldSet(message)) else ()) + unread,
        )

    def _message(self, index: int, content: bytes) -> Any:
        return decode("Instruction", content, offset=int(self._spans[index][0]), path=self._path)

    def _backend_config(self, message: Any) -> str:
        payload = message.backend_config_payload
        if payload.HasField("value"):
            content = payload.value
        elif payload.HasField("id") and 0 <= payload.id < len(self._head.payloads):
            content = self._head.payloads[payload.id]
        else:
            content = message.backend_config
        return clean_text(content.decode("utf-8", "replace"))


def _scalar(literal: Any) -> int | None:
    """The value of an integer or boolean scalar; None for any other literal."""
    if len(literal.shape.dimensions) or len(literal.shape.tuple_shapes):
        return None
    for field in _INTEGERS:
        values = getattr(literal, field)
        if len(values):
            return int(values[0])
    for field, (kind, size) in _SMALL_INTEGERS.items():
        content = getattr(literal, field)
        if len(content) == size:
            return int(np.frombuffer(content, kind)[0])
    return None


def _other(message: Any, skip: Set[str]) -> dict[str, Any]:
    """Every set field of a message except those in `skip`; messages as one line of text."""
    other: dict[str, Any] = {}
    for field, value in message.ListFields():
        if field.name in skip:
            continue
        if isinstance(value, Message):
            # XLA attaches empty messages to every instruction.
            line = _one_line(value) if value.ByteSize() else ""
            if line:
                other[field.name] = line
        elif isinstance(value, (int, float, str, bytes)):
            other[field.name] = _clean(value)
        else:
            other[field.name] = tuple(_one_line(item) if isinstance(item, Message) else _clean(item) for item in value)
    return other


def _clean(value: Any) -> Any:
    return clean_text(value) if isinstance(value, str) else value


def _one_line(message: Message) -> str:
    return _printed(type(message), message.SerializeToString())


@functools.lru_cache(maxsize=256)
def _printed(kind: type[Message], content: bytes) -> str:
    # Protocol buffers print slowly, and a program repeats a few forms of dots and shardings.
    return text_format.MessageToString(kind.FromString(content), as_one_line=True).strip()


def _unknown(content: bytes) -> tuple[tuple[int, bytes], ...]:
    known = known_fields("Instruction")
    fields = split_message(content, 0, len(content))
    return tuple((f.number, content[f.start : f.end]) for f in fields if f.number not in known)


def _groups(message: Any) -> tuple[tuple[tuple[int, ...], ...] | None, tuple[tuple[int, bytes], ...]]:
    """The groups, and their field if its form is unknown or contradicts itself."""
    form = group_form(message)
    content = getattr(message, form) if form else None
    try:
        groups = parse_optional_replica_groups(message)
        is_read = not isinstance(content, Message) or is_whole(content)
    except ParseError:
        groups, is_read = None, False
    if is_read or not isinstance(content, Message):
        return groups, ()
    return groups, ((message.DESCRIPTOR.fields_by_name[form].number, content.SerializeToString()),)


# ---------------------------------------------------------------- shapes


def parse_shape(message: Any) -> Shape:
    """The shape in a decoded `ShapeProto`; an element type of unknown number n is called "type n".

    Raises `ParseError` for an impossible length or rank.
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
    # A tuple of ten thousand arrays has a few distinct ones.
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
        other=_further(message),
    )


def _further(message: Any) -> tuple[str, ...]:
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
