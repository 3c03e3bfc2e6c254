"""Draws the pictures of lesson 13. Orange: the followed element; hatched grey: padding."""

from __future__ import annotations

from drawing import CARD, GREY, INK, ORANGE, PALE, QUIET, TEAL, Parts, arrow, box, card, label, line, save, text, tiles, unknown

ROWS, COLUMNS, OURS = 3, 4, (1, 2)
PADDING = "#e9e7e2"


def padding(x: float, y: float, w: float, h: float) -> Parts:
    """Places in a tile that hold nothing: grey, with strokes."""
    strokes = [
        line((max(x, x + d - h), y + min(h, d)), (min(x + w, x + d), y + max(0, d - w)), stroke=GREY, width=0.8)
        for d in range(6, int(w + h), 9)
    ]
    return [box(x, y, w, h, PADDING, GREY, 0.8), *strokes]


def order(*, known: bool) -> str:
    """A matrix of 3 x 4, and its two orders on the line of memory."""

    def cell(row: int, column: int) -> tuple[object, str, str]:
        is_ours = (row, column) == OURS
        return f"{row},{column}", ORANGE if is_ours else PALE, "#fff" if is_ours else TEAL

    parts = [text(98, 74, "row, column", 13, QUIET), *tiles(28, 84, 140, 105, ROWS, COLUMNS, cell)]
    for n, (name, of) in enumerate(
        (("row by row", lambda i: divmod(i, COLUMNS)), ("column by column", lambda i: divmod(i, ROWS)[::-1]))
    ):
        y = 84 + n * 76
        parts.append(text(232, y + 22, name, 13.5, INK, "start", "bold"))
        for place in range(12):
            x = 366 + place * 38
            row, column = of(place)
            is_ours = (row, column) == OURS and known
            parts.append(box(x, y, 38, 32, ORANGE if is_ours else CARD, TEAL, 1))
            if known:
                parts.append(text(x + 19, y + 21, f"{row},{column}", 12.5, "#fff" if is_ours else TEAL, weight="bold"))
            parts.append(text(x + 19, y + 47, place, 12.5, ORANGE if is_ours else QUIET, weight="bold" if is_ours else "normal"))
        if not known:
            parts += label(594, y + 16, "where is 1,2 ?", fill=CARD, ink=ORANGE)
    parts.append(arrow((188, 136), (222, 136)))
    return card("Memory is a line: two orders of one matrix", 226, parts)


def by_rows() -> str:
    """1,000 x 100 on tiles, row by row."""
    parts: Parts = []
    x, y, w, h = 216, 70, 128 * 2.6, 34
    for n in range(4):
        top = y + n * h + (24 if n == 3 else 0)
        parts += [box(x, top, 100 * 2.6, h, PALE, TEAL, 0.8), *padding(x + 100 * 2.6, top, 28 * 2.6, h)]
        parts.append(box(x, top, w, h, "none", INK, 1.4))
        parts.append(text(x + 130, top + 22, f"tile {n}" if n < 3 else "the last tile", 13, TEAL, weight="bold"))
    parts.append(text(x + w / 2, y + 3 * h + 16, "...", 15, QUIET, weight="bold"))
    parts.append(text(x - 14, y + 22, "8 rows", 13, QUIET, "end"))
    parts.append(text(x - 14, y + 80, "1,000 rows: how many tiles?", 13, ORANGE, "end", "bold"))
    parts.append(text(x + 130, y + 4 * h + 44, "100 columns", 13, TEAL, weight="bold"))
    parts.append(text(x + 114 * 2.6, y + 4 * h + 44, "28 padding", 13, QUIET))
    parts.append(text(x + w + 24, y + 22, "a tile: 8 x 128 numbers", 13, QUIET, "start"))
    parts.append(text(x + w + 24, y + 42, "of 4 bytes = 4,096 bytes", 13, QUIET, "start"))
    return card("Row by row: 1,000 x 100 on tiles of 8 x 128", 272, parts)


def by_columns() -> str:
    """1,000 x 100 on tiles, column by column."""
    x, y, wide, high = 196, 84, 64.0, 13.0
    full_w, full_h = 1000 / 128 * wide, 100 / 8 * high
    parts = [box(x, y, full_w, full_h, PALE, TEAL, 0.8)]
    parts += padding(x, y + full_h, 8 * wide, 13 * high - full_h)
    parts += padding(x + full_w, y, 8 * wide - full_w, full_h)
    parts += [line((x + n * wide, y), (x + n * wide, y + 13 * high), stroke=INK, width=0.9) for n in range(9)]
    parts += [line((x, y + n * high), (x + 8 * wide, y + n * high), stroke=INK, width=0.9) for n in range(14)]
    parts.append(text(x + 4 * wide, y - 10, "1,000 rows, in pieces of 128", 13, QUIET))
    parts.append(text(x - 14, y + 78, "100 columns,", 13, QUIET, "end"))
    parts.append(text(x - 14, y + 96, "in pieces of 8", 13, QUIET, "end"))
    parts.append(text(x + 4 * wide, y + 13 * high + 24, "how many tiles?", 13.5, ORANGE, weight="bold"))
    return card("Column by column: the rows lie along the tiles", 296, parts)


def shards() -> str:
    """One weight over 8 and over 64 chips, and the tiles of a shard."""
    parts = [text(28, 76, "64 x 1,024 on 8 chips", 13.5, INK, "start", "bold")]
    parts += tiles(28, 88, 360, 44, 1, 8, lambda _, n: ("", ORANGE if n == 3 else PALE, TEAL))
    parts.append(text(28, 164, "on 64 chips", 13.5, INK, "start", "bold"))
    parts += tiles(28, 176, 360, 44, 1, 64, lambda _, n: ("", ORANGE if n == 27 else PALE, TEAL))
    parts += [arrow((396, 110), (432, 110)), arrow((396, 198), (432, 198))]
    for n in range(8):
        parts.append(box(446, 82 + n * 7, 150, 7, ORANGE, CARD, 0.8))
    parts.append(text(612, 106, "a shard: 64 x 128", 13, INK, "start"))
    parts.append(text(612, 126, "8 tiles, none of it padding", 13, QUIET, "start"))
    parts += unknown(446, 168, 150, 56)
    parts.append(text(612, 192, "a shard: 64 x 16", 13, INK, "start"))
    parts.append(text(612, 212, "how many tiles, how many bytes?", 13, ORANGE, "start", "bold"))
    return card("Each device pads its own shard", 246, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {
        "order": order(known=False),
        "order_answer": order(known=True),
        "tiles": by_rows(),
        "turned": by_columns(),
        "shards": shards(),
    }


if __name__ == "__main__":
    save(__file__, draw())
