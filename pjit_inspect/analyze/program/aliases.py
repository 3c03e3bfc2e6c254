"""Which results lie in the memory of donated arguments.

Not its job: which arguments were donated (`observe` knows) or how many bytes that saves (`RecordData.memory`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.record.record import RecordData

__all__ = ["with_aliases"]


def with_aliases(data: RecordData, module: HloModule) -> RecordData:
    """The record with `ArrayLayout.aliases` of its outputs as the optimized program has them.

    Unchanged when the program's arguments cannot be matched with the record's (arguments in one tuple, references).

    *Source*: `HloModuleProto.input_output_alias`.
    """
    inputs = [layout for layout in data.inputs if layout.kept]
    entry = module.computation(module.entry)
    leaves = entry.root.shape.leaves
    parameters = sum(index in entry.range for index in module.with_opcode("parameter").tolist())
    # JAX passes a token for each ordered effect before everything else, in and out.
    tokens = len(leaves) - len(data.outputs)
    if tokens < 0 or parameters - len(inputs) != tokens or any(map(_holds_data, leaves[:tokens])):
        return data
    reused = _reused(module, inputs, tokens)
    outputs = (replace(layout, aliases=reused.get(index)) for index, layout in enumerate(data.outputs))
    return replace(data, outputs=tuple(outputs)) if reused else data


def _holds_data(shape: Shape) -> bool:
    # Where a backend has no tokens JAX passes empty arrays of booleans.
    return shape.bytes != 0


def _reused(module: HloModule, inputs: Sequence[ArrayLayout], tokens: int) -> dict[int, str]:
    """Result number -> path of the argument whose buffer it reuses."""
    found = {}
    for alias in module.aliases:
        output = (alias.output[0] if alias.output else 0) - tokens
        place = alias.parameter - tokens
        if not alias.parameter_index and 0 <= place < len(inputs) and output >= 0:
            found[output] = inputs[place].path
    return found
