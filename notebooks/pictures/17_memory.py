"""Draws the pictures of lesson 17. Orange: the hidden layers that are kept."""

from __future__ import annotations

from drawing import BLUE, CARD, GREY, INK, ORANGE, PALE, PEACH, QUIET, SKY, TEAL, Parts, arrow, box, card, legend, line, save, text


def forward() -> str:
    """Layers forward, and backward from the last."""
    parts = [text(28, 92, "forward", 14, INK, "start", "bold"), text(28, 196, "backward", 14, INK, "start", "bold")]
    for n, name in enumerate(("1", "2", "3", "...", "15", "16")):
        x = 132 + n * 116
        if name != "...":
            parts += [box(x, 70, 84, 36, PALE, TEAL, 1.2, radius=6), text(x + 42, 93, f"layer {name}", 13)]
            parts += [box(x, 174, 84, 36, SKY, BLUE, 1.2, radius=6), text(x + 42, 197, f"layer {name}", 13)]
            parts += [arrow((x + 42, 108), (x + 42, 172), stroke=ORANGE)]
            parts += [box(x + 12, 124, 60, 26, PEACH, ORANGE, 1.3, radius=4), text(x + 42, 142, "hidden", 13, ORANGE, weight="bold")]
        else:
            parts += [text(x + 42, 92, "...", 16, QUIET), text(x + 42, 196, "...", 16, QUIET)]
        if n < 5:
            parts += [arrow((x + 86, 88), (x + 114, 88)), arrow((x + 114, 192), (x + 86, 192))]
    parts.append(arrow((800, 88), (826, 88), (826, 192), (800, 192)))
    parts.append(text(28, 142, "kept: ? GiB", 14, ORANGE, "start", "bold"))
    return card("The forward pass keeps, the backward pass uses up", 230, parts)


def curve() -> str:
    """Bytes alive over a step."""
    left, bottom = 96, 206
    points = ((0, 14), (300, 118), (360, 128), (640, 22), (660, 28), (720, 22))
    shape = " ".join(f"L{left + x} {bottom - y}" for x, y in points)
    parts = [f'<path d="M{left} {bottom}{shape}L{left + 720} {bottom}z" fill="{PEACH}" stroke="{ORANGE}" stroke-width="2"/>']
    parts += [line((left, 58), (left, bottom), (left + 724, bottom)), text(28, 74, "bytes", 13, QUIET, "start")]
    parts += [box(left, bottom - 14, 720, 14, PALE, TEAL, 1), text(left + 360, bottom - 3, "weights, x", 12.5, TEAL, weight="bold")]
    for x, name in ((150, "forward: keeps"), (500, "backward: uses up"), (680, "update")):
        parts.append(text(left + x, bottom + 20, name, 13, QUIET))
    parts += [line((left + 360, bottom - 128), (left + 360, 66), stroke=INK, dashed=True)]
    parts.append(text(left + 370, 74, "the peak: whose bytes are these?", 13.5, INK, "start", "bold"))
    return card("What is alive, from the first kernel to the last (a sketch)", 244, parts)


def donation() -> str:
    """Two boxes, and one box used twice."""
    parts: Parts = []
    parts.append(text(28, 86, "not donated", 14, INK, "start", "bold"))
    parts += [box(180, 62, 170, 38, PALE, TEAL, 1.4, radius=5), text(265, 86, "old weights, 512 MiB", 13)]
    parts += [arrow((354, 81), (450, 81)), text(402, 74, "step", 13, QUIET)]
    parts += [box(454, 62, 170, 38, PEACH, ORANGE, 1.4, radius=5), text(539, 86, "new weights, 512 MiB", 13)]
    parts.append(text(648, 86, "both are in memory", 13, QUIET, "start"))
    parts.append(text(28, 158, "donated", 14, INK, "start", "bold"))
    parts += [box(180, 134, 170, 38, PALE, TEAL, 1.4, radius=5), box(186, 140, 158, 26, PEACH, ORANGE, 1.4, radius=4)]
    parts.append(text(265, 158, "new in place of old", 13, ORANGE, weight="bold"))
    parts.append(text(454, 158, "one box, used twice: what is saved?", 13, QUIET, "start"))
    return card("Donation: the result may lie where an argument was", 194, parts)


def remat() -> str:
    """What one layer keeps, in two ways."""
    parts: Parts = []
    kinds = (("x", 0.25, PALE, TEAL), ("signs", 0.25, CARD, GREY), ("hidden", 1.0, PEACH, ORANGE))
    for n, (name, kept) in enumerate((("keep", 3), ("compute again", 1))):
        y, x = 62 + n * 62, 170.0
        parts.append(text(28, y + 24, name, 14, INK, "start", "bold"))
        for words, size, fill, ink in kinds[:kept]:
            w = size * 280
            parts += [box(x, y, w, 38, fill, ink, 1.4), text(x + w / 2, y + 24, words, 13, ink if ink != GREY else QUIET, weight="bold")]
            x += w
        gib = sum(size for _, size, _, _ in kinds[:kept])
        parts.append(text(x + 16, y + 24, f"{gib:g} GiB a layer, and 16 layers", 13, QUIET, "start"))
    parts += legend(188, ((PALE, TEAL, "what goes in"), (CARD, GREY, "where relu was positive"), (PEACH, ORANGE, "made by x @ up")))
    return card("What the forward pass keeps of one layer", 220, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {"forward": forward(), "curve": curve(), "donation": donation(), "remat": remat()}


if __name__ == "__main__":
    save(__file__, draw())
