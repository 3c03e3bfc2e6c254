"""Which results lie in the memory of donated arguments.

Not its job: which arguments were donated (`observe` knows) or how many bytes that saves (`RecordData.memory`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pjit_inspect.model.hlo import HloModule
from pjit_inspect.model.layout import ArrayLayout
from pjit_inspect.model.record import RecordData

__all__ = ["with_aliases"]


def with_aliases(data: RecordData, module: HloModule) -> RecordData:
    """The record with `ArrayLayout.aliases` of its outputs as the optimized program has them.

    Unchanged when the program's arguments cannot be matched with the record's (tokens, arguments in one tuple).

    *Source*: `HloModuleProto.input_output_alias`.
    """
    inputs = [layout for layout in data.inputs if layout.kept]
    entry = module.computation(module.entry)
    parameters = sum(index in entry.range for index in module.with_opcode("parameter").tolist())
    if parameters != len(inputs) or len(entry.root.shape.leaves) != len(data.outputs):
        return data
    reused = _reused(module, inputs)
    outputs = (replace(layout, aliases=reused.get(index)) for index, layout in enumerate(data.outputs))
    return replace(data, outputs=tuple(outputs)) if reused else data


def _reused(module: HloModule, inputs: Sequence[ArrayLayout]) -> dict[int, str]:
    """Result number -> path of the argument whose buffer it reuses."""
    return {
        alias.output[0] if alias.output else 0: inputs[alias.parameter].path
        for alias in module.aliases
        if not alias.parameter_index and alias.parameter < len(inputs)
    }
