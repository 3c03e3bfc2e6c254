"""XLA's text of a program with comments: above a kernel the user's line, above a collective its cause.

Not its job: what these are (`analyze`), or the text (XLA prints it).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import bytes_text

_LINE = re.compile(r"(?m)^( *)(?:ROOT )?%?([\w.-]+) = ")


def annotated(
    text: str, module: HloModule, graph: ProgramGraph, rows: CollectiveTable, line_of: Callable[[int], str]
) -> str:
    """The text with comments, which XLA's parser skips.

    Args:
      text: the program as XLA prints it.
      module: the same, parsed.
      graph: its kernels.
      rows: its collectives.
      line_of: for the row of an instruction, the user's line with its place; "" where unknown.
    """
    copies = map(module.instruction, module.with_opcode("copy").tolist())
    notes = {
        own.name: f"copy of {own.operands[0].name}" for own in copies if own.operands and not own.computation.is_fusion
    }
    for kernel, name in enumerate(graph.kernels.names):
        phase = PHASES[graph.boxes[graph.kernels.box[kernel]].phase]
        what = graph.kernels.labels[graph.kernels.label[kernel]] + (f", {phase}" if graph.is_differentiated else "")
        notes[name] = ": ".join(filter(None, (what, line_of(int(graph.kernels.instruction[kernel])))))
    notes |= {name: _collective(row) for row in rows for name in row.instructions[:1]}

    def noted(found: re.Match[str]) -> str:
        note = notes.get(found[2])
        return found[0] if note is None else f"{found[1]}// {printable(' '.join(note.split()))}\n{found[0]}"

    return _LINE.sub(noted, text)


def _collective(row: Collective) -> str:
    sent = "unknown bytes" if row.sent_bytes is None else f"{bytes_text(row.sent_bytes)} (modelled: ring)"
    return f"{row.kind} over {row.axes_text} sends {sent} a call" + (f": {row.why}" if row.why else "")
