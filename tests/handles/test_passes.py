"""XLA's passes over a step of two layers: counts as XLA's own reader counts, and a life written by hand.

The forward product of layer 0 with `w2` is summed over `model`. The four gradients of weights are summed over `data`,
and the CPU's combiner joins them.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.report.collective import KINDS
from pjit_inspect.observe.partitioner.passes import ALL_PASSES

try:
    from jaxlib._hlo import HloModule as XlaModule
except ImportError:
    from jaxlib._jax import HloModule as XlaModule


def step(params: Any, x: Any, y: Any) -> Any:
    def loss(params: Any) -> Any:
        h = x
        for w1, w2 in params:
            h = jax.nn.relu(h @ w1) @ w2  # the layer
        return jnp.mean((h - y) ** 2)

    return jax.tree.map(lambda p, d: p - 0.1 * d, params, jax.grad(loss)(params))


LAYER = next(n for n, line in enumerate(Path(__file__).read_text().splitlines(), 1) if "# the layer" in line)
DOT = f"`dot_general` (test_passes.py:{LAYER})"


@pytest.fixture(scope="module")
def record() -> pi.CompileRecord:
    mesh = auto_mesh()

    def array(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))

    layer = array((64, 128), None, "model"), array((128, 64), "model", None)
    return pi.inspect(jax.jit(step), [layer, layer], array((32, 64), "data", None), array((32, 64), "data", None))


def counted_by_xla(content: bytes) -> tuple[int, dict[str, int], int, int]:
    """Instructions, collectives by kind, fusions and copies, as XLA's reader has them."""
    module = XlaModule.from_serialized_hlo_module_proto(content)
    if not hasattr(module.computations()[0], "instructions"):
        pytest.skip("this jaxlib lists no instructions")
    opcodes = Counter(
        _spelled(own.opcode) for computation in module.computations() for own in computation.instructions()
    )
    kinds = {kind: n for kind in KINDS if (n := opcodes[kind] + opcodes[f"{kind}-start"])}
    return opcodes.total(), kinds, opcodes["fusion"], opcodes["copy"] + opcodes["copy-start"]


def _spelled(opcode: Any) -> str:
    """XLA's `kAllReduceStart` as it prints it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", opcode.name.removeprefix("k")).lower()


def test_counts_per_pass_are_those_of_xlas_own_reader(record: pi.CompileRecord) -> None:
    steps = record.state.analyses.pass_steps.dumped
    assert len(record.passes) >= 10
    for row in record.passes:
        own = row.instructions_after, dict(row.collectives_after), row.fusions_after, row.copies_after
        assert own == counted_by_xla(steps.read(steps.steps[row.number])), row
    for before, after in zip(record.passes, record.passes[1:], strict=False):
        assert before.number < after.number
        assert (before.instructions_after, before.collectives_after) == (
            after.instructions_before,
            after.collectives_before,
        )


def test_the_life_of_an_all_reduce_from_its_product_to_the_end(record: pi.CompileRecord) -> None:
    partitioned = next(row for row in record.passes if row.collectives_after)
    (combiner,) = record.passes.named("cpu-all-reduce-combiner")
    assert partitioned.name == "spmd-partitioning"
    combined = next(row for row in record.collectives if row.operands == 4)
    single = [row for row in record.collectives if row.operands == 1]
    assert str(record.passes.life(combined)).splitlines() == [
        f"pass {partitioned.number}, spmd-partitioning: all-reduce made for: 4 x {DOT}",
        f"pass {combiner.number}, cpu-all-reduce-combiner: 4 combined into one: 4 x {DOT}",
    ]
    assert len(single) == 3
    for row in single:
        made = f"pass {partitioned.number}, spmd-partitioning: all-reduce made for: {DOT}"
        assert str(record.passes.life(row)) == made
    assert record.passes.removed == ()


def test_numbers_of_operations_are_those_of_products(record: pi.CompileRecord) -> None:
    ids = [event.ids for life in record.passes.lives for event in life.events if event.kind == "made"]
    assert sorted(map(len, ids)) == [1, 1, 1, 4]
    assert len({number for own in ids for number in own}) == 7


def test_the_first_step_is_the_program_before_optimization(record: pi.CompileRecord) -> None:
    first = record.hlo_before
    assert len(first) == record.passes[0].instructions_before
    assert not any(opcode in KINDS for opcode in first.opcodes)
    assert any(name.endswith("/dot_general") for name in first.op_names)
    assert not any("#" in name for name in first.op_names)


def test_nothing_is_left_and_flags_are_untouched(record: pi.CompileRecord) -> None:
    flags, options = os.environ.get("XLA_FLAGS"), dict(record.data.flags)
    assert record.passes
    own = f"pjit_inspect_partitioner_{os.getpid()}_"
    homes = (Path("/dev/shm"), Path(tempfile.gettempdir()))
    assert [path for home in homes if home.is_dir() for path in home.iterdir() if path.name.startswith(own)] == []
    assert (os.environ.get("XLA_FLAGS"), dict(record.data.flags)) == (flags, options)


def test_passes_are_shown_as_text_and_page(record: pi.CompileRecord) -> None:
    passes: Any = record.passes
    shown = passes.show()
    text, page = repr(shown), shown._repr_mimebundle_()["text/html"]
    assert "passes changed step; 4 collectives at the end" in text
    assert "cpu-all-reduce-combiner" in text
    assert "4 combined into one" in text
    assert "Joins small all-reduces into one." in page
    assert record.passes.to_csv().startswith("number,name,pipeline,")


def test_a_record_from_a_file_says_that_it_is_not_asked(record: pi.CompileRecord, tmp_path: Path) -> None:
    record.save(tmp_path / "step.pjit")
    with pytest.raises(CaptureError, match="from a file"):
        _ = pi.load(tmp_path / "step.pjit").passes


def test_the_pass_that_can_end_the_process_is_not_dumped() -> None:
    names = ("dce", "s", "sharding-propagation", "shardy", "shardy-xla", "spmd-partitioning", "shape-canonicalizer")
    assert all(re.search(ALL_PASSES, name) for name in names)
    assert not re.search(ALL_PASSES, "shardy-verbose")
