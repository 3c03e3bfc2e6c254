"""Programs for which the package is known to be wrong, by reason. Whoever repairs one takes it off.

Not its job: which programs there are (`operations`, `everyday`).
"""

from __future__ import annotations

__all__ = ["NOT_YET"]

_BY_REASON: dict[str, tuple[str, ...]] = {
    "another kind than was worked out by hand": (
        "split_into_six_heads-gradient",
        "product_of_rows-gradient",
        "convolution_of_one_axis_twice-gradient",
        "histogram-matmul",
        "percentile_of_rows-gradient",
        "set_one_row-gradient",
    ),
    "two uses of one row fit equally well": ("pad_with_edges-gradient",),
    "the sum that spreads a callback's result has the name of the product that takes it": (
        "pure_callback-matmul",
        "callback_with_effects-matmul",
    ),
}

NOT_YET: dict[str, str] = {name: reason for reason, names in _BY_REASON.items() for name in names}
"""Name -> why it is not right."""
