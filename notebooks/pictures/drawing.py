"""What the lessons' pictures are drawn with: one palette, one kind of card, and what goes on it.

    from drawing import bands, card, save, text

A lesson's script (`NN_name.py`) has `draw()`, name -> SVG; run, it writes them into the folder `NN_name` beside it.
`scripts/embed_pictures.py` does that, and puts them into the notebook.

Teal: split over an axis. Orange: the one thing that the lesson follows. Hatched, with sheets behind: every device has a
copy. Blue and plum: two things compared. Never a colour alone: a number or a word stands beside it. Every picture is a
card with its own background, so it can be read on a light and on a dark page. Lengths are pixels, y grows downwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import cos, pi, sin
from pathlib import Path

INK, QUIET, LINE, CARD = "#1f2328", "#565d66", "#dcd8d0", "#fbfaf7"
TEAL, PALE, ORANGE, PEACH, GREY, SLATE = "#0b7a75", "#d9eceb", "#e4570a", "#ffe2cd", "#8b9199", "#5b6570"
BLUE, SKY, PLUM, LILAC = "#1b5fc1", "#dce8f8", "#8b2f87", "#f0dfef"
RED, ROSE = "#c0262d", "#fbdcdc"  # what is wrong, and nothing else
MONO = 'ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace'
SANS = '"Helvetica Neue", Arial, "Liberation Sans", sans-serif'  # of one width everywhere
WIDTH = 860
FOLLOWED = 3  # the device that the lessons follow
COPIED = "url(#copy)"  # a fill: every device has a copy
TIPS = {"tip": QUIET, "tip-teal": TEAL, "tip-orange": ORANGE, "tip-blue": BLUE, "tip-plum": PLUM, "tip-red": RED}

Parts = list[str]


def text(
    x: float,
    y: float,
    words: object,
    size: float = 13,
    fill: str = INK,
    anchor: str = "middle",
    weight: str = "normal",
    *,
    mono: bool = False,
) -> str:
    """A line of words; `y` is its base line. `anchor`: "start", "middle", "end"."""
    family = f" font-family='{MONO}'" if mono else ""
    escaped = str(words).replace("&", "&amp;").replace("<", "&lt;")
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}" text-anchor="{anchor}" '
        f'font-weight="{weight}"{family} xml:space="preserve">{escaped}</text>'
    )


def lines(
    x: float,
    y: float,
    many: Iterable[object],
    size: float = 13,
    fill: str = INK,
    anchor: str = "middle",
    *,
    step: float = 17,
    mono: bool = False,
) -> Parts:
    """Lines of words, one under another."""
    return [text(x, y + n * step, words, size, fill, anchor, mono=mono) for n, words in enumerate(many)]


def box(
    x: float,
    y: float,
    w: float,
    h: float,
    fill: str = "none",
    stroke: str = TEAL,
    width: float = 1,
    *,
    radius: float = 0,
    dashed: bool = False,
) -> str:
    """A rectangle."""
    more = (f' rx="{radius:g}"' if radius else "") + (' stroke-dasharray="5 4"' if dashed else "")
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{width:g}"{more}/>'
    )


def line(*points: tuple[float, float], stroke: str = QUIET, width: float = 1.5, dashed: bool = False) -> str:
    """A line through points."""
    return _path(points, stroke, width, dashed, "")


def arrow(*points: tuple[float, float], stroke: str = QUIET, width: float = 1.6, dashed: bool = False) -> str:
    """A line through points, with a tip at its end."""
    tips = {colour: name for name, colour in TIPS.items()}
    return _path(points, stroke, width, dashed, f' marker-end="url(#{tips.get(stroke, "tip")})"')


def _path(points: Sequence[tuple[float, float]], stroke: str, width: float, dashed: bool, more: str) -> str:
    where = "L".join(f"{x:g} {y:g}" for x, y in points)
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path d="M{where}" stroke="{stroke}" stroke-width="{width:g}" fill="none"{dashes}{more}/>'


def card(title: str, height: float, parts: Iterable[str], width: float = WIDTH) -> str:
    """The SVG of one picture: a titled card."""
    tips = (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
        for name, colour in TIPS.items()
    )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f"viewBox=\"0 0 {width:g} {height:g}\" font-family='{SANS}'>",
            "<defs>",
            '<pattern id="copy" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<rect width="7" height="7" fill="{PEACH}"/><path d="M0 0V7" stroke="{ORANGE}" stroke-width="1.6" '
            'opacity=".55"/></pattern>',
            *tips,
            "</defs>",
            box(0.5, 0.5, width - 1, height - 1, CARD, LINE, radius=10),
            text(28, 34, title, 16, anchor="start", weight="bold"),
            *parts,
            "</svg>",
            "",
        )
    )


# ------------------------------------------------------------ arrays


def copied(x: float, y: float, w: float, h: float) -> Parts:
    """A matrix that every device holds whole."""
    behind = [box(x + d, y + d, w, h, CARD, GREY, 0.8) for d in (8, 4)]
    return [*behind, box(x, y, w, h, COPIED, ORANGE, 1.6)]


def bands(
    x: float,
    y: float,
    w: float,
    h: float,
    upright: bool,
    *,
    n: int = 8,
    ours: int | None = FOLLOWED,
    numbers: Sequence[object] | bool = True,
    fill: str = PALE,
    ink: str = TEAL,
) -> Parts:
    """A matrix split in `n`, into columns if `upright`; the band `ours` is orange. `numbers`: the words in each."""
    labels = range(n) if numbers is True else numbers or [""] * n
    return tiles(
        x,
        y,
        w,
        h,
        1 if upright else n,
        n if upright else 1,
        lambda row, column: (
            list(labels)[row + column],
            *((ORANGE, "#fff") if row + column == ours else (fill, ink)),
        ),
        stroke=ink,
    )


def tiles(
    x: float,
    y: float,
    w: float,
    h: float,
    rows: int,
    columns: int,
    of: Callable[[int, int], tuple[object, str, str]],
    *,
    stroke: str = TEAL,
    size: float = 12,
) -> Parts:
    """A matrix split both ways; `of(row, column)` gives a tile's label, fill and ink."""
    parts: Parts = []
    wide, high = w / columns, h / rows
    for row in range(rows):
        for column in range(columns):
            label, fill, ink = of(row, column)
            left, top = x + column * wide, y + row * high
            parts.append(box(left, top, wide, high, fill, stroke, 0.8))
            if label != "":
                parts.append(text(left + wide / 2, top + high / 2 + size * 0.37, label, size, ink, weight="bold"))
    return parts


def unknown(x: float, y: float, w: float, h: float) -> Parts:
    """A question mark where the answer goes."""
    return [
        box(x, y, w, h, "none", GREY, 1.2, dashed=True),
        text(x + w / 2, y + h / 2 + 7, "?", 20, GREY, weight="bold"),
    ]


def partial(x: float, y: float, w: float, h: float, words: Sequence[str] = ("one of", "8 shares")) -> Parts:
    """A matrix of full shape that is a partial sum."""
    start = y + h / 2 + 4.5 - 9 * (len(words) - 1)
    return [
        box(x, y, w, h, PEACH, ORANGE, 1.6, dashed=True),
        *(text(x + w / 2, start + 18 * n, one, 12.5, ORANGE, weight="bold") for n, one in enumerate(words)),
    ]


def named(
    x: float, y: float, w: float, h: float, name: str, spec: str = "", *, ink: str = TEAL, gap: float = 19
) -> Parts:
    """The name over a matrix, and its spec under it."""
    parts = [text(x + w / 2, y - 10, name, 14, INK, weight="bold", mono=True)]
    return [*parts, text(x + w / 2, y + h + gap, spec, 11.5, ink, mono=True)] if spec else parts


# ------------------------------------------------------------ devices


def device(x: float, y: float, label: object, *, fill: str = SLATE, w: float = 40, h: float = 28) -> Parts:
    """A device, its middle at (x, y)."""
    return [
        box(x - w / 2, y - h / 2, w, h, fill, "none", 0, radius=5),
        text(x, y + 5, label, 14, "#fff", weight="bold"),
    ]


def grid(
    x: float,
    y: float,
    rows: int,
    columns: int,
    *,
    across: float = 62,
    down: float = 52,
    fill: Callable[[int], str] | None = None,
    row_axis: str = "",
    column_axis: str = "",
) -> Parts:
    """Devices as a grid, numbered row by row; (x, y) is the middle of device 0. Axis names stand at its edges."""
    parts: Parts = []
    for row in range(rows):
        parts += [line((x, y + row * down), (x + (columns - 1) * across, y + row * down), stroke=LINE, width=3)]
    for column in range(columns):
        parts += [line((x + column * across, y), (x + column * across, y + (rows - 1) * down), stroke=LINE, width=3)]
    for number in range(rows * columns):
        row, column = divmod(number, columns)
        colour = fill(number) if fill else ORANGE if number == FOLLOWED else SLATE
        parts += device(x + column * across, y + row * down, number, fill=colour)
    if column_axis:
        parts.append(text(x + (columns - 1) * across / 2, y - 24, f"{column_axis} →", 13, QUIET, mono=True))
    if row_axis:
        parts.append(text(x - 32, y + (rows - 1) * down / 2 + 5, f"{row_axis} ↓", 13, QUIET, "end", mono=True))
    return parts


def ring(cx: float, cy: float, r: float, n: int = 8, *, ours: int | None = FOLLOWED) -> Parts:
    """Devices in a ring, with arrows to the next."""
    parts: Parts = []
    for i in range(n):
        a, b = (2 * pi * (i + k) / n - pi / 2 for k in (0, 1))
        gap = 15 / r
        parts.append(
            f'<path d="M{cx + r * cos(a + gap):.1f} {cy + r * sin(a + gap):.1f}'
            f'A{r:g} {r:g} 0 0 1 {cx + r * cos(b - gap):.1f} {cy + r * sin(b - gap):.1f}"'
            f' stroke="{QUIET}" stroke-width="1.6" fill="none" marker-end="url(#tip)"/>'
        )
    for i in range(n):
        a = 2 * pi * i / n - pi / 2
        x, y = cx + r * cos(a), cy + r * sin(a)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="12" fill="{ORANGE if i == ours else SLATE}"/>')
        parts.append(text(round(x, 1), round(y + 4.5, 1), i, 12.5, "#fff", weight="bold"))
    return parts


# ------------------------------------------------------------ words beside


def label(x: float, y: float, words: str, *, fill: str = PALE, ink: str = TEAL, size: float = 13) -> Parts:
    """Words in a rounded box; (x, y) is its middle."""
    w = 16 + size * 0.56 * len(words)
    return [
        box(x - w / 2, y - 12, w, 24, fill, ink, 1, radius=6),
        text(x, y + size * 0.36, words, size, ink, weight="bold"),
    ]


def legend(y: float, notes: Iterable[tuple[str, str, str]], x: float = 28) -> Parts:
    """Small boxes and what they mean, in a row: (fill, stroke, words)."""
    parts: Parts = []
    for fill, stroke, words in notes:
        parts += [box(x, y, 16, 14, fill, stroke, 1.2), text(x + 24, y + 12, words, 13, QUIET, "start")]
        x += 46 + 6.2 * len(words)
    return parts


def save(script: str, pictures: Mapping[str, str]) -> list[Path]:
    """Write the pictures into the folder named as the script (its `__file__`), beside it; those of other names go."""
    folder = Path(script).with_suffix("")
    folder.mkdir(exist_ok=True)
    for old in set(folder.glob("*.svg")) - {folder / f"{name}.svg" for name in pictures}:
        old.unlink()
    paths = [folder / f"{name}.svg" for name in pictures]
    for path, svg in zip(paths, pictures.values(), strict=True):
        path.write_text(svg, encoding="utf-8")
    return paths
