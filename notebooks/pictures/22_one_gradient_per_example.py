"""The pictures of lesson 22: one gradient, one for each example, and two cuts. Run it to write them."""

from __future__ import annotations

from drawing import (
    CARD,
    INK,
    ORANGE,
    PALE,
    PEACH,
    QUIET,
    TEAL,
    arrow,
    bands,
    box,
    card,
    legend,
    partial,
    save,
    text,
    unknown,
)

FEATURES, OUT = 96, 48  # drawn lengths: 32 numbers, 16 results
OURS = (ORANGE, ORANGE, "on device 3")
ELSE = (PALE, TEAL, "on other devices")


def _examples(x: float, y: float) -> list[str]:
    parts = bands(x, y, FEATURES, 192, False)
    parts.append(text(x + FEATURES / 2, y - 12, "x: 64 examples", 13.5, INK, weight="bold"))
    parts.append(text(x + FEATURES + 12, y + 3.5 * 24 + 5, "24 to 31", 13, ORANGE, "start", "bold"))
    return parts


def _summed() -> str:
    parts = [
        *_examples(60, 84),
        arrow((240, 180), (340, 180), stroke=ORANGE),
        text(290, 168, "grad", 13, ORANGE, mono=True),
        *partial(360, 132, OUT, FEATURES, ("a", "share")),
        text(384, 116, "device 3", 13.5, ORANGE, weight="bold"),
        text(384, 250, "[32, 16]", 13, QUIET, mono=True),
        arrow((430, 180), (530, 180)),
        text(480, 168, "?", 16, QUIET, weight="bold"),
        box(552 + 8, 132 + 8, OUT, FEATURES, CARD, TEAL),
        box(552 + 4, 132 + 4, OUT, FEATURES, CARD, TEAL),
        box(552, 132, OUT, FEATURES, PALE, TEAL, 1.4),
        text(576, 116, "the gradient", 13.5, INK, weight="bold"),
        text(580, 256, "on every device", 13, QUIET),
    ]
    return card("One gradient: the sum over 64 examples", 300, parts)


def _sheets(x: float, y: float, n: int, ours: range, step: float = 9) -> list[str]:
    """Gradients one behind another, the first in front."""
    parts: list[str] = []
    for i in reversed(range(n)):
        fill, ink = (PEACH, ORANGE) if i in ours else (PALE, TEAL)
        parts.append(box(x + i * step, y - i * step * 0.42, OUT, FEATURES, fill, ink, 1.2))
    return parts


def _each() -> str:
    parts = [
        *_examples(60, 84),
        arrow((240, 180), (340, 180), stroke=ORANGE),
        text(290, 168, "vmap(grad)", 13, ORANGE, mono=True),
        *_sheets(372, 152, 32, range(0)),
        text(372, 278, "64 gradients, [32, 16] each", 13.5, INK, "start", "bold"),
        *unknown(734, 92, 76, 76),
        text(772, 192, "on device 3", 13, ORANGE, weight="bold"),
    ]
    return card("One gradient for each example", 304, parts)


def _both_ways() -> str:
    parts = [
        text(60, 76, "cut by examples", 14, INK, "start", "bold"),
        *_sheets(60, 166, 32, range(12, 16)),
        text(60, 292, "device 3: 8 gradients, whole", 13, ORANGE, "start", "bold"),
        text(476, 76, "cut by columns of w", 14, INK, "start", "bold"),
    ]
    for i in reversed(range(32)):
        x, y = 476 + i * 9, 166 - i * 9 * 0.42
        parts.append(box(x, y, OUT, FEATURES, PALE, TEAL, 1))
        parts.append(box(x + 3 * 6, y, 6, FEATURES, ORANGE, ORANGE, 0.5))
    parts += [
        text(476, 292, "device 3: two columns of all 64", 13, ORANGE, "start", "bold"),
        *legend(310, (OURS, ELSE)),
        text(832, 322, "every second gradient is drawn", 13, QUIET, "end"),
    ]
    return card("64 gradients, cut in two ways", 340, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {"summed": _summed(), "each": _each(), "both_ways": _both_ways()}


if __name__ == "__main__":
    save(__file__, draw())
