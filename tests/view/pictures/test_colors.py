"""Colour means axis, and white letters can be read on all of them."""

from __future__ import annotations

import pytest

from pjit_inspect.view.document.colors import AXIS_COLORS, NEUTRAL, SELECTION, SEVERAL, Palette


def _luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("color", [*AXIS_COLORS, NEUTRAL, SELECTION, SEVERAL])
def test_white_letters_can_be_read_on_every_chip(color):
    assert 1.05 / (_luminance(color) + 0.05) >= 5.0


def test_axes_have_their_own_colour_and_later_ones_share():
    palette = Palette(("a", "b", "c", "d", "e"))
    assert [palette.of((axis,)) for axis in "abcd"] == list(AXIS_COLORS)
    assert palette.of(("e",)) == palette.of(("a", "b")) == SEVERAL
    assert palette.of(("b:(1)2",)) == palette.of(("b",))  # a part of an axis
    assert palette.of(None) == palette.of(()) == NEUTRAL
