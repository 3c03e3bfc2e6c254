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
from pjit_inspect.errors import CaptureError, ChangeError
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
    asked: Any = record.state.analyses.pass_steps
    steps = asked.dumped
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
    assert "<iframe" in page
    assert record.passes.to_csv().startswith("number,name,pipeline,")


def test_what_a_pass_changed_is_listed_by_instruction(record: pi.CompileRecord) -> None:
    passes: Any = record.passes
    (combiner,) = passes.named("cpu-all-reduce-combiner")
    changed = {line.name: line for line in passes.changed(combiner.number)}
    made = [line for line in changed.values() if line.after and not line.before and " all-reduce(" in line.after]
    gone = [line for line in changed.values() if line.before and not line.after]
    assert len(made) == 1
    assert made[0].where == f"test_passes.py:{LAYER}"
    assert "metadata" not in made[0].after
    assert len(gone) == 4
    assert all(" all-reduce(" in line.before for line in gone)
    assert passes.changed(combiner.number, since=combiner.number) == ()
    with pytest.raises(ValueError, match="no pass 9999"):
        passes.changed(9999)


def test_a_stage_has_every_collective_with_what_it_was_made_of(record: pi.CompileRecord) -> None:
    partitioned, combined = record.passes.stages
    assert [len(partitioned.collectives), len(combined.collectives)] == [7, 4]
    assert sorted(len(own.parents) for own in combined.collectives) == [1, 1, 1, 4]
    assert sorted(place for own in combined.collectives for place in own.parents) == list(range(7))
    for own in combined.collectives:
        parents = [partitioned.collectives[place] for place in own.parents]
        assert {(one.life, one.axes) for one in parents} == {(own.life, own.axes)}
        assert own.payload_bytes == sum(one.payload_bytes or 0 for one in parents)
    assert {own.axes for own in combined.collectives} == {("model",), ("data",)}


def test_a_kernel_has_the_operations_that_were_fused(record: pi.CompileRecord) -> None:
    fused = [record.passes.life(row) for row in record.fusions]
    assert all(life is not None and life.events[0].kind == "made" for life in fused)
    relu = [str(life) for life in fused if "`max`" in str(life)]
    assert relu
    assert all(": fusion made of: " in words for words in relu)
    copies = [life for life in record.passes.kernels if life.kind == "copy"]
    assert {life.events[0].pass_name for life in copies} <= {"layout-assignment", "copy-insertion"}


def test_a_collective_has_its_life_once_passes_were_asked_for(record: pi.CompileRecord) -> None:
    assert record.passes
    for row in record.collectives:
        assert row.life.startswith("pass ")
    assert "4 combined into one" in record.collectives.to_json()
    assert "XLA's passes: pass " in str(record.explain())
    assert record.what_if(effort="full").collectives[0].life == ""


def test_passes_come_with_the_compile_of_a_copy(record: pi.CompileRecord) -> None:
    copy = record.what_if(effort="full", passes=True)
    assert [row.name for row in copy.passes] == [row.name for row in record.passes]
    with pytest.raises(ChangeError, match="effort='full'"):
        record.what_if(passes=True)
    (note,) = [str(note) for note in pi.diff(record, copy).data.notes if "XLA's passes" in str(note)]
    assert note == f"XLA's passes: both programs have the same operations after each of {len(copy.passes)} passes"


def test_the_first_pass_after_which_programs_differ_is_said(record: pi.CompileRecord) -> None:
    assert record.passes
    other = record.what_if(mesh={"data": 4, "model": 2}, effort="full", passes=True)
    (note,) = [str(note) for note in pi.diff(record, other).data.notes if "XLA's passes" in str(note)]
    assert re.search(r"first apart after spmd-partitioning \(pass (\d+) before, \1 after\)", note)


def test_the_page_of_a_file_has_the_texts(record: pi.CompileRecord, tmp_path: Path) -> None:
    passes: Any = record.passes
    passes.to_html(tmp_path / "passes.html")
    page = (tmp_path / "passes.html").read_text(encoding="utf-8")
    assert "XLA&#x27;s passes</title>" in page
    assert 'id="pjit-blob"' in page
    assert "default-src 'none'" in page


def test_a_record_from_a_file_says_that_it_is_not_asked(record: pi.CompileRecord, tmp_path: Path) -> None:
    record.save(tmp_path / "step.pjit")
    with pytest.raises(CaptureError, match="from a file"):
        _ = pi.load(tmp_path / "step.pjit").passes


def test_the_pass_that_can_end_the_process_is_not_dumped() -> None:
    names = ("dce", "s", "sharding-propagation", "shardy", "shardy-xla", "spmd-partitioning", "shape-canonicalizer")
    assert all(re.search(ALL_PASSES, name) for name in names)
    assert not re.search(ALL_PASSES, "shardy-verbose")
