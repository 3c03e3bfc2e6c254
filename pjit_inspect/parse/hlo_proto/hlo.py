"""An optimized program, from a serialised `xla.HloModuleProto` to `model.program.hlo`.

Every instruction's columns are read for all instructions at once (`parse.wire.wire`); rarer parts stay in the bytes
until they are asked for (`parse.hlo_proto.reader`). Not its job: HLO text, and the meaning of the program (`analyze`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import Alias, Donor, HloModule
from pjit_inspect.model.program.hlo_columns import Computations, Instructions
from pjit_inspect.model.program.incomplete import MISSING, MISSING_INSTRUCTIONS, NO_ENTRY
from pjit_inspect.parse.hlo_proto.columns import (
    UNREADABLE,
    Columns,
    Index,
    read_columns,
    read_numbers,
    read_texts,
    unknown_parts,
)
from pjit_inspect.parse.hlo_proto.reader import ProtoReader
from pjit_inspect.parse.hlo_proto.source import OperationNames, read_source
from pjit_inspect.parse.wire.hlo_schema import count_fields, count_messages, decode, text
from pjit_inspect.parse.wire.wire import Field, scan_messages, split_message

_MAX_BYTES = 2**31 - 1
"""The largest size of a protocol buffer."""

_COMPUTATIONS = 3

OPCODES = frozenset((
    "abs", "acos", "acosh", "add", "add-dependency", "after-all", "all-gather", "all-gather-done",
    "all-gather-start", "all-reduce", "all-reduce-done", "all-reduce-start", "all-to-all", "and", "asin",
    "asinh", "async-done", "async-start", "async-update", "atan2", "atanh", "batch-norm-grad",
    "batch-norm-inference", "batch-norm-training", "bitcast", "bitcast-convert", "broadcast", "call", "cbrt",
    "ceil", "cholesky", "clamp", "collective-broadcast", "collective-permute", "collective-permute-done",
    "collective-permute-start", "compare", "complex", "concatenate", "conditional", "constant", "convert",
    "convolution", "copy", "copy-done", "copy-start", "cosh", "cosine", "count-leading-zeros", "custom-call",
    "divide", "domain", "dot", "dynamic-reshape", "dynamic-slice", "dynamic-update-slice", "erf", "exponential",
    "exponential-minus-one", "fft", "floor", "fusion", "gather", "get-dimension-size", "get-tuple-element",
    "imag", "infeed", "iota", "is-finite", "log", "log-plus-one", "logistic", "map", "maximum", "minimum",
    "multiply", "negate", "not", "opt-barrier", "or", "outfeed", "pad", "parameter", "partition-id", "popcnt",
    "power", "ragged-all-to-all", "ragged-dot", "real", "recv", "recv-done", "reduce", "reduce-precision",
    "reduce-scatter", "reduce-window", "remainder", "replica-id", "reshape", "reverse", "rng",
    "rng-bit-generator", "rng-get-and-update-state", "round-nearest-afz", "round-nearest-even", "rsqrt",
    "scaled-dot", "scan", "scatter", "select", "select-and-scatter", "send", "send-done", "set-dimension-size",
    "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "sinh", "slice", "sort",
    "sqrt", "stochastic-convert", "subtract", "tan", "tanh", "topk", "transpose", "triangular-solve", "tuple",
    "while", "xor",
))  # fmt: skip
"""The known opcodes, as XLA writes them (`xla/hlo/ir/hlo_opcode.h`); others are kept, and counted."""

LEAST = {
    "add": (2, 0),
    "async-start": (0, 1),
    "bitcast": (1, 0),
    "call": (0, 1),
    "compare": (2, 0),
    "conditional": (1, 1),
    "copy": (1, 0),
    "dynamic-update-slice": (2, 0),
    "fusion": (0, 1),
    "get-tuple-element": (1, 0),
    "reshape": (1, 0),
    "scatter": (2, 0),
    "while": (1, 2),
}
"""Opcode -> the least numbers of operands and of called computations."""


def parse_program(data: bytes, *, path: str | None = None) -> HloModule:
    """The program in `data`: a serialised `xla.HloModuleProto`, or an `xla.HloProto` around one.

    The module keeps `data` and decodes details from it on demand. Parts of a text without a field are counted in
    `HloModule.unknown` ("unreadable lines", "attribute foo"); `Details.other` and `HloModule.other` have them by name.
    Raises `ParseError` with the offset, and with `path` if given, for any other bytes.
    """
    try:
        _check_start(data)
        module = _parse(data, path)
        check_module(module)
        return module
    except ParseError as error:
        if path is None or error.path is not None:
            raise
        raise ParseError(error.message, path=path, offset=error.offset, expected=error.expected) from error


def check_module(module: HloModule) -> None:
    """Raises `ParseError` for a module that XLA would not write, so that no analysis has to check.

    XLA writes operands before their users and called computations before their callers, so neither has cycles.
    """
    columns, computations = module.instructions, module.computations
    for links in (columns.operands, columns.control):
        _require(links.items < links.owners, "an instruction stands before one of its operands")
        same = columns.computation[links.items] == columns.computation[links.owners]
        _require(same, "an instruction has an operand in another computation")
    before = columns.called.items < columns.computation[columns.called.owners]
    _require(before, "a computation stands before one that it calls")
    own = columns.computation[computations.root] == np.arange(len(computations))
    _require(own, "the root of a computation stands in another one")
    operands, called = np.diff(columns.operands.starts), np.diff(columns.called.starts)
    for row, opcode in enumerate(module.opcodes):
        fewest, fewest_called = LEAST.get(opcode, (0, 0))
        here = columns.opcode == row
        _require(operands[here] >= fewest, f"an instruction {opcode} lacks operands")
        _require(called[here] >= fewest_called, f"an instruction {opcode} lacks a computation")
    places = [(one.parameter, *one.parameter_index) for one in (*module.aliases, *module.donors)]
    places += [one.output for one in module.aliases]
    _require(np.array([place >= 0 for path in places for place in path]), "an alias has a place below 0")


def _require(holds: np.ndarray, otherwise: str) -> None:
    if not holds.all():
        raise ParseError(otherwise, expected="a module as XLA writes it")


def _check_start(data: bytes) -> None:
    expected = "a serialised xla.HloModuleProto"
    if not data:
        raise ParseError("there are no bytes", offset=0, expected=expected)
    if len(data) > _MAX_BYTES:
        raise ParseError(f"{len(data)} bytes are more than a protocol buffer can have", offset=0, expected=expected)
    if data.startswith(b"HloModule "):
        raise ParseError("this is HLO text", offset=0, expected=expected)


def _parse(data: bytes, path: str | None) -> HloModule:
    fields = _module_fields(data)
    # The module without its computations.
    content = b"".join(data[field.tag : field.end] for field in fields if field.number != _COMPUTATIONS)
    head = decode("Module", content, offset=0)
    parts = _read_computations(data, [field for field in fields if field.number == _COMPUTATIONS])
    columns = read_columns(data, parts.spans)
    source = read_source(columns, head.stack_frame_index)
    index = Index(columns.ids, "instruction")
    instructions = _instructions(parts, columns, source, index)
    computations = _computations(parts, columns, instructions, index)
    order, unordered = _order(head.schedule, parts, index)
    unknown = parts.unknown + columns.unknown + _unknown_opcodes(columns) + unordered
    unknown += count_messages(content, "Module", [0], [len(content)], [1])
    unknown.update(unknown_parts(head.kept))
    entry = int(Index(parts.ids, "computation").rows(np.array([head.entry_computation_id]))[0])
    # The name comes before the computations, the id after them; a cut file has 0 as the id.
    unknown[NO_ENTRY] += int(text(head.entry_computation_name) not in ("", parts.names[entry]))
    return HloModule(
        **_head_fields(head),
        opcodes=columns.opcodes,
        op_names=source.op_names,
        instructions=instructions,
        computations=computations,
        entry=entry,
        order=order,
        frames_table=source.frames,
        unknown=dict(+unknown),
        reader=ProtoReader(
            data,
            spans=parts.spans,
            names=columns.names,
            shapes=columns.shapes,
            kernels=(columns.words, columns.kind, columns.target),
            head=head,
            ids=columns.ids,
            path=path,
        ),
    )


def _module_fields(data: bytes) -> list[Field]:
    fields = list(split_message(data, 0, len(data)))
    numbers = {field.number for field in fields}
    if 1 in numbers and numbers <= {1, 3}:
        # An HloProto has the module as field 1; a module has its name there, and also an entry computation.
        wrapped = next(field for field in fields if field.number == 1)
        fields = list(split_message(data, wrapped.start, wrapped.end))
    if not any(field.number == _COMPUTATIONS for field in fields):
        raise ParseError("there is no computation in it", offset=0, expected="a serialised xla.HloModuleProto")
    return fields


def _instructions(parts: _Parts, columns: Columns, source: OperationNames, index: Index) -> Instructions:
    return Instructions(
        opcode=columns.opcode,
        shape=columns.shape,
        op_name=source.op_name,
        frame=source.frame,
        channel=columns.channel,
        computation=np.repeat(np.arange(len(parts.ids), dtype=np.int32), np.diff(parts.starts)),
        operands=index.links(columns.operands),
        called=Index(parts.ids, "computation").links(columns.called),
        control=index.links(columns.control),
    )


def _computations(parts: _Parts, columns: Columns, instructions: Instructions, index: Index) -> Computations:
    return Computations(
        names=parts.names,
        starts=parts.starts,
        root=index.rows(parts.roots),
        is_fusion=parts.is_fusion | _called_by_fusion(columns, instructions, len(parts.ids)),
        threads=parts.threads,
    )


def _called_by_fusion(columns: Columns, instructions: Instructions, count: int) -> np.ndarray:
    """A mask of the computations that fusions call; not every version of XLA marks these."""
    called = np.zeros(count, bool)
    if "fusion" in columns.opcodes:
        links = instructions.called
        called[links.items[columns.opcode[links.owners] == columns.opcodes.index("fusion")]] = True
    return called


def _order(schedule: Any, parts: _Parts, index: Index) -> tuple[np.ndarray, Counter[str]]:
    """Execution order of all computations, and the number of unusable schedules."""
    order = np.arange(len(parts.spans), dtype=np.int32)
    unordered: Counter[str] = Counter()
    if not len(schedule.sequences):
        return order, unordered
    row = {id: k for k, id in enumerate(parts.ids.tolist())}
    for entry in schedule.sequences:
        k = row.get(entry.key)
        listed = index.rows(np.array(entry.value.instruction_ids, np.int64))
        start, end = (int(parts.starts[k]), int(parts.starts[k + 1])) if k is not None else (0, 0)
        if np.array_equal(np.sort(listed), np.arange(start, end)):
            order[start:end] = listed
        else:
            unordered["schedule that does not fit its computation"] += 1
    return order, unordered


def _head_fields(head: Any) -> dict[str, Any]:
    """The fields of `HloModule` that the module's own fields give."""
    devices = head.device_assignment
    aliases = (
        Alias(
            output=tuple(entry.output_shape_index),
            parameter=entry.parameter_number,
            parameter_index=tuple(entry.parameter_shape_index),
            must=entry.kind == 2,
        )
        for entry in head.input_output_alias.entries
    )
    donors = (
        Donor(parameter=entry.parameter_number, parameter_index=tuple(entry.parameter_shape_index))
        for entry in head.buffer_donor.entries
    )
    return {
        "name": text(head.name),
        "is_scheduled": bool(len(head.schedule.sequences)),
        "aliases": tuple(aliases),
        "donors": tuple(donors),
        "frontend_attributes": {text(entry.key): text(entry.value) for entry in head.frontend_attributes.map},
        "device_counts": (devices.replica_count, devices.computation_count)
        if head.HasField("device_assignment")
        else None,
    }


def _unknown_opcodes(columns: Columns) -> Counter[str]:
    counts = np.bincount(columns.opcode, minlength=len(columns.opcodes)).tolist()
    pairs = zip(columns.opcodes, counts, strict=True)
    names = {MISSING: MISSING_INSTRUCTIONS}
    known = OPCODES | {UNREADABLE}
    return Counter({names.get(opcode, f"opcode {opcode}"): count for opcode, count in pairs if opcode not in known})


_NAME, _INSTRUCTIONS, _ID, _ROOT, _IS_FUSION, _THREAD = 1, 2, 5, 6, 7, 8
"""The fields of a computation."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Parts:
    """The computations of a module, one entry each, and the spans of their instructions.

    Attributes:
      names, threads: as in `model.program.hlo.Computations`.
      ids, roots: the program's ids.
      is_fusion: the program's mark; not every version has it.
      starts: the start of each one's instructions in `spans`; one longer than the number of computations.
      spans: start and end of every instruction in the bytes.
      unknown: unknown fields.
    """

    names: tuple[str, ...]
    threads: tuple[str, ...]
    ids: np.ndarray
    roots: np.ndarray
    is_fusion: np.ndarray
    starts: np.ndarray
    spans: np.ndarray
    unknown: Counter[str]


def _read_computations(data: bytes, fields: list[Field]) -> _Parts:
    """The computations in `fields`. Raises `ParseError` for a damaged one, or one without instructions."""
    buffer, count = np.frombuffer(data, np.uint8), len(fields)
    own = scan_messages(buffer, *np.array([(field.start, field.end) for field in fields], np.int64).T)
    instructions = own.of(_INSTRUCTIONS).in_order()
    sizes = np.bincount(instructions.owner, minlength=count)
    if not sizes.all():
        first = fields[int(np.argmin(sizes))]
        raise ParseError("a computation has no instruction", offset=first.start, expected="at least one")
    return _Parts(
        names=read_texts(data, *own.last(_NAME, count)),
        threads=read_texts(data, *own.last(_THREAD, count)),
        ids=read_numbers(buffer, *own.last(_ID, count)),
        roots=read_numbers(buffer, *own.last(_ROOT, count)),
        is_fusion=read_numbers(buffer, *own.last(_IS_FUSION, count)) != 0,
        starts=np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        spans=np.stack((instructions.start, instructions.end), axis=1),
        unknown=count_fields(buffer, "Computation", own, np.ones(count, np.int64)),
    )
