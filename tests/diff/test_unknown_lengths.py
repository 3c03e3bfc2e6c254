"""What is in a loop of unknown length has bytes in a comparison: those of one turn, which is said."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from causes.meshes import array

import pjit_inspect
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.view.diff.rows import SideWriter, diff_lists
from pjit_inspect.view.diff.status import touched_once
from pjit_inspect.view.inspector.shared_tables import SharedTables

ONCE = "is in loops of unknown length counts once"
KIB = 1024


def solve(x, w):
    def turn(carry):
        x, _ = carry
        new = jnp.tanh(x @ w)
        return new, jnp.max(jnp.abs(new - x))

    return jax.lax.while_loop(lambda carry: carry[1] > 1e-3, turn, (x, jnp.float32(1)))


def twice(x, w):
    return jnp.tanh(jnp.tanh(x @ w) @ w)


@pytest.fixture(scope="module")
def arrays() -> tuple[jax.ShapeDtypeStruct, ...]:
    return array((64, 16), "data", None), array((16, 16), "data", "model")


@pytest.fixture(scope="module")
def records(arrays) -> tuple[pjit_inspect.CompileRecord, pjit_inspect.CompileRecord]:
    x, w = arrays
    f = jax.jit(solve)
    return pjit_inspect.inspect(f, x, w), pjit_inspect.inspect(f, x, array((16, 16), None, None))


@pytest.fixture(scope="module")
def diff(records) -> pjit_inspect.Diff:
    return pjit_inspect.diff(*records)


def test_a_collective_that_is_gone_had_the_bytes_of_a_turn(diff):
    # By hand: each of four devices gathers f32[32, 16] from pieces of 32 x 4, and sends its own to three others.
    turn = 32 * 4 * 4 * 3
    inside = [row for row in diff.collectives.removed if row.kind == "all-gather" and row.count is None]
    assert [row.least_sent_bytes for row in inside] == [turn]
    rows = [
        line for line in str(diff).splitlines() if line.startswith("-") and "all-gather" in line and "model" in line
    ]
    assert len(rows) == 1
    assert rows[0].split()[-3:] == [f"{turn / KIB:.2f}", "-", f"-{turn / KIB:.2f}"]
    assert ONCE in " ".join(str(diff).split())


def test_the_lists_of_the_page_say_the_same(diff, records):
    shared = SharedTables()
    before, after = (SideWriter(record.report, None, shared, None) for record in records)
    tables = {"collectives": diff.collectives, "kernels": diff.kernels, "arguments": diff.arguments}
    lists = diff_lists(tables, {}, (before, after), shared)
    notes = {name: found["note"] for name, found in lists.items()}
    assert notes == {"collectives": f"What {ONCE}.", "kernels": f"What {ONCE}.", "arguments": ""}


def test_nothing_is_said_of_loops_where_there_are_none(arrays):
    x, w = arrays
    f = jax.jit(twice)
    other = pjit_inspect.diff(pjit_inspect.inspect(f, x, w), pjit_inspect.inspect(f, x, array((16, 16), None, None)))
    assert ONCE not in " ".join(str(other).split())


@pytest.mark.parametrize(("count", "touched"), [(None, 12), (0, 0), (1, 12), (5, 60)])
def test_a_kernel_of_unknown_number_counts_once_and_one_that_never_runs_not_at_all(count, touched):
    kernel = Fusion(kind="loop", name="fusion", instructions=(), bytes_read=8, bytes_written=4, count=count)
    assert touched_once(kernel) == touched


def test_bytes_that_are_not_known_are_not_nothing():
    assert touched_once(Fusion(kind="loop", name="fusion", instructions=(), bytes_read=None, bytes_written=4)) is None
