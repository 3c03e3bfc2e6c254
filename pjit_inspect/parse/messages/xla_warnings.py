"""XLA's warnings, from the text it writes while it compiles.

The text is that of `RecordData.compiler_log`: messages one after the other, each with the prefix of absl's or TSL's
log. A message that is not understood, in whole or in part, is kept as its text. Not its job: hearing them
(`observe.partitioner`), or where in the source they lead (`analyze`).

*Source*: `xla/service/spmd/spmd_partitioner.cc`, `HloInstruction::ToString`, `absl/log/internal/log_format.cc`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.parse.wire.text_lines import read_instruction
from pjit_inspect.parse.wire.text_scan import find_close, inside, split_pairs, unquote_text

_HEADER = re.compile(
    r"(?:[WEF]\d{4} [\d:.]+ +\d+ ([^\s:\]]+:\d+)\]|\d{4}-\d\d-\d\d [\d:.]+: [WEF] ([^\s:\]]+:\d+)\]) ?"
)
_REMATERIALIZATION = re.compile(r"\[spmd\] Involuntary full rematerialization\.", flags=re.I)
_FROM = re.compile(r"\bfrom sharding (?=\{)")
_TO = re.compile(r" to (?=\{)")
_OPERATION = re.compile(r"\bfor HLO operation:? (?=%|ROOT )")
_ADVICE = (". As the last resort", ". You probably want")
"""Beginnings of the sentence after the instruction, in new and in older versions."""


def parse_warnings(log: str) -> tuple[XlaWarning, ...]:
    """The distinct warnings and errors in a compiler's log, in the order of their first appearance.

    Text before the first message is left out. Raises nothing, whatever the text.
    """
    warnings: dict[tuple[str, str], XlaWarning] = {}
    for where, text in _messages(log):
        known = warnings.get((where, text))
        warnings[where, text] = replace(known, count=known.count + 1) if known else _warning(where, text)
    return tuple(warnings.values())


def _messages(log: str) -> Iterator[tuple[str, str]]:
    headers = list(_HEADER.finditer(log))
    ends = (*(header.start() for header in headers), len(log))
    for header, end in zip(headers, ends[1:], strict=True):
        place = header[1] or header[2]
        text = log[header.end() : end].strip()
        # It is one line; what follows was written by somebody else.
        yield place.rpartition("/")[2], text.partition("\n")[0].rstrip() if _REMATERIALIZATION.match(text) else text


def _warning(where: str, text: str) -> XlaWarning:
    if not _REMATERIALIZATION.match(text):
        return XlaWarning(kind="other", text=text, where=where)
    facts: dict[str, Any] = {}
    with suppress(ValueError):
        facts |= _shardings(text)
    with suppress(ValueError):
        facts |= _operation(text)
    return XlaWarning(kind="full_rematerialization", text=text, where=where, **facts)


def _shardings(text: str) -> dict[str, Any]:
    match = _FROM.search(text)
    if match is None:
        raise ValueError("it names no shardings")
    end = find_close(text, match.end())
    to = _TO.match(text, end)
    if to is None:
        raise ValueError("it names one sharding only")
    return {
        "from_sharding": text[match.end() : end],
        "to_sharding": text[to.end() : find_close(text, to.end())],
    }


def _operation(text: str) -> dict[str, Any]:
    match = _OPERATION.search(text)
    if match is None:
        raise ValueError("it names no instruction")
    ends = [end for advice in _ADVICE if (end := text.rfind(advice, match.end())) >= 0]
    instruction = read_instruction(text[match.end() : min(ends, default=len(text))])
    facts = {"instruction": instruction.name, "opcode": instruction.opcode, "shape": instruction.shape or None}
    with suppress(ValueError):
        facts |= _metadata(instruction.attributes.get("metadata", ""))
    return facts


def _metadata(text: str) -> dict[str, Any]:
    pairs = dict(split_pairs(inside(text, "{")))
    facts: dict[str, Any] = {}
    if "op_name" in pairs:
        facts["op_name"] = unquote_text(pairs["op_name"]) or None
    if pairs.get("stack_frame_id", "").isdecimal() and len(pairs["stack_frame_id"]) < 10:
        facts["stack_frame_id"] = int(pairs["stack_frame_id"])
    if "source_file" in pairs:
        line = pairs.get("source_line", "")
        number = int(line) if line.isdecimal() and len(line) < 10 else 0
        facts["source"] = (Frame(file=unquote_text(pairs["source_file"]), line=number),)
    return facts
