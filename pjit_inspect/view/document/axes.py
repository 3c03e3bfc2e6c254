"""The order of a document's mesh axes, which gives them their colours. Not its job: the colours (`colors`)."""

from __future__ import annotations

from pjit_inspect.model.record.record import RecordData

__all__ = ["document_axes"]


def document_axes(data: RecordData) -> tuple[str, ...]:
    """Every axis name of the program, those of its first mesh first."""
    meshes = (*((data.mesh,) if data.mesh else ()), *data.meshes)
    return tuple(dict.fromkeys(name for mesh in meshes for name in mesh.axis_names))
