"""Why a collective is there.

Not its job: finding out (`analyze.causes.causes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

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
reshard_requested: a `with_sharding_constraint` or `reshard` in the user's code asks for another sharding.
reshard_needed: an operand is sharded otherwise than the op, or its other operand, needs it.
output: the sharding a result must have: from `out_shardings`, or replicated as its axes do not divide it or are parts.
written: the user called the collective, in `shard_map` or `pmap`; or it is the transpose of one.
halo: neighbours' edges for a convolution, pad, slice, roll, concatenate or windowed reduction.
indexing: gather, scatter, dynamic slice, sort, top-k or cumulative sum along a sharded dimension.
full_replication: the partitioner knew no better way than to gather the whole array and cut it up again.
no_sharding_rule: an operation that the partitioner cannot split (a custom call, a callback, an FFT along a dimension).
loop_predicate: what decides whether a loop goes on, or which branch runs, is computed from sharded values.
unknown: the program does not tell.
"""

CAUSE_KINDS: tuple[CauseKind, ...] = get_args(CauseKind)

Evidence = Literal["sharding", "name", "nothing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why one collective, or one operand of a combined one, is there.

    Attributes:
      kind: one of `CAUSE_KINDS`.
      sentence: the cause in the user's names, for a person, behind the collective and a colon; a string
        whose `phrases` say what its words are.
      facts: what proves it, one short statement each; () when nothing does.
      evidence: "sharding" when XLA's own modules before and after partitioning show the collective between operations
        whose shardings make it needed over these axes; "name" when only the name of an operation speaks for it;
        "nothing" for an unknown cause.
      op_name: JAX's name of the operation it was found at; "" when there is none.
      source: the user's frames of that operation, innermost first; ().
      value: the name of the array that is moved or summed, where it is an argument or result (`params['w1']`); "".
      payload_bytes: bytes of the operand it explains, on one device, each time it runs.
      serves_with: names of the other collectives' instructions that serve the same need: one logical reshard may be
        several collectives; ().
      candidates: how many operations fit equally well (equal layers on one line); the kind is theirs in common.
      also_for: the other operations, and results of the program, that the array it moves goes to: for them it stays
        where the one that the sentence names does without; ().
    """

    kind: CauseKind
    sentence: Sentence
    facts: tuple[Sentence, ...] = ()
    evidence: Evidence = "nothing"
    op_name: str = ""
    source: tuple[Frame, ...] = ()
    value: str = ""
    payload_bytes: int = 0
    serves_with: tuple[str, ...] = ()
    candidates: int = 1
    also_for: tuple[Sentence, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sentence", Sentence(self.sentence))
        object.__setattr__(self, "facts", tuple(map(Sentence, self.facts)))
        object.__setattr__(self, "also_for", tuple(map(Sentence, self.also_for)))

    @property
    def clause(self) -> Sentence:
        """The sentence without the collective that it begins with, which the head of a group names already."""
        return self.sentence.after(": ")
