"""The pictures of lesson 27: a tuned network, one spec that somebody edits, and what a golden looks at."""

from __future__ import annotations

from drawing import (
    FOLLOWED,
    GREY,
    INK,
    LILAC,
    ORANGE,
    PALE,
    PEACH,
    PLUM,
    QUIET,
    TEAL,
    arrow,
    bands,
    box,
    card,
    copied,
    label,
    legend,
    lines,
    named,
    partial,
    save,
    text,
    tiles,
)


def tuned() -> str:
    """The network as it was laid out: all of x, columns of W1, rows of W2, one share of the result."""
    parts = copied(40, 120, 70, 64) + named(40, 120, 70, 64, "x", "P()", ink=QUIET, gap=26)
    parts += bands(160, 116, 200, 72, upright=True) + named(160, 116, 200, 72, "W1", 'P(None, "X")')
    parts += bands(410, 120, 110, 64, upright=True, numbers=False) + named(410, 120, 110, 64, "hidden")
    parts += bands(570, 70, 70, 164, upright=False) + named(570, 70, 70, 164, "W2", 'P("X", None)')
    parts += partial(690, 120, 76, 64) + named(690, 120, 76, 64, "result")
    for x, sign in ((135, "@"), (385, "="), (545, "@"), (665, "=")):
        parts.append(text(x, 158, sign, 18, QUIET))
    parts += [*label(728, 238, "all-reduce", fill=PEACH, ink=ORANGE), arrow((728, 192), (728, 220), stroke=ORANGE)]
    notes = (
        (ORANGE, ORANGE, "device 3 holds or computes this"),
        (PALE, TEAL, "other devices"),
        (PEACH, ORANGE, "a share of the sum"),
    )
    return card("As you left it: hidden units split, one sum at the end", 318, [*parts, *legend(284, notes)])


def edited(sends: str) -> str:
    """W1 in 8 x 8 tiles: device 3 has a row of them, and needs a column."""

    def of(row: int, column: int) -> tuple[str, str, str]:
        if row == FOLLOWED:
            return ("stays" if column == FOLLOWED else "", ORANGE, "#fff")
        return ("", LILAC if column == FOLLOWED else PALE, PLUM if column == FOLLOWED else TEAL)

    left, top, wide, high = 60, 84, 400, 176
    parts = tiles(left, top, wide, high, 8, 8, of, stroke="#b9c3c4", size=11)
    parts += named(left, top, wide, high, "W1", 'P("X", None)')
    parts.append(box(left + 3 * wide / 8, top, wide / 8, high, "none", PLUM, 2.2))
    parts.append(box(left, top + 3 * high / 8, wide, high / 8, "none", ORANGE, 2.2))
    says = (
        (ORANGE, "device 3 has: rows 12 to 15", "eight tiles, 2,048 bytes"),
        (PLUM, "device 3 needs: columns 48 to 63", "to compute its hidden units"),
        (INK, "all-to-all: every device keeps one tile", f"and sends {sends}"),
    )
    for number, (colour, first, second) in enumerate(says):
        y = 106 + number * 58
        parts.append(box(500, y - 14, 16, 16, colour, "none", 0, radius=3))
        parts += lines(528, y, (first, second), 14, INK, "start", step=20)
    return card("One spec later: W1 is split by rows", 300, parts)


def golden(marks: tuple[str, str, str, str]) -> str:
    """Four edits, and whether the golden differs."""
    edits = (
        ("hidden  →  h", "a name"),
        ("layer.py  →  model/mlp.py", "a place"),
        ('P(None, "X")  →  P("X", None)', "a spec"),
        ("relu  →  gelu", "arithmetic"),
    )
    parts = [text(60, 70, "the edit", 13, QUIET, "start"), text(485, 70, "the golden", 13, QUIET, "start")]
    for number, ((words, kind), mark) in enumerate(zip(edits, marks, strict=True)):
        y = 104 + number * 46
        colour = {"?": GREY, "same": TEAL, "differs": ORANGE}[mark]
        parts += [
            text(60, y, words, 15, INK, "start", mono=True),
            text(345, y, kind, 13, QUIET, "start"),
            arrow((425, y - 5), (470, y - 5)),
            *label(522, y - 5, mark, fill="none", ink=colour, size=14),
        ]
    wide = (
        [text(590, 104 + 46 * n, words, 12.5, QUIET, "start") for n, words in enumerate(_WHY)]
        if "?" not in marks
        else []
    )
    return card("Four edits: which of them does the golden notice?", 280, [*parts, *wide])


_WHY = (
    "names of values are not in it",
    "places are not in it",
    "a spec, and a collective more",
    "no sharding, no collective",
)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {
        "tuned": tuned(),
        "edited": edited("?"),
        "edited_answer": edited("seven: 7 · 256 = 1,792 bytes"),
        "golden": golden(("?", "?", "?", "?")),
        "golden_answer": golden(("same", "same", "differs", "same")),
    }


if __name__ == "__main__":
    save(__file__, draw())
