"""Draws the pictures of lesson 15. Blue: kernels; teal: the network; orange: what the call waits for."""

from __future__ import annotations

from math import log10

from drawing import (
    BLUE,
    CARD,
    GREY,
    INK,
    ORANGE,
    PALE,
    PEACH,
    QUIET,
    SKY,
    TEAL,
    Parts,
    arrow,
    box,
    card,
    line,
    save,
    text,
    unknown,
)


def chip() -> str:
    """Three speeds."""
    parts = [box(300, 62, 260, 84, SKY, BLUE, 1.6, radius=9), text(430, 88, "one toy chip", 14, INK, weight="bold")]
    parts += [text(430, 112, "10¹² operations a second", 14, BLUE, weight="bold"), text(430, 132, "compute", 13, QUIET)]
    for x, far, name, speed in ((28, 238, "memory", "10¹¹ bytes a second"), (622, 832, "other chips", "10¹⁰ bytes a second")):
        parts += [box(x, 72, far - x, 64, PALE, TEAL, 1.4, radius=9), text((x + far) / 2, 98, name, 14, INK, weight="bold")]
        parts.append(text((x + far) / 2, 121, speed, 14, TEAL, weight="bold"))
    for start, end in ((242, 296), (296, 242), (564, 618), (618, 564)):
        parts.append(arrow((start, 104), (end, 104)))
    parts.append(text(730, 162, "the network", 13, QUIET))
    return card("Three speeds with round numbers", 182, parts)


def two() -> str:
    """One kernel and its two lengths."""
    parts = [text(28, 88, "arithmetic", 14, INK, "start", "bold"), *unknown(180, 64, 440, 36)]
    parts.append(text(640, 88, "operations ÷ 10¹² a second", 13, QUIET, "start"))
    parts += [text(28, 140, "memory", 14, INK, "start", "bold"), *unknown(180, 116, 90, 36)]
    parts.append(text(640, 140, "bytes ÷ 10¹¹ a second", 13, QUIET, "start"))
    parts.append(text(28, 184, "Both go on at once. The kernel takes the longer of the two.", 13, QUIET, "start"))
    return card("One kernel: how long is each bar?", 204, parts)


def roofline() -> str:
    """The roof of the toy chip, and two kernels on it."""
    left, right, top, bottom = 96, 590, 66, 262

    def at(intensity: float, speed: float) -> tuple[float, float]:
        return left + (right - left) * log10(intensity / 0.02) / 5, bottom - (bottom - top) * log10(speed / 1e9) / 3.3

    parts: Parts = [line((left, top), (left, bottom), (right, bottom))]
    parts.append(line(at(0.02, 2e9), at(10, 1e12), at(2000, 1e12), stroke=BLUE, width=3))
    for intensity, words in ((0.1, "0.1"), (1, "1"), (10, "10"), (100, "100"), (1000, "1,000")):
        x, _ = at(intensity, 1e9)
        parts += [line((x, bottom), (x, bottom + 5)), text(x, bottom + 20, words, 13, QUIET)]
    for speed, words in ((1e9, "10⁹"), (1e10, "10¹⁰"), (1e11, "10¹¹"), (1e12, "10¹²")):
        _, y = at(1, speed)
        parts += [line((left - 5, y), (left, y)), text(left - 10, y + 5, words, 13, QUIET, "end")]
    parts.append(text(28, 56, "operations a second", 13, QUIET, "start"))
    parts.append(text(right, bottom + 40, "operations for each byte of memory", 13, QUIET, "end"))
    x, y = at(10, 1e12)
    parts += [line((x, y), (x, bottom), stroke=GREY, dashed=True), text(x, y - 12, "the ridge: 10", 13, INK, weight="bold")]
    for intensity, speed, name in ((1 / 12, 1e11 / 12, "x + y"), (158, 1e12, "x @ W1")):
        x, y = at(intensity, speed)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{ORANGE}" stroke="#fff" stroke-width="1.5"/>')
        parts.append(text(x + 14, y + 20, name, 13.5, ORANGE, "start", "bold", mono=True))
    parts.append(text(614, 92, "flat: compute-bound", 13.5, INK, "start", "bold"))
    parts.append(text(614, 111, "more memory bandwidth", 13, QUIET, "start"))
    parts.append(text(614, 128, "does not help", 13, QUIET, "start"))
    parts.append(text(614, 192, "slope: memory-bound", 13.5, INK, "start", "bold"))
    parts.append(text(614, 211, "more arithmetic units", 13, QUIET, "start"))
    parts.append(text(614, 228, "do not help", 13, QUIET, "start"))
    return card("The roofline: no kernel is above it", 322, parts)


def lanes(*, hidden: bool) -> str:
    """Kernels and the network over time."""

    def at(ms: float) -> float:
        return 168 + 34 * ms

    parts = [text(28, 88, "compute", 14, anchor="start"), text(28, 130, "network", 14, anchor="start")]
    for start, end, name in ((0, 6.4, "x @ W1"), (6.4, 12.8, "@ W2")):
        parts.append(box(at(start), 66, at(end) - at(start), 32, BLUE, CARD, 1))
        parts.append(text((at(start) + at(end)) / 2, 87, name, 13.5, "#fff", mono=True))
    parts.append(box(at(12.8), 110, 34 * 2.8, 30, TEAL, "none", 0))
    parts.append(text(at(14.2), 130, "all-reduce", 13, "#fff"))
    if hidden:
        parts += [box(at(12.8), 66, 34 * 4.8, 32, SKY, BLUE, 1.2), text(at(15.2), 87, "other work", 13.5, BLUE)]
    else:
        parts += [box(at(12.8), 66, 34 * 2.8, 32, PEACH, ORANGE, 1.4, dashed=True)]
        parts.append(text(at(14.2), 88, "? ms", 14, ORANGE, weight="bold"))
    for ms in (0, 4, 8, 12, 16):
        parts += [line((at(ms), 148), (at(ms), 153)), text(at(ms), 168, f"{ms} ms", 13, QUIET)]
    title = "Hidden: other kernels run meanwhile" if hidden else "Exposed: no kernel runs while the chips add up"
    return card(title, 188, parts)


def draw() -> dict[str, str]:
    """Name -> SVG."""
    return {
        "chip": chip(),
        "two": two(),
        "roofline": roofline(),
        "exposed": lanes(hidden=False),
        "hidden": lanes(hidden=True),
    }


if __name__ == "__main__":
    save(__file__, draw())
