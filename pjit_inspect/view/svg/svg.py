"""A small writer of SVG pictures: rectangles, paths, and labels on chips.

Every string in a picture is escaped here.
"""

from __future__ import annotations

import base64
from html import escape
from typing import Literal

from pjit_inspect.view.document.printable import cell_width, printable, shorten

_CHAR = 6.15  # px of one character at 10.5 px, the mean of common interface fonts


def chip_width(text: str) -> float:
    """Pixels of a label's chip."""
    return round(cell_width(text) * _CHAR + 7, 1)


def fit(text: str, width: float) -> str:
    """The text shortened in the middle until its chip fits into `width` pixels."""
    return shorten(printable(text), max(1, int((width - 7) / _CHAR)))


def data_uri(svg: str) -> str:
    """The picture as the source of an <img>: the one form that survives JupyterLab's sanitizer."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8", "backslashreplace")).decode("ascii")


class Svg:
    """Collects shapes, grows to hold them, and writes the picture."""

    def __init__(self) -> None:
        self._shapes: list[str] = []
        self._hatches: dict[str, str] = {}
        self._box = [0.0, 0.0, 0.0, 0.0]

    def rect(self, x: float, y: float, w: float, h: float, *, fill: str = "none", **attributes: object) -> None:
        """Adds a rectangle; further attributes by SVG's names with underscores: `stroke_width=2`."""
        self._hold(x - 1, y - 1, w + 2, h + 2)
        self._add(f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" fill="{fill}"', attributes)

    def path(self, d: str, **attributes: object) -> None:
        """Adds a path. It does not enlarge the picture."""
        self._add(f'<path d="{d}"', {"fill": "none", **attributes})

    def line(self, x1: float, y1: float, x2: float, y2: float, **attributes: object) -> None:
        """Adds a straight line."""
        self._hold(min(x1, x2) - 1, min(y1, y2) - 1, abs(x2 - x1) + 2, abs(y2 - y1) + 2)
        self.path(f"M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}", **attributes)

    def hatch(self, color: str) -> str:
        """A fill of 45 degree lines in a colour, each with a dark edge: visible on any background."""
        name = self._hatches.setdefault(color, f"h{len(self._hatches)}")
        return f"url(#{name})"

    def chip(
        self,
        x: float,
        y: float,
        text: str,
        *,
        color: str,
        turned: bool = False,
        anchor: Literal["start", "middle", "end"] = "middle",
    ) -> float:
        """Adds a label in white, or in black where the chip is light, on a rounded chip, and gives its width.

        Its middle is at y; x is the place of its left end, its middle or its right end. `turned` writes it upwards.
        """
        width = chip_width(text)
        x += {"start": width / 2, "middle": 0.0, "end": -width / 2}[anchor]
        w, h = (15.0, width) if turned else (width, 15.0)
        self.rect(x - w / 2, y - h / 2, w, h, fill=color, rx=3)
        dark = ' fill="#000"' if sum(bytes.fromhex(color[1:])) > 3 * 140 else ""
        turn = f' transform="rotate(-90 {_n(x)} {_n(y)})"' if turned else ""
        self._shapes.append(f'<text x="{_n(x)}" y="{_n(y + 3.7)}"{turn}{dark}>{escape(printable(text))}</text>')
        return width

    def words(self, x: float, y: float, text: str, *, color: str) -> None:
        """Adds a few characters without a chip, such as the dots of an elision."""
        self._hold(x, y - 10, 1, 12)
        self._shapes.append(f'<text x="{_n(x)}" y="{_n(y)}" fill="{color}">{escape(printable(text))}</text>')

    def sentence(self, x: float, y: float, text: str, *, color: str, strong: bool = False) -> None:
        """Adds a line of text that begins at x, for a known background (chips are for unknown ones)."""
        self._hold(x, y - 10, cell_width(text) * _CHAR, 14)
        weight = ' font-weight="600"' if strong else ""
        start = f'<text x="{_n(x)}" y="{_n(y)}" fill="{color}" text-anchor="start"{weight}>'
        self._shapes.append(f"{start}{escape(printable(text))}</text>")

    def place(self, other: Svg, x: float, y: float) -> None:
        """Adds another picture, its upper left corner at (x, y). Raises ValueError if that picture has hatches."""
        if other._hatches:
            raise ValueError("a picture with hatches cannot be placed in another: their names would meet")
        left, top = other._box[:2]
        self._hold(x, y, *other.size)
        self._shapes.append(f'<g transform="translate({_n(x - left)} {_n(y - top)})">{"".join(other._shapes)}</g>')

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        left, top, right, bottom = self._box
        return int(right - left + 0.999), int(bottom - top + 0.999)

    def write(self) -> str:
        """The picture as SVG text, with a transparent background."""
        width, height = self.size
        patterns = "".join(
            f'<pattern id="{name}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            f'<path d="M1 0V5" stroke="{color}" stroke-width="1.4" stroke-opacity="0.6"/>'
            f'<path d="M2.2 0V5" stroke="#000" stroke-opacity="0.3"/></pattern>'
            for color, name in self._hatches.items()
        )
        defs = f"<defs>{patterns}</defs>" if patterns else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="{_n(self._box[0])} {_n(self._box[1])} {width} {height}" '
            f'font-family="system-ui,sans-serif" font-size="10.5" text-anchor="middle" fill="#fff">'
            f"{defs}{''.join(self._shapes)}</svg>"
        )

    def _add(self, start: str, attributes: dict[str, object]) -> None:
        rest = "".join(f' {key.replace("_", "-")}="{_value(value)}"' for key, value in attributes.items())
        self._shapes.append(f"{start}{rest}/>")

    def _hold(self, x: float, y: float, w: float, h: float) -> None:
        if not self._shapes:
            self._box = [x, y, x + w, y + h]
        left, top, right, bottom = self._box
        self._box = [min(left, x), min(top, y), max(right, x + w), max(bottom, y + h)]


def _n(value: float) -> str:
    """A coordinate with at most one decimal, the same on every machine."""
    return f"{value:.1f}".removesuffix(".0")


def _value(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else escape(str(value))
