"""The spelling of devices, slices, specs, groups and names of operations, the same in every view.

Not its job: shortening to a width (`view.document.printable`) or escaping.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import PartitionSpec, spec_text
from pjit_inspect.model.program.primitive import JAX_SCOPES, users_word
from pjit_inspect.model.program.shape import short_dtype

_WRAPPER = re.compile(r"^(?:jvp|transpose|vmap|pmap|checkpoint|remat|rematted_computation)\((.*)\)$")
_CALL = re.compile(r"^(?:p?jit|xla_call|core_call|shard_map|pmap)\(.*\)$")
_MAX_NAME = 4096  # a longer name of an operation is cut before it is taken apart
_MAX_DEPTH = 8  # XLA combines names that it combined before, a few levels deep
_SILENT = JAX_SCOPES | {"", "main"}


def ranges_text(numbers: Sequence[int], *, limit: int | None = None) -> str:
    """Numbers in order, runs folded: (0, 1, 2, 3, 6) -> "0-3 6". At most `limit` runs, then "..."."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    shown = runs if limit is None or len(runs) <= limit else runs[:limit]
    parts = [f"{run[0]}-{run[-1]}" if run[-1] - run[0] > 1 else _pair(run) for run in shown]
    return " ".join(parts) + (" ..." if len(shown) < len(runs) else "")


def _pair(run: list[int]) -> str:
    return str(run[0]) if len(run) == 1 else f"{run[0]} {run[1]}"


def shape_text(shape: Sequence[int]) -> str:
    """A shape: "[16,32]"; "[]" for a scalar."""
    return f"[{','.join(str(length) for length in shape)}]"


def array_text(layout: ArrayLayout) -> str:
    """Element type and global shape as a jaxpr writes them: "f32[16,32]"."""
    dtype = layout.dtype if layout.dtype == "bool" else short_dtype(layout.dtype)
    return dtype + shape_text(layout.global_shape)


def known_spec_text(spec: PartitionSpec | None) -> str:
    """A PartitionSpec as the user would write it; "no spec" when the tiling follows no mesh axes."""
    return "no spec" if spec is None else spec_text(spec)


def slices_text(slices: Sequence[slice], shape: Sequence[int]) -> str:
    """One device's part of an array: "[0:8, :]"; "all" when it is the whole array, "nothing" when it is empty."""
    if any(part.start == part.stop for part in slices) and 0 not in shape:
        return "nothing"
    whole = [part.start == 0 and part.stop == length for part, length in zip(slices, shape, strict=True)]
    if all(whole):
        return "all"
    return f"[{', '.join(':' if w else f'{p.start}:{p.stop}' for w, p in zip(whole, slices, strict=True))}]"


def groups_text(groups: Sequence[Sequence[int]], *, limit: int = 2) -> str:
    """Replica groups: "{0-3} {4-7}"; of more than `limit` groups the first and how many others: "{0 4} +3"."""
    shown = groups if len(groups) <= limit else groups[:1]
    written = " ".join(f"{{{ranges_text(group, limit=4)}}}" for group in shown)
    return written if len(groups) <= limit else f"{written} +{len(groups) - len(shown):,}"


@functools.lru_cache(maxsize=16_384)
def operation_text(op_name: str) -> str:
    """The useful part of JAX's name of an operation: the user's scopes and the operation.

    "jit(step)/jit(main)/transpose(jvp(layer0))/attn/dot_general" -> "layer0/attn/dot_general".
    """
    return _operation(op_name[:_MAX_NAME], 0)


def _operation(op_name: str, depth: int) -> str:
    parts = _split(op_name, "/")
    if parts[-1].startswith("(") and parts[-1].endswith(")") and depth < _MAX_DEPTH:
        return _combined(parts[-1][1:-1], depth)
    parts = [_unwrapped(part) for part in parts]
    return users_word("/".join(part for part in parts if part not in _SILENT and not _CALL.match(part)))


def _combined(names: str, depth: int) -> str:
    """Operations that XLA joined with colons: "dot_general, reduce_sum"."""
    operations = list(dict.fromkeys(_operation(name, depth + 1) for name in _split(names, ":")))
    return ", ".join(operations[:2]) + (f" +{len(operations) - 2} more" if len(operations) > 2 else "")


def _unwrapped(part: str) -> str:
    while match := _WRAPPER.match(part):
        part = match[1]
    return part


def _split(op_name: str, separator: str) -> list[str]:
    """Splits where the separator is outside parentheses."""
    parts, depth, start = [], 0, 0
    for position, char in enumerate(op_name):
        depth += (char == "(") - (char == ")")
        if char == separator and depth <= 0:
            parts.append(op_name[start:position])
            start = position + 1
    return [*parts, op_name[start:]]
