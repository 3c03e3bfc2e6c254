"""Counts bytes sent, products and memory of a device in the program that XLA's partitioner made.

Counted before optimization: XLA later combines, shares and removes collectives, and only differences between two
programs are meaningful. Loops count as often as they run. A loop of unknown length takes one turn, and its share per
turn is kept separately. Not its job: asking XLA (`suggest`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.collectives.traffic import wire_bytes
from pjit_inspect.analyze.graph.work import product_flops
from pjit_inspect.analyze.program.loops import count_runs
from pjit_inspect.analyze.program.phases import LATER
from pjit_inspect.analyze.program.unknown_loops import LoopName, unknown_loops
from pjit_inspect.analyze.suggest.turns import ComparedTurns, LoopsOf, TurnFigure
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.suggestion import Checked

_NO_WORK = operations("idle", "made", "region", "view", "broadcast", "collective") | {"dynamic-slice"}
"""Opcodes of no work; communication is counted separately."""
_MORE_PRODUCTS, _MORE_MADE = 1.1, 1.25
"""Limits on products and bytes made, relative to before; above them a change trades one cost for another."""

Moved = tuple[str, tuple[str, ...] | None, tuple[int, ...], int]
Key = tuple[str, str, tuple[str, ...] | None, tuple[int, ...]]


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
      forward_bytes, backward_bytes: bytes sent; backward includes everything from differentiation, recomputation too.
      by_kind: the same for each kind of collective.
      products: operations in all matrix products and convolutions.
      made_bytes: bytes produced by all operations except views and collectives.
      held_bytes: bytes of the arguments' pieces.
      channels: description of a collective (kind, JAX's name, axes, shape) -> the channels of the collectives it fits.
      moved: each collective's name by JAX, axes and shape of its array, as in `Collective`, and bytes sent for it.
      results: bytes of the piece of each result.
      turns: the share of one turn of each loop of unknown length; the other figures include one turn of each.
    """

    forward_bytes: int
    backward_bytes: int
    by_kind: tuple[tuple[str, int], ...]
    products: int
    made_bytes: int
    held_bytes: int
    channels: dict[Key, tuple[int | None, ...]]
    turns: tuple[OneTurn, ...] = ()
    moved: tuple[Moved, ...] = ()
    results: tuple[int, ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes sent."""
        return self.forward_bytes + self.backward_bytes

    def compared(self, after: Counts) -> ComparedTurns | None:
        """The program beside a changed one; None where it is not known which loop of unknown length is which."""
        return ComparedTurns.of(self._figures, after._figures)

    def traded(self, after: Counts) -> tuple[ComparedTurns, Checked] | None:
        """As `compared`, with the bytes sent by both; None also if a device then multiplies, or makes, much more.

        That trades one cost for another.
        """
        compared = self.compared(after)
        if compared is None or compared.products.may_grow(_MORE_PRODUCTS) or compared.made.may_grow(_MORE_MADE):
            return None
        return compared, Checked(
            before_bytes=self.bytes,
            after_bytes=after.bytes,
            before_by_kind=self.by_kind,
            after_by_kind=after.by_kind,
            per_turn=compared.sent.rows[1:],
        )

    @property
    def _figures(self) -> tuple[TurnFigure, ...]:
        return tuple(
            TurnFigure(total=getattr(self, name), per_turn=tuple((own.loop, getattr(own, name)) for own in self.turns))
            for name in ("bytes", "products", "made_bytes")
        )

    def channels_not_in(self, other: Counts) -> frozenset[int]:
        """The channels of the collectives that another program does not have, or has fewer of."""
        gone = (own[len(other.channels.get(key, ())) :] for key, own in self.channels.items())
        return frozenset(channel for channels in gone for channel in channels if channel is not None)


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
    sent = Counter[str]()
    moved: list[Moved] = []
    backward = 0
    channels: dict[Key, tuple[int | None, ...]] = {}
    for row in rows:
        size = _sent(module, row, is_cpu) * _once(loops, row)
        sent[row.kind] += size
        moved.append((row.op_name, row.axes, row.local_shape, size))
        backward += size if row.phase in LATER else 0
        key = (row.kind, row.op_name, row.axes, row.local_shape)
        channels[key] = (*channels.get(key, ()), row.channel_id)
    products, made = _work(module, loops)
    each = loops.add_up((loops.turns_of_row(row), _sent(module, row, is_cpu)) for row in rows if loops)
    return Counts(
        forward_bytes=sent.total() - backward,
        backward_bytes=backward,
        by_kind=tuple(sorted((kind, size) for kind, size in sent.items() if size)),
        products=products.total,
        made_bytes=made.total,
        held_bytes=_held(module),
        channels=channels,
        moved=tuple(moved),
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
