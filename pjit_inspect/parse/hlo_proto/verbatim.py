"""Parts of a program's text that no field of XLA's protos can hold, kept verbatim in an extra field.

Text of another XLA version, or damaged text, has unknown attributes and lines. They travel in the program's proto, so
that they survive saving; other readers of the proto skip the field. Not its job: reading text
(`parse.hlo_text.hlo_text`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pjit_inspect.model.program.hlo import Details, HloModule, HloReader
from pjit_inspect.model.program.incomplete import MISSING, MISSING_INSTRUCTIONS
from pjit_inspect.parse.hlo_proto.hlo import parse_hlo_module
from pjit_inspect.parse.hlo_proto.reader import ProtoReader
from pjit_inspect.parse.wire.clean import clean_line, clean_text
from pjit_inspect.parse.wire.text_wire import content_field, varint
from pjit_inspect.parse.wire.wire import split_message

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

_FIELD = 2**29 - 1
"""The largest possible field number: XLA counts from 1."""

_OURS = {f"instruction field {_FIELD}", f"module field {_FIELD}", f"opcode {UNREADABLE}", f"opcode {MISSING}"}

_TAG = varint(_FIELD << 3 | 2)


def verbatim_field(what: str, text: str) -> bytes:
    """The field that keeps `text`; `what` is its key in `HloModule.unknown`, or one of `KEPT_AS_TEXT`."""
    return content_field(_FIELD, f"{what}={text}".encode())


def parse_program(data: bytes, *, path: str | None = None) -> HloModule:
    """As `parse_hlo_module`, with verbatim parts under their names in the text.

    `HloModule.unknown` counts them as "unreadable lines", "attribute foo", ...; `Details.other` and `HloModule.other`
    have them by name.
    """
    module = parse_hlo_module(data, path=path)
    if not _OURS & set(module.unknown):
        return module
    unknown = Counter({what: count for what, count in module.unknown.items() if what not in _OURS})
    missing = module.unknown.get(f"opcode {MISSING}")
    if missing:
        unknown[MISSING_INSTRUCTIONS] = missing
    outside = tuple(_kept(data))
    inside = (what for raw in map(module.reader.raw, range(len(module))) if _TAG in raw for what, _ in _kept(raw))
    unknown.update(what for what in (*(what for what, _ in outside), *inside) if what not in KEPT_AS_TEXT)
    return replace(module, unknown=dict(unknown), reader=_VerbatimReader(module.reader, outside))


def _kept(message: bytes) -> Iterator[tuple[str, str]]:
    for field in split_message(message, 0, len(message)):
        if field.number == _FIELD:
            what, _, text = message[field.start : field.end].decode("utf-8", "replace").partition("=")
            yield clean_line(what), clean_text(text)


class _VerbatimReader(ProtoReader):
    """A reader that replaces another, and gives kept parts their names."""

    def __init__(self, reader: HloReader, outside: Sequence[tuple[str, str]]) -> None:
        """`outside`: the parts kept for the module as a whole."""
        vars(self).update(vars(reader))
        self._outside = outside

    def details(self, index: int) -> Details:
        details, raw = super().details(index), self.raw(index)
        kept = _named(_kept(raw)) if _TAG in raw else {}
        if not kept:
            return details
        unknown = tuple((number, content) for number, content in details.unknown if number != _FIELD)
        return replace(details, other={**details.other, **kept}, unknown=unknown)

    def module_fields(self) -> dict[str, Any]:
        return {**super().module_fields(), **_named(self._outside)}


def _named(kept: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Kept parts by name; a repeated name has all its texts."""
    texts: dict[str, list[str]] = {}
    for what, text in kept:
        texts.setdefault(what.removeprefix("attribute "), []).append(text)
    return {what: pieces[0] if len(pieces) == 1 else tuple(pieces) for what, pieces in texts.items()}
