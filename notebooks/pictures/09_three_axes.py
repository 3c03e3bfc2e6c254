"""The pictures of lesson 9: a cube of devices, and what cubes cost. Run it to write them."""

from __future__ import annotations

from drawing import BLUE, FOLLOWED, GREY, INK, ORANGE, PLUM, QUIET, SLATE, TEAL, card, device, line, save, text

AXES = {"model": TEAL, "fsdp": BLUE, "data": PLUM}
CUBES = (
    ("8 × 1 × 1", 32, 0),
    ("4 × 1 × 2", 16, 8192),
    ("2 × 2 × 2", 8, 16384),
    ("2 × 1 × 4", 8, 24576),
    ("1 × 4 × 2", 4, 20480),
    ("1 × 8 × 1", 4, 28672),
    ("1 × 1 × 8", 4, 57344),
)


def place(number: int) -> tuple[float, float]:
    """Where a device of the cube stands."""
    data, fsdp, model = number >> 2, number >> 1 & 1, number & 1
    return 130 + model * 210 + data * 96, 130 + fsdp * 120 + (1 - data) * 56


def cube(*, known: bool) -> str:
    """Eight devices, three kinds of edges; the neighbours of device 3, if `known`."""
    parts = []
    for axis, step in (("model", 1), ("fsdp", 2), ("data", 4)):
        for number in range(8):
            if not number & step:
                ours = FOLLOWED in (number, number + step)
                parts.append(line(place(number), place(number + step), stroke=AXES[axis], width=5 if ours else 2))
    hidden = set() if known else {7, 1, 2}
    for number in range(8):
        fill = ORANGE if number == FOLLOWED else SLATE
        parts += device(*place(number), "?" if number in hidden else number, fill=fill)
    words = {"model": "model: the hidden units", "fsdp": "fsdp: the batch, and the weights", "data": "data: the batch"}
    for n, (axis, ink) in enumerate(AXES.items()):
        y = 110 + n * 56
        parts += [
            line((520, y), (560, y), stroke=ink, width=5),
            text(574, y + 5, words[axis], 14, ink, "start", "bold"),
        ]
        if known:
            neighbour = FOLLOWED ^ {"model": 1, "fsdp": 2, "data": 4}[axis]
            parts.append(text(574, y + 25, f"device 3 is with device {neighbour}", 13, ORANGE, "start"))
    title = (
        "The three neighbours of device 3"
        if known
        else "A cube of 2 × 2 × 2 devices: who are the neighbours of device 3?"
    )
    return card(title, 350, parts)


def cubes() -> str:
    """Weights held and bytes sent by seven cubes."""
    parts = [
        text(150, 72, "data × fsdp × model", 12.5, QUIET),
        text(250, 72, "weights on a device, KiB", 12.5, TEAL, "start", "bold"),
        text(500, 72, "sent forward, bytes", 12.5, PLUM, "start", "bold"),
    ]
    for n, (name, held, sent) in enumerate(CUBES):
        y = 84 + n * 32
        ours = name == "2 × 2 × 2"
        parts.append(text(150, y + 16, name, 14, ORANGE if ours else INK, weight="bold"))
        for x, value, scale, ink in ((250, held, 5.0, TEAL), (500, sent, 1 / 270, PLUM)):
            parts.append(line((x, y + 11), (x + max(2, value * scale), y + 11), stroke=ink, width=16))
            parts.append(text(x + value * scale + 10, y + 16, f"{value:,}", 13, ink, "start"))
    parts.append(line((482, 60), (482, 84 + 7 * 32), stroke=GREY, width=1))
    return card("Seven cubes of eight devices", 326, parts)


def draw() -> dict[str, str]:
    """Name -> picture."""
    return {"cube": cube(known=False), "cube_answer": cube(known=True), "cubes": cubes()}


if __name__ == "__main__":
    save(__file__, draw())
