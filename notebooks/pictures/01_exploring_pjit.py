"""The pictures of lesson 1: four layouts of one network, two rings, and a tie. Run it to write them."""

from __future__ import annotations

from collections.abc import Callable

from drawing import (
    BLUE,
    CARD,
    COPIED,
    FOLLOWED,
    INK,
    ORANGE,
    PALE,
    PEACH,
    PLUM,
    QUIET,
    SLATE,
    TEAL,
    WIDTH,
    bands,
    box,
    card,
    copied,
    legend,
    partial,
    ring,
    save,
    text,
    unknown,
)

BATCH, FEATURES, HIDDEN = 64, 72, 208  # drawn lengths of the three dimensions


def placement() -> str:
    """Three specs."""
    parts = [text(28, 70, "the mesh: eight devices along one axis, X", 13, QUIET, "start")]
    for i in range(8):
        x = 318 + i * 62
        ours = i == FOLLOWED
        parts.append(box(x, 52, 40, 28, ORANGE if ours else SLATE, "none", 0, radius=5))
        parts.append(text(x + 20, 71, i, 14, "#fff", weight="bold"))
        if i < 7:
            parts.append(f'<path d="M{x + 40} 66H{x + 62}" stroke="{TEAL}" stroke-width="3"/>')
    columns = (
        (150, "P(None, None)", "every device: the whole matrix", "device 3: [16, 32] = 2,048 bytes"),
        (430, 'P("X", None)', "rows split over X", "device 3: [2, 32] = 256 bytes"),
        (710, 'P(None, "X")', "columns split over X", "device 3: [16, 4] = 256 bytes"),
    )
    for middle, spec, says, holds in columns:
        parts.append(text(middle, 122, spec, 15, INK, weight="bold", mono=True))
        x, y, w, h = middle - 100, 138, 200, 136
        if "X" not in spec:
            parts += copied(x, y, w, h)
            parts.append(box(middle - 22, y + h / 2 - 12, 44, 24, ORANGE, "none", 0, radius=4))
            parts.append(text(middle, y + h / 2 + 5, "0-7", 13, "#fff", weight="bold"))
        else:
            parts += bands(x, y, w, h, upright=spec.startswith("P(None"))
        parts.append(text(middle, 308, says, 13, QUIET))
        parts.append(text(middle, 330, holds, 13, ORANGE, weight="bold"))
    return card("Three ways to place a matrix of 16 rows and 32 columns", 354, parts)


def strip(title: str, how: str, notes: tuple[tuple[str, str, str], ...]) -> str:
    """X @ W1 = hidden, hidden @ W2 = result, and what the followed device holds of them."""
    names = ("x", "W1", "hidden", "W2", "result")
    sizes = ((FEATURES, BATCH), (HIDDEN, FEATURES), (HIDDEN, BATCH), (FEATURES, HIDDEN), (FEATURES, BATCH))
    parts, x, middle = [], 36.0, 172
    for number, (label, (w, h), kind) in enumerate(zip(names, sizes, how.split(), strict=True)):
        y = middle - h / 2
        if kind == "copied":
            parts += copied(x, y, w, h)
        elif kind in ("rows", "columns"):
            parts += bands(
                x, y, w, h, kind == "columns", numbers=label.startswith("W") or (w, kind) == (HIDDEN, "columns")
            )
        elif kind.startswith("borrowed_"):
            parts += bands(x, y, w, h, kind.endswith("columns"), fill=PEACH, ink=ORANGE)
        elif kind == "partial":
            parts += partial(x, y, w, h)
        else:
            parts += unknown(x, y, w, h)
        parts.append(text(x + w / 2, y - 10, label, 14, INK, weight="bold", mono=True))
        spec = {"copied": "P(None, None)", "rows": 'P("X", None)', "columns": 'P(None, "X")'}.get(kind)
        if spec:
            below = y + h + (24 if kind == "copied" else 19)
            parts.append(text(x + w / 2, below, spec, 11.5, TEAL if kind != "copied" else QUIET, mono=True))
        if number < 4:
            parts.append(text(x + w + 23, middle + 7, ("@", "=", "@", "=")[number], 20, QUIET))
        x += w + 40
    parts += legend(322, notes)
    return card(title, 356, parts)


HELD = (ORANGE, ORANGE, "device 3 holds this part")
ELSE = (PALE, TEAL, "held by other devices")
OURS = (ORANGE, ORANGE, "device 3 holds or computes this")
BORROWED = (PEACH, ORANGE, "borrowed from the other devices")
SHARE = (PEACH, ORANGE, "full shape, but only a share of the sum")
COPY = (COPIED, ORANGE, "device 3 holds all of it, as every device does")


def pieces(x: float, y: float, cell: float, fill: Callable[[int, int], str]) -> list[str]:
    """Devices from left to right, pieces from top to bottom; fill(device, piece) is the colour."""
    parts = [
        box(x + d * cell, y + p * cell, cell, cell, fill(d, p), "#b9c3c4", 0.7) for d in range(8) for p in range(8)
    ]
    parts.append(box(x + FOLLOWED * cell - 1, y - 1, cell + 2, 8 * cell + 2, "none", ORANGE, 2.2))
    for d in range(8):
        parts.append(text(x + d * cell + cell / 2, y - 7, d, 10.5, ORANGE if d == FOLLOWED else QUIET, weight="bold"))
    return parts


def all_gather() -> str:
    """An all-gather, hop by hop."""
    parts = ring(102, 158, 62)
    parts.append(text(102, 258, "in each hop, every device", 12.5, QUIET))
    parts.append(text(102, 275, "sends to its neighbour", 12.5, QUIET))
    cell, top = 17, 92
    frames = (
        (0, "start", "nothing sent"),
        (1, "after hop 1", "1 piece sent"),
        (2, "after hop 2", "2 pieces sent"),
        (7, "after hop 7", "7 pieces sent"),
    )
    for number, (hop, when, sent) in enumerate(frames):
        x = 222 + number * 160

        def fill(device: int, piece: int, hop: int = hop) -> str:
            age = (device - piece) % 8
            return "#fff" if age > hop else ORANGE if age == hop and hop else TEAL if age == 0 else "#7fbdb9"

        parts += pieces(x, top, cell, fill)
        parts.append(text(x + 68, 68, when, 13.5, INK, weight="bold"))
        parts.append(text(x + 68, top + 8 * cell + 20, sent, 13, ORANGE if hop else QUIET, weight="bold"))
        if number == 2:
            parts.append(text(x + 148, top + 4 * cell + 5, "…", 20, QUIET))
    x = 222
    for colour, words in ((TEAL, "its own piece"), ("#7fbdb9", "received before"), (ORANGE, "arrived in this hop")):
        parts.append(box(x, 281, 14, 13, colour, "#b9c3c4", 0.7))
        parts.append(text(x + 21, 292, words, 12.5, QUIET, "start"))
        x += 44 + 6.1 * len(words)
    parts.append(text(WIDTH - 28, 292, "a column is a device, a row is a piece", 12.5, QUIET, "end"))
    return card("All-gather in a ring: every device starts with one piece and ends with all eight", 314, parts)


def all_reduce() -> str:
    """An all-reduce, hop by hop."""
    parts, cell, top = [], 17, 96
    for i in range(8):
        x, y = 36 + i * 7, 92 + i * 12
        parts.append(box(x, y, 76, 52, COPIED if i == FOLLOWED else "#fff", ORANGE if i == FOLLOWED else TEAL, 1.1))
    parts.append(text(102, 262, "eight partial sums, each", 12.5, QUIET))
    parts.append(text(102, 279, "as large as the result", 12.5, QUIET))
    shades = ["#eef5f4", "#d5e8e7", "#bcdbd9", "#a1cdca", "#84bdb9", "#62aaa5", "#3c948f", TEAL]
    frames = (
        (0, "start", "nothing sent"),
        (3, "after hop 3", "3 slices sent"),
        (7, "after hop 7", "7 slices sent"),
        (14, "after hop 14", "14 slices sent"),
    )
    for number, (hop, when, sent) in enumerate(frames):
        x = 222 + number * 160

        def fill(device: int, piece: int, hop: int = hop) -> str:
            if hop == 14:
                return TEAL
            return shades[hop] if piece == (device + 7 - hop) % 8 and hop else shades[0]

        parts += pieces(x, top, cell, fill)
        parts.append(text(x + 68, 70, when, 13.5, INK, weight="bold"))
        parts.append(text(x + 68, top + 8 * cell + 20, sent, 13, ORANGE if hop else QUIET, weight="bold"))
    x = 222
    for colour, words in ((shades[0], "one device's numbers"), (shades[3], "sum of four"), (TEAL, "sum of all eight")):
        parts.append(box(x, 285, 14, 13, colour, "#b9c3c4", 0.7))
        parts.append(text(x + 21, 296, words, 12.5, QUIET, "start"))
        x += 44 + 6.1 * len(words)
    parts.append(text(WIDTH - 28, 296, "a column is a device, a row is a slice", 12.5, QUIET, "end"))
    return card("All-reduce in a ring: first add up (7 hops), then hand round (7 hops)", 318, parts)


def tie() -> str:
    """Bytes against rows."""
    left, right, top, bottom = 84, 660, 68, 296
    kib = 60

    def at(batch: float, value: float) -> tuple[float, float]:
        return left + (right - left) * batch / 256, bottom - (bottom - top) * value / kib

    x128, y28 = at(128, 28)
    parts = [
        box(left, top, x128 - left, bottom - top, "#f6edf5", "none", 0),
        box(x128, top, right - x128, bottom - top, "#ebf1fa", "none", 0),
        f'<path d="M{left} {top}V{bottom}H{right}" stroke="{QUIET}" fill="none"/>',
    ]
    for batch in (0, 16, 64, 128, 192, 256):
        x, _ = at(batch, 0)
        parts += [f'<path d="M{x} {bottom}v5" stroke="{QUIET}"/>', text(x, bottom + 20, batch, 12.5, QUIET)]
    for value in (0, 14, 28, 42, 56):
        _, y = at(0, value)
        parts += [f'<path d="M{left} {y}h-5" stroke="{QUIET}"/>', text(left - 10, y + 4.5, value, 12.5, QUIET, "end")]
    parts.append(text(28, 57, "KiB that each device sends", 12.5, QUIET, "start"))
    parts.append(text(right, bottom + 40, "rows in the batch", 12.5, QUIET, "end"))
    for words, (start, end), colour in (("FSDP", (28, 28), BLUE), ("tensor parallel", (0, 56), PLUM)):
        (x0, y0), (x1, y1) = at(0, start), at(256, end)
        parts.append(f'<path d="M{x0} {y0}L{x1} {y1}" stroke="{colour}" stroke-width="3"/>')
        x, y = at(16, start + (end - start) / 16)
        parts.append(f'<circle cx="{x}" cy="{y}" r="5.5" fill="{colour}" stroke="#fff" stroke-width="1.5"/>')
        says = (
            ("moves weights:", "rows do not matter") if words == "FSDP" else ("moves results:", "more rows, more bytes")
        )
        parts.append(text(right + 14, y1 + 2, words, 13.5, colour, "start", "bold"))
        parts += [text(right + 14, y1 + 20 + 17 * n, line, 13, colour, "start") for n, line in enumerate(says)]
    parts.append(f'<circle cx="{x128}" cy="{y28}" r="8" fill="{CARD}" stroke="{INK}" stroke-width="2.5"/>')
    parts.append(text(x128 - 12, y28 - 20, "tie at 128 rows", 14, INK, "end", "bold"))
    parts.append(text((left + x128) / 2, top + 26, "tensor parallel sends less", 13, PLUM))
    parts.append(text((right + x128) / 2, bottom - 16, "FSDP sends less", 13, BLUE))
    return card("The tie: as many rows in the batch as units in the hidden layer", 350, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {
        "placement": placement(),
        "replicated": strip(
            "Layout 1, replicated: what device 3 holds", "copied copied unknown copied unknown", (COPY,)
        ),
        "data_parallel": strip(
            "Layout 2, data parallel: what device 3 holds", "rows copied unknown copied unknown", (HELD, ELSE, COPY)
        ),
        "fsdp": strip(
            "Layout 3, fully sharded: what device 3 holds", "rows columns unknown rows unknown", (HELD, ELSE)
        ),
        "tensor_parallel": strip(
            "Layout 4, tensor parallel: what device 3 holds", "copied columns unknown rows unknown", (HELD, ELSE, COPY)
        ),
        "data_parallel_answer": strip(
            "Layout 2: what device 3 computes", "rows copied rows copied rows", (OURS, ELSE, COPY)
        ),
        "fsdp_answer": strip(
            "Layout 3: what device 3 borrows", "rows borrowed_columns rows borrowed_rows rows", (OURS, BORROWED, ELSE)
        ),
        "tensor_parallel_answer": strip(
            "Layout 4: what device 3 computes", "copied columns columns rows partial", (OURS, ELSE, SHARE)
        ),
        "all_gather": all_gather(),
        "all_reduce": all_reduce(),
        "tie": tie(),
    }


if __name__ == "__main__":
    save(__file__, draw())
