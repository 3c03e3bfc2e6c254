"""Reads from JAX's name of an operation its phase of training, and whether the user wrote a collective.

Not its job: why a collective is there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.collective import Phase

LATER = frozenset(("backward", "recompute"))
"""Phases in which differentiation repeats operations that are written once."""

_ASKED = ("/sharding_constraint", "/reshard")
_GATHER = frozenset(("all-gather",))
_EXTREME = frozenset(("all-reduce",))
_PERMUTE = frozenset(("collective-permute",))
_WRITTEN: dict[str, frozenset[str]] = {
    **dict.fromkeys(("psum", "psum2", "psum_invariant", "unreduced_psum", "pmean", "all_reduce"), SUMS),
    **dict.fromkeys(("reduce_scatter", "psum_scatter", "unreduced_reduce_scatter"), SUMS),
    **dict.fromkeys(("all_gather", "all_gather_invariant", "all_gather_reduced"), _GATHER),
    **dict.fromkeys(("pmax", "pmin"), _EXTREME),
    **dict.fromkeys(("ppermute", "pshuffle", "collective_permute"), _PERMUTE),
    "all_to_all": frozenset(("all-to-all",)),
    "ragged_all_to_all": frozenset(("ragged-all-to-all",)),
    **dict.fromkeys(("pbroadcast", "collective_broadcast"), frozenset(("collective-broadcast",))),
    **dict.fromkeys(("pcast", "pvary"), frozenset[str]()),
}
"""JAX's primitives that are collectives -> the kinds they become. A program has one only when somebody wrote one."""

_JAX_CHANNEL = 1
"""The channel JAX gives every collective that was written (`COLLECTIVE_CHANNEL_ID` in `jax/_src/interpreters/mlir.py`).
The partitioner counts on from the highest channel of the program, so it never gives this one to what it makes out of a
collective that was written."""

_OPTIMIZER = "optimizer"
"""The one scope that says so itself; a scope `adam` may be anything of that name."""
_OPTAX = re.compile(r"[/\\]optax[/\\](?:_src|transforms|contrib|experimental)[/\\]")
_UPDATES = frozenset(("update_fn", "update", "apply_updates", "incremental_update", "periodic_update"))
"""Functions of optax that make updates of parameters, or apply them."""
_MANUAL = frozenset(("shard_map", "pmap", "smap"))

_ROOT = re.compile(r"\w+\(")
_JITTED = re.compile(r"\bp?jit\([^()]*\)")


@functools.lru_cache(maxsize=256)
def split_op_names(op_name: str) -> tuple[str, ...]:
    """The operations a name stands for.

    XLA writes those of a combined instruction as `jit(f)/(a/dot:b/dot)`, those of a fused one as `f/a;f/b`. A ";" in a
    scope of the user does not separate: what follows it does not start as a name does.
    """
    return tuple(name for part in _joined(op_name) for name in _combined(part) if name)


def _joined(op_name: str) -> list[str]:
    first, *rest = _split(op_name, ";")
    root, names = first.partition("/")[0], [first]
    for part in rest:
        start, slash, _ = part.partition("/")
        if start == root or not slash or _ROOT.match(part):
            names.append(part)
        else:
            names[-1] += f";{part}"
    return names


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
    if separator not in text:
        return [text]
    parts, depth, start = [], 0, 0
    for k, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == separator and not depth:
            parts.append(text[start:k])
            start = k + 1
    return [*parts, text[start:]]


def find_phase(op_name: str, frames: Sequence[Frame] = ()) -> Phase:
    """The phase of training an operation belongs to; None when nothing says, or several are said.

    JAX names what differentiation makes: `transpose(jvp(` for the backward pass, `rematted_computation` for what is
    computed again there, `jvp(` for the forward pass of a differentiated function. "optimizer" is what stands outside
    of differentiation and was made within an update of optax, as `frames` prove (all frames of the operation, libraries
    included), or in the user's scope `optimizer`; the name of a jitted function is no scope.
    """
    names = split_op_names(op_name)
    phases: set[Phase] = {_phase(name) for name in names}
    phase = phases.pop() if len(phases) == 1 else None
    # Frames are those of one operation: of several they do not tell.
    is_plain = phase is None and len(names) == 1
    return "optimizer" if is_plain and any(map(_is_update, frames)) else phase


def _is_update(frame: Frame) -> bool:
    """True if a frame is one of optax that makes or applies updates."""
    return bool(_OPTAX.search(frame.file)) and not _UPDATES.isdisjoint(frame.function.split("."))


@functools.lru_cache(maxsize=4096)
def _phase(name: str) -> Phase:
    wrappers = _wrappers(name)
    scopes = {word.rstrip(")") for part in wrappers for word in part}
    if "rematted_computation" in scopes:
        return "recompute"
    # Forward over reverse is `jvp(transpose(jvp()))`: the innermost differentiation is what made the operation. Scopes
    # may stand in between: `transpose(outer)/jvp(inner)`.
    done = [word for part in wrappers for word in part[:-1]]
    if "jvp" in done:
        return "backward" if "transpose" in done[: len(done) - done[::-1].index("jvp") - 1] else "forward"
    return "optimizer" if _OPTIMIZER in scopes else None


def is_vmapped(op_name: str) -> bool:
    """True if `jax.vmap` is around an operation: then its arrays may have dimensions that the source does not show."""
    return any("vmap" in part[:-1] for name in split_op_names(op_name) for part in _wrappers(name))


def _wrappers(name: str) -> list[list[str]]:
    """For each scope what JAX did to it, outermost first, and its own name: `transpose(jvp(layer))`, `vmap(jvp())`."""
    return [part.split("(") for part in _JITTED.sub("", name).split("/")]


def untransposed(op_name: str) -> frozenset[str]:
    """The differentiations that a name says were not transposed: what they make are values and tangents, named alike.

    A gradient has `transpose(jvp())` next to these: its tangents are all there, and `jvp()` is the function's own.
    """
    return frozenset(where for where, before in _differentiations(op_name) if before != "transpose")


def transposed(op_name: str) -> frozenset[str]:
    """The differentiations that a name says were transposed, as `untransposed` would have them."""
    return frozenset(where for where, before in _differentiations(op_name) if before == "transpose")


def _differentiations(op_name: str) -> Iterator[tuple[str, str]]:
    """Each differentiation a name tells of: in which scopes and within what it was, and what was done to it there."""
    for name in split_op_names(op_name) if "jvp(" in op_name else ():
        scopes = _wrappers(name)
        for place, words in enumerate(scopes):
            for number, word in enumerate(words[:-1]):
                if word == "jvp":
                    before = words[number - 1] if number else ""
                    outer = words[: number - (before == "transpose")]
                    yield "/".join("(".join(part) for part in (*scopes[:place], outer)), before


def find_implicit(
    op_name: str, frontend_attributes: Mapping[str, str], kind: str, channels: Collection[int | None]
) -> bool | None:
    """True when the partitioner made the collective, False when the user wrote it, None when that is unknown.

    From JAX 0.12 on, the partitioner marks what it makes (`is_spmd_generated`). Before, the name decides: that of a
    collective that was written ends in its primitive. What the partitioner makes for its operand ends so too (where a
    `shard_map` is manual over some axes only), and so may what a backend makes of it: such a name proves nothing unless
    kind and channel are those of the written one.

    Args:
      op_name: JAX's name of it.
      frontend_attributes: what JAX and XLA attached.
      kind: its kind, as in `Collective`.
      channels: the channels of its instructions; None for one without.
    """
    if "is_spmd_generated" in frontend_attributes:
        return frontend_attributes["is_spmd_generated"] == "true"
    is_jax_channel = None in channels or _JAX_CHANNEL in channels
    answers = {_is_implicit(name, kind, is_jax_channel) for name in split_op_names(op_name)}
    return answers.pop() if len(answers) == 1 else None


def is_asked_name(op_name: str) -> bool:
    """True if a constraint is one that somebody wrote: in Explicit mode, and on random keys, JAX adds others."""
    return op_name.endswith(_ASKED)


def is_written_name(name: str, kind: str) -> bool:
    """True if it is how JAX names a collective of this kind that was written; of one part of a combined one."""
    return _is_implicit(name, kind, is_jax_channel=True) is False


def _is_implicit(name: str, kind: str, is_jax_channel: bool) -> bool | None:
    # Not by brackets: those in the user's scopes need not match.
    parts = name.split("/")
    kinds = _WRITTEN.get(parts[-1].split("[")[0])
    if kinds is not None:
        return False if kind in kinds and is_jax_channel else None
    if kind == "reduce-scatter" and not _MANUAL.isdisjoint(parts):
        # XLA names a sum that is sliced after the slice: either may have been written.
        return None
    return True
