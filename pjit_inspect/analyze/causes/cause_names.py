"""What kind of cause the name of an operation speaks for, where nothing else is known of it.

Not its job: causes the program's shardings prove (`analyze.causes.causes`).
"""

from __future__ import annotations

import re

from pjit_inspect.analyze.sharding.needs import is_cumulative
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.report.cause import CauseKind

_BY_NAME: tuple[tuple[re.Pattern[str], CauseKind], ...] = (
    (re.compile(r"(sharding_constraint|reshard)$"), "reshard_requested"),
    (
        re.compile(r"(fft|cholesky|triangular_solve|\w*callback\w*|custom_call|ffi_call|pallas_call)$"),
        "no_sharding_rule",
    ),
    (re.compile(r"(gather|scatter.*|dynamic_(update_)?slice|sort|top_k|argsort)$"), "indexing"),
    (re.compile(r"(reduce_window.*|slice|pad|concatenate|rev|roll|select_and_scatter_add)$"), "halo"),
    (re.compile(r"(reduce(_\w+)?|argmax|argmin)$"), "reduction"),
)
_DOTS = re.compile(r"((ragged_)?dot_general|conv_general_dilated)$")


def kind_of_name(name: str, collective: str) -> CauseKind:
    """The kind of cause of a collective of kind `collective` whose operation has this name; "unknown" when none."""
    primitive = name.rpartition("/")[2]
    if is_cumulative(name):
        return "indexing"
    if _DOTS.match(primitive):
        if collective in SUMS:
            return "contraction"
        return "halo" if primitive.startswith("conv") else "reshard_needed"
    for pattern, kind in _BY_NAME:
        if pattern.match(primitive):
            return kind
    return "unknown"
