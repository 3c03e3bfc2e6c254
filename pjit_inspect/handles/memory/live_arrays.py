"""The arrays that this process holds on its devices, as the table users hold.

Not its job: looking for them (`observe.key.live_arrays`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from pjit_inspect.model.memory.live_arrays import LiveArrayTable
from pjit_inspect.parse.wire.clean import cleaned
from pjit_inspect.view.document.quantities import bytes_text
from pjit_inspect.view.pages.live_arrays import live_arrays_view
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LiveArrays(Displayable, LiveArrayTable):
    """The arrays that this process held at the time, a row for each. In a notebook it displays itself.

    It holds words and numbers, and keeps no array alive.

    Attributes:
      rows: the arrays, most bytes on one device first.
      devices: the arrays and bytes on each device of the process.
      mesh_axes: the axes of their meshes, outermost first.
      deleted: number of further arrays whose data is gone.
      unread: number of further arrays that could not be read.
    """

    def show(self) -> Shown:
        """An object to display: the memory of each device, and the arrays, equal ones of several layers as one row."""
        return Shown(drawn(live_arrays_view(self)))

    def __repr__(self) -> str:
        return f"<LiveArrays: {len(self)} arrays, {bytes_text(self.held_bytes)} on {len(self.devices)} devices>"


def find_live_arrays() -> LiveArrays:
    """As `pjit_inspect.live_arrays`."""
    from pjit_inspect.observe.key.live_arrays import read_live_arrays

    found = cleaned(read_live_arrays())
    return LiveArrays(**{field.name: getattr(found, field.name) for field in fields(found)})
