"""The pictures of lesson 26: six mistakes. Run it to write them."""

from __future__ import annotations

from drawing import (
    CARD,
    FOLLOWED,
    GREY,
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
    grid,
    label,
    line,
    partial,
    save,
    text,
    tiles,
    unknown,
)


def _length() -> str:
    x, y, w, h = 250, 84, 232, 174
    row = h / 6
    parts = tiles(x, y, w, h, 6, 8, lambda _row, _column: ("", PALE, TEAL))
    parts += [text(x - 14, y + row * (n + 0.5) + 5, f"row {n}", 12.5, QUIET, "end") for n in range(6)]
    parts.append(text(x + w / 2, y - 14, "W: 6 rows, 8 columns", 13.5, INK, weight="bold"))
    for cut in (1, 2, 3):
        at, wrong = y + cut * h / 4, cut != 2
        parts.append(line((x - 8, at), (x + w + 26, at), stroke=RED if wrong else ORANGE, width=2.6))
        if wrong:
            parts.append(text(x + w + 36, at + 5, "through a row", 13, RED, "start", "bold"))
    parts += [
        text(x + w + 150, y + (device + 0.5) * h / 4 + 5, f"for device {device} along model", 13, SLATE, "start")
        for device in range(4)
    ]
    return card('P("model", None): three cuts for four devices', 284, parts)


def _both_sides(*, is_answer: bool = False) -> str:
    parts = [
        *bands(70, 92, 168, 168, True, n=4),
        *bands(330, 92, 168, 168, False, n=4),
        *(partial(604, 92, 168, 168, ("one of", "4 shares")) if is_answer else unknown(604, 92, 168, 168)),
        text(284, 184, "@", 22, QUIET),
        text(552, 184, "=", 22, QUIET),
    ]
    for x, name, spec in ((154, "a", 'P(None, "model")'), (414, "b", 'P("model", None)')):
        parts += [
            text(x, 78, name, 15, INK, weight="bold", mono=True),
            text(x, 282, spec, 12.5, TEAL, mono=True),
        ]
    parts.append(text(688, 78, "a @ b", 15, INK, weight="bold", mono=True))
    parts.append(text(688, 282, "full shape, part of the sum" if is_answer else "what does device 3 get?", 13, QUIET))
    title = "What device 3 computes" if is_answer else "Device 3 has the last columns of a, and the last rows of b"
    return card(title, 306, parts)


def _twice(*, is_answer: bool = False) -> str:
    def tile(row: int, column: int) -> tuple[object, str, str]:
        if not is_answer:
            return "?", CARD, GREY
        if row != column:
            return "nobody", ROSE, RED
        return (row, ORANGE, "#fff") if row == FOLLOWED else (row, PALE, TEAL)

    parts = [
        *bands(70, 92, 168, 168, False, n=4),
        *bands(318, 92, 168, 168, True, n=4),
        *tiles(580, 84, 216, 184, 4, 4, tile),
        text(278, 184, "@", 22, QUIET),
        text(532, 184, "=", 22, QUIET),
        text(154, 78, "b", 15, INK, weight="bold", mono=True),
        text(402, 78, "a", 15, INK, weight="bold", mono=True),
        text(688, 70, "b @ a", 15, INK, weight="bold", mono=True),
        text(154, 282, 'P("model", None)', 12.5, TEAL, mono=True),
        text(402, 282, 'P(None, "model")', 12.5, TEAL, mono=True),
        *([text(688, 290, 'P("model", "model")', 12.5, RED, weight="bold", mono=True)] if is_answer else []),
    ]
    return card("Four tiles have an owner" if is_answer else "Sixteen tiles, and four devices along model", 310, parts)


def _places() -> str:
    parts = grid(118, 104, 2, 4, row_axis="data", column_axis="model", fill=lambda _number: SLATE)
    parts += bands(104, 188, 214, 28, True, n=4, ours=None, numbers=["0, 4", "1, 5", "2, 6", "3, 7"])
    parts.append(text(211, 238, "ours: a piece on each of the eight devices", 13, QUIET))
    parts.append(text(430, 140, "+", 30, QUIET))
    x = 610
    parts += grid(x, 104, 2, 4, fill=lambda number: ORANGE if number == FOLLOWED else "#c9cdd2")
    parts.append(box(x - 14, 188, 214, 28, PEACH, ORANGE, 1.6))
    parts.append(text(x + 93, 207, "3", 13, ORANGE, weight="bold"))
    parts.append(text(x + 93, 238, "theirs: all of it on device 3", 13, QUIET))
    return card("ours + theirs", 262, parts)


def _tracer() -> str:
    parts = [
        box(60, 106, 190, 92, CARD, ORANGE, 2, radius=8, dashed=True),
        text(155, 94, "x, while JAX traces", 13.5, INK, weight="bold"),
        text(155, 144, "float32[8]", 16, ORANGE, weight="bold", mono=True),
        text(155, 172, "no numbers", 13.5, ORANGE),
        arrow((258, 152), (330, 152)),
        f'<path d="M430 82L528 152L430 222L332 152z" fill="{ROSE}" stroke="{RED}" stroke-width="1.6"/>',
        text(430, 148, "x.sum() > 0", 13.5, RED, weight="bold", mono=True),
        text(430, 169, "True or False?", 13, RED),
        arrow((478, 116), (560, 90), (620, 90), dashed=True),
        arrow((478, 188), (560, 214), (620, 214), dashed=True),
        text(548, 78, "if True", 13, QUIET),
        text(548, 238, "if False", 13, QUIET),
        *label(680, 90, "return x", fill=PALE),
        *label(680, 214, "return -x", fill=PALE),
    ]
    return card("if needs one answer now", 262, parts)


def _donated() -> str:
    steps = (
        (60, "before the call", "state", "its numbers", PEACH, ORANGE, False),
        (470, "after the call", "new_state", "twice these numbers", PALE, TEAL, False),
    )
    parts = []
    for x, when, name, holds, fill, ink, dashed in steps:
        parts += [
            text(x + 165, 74, when, 13.5, INK, weight="bold"),
            box(x, 122, 330, 62, fill, ink, 1.8, radius=6, dashed=dashed),
            text(x + 165, 159, holds, 14, ink, weight="bold"),
            text(x + 165, 206, "32 bytes at the same place", 12.5, QUIET),
            text(x + (60 if name == "state" else 250), 108, name, 14, ink, weight="bold", mono=True),
        ]
    parts += [
        arrow((398, 153), (462, 153)),
        text(430, 140, "step", 13, QUIET, mono=True),
        text(530, 108, "state ?", 14, ORANGE, weight="bold", mono=True),
    ]
    return card("Donation: the result moves into the memory of the argument", 230, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {
        "length": _length(),
        "both_sides": _both_sides(),
        "both_sides_answer": _both_sides(is_answer=True),
        "twice": _twice(),
        "twice_answer": _twice(is_answer=True),
        "places": _places(),
        "tracer": _tracer(),
        "donated": _donated(),
    }


if __name__ == "__main__":
    save(__file__, draw())
