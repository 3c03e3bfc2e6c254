"""The pictures of lesson 7: a layer of a transformer, and the bytes on its arrows. Run it to write them."""

from __future__ import annotations

from drawing import (
    BLUE,
    CARD,
    INK,
    LINE,
    ORANGE,
    PALE,
    PLUM,
    QUIET,
    TEAL,
    arrow,
    bands,
    box,
    card,
    line,
    named,
    save,
    text,
    unknown,
)

BLOCKS = (
    ("attention", 106, (("norm", ""), ("qkv", "columns"), ("heads", ""), ("out", "rows"))),
    ("MLP", 256, (("norm", ""), ("up", "columns"), ("gelu", ""), ("down", "rows"))),
)


def layer(*, known: bool) -> str:
    """The layer as two rows of boxes."""
    parts = []
    for title, y, boxes in BLOCKS:
        parts.append(text(40, y - 22, title, 14, INK, "start", "bold"))
        parts.append(line((60, y + 26), (60, y + 78), (740, y + 78), (740, y + 46)))
        parts.append(text(400, y + 94, "x itself", 12, QUIET))
        for n, (name, cut) in enumerate(boxes):
            x = 110 + n * 140
            parts.append(box(x, y, 84, 52, PALE if cut else CARD, TEAL if cut else LINE, 1.2, radius=6))
            parts.append(text(x + 42, y + (24 if cut else 31), name, 14, INK, weight="bold", mono=True))
            if cut:
                parts.append(text(x + 42, y + 42, cut, 12, TEAL))
            parts.append(arrow((60 if n == 0 else x - 56, y + 26), (x - 3, y + 26)))
        parts.append(arrow((614, y + 26), (722, y + 26), stroke=ORANGE if known else QUIET))
        parts.append(f'<circle cx="740" cy="{y + 26}" r="15" fill="{CARD}" stroke="{QUIET}"/>')
        parts.append(text(740, y + 32, "+", 18, QUIET))
        if known:
            parts.append(text(668, y - 8, "all-reduce over model", 12.5, ORANGE, weight="bold"))
            parts.append(text(668, y + 14, "12,288 bytes", 12.5, ORANGE, weight="bold"))
        else:
            parts += unknown(650, y - 12, 36, 28)
        if not known:
            parts += unknown(342, y - 12, 22, 26)
    parts.append(arrow((758, 132), (810, 132), (810, 206), (30, 206), (30, 282), (57, 282)))
    title = (
        "One layer: what is sent" if known else "One layer of a transformer: four matrices. Where is something sent?"
    )
    return card(title, 378, parts)


def bars() -> str:
    """Bytes of one step."""
    parts = []
    rows = (
        ("model", "forward", 24576, BLUE),
        ("model", "backward", 24576, PLUM),
        ("data", "forward", 6144, BLUE),
        ("data", "backward", 12288, PLUM),
    )
    for n, (axis, phase, sent, ink) in enumerate(rows):
        y = 62 + n * 46
        parts.append(text(110, y + 20, axis, 14, INK, "end", "bold", mono=True))
        parts.append(text(130, y + 20, phase, 13.5, ink, "start"))
        parts.append(box(220, y + 2, sent / 56, 26, ink, "none", 0, radius=3))
        words = "activations" if axis == "model" else "weights" if phase == "forward" else "gradients of weights"
        parts.append(text(232 + sent / 56, y + 20, f"{sent:,}: {words}", 13.5, ink, "start", "bold"))
    return card("One layer, one step: bytes that each device sends", 258, parts)


def lost() -> str:
    """An axis that two operands bring."""
    y = 104
    parts = bands(90, y, 90, 90, upright=False, n=2, ours=None, numbers=("data 0", "data 1"))
    parts += named(90, y, 90, 90, "tokens", 'P("data", None)')
    parts += bands(330, y, 150, 90, upright=True, n=2, ours=None, numbers=("data 0", "data 1"))
    parts += named(330, y, 150, 90, "table", 'P("model", "data")')
    parts += unknown(640, y, 150, 90)
    parts += named(640, y, 150, 90, "table[tokens]")
    parts += [line((200, y + 45), (310, y + 45), stroke=LINE, width=3), arrow((500, y + 45), (620, y + 45))]
    parts.append(text(715, y + 112, "sequences over data?", 12.5, ORANGE, weight="bold"))
    parts.append(text(715, y + 130, "columns over data?", 12.5, ORANGE, weight="bold"))
    return card("Both bring the axis data", 258, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {"layer": layer(known=False), "layer_answer": layer(known=True), "bars": bars(), "lost": lost()}


if __name__ == "__main__":
    save(__file__, draw())
