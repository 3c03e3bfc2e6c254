"""Copies that XLA's program has where somebody asks for a sharding with no operation of its own.

`in_specs` of a `shard_map` are a copy of each operand before the region begins; `out_sharding=` of a call is a copy
behind its last operation, with its name and span. Not its job: constraints, which are operations.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from pjit_inspect.analyze.sharding.written_ops import lines_of
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram

IN_SPECS = "in_specs"
_BEGINS = "SPMDFullToShardShape"
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
    # What the call itself goes on with is not its result.
    is_behind &= all(user.frames != op.frames for user in users)
    return _argument(_text(op, texts)) if is_behind else ""


def _text(op: ShardedOp, texts: Mapping[str, SourceText]) -> str:
    """All that the user has written of the call that an operation is of; "" where it is not known."""
    for frame, span in zip(op.frames, op.spans, strict=False):
        if (source := texts.get(frame.file)) is not None and span is not None:
            return "\n".join(lines_of(source, span.line, span))
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
