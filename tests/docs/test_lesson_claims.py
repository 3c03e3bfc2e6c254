"""What a lesson says is what its cells showed: checked numbers stand in answers, and what it says to look at is there.

Not its job: running lessons (`pytest --nbval notebooks`), or their form (`test_lessons`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from code_blocks import ROOT

NOTEBOOKS = ROOT / "notebooks"
LESSONS = [path for path in sorted(NOTEBOOKS.glob("*.ipynb")) if "pjit_inspect.lesson" in path.read_text("utf-8")]
lessons = pytest.mark.parametrize("path", LESSONS, ids=[path.stem for path in LESSONS])

# Lesson, the last line of a cell -> words in what it showed.
LOOK_AT = (
    ("01_exploring_pjit", "y = %pjit mlp(x_all, W1_all, W2_all)", "No collectives", "(34 KiB on every device)"),
    (
        "01_exploring_pjit",
        "y = %pjit --view facts mlp(x_rows, W1_all, W2_all)",
        "no collectives",
        "result f32[16,32] P('X'",
    ),
    ("01_exploring_pjit", "y = %pjit fsdp_mlp(x_rows, W1_columns, W2_rows)", "asks for `P(None, None)`, but `W1` is"),
    ("01_exploring_pjit", "y = %pjit tensor_parallel_mlp(x_all, W1_columns, W2_rows)", "1 collective", "partial sum"),
    ("02_two_axes", "y = %pjit mlp(x, W1, W2)", "all over model", "{0-3} {4-7}", "128 elements are split over `model`"),
    ("02_two_axes", "y = %pjit mlp(x, W1_tiles, W2_tiles)", "compiled again", "{0 4} +3", "4 KiB over data (2)"),
    (
        "03_a_training_step",
        "weights = %pjit train_step(W1_all, W2_all, x_rows, x_rows)",
        "backward",
        "2 arrays combined",
    ),
    (
        "03_a_training_step",
        "weights = %pjit fsdp_step(W1_columns, W2_rows, x_rows, x_rows)",
        "reshard fwd",
        "Worth knowing",
    ),
    ("04_megatron", "y = %pjit mlp(x, W1_columns, W2_rows)", "`hidden @ W2`", "sums over dimension 1 of"),
    (
        "04_megatron",
        "y = %pjit mlp(x, W1_rows, W2_columns)",
        "`x @ W1`",
        "P('data', 'model')",
    ),
    ("05_rules_for_products", "y = %pjit product(columns, rows)", "These 64 elements are split over `X`"),
    ("05_rules_for_products", "y = %pjit product(rows, columns)", "Axis `X` already splits dimension 0 of the result"),
    (
        "06_rules_for_the_rest",
        "y = %pjit add(by_rows, by_columns)",
        "all-to-all",
        "Axis `X` already splits dimension 0",
    ),
    ("06_rules_for_the_rest", "y = %pjit attention(by_tokens, by_tokens, by_tokens)", "needs `k` as", "needs `v` as"),
    ("06_rules_for_the_rest", "y = %pjit --view facts smooth(row)", "2 collective-permute", "at most", "halo"),
    ("07_a_transformer", "y = %pjit layer(tensor_parallel, x)", "{0-3} {4-7}", "`W['out']`", 'W["down"]`'),
    ("07_a_transformer", "gradients = %pjit train_step(both, x)", "bwd", "fwd", "The gradient of"),
    ("07_a_transformer", "print(lost.findings[0])", "loses `data`", "P('data', None, None)"),
    (
        "09_three_axes",
        "y = %pjit mlp(W1, W2, x)",
        "8 KiB over fsdp (2), 8 KiB over model (1)",
        "P(('data', 'fsdp'), None)",
    ),
    ("10_pipelines", "y = %pjit pipeline(layers, batches)", "run 11 times", "at most", "0>2 2>4 +4"),
    ("11_from_python_to_kernels", "float(first[0, 0]), float(again[0, 0])", "Python runs (3.0, 3.0)"),
    ("11_from_python_to_kernels", "y = %pjit f(x)", "nothing to communicate", "1 fused kernel", "maximum, multiply"),
    ("11_from_python_to_kernels", "record.fusions", "1 fused kernel", "1.00 1.00 4.00"),
    (
        "11_from_python_to_kernels",
        "pi.inspect(sorted_f, x).fusions",
        "2 fused kernels",
        "1.00 1.00 2.00",
        "1.00 1.00 0.00",
    ),
    ("12_inside_xla", "%pjit step(params, x);", "1 collective", "2 arrays combined"),
    ("12_inside_xla", "[(one.name, one.collectives_before, one.collectives_after) for one in changed]", "-combiner'"),
    ("12_inside_xla", "%pjit passes step", "2 all-reduces made", "2 all-reduces combined into 1", "dce", "algsimp"),
    ("13_tiles", "y = %pjit turned(x)", "391 KiB in, 391 KiB out", "1 fused kernel"),
    ("13_tiles", 'pi.session_log()["turned"].fusions', "copy, transpose", "390.62 390.62"),
    ("13_tiles", "fit.argument_bytes, 104 * 4_096", "(425984, 425984)"),
    ("13_tiles", "bytes_on_v5e(1000, 128), bytes_on_v5e(1000, 129), 17 * 8 * 4_096", "(512000, 557056, 557056)"),
    ("13_tiles", '[one.fits("tpu:v5e").argument_bytes for one in (on_8, on_64)]', "[32768, 8192]"),
    ("13_tiles", 'both.fits("tpu:v5e").argument_bytes', "4096"),
    ("14_what_recompiles", "reasons(A, B, C)", "`x`: length 8 -> 32 (dimension 0) `x`: dtype float32 -> bfloat16"),
    ("14_what_recompiles", "y = layer(*spread, 2.0, 2)", "compiled again", "committed to P('X', None)"),
    ("15_where_a_steps_time_goes", "data_parallel.time_on(toy)", "13.1 ms a call", "12.80", "dot_general", "relu"),
    (
        "15_where_a_steps_time_goes",
        "tensor_parallel.time_on(toy)",
        "2.80 ms of communication exposed",
        "waits: all-reduce",
    ),
    ("15_where_a_steps_time_goes", "on_256.time_on(toy)", "3.60 ms a call", "network-bound", "hidden -408 µs"),
    ("16_async_dispatch", "y.shape, early, y.is_ready()", "((600, 600), False, True)"),
    ("16_async_dispatch", "%pjit --measure slow(x);", "measured", "100 custom dot"),
    ("17_memory", "step.memory_use", "alive at the peak", ", backward,", "saved for backward, 16 turns", "could help"),
    ("17_memory", "again.memory_use", "recompute", "saved for backward, 16 turns", "recomputed"),
    ("17_memory", "cache.is_deleted()", "donated", "reuses cache", "True"),
    ("18_hardware_you_do_not_have", 'record.what_if(effort="partition").collectives', "12.00", "0.50", "partial sum"),
    ("18_hardware_you_do_not_have", "square.time_on(torus)", "49.2 µs a call", "waits: all-reduce"),
    (
        "18_hardware_you_do_not_have",
        "in_host.time_on(network(data=50e9, model=400e9))",
        "22.6 µs a call",
        "20.32",
        "2.29",
    ),
    (
        "18_hardware_you_do_not_have",
        "%pjit --no-times --mesh data=16,model=16 step(*small);",
        "this from change known by",
        "over model 1.88 12.00",
    ),
    ("19_state_is_an_argument", "state_1 = %pjit train(placed, x)", "No collectives", "state['params']['b']"),
    ("19_state_is_an_argument", '%pjit jax.device_put(state, {"params": P("X"), "step": P()})', "Add `momentum`"),
    ("20_random_keys", "y = %pjit shuffled(key, x)", "all-reduce", "looks up positions", "P(None, None)"),
    ("21_two_ways_to_differentiate", "J_reverse = %pjit jax.jit(jax.jacrev(errors))(v)", "backward", "gradient of `v`"),
    ("21_two_ways_to_differentiate", "%pjit jax.jit(jax.grad(errors))(v)", "`jax.jacrev`", "return a sum or a mean"),
    ("22_one_gradient_per_example", "g_clipped = %pjit clipped(w_all, x_rows, y_rows)", "reduction", "temporary"),
    ("23_loops_and_branches", "g = %pjit gradient(W, x)", "run 6 times", "The gradient of `W`", "partial sum"),
    ("23_loops_and_branches", "h = %pjit --view facts until_small(W, x)", "unknown", "at least", "loop predicate"),
    ("24_shard_map", "g = %pjit by_hand(w, x)", "written in the program", "`psum`", "f32[64,32]"),
    ("24_shard_map", "%pjit broken(w, x)", "`out_specs` (`P()`)", "jax.lax.psum", "pmean", "check_vma=False"),
    ("25_pallas_and_custom_calls", "y = %pjit jax.jit(stamp)(x)", "run 8 times", "pallas_call", "P(None, None)"),
    ("25_pallas_and_custom_calls", "y = %pjit --view facts jax.jit(double)(x)", "no sharding rule"),
    ("26_jax_refuses", '%pjit jax.device_put(W, P("model", None))', "6 / 4 = 1.5", "[3,8]", "[6,2]", "Pad dimension 0"),
    ("26_jax_refuses", "%pjit a @ b", "partial sums", "out_sharding=P(None, None)", "jax.sharding.reshard(a"),
    ("26_jax_refuses", "%pjit b @ a", "P('model', 'model')", "communicates over `model`"),
    ("26_jax_refuses", "%pjit ours + theirs", "on device 3", "devices 0-7", "jax.device_put(theirs"),
    ("26_jax_refuses", "%pjit positive(ours)", "depends on the argument `x`", "jnp.where(x.sum() > 0, x, -x)"),
    ("26_jax_refuses", "%pjit print(state)", "`step(state)` in line 3 donates it", "jnp.copy(state)"),
)


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]


def shown(cell: dict[str, Any]) -> str:
    """What a cell printed and showed, as text with single spaces."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell["outputs"]]
    return " ".join(" ".join("".join(text) for text in texts).split())


@lessons
def test_every_checked_number_is_right_and_stands_in_an_answer(path: Path):
    words = " ".join("\n".join("".join(cell["source"]) for cell in cells(path, "markdown")).replace("**", "").split())
    for cell in cells(path, "code"):
        asked = "".join(cell["source"])
        if "check(" not in asked:
            continue
        for mark, number, unit in re.findall(r"([✓✗?]) ([\d,]+) (\w+)", shown(cell)):
            assert mark == "✓"
            # Of a sum that no answer adds up, each part does.
            parts = [f"{int(part):,}" for part in re.findall(r"\d[\d_]{4,}", asked)]
            assert number == "0" or f"{number} {unit}" in words or (parts and all(part in words for part in parts))


@pytest.mark.parametrize(("name", "line", "words"), [(name, line, words) for name, line, *words in LOOK_AT])
def test_what_a_lesson_says_to_look_at_is_there(name: str, line: str, words: list[str]):
    (cell,) = [cell for cell in cells(NOTEBOOKS / f"{name}.ipynb", "code") if "".join(cell["source"]).endswith(line)]
    assert [one for one in words if one not in shown(cell)] == []
