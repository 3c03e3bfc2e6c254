"""Small programs for the tests of the graph, and ways to ask about it."""

from __future__ import annotations

import functools
from typing import Any

from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.graph.build import find_graph
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.graph import GraphBox, ProgramGraph
from pjit_inspect.model.report.graph_columns import HOWS, PHASES

ADD = """
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
"""


def program(entry: str, before: str = "") -> HloModule:
    """A module whose entry takes %q, named "x"; `entry` are its further lines, `before` other computations."""
    head = '  %q = f32[4] parameter(0), metadata={op_name="x"}'
    text = f"HloModule m, is_scheduled=true, num_partitions=8\n{ADD}\n{before}\nENTRY %main (q: f32[4]) -> f32[4] {{\n"
    return parse_hlo_text(f"{text}{head}\n{entry}\n}}\n")


def op(name: str, opcode: str, *operands: str, at: str = "", root: bool = False, more: str = "") -> str:
    """One line of a program: an instruction on f32[4], named by JAX as `at`."""
    named = f', metadata={{op_name="{at}"}}' if at else ""
    taken = ", ".join(f"%{operand}" for operand in operands)
    return f"  {'ROOT ' if root else ''}%{name} = f32[4] {opcode}({taken}){more}{named}"


def lines(*parts: str) -> str:
    return "\n".join(parts)


def graph_of(module: HloModule) -> ProgramGraph:
    return find_graph(module, find_collectives(module, fixtures.MESH))


@functools.cache
def fixture(name: str) -> tuple[HloModule, CollectiveTable, ProgramGraph]:
    module = fixtures.module(name)
    table = find_collectives(module, fixtures.MESH)
    return module, table, find_graph(module, table)


def compiled(function: Any, *arguments: Any) -> ProgramGraph:
    return graph_of(fixtures.compiled(function, *arguments))


def path(graph: ProgramGraph, row: int) -> str:
    """The labels of a row and those around it."""
    parts = []
    while row > 0:
        parts.append(graph.rows[row].label)
        row = graph.rows[row].parent
    return "/".join(reversed(parts))


def where(graph: ProgramGraph, kernel: str) -> tuple[str, str, str]:
    """The row and phase of a kernel, and how it got there."""
    number = graph.kernels.names.index(kernel)
    box = graph.boxes[int(graph.kernels.box[number])]
    return path(graph, box.row), PHASES[box.phase], HOWS[int(graph.kernels.how[number])]


def box(graph: ProgramGraph, row: str, phase: str) -> GraphBox:
    [found] = [b for b in graph.boxes if path(graph, b.row) == row and PHASES[b.phase] == phase]
    return found


def rows(graph: ProgramGraph) -> list[str]:
    return [path(graph, row) for row in range(1, len(graph.rows))]


def edges(graph: ProgramGraph) -> set[tuple[str, str]]:
    """Which kernel takes a value of which, those carried by a loop left out."""
    reads, names = graph.reads, graph.kernels.names
    return {
        (names[source], names[target])
        for source, target, carried in zip(
            reads.source.tolist(), reads.target.tolist(), reads.carried.tolist(), strict=True
        )
        if source >= 0 and not carried
    }


def carried(graph: ProgramGraph) -> set[tuple[str, str]]:
    """The same for values of the iteration before."""
    reads, names = graph.reads, graph.kernels.names
    return {
        (names[source], names[target])
        for source, target, is_carried in zip(
            reads.source.tolist(), reads.target.tolist(), reads.carried.tolist(), strict=True
        )
        if source >= 0 and is_carried
    }


def arrows(graph: ProgramGraph) -> dict[tuple[str, str], int]:
    """Bytes from box to box, nothing folded; boxes as "row phase"."""

    def name(number: int) -> str:
        found = graph.boxes[number]
        return f"{path(graph, found.row)} {PHASES[found.phase]}"

    all_arrows = graph.arrows
    return {
        (name(source), name(target)): size
        for source, target, size in zip(
            all_arrows.source.tolist(), all_arrows.target.tolist(), all_arrows.bytes.tolist(), strict=True
        )
    }
