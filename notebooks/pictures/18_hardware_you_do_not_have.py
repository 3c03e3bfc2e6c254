"""Draws the pictures of lesson 18. Orange: the followed device and its sums; blue and plum: two mesh axes."""

from __future__ import annotations

from drawing import (
    BLUE,
    CARD,
    GREY,
    INK,
    LILAC,
    ORANGE,
    PALE,
    PLUM,
    QUIET,
    SKY,
    SLATE,
    TEAL,
    Parts,
    arrow,
    box,
    card,
    device,
    label,
    line,
    save,
    text,
    unknown,
)


def sums() -> str:
    """Three partial sums on the mesh 2 x 4."""
    parts: Parts = []
    for n in range(8):
        row, column = divmod(n, 4)
        parts += device(86 + column * 62, 112 + row * 56, n, fill=ORANGE if n == 3 else SLATE)
    parts += [arrow((60, 80), (292, 80), stroke=PLUM), text(180, 72, "model = 4", 13, PLUM, weight="bold")]
    parts += [arrow((48, 94), (48, 186), stroke=BLUE), text(28, 212, "data = 2", 13, BLUE, "start", "bold")]
    rows = (
        ("hidden @ W2", "over model", PLUM, LILAC),
        ("gradient of W1", "over data", BLUE, SKY),
        ("gradient of W2", "over data", BLUE, SKY),
    )
    for n, (name, axis, ink, fill) in enumerate(rows):
        y = 66 + n * 50
        parts += [box(356, y, 206, 38, fill, ink, 1.3, radius=6), text(459, y + 24, name, 13.5, INK, mono=n == 0)]
        parts.append(text(580, y + 24, f"added {axis}", 13, ink, "start", "bold"))
        parts += unknown(702, y, 130, 38)
    return card("Three sums: how many bytes has device 3 of each?", 230, parts)


def networks() -> str:
    """A torus beside hosts with switches."""
    parts = [text(28, 72, "torus: links to neighbours, rows closed to rings", 13.5, INK, "start", "bold")]
    for row in range(4):
        y = 108 + row * 38
        parts.append(line((62, y), (230, y), stroke=PLUM, width=3))
        parts.append(f'<path d="M62 {y}C40 {y - 20} 252 {y - 20} 230 {y}" fill="none" stroke="{PLUM}" stroke-width="1.4"/>')
    for column in range(4):
        x = 62 + column * 56
        parts.append(line((x, 108), (x, 222), stroke=BLUE, width=3))
        parts.append(f'<path d="M{x} 108C{x + 26} 86 {x + 26} 244 {x} 222" fill="none" stroke="{BLUE}" stroke-width="1.4"/>')
    for n in range(16):
        parts += device(62 + n % 4 * 56, 108 + n // 4 * 38, "", fill=ORANGE if n == 3 else SLATE, w=22, h=18)
    parts.append(text(272, 148, "a mesh axis", 13, QUIET, "start"))
    parts.append(text(272, 165, "is a ring", 13, QUIET, "start"))
    parts.append(text(272, 182, "of its own", 13, QUIET, "start"))
    parts.append(text(430, 72, "switch: fast in a host, slow between hosts", 13.5, INK, "start", "bold"))
    for host in range(2):
        x = 434 + host * 210
        parts.append(box(x, 92, 188, 104, CARD, GREY, 1.3, radius=8))
        for n in range(8):
            dx, dy = x + 30 + n % 4 * 43, 110 if n < 4 else 178
            parts.append(line((dx, dy), (x + 94, 144), stroke=TEAL, width=2.4))
            parts += device(dx, dy, "", fill=ORANGE if host == 0 and n == 3 else SLATE, w=22, h=18)
        parts += label(x + 94, 144, "switch", fill=PALE, ink=TEAL)
    parts += [line((528, 196), (528, 220), (738, 220), (738, 196), stroke=QUIET, width=1.4, dashed=True)]
    parts.append(text(633, 238, "slow links between hosts", 13, QUIET))
    return card("Two networks", 262, parts)


def hosts() -> str:
    """Rows of model on hosts of eight, for two meshes."""
    parts: Parts = []
    for n, (name, wide, words) in enumerate(
        (("16 x 16", 16, "a row of model: two hosts"), ("32 x 8", 8, "a row of model: one host"))
    ):
        y = 84 + n * 84
        parts.append(text(28, y + 10, name, 14, INK, "start", "bold"))
        for host in range(2):
            x = 120 + host * 250
            parts.append(box(x, y - 18, 238, 48, CARD, GREY, 1.3, radius=7))
            for chip in range(8):
                number = host * 8 + chip
                fill = ORANGE if number == 3 else PLUM if number < wide else SLATE
                parts += device(x + 22 + chip * 28, y + 6, "", fill=fill, w=22, h=20)
        parts.append(text(626, y + 10, words, 13, PLUM, "start", "bold"))
    parts.append(text(120, 222, "plum: the chips that add up over model with the orange one", 13, QUIET, "start"))
    return card("Two of 32 hosts: where does a row of model lie?", 242, parts)


def compilers() -> str:
    """One partitioner, three compilers."""
    parts = [box(28, 88, 128, 60, PALE, TEAL, 1.4, radius=8), text(92, 114, "your program", 13.5, INK, weight="bold")]
    parts += [text(92, 134, "and its mesh", 13, QUIET), arrow((160, 118), (206, 118))]
    parts += [box(210, 76, 190, 84, PALE, TEAL, 1.4, radius=8), text(305, 102, "partitioner", 13.5, INK, weight="bold")]
    parts += [text(305, 124, "collectives and bytes:", 13, QUIET), text(305, 142, "the same for all", 13, TEAL, weight="bold")]
    for n, (name, says) in enumerate(
        (("CPU", "adds in float32"), ("TPU", "tiles, memory on the chip"), ("GPU", "products by a library"))
    ):
        y = 62 + n * 44
        parts.append(arrow((404, 118), (468, y + 17)))
        parts += [box(472, y, 90, 34, SKY, BLUE, 1.3, radius=6), text(517, y + 22, name, 13.5, INK, weight="bold")]
        parts.append(text(578, y + 22, says, 13, QUIET, "start"))
    parts.append(text(472, 210, "kernels, temporaries, layouts differ", 13, BLUE, "start", "bold"))
    return card("The fork: what is the same, and what is not", 230, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {"sums": sums(), "networks": networks(), "hosts": hosts(), "compilers": compilers()}


if __name__ == "__main__":
    save(__file__, draw())
