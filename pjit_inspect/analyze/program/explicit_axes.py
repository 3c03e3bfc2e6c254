"""The axes of a mesh that are part of the types of a program's arrays, so that other specs make it another program.

Not its job: what follows from it (`handles.asked.what_if` refuses, `analyze.play.controls` greys choices).
"""

from __future__ import annotations

import re

from pjit_inspect.model.record.record import RecordData

_TYPED = re.compile(r":\w+\[([^\]\s]*@[^\]\s]*)\]")
_AXIS = re.compile(r"@\(?'?(\w+)")


def find_explicit_axes(data: RecordData) -> str:
    """The axes that are part of types in a program, in words; "" where there are none."""
    axes = [
        name
        for mesh in data.meshes
        for name, kind in zip(mesh.axis_names, mesh.axis_types, strict=False)
        if kind == "explicit"
    ]
    # A function that was only lowered has no mesh of its own, but its types name the axes: f32[16@data,32].
    axes += [name for typed in _TYPED.findall(data.jaxpr or "") for name in _AXIS.findall(typed)]
    return ", ".join(dict.fromkeys(axes))
