"""What XLA itself says of a program: a compile of its own, dumped, read without the package.

For every value before partitioning, its tiles; for every operand of every collective, which argument it is a view of,
what made it, what uses it, which results it reaches. Not its job: reading text (`xla_text`), walks (`xla_flow`), or
comparing (`checks`).
"""

from __future__ import annotations

import inspect
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from corpus.xla_flow import ELEMENTWISE, MOVING, Flow, Node
from corpus.xla_text import Array, Row, Text, Tiles, read_text, tiles_of

__all__ = ["COLLECTIVES", "Key", "Moved", "Operand", "XlaTruth", "compile_and_dump"]

COLLECTIVES = MOVING | {"all-reduce", "reduce-scatter", "ragged-all-to-all"}
_CALLERS = frozenset(("while", "conditional", "call"))

Key = tuple[str, str, str, str, tuple[int, ...]]
"""Opcode ("inside" for what enters a loop, branch or call), JAX's name, place, dtype, shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """One array a collective moves or sums.

    Attributes:
      array: its type on one device.
      argument: the argument it is a view of; "" when it is none.
      factors: the arguments that are views of, or multiplied in, the products and convolutions that make it.
      elements: arguments it is made of element by element.
      results: results it reaches element by element.
      partners: arguments that these results are made of, element by element.
      producers: (opcode, JAX's name) of what makes it.
      consumers: the same of what uses it.
      used_with: arguments that the products which use it have as operands; for what is moved and not summed, also
        those that use it behind element-wise operations.
    """

    array: Array
    argument: str
    factors: frozenset[str]
    elements: frozenset[str]
    results: frozenset[str]
    partners: frozenset[str]
    producers: frozenset[tuple[str, str]]
    consumers: frozenset[tuple[str, str]]
    used_with: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One collective of the optimized program."""

    name: str
    kind: str
    groups: str
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class XlaTruth:
    """Everything about one compile.

    Attributes:
      arguments: name -> global type, in order.
      results: names, in order.
      devices: the id of the device of each partition.
      values: the tiles of all values of one key, before partitioning.
      inputs: the tiles of each argument that XLA kept, by name.
      collectives: by the name of the optimized instruction (the start, where there is one).
      partitioned: how many collectives the partitioner made; those XLA combined or removed later are among them.
      joined: how many of the optimized ones were found there by their channel.
      before: XLA's module before partitioning, as dumped.
    """

    arguments: dict[str, Array]
    results: tuple[str, ...]
    devices: tuple[int, ...]
    values: dict[Key, list[Tiles]]
    inputs: dict[str, Tiles]
    collectives: dict[str, Moved]
    partitioned: int
    joined: int
    before: str


def compile_and_dump(function: Callable[..., Any], *arguments: Any) -> XlaTruth:
    """Compile as JAX does, with XLA's dump on, and read it."""
    before, partitioned, optimized, results = _texts(function, arguments)
    devices = _devices(arguments)
    values, inputs = _values(read_text(before), len(devices))
    moved, made, joined = _collectives(read_text(partitioned), read_text(optimized), results)
    return XlaTruth(
        arguments=_types(function, arguments),
        results=results,
        devices=devices,
        values=values,
        inputs=inputs,
        collectives=moved,
        partitioned=made,
        joined=joined,
        before=before,
    )


def _texts(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, str, str, tuple[str, ...]]:
    cached = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        lowered = function.lower(*arguments)  # type: ignore[attr-defined]
        with tempfile.TemporaryDirectory() as folder:
            options = {"xla_dump_to": folder, "xla_dump_hlo_pass_re": "shardy|spmd-partitioning"}
            optimized = lowered.compile(compiler_options=options).as_text()
            (before,) = Path(folder).rglob("*.after_shardy-xla.*")
            (partitioned,) = Path(folder).rglob("*.after_spmd-partitioning.*")
            texts = before.read_text(), partitioned.read_text()
    finally:
        jax.config.update("jax_enable_compilation_cache", cached)
    leaves = jax.tree_util.tree_flatten_with_path(lowered.out_info)[0]
    return *texts, optimized, tuple(jax.tree_util.keystr(path) for path, _ in leaves)


def _devices(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    shardings = [leaf.sharding for leaf in jax.tree.leaves(arguments) if getattr(leaf, "sharding", None) is not None]
    return tuple(device.id for device in shardings[0].mesh.devices.flat)


def _types(function: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Array]:
    """The global type of each argument under JAX's name for it: its path, after the parameter's name."""
    found = {}
    leaves = jax.tree_util.tree_flatten_with_path(arguments)[0]
    by_path = [(jax.tree_util.keystr(path[1:]), leaf) for path, leaf in leaves]
    for name, (path, leaf) in zip(_names(function, arguments), by_path, strict=True):
        found[name + path] = Array(_short(leaf.dtype), tuple(leaf.shape))
    return found


def _names(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[str]:
    parameters = list(inspect.signature(function).parameters)
    counts = [len(jax.tree.leaves(argument)) for argument in arguments]
    return [
        parameters[k] if k < len(parameters) else f"args[{k}]" for k, count in enumerate(counts) for _ in range(count)
    ]


def _short(dtype: Any) -> str:
    kind, size = jax.numpy.dtype(dtype).kind, jax.numpy.dtype(dtype).itemsize * 8
    if kind == "b":
        return "pred"
    return (
        "bf16" if dtype == jax.numpy.bfloat16 else {"f": "f", "i": "s", "u": "u", "c": "c"}.get(kind, "?") + str(size)
    )


# ---------------------------------------------------------------- before partitioning


def _values(text: Text, partitions: int) -> tuple[dict[Key, list[Tiles]], dict[str, Tiles]]:
    values: dict[Key, list[Tiles]] = defaultdict(list)
    inputs = {}
    regions = {called: row for row in text.rows.values() if row.opcode in _CALLERS for called in row.called}
    walked = {text.entry[0], *regions}
    for row in (row for row in text.rows.values() if row.home in walked):
        shardings = row.shardings or ("",) * len(row.arrays)
        tiles = [tiles_of(s, len(a.shape), partitions) for s, a in zip(shardings, row.arrays, strict=True)]
        if row.opcode == "parameter" and row.home == text.entry[0]:
            inputs[row.op_name] = tiles[0]
            continue
        if row.opcode in ("tuple", "get-tuple-element"):
            continue
        kind, owner = ("inside", regions[row.home]) if row.opcode == "parameter" else (row.opcode, row)
        for array, tile in zip(row.arrays, tiles, strict=True):
            values[kind, owner.op_name, owner.place, array.dtype, array.shape].append(tile)
    return dict(values), inputs


# ---------------------------------------------------------------- after partitioning


def _collectives(partitioned: Text, optimized: Text, results: tuple[str, ...]) -> tuple[dict[str, Moved], int, int]:
    part, final = Flow(partitioned), Flow(optimized)
    by_channel: dict[int, list[Row]] = defaultdict(list)
    made = [row for row in partitioned.rows.values() if row.opcode in COLLECTIVES]
    for row in made:
        if (channel := row.number("channel_id")) is not None:
            by_channel[channel].append(row)
    found, joined = {}, 0
    for row in optimized.rows.values():
        kind = row.opcode.removesuffix("-start")
        if kind not in COLLECTIVES:
            continue
        twins = by_channel.get(row.number("channel_id") or -1, [])
        # Only there, nothing is fused; of a combined collective just one part has its channel.
        is_twin = len(twins) == 1 and twins[0].opcode == kind and len(row.operands) == len(twins[0].operands)
        joined += is_twin
        flow, twin = (part, twins[0]) if is_twin else (final, row)
        operands = tuple(_operand(flow, twin, k, results) for k in range(len(twin.operands)))
        found[row.name] = Moved(name=row.name, kind=kind, groups=_groups(row), operands=operands)
    return found, len(made), joined


def _groups(row: Row) -> str:
    found = re.search(r"\b(?:replica_groups|source_target_pairs)=(.*?)(?:, \w+=|$)", row.rest)
    return found[1] if found else ""


def _operand(flow: Flow, row: Row, index: int, results: tuple[str, ...]) -> Operand:
    before: Node = (row.operands[index], 0)
    after: Node = (row.name, index if row.is_tuple else 0)
    elements, ends = flow.made_of(before)
    reached = flow.results(after)
    argument, users, array = flow.argument(before), flow.consumers(after), flow.rows[before[0]].arrays[0]
    # A sentence may name what needs a gathered array behind a norm, or positions behind a clamp. What a sum is for
    # stands right before it.
    is_moved = row.opcode in MOVING or array.dtype[0] in "su"
    readers = flow.consumers(after, ELEMENTWISE) if is_moved else users
    return Operand(
        array=array,
        argument=argument.op_name if argument else "",
        factors=frozenset(name for end in ends for name in _factors(flow, flow.rows[end[0]])),
        elements=_op_names(flow, elements),
        results=frozenset(results[k] for k in reached if k < len(results)),
        partners=frozenset(name for k in reached for name in _partners(flow, k)),
        producers=frozenset((flow.rows[end[0]].opcode, flow.rows[end[0]].op_name) for end in ends),
        consumers=frozenset((user.opcode, user.op_name) for user in users),
        used_with=frozenset(name for user in readers for name in _factors(flow, user)),
    )


def _factors(flow: Flow, row: Row) -> list[str]:
    if row.opcode not in ("dot", "convolution", "custom-call", "reduce", "gather", "scatter"):
        return []
    found = [flow.argument(node) for node in flow.operands(row)]
    return [argument.op_name for argument in found if argument is not None]


def _op_names(flow: Flow, names: set[str]) -> frozenset[str]:
    return frozenset(flow.rows[name].op_name for name in names)


def _partners(flow: Flow, result: int) -> frozenset[str]:
    return _op_names(flow, flow.made_of((flow.text.roots[flow.entry], result))[0])
