"""Draws the pictures of lesson 14: five locks, and the one that turned, in orange; and buckets."""

from __future__ import annotations

from drawing import GREY, INK, ORANGE, PALE, PEACH, QUIET, TEAL, Parts, box, card, line, save, text

LOCKS = (
    ("function", "which object"),
    ("tree", "nesting, entries"),
    ("shapes and types", "f32[8,16]"),
    ("static values", "power = 2"),
    ("shardings", "where, how split"),
)


def _lock(x: float, y: float, *, is_open: bool) -> Parts:
    ink = ORANGE if is_open else TEAL
    lift, turn = (10, 14) if is_open else (0, 0)
    shackle = f"M{x - 13 + turn} {y - 8 - lift}v-12a13 13 0 0 1 26 0v{12 if not is_open else 24}"
    return [
        f'<path d="{shackle}" fill="none" stroke="{ink}" stroke-width="5"/>',
        box(x - 24, y - 8, 48, 38, PEACH if is_open else PALE, ink, 2, radius=6),
        f'<circle cx="{x}" cy="{y + 8}" r="4.5" fill="{ink}"/>',
        line((x, y + 10), (x, y + 20), stroke=ink, width=3),
    ]


def locks(title: str, turned: int | None = None) -> str:
    """The five locks; the one of this number is open."""
    parts: Parts = []
    for n, (name, example) in enumerate(LOCKS):
        x = 106 + n * 162
        is_ours = n == turned
        parts += _lock(x, 98, is_open=is_ours)
        parts.append(text(x, 154, name, 14, ORANGE if is_ours else INK, weight="bold"))
        parts.append(text(x, 174, "another one: compiles" if is_ours else example, 13, ORANGE if is_ours else QUIET))
    return card(title, 194, parts)


def buckets() -> str:
    """Six lengths, and the ends of two buckets."""

    def at(length: float) -> float:
        return 60 + 740 * length / 1024

    parts = [
        box(at(256), 84, at(512) - at(256), 44, PALE, TEAL, 1.2),
        box(at(512), 84, at(1024) - at(512), 44, PALE, TEAL, 1.2),
        text(at(384), 74, "padded to 512", 13, TEAL, weight="bold"),
        text(at(768), 74, "padded to 1,024", 13, TEAL, weight="bold"),
        line((at(0), 150), (at(1024), 150), stroke=GREY),
    ]
    for length in (500, 508, 640, 777, 900, 1001):
        parts.append(line((at(length), 84), (at(length), 156), stroke=ORANGE, width=2.2))
    for length, words in ((500, "500, 508"), (640, "640"), (777, "777"), (900, "900"), (1001, "1,001")):
        parts.append(text(at(length), 174, words, 13, ORANGE, weight="bold"))
    for length in (0, 256):
        parts.append(text(at(length), 174, length, 13, QUIET))
    return card("Two buckets for six lengths", 194, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {
        "locks": locks("The key has five locks"),
        "shapes": locks("One lock turns: shapes and types", 2),
        "tree": locks("One lock turns: the tree", 1),
        "static": locks("One lock turns: static values", 3),
        "sharding": locks("One lock turns: shardings", 4),
        "function": locks("One lock turns: the function", 0),
        "buckets": buckets(),
    }


if __name__ == "__main__":
    save(__file__, draw())
