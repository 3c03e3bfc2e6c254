"""The pictures of lesson 8: four settings, and the frontier. Run it to write them."""

from __future__ import annotations

from drawing import (
    INK,
    ORANGE,
    PALE,
    PLUM,
    QUIET,
    TEAL,
    bands,
    card,
    copied,
    line,
    save,
    text,
    tiles,
)

POINTS = (
    ("as it is", 18.0, 8.0),
    ("knob 1", 6.0, 3.5),
    ("knob 2", 4.0, 4.5),
    ("4 × 2", 3.0, 11.0),
    ("knob 3", 2.5, 21.0),
)


def knobs() -> str:
    """W1 in four settings; device 3 is orange."""
    parts = []
    for n, (name, mesh, held) in enumerate(
        (
            ("as it is", "2 × 4", "all of W1"),
            ("knob 1", "2 × 4", "a quarter"),
            ("knob 2", "2 × 4", "an eighth"),
            ("knob 3", "8 × 1", "an eighth"),
        )
    ):
        x, y, w, h = 50 + n * 200, 100, 150, 84
        if n == 0:
            parts += copied(x, y, w, h)
        elif n == 1:
            parts += bands(x, y, w, h, upright=True, n=4, numbers=("0 4", "1 5", "2 6", "3 7"))
        elif n == 2:
            parts += tiles(
                x, y, w, h, 2, 4, lambda r, c: (4 * r + c, *((ORANGE, "#fff") if (r, c) == (0, 3) else (PALE, TEAL)))
            )
        else:
            parts += bands(x, y, w, h, upright=False, numbers=False)
        parts.append(text(x + w / 2, 72, name, 14.5, INK, weight="bold"))
        parts.append(text(x + w / 2, 90, f"mesh {mesh}", 12.5, QUIET))
        parts.append(text(x + w / 2, y + h + 26, f"device 3: {held}", 13, ORANGE, weight="bold"))
    return card("Three knobs: where W1 lies", 234, parts)


def frontier() -> str:
    """Memory against bytes sent."""
    left, right, top, bottom = 96, 640, 66, 306

    def at(held: float, sent: float) -> tuple[float, float]:
        return left + (right - left) * held / 20, bottom - (bottom - top) * sent / 24

    parts = [line((left, top), (left, bottom), (right, bottom))]
    for held in (0, 5, 10, 15, 20):
        x, _ = at(held, 0)
        parts += [line((x, bottom), (x, bottom + 5)), text(x, bottom + 21, held, 12.5, QUIET)]
    for sent in (0, 6, 12, 18, 24):
        _, y = at(0, sent)
        parts += [line((left - 5, y), (left, y)), text(left - 10, y + 4.5, sent, 12.5, QUIET, "end")]
    parts.append(text(28, 56, "MiB that each device sends", 12.5, QUIET, "start"))
    parts.append(text(right, bottom + 42, "MiB that each device holds", 12.5, QUIET, "end"))
    best = sorted((held, sent) for name, held, sent in POINTS if name != "as it is")
    parts.append(line(*(at(*point) for point in best), stroke=TEAL, width=3))
    for name, held, sent in POINTS:
        x, y = at(held, sent)
        ink = PLUM if name == "as it is" else TEAL
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="6.5" fill="{ink}" stroke="#fff" stroke-width="1.5"/>')
        place = x + 13, y + {"knob 1": 16, "knob 2": -10}.get(name, 4)
        parts.append(text(*place, f"{name}: holds {held:g}, sends {sent:g}", 13, ink, "start", "bold"))
    parts.append(text(right + 16, 100, "better:", 13.5, INK, "start", "bold"))
    parts.append(text(right + 16, 118, "towards the corner 0, 0", 13, QUIET, "start"))
    return card("What each setting holds and sends", 364, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {"knobs": knobs(), "frontier": frontier()}


if __name__ == "__main__":
    save(__file__, draw())
