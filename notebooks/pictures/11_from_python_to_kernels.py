"""Draws the pictures of lesson 11. The number 2 is orange in each."""

from __future__ import annotations

from drawing import CARD, GREY, INK, ORANGE, PALE, PEACH, QUIET, TEAL, arrow, box, card, label, line, save, text, unknown

FORMS = (
    ("Python", "x * scale + 1", "scale = 2"),
    ("jaxpr", "mul a", "2.0:f32[]"),
    ("StableHLO", "broadcast", "dense<2.0>"),
    ("optimized HLO", "in a fusion:", "constant(2)"),
    ("kernels", "1 kernel, and", "no array of 2s"),
)


def road(*, known: bool) -> str:
    """The five forms; all but the first are question marks unless `known`."""
    parts = []
    for n, (name, code, two) in enumerate(FORMS):
        x = 28 + n * 164
        parts.append(text(x + 72, 74, name, 14, INK, weight="bold"))
        if n and not known:
            parts += unknown(x, 88, 144, 52)
        else:
            parts += [box(x, 88, 144, 52, PALE, TEAL, 1.2, radius=6), text(x + 72, 110, code, 13, mono=n < 3)]
            parts.append(text(x + 72, 130, two, 13, ORANGE, weight="bold", mono=n < 4))
        if n < 4:
            parts.append(arrow((x + 146, 114), (x + 162, 114)))
    for x, w, words in ((28, 472, "JAX: your function runs once"), (520, 308, "XLA: for one kind of hardware")):
        parts += [line((x, 166), (x + w, 166), stroke=GREY), text(x + w / 2, 186, words, 13, QUIET)]
    title = "Five forms of one function: where the 2 went" if known else "Five forms of one function: where is the 2?"
    return card(title, 206, parts)


def kernels() -> str:
    """What six kernels would read and write."""
    parts = [box(28, 58, 804, 34, PALE, TEAL, 1.2, radius=6), text(430, 80, "memory", 13, TEAL, weight="bold")]
    names = ("broadcast 2", "multiply", "broadcast 1", "add", "broadcast 0", "maximum")
    for n, name in enumerate(names):
        x = 28 + n * 136
        followed = name == "broadcast 2"
        parts.append(box(x, 142, 122, 44, PEACH if followed else CARD, ORANGE if followed else QUIET, 1.4, radius=6))
        parts.append(text(x + 61, 169, name, 13.5, ORANGE if followed else INK, weight="bold" if followed else "normal"))
        if "broadcast" not in name:
            parts.append(arrow((x + 40, 94), (x + 40, 140)))
        parts.append(arrow((x + 82, 140), (x + 82, 94)))
    parts.append(text(28, 218, "If each were a kernel: read, compute, write. How many kernels run?", 13, QUIET, "start"))
    return card("Six operations of StableHLO", 238, parts)


def fused() -> str:
    """One kernel in place of six."""
    parts = [box(28, 58, 804, 34, PALE, TEAL, 1.2, radius=6), text(430, 80, "memory", 13, TEAL, weight="bold")]
    parts += [box(150, 132, 560, 82, CARD, INK, 1.6, radius=8), text(430, 234, "one kernel", 13.5, INK, weight="bold")]
    for n, (name, constant) in enumerate((("multiply", 2), ("add", 1), ("maximum", 0))):
        x = 186 + n * 172
        ours = constant == 2
        parts += [box(x, 158, 92, 36, PALE, TEAL, 1.2, radius=6), text(x + 46, 181, name, 13.5)]
        parts += label(x + 114, 176, str(constant), fill=ORANGE if ours else CARD, ink="#fff" if ours else QUIET)
        if n < 2:
            parts.append(arrow((x + 130, 176), (x + 170, 176)))
    parts += [arrow((232, 94), (232, 156)), text(222, 118, "reads 1 MiB", 13, QUIET, "end")]
    parts += [arrow((576, 156), (576, 94)), text(588, 118, "writes 1 MiB", 13, QUIET, "start")]
    return card("Fused: each element goes through all three, and the 2 is a constant", 254, parts)


def hlo_line() -> str:
    """A line of HLO taken apart."""
    words = (
        ("%mul.0", "a name, no more"),
        ("f32[512,512]", "shape"),
        ("{1,0}", "order in memory"),
        ("multiply", "opcode: what it does"),
        ("(%x, %mul.1)", "operands"),
        ('op_name="jit(f)/mul"', "your operation"),
    )
    parts, x = [], 66.0
    for n, (code, says) in enumerate(words):
        w = 8.4 * len(code)
        ours = code == "multiply"
        parts.append(text(x + w / 2, 86, code, 14, ORANGE if ours else INK, weight="bold" if ours else "normal", mono=True))
        down = 26 if n % 2 else 0
        parts += [line((x + w / 2, 96), (x + w / 2, 108 + down), stroke=GREY)]
        parts.append(text(x + w / 2, 124 + down, says, 13, ORANGE if ours else QUIET))
        x += w + 30
        if n == 0:
            parts.append(text(x - 17, 86, "=", 14, mono=True))
    return card("One line of HLO: read the opcode, not the name", 172, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {"road": road(known=False), "road_answer": road(known=True), "kernels": kernels(), "fused": fused(), "line": hlo_line()}


if __name__ == "__main__":
    save(__file__, draw())
