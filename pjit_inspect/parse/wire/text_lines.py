"""One instruction of HLO text, cut into its parts.

Read by tokens, as in XLA's parser: line ends mean nothing, and comments may be between any two tokens. Not its job: the
meaning of the parts (`parse.hlo_text.attributes`, `parse.hlo_text.instructions`).

*Source*: `HloInstruction::ToString`, `HloParserImpl::ParseInstruction` and `HloLexer` in XLA.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pjit_inspect.parse.wire.text_scan import BLANK, PIECE, find_close, split_commas, without_comments

_NAMED = rf"{BLANK}(ROOT\s+)?{BLANK}(?:%([^\s=(){{}},%]+)\s*|([^\s=(){{}},%]+)\s+)=\s*"
_HEAD = re.compile(_NAMED, flags=re.S)
_ROUND = r"[^()\"']"
_TUPLE = rf"\((?:{_ROUND}|\((?:{_ROUND}|\((?:{_ROUND}|\({_ROUND}*+\))*+\))*+\))*+\)"
_CALL = (
    rf"((?:[A-Za-z]\w*\[[^\[\](){{}}]*+\](?:\s*\{{[^{{}}]*+\}})?|{_TUPLE})?)"
    rf"{BLANK}(?:(?<=[\s)\]}}/=])|\A)([A-Za-z][\w\-]*+)\("
)
_SHAPE = re.compile(BLANK + _CALL, flags=re.S)
"""A shape, which may be omitted, and the opcode."""
_BEGINNING = re.compile(_NAMED + _CALL, flags=re.S)
"""Everything before the operands."""
_OPCODE = re.compile(r"(?:(?<=\s)|(?<==)|(?<=/))([A-Za-z][\w\-]*+)\(")

_STRING = r'"(?:[^"\\]|\\.)*+"'
_ATTRIBUTE = re.compile(
    rf"{BLANK},{BLANK}([A-Za-z_][\w.\-]*+)="
    rf"({_STRING}|\{{(?:[^{{}}\"'/]|{_STRING})*+\}}|[^,{{}}()\[\]\"'\s/]++)(?=,|\s++[^\s{{\[(</]|\s*+\Z)",
    flags=re.S,
)
_ATTRIBUTE_START = re.compile(rf"{BLANK},{BLANK}([A-Za-z_][\w.\-]*+)={BLANK}", flags=re.S)
_VALUE_GOES_ON = re.compile(r"\s*+(?:[{\[(]|<=)")
_NAME = re.compile(r"%([^\s,(){}=%]++)")
_PLAIN = re.compile(r"\s*%[^\s,(){}=%]++(?:\s*,\s*%[^\s,(){}=%]++)*+\s*")
_LAST_WORD = re.compile(r"(?:.*\s)?%?([A-Za-z_][^\s,(){}=%]*)", flags=re.S)


class InstructionText(NamedTuple):
    """The parts of an instruction, as they are written.

    Attributes:
      name: without the percent sign.
      is_root: whether its computation returns it.
      shape: "" if omitted.
      opcode: such as "all-gather-start".
      operands: the text between the opcode's parentheses.
      attributes: each value by its name.
      rest: unreadable text at the end; "" for none.
    """

    name: str
    is_root: bool
    shape: str
    opcode: str
    operands: str
    attributes: dict[str, str]
    rest: str


def instruction_name(text: str) -> tuple[str, bool]:
    """The name of an instruction, and whether it is its computation's root. Raises `ValueError` without a name."""
    head = _HEAD.match(text)
    if head is None:
        raise ValueError("there is no name")
    return head[2] or head[3], head[1] is not None


def read_instruction(text: str) -> InstructionText:
    """The parts of an instruction. Raises `ValueError` if its name, shape, opcode or operands are missing."""
    parts, end = scan_instruction(text, 0, len(text))
    return parts._replace(rest=text[end:].strip())


def scan_instruction(text: str, position: int, limit: int) -> tuple[InstructionText, int]:
    """The parts of the instruction at `position`, and its end, at most `limit`.

    It ends where no comma adds another attribute. Raises `ValueError` as `read_instruction`.
    """
    head = _BEGINNING.match(text, position, limit)
    if head is not None and head[4] and head[5] != "b":
        shape, opcode, start = head[4], head[5], head.end()
    else:
        head = _HEAD.match(text, position, limit)
        if head is None:
            raise ValueError("there is no name")
        shape, opcode, start = scan_call(text, head.end(), limit)
    operands, end = _operands(text, start, limit)
    attributes, end = read_attributes(text, end, limit)
    return InstructionText(head[2] or head[3], head[1] is not None, shape, opcode, operands, attributes, ""), end


def scan_call(text: str, position: int, limit: int) -> tuple[str, str, int]:
    """The shape and the opcode at `position`, and the start of the operands."""
    if text.startswith("b(", position):
        # The shape of a buffer looks like an opcode.
        start = find_close(text, position + 1, limit)
        found = _SHAPE.match(text, start, limit)
        if found is not None and not found[1]:
            return text[position:start], found[2], found.end()
    found = _SHAPE.match(text, position, limit)
    if found is not None:
        return found[1], found[2], found.end()
    if text.startswith("(", position):
        start = find_close(text, position, limit)
    else:
        # A shape of unknown form is kept verbatim, if the opcode is in the same line.
        line = text.find("\n", position, limit)
        start, limit = position, limit if line < 0 else line
    opcode = _OPCODE.search(text, start, limit)
    if opcode is None:
        raise ValueError("there is no opcode")
    return text[position : opcode.start()].strip(), opcode[1], opcode.end()


def _operands(text: str, start: int, limit: int) -> tuple[str, int]:
    """The text between the parentheses that open before `start`, and the position after them."""
    end = text.find(")", start, limit)
    inner = text[start:end]
    if end < 0 or "(" in inner or '"' in inner or "'" in inner or ("/" in inner and _may_hide(inner)):
        end = find_close(text, start - 1, limit)
        return text[start : end - 1], end
    return inner, end + 1


def _may_hide(text: str) -> bool:
    """True if a comment that begins in `text` may contain the text after it."""
    return "//" in text or text.count("/*") != text.count("*/")


def read_attributes(text: str, position: int, limit: int) -> tuple[dict[str, str], int]:
    """The attributes at `position`, each after a comma, and their end. A repeated name ends them."""
    attributes: dict[str, str] = {}
    while position < limit:
        match = _ATTRIBUTE.match(text, position, limit)
        if match is not None:
            key, value = match.groups()
            end = match.end()
        else:
            start = _ATTRIBUTE_START.match(text, position, limit)
            if start is None:
                break
            end = _value_end(text, start.end(), limit)
            key, value = start[1], text[start.end() : end].strip()
            value = value if key == "backend_config" else without_comments(value)
        if key in attributes:
            break
        attributes[key] = value
        position = end
    return attributes, position


_DEEPEST = 100
"""The deepest nesting of brackets, as in `parse.wire.text_scan`."""
_PART = re.compile(rf"{PIECE.pattern}|[^\s()\[\]{{}},\"'/]++|\s++|.", flags=re.S)


def _value_end(text: str, start: int, limit: int) -> int:
    """The end of the attribute whose value begins at `start`: a comma or a blank outside brackets."""
    depth, is_mesh = 0, text.startswith(("mesh", "@mesh"), start)
    for piece in _PART.finditer(text, start, limit):
        kind = piece[0]
        if kind in ("(", "[", "{"):
            depth += 1
            if depth > _DEEPEST:
                break
        elif kind in (")", "]", "}"):
            depth -= 1
            if depth < 0:
                return piece.start()
        elif depth:
            continue
        # A mesh is followed by its devices, as if they were another attribute.
        elif kind == ",":
            if not (is_mesh and text.startswith(" device_ids=", piece.end())):
                return piece.start()
        elif kind.isspace() or kind.startswith(("/*", "//")):
            goes_on = _VALUE_GOES_ON.match(text, piece.end(), limit) or text.startswith("<=", piece.start() - 2)
            # The value of a literal follows its shape.
            goes_on = goes_on or (text.startswith("literal=", start - 8) and text[piece.start() - 1] in "]})")
            if not goes_on and not (is_mesh and text.startswith("device_ids=", piece.end())):
                return piece.start()
    if depth:
        raise ValueError("a bracket is not closed")
    return limit


def operand_texts(text: str) -> list[str]:
    """The operands: names, or instructions nested in their place. Raises `ValueError` for anything else.

    A name may have a shape before it. A nested instruction, such as `f32[2] parameter(0)`, ends with a parenthesis.
    """
    if "/" in text:
        text = without_comments(text)
    if _PLAIN.fullmatch(text):
        return _NAME.findall(text)
    found = []
    for part in split_commas(text):
        word = _LAST_WORD.fullmatch(part)
        if word is None and not part.endswith(")"):
            raise ValueError("an operand has no name")
        found.append(part if word is None else word[1])
    return found
