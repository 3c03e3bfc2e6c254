"""One instruction of HLO text, cut into its parts.

Not its job: what the parts mean (`parse.hlo_text.attributes`, `parse.hlo_text.instructions`).

*Source*: `HloInstruction::ToString` in XLA.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pjit_inspect.parse.wire.text_scan import PIECE, find_close, split_commas, without_comments

__all__ = ["InstructionText", "instruction_name", "operand_names", "read_instruction"]

_HEAD = re.compile(r"\s*(ROOT\s+)?%?([^\s=(){},%]+)\s+=\s+")
_OPCODE = re.compile(r"(?:^|(?<=\s))([A-Za-z][\w\-]*+)\(")
_STRING = r'"(?:[^"\\]|\\.)*+"'
_ATTRIBUTE = re.compile(
    rf"\s*,\s*([A-Za-z_][\w.\-]*+)=({_STRING}|\{{(?:[^{{}}\"']|{_STRING})*+\}}|[^,{{}}()\[\]\"'\s]++)(?=,|\s*\Z)",
    flags=re.S,
)
_ATTRIBUTE_START = re.compile(r"\s*,\s*([A-Za-z_][\w.\-]*+)=")
_NAME = re.compile(r"%([^\s,(){}=%]++)")
_PLAIN = re.compile(r"\s*%[^\s,(){}=%]++(?:\s*,\s*%[^\s,(){}=%]++)*+\s*")
_LAST_WORD = re.compile(r"(?:.*\s)?%?([A-Za-z_][^\s,(){}=%]*)", flags=re.S)


class InstructionText(NamedTuple):
    """The parts of an instruction, as they are written.

    Attributes:
      name: without the percent sign.
      is_root: whether its computation returns it.
      shape: "" where it is left out.
      opcode: such as "all-gather-start".
      operands: what stands between the opcode's parentheses.
      attributes: each value by its name.
      rest: what could not be read at the end; "" when all was.
    """

    name: str
    is_root: bool
    shape: str
    opcode: str
    operands: str
    attributes: dict[str, str]
    rest: str


def instruction_name(text: str) -> tuple[str, bool]:
    """The name of an instruction, and whether it is its computation's root. Raises `ValueError` where none stands."""
    head = _HEAD.match(text)
    if head is None:
        raise ValueError("there is no name")
    return head[2], head[1] is not None


def read_instruction(text: str) -> InstructionText:
    """The parts of an instruction. Raises `ValueError` when its name, shape, opcode and operands are not all there."""
    head = _HEAD.match(text)
    if head is None:
        raise ValueError("there is no name")
    # The shape of a buffer looks like an opcode.
    start = find_close(text, head.end() + 1) if text.startswith("b(", head.end()) else head.end()
    opcode = _OPCODE.search(text, start)
    if opcode is None:
        raise ValueError("there is no opcode")
    end = _operands_end(text, opcode.end())
    attributes, rest = _read_attributes(text, end)
    return InstructionText(
        head[2],
        head[1] is not None,
        text[head.end() : opcode.start()].strip(),
        opcode[1],
        text[opcode.end() : end - 1],
        attributes,
        rest,
    )


def _operands_end(text: str, start: int) -> int:
    """The position after the parenthesis that closes the one before `start`."""
    end = text.find(")", start)
    if end < 0 or text.find("(", start, end) >= 0 or text.find('"', start, end) >= 0 or text.find("'", start, end) >= 0:
        return find_close(text, start - 1)
    return end + 1


def _read_attributes(text: str, position: int) -> tuple[dict[str, str], str]:
    attributes: dict[str, str] = {}
    while position < len(text):
        match = _ATTRIBUTE.match(text, position)
        if match is not None:
            key, value = match.groups()
            end = match.end()
        else:
            start = _ATTRIBUTE_START.match(text, position)
            if start is None:
                return attributes, text[position:].strip()
            end = _value_end(text, start.end())
            key, value = start[1], text[start.end() : end].strip()
        if key in attributes:
            return attributes, text[position:].strip()
        attributes[key] = value
        position = end
    return attributes, ""


def _value_end(text: str, start: int) -> int:
    """Where the attribute whose value begins at `start` ends: at a comma in no bracket, or with the text."""
    depth, is_mesh = 0, text.startswith(("mesh", "@mesh"), start)
    for piece in PIECE.finditer(text, start):
        kind = piece[0]
        if kind in ("(", "[", "{"):
            depth += 1
        elif kind in (")", "]", "}"):
            depth -= 1
        # A mesh is followed by its devices, as if they were another attribute.
        elif kind == "," and depth <= 0 and not (is_mesh and text.startswith(" device_ids=", piece.end())):
            return piece.start()
    return len(text)


def operand_names(text: str) -> list[str]:
    """The names among the operands, which may have shapes before them. Raises `ValueError` for anything else."""
    if "/*" in text:
        text = without_comments(text)
    if _PLAIN.fullmatch(text):
        return _NAME.findall(text)
    parts = split_commas(text)
    words = [_LAST_WORD.fullmatch(part) for part in parts]
    if any(word is None for word in words):
        raise ValueError("an operand has no name")
    return [word[1] for word in words if word is not None]
