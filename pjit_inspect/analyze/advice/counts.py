"""Counts bytes sent, products and memory of a device in the program that XLA's partitioner made.

Counted before optimization: XLA later combines, shares and removes collectives, and only differences between two
programs are meaningful. Loops count as often as they run. A loop of unknown length takes one turn, and its share per
turn is kept separately. Not its job: asking XLA (`handles.trials`), or counting compiled programs
(`compiled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.advice.turns import ComparedTurns, LoopsOf, TurnFigure
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.collectives.traffic import wire_bytes
from pjit_inspect.analyze.graph.work import product_flops
from pjit_inspect.analyze.program.loops import count_runs
from pjit_inspect.analyze.program.unknown_loops import LoopName, unknown_loops
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.report.collective import Collective

_NO_WORK = operations("idle", "made", "region", "view", "broadcast", "collective") | {"dynamic-slice"}
"""Opcodes of no work; communication is counted separately."""

Moved = tuple[str, tuple[str, ...] | None, tuple[int, ...], int, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTurn:
    """The share of one turn of a loop of unknown length; fields as in `Counts`."""

    loop: LoopName
    bytes: int
    products: int
    made_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """One program after partitioning, per device and call.

    Attributes:
      bytes: bytes sent.
      products: operations in all matrix products and convolutions.
      made_bytes: bytes produced by all operations except views and collectives.
      held_bytes: bytes of the arguments' pieces.
      moved: each collective's name by JAX, axes and shape of its array, as in `Collective`, bytes sent for it, and its
        channel.
      results: bytes of the piece of each result.
      turns: the share of one turn of each loop of unknown length; the other figures include one turn of each.
    """

    bytes: int
    products: int
    made_bytes: int
    held_bytes: int
    moved: tuple[Moved, ...] = ()
    results: tuple[int, ...] = ()
    turns: tuple[OneTurn, ...] = ()

    def compared(self, after: Counts) -> ComparedTurns | None:
        """The program beside a changed one; None where it is not known which loop of unknown length is which."""
        return ComparedTurns.of(self._figures, after._figures)

    @property
    def _figures(self) -> tuple[TurnFigure, ...]:
        return tuple(
            TurnFigure(total=getattr(self, name), per_turn=tuple((own.loop, getattr(own, name)) for own in self.turns))
            for name in ("bytes", "products", "made_bytes")
        )


def count_partitioned(
    module: HloModule, mesh: Mesh | None, device_ids: Sequence[int] | None, *, is_cpu: bool
) -> Counts:
    """The counts of a program made by XLA's partitioner.

    Args:
      module: the program right after partitioning.
      mesh: as for `find_collectives`.
      device_ids: as for `find_collectives`.
      is_cpu: whether XLA's CPU backend compiles it; others turn a sum that is cut afterwards into a reduce-scatter.
    """
    rows = tuple(find_collectives(module, mesh, device_ids))
    loops = LoopsOf(module)
    sizes = [_sent(module, row, is_cpu) for row in rows]
    moved = tuple(
        (row.op_name, row.axes, row.local_shape, size * _once(loops, row), row.channel_id)
        for row, size in zip(rows, sizes, strict=True)
    )
    products, made = _work(module, loops)
    each = loops.add_up((loops.turns_of_row(row), size) for row, size in zip(rows, sizes, strict=True) if loops)
    return Counts(
        bytes=sum(size for *_, size, _ in moved),
        products=products.total,
        made_bytes=made.total,
        held_bytes=_held(module),
        moved=moved,
        results=_results(module),
        turns=tuple(
            OneTurn(loop=loop, bytes=size, products=product, made_bytes=own)
            for (loop, size), (_, product), (_, own) in zip(
                each.per_turn, products.per_turn, made.per_turn, strict=True
            )
        ),
    )


def _once(loops: LoopsOf, row: Collective) -> int:
    """The number of times a collective runs if every loop of unknown length takes one turn."""
    return sum(loops.turns_of_row(row).values()) if loops else 1 if row.count is None else row.count


def _sent(module: HloModule, row: Collective, is_cpu: bool) -> int:
    wire, payload = row.wire_bytes or 0, row.payload_bytes or 0
    if is_cpu or row.kind != "all-reduce" or len(row.instructions) != 1:
        return wire
    instruction = module.find(row.instructions[0])
    is_cut = (
        instruction is not None
        and instruction.users
        and all(user.opcode == "dynamic-slice" for user in instruction.users)
    )
    size = max((len(group) for group in row.groups), default=1)
    return wire_bytes("reduce-scatter", payload, size) if is_cut else wire


def _work(module: HloModule, loops: LoopsOf) -> tuple[TurnFigure, TurnFigure]:
    """Operations of the products, and bytes that operations make."""
    is_free = module.is_opcode(_NO_WORK)
    sizes = np.where(is_free, 0, np.maximum(module.result_bytes, 0))
    if loops:
        flops = _product_flops(module)
        return loops.add_up((loops.turns_of(index), own) for index, own in flops), loops.made(sizes)
    times = _times(module)
    return TurnFigure(total=_products(module, times)), TurnFigure(total=int((sizes * times).sum()))


def product_work(module: HloModule) -> int:
    """Operations in all products and convolutions on one device; an unknown number of runs counts as one."""
    return _products(module, _times(module))


def has_unknown_runs(module: HloModule) -> bool:
    """True if a product or convolution is in a loop of unknown length."""
    if not unknown_loops(module):
        return False
    runs = count_runs(module)
    return any(runs[int(module.instructions.computation[index])].most is None for index, _ in _product_flops(module))


def _times(module: HloModule) -> np.ndarray:
    runs = np.array([1 if own.most is None else own.most for own in count_runs(module)], float)
    return runs[module.instructions.computation]


def _products(module: HloModule, times: np.ndarray) -> int:
    return int(sum(own * times[index] for index, own in _product_flops(module)))


def _product_flops(module: HloModule) -> list[tuple[int, int]]:
    indices = module.with_opcode("dot", "convolution").tolist()
    return [(index, product_flops(module, index) or 0) for index in indices]


def _held(module: HloModule) -> int:
    entry = module.computation(module.entry)
    return sum(own.shape.bytes or 0 for own in entry if own.opcode == "parameter")


def _results(module: HloModule) -> tuple[int, ...]:
    root = next(own for own in module.computation(module.entry) if own.is_root)
    return tuple(part.bytes or 0 for part in (root.shape.elements or (root.shape,)))
