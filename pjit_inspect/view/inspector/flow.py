"""The inspector's picture of a small program: the words at its arguments, kernels, results and arrows.

`header["flow"]`: null for a program drawn as boxes; else `nodes`, `edges` (pairs of places in `nodes`) and
`copies` (how many layout copies are left out). A node: `kind` ("argument", "kernel", "collective", "result"), `kernel`
(in the graph's columns; -1), `name` and `array` (of an argument or result: its path, which selects it), `value` (what
leaves it on the arrow: dtype and shape of one device, spec as `spec_data` or null, bytes), `sent` (a collective).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.report.graph import FlowNode, ProgramFlow
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.layers import path_pattern
from pjit_inspect.view.document.notation import array_text
from pjit_inspect.view.document.quantities import bytes_text
from pjit_inspect.view.inspector.words import name_data, spec_data


def flow_data(flow: ProgramFlow | None, report: RecordReport) -> dict[str, Any] | None:
    """The picture as JSON."""
    if flow is None:
        return None
    results = sum(node.kind == "result" for node in flow.nodes)
    inputs = [layout for layout in report.data.inputs if layout.kept]
    outputs = report.data.outputs if len(report.data.outputs) == results else ()
    nodes = [_node(node, report, inputs, outputs) for node in flow.nodes]
    return {"nodes": nodes, "edges": [list(edge) for edge in flow.edges], "copies": flow.copies}


def _node(
    node: FlowNode, report: RecordReport, inputs: Sequence[ArrayLayout], outputs: Sequence[ArrayLayout]
) -> dict[str, Any]:
    if node.kind in ("argument", "result"):
        return _end(node, inputs if node.kind == "argument" else outputs)
    value = {"array": name_data(node.array), "spec": spec_data(node.spec)}
    sent = ""
    if node.kind == "collective" and report.collectives is not None:
        sent = bytes_text(report.collectives[node.number].wire_bytes)
    return {"kind": node.kind, "kernel": node.kernel, "value": value, "sent": sent}


def _end(node: FlowNode, layouts: Sequence[ArrayLayout]) -> dict[str, Any]:
    """An argument or a result; a program read from HLO has only its number."""
    if node.number >= len(layouts):
        words = f"{node.kind} {node.number}"
        return {"kind": node.kind, "kernel": -1, "name": words, "array": "", "bytes": "", "value": {"spec": None}}
    layout = layouts[node.number]
    # The lists name equal arrays of equal layers by their common pattern.
    return {
        "kind": node.kind,
        "kernel": -1,
        "name": name_data(layout.path),
        "pattern": name_data(path_pattern(layout.path, keep_first=node.kind == "result")),
        "array": name_data(array_text(layout)),
        "bytes": bytes_text(layout.bytes_per_device),
        "tiles": None if layout.sharding is None else list(layout.sharding.tiles),
        "value": {"spec": spec_data(layout.spec)},
    }
