"""Where the computations and instructions of a module stand in its bytes.

Not its job: reading the instructions (`parse.hlo_proto.columns`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.wire.hlo_schema import decode, known_fields, text
from pjit_inspect.parse.wire.wire import Field, read_varint, split_message

__all__ = ["Parts", "read_computations"]

_INSTRUCTION_TAG = 0x12
"""Field 2, with a length: one instruction."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """The computations of a module, one entry each, and the spans of their instructions.

    Attributes:
      names, threads: as in `model.program.hlo.Computations`.
      ids, roots: the ids the program uses.
      is_fusion: what the program says; not every version does.
      starts: where each one's instructions begin in `spans`; one longer than the number of computations.
      spans: start and end of every instruction in the bytes.
      unknown: fields without a name.
    """

    names: tuple[str, ...]
    threads: tuple[str, ...]
    ids: np.ndarray
    roots: np.ndarray
    is_fusion: np.ndarray
    starts: np.ndarray
    spans: np.ndarray
    unknown: Counter[str]


def read_computations(data: bytes, fields: list[Field]) -> Parts:
    """The computations that `fields` hold. Raises `ParseError` where one is damaged or has no instruction."""
    spans: list[int] = []
    starts, heads = [0], []
    unknown: Counter[str] = Counter()
    known = known_fields("Computation")
    for field in fields:
        rest = _cut(data, field.start, field.end, spans)
        if len(spans) // 2 == starts[-1]:
            raise ParseError("a computation has no instruction", offset=field.start, expected="at least one")
        starts.append(len(spans) // 2)
        unknown.update(f"computation field {other.number}" for other in rest if other.number not in known)
        content = b"".join(data[other.tag : other.end] for other in rest)
        heads.append(decode("Computation", content, offset=field.start))
    return Parts(
        names=tuple(text(head.name) for head in heads),
        threads=tuple(text(head.execution_thread) for head in heads),
        ids=np.array([head.id for head in heads], np.int64),
        roots=np.array([head.root_id for head in heads], np.int64),
        is_fusion=np.array([head.is_fusion_computation for head in heads], bool),
        starts=np.array(starts, np.int32),
        spans=np.array(spans, np.int32).reshape(-1, 2),
        unknown=unknown,
    )


def _cut(data: bytes, start: int, end: int, spans: list[int]) -> list[Field]:
    """Appends start and end of every instruction of one computation to `spans`; returns the other fields."""
    rest: list[Field] = []
    while start < end:
        if data[start] != _INSTRUCTION_TAG:
            field = next(split_message(data, start, end))
            rest.append(field)
            start = field.end
            continue
        length, begin = read_varint(data, start + 1, end)
        if length > end - begin:
            raise ParseError("an instruction is cut short", offset=start, expected=f"{length} bytes")
        start = begin + length
        spans += (begin, start)
    return rest
