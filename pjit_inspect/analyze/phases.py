"""What JAX's name of an operation tells: the phase of training it belongs to, and who wrote a collective.

Not its job: why a collective is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pjit_inspect.model.collective import Phase

__all__ = ["find_implicit", "find_phase", "split_op_names"]

WRITTEN = frozenset((
    "psum", "psum2", "psum_invariant", "all_gather", "all_gather_invariant", "all_gather_reduced",
    "reduce_scatter", "psum_scatter", "unreduced_psum", "unreduced_reduce_scatter", "ppermute", "pshuffle",
    "collective_permute", "all_to_all", "ragged_all_to_all", "pmax", "pmin", "pmean", "pbroadcast", "pcast",
    "pvary", "all_reduce", "collective_broadcast",
))  # fmt: skip
"""JAX's primitives that are collectives: a program has them only when somebody wrote one."""

_OPTIMIZER = frozenset(("optimizer", "optim", "optax", "adam", "adamw", "sgd", "apply_updates", "apply_gradients"))
_MANUAL = ("shard_map", "pmap", "smap")


def split_op_names(op_name: str) -> tuple[str, ...]:
    """The operations a name stands for.

    XLA writes those of a combined instruction as `jit(f)/(a/dot:b/dot)`, those of a fused one as `f/a;f/b`.
    """
    return tuple(name for part in _split(op_name, ";") for name in _combined(part) if name)


def _combined(name: str) -> tuple[str, ...]:
    start = name.find("/(") + 1
    inner = name[start + 1 : -1]
    if not name.startswith("(", start) or not name.endswith(")") or ":" not in inner or not _balanced(inner):
        return (name,)
    return tuple(name[:start] + part for part in _split(inner, ":"))


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


def _split(text: str, separator: str) -> list[str]:
    """The parts between separators that stand outside all brackets."""
    parts, depth, start = [], 0, 0
    for k, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == separator and not depth:
            parts.append(text[start:k])
            start = k + 1
    return [*parts, text[start:]]


def find_phase(op_name: str) -> Phase:
    """The phase of training an operation belongs to; None when its name does not say, or says several.

    JAX names what differentiation makes: `transpose(` for the backward pass, `rematted_computation` for what is
    computed again there, `jvp(` for the forward pass of a differentiated function. "optimizer" needs a scope of that
    name.
    """
    phases: set[Phase] = {_phase(name) for name in split_op_names(op_name)}
    return phases.pop() if len(phases) == 1 else None


def _phase(name: str) -> Phase:
    if "rematted_computation" in name:
        return "recompute"
    if "transpose(" in name:
        return "backward"
    if "jvp(" in name:
        return "forward"
    return "optimizer" if _OPTIMIZER & set(re.split(r"[/()]", name)) else None


def find_implicit(op_name: str, frontend_attributes: Mapping[str, str]) -> bool | None:
    """True when the partitioner made the collective, False when the user wrote it, None when that is unknown.

    From JAX 0.12 on, the partitioner marks what it makes (`is_spmd_generated`). Before, the name decides: a collective
    that was written carries the name of its primitive and stands in a `shard_map` or `pmap`.
    """
    if "is_spmd_generated" in frontend_attributes:
        return frontend_attributes["is_spmd_generated"] == "true"
    answers = {_is_implicit(name) for name in split_op_names(op_name)}
    return answers.pop() if len(answers) == 1 else None


def _is_implicit(name: str) -> bool:
    parts = [part for part in re.split(r"[/()]", name) if part]
    written = bool(parts) and parts[-1].split("[")[0] in WRITTEN
    return not (written and any(part in _MANUAL for part in parts))
