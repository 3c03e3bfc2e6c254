"""The pictures of lesson 6: what device 3 must see. Run it to write them."""

from __future__ import annotations

from drawing import (
    FOLLOWED,
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
    save,
    text,
    tiles,
    unknown,
)


def turn(*, known: bool) -> str:
    """An all-to-all; what is kept and given, if `known`."""
    y, side = 100, 168
    parts = tiles(
        80,
        y,
        side,
        side,
        8,
        8,
        lambda r, c: (
            ("", ORANGE if known else PEACH, "")
            if c == r == FOLLOWED
            else ("", PEACH, "")
            if c == FOLLOWED
            else ("", PALE, "")
        ),
    )
    parts += tiles(
        560,
        y,
        side,
        side,
        8,
        8,
        lambda r, c: (
            ("", ORANGE if known else PEACH, "")
            if c == r == FOLLOWED
            else ("", PEACH, "")
            if r == FOLLOWED
            else ("", PALE, "")
        ),
    )
    for n in range(8):
        ink = ORANGE if n == FOLLOWED else QUIET
        parts.append(text(80 + n * 21 + 10, y - 6, n, 11.5, ink, weight="bold"))
        parts.append(text(548, y + n * 21 + 15, n, 11.5, ink, weight="bold"))
    parts.append(text(164, 74, "a column belongs to a device", 13, QUIET))
    parts.append(text(644, 74, "a row belongs to a device", 13, QUIET))
    parts.append(arrow((290, y + 84), (500, y + 84)))
    if known:
        parts.append(text(395, y + 72, "all-to-all", 14, INK, weight="bold"))
        parts.append(text(395, y + 106, "7 pieces given,", 13, ORANGE, weight="bold"))
        parts.append(text(395, y + 124, "7 pieces got", 13, ORANGE, weight="bold"))
    else:
        parts += unknown(372, y + 36, 46, 36)
    notes = [(PEACH, ORANGE, "device 3 has this, or wants it")]
    if known:
        notes = [(ORANGE, ORANGE, "device 3 keeps this piece"), (PEACH, ORANGE, "given away, or got")]
    return card("y goes from columns to rows", 314, [*parts, *legend(286, notes)])


def attention() -> str:
    """Split by tokens and by heads."""
    parts = []
    for x, upright, title, needs in (
        (80, False, "split by tokens", "device 3 needs k and v of all tokens"),
        (480, True, "split by heads", "device 3 needs its own head only"),
    ):
        parts.append(text(x + 130, 72, title, 14, INK, weight="bold"))
        for n, name in enumerate("qkv"):
            left = x + n * 92
            borrowed = not upright and name != "q"
            fill, ink = (PEACH, ORANGE) if borrowed else (PALE, TEAL)
            parts += bands(left, 104, 76, 120, upright, numbers=False, fill=fill, ink=ink)
            parts.append(text(left + 38, 96, name, 14, INK, weight="bold", mono=True))
        parts.append(text(x - 10, 168, "tokens ↓", 12.5, QUIET, "end"))
        parts.append(text(x + 130, 246, "heads →", 12.5, QUIET))
        parts.append(text(x + 130, 272, needs, 13, ORANGE, weight="bold"))
    notes = (
        (ORANGE, ORANGE, "device 3 has this"),
        (PEACH, ORANGE, "it needs this, too"),
        (PALE, TEAL, "it never needs this"),
    )
    return card("Attention: 32 tokens and 8 heads", 322, [*parts, *legend(294, notes)])


def halo() -> str:
    """A window over the edges of neighbours."""
    parts = []
    y, cell = 108, 28
    for device in range(3):
        left = 66 + device * 252
        number = device + 2
        ours = number == FOLLOWED
        parts.append(text(left + 4 * cell, y - 14, f"device {number}", 14, ORANGE if ours else QUIET, weight="bold"))
        for n in range(8):
            needed = (number, n) in ((2, 7), (4, 0))
            fill = ORANGE if ours else PEACH if needed else PALE
            parts.append(box(left + n * cell, y, cell, cell, fill, ORANGE if needed or ours else TEAL, 1))
            words = number * 8 + n
            parts.append(
                text(left + n * cell + 14, y + 18, words, 11.5, "#fff" if ours else ORANGE if needed else TEAL)
            )
    parts.append(
        arrow(
            (66 + 7.5 * cell, y + 34), (66 + 7.5 * cell, y + 62), (318 + 14, y + 62), (318 + 14, y + 34), stroke=ORANGE
        )
    )
    parts.append(
        arrow(
            (570 + 14, y + 34),
            (570 + 14, y + 62),
            (318 + 7.5 * cell, y + 62),
            (318 + 7.5 * cell, y + 34),
            stroke=ORANGE,
        )
    )
    parts.append(text(430, y + 92, "one number from each neighbour", 13.5, ORANGE, weight="bold"))
    return card("A window of three: what device 3 lacks", 222, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {
        "turn": turn(known=False),
        "turn_answer": turn(known=True),
        "attention_answer": attention(),
        "halo_answer": halo(),
    }


if __name__ == "__main__":
    save(__file__, draw())
