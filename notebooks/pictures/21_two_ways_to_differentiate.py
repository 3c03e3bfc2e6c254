"""The pictures of lesson 21: a Jacobian, filled by columns and by rows. Run it to write them."""

from __future__ import annotations

from drawing import (
    BLUE,
    CARD,
    GREY,
    INK,
    LILAC,
    ORANGE,
    PLUM,
    QUIET,
    SKY,
    arrow,
    bands,
    box,
    card,
    copied,
    partial,
    save,
    text,
    tiles,
    unknown,
)

COLUMN, ROW = 2, 6  # the column and the row that are filled; 16 of the 64 rows are drawn


def _cell(row: int, column: int) -> tuple[object, str, str]:
    if column == COLUMN:
        return "", (PLUM if row == ROW else BLUE), "#fff"
    return "", (PLUM if row == ROW else CARD), GREY


def _jacobian() -> str:
    x, y, w, h = 330, 84, 200, 224
    parts = [
        *tiles(x, y, w, h, 16, 8, _cell, stroke="#b9c3c4"),
        text(x + w / 2, y + h + 22, "8 columns: arguments", 13, QUIET),
        text(x - 14, y + h / 2, "64 rows:", 13, QUIET, "end"),
        text(x - 14, y + h / 2 + 18, "results", 13, QUIET, "end"),
        arrow((x + 62, 66), (x + 62, 80), stroke=BLUE),
        text(x + 62, 58, "jvp: how all results change with argument 2", 13.5, BLUE, weight="bold"),
        arrow((x + w + 36, y + 91), (x + w + 8, y + 91), stroke=PLUM),
        text(x + w + 44, y + 88, "vjp: how result 24", 13.5, PLUM, "start", "bold"),
        text(x + w + 44, y + 106, "depends on all arguments", 13.5, PLUM, "start", "bold"),
        text(832, 332, "every fourth row is drawn", 13, QUIET, "end"),
    ]
    return card("A Jacobian: forward fills a column, reverse a row", 350, parts)


def _forward() -> str:
    parts = [
        *copied(70, 124, 30, 96),
        text(85, 108, "v", 14, INK, weight="bold", mono=True),
        text(85, 254, "8 parameters", 13, QUIET),
        arrow((124, 172), (214, 172), stroke=BLUE),
        text(168, 160, "8 columns", 13, BLUE, weight="bold"),
        *bands(232, 84, 96, 176, False),
        text(280, 284, "the examples", 13, QUIET),
        arrow((346, 172), (456, 172), stroke=BLUE),
        text(400, 160, "forward", 13, BLUE, weight="bold"),
        *bands(474, 84, 110, 176, False, fill=SKY, ink=BLUE),
        text(529, 284, "the Jacobian", 13.5, INK, weight="bold"),
        text(600, 166, "device 3:", 13, ORANGE, "start", "bold"),
        text(600, 183, "rows 24 to 31", 13, ORANGE, "start", "bold"),
        *unknown(730, 136, 90, 72),
        text(775, 228, "sent", 13, QUIET),
    ]
    return card("jacfwd: the walk goes as the function goes", 306, parts)


def _reverse() -> str:
    parts = [
        *bands(70, 84, 96, 176, False),
        text(118, 284, "the examples", 13, QUIET),
    ]
    for i in range(8):
        parts.append(
            arrow((176, 95 + i * 22), (330, 172), stroke=ORANGE if i == 3 else PLUM, width=2 if i == 3 else 1.2)
        )
    parts += [
        text(250, 92, "in reverse", 13, PLUM, weight="bold"),
        box(338, 124, 30, 96, LILAC, PLUM, 1.4),
        text(353, 108, "v", 14, INK, weight="bold", mono=True),
        text(353, 254, "8 parameters", 13, QUIET),
        arrow((380, 172), (470, 172), stroke=PLUM),
        text(424, 160, "64 rows", 13, PLUM, weight="bold"),
        *partial(488, 84, 110, 176, ("device 3:", "a share", "of all rows")),
        text(543, 284, "the Jacobian", 13.5, INK, weight="bold"),
        *unknown(730, 136, 90, 72),
        text(775, 228, "sent", 13, QUIET),
    ]
    return card("jacrev: all examples end in the same parameters", 306, parts)


def _one_row() -> str:
    parts = [
        *tiles(330, 96, 200, 24, 1, 8, lambda _row, _column: ("", PLUM, "#fff"), stroke="#fff"),
        text(430, 82, "one row: the gradient", 13.5, PLUM, weight="bold"),
        text(316, 113, "the loss", 13, QUIET, "end"),
        text(430, 144, "8 columns: parameters", 13, QUIET),
    ]
    for y, words, n, fill, ink in ((184, "forward: 8 steps", 8, SKY, BLUE), (222, "reverse: 1 step", 1, LILAC, PLUM)):
        parts.append(text(316, y + 17, words, 13.5, ink, "end", "bold"))
        parts += [box(330 + i * 25, y, 21, 24, fill, ink, 1.2) for i in range(n)]
    return card("The Jacobian of a loss", 268, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {"jacobian": _jacobian(), "forward": _forward(), "reverse": _reverse(), "one_row": _one_row()}


if __name__ == "__main__":
    save(__file__, draw())
