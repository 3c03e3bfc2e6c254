"""The colours of mesh axes: colour means axis, everywhere, and nothing else.

An axis gets its colour by its place in the order of a document's axes. Colours are mid tones, dark enough for white
letters (at least 5:1) and light enough for a dark page, so that one picture serves both themes. Colour is never alone:
the axis is also a word.
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.model.memory.memory_use import MemoryKind
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.sharding.sharded_program import axis_name

AXIS_COLORS = ("#0b7a75", "#b04a06", "#a3286c", "#56700b")
"""One hue per mesh axis, outermost first."""
SEVERAL = "#6a4bc0"
"""Several axes at once, and every axis after the fourth."""
NEUTRAL = "#5f6772"
"""No axis: replicated arrays, device numbers, groups that follow no axis."""
LINE = "#7d8590"
HATCH = "#dfe3e8"
SELECTION = "#0b63c4"
NOTE = "#c0392b"

MEMORY_COLORS: dict[MemoryKind, str] = {
    "argument": "#5c6673",
    "optimizer state": "#85909e",
    "constant": "#7d7464",
    "saved for backward": "#3f74b5",
    "gradient": "#b97f3c",
    "collective buffer": "#8d78c4",
    "result": "#5f9152",
    "temporary": "#aab2bc",
}
"""Purpose of a buffer -> its colour, in stacking order: buffers that no schedule moves are at the bottom.

No axis has one of these colours, and no axis colour is used beside them.
"""

PHASE_COLORS: dict[str, str] = {
    "forward": "#99a2ad",
    "recompute": "#c2c8cf",
    "backward": "#6a7380",
    "optimizer": "#49515b",
}
"""A training phase -> its grey, as in the table of the inspector's colours (`front/src/core/theme.js`)."""

STAGE_COLORS = {"trace": "#3b6fb6", "lower": "#7a5aa6", "XLA": "#b04a06", "from disk": "#56700b"}
"""A stage of a compile -> its colour; "from disk" replaces XLA where the compilation cache had the program."""


class Palette:
    """The colours of one document's axes.

    Attributes:
      axes: the axes in the order that gives them their colours.
    """

    __slots__ = ("_of_axis", "axes")

    def __init__(self, axes: Sequence[str]) -> None:
        self.axes: tuple[str, ...] = tuple(axes)
        hues = (*AXIS_COLORS, *(SEVERAL for _ in range(max(0, len(axes) - len(AXIS_COLORS)))))
        self._of_axis = dict(zip(axes, hues, strict=False))

    def of(self, axes: Sequence[str] | None) -> str:
        """The colour of one axis, of several, or of none (None, or empty); a part of an axis has the axis's colour."""
        if not axes:
            return NEUTRAL
        if len(axes) > 1:
            return SEVERAL
        return self._of_axis.get(axis_name(axes[0]), SEVERAL)


def document_axes(data: RecordData) -> tuple[str, ...]:
    """Every axis name of the program; those of its first mesh come first."""
    meshes = (*((data.mesh,) if data.mesh else ()), *data.meshes)
    return tuple(dict.fromkeys(name for mesh in meshes for name in mesh.axis_names))
