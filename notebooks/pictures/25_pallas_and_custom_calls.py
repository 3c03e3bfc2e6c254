"""The pictures of lesson 25: blocks through fast memory, and who gets which block. Run it to write them."""

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
    arrow,
    bands,
    box,
    card,
    device,
    line,
    save,
    text,
    unknown,
)


def _grid() -> str:
    parts = [
        text(125, 74, "x, in slow memory", 13.5, INK, weight="bold"),
        *bands(60, 88, 130, 192, False),
        text(735, 74, "y, in slow memory", 13.5, INK, weight="bold"),
        *bands(670, 88, 130, 192, False),
        box(300, 104, 260, 156, CARD, ORANGE, 2, radius=10),
        text(430, 94, "fast memory, in turn 3", 13.5, ORANGE, weight="bold"),
        arrow((196, 172), (322, 152), stroke=ORANGE),
        box(330, 138, 90, 28, PEACH, ORANGE, 1.4),
        text(375, 157, "x_ref", 13, ORANGE, weight="bold", mono=True),
        box(440, 138, 90, 28, PEACH, ORANGE, 1.4),
        text(485, 157, "y_ref", 13, ORANGE, weight="bold", mono=True),
        arrow((375, 172), (375, 204), stroke=TEAL),
        box(340, 208, 180, 34, PALE, TEAL, 1.4, radius=6),
        text(430, 230, "kernel, turn 3", 13.5, TEAL, weight="bold"),
        arrow((485, 204), (485, 172), stroke=TEAL),
        arrow((536, 152), (662, 172), stroke=ORANGE),
        text(430, 300, "the grid: turns 0 to 7; turn i gets block i", 13, QUIET),
    ]
    return card("A grid of eight turns takes an array through fast memory, block by block", 322, parts)


def _devices(y: float) -> list[str]:
    parts = []
    for i in range(8):
        x = 90 + i * 97
        ours = i == 3
        parts += device(x, y, i, fill=ORANGE if ours else SLATE)
        parts.append(box(x - 36, y + 22, 72, 26, ORANGE if ours else PALE, ORANGE if ours else TEAL))
        parts.append(text(x, y + 40, f"block {i}", 12.5, "#fff" if ours else TEAL, weight="bold"))
    return parts


def _on_devices() -> str:
    parts = [
        *_devices(80),
        box(250, 176, 360, 62, CARD, INK, 1.4, radius=8),
        text(430, 202, "for i in 0 ... 7:", 14, INK, weight="bold", mono=True),
        text(430, 226, "read the block at row 8 * i", 14, INK, mono=True),
        *unknown(664, 180, 90, 54),
        text(709, 254, "sent in each turn", 13, QUIET),
    ]
    for i in range(8):
        parts.append(line((90 + i * 97, 134), (430, 174), stroke=ORANGE if i == 3 else GREY, width=2 if i == 3 else 1))
    return card("Block 3 is on device 3. The loop runs on all devices", 272, parts)


def _pieces() -> str:
    parts = _devices(80)
    for i in range(8):
        x, ours = 90 + i * 97, i == 3
        parts += [
            arrow((x, 132), (x, 158), stroke=ORANGE if ours else TEAL),
            box(x - 36, 162, 72, 32, PEACH if ours else PALE, ORANGE if ours else TEAL, 1.4, radius=6),
            text(x, 183, "kernel", 13, ORANGE if ours else TEAL, weight="bold", mono=True),
            text(x, 220, "turn ?", 13, QUIET),
        ]
    return card("shard_map: each device runs the kernel on its own block", 244, parts)


def _callback() -> str:
    parts = [*_devices(80), box(330, 188, 200, 46, CARD, INK, 1.6, radius=8)]
    parts.append(text(430, 217, "Python: 2 * x", 14, INK, weight="bold", mono=True))
    for i in range(8):
        parts.append(
            arrow(
                (90 + i * 97, 134), (400 + i * 8, 184), stroke=ORANGE if i == 3 else QUIET, width=2 if i == 3 else 1.1
            )
        )
    parts += [*unknown(620, 184, 90, 54), text(665, 258, "sent", 13, QUIET)]
    return card("A callback wants all of x at one place", 276, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {"grid": _grid(), "devices": _on_devices(), "pieces": _pieces(), "callback": _callback()}


if __name__ == "__main__":
    save(__file__, draw())
