"""The figures of a comparison in words: both values in one unit, and the change.

Not its job: laying them out (`view.diff.diff`, `view.diff.stages`).
"""

from __future__ import annotations

from pjit_inspect.model.diff.diff import Figure
from pjit_inspect.view.document.quantities import bytes_in, count_text, seconds_text, share_unit


def figure_words(figure: Figure) -> tuple[str, str, str]:
    """The figure's name with its unit, and its values before and after."""
    unit = ""
    if figure.unit == "bytes":
        unit = share_unit(int(value) for value in (figure.before, figure.after) if value is not None)
    elif figure.unit == "FLOP":
        unit = "MFLOP"
    sides = zip((figure.before, figure.after), figure.at_least, strict=True)
    before, after = (f"{'at least ' * is_least}{_value(value, figure, unit)}" for value, is_least in sides)
    return f"{figure.name} {unit}".rstrip(), before, after


def _value(value: float | None, figure: Figure, unit: str) -> str:
    if value is None:
        return "unknown"
    if figure.unit == "bytes":
        return bytes_in(int(value), unit)
    if figure.unit == "s":
        return seconds_text(value)
    if figure.unit == "FLOP":
        return f"{value / 1e6:,.1f}" if value >= 1e5 or not value else f"{value / 1e6:.2g}"
    return count_text(int(value))


def change_words(before: float | None, after: float | None) -> str:
    """The change of a figure, short enough for a column."""
    if before is None or after is None:
        return ""
    if before == after:
        return "same"
    if not before:
        return "new"
    if not after:
        return "gone"
    share = (after / before - 1) * 100
    return f"x {after / before:.1f}" if share >= 300 else f"{share:+.0f} %" if abs(share) >= 0.5 else "~ 0 %"
