"""The pictures of lesson 19: a frozen number, beads, a pytree, a prefix tree. Run it to write them."""

from __future__ import annotations

from drawing import (
    CARD,
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

LEAVES = ("W", "b", "W", "b", "step")
PLACES = (90, 164, 272, 346, 434)  # of the leaves, from left to right


def _node(x: float, y: float, words: str, fill: str = CARD, ink: str = INK) -> list[str]:
    w = 26 + 8.4 * len(words)
    return [
        box(x - w / 2, y - 15, w, 30, fill, ink, 1.4, radius=6),
        text(x, y + 5, words, 13.5, ink, weight="bold", mono=True),
    ]


def _tree(dx: float, *, is_faint: bool = False) -> list[str]:
    """The state as a tree, its leaves in a row; `b` of the parameters is followed."""
    ink = QUIET if is_faint else INK
    inner = {"params": (127, (0, 1)), "momentum": (309, (2, 3))}
    parts = []
    for x, leaves in inner.values():
        parts.append(line((dx + 250, 92), (dx + x, 126), stroke=QUIET))
        parts += [line((dx + x, 156), (dx + PLACES[n], 190), stroke=QUIET) for n in leaves]
    parts.append(line((dx + 284, 78), (dx + PLACES[4], 130), (dx + PLACES[4], 190), stroke=QUIET))
    parts += _node(dx + 250, 78, "state", ink=ink)
    for name, (x, _) in inner.items():
        parts += _node(dx + x, 141, name, ink=ink)
    for n, (leaf, x) in enumerate(zip(LEAVES, PLACES, strict=True)):
        parts += _node(dx + x, 205, leaf, *((PEACH, ORANGE) if n == 1 else (PALE, TEAL)))
    return parts


def _traced() -> str:
    parts = [
        box(50, 76, 226, 116, CARD, INK, 1.4, radius=8),
        text(163, 66, "Python", 13.5, INK, weight="bold"),
        text(68, 106, "calls = calls + 1", 13.5, INK, "start", mono=True),
        text(68, 134, "return x + calls", 13.5, INK, "start", mono=True),
        text(68, 172, "calls: 0", 13.5, ORANGE, "start", "bold", mono=True),
        arrow((286, 134), (380, 134)),
        text(333, 122, "JAX looks", 13, QUIET),
        text(333, 156, "once", 13, QUIET),
        box(392, 76, 190, 116, PALE, TEAL, 1.6, radius=8),
        text(487, 66, "the program", 13.5, TEAL, weight="bold"),
        text(410, 140, "x +", 15, TEAL, "start", "bold", mono=True),
        *unknown(456, 114, 64, 40),
    ]
    for n in range(3):
        y = 92 + n * 42
        parts += [
            text(640, y + 5, f"call {n + 1}: 10.0", 13.5, INK, "start", mono=True),
            arrow((630, y), (592, y)),
            text(782, y + 5, "= ?", 14, ORANGE, "start", "bold", mono=True),
        ]
    return card("JAX looks once, and three calls run what it saw", 216, parts)


def _beads() -> str:
    parts = []
    for n in range(4):
        x = 90 + n * 220
        parts += [
            box(x - 44, 82, 88, 48, PEACH, ORANGE, 1.6, radius=24),
            text(x, 111, f"state {n}", 13.5, ORANGE, weight="bold"),
        ]
        if n < 3:
            parts += [
                arrow((x + 50, 106), (x + 78, 106), stroke=ORANGE),
                box(x + 82, 84, 56, 44, PALE, TEAL, 1.4, radius=4),
                text(x + 110, 111, "step", 13.5, TEAL, weight="bold", mono=True),
                arrow((x + 140, 106), (x + 168, 106), stroke=ORANGE),
                arrow((x + 110, 168), (x + 110, 134)),
                text(x + 110, 184, f"batch {n}", 13, QUIET),
            ]
    return card("A step takes a state, and returns the next one", 206, parts)


def _tree_and_list() -> str:
    parts = [
        *_tree(20),
        arrow((500, 141), (566, 141)),
        text(533, 130, "apart", 13, QUIET),
        arrow((566, 166), (500, 166)),
        text(533, 186, "together", 13, QUIET),
        box(584, 110, 234, 88, CARD, TEAL, 1.4, radius=6),
        text(701, 100, "what a program takes: a list of leaves", 13, INK, weight="bold"),
        text(604, 160, "[", 22, TEAL, "start", mono=True),
        text(786, 160, "]", 22, TEAL, "start", mono=True),
        *unknown(640, 132, 124, 44),
        text(701, 218, "how many?", 13, QUIET),
    ]
    return card("A pytree, and its leaves", 244, parts)


def _prefix() -> str:
    inner = (("params", 616, 'P("X")'), ("momentum", 710, 'P("X")'), ("step", 798, "P()"))
    parts = [*_tree(20, is_faint=True), *_node(710, 78, "layout")]
    for _, x, spec in inner:
        parts.append(line((710, 93), (x, 126), stroke=QUIET))
        parts.append(text(x, 182, spec, 13.5, TEAL, weight="bold", mono=True))
    for name, x, _ in inner:
        w = 20 + 7.6 * len(name)
        parts += [box(x - w / 2, 126, w, 30, CARD, INK, 1.2, radius=6), text(x, 146, name, 12.5, INK, mono=True)]
    parts += [
        arrow((596, 190), (596, 240), (184, 240), (184, 224), stroke=ORANGE, dashed=True),
        text(390, 258, 'P("X") of params goes for W and for b', 13, ORANGE, weight="bold"),
    ]
    return card("A prefix tree ends early: one spec for all leaves under it", 280, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {"traced": _traced(), "beads": _beads(), "tree": _tree_and_list(), "prefix": _prefix()}


if __name__ == "__main__":
    save(__file__, draw())
