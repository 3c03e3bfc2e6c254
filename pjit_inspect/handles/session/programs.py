"""Measures the memory of a record's programs, and removes them for a log that is full.

Not its job: deciding when it is full (`handles.session.log`).
"""

from __future__ import annotations

from dataclasses import replace

from pjit_inspect.model.record.record import RecordData

_MODULE_PER_STABLEHLO = 400
"""Bytes of XLA's module in memory for one of the StableHLO it came from: 6.8 MB for 17 KB were measured."""


def held_bytes(data: RecordData) -> int:
    """Bytes of memory of a record's programs: counted, and modelled for HLO that has not been read yet."""
    stablehlo = (data.stablehlo.size or 0) if data.stablehlo is not None else 0
    if data.hlo is None:
        return stablehlo
    size = data.hlo.size
    return stablehlo + (size if size is not None else stablehlo * _MODULE_PER_STABLEHLO)


def without_programs(data: RecordData, reason: str) -> RecordData:
    """The data without HLO, StableHLO and everything derived from them; `missing` gives `reason` for them."""
    missing = {**data.missing, "hlo": reason, "stablehlo": reason}
    gone = {"hlo", "buffers", "hlo_header", "stablehlo", "stablehlo_text", "propagation"}
    return replace(data, **dict.fromkeys(gone), missing=missing)
