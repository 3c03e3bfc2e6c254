"""Copies that XLA's program has where somebody asks for a sharding with no operation of its own.

`in_specs` of a `shard_map` are a copy of each operand before the region begins; `out_sharding=` of a call is a copy
behind its last operation, with its name and span. Not its job: constraints, which are operations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram

IN_SPECS = "in_specs"
_BEGINS = "SPMDFullToShardShape"
_ASKED = re.compile(r"\bout_sharding\s*=\s*(?!None\b|=)")
_LONGEST = 60


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
    return _argument(_text(op, texts)) if is_behind else ""


def _text(op: ShardedOp, texts: Mapping[str, SourceText]) -> str:
    """All that the user has written of the call that an operation is of, on one line; "" where it is not known."""
    for frame, span in zip(op.frames, op.spans, strict=False):
        if (source := texts.get(frame.file)) is not None and span is not None:
            lines = [(source.line(number) or "").encode() for number in range(span.line, span.end_line + 1)]
            lines[-1] = lines[-1][: span.end_column]
            lines[0] = lines[0][span.column :]
            return " ".join(line.decode(errors="replace").strip() for line in lines)
    return ""


def _argument(text: str) -> str:
    """The argument of a text's last call that asks for a sharding; "" where it has none."""
    depth, found = 0, ""
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 1 and letter in "(,":
            found = "" if letter == "(" else found
            rest = text[place + 1 :].lstrip()
            if (match := _ASKED.match(rest)) is not None:
                found = f"out_sharding={_expression(rest[match.end() :])}"
    # What follows the call, as in `f(x, out_sharding=s) * 2`, is not asked for.
    return (found if len(found) <= _LONGEST else "out_sharding") if found and text.endswith(")") else ""


def _expression(text: str) -> str:
    """The expression that a text begins with."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or (depth == 0 and letter == ","):
            return text[:place].strip()
    return text.strip()
