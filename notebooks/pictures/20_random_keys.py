"""The pictures of lesson 20: keys and their children, who draws, and a shuffle. Run it to write them."""

from __future__ import annotations

from drawing import (
    INK,
    ORANGE,
    PALE,
    PEACH,
    QUIET,
    RED,
    ROSE,
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
    tiles,
    unknown,
)

OURS, ELSE = (PEACH, ORANGE), (PALE, TEAL)  # fill and ink


def _key(x: float, y: float, words: str, fill: str = PEACH, ink: str = ORANGE) -> list[str]:
    w = 30 + 9 * len(words)
    return [
        box(x - w / 2, y - 17, w, 34, fill, ink, 1.6, radius=17),
        text(x, y + 5, words, 14, ink, weight="bold", mono=True),
    ]


def _sample(x: float, y: float, words: str, fill: str = PALE, ink: str = TEAL) -> list[str]:
    return [box(x - 66, y - 17, 132, 34, fill, ink, 1.4), text(x, y + 5, words, 13, ink, weight="bold")]


def _tree(*, is_reused: bool) -> list[str]:
    parts = [
        arrow((150, 102), (250, 102), stroke=ORANGE),
        arrow((150, 108), (250, 172), stroke=ORANGE),
        arrow((330, 102), (450, 102), stroke=ORANGE),
        arrow((330, 108), (450, 172), stroke=ORANGE),
        arrow((290, 192), (290, 222), stroke=TEAL),
        arrow((490, 192), (490, 222), stroke=TEAL),
        *_key(110, 102, "key"),
        *_key(290, 102, "key"),
        *_key(290, 172, "a"),
        *_key(490, 102, "key"),
        *_key(490, 172, "b"),
        *_sample(290, 242, "a sample"),
        *_sample(490, 242, "another"),
        line((534, 102), (590, 102), stroke=ORANGE, dashed=True),
        text(200, 92, "split", 13, QUIET),
        text(390, 92, "split", 13, QUIET),
        text(600, 107, "and so on", 13, QUIET, "start"),
    ]
    if is_reused:
        parts += [
            arrow((110, 122), (110, 222), stroke=RED),
            *_key(110, 102, "key", ROSE, RED),
            *_sample(110, 242, "a third", ROSE, RED),
            text(110, 284, "key is used twice: to draw and to split", 13, RED, "start", "bold"),
        ]
    return parts


def _family() -> str:
    return card("Keys and their children: each is used once", 282, _tree(is_reused=False))


def _reused() -> str:
    return card("One key too few", 306, _tree(is_reused=True))


def _who() -> str:
    parts = [text(28, 72, "every device has the key", 13, QUIET, "start")]
    for i in range(8):
        x = 66 + i * 62
        parts += device(x, 104, i, fill=ORANGE if i == 3 else SLATE)
        parts += _key(x, 148, "key")
    parts += [
        *bands(580, 70, 150, 176, False),
        text(655, 268, "noise: [64, 32]", 13.5, INK, weight="bold", mono=True),
        text(742, 151, "who makes", 13, ORANGE, "start"),
        text(742, 168, "these?", 13, ORANGE, "start"),
        *unknown(200, 190, 140, 56),
        arrow((346, 218), (572, 147), stroke=ORANGE),
    ]
    return card("64 rows of random numbers, 8 on each device", 290, parts)


def _by_hand() -> str:
    parts = []
    for i in range(8):
        x = 80 + i * 100
        ours = i == 3
        parts += [
            *device(x, 84, i, fill=ORANGE if ours else SLATE),
            *_key(x, 132, "key"),
            arrow((x, 154), (x, 180), stroke=ORANGE if ours else TEAL),
            *tiles(x - 36, 186, 72, 26, 1, 4, lambda _row, _column, kind=OURS if ours else ELSE: ("?", *kind)),
        ]
    return card("shard_map: one program and one key on eight devices", 236, parts)


def _shuffle() -> str:
    parts = [
        *bands(150, 76, 120, 192, False),
        *tiles(590, 76, 120, 192, 8, 1, lambda row, _column: ("", *(OURS if row == 3 else ELSE))),
        text(210, 292, "before", 13.5, INK, weight="bold"),
        text(650, 292, "after", 13.5, INK, weight="bold"),
        text(724, 165, "device 3", 13, ORANGE, "start", "bold"),
    ]
    for one in range(8):
        parts.append(line((276, 88 + one * 24), (584, 76 + 3.5 * 24), stroke=ORANGE, width=1.3))
    return card("A shuffle: the rows for device 3 come from everywhere", 314, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {
        "family": _family(),
        "reused": _reused(),
        "who": _who(),
        "by_hand": _by_hand(),
        "shuffle": _shuffle(),
    }


if __name__ == "__main__":
    save(__file__, draw())
