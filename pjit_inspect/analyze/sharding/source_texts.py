"""Pieces of the user's source: how they are shown, and which sharding a call's text asks for.

Copies of XLA's program stand where somebody asks for a sharding with no operation of its own: `in_specs` of a
`shard_map` are a copy of each operand before the region begins; `out_sharding=` of a call is a copy behind its last
operation, with its name and span. Not its job: constraints, which are operations; which piece an operation was written
as (`analyze.sharding.written_ops`).
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping, Sequence
from contextlib import suppress

from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, Span

IN_SPECS, PARTITION_RULE = "in_specs", "partition"
_BEGINS = "SPMDFullToShardShape"
_LONGEST = 60
Piece = tuple[str, str]
"""A token, and the space before it."""
_DOTS: Piece = (" ", "...")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_NO_TEXT = frozenset((tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT))


# ---------------------------------------------------------------- what a text asks for


def find_asked(program: ShardedProgram, sources: Sequence[SourceText]) -> dict[int, str]:
    """Index of a copy -> the argument that asks for its sharding: "in_specs", or "out_sharding=P('x')"."""
    texts = {source.file: source for source in sources}
    found = ((index, _asked_in(program, op, texts)) for index, op in enumerate(program.ops) if op.kind == "copy")
    return {index: argument for index, argument in found if argument}


def _asked_in(program: ShardedProgram, op: ShardedOp, texts: Mapping[str, SourceText]) -> str:
    users = [program.ops[user] for own in op.results for user, _ in program.users.get(own, ())]
    if users and all(user.detail == _BEGINS for user in users):
        return IN_SPECS
    maker = program.op_of(op.operands[0]) if op.operands else None
    # In explicit mode the result of every operation is copied; somebody asked where the text says so.
    is_behind = maker is not None and bool(op.op_name) and (maker.op_name, maker.frames) == (op.op_name, op.frames)
    # What the call itself goes on with is not its result.
    is_behind &= all(user.frames != op.frames for user in users)
    return _argument(_text(op, texts)) if is_behind else ""


def _text(op: ShardedOp, texts: Mapping[str, SourceText]) -> str:
    """All that the user has written of the call that an operation is of; "" where it is not known."""
    for frame, span in zip(op.frames, op.spans, strict=False):
        if (source := texts.get(frame.file)) is not None and span is not None:
            return text_of(source, span.line, span)
    return ""


def _argument(text: str) -> str:
    """The argument that asks for a sharding, where a text is a call that has one; "" for anything else."""
    try:
        call = ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    # What follows a call, as in `f(x, out_sharding=s) * 2`, is not asked for.
    given = [own.value for own in call.keywords if own.arg == "out_sharding"] if isinstance(call, ast.Call) else []
    written = [ast.unparse(value) for value in given if not (isinstance(value, ast.Constant) and value.value is None)]
    argument = f"out_sharding={written[0]}" if written else ""
    return argument if len(argument) <= _LONGEST else "out_sharding"


# ---------------------------------------------------------------- how a text is shown


def text_of(source: SourceText, line: int, span: Span | None) -> str:
    """The text of a span, cut at its ends; the whole line where no span is known, or the span cuts through words.

    The second is so where the file is not what Python compiled: marimo indents a cell in its file, and not in memory.
    """
    text = _cut(source, line, span)
    return text.strip() if span is None or _is_piece(text) else _cut(source, line, None).strip()


def _is_piece(text: str) -> bool:
    if text != text.strip():
        return False
    for form, mode in ((f"({text}\n)", "eval"), (text, "exec")):
        with suppress(SyntaxError, ValueError):
            ast.parse(form, mode=mode)
            return True
    return False


def _cut(source: SourceText, line: int, span: Span | None) -> str:
    last = line if span is None else max(line, span.end_line)
    lines = [(source.line(number) or "").encode() for number in range(line, last + 1)]
    if span is not None:
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
    return "\n".join(part.decode(errors="replace") for part in lines)


def shortened(text: str) -> str:
    """A text on one line, without what is inside its brackets where it is too long: what is outside says its value."""
    pieces = _tokens(text)
    while len(text := "".join(space + token for space, token in pieces)) > _LONGEST:
        shorter = _without_an_argument(pieces)
        if shorter is None:
            # At a word, unless that leaves little.
            begin, _, word = text[: _LONGEST - 3].rpartition(" ")
            return f"{begin} ..." if len(begin) > len(word) else f"{text[: _LONGEST - 3]}..."
        pieces = shorter
    return text


def _without_an_argument(pieces: list[Piece]) -> list[Piece] | None:
    """The text with one argument less: the last of the longest list of several, else all of the innermost list."""
    several, single = list[tuple[int, int, int]](), list[tuple[int, int, int]]()
    for begin, commas, end in _lists(pieces):
        last = commas[-1] + 1 if commas else begin + 1
        # What was cut before goes with the argument before it.
        if pieces[last : last + 1] == [_DOTS] and commas:
            commas = commas[:-1]
            last = commas[-1] + 1 if commas else begin + 1
        if commas and _length(pieces[last:end]) > _length([_DOTS]):
            several.append((begin, last, end))
        elif _length(pieces[begin + 1 : end]) > _length([_DOTS]):
            single.append((begin, begin + 1, end))
    if several:
        _, last, end = max(several, key=lambda own: own[2] - own[0])
        return [*pieces[:last], _DOTS, *pieces[end:]]
    if single:
        begin, _, end = min(single, key=lambda own: own[2] - own[0])
        return [*pieces[: begin + 1], ("", "..."), *pieces[end:]]
    return None


def _length(pieces: Sequence[Piece]) -> int:
    return sum(len(space + token) for space, token in pieces)


def _lists(pieces: list[Piece]) -> list[tuple[int, list[int], int]]:
    """The places of each pair of brackets: its first, those of the commas right inside, and its last."""
    found, opened = list[tuple[int, list[int], int]](), list[tuple[int, list[int]]]()
    for place, (_, token) in enumerate(pieces):
        if token in _BRACKETS:
            opened.append((place, []))
        elif token in _BRACKETS.values() and opened:
            found.append((*opened.pop(), place))
        elif token == "," and opened:
            opened[-1][1].append(place)
    return found


def _tokens(text: str) -> list[Piece]:
    """The tokens of a text that may be a part of a statement, each with the space before it."""
    found, end, is_broken = list[Piece](), (1, 0), False
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _NO_TEXT or not token.string:
                continue
            is_broken = token.start[0] != end[0]
            space = " " * (token.start[1] - end[1]) if not is_broken else " "
            if is_broken and found and found[-1][1] in _BRACKETS:
                space = ""
            if is_broken and found and token.string in _BRACKETS.values():
                space = ""
                if found[-1][1] == "," and ("", ",") in found[:-1]:
                    found.pop()
            found.append((space, token.string))
            end = token.end
    except (tokenize.TokenError, SyntaxError):
        # Brackets that a line leaves open end the tokens with an error, behind the last of them.
        return found or [("", " ".join(text.split()))]
    return found
