"""Suggests ways to lower the peak: unused axes, donation, recomputing, smaller types, host memory; all modelled.

Not its job: trying them (`CompileRecord.what_if` does, for specs).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pjit_inspect.analyze.advice.placement import counterparts, is_split
from pjit_inspect.model.memory.memory_use import LiveTable, LiveValue, MemoryKind
from pjit_inspect.model.memory.suggestion import MemorySuggestion
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh, PartitionSpec, SpecEntry, axes_of, entry_of, spec_text
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.model.words.byte_words import bytes_in_words
from pjit_inspect.model.words.layers import path_pattern, scope_pattern

_MOST, _MOST_OF_KIND = 5, 2
_LEAST = 100
"""Suggestions that save less than a hundredth of the peak are omitted."""
_HELD = ("argument", "optimizer state")
_ROOT = re.compile(r"[^\[.]*")
"""The argument that a path begins with: "params" of "params['w1']"."""
_HALVED = {"f32": "bf16", "f64": "f32"}
_KEPT: dict[MemoryKind, str] = {
    "saved for backward": "what is saved for the backward pass",
    "optimizer state": "optimizer state",
}
"""Kinds that wait for a later phase, in words."""
_OFFLOAD = "jax.checkpoint_policies.save_and_offload_only_these_names"


def find_suggestions(
    live: LiveTable,
    mesh: Mesh | None,
    graph: ProgramGraph | None,
    placed_bytes: int = 0,
    replaced: Mapping[str, Sequence[ArrayLayout]] | None = None,
    inputs: Sequence[ArrayLayout] = (),
) -> tuple[MemorySuggestion, ...]:
    """At most five changes, the largest saving first.

    Args:
      live: the buffers alive at the peak.
      mesh: the mesh of the specs.
      graph: the kernels, with their phases.
      placed_bytes: additional bytes if no temporary used the buffer of a result.
      replaced: the arguments that are returned with new values, by the name of their tree.
      inputs: the arguments that the program reads.
    """
    groups: dict[object, list[LiveValue]] = defaultdict(list)
    likes = _likes(inputs)
    for row in live:
        own = scope_pattern(path_pattern(row.name)), row.kind, row.bytes, row.spec, row.dtype, row.collective_axes
        groups[*own, likes.get(row.name)].append(row)
    found = [*_donations(replaced or {}, placed_bytes), *_recomputing(live, graph), *_smaller(live), *_offloaded(live)]
    shards = _by_root([one for rows in groups.values() for one in _sharded(rows, mesh, likes.get(rows[0].name))])
    if mesh is not None and "explicit" in mesh.axis_types:
        # With other specs JAX would trace another program: no copy of this one can check them.
        shards = [replace(one, specs={}) for one in shards]
    found += shards
    found = sorted(found, key=lambda one: (-one.saved_bytes, one.kind, one.name))
    kinds = Counter[str]()
    chosen = []
    for one in found:
        kinds[one.kind] += 1
        # Many similar suggestions would leave no room for other ways.
        if one.saved_bytes * _LEAST >= live.bytes and kinds[one.kind] <= _MOST_OF_KIND:
            chosen.append(one)
    return tuple(chosen[:_MOST])


def _named(rows: Sequence[LiveValue]) -> str:
    names = {row.name for row in rows}
    return rows[0].name if len(names) == 1 else scope_pattern(path_pattern(rows[0].name))


# ------------------------------------------------------------ axes that are not used


def _likes(inputs: Sequence[ArrayLayout]) -> dict[str, tuple[PartitionSpec, int]]:
    """The specs and numbers of pieces of the counterparts of arguments held in full; findings use the same."""
    layouts = {one.path: one for one in inputs if one.kept}
    cut = {path: (one.global_shape, is_split(one.sharding)) for path, one in layouts.items()}
    peers = counterparts(cut, [path for path, (shape, is_cut) in cut.items() if shape and not is_cut])
    found = {path: layouts[peer] for path, peer in peers.items()}
    return {path: (one.spec, math.prod(one.sharding.tiles)) for path, one in found.items() if one.spec and one.sharding}


def _sharded(
    rows: list[LiveValue], mesh: Mesh | None, like: tuple[PartitionSpec, int] | None
) -> Iterator[MemorySuggestion]:
    """Suggests the sharding of the counterpart `like`, or else a split over unused axes that divide, largest first."""
    first = rows[0]
    if mesh is None or first.spec is None or len(first.spec) != len(first.local_shape):
        return
    sizes = dict(zip(mesh.axis_names, mesh.shape, strict=True))
    # A value gathered or summed over an axis just before or after is whole there because it is needed whole.
    free = {axis: size for axis, size in sizes.items() if axis not in first.collective_axes}
    spec, parts, used = _spread(first.spec, first.local_shape, free) if like is None else _as(*like)
    if not used:
        return
    size, name = sum(row.bytes for row in rows), _named(rows)
    then = size // parts
    paths = [row.name for row in rows] if first.kind in _HELD else []
    times = f"{len(rows)} x " if len(rows) > 1 else ""
    yield MemorySuggestion(
        kind="shard",
        name=name,
        count=len(rows),
        bytes=size,
        saved_bytes=size - then,
        sentence=(
            f"{times}{name} {spec_text(first.spec)}: {bytes_in_words(size)}, {bytes_in_words(then)} if also split over "
            f"{' and '.join(used)}: {spec_text(spec)} (modelled)"
        ),
        specs=dict.fromkeys(paths, spec),
    )


def _by_root(found: Sequence[MemorySuggestion]) -> list[MemorySuggestion]:
    """Merges suggestions for arrays of one argument, which can be checked at once."""
    roots: dict[str, list[MemorySuggestion]] = defaultdict(list)
    for one in found:
        roots[_ROOT.match(one.name)[0] if one.specs else one.name].append(one)  # pyright: ignore[reportOptionalSubscript]
    return [one for name, own in roots.items() for one in ([_joined(name, own)] if own[0].specs else own)]


def _joined(name: str, own: Sequence[MemorySuggestion]) -> MemorySuggestion:
    if len(own) == 1:
        return own[0]
    size, saved = sum(one.bytes for one in own), sum(one.saved_bytes for one in own)
    count = sum(one.count for one in own)
    return MemorySuggestion(
        kind="shard",
        name=name,
        count=count,
        bytes=size,
        saved_bytes=saved,
        sentence=(
            f"{name}: {count:,} arrays of {bytes_in_words(size)}, {bytes_in_words(size - saved)} if also split over "
            f"axes that do not split them (modelled)"
        ),
        specs={path: spec for one in own for path, spec in one.specs.items()},
    )


def _as(like: PartitionSpec, parts: int) -> tuple[PartitionSpec, int, tuple[str, ...]]:
    return like, parts, tuple(axis for entry in like for axis in axes_of(entry))


def _spread(
    spec: PartitionSpec, shape: tuple[int, ...], sizes: dict[str, int]
) -> tuple[PartitionSpec, int, tuple[str, ...]]:
    """A spec with the axes added that are not used, each on the longest dimension that it divides."""
    used = {axis.partition(":(")[0] for entry in spec for axis in axes_of(entry)}
    left, entries, parts, added = list(shape), list(map(axes_of, spec)), 1, list[str]()
    for axis, size in sorted(sizes.items(), key=lambda pair: -pair[1]):
        fitting = [place for place, length in enumerate(left) if length % size == 0 and length >= size]
        if axis in used or size < 2 or not fitting:
            continue
        place = max(fitting, key=lambda k: left[k])
        left[place] //= size
        entries[place] = (*entries[place], axis)
        parts *= size
        added.append(axis)
    whole: tuple[SpecEntry, ...] = tuple(map(entry_of, entries))
    return whole, parts, tuple(added)


# ------------------------------------------------------------ donation, types, recomputing


def _donations(replaced: Mapping[str, Sequence[ArrayLayout]], placed_bytes: int) -> Iterator[MemorySuggestion]:
    """Results that could reuse the arguments they replace, if these were donated.

    Temporaries that use the unwritten results' buffers now then need other memory.
    """
    taken = [one for own in replaced.values() for one in own if one.bytes_per_device and one.is_on_device]
    size = sum(one.bytes_per_device or 0 for one in taken)
    if not taken:
        return
    roots = ", ".join(sorted(replaced))
    saved = max(0, size - placed_bytes)
    results, arguments = (
        ("1 result", "an argument of its") if len(taken) == 1 else (f"{len(taken)} results", "arguments of their")
    )
    yield MemorySuggestion(
        kind="donate",
        name=roots,
        count=len(taken),
        bytes=size,
        saved_bytes=saved,
        sentence=(
            f"donate {roots}: {results} of {bytes_in_words(size)} could lie in {arguments} shape and spec; "
            f"that saves {bytes_in_words(saved)}{', as temporaries lie in them now' if saved < size else ''} (modelled)"
        ),
    )


def _smaller(live: LiveTable) -> Iterator[MemorySuggestion]:
    """Values saved for the backward pass, and optimizer state, in half as many bits.

    Excludes values that already have fewer bits in the program: CPUs compute bfloat16 as float32.
    """
    for kind, what in _KEPT.items():
        for wide, narrow in _HALVED.items():
            rows = [row for row in live if (row.kind, row.dtype, row.written_dtype) == (kind, wide, wide)]
            if not rows:
                continue
            size = sum(row.bytes for row in rows)
            yield MemorySuggestion(
                kind="smaller type",
                name=what,
                count=len(rows),
                bytes=size,
                saved_bytes=size // 2,
                sentence=(
                    f"{what} as {narrow}: {_arrays(rows)} of {bytes_in_words(size)} as {wide} would be "
                    f"{bytes_in_words(size // 2)} (modelled)"
                ),
            )


def _offloaded(live: LiveTable) -> Iterator[MemorySuggestion]:
    """Values saved for the backward pass in host memory, except those of one layer.

    Excludes optimizer state: ahead of time for a v5e, XLA fetched all of it before the first update (observed: with 8
    GiB of state in host memory, a peak of 16 GiB became 19).
    """
    rows = [row for row in live if row.kind == "saved for backward" and not row.space]
    size, kept = sum(row.bytes for row in rows), _of_one_layer(rows)
    if kept is None:
        return
    yield MemorySuggestion(
        kind="offload",
        name=_KEPT["saved for backward"],
        count=len(rows),
        bytes=size,
        saved_bytes=size - kept,
        sentence=(
            f"{_KEPT['saved for backward']} in host memory ({_OFFLOAD}): {_arrays(rows)} of {bytes_in_words(size)}, of "
            f"which at least those of one layer stay; {bytes_in_words(2 * size)} cross to the host and back in each "
            f"call (modelled)"
        ),
    )


def _arrays(rows: Sequence[LiveValue]) -> str:
    return "1 array" if len(rows) == 1 else f"{len(rows):,} arrays"


def _of_one_layer(saved: Sequence[LiveValue]) -> int | None:
    """Bytes of the layer that saves most for the backward pass; None where there are no layers."""
    layers = Counter[object]()
    for row in saved:
        # A loop's turns are layers.
        layers[row.layers[:1]] += row.bytes // (row.turns or 1)
    if len(layers) < 2 and not any(row.turns for row in saved):
        return None
    return max(layers.values())


def _recomputing(live: LiveTable, graph: ProgramGraph | None) -> Iterator[MemorySuggestion]:
    """Recomputes values saved for the backward pass, except those of one layer, by a second forward pass."""
    saved = [row for row in live if row.kind == "saved for backward"]
    size, kept = sum(row.bytes for row in saved), _of_one_layer(saved)
    if kept is None:
        return
    flops = _forward_flops(graph)
    cost = "" if flops is None else f", for at most {flops:.3g} FLOPs more"
    yield MemorySuggestion(
        kind="recompute",
        name="what is saved for the backward pass",
        count=len(saved),
        bytes=size,
        saved_bytes=max(0, size - kept),
        sentence=(
            f"jax.checkpoint around each layer: {len(saved)} buffers of {bytes_in_words(size)} are saved for the "
            f"backward pass, of which at least those of one layer stay{cost} (modelled)"
        ),
        flops=flops,
    )


def _forward_flops(graph: ProgramGraph | None) -> int | None:
    """Floating-point operations of the forward pass; None where they are not known."""
    if graph is None or not graph.is_differentiated:
        return None
    forward = [box.flops_per_call for box in graph.boxes if PHASES[box.phase] == "forward"]
    return None if None in forward else sum(flops for flops in forward if flops is not None)
