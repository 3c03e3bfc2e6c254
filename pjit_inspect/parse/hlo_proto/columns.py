"""The columns of all instructions of a module, and text kept beside them, read together from its bytes.

Not its job: the module around them (`parse.hlo_proto.hlo`), source positions (`parse.hlo_proto.source`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo_columns import Links
from pjit_inspect.parse.wire.clean import clean_line, clean_text
from pjit_inspect.parse.wire.hlo_schema import KEPT, count_fields, count_messages, text
from pjit_inspect.parse.wire.text_wire import content_field
from pjit_inspect.parse.wire.wire import Fields, read_packed, scan_messages

_CHUNK = 1 << 15
"""Instructions read at a time: enough for numpy's speed, little memory."""

_MAX_OPCODES = 2**15 - 1
"""The most distinct opcodes that a column can number; XLA has fewer than 200."""

_NAME, _OPCODE, _SHAPE, _METADATA, _KIND, _CHANNEL, _TARGET = 1, 2, 3, 7, 11, 26, 28
_ID, _OPERANDS, _CONTROL, _CALLED = 35, 36, 37, 38
_COUNTED_ELSEWHERE = frozenset((_SHAPE, _METADATA))
"""Messages stored once each; their unknown fields are counted when all are known."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns:
    """One entry per instruction; references are still the program's ids.

    Attributes:
      ids: the instructions' own ids.
      names: start and end of each name in the bytes; -1 without a name.
      opcode, shape, metadata: rows of the tables `opcodes`, `shapes` and `metadatas`.
      kind, target: for fusions and custom calls, rows of the table `words`, whose first is empty.
      channel: 0 without a channel.
      operands, control, called: ids.
      opcodes: every distinct opcode.
      shapes, metadatas: every distinct message, still serialised.
      words: every distinct kind of a fusion and target of a custom call.
      unknown: unknown fields, and how many instructions have each.
    """

    ids: np.ndarray
    names: np.ndarray
    opcode: np.ndarray
    shape: np.ndarray
    metadata: np.ndarray
    kind: np.ndarray
    target: np.ndarray
    channel: np.ndarray
    operands: Links
    control: Links
    called: Links
    opcodes: tuple[str, ...]
    shapes: tuple[bytes, ...]
    metadatas: tuple[bytes, ...]
    words: tuple[str, ...]
    unknown: Counter[str]


class _Rows(dict[bytes, int]):
    """The contents of a table and their rows; new contents get the next row."""

    def __missing__(self, content: bytes) -> int:
        return self.setdefault(content, len(self))


def read_columns(data: bytes, spans: np.ndarray) -> Columns:
    """The columns of the instructions at `spans` (start and end of each in `data`).

    Raises `ParseError` for a damaged instruction.
    """
    buffer = np.frombuffer(data, np.uint8)
    tables = tuple(_Rows() for _ in range(4))
    tables[3][b""] = 0
    unknown: Counter[str] = Counter()
    chunks = []
    for start in range(0, max(len(spans), 1), _CHUNK):
        chunk = spans[start : start + _CHUNK]
        fields = scan_messages(buffer, chunk[:, 0], chunk[:, 1])
        ones = np.broadcast_to(np.int64(1), len(chunk))
        unknown += count_fields(buffer, "Instruction", fields, ones, skip=_COUNTED_ELSEWHERE)
        kept = fields.of(KEPT)
        unknown.update(unknown_parts(data[at:end] for at, end in zip(kept.start, kept.end, strict=True)))
        chunks.append(_read_chunk(data, buffer, fields, len(chunk), tables))
    singles: dict[str, Any] = {name: np.concatenate([chunk[0][name] for chunk in chunks]) for name in chunks[0][0]}
    links: dict[str, Any] = {name: _join([chunk[1][name] for chunk in chunks]) for name in chunks[0][1]}
    opcodes, shapes, metadatas, words = (tuple(table) for table in tables)
    unknown += _unknown_in_table("Shape", shapes, singles["shape"])
    unknown += _unknown_in_table("OpMetadata", metadatas, singles["metadata"])
    texts, named = tuple(map(text, opcodes)), tuple(map(text, words))
    return Columns(**singles, **links, opcodes=texts, shapes=shapes, metadatas=metadatas, words=named, unknown=unknown)


def _read_chunk(
    data: bytes, buffer: np.ndarray, fields: Fields, count: int, tables: tuple[_Rows, ...]
) -> tuple[dict[str, np.ndarray], dict[str, Links]]:
    repeated = [fields.last(number, count) for number in (_OPCODE, _SHAPE, _METADATA)]
    opcode, shape, metadata = _intern_together(data, buffer, repeated, tables[:3])
    if len(tables[0]) > _MAX_OPCODES:
        raise ParseError("the program has too many distinct opcodes", expected=f"at most {_MAX_OPCODES}")
    singles = {
        "ids": read_numbers(buffer, *fields.last(_ID, count)),
        "names": np.array(fields.last(_NAME, count), np.int32).T,
        "opcode": opcode.astype(np.int16),
        "shape": shape,
        "metadata": metadata,
        "kind": _few(data, fields.last(_KIND, count), tables[3]),
        "target": _few(data, fields.last(_TARGET, count), tables[3]),
        "channel": np.maximum(read_numbers(buffer, *fields.last(_CHANNEL, count)), 0),
    }
    links = {
        "operands": _links(buffer, fields.of(_OPERANDS), count),
        "control": _links(buffer, fields.of(_CONTROL), count),
        "called": _links(buffer, fields.of(_CALLED), count),
    }
    return singles, links


def _intern_together(
    data: bytes, buffer: np.ndarray, spans: Sequence[tuple[np.ndarray, np.ndarray]], tables: Sequence[_Rows]
) -> list[np.ndarray]:
    """As `_intern` for opcode, shape and metadata, with one lookup where all three are equal.

    XLA writes them in this order, so from the first tag to the last end, equal bytes are equal fields.
    """
    (opcode, _), (shape, _), (metadata, _) = spans
    # A tag, and a length below 128 (any opcode's), take one byte each.
    starts, ends = opcode - 2, np.max([end for _, end in spans], axis=0)
    is_usual = (opcode >= 2) & (shape > opcode) & ((metadata > shape) | (metadata < 0))
    if not (is_usual & (buffer[starts] == _OPCODE << 3 | 2)).all():
        return [_intern(data, *span, table) for span, table in zip(spans, tables, strict=True)]
    rows = _intern(data, starts, ends, _Rows())
    first = np.unique(rows, return_index=True)[1]
    pairs = zip(spans, tables, strict=True)
    return [_intern(data, start[first], end[first], table)[rows] for (start, end), table in pairs]


def _intern(data: bytes, starts: np.ndarray, ends: np.ndarray, table: _Rows) -> np.ndarray:
    """The row of each content in `table`, which grows by new ones; a missing field counts as empty."""
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return np.array([table[data[start:end]] for start, end in spans], np.int32)


def _few(data: bytes, spans: tuple[np.ndarray, np.ndarray], table: _Rows) -> np.ndarray:
    """As `_intern`, for a field that most instructions lack: they get row 0."""
    rows = np.zeros(len(spans[0]), np.int32)
    there = np.flatnonzero(spans[0] >= 0)
    rows[there] = _intern(data, spans[0][there], spans[1][there], table)
    return rows


def read_numbers(buffer: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The number at each span; 0 for none (start -1)."""
    values = np.zeros(len(starts), np.int64)
    there = np.flatnonzero(starts >= 0)
    packed = read_packed(buffer, starts[there], ends[there])
    if len(packed.values) != len(there):
        raise ParseError("a number is damaged", offset=int(starts[there][0]), expected="one number per field")
    values[there] = packed.values
    return values


def read_texts(data: bytes, starts: np.ndarray, ends: np.ndarray) -> tuple[str, ...]:
    """The clean text at each span; "" for none (start -1)."""
    contents = [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    joined = b"\n".join(contents)
    if joined.isascii():
        # Nearly always; then thousands need not be decoded and cleaned one by one.
        texts = joined.decode("ascii").split("\n")
        if len(texts) == len(contents) and "".join(texts).isprintable():
            return tuple(texts)
    return tuple(map(text, contents))


def _links(buffer: np.ndarray, fields: Fields, count: int) -> Links:
    fields = fields.in_order()
    packed = read_packed(buffer, fields.start, fields.end)
    counts = np.bincount(fields.owner, weights=packed.counts, minlength=count).astype(np.int64)
    return Links(starts=np.concatenate(([0], np.cumsum(counts))), items=packed.values)


def _join(parts: list[Links]) -> Links:
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    items = np.concatenate([part.items for part in parts])
    return Links(starts=np.concatenate(([0], np.cumsum(counts))).astype(np.int32), items=items)


def _unknown_in_table(name: str, messages: tuple[bytes, ...], rows: np.ndarray) -> Counter[str]:
    """Unknown fields in a table of messages, and how many instructions have each."""
    ends = np.cumsum([len(message) for message in messages], dtype=np.int64)
    starts = ends - np.array([len(message) for message in messages], np.int64)
    uses = np.bincount(rows, minlength=len(messages))
    return count_messages(b"".join(messages), name, starts, ends, uses)


class Index:
    """Maps a program's ids to rows. Raises `ParseError` when an id is used twice."""

    def __init__(self, ids: np.ndarray, what: str) -> None:
        self._order = np.argsort(ids, kind="stable").astype(np.int32)
        self._ids, self._what = ids[self._order], what
        if len(ids) > 1 and not (np.diff(self._ids) > 0).all():
            raise ParseError(f"two {what}s have the same id", expected="ids that differ")

    def rows(self, ids: np.ndarray) -> np.ndarray:
        """The row of each of `ids`. Raises `ParseError` for an unknown id."""
        if not len(ids):
            return np.zeros(0, np.int32)
        place = np.searchsorted(self._ids, ids).clip(max=len(self._ids) - 1)
        wrong = np.flatnonzero(self._ids[place] != ids)
        if wrong.size:
            raise ParseError(f"there is no {self._what} {int(ids[wrong[0]])}", expected="ids that are defined")
        return self._order[place]

    def links(self, links: Links) -> Links:
        """The same links, with rows in place of ids."""
        return Links(starts=links.starts, items=self.rows(links.items))


UNREADABLE = "unreadable"
"""The opcode of an instruction with an unreadable line; its details have the line."""

OTHER_LINES = "lines beside the program"
"""The key in `HloModule.unknown` of lines that are no instructions: before or after the program, or in tables."""

KEPT_AS_TEXT = frozenset((
    "alias_passthrough_params", "allow_spmd_sharding_propagation_to_output",
    "allow_spmd_sharding_propagation_to_parameters", "block_scaling_config", "convolution_kind", "debug_attributes",
    "entry_computation_layout", "inferred_dimension", "literal", "mode", "origin", "origin_recovery_table",
    "sparsity_config",
))  # fmt: skip
"""Known attributes of instructions and modules that are kept as text because nothing needs more."""


def verbatim_field(what: str, text: str) -> bytes:
    """The field that keeps `text`; `what` is its key in `HloModule.unknown`, or one of `KEPT_AS_TEXT`."""
    return content_field(KEPT, f"{what}={text}".encode())


def unknown_parts(kept: Iterable[bytes]) -> list[str]:
    """The keys in `HloModule.unknown` of kept parts, once for each part."""
    return [what for what, _ in _parts(kept) if what not in KEPT_AS_TEXT]


def parts_by_name(kept: Iterable[bytes]) -> dict[str, str | tuple[str, ...]]:
    """The texts of kept parts by name; a repeated name has all its texts."""
    texts: dict[str, list[str]] = {}
    for what, piece in _parts(kept):
        texts.setdefault(what.removeprefix("attribute "), []).append(piece)
    return {what: found[0] if len(found) == 1 else tuple(found) for what, found in texts.items()}


def _parts(kept: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    for content in kept:
        what, _, text = content.decode("utf-8", "replace").partition("=")
        yield clean_line(what), clean_text(text)
