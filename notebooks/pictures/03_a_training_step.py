"""The pictures of lesson 3: a gradient as a product, and collectives with their mirror images. Run it to write them."""

from __future__ import annotations

from drawing import (
    BLUE,
    INK,
    LILAC,
    ORANGE,
    PALE,
    PEACH,
    PLUM,
    QUIET,
    SKY,
    TEAL,
    arrow,
    bands,
    box,
    card,
    label,
    legend,
    line,
    named,
    partial,
    save,
    text,
    unknown,
)


def plain(x: float, y: float, w: float, h: float, name: str, words: str = "", *, ours: bool = False) -> list[str]:
    """A matrix that is not split."""
    look = (ORANGE, ORANGE) if ours else (PALE, TEAL)
    parts = [box(x, y, w, h, *look), text(x + w / 2, y - 10, name, 14, INK, weight="bold", mono=True)]
    return [*parts, text(x + w / 2, y + h / 2 + 4, words, 12, "#fff" if ours else TEAL)] if words else parts


def products() -> str:
    """Forward and backward of one product."""
    parts = [text(60, 86, "forward", 14, BLUE, "start", "bold"), text(60, 232, "backward", 14, PLUM, "start", "bold")]
    parts += plain(170, 96, 62, 46, "x", "16 × 32")
    parts += plain(300, 88, 180, 62, "W1", "32 × 128")
    parts += plain(550, 96, 180, 46, "hidden", "16 × 128")
    parts += plain(182, 230, 46, 62, "xᵀ", "32 × 16")
    parts += plain(300, 238, 180, 46, "dh", "16 × 128")
    parts += plain(550, 230, 180, 62, "d1", "32 × 128", ours=True)
    for y in (125, 267):
        parts += [text(266, y, "@", 20, QUIET), text(515, y, "=", 20, QUIET)]
    parts.append(line((182, 302), (228, 302), stroke=PLUM, width=3))
    parts.append(line((488, 238), (488, 284), stroke=PLUM, width=3))
    parts.append(text(182, 322, "these 16 examples are summed over", 13, PLUM, "start", "bold"))
    return card("One product on the way there, and its gradient on the way back", 346, parts)


def data_parallel() -> str:
    """The partial sum of a gradient on device 3."""
    y = 110
    parts = bands(84, y, 96, 80, upright=True, numbers=False)
    parts += named(84, y, 96, 80, "xᵀ", "2 examples each")
    parts += bands(280, y, 200, 80, upright=False, numbers=False)
    parts += named(280, y, 200, 80, "dh", "2 examples each")
    parts += partial(580, y, 200, 80)
    parts += named(580, y, 200, 80, "d1", "full shape, a share of the sum", ink=ORANGE)
    parts += [text(230, y + 47, "@", 20, QUIET), text(530, y + 47, "=", 20, QUIET)]
    notes = (ORANGE, ORANGE, "device 3 has this"), (PALE, TEAL, "on other devices"), (PEACH, ORANGE, "a partial sum")
    return card("Data parallel: the gradient of W1 on device 3", 262, [*parts, *legend(234, notes)])


MIRROR = (
    ("use a copy everywhere", "sends nothing", "all-reduce", "2 × 7/8"),
    ("all-reduce", "2 × 7/8", "use a copy everywhere", "sends nothing"),
    ("all-gather", "7/8", "reduce-scatter", "7/8"),
    ("reduce-scatter", "7/8", "all-gather", "7/8"),
)


def mirror() -> str:
    """Each collective and its mirror image."""
    parts = [text(220, 72, "forward →", 15, BLUE, weight="bold"), text(640, 72, "← backward", 15, PLUM, weight="bold")]
    parts.append(line((430, 58), (430, 280), stroke=QUIET, width=2, dashed=True))
    for number, (there, sent, back, sent_back) in enumerate(MIRROR):
        y = 102 + number * 50
        parts += label(220, y, there, fill=SKY, ink=BLUE)
        parts += label(640, y, back, fill=LILAC, ink=PLUM)
        parts.append(text(220, y + 26, sent, 12, QUIET))
        parts.append(text(640, y + 26, sent_back, 12, QUIET))
        parts.append(arrow((330, y), (530, y)))
    parts.append(text(430, 300, "of the whole array, sent by each of eight devices", 12.5, QUIET))
    return card("Each step and its mirror image", 320, parts)


def fsdp() -> str:
    """All-gather forward; what backward is asked."""
    parts = [text(60, 100, "forward", 14, BLUE, "start", "bold"), text(60, 226, "backward", 14, PLUM, "start", "bold")]
    for y, start, end in ((84, "kept", "borrowed"), (210, "d1, one of 8 shares", "d1, kept")):
        for x, words in ((190, start), (570, end)):
            parts.append(text(x + 100, y - 8, words, 13, INK, weight="bold"))
    parts += bands(190, 84, 200, 56, upright=True)
    parts += bands(570, 84, 200, 56, upright=True, fill=PEACH, ink=ORANGE)
    parts += partial(190, 210, 200, 56, ("full shape",))
    parts += bands(570, 210, 200, 56, upright=True)
    parts += [arrow((410, 112), (550, 112)), text(480, 102, "all-gather", 13, BLUE, weight="bold")]
    parts += [arrow((410, 238), (550, 238)), *unknown(456, 200, 48, 32)]
    return card("Fully sharded: W1 on the way there, its gradient on the way back", 296, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {"products": products(), "data_answer": data_parallel(), "mirror": mirror(), "fsdp": fsdp()}


if __name__ == "__main__":
    save(__file__, draw())
