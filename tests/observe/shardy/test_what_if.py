"""A captured program is changed where the edit says, and compiled without anybody noticing.

Every figure is worked out by hand from shapes and ring formulas: n devices, V bytes on one; an all-gather sends
V (n - 1), an all-reduce 2 V (n - 1) / n, an all-to-all V (n - 1) / n.
"""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from observe.programs import compiled_with, copied, stablehlo_of

import pjit_inspect as pi
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.observe.shardy.texts import hlo_text
from pjit_inspect.observe.shardy.what_if import compile_edited, edit_program
from pjit_inspect.parse.hlo_proto.hlo import parse_program

S = jax.ShapeDtypeStruct


def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def named(*spec: Any) -> NamedSharding:
    return NamedSharding(mesh(), PartitionSpec(*spec))


def array(shape: tuple[int, ...], *spec: Any) -> S:
    return S(shape, jnp.float32, sharding=named(*spec))


def edited(record: pi.CompileRecord, *change: Edit) -> bytes:
    return edit_program(stablehlo_of(record.data), copied(record.data).placed(change))


def sent(record: pi.CompileRecord, *change: Edit) -> dict[str, int]:
    """Kind -> bytes the changed program sends per device per call."""
    hlo = compiled_with(record.data, change)
    found: dict[str, int] = {}
    for row in find_collectives(parse_program(hlo), record.mesh, [device.id for device in record.data.devices]):
        found[row.kind] = found.get(row.kind, 0) + row.sent_bytes
    return found


def op_of(record: pi.CompileRecord, kind: str) -> int:
    program = copied(record.data).program
    return next(index for index, op in enumerate(program.ops) if op.kind == kind)


def gather() -> pi.CompileRecord:
    return pi.inspect(lambda x, w: x @ w, array((512, 256), "data", None), array((256, 128), "data", "model"))


# ---------------------------------------------------------------- the program as it is


def test_without_edits_the_compile_gives_the_program_of_the_record() -> None:
    record = gather()
    compiled = compiled_with(record.data, ())
    # Both as printed from the proto, which has no configuration in its header.
    assert record.data.hlo is not None
    assert hlo_text(compiled) == hlo_text(record.data.hlo.read())


def test_a_compile_is_seen_by_no_capture_and_leaves_jax_caches_alone() -> None:
    traced = []

    def product(x: jax.Array) -> jax.Array:
        traced.append(1)
        return x @ x.T

    jitted = jax.jit(product)
    x = jax.device_put(np.ones((64, 64), np.float32), named("data", None))
    record = pi.inspect(jitted, x)
    with pi.capture(calls=True) as log:
        sent(record, Edit(kind="argument", index=0, spec=((), ())))
    assert len(log) == 0
    with pi.capture() as log:
        jitted(x)
    assert len(log) == 0  # JAX still has its own executable
    assert traced == [1]  # and nobody called the function again


def test_what_runs_before_the_call_keeps_its_result() -> None:
    jitted = jax.jit(lambda x: x * 2)
    x = jax.device_put(np.arange(64, dtype=np.float32), named("data"))
    record = pi.inspect(jitted, x)
    sent(record, Edit(kind="argument", index=0, spec=(("model",),)))
    assert np.array_equal(jitted(x), np.arange(64) * 2)


# ---------------------------------------------------------------- each kind of edit


def test_an_argument_gets_the_new_sharding() -> None:
    record = gather()
    # The shard of w is 128 x 32 floats, 16,384 bytes; over `data` (2) it is sent once.
    assert sent(record) == {"all-gather": 16_384}
    assert sent(record, Edit(kind="argument", index=1, spec=((), ("model",)))) == {}


def test_a_result_gets_the_new_sharding() -> None:
    product = jax.jit(lambda x, w: x @ w, out_shardings=named(None, None))
    record = pi.inspect(product, array((512, 256), "data", None), array((256, 512), None, "model"))
    # A device has 256 x 128 floats, 131,072 bytes, and passes on those of 7 others.
    assert sent(record) == {"all-gather": 7 * 131_072}
    assert sent(record, Edit(kind="result", index=0, spec=(("data",), ("model",)))) == {}
    assert sent(record, Edit(kind="result", index=0)) == {}


def test_a_hop_splits_one_expensive_reshard_into_two_cheap_ones() -> None:
    def move(x: jax.Array) -> jax.Array:
        return jax.lax.with_sharding_constraint(x * 2, named(("data", "model"), None, None))

    record = pi.inspect(move, array((16, 64, 64), None, "data", "model"))
    # 16 x 32 x 16 floats are 32,768 bytes. Gathered whole: 7 times that. Two all-to-alls: a half, and three quarters.
    assert sum(sent(record).values()) == 7 * 32_768
    hop = Edit(kind="hop", index=op_of(record, "multiply"), spec=(("data",), (), ("model",)))
    assert sent(record, hop) == {"all-to-all": 16_384 + 24_576}


def test_a_constraint_is_put_behind_an_op() -> None:
    record = pi.inspect(lambda x: jnp.tanh(x) + 1, array((64, 64), "data", None))
    edit = Edit(kind="constrain", index=op_of(record, "tanh"), spec=((), ()))
    # 32 x 64 floats, sent to the one other device along `data`.
    assert sent(record, edit) == {"all-gather": 8_192}
    program = copied(record.data, edited(record, edit)).program
    kinds = [op.kind for op in program.ops]
    assert kinds.index("copy") == kinds.index("tanh") + 1


def bad_constraint() -> pi.CompileRecord:
    def product(x: jax.Array) -> jax.Array:
        return jnp.tanh(jax.lax.with_sharding_constraint(x * 2, named(None, None)))

    return pi.inspect(product, array((64, 64), "data", None))


def test_a_constraint_is_left_out() -> None:
    record = bad_constraint()
    assert sent(record) == {"all-gather": 8_192}
    assert sent(record, Edit(kind="remove", index=op_of(record, "sharding_constraint"))) == {}


def test_a_constraint_asks_for_something_else() -> None:
    record = bad_constraint()
    edit = Edit(kind="respec", index=op_of(record, "sharding_constraint"), spec=(("data",), ()))
    assert sent(record, edit) == {}


def test_an_op_in_a_function_that_is_called_twice_is_changed_once_for_all_calls() -> None:
    inner = jax.jit(lambda x: jnp.tanh(x) * 2)
    record = pi.inspect(lambda x: inner(inner(x)), array((64, 64), "data", None))
    program = copied(record.data).program
    tanhs = [index for index, op in enumerate(program.ops) if op.kind == "tanh"]
    assert len(tanhs) == 2
    edits = [Edit(kind="constrain", index=index, spec=(("model",), ())) for index in tanhs]
    once, both = (copied(record.data, edited(record, *own)).program for own in (edits[:1], edits))
    constraints = [[op.kind for op in changed.ops].count("copy") for changed in (once, both)]
    assert constraints == [2, 2]


def test_an_op_in_a_loop_is_changed_there() -> None:
    def loop(x: jax.Array, ws: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, ws)[0]

    record = pi.inspect(loop, array((64, 64), "data", None), array((5, 64, 64), None, None, None))
    assert sent(record) == {}
    edit = Edit(kind="constrain", index=op_of(record, "dot_general"), spec=((), ()))
    # 32 x 64 floats in each of the five turns.
    assert sent(record, edit)["all-gather"] >= 5 * 8_192


def test_a_donated_argument_may_change_though_its_result_does_not() -> None:
    step = jax.jit(lambda x: x + 1, donate_argnums=0, out_shardings=named("data", None))
    record = pi.inspect(step, array((64, 64), "data", None))
    assert sent(record, Edit(kind="argument", index=0, spec=((), ()))) == {}


# ---------------------------------------------------------------- loops


def test_the_length_of_a_scan_and_of_a_fori_loop_is_known() -> None:
    def loops(x: jax.Array, ws: jax.Array) -> jax.Array:
        x = jax.lax.scan(lambda c, w: (c * w, None), x, ws)[0]
        return jax.lax.fori_loop(2, 9, lambda i, c: c + 1, x)

    record = pi.inspect(loops, array((64,), "data"), array((5, 64), None, None))
    assert sorted(copied(record.data).trips.values()) == [5, 7]


def test_a_loop_of_unknown_length_has_none() -> None:
    loop = lambda x: jax.lax.while_loop(lambda c: c.sum() < 9, lambda c: c * 2, x)  # noqa: E731
    assert copied(pi.inspect(loop, array((64,), "data")).data).trips == {}


# ---------------------------------------------------------------- refusals


def test_an_edit_that_fits_no_op_is_refused() -> None:
    record = gather()
    with pytest.raises(CaptureError, match="no argument 7; it has 2"):
        edited(record, Edit(kind="argument", index=7, spec=((), ())))
    with pytest.raises(CaptureError, match="no constraint that could be changed"):
        edited(record, Edit(kind="remove", index=op_of(record, "dot_general")))
    with pytest.raises(CaptureError, match="operation 99"):
        edited(record, Edit(kind="remove", index=99))


def test_an_axis_that_no_mesh_has_is_refused() -> None:
    with pytest.raises(CaptureError, match="no mesh of the program has the axes oops"):
        edited(gather(), Edit(kind="argument", index=0, spec=(("oops",), ())))


def test_a_program_for_more_devices_than_there_are_is_not_compiled() -> None:
    record = gather()
    many = tuple(dataclasses.replace(record.data.devices[0], id=number) for number in range(64))
    with pytest.raises(CaptureError, match="64 cpu devices, and this process has 8"):
        compile_edited(stablehlo_of(record.data), (), many, {})


def test_devices_of_another_process_are_stood_in_for() -> None:
    record = gather()
    moved = tuple(dataclasses.replace(device, id=device.id + 100) for device in record.data.devices)
    assert compile_edited(stablehlo_of(record.data), (), moved, record.data.flags)


def test_a_program_that_calls_back_is_not_compiled() -> None:
    def shout(x: jax.Array) -> jax.Array:
        jax.debug.callback(lambda value: None, x)
        return x * 2

    record = pi.inspect(shout, array((8,), "data"))
    with pytest.raises(CaptureError, match="calls back into Python"):
        compiled_with(record.data, ())


def test_a_program_for_the_old_partitioner_is_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        jax.config.update("jax_use_shardy_partitioner", False)
        try:
            record = pi.inspect(lambda x: x * 2, array((8,), "data"))
        finally:
            jax.config.update("jax_use_shardy_partitioner", True)
    with pytest.raises(CaptureError, match="only Shardy's can be changed"):
        edited(record, Edit(kind="argument", index=0, spec=((),)))
