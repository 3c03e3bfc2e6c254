"""What is called counted adds up to XLA's own figures: memory that several values share counts once.

Each program is checked against `compiled.memory_analysis()`, and against sums over XLA's buffer assignment that are
made here, byte range by byte range.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.analyze.memory.occupancy import occupancy_of, value_keys
from pjit_inspect.model.memory.buffer_assignment import Allocation, AssignedValue, BufferAssignment

MIB = 1 << 20
BIG = 1 << 20


def shaped(*shape: int, dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)


def product(x: Any, y: Any) -> Any:
    return x @ y + 1.0


def looped(x: Any) -> Any:
    y = jnp.exp(x)
    return y * jax.lax.fori_loop(0, 8, lambda i, s: s + y[i * (BIG // 8)], 0.0)


def trained(weights: Any, x: Any) -> Any:
    def loss(weights: Any) -> Any:
        h = x
        for w in weights:
            h = jnp.tanh(h @ w)
        return (h * h).sum()

    return [w - 0.1 * g for w, g in zip(weights, jax.grad(loss)(weights), strict=True)]


def scanned(weights: Any, x: Any) -> Any:
    return jax.grad(lambda ws: jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, ws)[0].sum())(weights)


def branched(x: Any, up: Any) -> Any:
    return jax.lax.cond(up, lambda x: jnp.sin(x) @ x, lambda x: x.T + 1, x)


def split() -> tuple[Any, tuple[Any, ...]]:
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    how = partial(NamedSharding, mesh)
    x = jax.ShapeDtypeStruct((1024, 512), jnp.float32, sharding=how(P("data")))
    w = jax.ShapeDtypeStruct((512, 256), jnp.float32, sharding=how(P("data")))
    return jax.jit(lambda x, w: jax.nn.softmax(x @ w)), (x, w)


SQUARES = [shaped(256, 256)] * 3
PROGRAMS: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
    "product": lambda: (jax.jit(product), (shaped(1024, 512), shaped(512, 1024))),
    "softmax": lambda: (jax.jit(jax.nn.softmax), (shaped(1024, 1024),)),
    "looped": lambda: (jax.jit(looped, donate_argnums=0), (shaped(BIG),)),
    "trained": lambda: (jax.jit(trained), (SQUARES, shaped(512, 256))),
    "donated": lambda: (jax.jit(trained, donate_argnums=0), (SQUARES, shaped(512, 256))),
    "scanned": lambda: (jax.jit(scanned), (shaped(6, 256, 256), shaped(512, 256))),
    "branched": lambda: (jax.jit(branched), (shaped(256, 256), shaped(dtype=jnp.bool_))),
    "sorted": lambda: (jax.jit(lambda x: (jnp.sort(x), jnp.argsort(x))), (shaped(4096),)),
    "updated": lambda: (
        jax.jit(lambda c, r, i: c.at[i].set(r)),
        (shaped(512, 64), shaped(64), shaped(dtype=jnp.int32)),
    ),
    "split": split,
}


def of(name: str) -> tuple[pi.CompileRecord, Any]:
    function, args = PROGRAMS[name]()
    return pi.inspect(function, *args), function.lower(*args).compile().memory_analysis()


def assignment_of(record: pi.CompileRecord) -> BufferAssignment:
    found = record.state.analyses.assignment
    assert found is not None
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_figure_contradicts_another(name: str):
    record, stats = of(name)
    use, pieces = record.memory_use, [one for one in assignment_of(record).allocations if not one.is_thread_local]
    assert use.source == "counted"
    assert use.total_bytes == sum(one.bytes for one in pieces)
    assert use.temporary_bytes == stats.temp_size_in_bytes
    assert sum(one.bytes for one in pieces if one.parameter is not None) == stats.argument_size_in_bytes
    assert use.peak_bytes == use.live.bytes == sum(use.by_kind.values()) == use.curve.peak_bytes  # type: ignore[union-attr]
    assert (use.peak_bytes or 0) <= use.total_bytes
    apart = sum(row.bytes for row in use.live if row.kind not in HELD and not row.lies_in)
    assert apart <= stats.temp_size_in_bytes
    text = " ".join(str(record.show("memory")).split())
    assert f"{stats.temp_size_in_bytes:,} B temporary" in text or stats.temp_size_in_bytes >= 1024


HELD = ("argument", "optimizer state", "result", "constant")


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_alive_is_the_union_of_the_places_where_xla_puts_it(name: str):
    """At every place of the schedule, by byte ranges, without the order in which values take memory over."""
    record, _ = of(name)
    assignment, module = assignment_of(record), record.hlo
    assert module is not None
    occupancy = occupancy_of(module, assignment)
    # Live ranges of the model, which nothing has cut short.
    ranges = occupancy.ranges
    places = {(v.instruction, v.index): (a.number, v) for a in assignment.allocations for v in a.values}
    given = [key for key in value_keys(ranges) if module.find(key[0]).opcode == "parameter"]  # type: ignore[union-attr]
    kept = {
        a.number for a in assignment.allocations if a.is_constant or (a.parameter is not None and not a.is_live_out)
    }
    expected = []
    for at in range(ranges.end + 1):
        alive: dict[int, set[tuple[int, int]]] = defaultdict(set)
        for value, key in zip(ranges.values, value_keys(ranges), strict=True):
            number, place = places[key]
            is_given = key in given and value.node in ranges.nodes(module.find(key[0]).index) and _is_entry(module, key)  # type: ignore[union-attr]
            if number in kept or (0 if is_given else value.begins) <= at <= value.ends:
                alive[number].add((place.offset, place.offset + place.bytes))
        expected.append(sum(map(union, alive.values())))
    assert occupancy.curve(lambda _: True).tolist() == expected


def _is_entry(module: Any, key: tuple[str, tuple[int, ...]]) -> bool:
    return int(module.instructions.computation[module.find(key[0]).index]) == module.entry


def union(pieces: set[tuple[int, int]]) -> int:
    size = end = 0
    for low, high in sorted(pieces):
        size += max(0, high - max(low, end))
        end = max(end, high)
    return size


def test_a_sum_that_is_written_over_its_operand_counts_once():
    """4 MiB of arguments, and 4 MiB in which `x @ y` lies first and the result then: no 12."""
    record, _ = of("product")
    use = record.memory_use
    assert (use.peak_bytes, use.total_bytes, use.temporary_bytes) == (8 * MIB, 8 * MIB, 0)
    assert [(row.kind, row.lies_in) for row in use.live if row.bytes == 4 * MIB] in (
        [("temporary", "result")],
        [("result", "")],
    )
    assert "11" not in str(record.show("memory")).splitlines()[1]


def test_softmax_takes_what_comes_in_and_out():
    """Its exponentials lie where its result is written; only what each row sums to lies apart: 1,024 x 4 bytes."""
    use = of("softmax")[0].memory_use
    # JAX 0.8 has 128 KiB more for what threads sum.
    assert 8 * MIB <= (use.peak_bytes or 0) <= 8 * MIB + (2 * 4096 if jax.__version_info__ >= (0, 9) else 1 << 18)


def test_what_xla_puts_apart_is_not_one_buffer_because_we_think_so():
    """An account in which a loop's array is copied on its way in: two pieces of memory, both alive at the loop."""
    record, _ = of("looped")
    module = record.hlo
    assert module is not None
    ranges = occupancy_of(module).ranges
    values = [
        AssignedValue(id=number, instruction=key[0], index=key[1], bytes=4, offset=0)
        for number, key in enumerate(value_keys(ranges))
    ]
    apart = tuple(Allocation(number=one.id, bytes=4, values=(one,)) for one in values)
    found = occupancy_of(module, BufferAssignment(allocations=apart))
    assert found.source == "counted"
    assert len(found.buffers) == len(values)
    assert occupancy_of(module, BufferAssignment(allocations=apart[1:2])).source == "modelled"
