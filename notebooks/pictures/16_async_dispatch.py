"""Draws the pictures of lesson 16: two lanes, Python and the device. The followed array is orange."""

from __future__ import annotations

from drawing import BLUE, CARD, GREY, INK, ORANGE, PEACH, QUIET, SKY, TEAL, Parts, arrow, box, card, label, line, save, text

LEFT = 132


def _lanes(width: float = 700, device: float = 136) -> Parts:
    return [
        text(28, 86, "Python", 14, INK, "start", "bold"),
        text(28, device, "device", 14, INK, "start", "bold"),
        line((LEFT, 82), (LEFT + width, 82), stroke=GREY, width=1),
        line((LEFT, device - 5), (LEFT + width, device - 5), stroke=GREY, width=1),
    ]


def _work(x: float, y: float, w: float, words: str, *, fill: str = BLUE, ink: str = "#fff") -> Parts:
    return [box(x, y, w, 32, fill, CARD, 1), text(x + w / 2, y + 21, words, 13, ink)]


def lanes(*, known: bool) -> str:
    """A call, and the work it begins."""
    parts = _lanes()
    parts += _work(LEFT + 20, 66, 74, "y = slow(x)", fill=SKY, ink=INK)
    parts.append(arrow((LEFT + 94, 98), (LEFT + 112, 115)))
    parts += _work(LEFT + 112, 116, 430, "a hundred products", fill=BLUE)
    if known:
        parts.append(text(LEFT + 102, 60, "you hold y: a promise", 13, ORANGE, "start", "bold"))
        parts += [line((LEFT + 96, 64), (LEFT + 96, 100), stroke=ORANGE, width=2.4)]
        parts += [line((LEFT + 542, 64), (LEFT + 542, 150), stroke=ORANGE, width=2.4)]
        parts.append(text(LEFT + 550, 60, "y has numbers", 13, ORANGE, "start", "bold"))
        parts += _work(LEFT + 250, 66, 292, "block_until_ready: Python waits", fill=PEACH, ink=ORANGE)
        parts += _work(LEFT + 112, 66, 134, "your next lines", fill=SKY, ink=INK)
    else:
        parts += label(LEFT + 330, 82, "when do you hold y? when has it numbers?", fill=CARD, ink=ORANGE)
    return card("A call puts work into the device's queue", 168, parts)


def clocks() -> str:
    """Three timers."""
    parts: Parts = []
    rows = (
        ("A", "first call", 0, 300, "trace and compile"),
        ("B", "later call", 0, 16, ""),
        ("C", "later call, and wait", 0, 16, ""),
    )
    for n, (letter, words, start, wide, inside) in enumerate(rows):
        y = 62 + n * 58
        parts.append(text(28, y + 21, letter, 16, ORANGE, "start", "bold"))
        parts.append(text(52, y + 21, words, 13, INK, "start"))
        x = 206 + start
        parts += _work(x, y, wide, inside, fill=SKY, ink=INK) if inside else [box(x, y, wide, 32, SKY, CARD)]
        parts += _work(x + wide, y, 250, "the work, on the device")
        end = x + wide + (250 if letter == "C" else 0)
        parts.append(line((x, y + 40), (end, y + 40), stroke=ORANGE, width=4))
        if letter != "C":
            parts.append(text(end + 10, y + 46, "the timer stops here", 13, ORANGE, "start"))
    return card("Three timers: what does each measure?", 242, parts)


def waits() -> str:
    """Six uses of an array."""
    parts: Parts = []
    uses = ("y.shape", "y + 1", "np.asarray(y)", "float(y[0, 0])", "if y[0, 0] > 0:", "block_until_ready")
    for n, use in enumerate(uses):
        x, y = 28 + (n % 3) * 272, 58 + (n // 3) * 56
        parts.append(box(x, y, 206, 40, SKY, BLUE, 1.2, radius=6))
        parts.append(text(x + 103, y + 25, use, 13.5, INK, mono=True))
        parts.append(text(x + 226, y + 28, "?", 20, ORANGE, weight="bold"))
    return card("Six uses of y: which make Python wait?", 180, parts)


def queue() -> str:
    """Four calls in a chain."""
    parts = _lanes(606)
    for n in range(4):
        parts += _work(LEFT + 10 + n * 26, 66, 22, f"{n + 1}", fill=SKY, ink=INK)
        parts += _work(LEFT + 40 + n * 140, 115, 136, f"call {n + 1}", fill=ORANGE if n == 0 else BLUE)
    parts += _work(LEFT + 116, 66, 480, "waits for call 4 only", fill=PEACH, ink=ORANGE)
    parts.append(text(LEFT + 622, 124, "are 1 to 3", 13, ORANGE, "start", "bold"))
    parts.append(text(LEFT + 622, 142, "ready?", 13, ORANGE, "start", "bold"))
    return card("A queue: Python is far ahead", 168, parts)


def training() -> str:
    """Two loops: in turns, and side by side."""
    parts: Parts = []
    for n, (name, turns) in enumerate((("loss read each step", True), ("loss read at the end", False))):
        y = 58 + n * 106
        parts.append(text(28, y + 14, name, 14, INK, "start", "bold"))
        for words, dy in (("Python", 42), ("device", 76)):
            parts.append(text(28, y + dy, words, 13, QUIET, "start"))
        for step in range(4):
            load = 132 + step * (165 if turns else 55)
            run = load + 55 if turns else 187 + step * 110
            parts += _work(load, y + 22, 55, "load", fill=SKY, ink=INK)
            parts += _work(run, y + 56, 110, f"step {step + 1}", fill=TEAL)
            if turns:
                parts += [box(run, y + 22, 110, 32, PEACH, ORANGE, 1, dashed=True), text(run + 55, y + 43, "waits", 13, ORANGE)]
    parts.append(text(832, 276, "load: 50 ms, step: 100 ms", 13, QUIET, "end"))
    return card("In turns, and side by side", 292, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {
        "lanes": lanes(known=False),
        "lanes_answer": lanes(known=True),
        "clocks": clocks(),
        "waits": waits(),
        "queue": queue(),
        "training": training(),
    }


if __name__ == "__main__":
    save(__file__, draw())
