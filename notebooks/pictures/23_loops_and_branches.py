"""The pictures of lesson 23: two programs, a stack that is known, one that is not, and a mask. Run it to write them."""

from __future__ import annotations

from drawing import (
    CARD,
    GREY,
    INK,
    ORANGE,
    PALE,
    PEACH,
    QUIET,
    TEAL,
    arrow,
    box,
    card,
    line,
    save,
    text,
    unknown,
)

H, LAYER = (PEACH, ORANGE), (PALE, TEAL)


def _item(x: float, y: float, words: str, kind: tuple[str, str], w: float = 64, h: float = 40) -> list[str]:
    return [
        box(x, y, w, h, *kind, 1.4, radius=5),
        text(x + w / 2, y + h / 2 + 5, words, 13.5, kind[1], weight="bold", mono=True),
    ]


def _two_programs() -> str:
    parts = [
        text(60, 84, "for _ in range(6)", 14, INK, "start", "bold", mono=True),
        text(60, 186, "lax.scan(…, length=6)", 14, INK, "start", "bold", mono=True),
    ]
    for y, middle in ((78, 560), (180, 560)):
        parts += [*_item(310, y - 20, "h", H, 44), arrow((362, y), (428, y)), *unknown(440, y - 26, 240, 52)]
        parts += [arrow((688, y), (744, y)), *_item(756, y - 20, "h", H, 44), text(middle, y + 46, "layers", 13, QUIET)]
    return card("How many layers stand in the program?", 250, parts)


def _turns(y: float, words: str, height: float = 40) -> list[str]:
    parts = [text(50, y + 26, words, 13.5, INK, "start", "bold")]
    for n in range(6):
        parts += _item(150 + n * 112, y, f"turn {n}", LAYER, 72, height)
    return parts


def _stack() -> str:
    parts = [*_turns(64, "forward"), *_turns(246, "backward")]
    for n in range(6):
        x = 186 + n * 112
        parts += [
            arrow((x, 108), (x, 138), stroke=ORANGE),
            *_item(x - 30, 142, f"h{n}", H, 60, 44),
            arrow((x, 190), (x, 242), stroke=ORANGE),
            text(x, 308, "+ its term", 12.5, QUIET),
        ]
        if n < 5:
            parts.append(arrow((x + 38, 84), (x + 74, 84)))
            parts.append(arrow((x + 74, 266), (x + 38, 266)))
    parts += [
        text(50, 168, "the stack", 13.5, ORANGE, "start", "bold"),
        text(50, 308, "gradient of W", 13, QUIET, "start"),
        text(50, 334, "on device 3: 8 rows of each h", 13, ORANGE, "start"),
    ]
    return card("Forward puts each h on a stack. Backward takes it off", 352, parts)


def _unknown_height() -> str:
    parts = [
        text(50, 90, "turns", 13.5, INK, "start", "bold"),
        text(50, 168, "the stack", 13.5, ORANGE, "start", "bold"),
    ]
    for n in range(6):
        x = 186 + n * 112
        is_known = n < 3
        ink, other = (TEAL, ORANGE) if is_known else (GREY, GREY)
        parts.append(box(x - 36, 64, 72, 40, PALE if is_known else CARD, ink, 1.4, radius=5, dashed=not is_known))
        parts.append(text(x, 89, f"turn {n}" if is_known else "?", 13.5, ink, weight="bold", mono=True))
        parts.append(box(x - 30, 142, 60, 44, PEACH if is_known else CARD, other, 1.4, dashed=not is_known))
        parts.append(text(x, 169, f"h{n}" if is_known else "?", 13.5, other, weight="bold", mono=True))
        parts.append(line((x - 56, 58), (x - 56, 110), stroke=INK, width=2))
    parts += [
        line((130, 222), (130, 236), stroke=INK, width=2),
        text(142, 234, "all eight devices: does it go on?", 13, INK, "start"),
    ]
    return card("while_loop: nobody knows how high the stack will be", 256, parts)


def _mask() -> str:
    parts = [
        text(40, 101, "h", 14, ORANGE, "start", "bold", mono=True),
        text(40, 163, "mask", 14, INK, "start", "bold", mono=True),
    ]
    for n in range(10):
        x, is_going = 100 + n * 74, n < 6
        kind, ink = (H, TEAL) if is_going else ((CARD, GREY), GREY)
        parts += [
            box(x, 74, 58, 44, *kind, 1.4, radius=4, dashed=not is_going),
            text(x + 29, 101, "layer" if is_going else "as it is", 12.5, kind[1], weight="bold"),
            text(x + 29, 163, "True" if is_going else "False", 13, ink, weight="bold", mono=True),
            text(x + 29, 190, f"turn {n}", 12, QUIET),
        ]
    return card("A scan of ten turns, with a mask", 212, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {
        "two_programs": _two_programs(),
        "stack": _stack(),
        "unknown_height": _unknown_height(),
        "mask": _mask(),
    }


if __name__ == "__main__":
    save(__file__, draw())
