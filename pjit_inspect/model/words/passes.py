"""XLA's passes in a sentence each, with the file of XLA that says so.

Passes that people meet most, on all platforms. Not its job: which passes ran (`model.report.passes`).
"""

from __future__ import annotations

from typing import NamedTuple


class PassWords(NamedTuple):
    """The job of a pass.

    Attributes:
      sentence: one sentence.
      file: the source file, in the repository openxla/xla.
    """

    sentence: str
    file: str


_SIMPLIFIERS, _COLLECTIVES = "xla/hlo/transforms/simplifiers", "xla/hlo/transforms/collectives"

_ALL_REDUCES = PassWords("Joins small all-reduces into one.", f"{_COLLECTIVES}/all_reduce_combiner.cc")
_PARTITIONER = PassWords(
    "Splits arrays over devices as their shardings say, and adds the collectives this needs.",
    "xla/service/spmd/spmd_partitioner.cc",
)

PASSES: dict[str, PassWords] = {
    "flatten-call-graph": PassWords(
        "Copies functions that are called several times, one copy for each call.",
        f"{_SIMPLIFIERS}/flatten_call_graph.cc",
    ),
    "call-inliner": PassWords("Puts called functions in the place of their calls.", "xla/service/call_inliner.cc"),
    "shardy-xla": PassWords(
        "Runs Shardy, which gives a sharding to every value that has none.",
        "xla/service/spmd/shardy/shardy_xla_pass.cc",
    ),
    "sharding-propagation": PassWords(
        "Gives a sharding to every value that has none (GSPMD).", "xla/service/sharding_propagation.cc"
    ),
    "spmd-partitioning": _PARTITIONER,
    "tpu-spmd-partitioning": _PARTITIONER,
    "algsimp": PassWords(
        "Replaces operations by cheaper ones with the same result.", f"{_SIMPLIFIERS}/algebraic_simplifier.cc"
    ),
    "reshape-mover": PassWords(
        "Moves reshapes and transposes behind arithmetic on their results.", f"{_SIMPLIFIERS}/reshape_mover.cc"
    ),
    "constant_folding": PassWords(
        "Computes what depends on constants only.", f"{_SIMPLIFIERS}/hlo_constant_folding.cc"
    ),
    "dce": PassWords("Removes operations whose results nobody uses.", f"{_SIMPLIFIERS}/hlo_dce.cc"),
    "cse": PassWords("Computes equal operations once.", "xla/service/hlo_cse.cc"),
    "tuple-simplifier": PassWords(
        "Removes tuples that are packed and unpacked at once.", f"{_SIMPLIFIERS}/tuple_simplifier.cc"
    ),
    "while-loop-invariant-code-motion": PassWords(
        "Moves operations out of loops whose turns all compute the same.",
        "xla/service/while_loop_invariant_code_motion.cc",
    ),
    "layout-assignment": PassWords(
        "Chooses the order of dimensions in memory, and adds copies where two orders meet.",
        "xla/service/layout_assignment.cc",
    ),
    "fusion": PassWords(
        "Joins operations into kernels that keep results out of memory.", "xla/service/instruction_fusion.cc"
    ),
    "priority-fusion": PassWords(
        "Joins operations into GPU kernels, those that save most time first.",
        "xla/backends/gpu/transforms/priority_fusion.cc",
    ),
    "all-reduce-combiner": _ALL_REDUCES,
    "cpu-all-reduce-combiner": _ALL_REDUCES,
    "all-gather-combiner": PassWords("Joins small all-gathers into one.", f"{_COLLECTIVES}/all_gather_combiner.cc"),
    "reduce-scatter-creator": PassWords(
        "Makes a reduce-scatter of an all-reduce of which each device keeps a part.",
        "xla/backends/gpu/transforms/reduce_scatter_creator.cc",
    ),
    "async-collective-creator": PassWords(
        "Splits collectives into a start and a wait, so that other work can run between.",
        f"{_COLLECTIVES}/async_collective_creator.cc",
    ),
    "latency-hiding-scheduler": PassWords(
        "Orders operations so that transfers run while others compute.", "xla/service/latency_hiding_scheduler.cc"
    ),
    "copy-insertion": PassWords(
        "Copies values that would be overwritten before their last use.", "xla/service/copy_insertion.cc"
    ),
    "rematerialization": PassWords(
        "Computes values a second time instead of keeping them in memory.",
        f"{_SIMPLIFIERS}/hlo_rematerialization.cc",
    ),
}
