"""The pictures of lesson 4: two matrices, cut in four ways, and what stands between them. Run it to write them."""

from __future__ import annotations

from drawing import (
    INK,
    ORANGE,
    PALE,
    PEACH,
    PLUM,
    QUIET,
    RED,
    TEAL,
    arrow,
    bands,
    box,
    card,
    label,
    legend,
    named,
    partial,
    save,
    text,
)

OURS, ELSE = (ORANGE, ORANGE, "device 3 has this"), (PALE, TEAL, "devices 0 to 2")


def relu() -> str:
    """Why partial sums must be added up first."""
    parts = []
    for y, title, steps, ink in (
        (96, "add, then relu", ("3   and   −2", "3 + (−2) = 1", "relu(1) = 1"), TEAL),
        (176, "relu, then add", ("3   and   −2", "relu: 3 and 0", "3 + 0 = 3"), RED),
    ):
        parts.append(text(40, y + 5, title, 15, ink, "start", "bold"))
        for n, words in enumerate(steps):
            x = 270 + n * 200
            parts += label(x, y, words, fill=PALE if ink == TEAL else "#fff", ink=ink, size=14)
            if n:
                parts.append(arrow((x - 128, y), (x - 74, y)))
    parts.append(text(760, 101, "right", 14, TEAL, "start", "bold"))
    parts.append(text(760, 181, "wrong", 14, RED, "start", "bold"))
    return card("One hidden unit, in two shares on two devices", 218, parts)


def strip(title: str, first: str, middle: str, second: str, result: str) -> str:
    """X @ W1 = hidden, hidden @ W2 = result; how each lies on the four devices of a row."""
    sizes = (("x", 72, 44, "whole"), ("W1", 176, 72, first), ("hidden", 176, 44, middle), ("W2", 72, 176, second))
    parts, x, centre = [], 40.0, 168
    for number, (name, w, h, how) in enumerate((*sizes, ("result", 72, 44, result))):
        y = centre - h / 2
        if how in ("rows", "columns"):
            parts += bands(x, y, w, h, how == "columns", n=4)
        elif how == "whole":
            parts.append(box(x, y, w, h, ORANGE, ORANGE))
        else:
            parts += partial(x, y, w, h, ("a share",))
        parts += named(x, y, w, h, name)
        words = {"whole": "all of it", "rows": "a quarter", "columns": "a quarter"}.get(how, "")
        parts.append(text(x + w / 2, y + h + 19, words, 12, QUIET))
        if number < 4:
            parts.append(text(x + w + 24, centre + 7, "@=@="[number], 20, QUIET))
        x += w + 50
    return card(title, 318, [*parts, *legend(288, (OURS, ELSE, (PEACH, ORANGE, "full shape, a share of the sum")))])


WAYS = (
    ("columns", "rows", 1536, "all-reduce of the result"),
    ("columns", "columns", 3072, "all-gather of hidden"),
    ("rows", "rows", 4608, "all-to-all of W1, then all-reduce"),
    ("rows", "columns", 6144, "all-reduce of hidden"),
)


def ways() -> str:
    """Four cuts and their bytes as bars."""
    parts = []
    for number, (first, second, sent, words) in enumerate(WAYS):
        y = 66 + number * 64
        parts += bands(40, y, 96, 38, first == "columns", n=4, numbers=False)
        parts.append(text(154, y + 25, "@", 16, QUIET))
        parts += bands(174, y - 4, 40, 46, second == "columns", n=4, numbers=False)
        parts.append(text(240, y + 24, f"{first}, {second}", 14, INK, "start", "bold"))
        colour = ORANGE if number == 0 else PLUM
        parts.append(box(400, y + 4, sent / 32, 22, colour, "none", 0, radius=3))
        parts.append(text(410 + sent / 32, y + 20, f"{sent:,} bytes", 13.5, colour, "start", "bold"))
        parts.append(text(400, y + 44, words, 12.5, QUIET, "start"))
    return card("Four cuts of a pair: what each device sends", 326, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {
        "relu": relu(),
        "click": strip("Cut 1: columns meet rows", "columns", "columns", "rows", "share"),
        "wrong": strip("Cut 2: rows, then columns", "rows", "share", "columns", "columns"),
        "ways": ways(),
    }


if __name__ == "__main__":
    save(__file__, draw())
