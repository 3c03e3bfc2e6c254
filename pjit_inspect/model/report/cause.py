"""Why a collective is there.

Not its job: finding out (`analyze.causes.causes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.words.sentence import Sentence

CauseKind = Literal[
    "contraction",
    "reduction",
    "reshard_requested",
    "reshard_needed",
    "output",
    "written",
    "halo",
    "indexing",
    "full_replication",
    "no_sharding_rule",
    "loop_predicate",
    "unknown",
]
"""
contraction: a dot or convolution sums over a dimension that is sharded: every device has a partial sum.
reduction: a reduce (sum, max, argmax, norm, softmax) runs over a sharded dimension.
reshard_requested: a `with_sharding_constraint` or `reshard` in the user's code asks for another sharding, or the
    `in_specs` of a `shard_map`, or the `out_sharding=` of a call.
reshard_needed: an operand's sharding differs from the one that the op, or its other operand, needs.
output: the sharding a result must have: from `out_shardings`, or replicated as its axes do not divide it or are parts.
written: the user called the collective, in `shard_map` or `pmap`; or it is the transpose of one.
halo: neighbours' edges for a convolution, pad, slice, roll, concatenate or windowed reduction.
indexing: gather, scatter, dynamic slice, sort, top-k or cumulative sum along a sharded dimension.
full_replication: the partitioner knew no better way than to gather the whole array and cut it up again, also to pad it.
no_sharding_rule: an operation that the partitioner cannot split (a custom call, a callback, an FFT along a dimension).
loop_predicate: a loop's condition is computed from sharded values.
unknown: the program does not tell.
"""

CAUSE_KINDS: tuple[CauseKind, ...] = get_args(CauseKind)

Evidence = Literal["sharding", "name", "nothing"]

Phase = Literal["forward", "backward", "recompute", "optimizer"] | None
"""The phase of training that an operation belongs to; None where its name does not tell."""


_NONE = Sentence()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The cause of one collective, or of one operand of a combined collective.

    Attributes:
      kind: one of `CAUSE_KINDS`.
      sentence: the cause in one or two sentences with the user's names, made from the fields below; a string whose
        `phrases` classify its words. It does not name the collective.
      facts: the proof, one short statement each; () for none.
      evidence: "sharding" if XLA's modules before and after partitioning show the collective between operations whose
        shardings require it over these axes; "name" if only the name of an operation supports it; "nothing" for an
        unknown cause.
      operation: the operation named in the cause, as the user wrote it, and its place; "" for none.
      moved: the array that moves, by the user's name or text; "" for a sum, or if unknown.
      summed: the summed (or otherwise reduced) dimensions and their arrays; "" for none.
      needed_by: the operations and program results that take the moved array; the first is the one that needs it moved.
        The others still need it if the first does not.
      had: the sharding of the moved array; None if nothing moves, or if unknown.
      wanted: the required sharding; None likewise, and if only XLA's pieces are known.
      step: for a reshard or a sum in several collectives, its number from 1, and their count; None for any other.
      asked_at: the constraint, or the argument of a call, that asks for `wanted`, and its place; "" for none.
      phase: the phase of training that the operation belongs to.
      op_name: JAX's name of the operation it was found at; "" for none.
      source: the user's frames of that operation, innermost first; () for none.
      value: the name of the moved or summed array if it is an argument or result (`params['w1']`); "" for others.
      payload_bytes: bytes of the explained operand, on one device, per run.
      serves_with: instruction names of the other collectives that serve the same need: one logical reshard may be
        several collectives; () for none.
      candidates: number of operations that fit equally well (equal layers on one line); they share the kind.
    """

    kind: CauseKind
    sentence: Sentence
    facts: tuple[Sentence, ...] = ()
    evidence: Evidence = "nothing"
    operation: Sentence = _NONE
    moved: Sentence = _NONE
    summed: Sentence = _NONE
    needed_by: tuple[Sentence, ...] = ()
    had: PartitionSpec | None = None
    wanted: PartitionSpec | None = None
    step: tuple[int, int] | None = None
    asked_at: Sentence = _NONE
    phase: Phase = None
    op_name: str = ""
    source: tuple[Frame, ...] = ()
    value: str = ""
    payload_bytes: int = 0
    serves_with: tuple[str, ...] = ()
    candidates: int = 1

    def __post_init__(self) -> None:
        for field in ("sentence", "operation", "moved", "summed", "asked_at"):
            object.__setattr__(self, field, Sentence(getattr(self, field)))
        object.__setattr__(self, "facts", tuple(map(Sentence, self.facts)))
        object.__setattr__(self, "needed_by", tuple(map(Sentence, self.needed_by)))
