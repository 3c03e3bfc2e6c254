"""Draws the pictures of lesson 12. The all-reduce is orange in each."""

from __future__ import annotations

from drawing import (
    CARD,
    GREY,
    INK,
    ORANGE,
    PALE,
    PEACH,
    QUIET,
    SLATE,
    TEAL,
    Parts,
    arrow,
    box,
    card,
    label,
    line,
    save,
    text,
)

STATIONS = ("JAX", "partitioner", "simplification", "fusion", "combiner", "scheduler")


def stops(*, known: bool) -> str:
    """The line of passes, and the all-reduces at each station."""
    parts = [line((70, 102), (790, 102), stroke=TEAL, width=6)]
    counts = ("none", "2", "2", "2", "1", "1") if known else ("none", *"?????")
    for n, (name, count) in enumerate(zip(STATIONS, counts, strict=True)):
        x = 70 + n * 144
        fill = CARD if n else TEAL
        parts.append(f'<circle cx="{x}" cy="102" r="11" fill="{fill}" stroke="{TEAL}" stroke-width="4"/>')
        parts.append(text(x, 78, name, 14, INK, weight="bold"))
        parts += label(x, 146, count, fill=CARD if count == "none" else PEACH, ink=QUIET if count == "none" else ORANGE)
    parts.append(text(28, 182, "in orange: all-reduces in the program after this station", 13, QUIET, "start"))
    return card("The line of passes: where do the all-reduces come from?", 202, parts)


def _matrix(x: float, y: float, w: float, h: float, name: str, shape: str, *, fill: str = PALE) -> Parts:
    return [
        box(x, y, w, h, fill, TEAL, 1.1),
        text(x + w / 2, y - 8, name, 13, INK, weight="bold", mono=True),
        text(x + w / 2, y + h + 17, shape, 13, QUIET),
    ]


def partitioner() -> str:
    """The program of all arrays, and the program of one device."""
    parts = [text(28, 74, "before: one program, whole arrays", 13.5, QUIET, "start")]
    parts += _matrix(44, 104, 50, 96, "x", "16 x 32")
    parts += [arrow((104, 152), (148, 152)), box(152, 124, 124, 56, CARD, INK, 1.3, radius=7)]
    parts += [text(214, 149, "step", 14, INK, weight="bold"), text(214, 168, "no collective", 13, QUIET)]
    parts.append(arrow((282, 152), (346, 152), stroke=ORANGE))
    parts.append(text(372, 74, "after: the program of one device, eight times", 13.5, QUIET, "start"))
    for n in range(3, -1, -1):
        x, y = 372 + n * 8, 104 + n * 8
        parts.append(box(x, y, 440, 92, CARD, GREY, 1, radius=7))
    parts += _matrix(400, 132, 50, 14, "x", "2 x 32")
    parts += [arrow((458, 140), (486, 140)), box(490, 118, 100, 50, CARD, INK, 1.3, radius=7)]
    parts += [text(540, 148, "gradients", 13.5, INK)]
    parts += [arrow((592, 130), (640, 130)), arrow((592, 156), (640, 156))]
    parts += [text(616, 123, "W1", 13, QUIET, mono=True), text(616, 176, "W2", 13, QUIET, mono=True)]
    parts += [box(644, 114, 148, 58, "none", ORANGE, 1.4, dashed=True), text(718, 150, "?", 20, ORANGE, weight="bold")]
    return card("The partitioner: one program for all becomes a program for each", 250, parts)


def _hops(x: float, y: float, wide: float, high: float) -> Parts:
    return [
        part
        for n in range(14)
        for part in (box(x + n * wide, y + 30 - high, wide - 3, high, PEACH, ORANGE, 1.1),)
    ]


def combiner() -> str:
    """Two rings one after the other, and one ring with pieces of twice the size."""
    parts = [text(28, 92, "two all-reduces", 13.5, INK, "start", "bold")]
    parts += _hops(188, 66, 22, 15) + _hops(510, 66, 22, 15)
    parts.append(text(342, 116, "W1: 14 hops of 2,048 bytes", 13, QUIET))
    parts.append(text(664, 116, "W2: 14 hops of 2,048 bytes", 13, QUIET))
    parts.append(text(28, 172, "one all-reduce", 13.5, INK, "start", "bold"))
    parts += _hops(188, 146, 22, 30)
    parts.append(text(342, 196, "both: 14 hops of 4,096 bytes", 13, QUIET))
    parts.append(text(664, 172, "how many bytes in all?", 13, QUIET))
    return card("The combiner: half as many hops, twice as large", 216, parts)


def fusion() -> str:
    """Operations on both sides of the all-reduce."""
    parts = []
    for x, name in ((44, "compare"), (134, "select"), (224, "dot")):
        parts += [box(x, 96, 80, 38, PALE, TEAL, 1.2, radius=6), text(x + 40, 120, name, 13)]
    parts += [box(30, 76, 288, 76, "none", SLATE, 1.4, radius=9), text(174, 172, "kernels of the backward pass", 13, QUIET)]
    parts += [arrow((320, 115), (372, 115)), box(376, 86, 108, 58, ORANGE, "none", 0, radius=6)]
    parts.append(text(430, 120, "all-reduce", 14, "#fff", weight="bold"))
    parts += [arrow((488, 115), (540, 115)), box(542, 76, 288, 76, "none", SLATE, 1.4, radius=9)]
    for x, name in ((556, "broadcast"), (648, "multiply"), (740, "subtract")):
        parts += [box(x, 96, 80, 38, PALE, TEAL, 1.2, radius=6), text(x + 40, 120, name, 13)]
    parts.append(text(686, 172, "the update: p - 0.1 * g", 13, QUIET))
    return card("Fusion stops at the all-reduce", 194, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {
        "line": stops(known=False),
        "line_answer": stops(known=True),
        "partitioner": partitioner(),
        "combiner": combiner(),
        "fusion": fusion(),
    }


if __name__ == "__main__":
    save(__file__, draw())
