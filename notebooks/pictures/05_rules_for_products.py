"""The pictures of lesson 5: the letters of a product, and its nine cases. Run it to write them."""

from __future__ import annotations

from drawing import (
    BLUE,
    FOLLOWED,
    GREY,
    INK,
    LILAC,
    ORANGE,
    PALE,
    PEACH,
    PLUM,
    QUIET,
    SKY,
    TEAL,
    bands,
    box,
    card,
    legend,
    line,
    named,
    partial,
    save,
    text,
    tiles,
)

SIDE = 120


def edges(x: float, y: float, down: str, across: str) -> list[str]:
    """The letters of a matrix at its edges; the summed one is plum."""
    parts = []
    for letter, where, spot in (
        (down, ((x - 7, y), (x - 7, y + SIDE)), (x - 22, y + SIDE / 2 + 6)),
        (across, ((x, y + SIDE + 7), (x + SIDE, y + SIDE + 7)), (x + SIDE / 2, y + SIDE + 27)),
    ):
        ink = PLUM if letter == "k" else TEAL
        parts += [line(*where, stroke=ink, width=3), text(*spot, letter, 18, ink, weight="bold", mono=True)]
    return parts


def letters() -> str:
    """One number of the result."""
    y = 92
    parts = []
    for x, name, down, across in ((90, "x", "i", "k"), (350, "w", "k", "j"), (630, "result", "i", "j")):
        parts += [box(x, y, SIDE, SIDE, PALE, TEAL), *edges(x, y, down, across)]
        parts.append(text(x + SIDE / 2, y - 12, name, 14, INK, weight="bold", mono=True))
    parts.append(box(90, y + 48, SIDE, 12, ORANGE, ORANGE))
    parts.append(box(350 + 78, y, 12, SIDE, ORANGE, ORANGE))
    parts.append(box(630 + 78, y + 48, 12, 12, ORANGE, ORANGE))
    parts += [text(275, y + 66, "@", 22, QUIET), text(545, y + 66, "=", 22, QUIET)]
    notes = (
        (ORANGE, ORANGE, "one number, and what it is made of"),
        (PLUM, PLUM, "k: summed"),
        (TEAL, TEAL, "i, j: kept"),
    )
    return card("The three letters of a product", 286, [*parts, *legend(258, notes)])


def pair(*, first: bool, second: bool) -> tuple[float, list[str]]:
    """Two split operands; whether each is split by columns."""
    y = 92
    parts = bands(90, y, SIDE, SIDE, first, numbers=False)
    parts += named(90, y, SIDE, SIDE, "x", "by columns: k" if first else "by rows: i")
    parts += bands(350, y, SIDE, SIDE, second, numbers=False)
    parts += named(350, y, SIDE, SIDE, "w", "by columns: j" if second else "by rows: k")
    return y, [*parts, text(280, y + 66, "@", 22, QUIET), text(550, y + 66, "=", 22, QUIET)]


def both() -> str:
    """Columns times rows."""
    y, parts = pair(first=True, second=False)
    parts += partial(630, y, SIDE, SIDE)
    parts += named(630, y, SIDE, SIDE, "result")
    notes = (ORANGE, ORANGE, "device 3 has this"), (PEACH, ORANGE, "full shape, a share of the sum")
    return card("k is split on both sides", 272, [*parts, *legend(244, notes)])


def clash() -> str:
    """Rows times columns."""
    y, parts = pair(first=False, second=True)
    parts += tiles(
        630,
        y,
        SIDE,
        SIDE,
        8,
        8,
        lambda r, c: (
            ("", ORANGE, "#fff") if r == c == FOLLOWED else ("", PALE, TEAL) if r == c else ("?", "#fff", GREY)
        ),
        size=10,
    )
    parts += named(630, y, SIDE, SIDE, "result")
    notes = (ORANGE, ORANGE, "device 3 can make this"), (PALE, TEAL, "others can"), ("#fff", GREY, "nobody can")
    return card("i and j are split by the same axis", 272, [*parts, *legend(244, notes)])


FREE, GATHER, REDUCE = (
    ("free", "0", PALE, TEAL),
    ("all-gather", "14,336", SKY, BLUE),
    ("all-reduce", "28,672", LILAC, PLUM),
)
NINE = ((FREE, GATHER, FREE), (FREE, GATHER, GATHER), (GATHER, REDUCE, GATHER))
WHY = (
    ("", "k on one side", ""),
    ("", "k on one side", "i and j clash"),
    ("k on one side", "k on both", "k on one side"),
)


def nine() -> str:
    """All cases."""
    parts = []
    for n, words in enumerate(("whole", "rows (k)", "columns (j)")):
        parts.append(text(310 + n * 190, 82, f"w {words}", 13.5, INK, weight="bold"))
    for row, words in enumerate(("whole", "rows (i)", "columns (k)")):
        y = 96 + row * 74
        parts.append(text(190, y + 36, f"x {words}", 13.5, INK, "end", "bold"))
        for column in range(3):
            kind, sent, fill, ink = NINE[row][column]
            x = 220 + column * 190
            parts.append(box(x, y, 180, 64, fill, ink, 1.2, radius=6))
            parts.append(text(x + 90, y + 24, f"{kind}: {sent}" if kind != "free" else "free", 14, ink, weight="bold"))
            parts.append(text(x + 90, y + 46, WHY[row][column], 12.5, QUIET))
    return card("Nine products, and the bytes that each device sends", 340, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {"letters": letters(), "both": both(), "clash": clash(), "nine_answer": nine()}


if __name__ == "__main__":
    save(__file__, draw())
