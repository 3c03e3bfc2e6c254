"""Why a collective is there.

Not its job: finding out (`analyze.causes.causes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.spec import PartitionSpec
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
reshard_needed: an operand is sharded otherwise than the op, or its other operand, needs it.
output: the sharding a result must have: from `out_shardings`, or replicated as its axes do not divide it or are parts.
written: the user called the collective, in `shard_map` or `pmap`; or it is the transpose of one.
halo: neighbours' edges for a convolution, pad, slice, roll, concatenate or windowed reduction.
indexing: gather, scatter, dynamic slice, sort, top-k or cumulative sum along a sharded dimension.
full_replication: the partitioner knew no better way than to gather the whole array and cut it up again.
no_sharding_rule: an operation that the partitioner cannot split (a custom call, a callback, an FFT along a dimension).
loop_predicate: what decides whether a loop goes on is computed from sharded values.
unknown: the program does not tell.
"""

CAUSE_KINDS: tuple[CauseKind, ...] = get_args(CauseKind)

Evidence = Literal["sharding", "name", "nothing"]

Phase = Literal["forward", "backward", "recompute", "optimizer"] | None
"""The phase of training that an operation belongs to; None where its name does not tell."""


_NONE = Sentence()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why one collective, or one operand of a combined one, is there.

    Attributes:
      kind: one of `CAUSE_KINDS`.
      sentence: the cause for a person, in the user's names and in one or two sentences, which are made of the fields
        below; a string whose `phrases` say what its words are. It does not name the collective.
      facts: what proves it, one short statement each; () when nothing does.
      evidence: "sharding" when XLA's own modules before and after partitioning show the collective between operations
        whose shardings make it needed over these axes; "name" when only the name of an operation speaks for it;
        "nothing" for an unknown cause.
      operation: the operation that it is told at, as the user wrote it, and its place; "" where there is none.
      moved: the array that moves, by the user's name or text; "" for a sum, and where it is not known.
      summed: the dimensions that are summed over, or reduced in another way, of which arrays; "" where none are.
      needed_by: the operations, and results of the program, that take what moves: first the one whose need it is. For
        the others it stays where the first does without.
      had: how the array that moves is split; None where nothing moves, and where it is not known.
      wanted: how it is needed; None likewise, and where XLA's pieces alone are known.
      step: of a reshard in several collectives, which of them in order, from 1, and of how many; None for any other.
      asked_at: the constraint, or the argument of a call, that asks for `wanted`, and its place; "" where none does.
      phase: the phase of training that the operation belongs to.
      op_name: JAX's name of the operation it was found at; "" when there is none.
      source: the user's frames of that operation, innermost first; ().
      value: the name of the array that is moved or summed, where it is an argument or result (`params['w1']`); "".
      payload_bytes: bytes of the operand it explains, on one device, each time it runs.
      serves_with: names of the other collectives' instructions that serve the same need: one logical reshard may be
        several collectives; ().
      candidates: how many operations fit equally well (equal layers on one line); the kind is theirs in common.
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
