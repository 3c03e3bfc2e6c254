"""A function that was compiled before is shown, and is not compiled again."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh, counted_compiles, put, recorded

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.watch import listener
from pjit_inspect.observe.watch.on_request import compile_record

X = np.ones((8, 8), np.float32)


def test_a_call_of_a_compiled_function_is_recorded_from_memory() -> None:
    mesh = auto_mesh()
    x = put(mesh, X, "data", "model")

    @jax.jit
    def squared(a):
        return a @ a

    squared(x)
    squared(x)
    records: list[RecordData] = []
    with counted_compiles() as compiles, recorded(records, calls=True):
        first, second = squared(x), squared(x)
    assert compiles == []
    assert (np.asarray(first) == np.asarray(second)).all()
    (record,) = [r for r in records if r.origin == "user"]
    assert (record.name, record.cached, record.timings.compile_s) == ("squared", "memory", None)
    assert record.inputs[0].spec == ("data", "model")
    assert record.outputs[0].spec is not None
    assert record.jaxpr
    assert record.hlo
    assert record.stablehlo
    assert record.missing == {}
    assert record.user_frame is not None
    assert record.user_frame.file == __file__


def test_only_the_signature_that_is_called_is_shown() -> None:
    shifted = jax.jit(lambda a: a + 11)
    shifted(np.ones(3, np.float32))
    shifted(np.ones(5, np.float32))
    records: list[RecordData] = []
    with recorded(records, calls=True):
        shifted(np.ones(5, np.float32))
    assert [r.inputs[0].global_shape for r in records] == [(5,)]


def test_a_function_called_deep_inside_others_is_found() -> None:
    inner = jax.jit(lambda a: a * 13)

    def step():
        return inner(X)

    step()
    records: list[RecordData] = []
    with recorded(records, calls=True):
        step()
    assert len(records) == 1


def test_a_compile_in_the_block_is_one_record_not_two() -> None:
    fresh = jax.jit(lambda a: jnp.sin(a) + 17)
    records: list[RecordData] = []
    with recorded(records, calls=True):
        for _ in range(3):
            fresh(X)
    assert [r.cached for r in records if r.origin == "user"] == [None]


def test_jax_is_left_as_it_was_even_after_an_exception() -> None:
    from jax._src.interpreters.pxla import MeshComputation

    before = MeshComputation.__dict__["compile"]
    with pytest.raises(ZeroDivisionError), listener.observed_calls(lambda *_: None):
        raise ZeroDivisionError
    assert MeshComputation.__dict__["compile"] is before


def test_overlapping_watches_leave_jax_as_it_was_in_any_order() -> None:
    from jax._src.interpreters.pxla import MeshComputation

    before = MeshComputation.__dict__["compile"]
    first, second = listener.observed_calls(lambda *_: None), listener.observed_calls(lambda *_: None)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert MeshComputation.__dict__["compile"] is not before
    second.__exit__(None, None, None)
    assert MeshComputation.__dict__["compile"] is before


def test_inspect_of_a_compiled_function_compiles_nothing() -> None:
    mesh = auto_mesh()
    x = put(mesh, X, "data")
    tripled = jax.jit(lambda a: a * 3 + 19)
    tripled(x)
    with counted_compiles() as compiles:
        record = compile_record(tripled, (x,), {})
    assert compiles == []
    assert record.cached == "memory"
    assert record.inputs[0].spec == ("data", None)


def test_inspect_of_a_plain_function_compiles_once_and_the_call_after_it_none() -> None:
    jitted = jax.jit(lambda a: a * 3 + 23)
    with counted_compiles() as compiles:
        record = compile_record(jitted, (X,), {})
        jitted(X)
    assert len(compiles) == 1
    assert record.hlo is not None

    def plain(a):
        return a - 29

    assert compile_record(plain, (X,), {}).name == "plain"


def test_inspect_says_what_it_needs() -> None:
    from pjit_inspect.errors import CaptureError

    with pytest.raises(CaptureError, match="needs a function, not a"):
        compile_record(X, (), {})


def test_a_call_whose_executable_jax_finds_again_under_another_spelling_is_recorded() -> None:
    """`P('x', None)` and `P('x')` are lowered apart and compiled once: the second call compiles nothing."""
    from jax._src.interpreters import pxla

    mesh = auto_mesh()
    function = jax.jit(lambda a: a * 43)
    axis = mesh.axis_names[0]
    whole, short = (
        jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P(*spec))) for spec in ((axis, None), (axis,))
    )
    function(whole)
    records: list[RecordData] = []
    with recorded(records, calls=True):
        function(short)
    # Before 0.10 nothing that JAX calls between its compile and the run shows that program.
    is_seen = hasattr(pxla.MeshExecutable, "shard_const_args")
    assert [record.hlo is not None for record in records] == [True] * is_seen
