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
        "debug_callback-plain",
        "debug_callback-gradient",
        "histogram-matmul",
    ),
}

NOT_YET: dict[str, str] = {name: reason for reason, names in _BY_REASON.items() for name in names}
"""Name -> why it is not right."""
