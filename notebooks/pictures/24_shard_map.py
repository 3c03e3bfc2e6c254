"""The pictures of lesson 24: one array for all and for one device, a promise, and half of an all-reduce."""

from __future__ import annotations

from drawing import (
    CARD,
    COPIED,
    GREY,
    INK,
    ORANGE,
    PALE,
    PEACH,
    QUIET,
    RED,
    TEAL,
    arrow,
    bands,
    box,
    card,
    copied,
    label,
    legend,
    partial,
    save,
    text,
    tiles,
    unknown,
)

ROWS, NUMBERS, OUT = 192, 96, 48  # drawn lengths: 64 examples, 32 numbers, 16 results
HELD = (ORANGE, ORANGE, "device 3 has this part")
COPY = (COPIED, ORANGE, "every device has all of it")


def _global_view() -> str:
    parts = [
        *bands(60, 82, NUMBERS, ROWS, False),
        *copied(430, 130, OUT, NUMBERS),
        *unknown(690, 130, OUT, NUMBERS),
        text(108, 292, "x: [64, 32]", 13.5, INK, weight="bold", mono=True),
        text(454, 256, "w: [32, 16]", 13.5, INK, weight="bold", mono=True),
        text(714, 256, "gradient: [32, 16]", 13.5, INK, weight="bold", mono=True),
        text(176, 168, "device 3: rows 24 to 31", 13, ORANGE, "start", "bold"),
        arrow((510, 178), (676, 178)),
        text(593, 166, "x.T @ (x @ w)", 13, QUIET, mono=True),
        *legend(314, (HELD, COPY)),
    ]
    return card("For all devices: one x, one w, one gradient", 346, parts)


def _local_view(*, is_answer: bool = False) -> str:
    parts = [
        *bands(70, 96, NUMBERS, ROWS, False),
        text(118, 80, "outside: the global view", 13.5, INK, weight="bold"),
        text(118, 308, "x: [64, 32]", 13.5, INK, weight="bold", mono=True),
        arrow((180, 180), (390, 180), stroke=ORANGE),
        text(285, 168, 'in_specs: P("X", None)', 13, ORANGE, mono=True),
        box(400, 96, 420, 192, CARD, ORANGE, 2, radius=10),
        text(610, 80, "inside, on device 3: the local view", 13.5, ORANGE, weight="bold"),
    ]
    if is_answer:
        parts += tiles(450, 168, NUMBERS, 24, 1, 1, lambda _row, _column: ("rows 24-31", ORANGE, "#fff"))
        parts.append(text(498, 214, "x: [8, 32]", 13.5, INK, weight="bold", mono=True))
    else:
        parts += [*unknown(450, 156, NUMBERS, 48), text(498, 226, "x: [?, ?]", 13.5, INK, weight="bold", mono=True)]
    parts += [
        *copied(660, 132, OUT, NUMBERS),
        text(684, 258, "w: [32, 16]", 13.5, INK, weight="bold", mono=True),
    ]
    return card("x for all devices, and x for device 3", 330, parts)


def _promise() -> str:
    parts = []
    for i in range(8):
        x = 60 + i * 64
        parts.append(box(x, 96, OUT, 84, PEACH if i == 3 else PALE, ORANGE if i == 3 else TEAL, 1.4, dashed=True))
        parts.append(text(x + 24, 144, i, 15, ORANGE if i == 3 else TEAL, weight="bold"))
    parts += [
        text(308, 80, "eight partial sums, one on each device", 13.5, INK, weight="bold"),
        arrow((572, 138), (668, 138), stroke=RED),
        text(620, 124, "P()", 14, RED, weight="bold", mono=True),
        *unknown(700, 96, OUT, 84),
        text(724, 80, "one result", 13.5, INK, weight="bold"),
        text(724, 204, "whose?", 13, RED),
    ]
    return card("out_specs=P() promises one result for all devices", 226, parts)


def _scatter() -> str:
    def column(x: float, words: tuple[str, str], of: int | None) -> list[str]:
        def slice_of(row: int, _column: int) -> tuple[object, str, str]:
            return (row, TEAL, "#fff") if of in (row, -1) else (row, CARD, GREY)

        parts = tiles(x, 96, 74, 150, 8, 1, slice_of)
        return [*parts, *(text(x + 37, 268 + 17 * n, one, 13, QUIET) for n, one in enumerate(words))]

    parts = [
        *partial(60, 96, 74, 150, ("its", "share")),
        text(97, 268, "device 3", 13, ORANGE, weight="bold"),
        text(97, 285, "at the start", 13, QUIET),
        arrow((152, 170), (330, 170), stroke=TEAL),
        text(241, 158, "7 hops: add up", 13, QUIET),
        *column(348, ("after hop 7:", "one finished slice"), 3),
        arrow((440, 170), (626, 170), stroke=TEAL),
        text(533, 158, "7 hops: hand round", 13, QUIET),
        *column(646, ("after hop 14:", "all eight slices"), -1),
        *label(241, 206, "reduce-scatter"),
        *label(533, 206, "all-gather"),
        text(790, 160, "together", 13, QUIET),
        text(790, 180, "all-reduce", 13.5, TEAL, weight="bold"),
    ]
    return card("An all-reduce is two halves. A reduce-scatter is the first", 306, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {
        "global_view": _global_view(),
        "local_view": _local_view(),
        "local_view_answer": _local_view(is_answer=True),
        "promise": _promise(),
        "scatter": _scatter(),
    }


if __name__ == "__main__":
    save(__file__, draw())
