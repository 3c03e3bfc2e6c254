"""The propagated program of a record, or the reason why there is none.

Not its job: the propagation itself (`observe.propagation`).
"""

from __future__ import annotations

from pjit_inspect.model.propagation import Propagation
from pjit_inspect.model.record import RecordData
from pjit_inspect.steps import one_line

__all__ = ["propagation_of"]


def propagation_of(data: RecordData, *, live: bool) -> tuple[Propagation | None, str]:
    """The program of a record with the sharding of every value, or None and the reason why it cannot be had.

    A record from a file has what was computed before saving; its bytecode is not trusted with a compiler.
    """
    if data.propagation is not None:
        return data.propagation, ""
    if data.stablehlo is None:
        return None, data.missing.get("stablehlo") or "there is no program before optimization"
    if not live:
        return None, "the record was saved before anybody looked at its shardings"
    from pjit_inspect.observe.library_names import with_paths
    from pjit_inspect.observe.propagation import propagate

    try:
        program = propagate(data.stablehlo.read())
    except Exception as error:
        # Whatever jaxlib makes of a program it does not know, the record stays readable.
        return None, f"Shardy's propagation failed: {one_line(error)}"
    if program is None:
        return None, "XLA splits the program by GSPMD, not by Shardy: `record.ask_partitioner()` asks it"
    return with_paths(program, data), ""
