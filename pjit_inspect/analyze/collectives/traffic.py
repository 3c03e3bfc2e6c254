"""How many bytes a collective sends (modelled), and the totals per mesh axis.

All formulas are those of a ring: each device sends to one neighbour, and no link carries more than it must. n is the
size of a group, V the bytes of the operands on one device. Not its job: how long it takes.

*Source*: "How to scale your model", chapter on sharded matrices (https://jax-ml.github.io/scaling-book/sharding).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pjit_inspect.model.report.collective import AxisTotal, Collective

__all__ = ["RING", "total_by_axes", "wire_bytes"]

RING: dict[str, Callable[[int, int], int]] = {
    "all-gather": lambda v, n: v * (n - 1),
    "reduce-scatter": lambda v, n: _share(v * (n - 1), n),
    "all-reduce": lambda v, n: _share(2 * v * (n - 1), n),
    "all-to-all": lambda v, n: _share(v * (n - 1), n),
    "ragged-all-to-all": lambda v, n: _share(v * (n - 1), n),
    "collective-permute": lambda v, n: v,
    "collective-broadcast": lambda v, n: v,
}
"""Kind -> bytes the busiest device sends, from V and n. An all-gather passes every other shard on once; a
reduce-scatter passes on all but its own share; an all-reduce is one of each over the same bytes; an all-to-all keeps
its own share; a permute and a broadcast send everything once. Rounded up to whole bytes."""


def _share(amount: int, parts: int) -> int:
    return -(-amount // parts)


def wire_bytes(kind: str, payload_bytes: int, group_size: int) -> int:
    """Bytes the busiest device sends each time the collective runs (modelled: `RING`).

    0 for a group of one device. For a collective-permute, `group_size` is 2 when any pair moves data, else 1.
    Raises `KeyError` for a kind without a formula.
    """
    return RING[kind](payload_bytes, group_size) if group_size > 1 else 0


def total_by_axes(collectives: Iterable[Collective], devices: int = 0) -> tuple[AxisTotal, ...]:
    """One total for each set of mesh axes, most bytes sent first.

    `devices` is how many take part in the program, 0 when that is unknown. Collectives that run an unknown number of
    times count once.
    """
    by_axes: dict[tuple[int, tuple[str, ...] | None], list[Collective]] = {}
    for collective in collectives:
        # Axes of the same name in two meshes are two things.
        mesh = collective.mesh if collective.axes else 0
        by_axes.setdefault((mesh, collective.axes), []).append(collective)
    totals = [_total(mesh, axes, rows, devices) for (mesh, axes), rows in by_axes.items()]
    return tuple(sorted(totals, key=lambda t: (-t.sent_bytes, t.axes is None, t.axes or (), t.mesh)))


def _total(mesh: int, axes: tuple[str, ...] | None, rows: list[Collective], devices: int) -> AxisTotal:
    counts = [row.count for row in rows]
    runs = [1 if count is None else count for count in counts]
    return AxisTotal(
        axes=axes,
        mesh=mesh,
        collectives=len(rows),
        runs=None if None in counts else sum(runs),
        payload_bytes=sum(row.payload_bytes * run for row, run in zip(rows, runs, strict=True)),
        sent_bytes=sum(row.wire_bytes * run for row, run in zip(rows, runs, strict=True)),
        is_bound=any(_may_be_skipped(row) or not _loads_all_alike(row, devices) for row in rows),
    )


def _may_be_skipped(row: Collective) -> bool:
    return row.count is not None and row.count_min != row.count


def _loads_all_alike(row: Collective, devices: int) -> bool:
    """Whether every device of the program sends as much as the busiest."""
    if row.kind == "collective-permute":
        senders = {source for source, target in row.groups if source != target}
        return not senders or len(senders) == (devices or len({place for pair in row.groups for place in pair}))
    if row.kind == "collective-broadcast":
        return False
    # Without the number of devices, groups of one size are all there is to go by.
    return len({len(group) for group in row.groups}) <= 1 and devices in (0, sum(map(len, row.groups)))
