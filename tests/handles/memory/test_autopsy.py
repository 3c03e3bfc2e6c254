"""Memory that was too small: XLA's report beside the record of the program it is of.

Runs that fail do so here, on CPUs. No compiler for CPUs refuses a program for its memory, so that one is made to say
what TPUs' says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.errors import JaxRuntimeError
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.analyze.memory.autopsy import join_reported
from pjit_inspect.handles.memory.autopsy import find_record
from pjit_inspect.model.record.shortage import MemoryShortage, ReportedBuffer
from pjit_inspect.parse.messages.memory_errors import parse_memory_shortage

TOO_MUCH = 2**45
"""Elements of 4 bytes: 128 TiB."""
REFUSED = (
    "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries (25.00G) exceeds "
    "available HBM (15.75G)."
)

NOT_TRIED = (
    "NOT_FOUND: Failed to get configs for: 5 out of 15 instructions. See logs for all failures. Example failure: \n"
    "All configs failed during profiling or were excluded from selection.\nFailures (1):\nEXECUTION FAILED: "
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 59.02GiB with allocator GPU_0_bfc on device 0. "
    "[tf-allocator-allocation-error='']"
)
"""As XLA of JAX 0.11.2 says it on an H100."""


def raised(call: Callable[[], Any]) -> BaseException:
    with pytest.raises(JaxRuntimeError) as caught:
        call()
    return caught.value


def test_a_program_that_was_compiled_and_found_no_room_keeps_its_record():
    def grow(x: Any) -> Any:
        return jnp.broadcast_to(x, (TOO_MUCH,)) * 2

    with pi.capture() as log:
        error = raised(lambda: jax.jit(grow)(np.float32(1)))
    explained = pi.explain_error(error)
    assert explained.kind == "out of memory"
    assert str(explained.sentence) == (
        "`grow` was compiled, and when it ran there was no room for 128 TiB: its result `result`"
    )
    assert explained.record is log["grow"]
    assert explained.memory is not None
    assert (explained.memory.program, explained.memory.what) == ("grow", "result")
    assert explained.memory.shortage.asked_bytes == 4 * TOO_MUCH
    assert explained.memory.use is not None
    assert explained.memory.use.peak_bytes == 4 * TOO_MUCH + 4
    assert "128 TiB at the peak (counted)" in str(explained)


def test_temporaries_that_found_no_room_are_called_so():
    def smallest(x: Any) -> Any:
        return jnp.sort(jax.lax.broadcasted_iota(jnp.float32, (TOO_MUCH >> 20, 1 << 20), 1) * x, axis=1)[0, 0]

    function = jax.jit(smallest)
    # Were it not so, the call would begin to compute.
    stats = pi.inspect(function, np.float32(1)).memory
    assert stats is not None
    assert (stats.temporary_bytes or 0) >= 4 * TOO_MUCH
    with pi.capture(calls=True) as log:
        error = raised(lambda: function(np.float32(1)).block_until_ready())
    explained = pi.explain_error(error)
    assert explained.record is log["smallest"]
    assert explained.memory is not None
    assert explained.memory.what == "temporaries"
    assert "its temporaries, which lie in one piece" in str(explained.sentence)


def test_a_call_that_was_compiled_earlier_is_found_too():
    def grow(x: Any) -> Any:
        return jnp.broadcast_to(x, (TOO_MUCH,)) * 3

    function = jax.jit(grow)
    raised(lambda: function(np.float32(1)))
    with pi.capture(calls=True) as log:
        error = raised(lambda: function(np.float32(1)))
    assert pi.explain_error(error).record is log["grow"]


def test_a_compile_that_is_refused_has_the_program_before_optimization(monkeypatch: pytest.MonkeyPatch):
    from jax._src import compiler

    def refuse(*_: Any, **__: Any) -> Any:
        raise JaxRuntimeError(REFUSED)

    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    w = jax.device_put(np.ones((64, 128), np.float32), NamedSharding(mesh, P(None, "model")))

    def step(w: Any, x: Any) -> Any:
        return jnp.tanh(x @ w).sum()

    monkeypatch.setattr(compiler, "backend_compile_and_load", refuse)
    with pi.capture() as log:
        error = raised(lambda: jax.jit(step)(w, np.ones((8, 64), np.float32)))
    monkeypatch.undo()
    explained = pi.explain_error(error)
    assert str(explained.sentence) == (
        "XLA did not compile `step`: it needs 25 GiB of the memory of each device, and a program may use 15.75 GiB "
        "(XLA's count)"
    )
    record = log["step"]
    assert explained.record is record
    assert record.data.missing["hlo"] == "XLA did not compile the program"
    assert [(own.path, own.spec) for own in record.inputs][:1] == [("w", (None, "model"))]
    # A copy can be compiled for fake CPU devices: what is alive at its peak, as these schedule it.
    again = record.what_if(effort="full")
    assert again.memory_use.peak_bytes is not None


def test_a_compile_that_had_no_room_to_try_kernels_has_its_record(monkeypatch: pytest.MonkeyPatch):
    from jax._src import compiler

    def refuse(*_: Any, **__: Any) -> Any:
        raise JaxRuntimeError(NOT_TRIED)

    def train(x: Any) -> Any:
        return jnp.tanh(x @ x)

    monkeypatch.setattr(compiler, "backend_compile_and_load", refuse)
    with pi.capture() as log:
        error = raised(lambda: jax.jit(train)(np.ones((8, 8), np.float32)))
    explained = pi.explain_error(error)
    assert str(explained.sentence) == (
        "XLA did not compile `train`: it runs kernels on the device to choose among them, and on device 0 there was no "
        "room for 59.02 GiB that they work on"
    )
    assert explained.record is log["train"]
    assert explained.notes == ()


def test_an_array_that_found_no_room_has_no_record():
    error = raised(lambda: jax.device_put(np.broadcast_to(np.float32(1), (TOO_MUCH,))))
    explained = pi.explain_error(error)
    assert explained.record is None
    assert str(explained.sentence) == "there was no room for one piece of 128 TiB"
    assert "pjit_inspect.live_arrays()" in str(explained)


def test_a_record_of_another_line_is_not_taken():
    def grow(x: Any) -> Any:
        return jnp.broadcast_to(x, (TOO_MUCH,)) * 4

    with pi.capture() as log:
        raised(lambda: jax.jit(grow)(np.float32(1)))
        error = raised(lambda: jax.device_put(np.broadcast_to(np.float32(1), (TOO_MUCH,))))
    assert len(log.find("grow")) == 1
    explained = pi.explain_error(error)
    assert explained.record is None
    # That a piece has the size of another's is told as that, and no more.
    assert "a piece of this size: the result `result` of `grow`, called at test_autopsy.py:" in str(explained.notes[0])


# ---------------------------------------------------------------- the program's name, as GPUs say it


def not_had(program: str, size: str) -> MemoryShortage:
    found = parse_memory_shortage(
        f"RESOURCE_EXHAUSTED: Out of memory while trying to allocate {size} with allocator GPU_0_bfc on device 0. "
        f"[executable_name='{program}'] [tf-allocator-allocation-error='']"
    )
    assert found is not None
    return found


def test_a_lambda_is_found_by_the_name_that_xla_has_for_it():
    with pi.capture() as log:
        # A size that no program of another test has.
        jax.jit(lambda x: x * 2)(np.ones(1021, np.float32))
    frame = log[0].user_frame
    assert frame is not None
    here = {(frame.file, frame.line)}
    # The name is enough, if the call is in the traceback: its temporaries may have any size.
    assert find_record(not_had("jit__lambda", "1.00TiB"), here) is log[0]
    assert find_record(not_had("jit_other", "4084B"), here) is None
    # JAX runs ahead, and the traceback is of another line.
    assert find_record(not_had("jit__lambda", "4084B"), set()) is log[0]
    assert find_record(not_had("jit__lambda", "1.00TiB"), set()) is None


def test_of_two_programs_of_one_name_none_is_taken_but_by_its_size():
    with pi.capture() as log:
        for size in (1024, 4096):
            jax.jit(lambda x: x * 2)(np.ones(size, np.float32))
    frame = log[0].user_frame
    assert frame is not None
    here = {(frame.file, frame.line)}
    assert find_record(not_had("jit__lambda", "1.00TiB"), here) is None
    assert find_record(not_had("jit__lambda", "4.00KiB"), here) is log[0]
    assert find_record(not_had("jit__lambda", "16.00KiB"), here) is log[1]


def test_an_error_that_was_raised_from_it_is_explained():
    first = raised(lambda: jax.device_put(np.broadcast_to(np.float32(1), (TOO_MUCH,))))
    with pytest.raises(ValueError, match="loading") as caught:
        raise ValueError("loading failed") from first
    explained = pi.explain_error(caught.value)
    assert explained.kind == "out of memory"
    assert "what was raised in the end is `ValueError`" in str(explained.notes[-1])


# ---------------------------------------------------------------- XLA's list


@pytest.fixture(scope="module")
def record() -> pi.CompileRecord:
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))

    def shaped(*shape: int, spec: P) -> Any:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))

    def loss(w: Any, x: Any) -> Any:
        with jax.named_scope("block"):
            return (jnp.tanh(x @ w["in"]) @ w["out"]).sum()

    weights = {"in": shaped(256, 1024, spec=P()), "out": shaped(1024, 256, spec=P())}
    return pi.inspect(jax.jit(jax.grad(loss)), weights, shaped(16_384, 256, spec=P("data")))


def report(record: pi.CompileRecord, name: str) -> tuple[str, str]:
    """A list as a GPU's compiler prints it, of the row of this name, and that row's instruction."""
    row = next(row for row in record.memory_use.live if row.name.startswith(name))
    made = record.hlo.find(row.made_by)  # pyright: ignore[reportOptionalMemberAccess]
    assert made is not None
    shape = f"f32[{','.join(map(str, row.local_shape))}]"
    return (
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 18874368 bytes.\n"
        "BufferAssignment OOM Debugging.\nPeak buffers:\n\tBuffer 1:\n"
        f'\t\tSize: {row.bytes / 2**20:.2f}MiB\n\t\tOperator: op_name="{made.op_name}"\n'
        f"\t\tXLA Label: fusion\n\t\tShape: {shape}\n\t\t==========================\n\n"
        "\tBuffer 2:\n\t\tSize: 2.00MiB\n\t\tEntry Parameter Subshape: f32[2048,256]\n\t\t==========================\n"
    ), row.made_by


def test_the_list_is_joined_to_name_kind_spec_and_line(record: pi.CompileRecord):
    text, _ = report(record, "jnp.tanh(x @ w[")
    shortage = parse_memory_shortage(text)
    assert shortage is not None
    table = join_reported(shortage.largest, module=record.hlo, use=record.memory_use, inputs=record.inputs)
    tanh, batch = table
    assert (tanh.kind, tanh.spec, tanh.is_found) == ("saved for backward", ("data", None), True)
    assert tanh.name.startswith("jnp.tanh(x @ w[")
    assert tanh.source[0].file == __file__
    # Of 16,384 rows each of 8 devices has 2,048.
    assert (batch.name, batch.kind, batch.spec) == ("x", "argument", ("data", None))


def test_what_is_not_in_the_program_is_told_as_xla_says_it(record: pi.CompileRecord):
    strange = ReportedBuffer(
        bytes=4, dtype="f32", dimensions=(1,), op_name="jit(f)/other/mul", source_file="a.py", source_line=3
    )
    (row,) = join_reported((strange,), module=record.hlo, use=record.memory_use)
    assert (row.name, row.kind, row.is_found) == ("other/mul", None, False)
    assert row.source[0].where == "a.py:3"


def test_an_instruction_of_another_size_is_not_taken(record: pi.CompileRecord):
    row = record.memory_use.live[0]
    other = ReportedBuffer(bytes=row.bytes * 2, instruction=row.made_by, dtype="f32", dimensions=(7,))
    (joined,) = join_reported((other,), module=record.hlo, use=record.memory_use)
    assert not joined.is_found
    same = ReportedBuffer(bytes=row.bytes, instruction=row.made_by, dtype=row.dtype, dimensions=row.local_shape)
    (joined,) = join_reported((same,), module=record.hlo, use=record.memory_use)
    assert (joined.name, joined.kind) == (row.name, row.kind)


def test_the_shape_of_the_largest_buffer_and_its_padding_are_said():
    """A long name leaves no room for a column of shapes: half of the 2 GiB fills tiles."""
    text = """RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 9.11G of 7.48G hbm. Exceeded \
hbm capacity by 1.63G.

Program hbm requirement 9.10G:
    HLO temp          9.10G (98.0% utilization: Unpadded (6.00G) Padded (9.00G), 1.2% fragmentation (100.00M))

  1. Size: 2.00G
     Operator: op_name="jit(apply)/attn/dot_general[ dimension_numbers=(((1,), (1,)), ((), ())) precision=None ]"
     Shape: f32[4,8192,8192]{2,1,0:T(8,128)}
     Unpadded size: 1.00G
     Extra memory due to padding: 1.00G (2.0x expansion)
"""
    said = " ".join(str(pi.explain_error(JaxRuntimeError(text))).split())
    assert (
        "f32[4,8192,8192] takes 2,048 MiB, 1,024 MiB of it padding of tiles: 2.0 times the 1,024 MiB of its elements"
    ) in said
    assert "Program / HLO temp, padded 9,216 MiB" in said
    assert "Program / HLO temp, unpadded 6,144 MiB" in said
    assert "not understood" not in said
