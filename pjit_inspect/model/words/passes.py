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
_EXPANDERS, _GPU = "xla/hlo/transforms/expanders", "xla/backends/gpu/transforms"

_ALL_REDUCES = PassWords("Joins small all-reduces into one.", f"{_COLLECTIVES}/all_reduce_combiner.cc")
_ALL_GATHERS = PassWords("Joins small all-gathers into one.", f"{_COLLECTIVES}/all_gather_combiner.cc")
_REDUCE_SCATTERS = PassWords("Joins small reduce-scatters into one.", "xla/service/reduce_scatter_combiner.cc")
_COPIES = "xla/service/copy_insertion.cc"
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
    "all-gather-combiner": _ALL_GATHERS,
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
    "copy-insertion": PassWords("Copies values that would be overwritten before their last use.", _COPIES),
    "rematerialization": PassWords(
        "Computes values a second time instead of keeping them in memory.",
        f"{_SIMPLIFIERS}/hlo_rematerialization.cc",
    ),
    "adding_copies_to_resolve_interference": PassWords(
        "Copies values that share memory while both are alive; the first part of copy-insertion.", _COPIES
    ),
    "removing_unnecessary_copies": PassWords(
        "Removes copies that turned out not to be needed; the second part of copy-insertion.", _COPIES
    ),
    "adding_special-case_copies": PassWords(
        "Copies constants and arguments that are returned as they are; the last part of copy-insertion.", _COPIES
    ),
    "zero_sized_hlo_elimination": PassWords(
        "Replaces arrays without elements by constants.", f"{_SIMPLIFIERS}/zero_sized_hlo_elimination.cc"
    ),
    "dynamic-dimension-simplifier": PassWords(
        "Simplifies operations on sizes of dynamic dimensions.",
        f"{_SIMPLIFIERS}/dynamic_dimension_simplifier.cc",
    ),
    "gather_simplifier": PassWords(
        "Rewrites gathers into a simple form with one index dimension.", f"{_SIMPLIFIERS}/gather_simplifier.cc"
    ),
    "scatter_simplifier": PassWords(
        "Rewrites scatters into a simple form with one index dimension.", "xla/service/scatter_simplifier.cc"
    ),
    "batched_gather_scatter_normalizer": PassWords(
        "Rewrites gathers and scatters with batch dimensions into ones without.",
        "xla/service/batched_gather_scatter_normalizer.cc",
    ),
    "tree_reduction_rewriter": PassWords(
        "Reduces pieces of an array first, and their results then, which rounds less.",
        f"{_SIMPLIFIERS}/tree_reduction_rewriter.cc",
    ),
    "dot_decomposer": PassWords(
        "Brings products into the form of a matrix product with leading batch dimensions.",
        f"{_EXPANDERS}/dot_decomposer.cc",
    ),
    "dot-merger": PassWords("Joins products that share an operand into one.", f"{_SIMPLIFIERS}/dot_merger.cc"),
    "convert-mover": PassWords(
        "Moves conversions so that more operations work on the narrower element type.",
        f"{_SIMPLIFIERS}/convert_mover.cc",
    ),
    "simplify-conditional": PassWords(
        "Replaces a conditional whose branch is known by that branch.", "xla/service/conditional_simplifier.cc"
    ),
    "simplify-while-loops": PassWords(
        "Removes values that a loop carries for nothing, and loops of no turn or one.",
        "xla/service/while_loop_simplifier.cc",
    ),
    "transpose-folding": PassWords(
        "Puts transposes into the products that take their results.", "xla/service/transpose_folding.cc"
    ),
    "all_to_all_decomposer": PassWords(
        "Cuts the array of an all-to-all into one piece for each device.", "xla/service/all_to_all_decomposer.cc"
    ),
    "all-reduce-reassociate": PassWords(
        "Adds first and reduces the sum once, where several all-reduces are added.",
        "xla/service/all_reduce_reassociate.cc",
    ),
    "all-reduce-promotion": PassWords(
        "Reduces small element types in a larger one, and converts back.", "xla/service/all_reduce_promotion.cc"
    ),
    "all-reduce-contiguous": PassWords(
        "Puts the arrays of one all-reduce into one array.", "xla/service/all_reduce_contiguous.cc"
    ),
    "while-loop-all-reduce-code-motion": PassWords(
        "Moves an all-reduce whose results a loop adds up out of the loop.",
        "xla/service/while_loop_all_reduce_code_motion.cc",
    ),
    "collective-permute-decomposer": PassWords(
        "Splits a collective-permute into a send and a receive.", f"{_COLLECTIVES}/collective_permute_decomposer.cc"
    ),
    "gpu-all-reduce-combiner": _ALL_REDUCES,
    "gpu-all-gather-combiner": _ALL_GATHERS,
    "reduce-scatter-combiner": _REDUCE_SCATTERS,
    "gpu-reduce-scatter-combiner": _REDUCE_SCATTERS,
    "dot-library-rewriter": PassWords(
        "Gives products, and what surrounds them, to a library of fast CPU kernels.",
        "xla/backends/cpu/transforms/dot_library_rewriter.cc",
    ),
    "cpu-parallel-task-assigner": PassWords(
        "Splits large kernels over the threads of the CPU.", "xla/service/cpu/parallel_task_assignment.cc"
    ),
    "cublas-gemm-rewriter": PassWords("Gives products to cuBLAS.", f"{_GPU}/gemm_rewriter.cc"),
}
