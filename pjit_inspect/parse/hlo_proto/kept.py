"""Parts of HLO text that no field of XLA's protos can hold, kept verbatim in a field of our own.

Text of another XLA version, or damaged text, has such attributes and lines. They survive saving; other readers of the
proto skip the field. Not its job: reading the text (`parse.hlo_text`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pjit_inspect.parse.wire.clean import clean_line, clean_text
from pjit_inspect.parse.wire.hlo_schema import KEPT
from pjit_inspect.parse.wire.text_wire import content_field

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
    for what, text in _parts(kept):
        texts.setdefault(what.removeprefix("attribute "), []).append(text)
    return {what: found[0] if len(found) == 1 else tuple(found) for what, found in texts.items()}


def _parts(kept: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    for content in kept:
        what, _, text = content.decode("utf-8", "replace").partition("=")
        yield clean_line(what), clean_text(text)
