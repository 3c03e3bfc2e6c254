"""The user's program comes first: no error of ours reaches it, and nothing of it is kept."""

from __future__ import annotations

import gc
import weakref
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from observe.programs import recorded

from pjit_inspect import guard as steps
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.live import contents, layouts
from pjit_inspect.observe.watch import listener, record

X = np.ones((8, 8), np.float32)


@pytest.mark.parametrize("failure", [RuntimeError("boom"), MemoryError(), KeyError("lost")])
@pytest.mark.parametrize(
    ("module", "step"),
    [
        (listener, "program_of_compile"),
        (listener, "make_record"),
        (layouts, "layout_of"),
        (record, "find_meshes"),
        (record, "asked_of"),
        (record, "hlo_at_once"),
        (record, "stablehlo_of"),
        (contents, "jaxpr_text"),
        (contents, "_cost"),
        (record, "_sources"),
        (layouts, "to_sharding"),
    ],
)
def test_an_error_of_ours_never_reaches_the_call(
    module: Any, step: str, failure: Exception, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise failure

    monkeypatch.setattr(module, step, fail)
    monkeypatch.setattr(steps, "_warned", set())
    jitted = jax.jit(lambda a: a + 1)
    records: list[RecordData] = []
    with recorded(records):
        assert float(jitted(np.float32(1))) == 2
    if module is listener:
        # Nothing could be made of it: one warning, however many compiles failed.
        assert records == []
        assert len([w for w in recwarn if issubclass(w.category, RuntimeWarning)]) == 1
    else:
        # One fact is missing, the others are there.
        assert any(r.missing for r in records)
        assert any(r.name == "<lambda>" for r in records)


def test_a_scope_that_raises_is_ours_to_swallow(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a broken log")

    monkeypatch.setattr(steps, "_warned", set())
    with pytest.warns(RuntimeWarning, match="a broken log"), listener.observed(broken):
        assert float(jax.jit(lambda a: a + 2)(np.float32(1))) == 3


def test_exceptions_of_the_users_function_pass_unchanged() -> None:
    def bad(a):
        return jnp.dot(a, jnp.ones((3, 3)))

    with pytest.raises(TypeError) as plain:
        jax.jit(bad)(X)
    with pytest.raises(TypeError) as seen, listener.observed(lambda *_: None):
        jax.jit(bad)(X)
    assert str(plain.value) == str(seen.value)


class Marker:
    """Something only the user's function refers to."""


def run_and_let_go() -> tuple[list[RecordData], list[weakref.ref[Any]]]:
    """Records of a call whose function, arguments, constants and results nobody else holds afterwards."""
    marker, closed_over = Marker(), jnp.arange(64.0).reshape(8, 8)

    def function(a):
        _ = marker
        return a @ closed_over

    records: list[RecordData] = []
    jitted = jax.jit(function, donate_argnums=0)
    with recorded(records):
        result = jitted(jnp.ones((8, 8)))
    return records, [weakref.ref(o) for o in (marker, function, jitted, closed_over, result)]


def test_nothing_of_the_users_is_kept_alive() -> None:
    records, refs = run_and_let_go()
    jax.clear_caches()
    gc.collect()
    assert [r() for r in refs] == [None] * len(refs)
    (kept,) = [r for r in records if r.name == "function"]
    assert kept.hlo is not None
    assert kept.hlo.read()


@pytest.mark.parametrize("calls", [False, True])
def test_nothing_of_the_users_is_kept_alive_while_the_scope_is_open(calls: bool) -> None:
    def run() -> list[weakref.ref[Any]]:
        closed_over = jnp.arange(64.0).reshape(8, 8)
        jitted = jax.jit(lambda a: a @ closed_over)
        jitted(X)
        return [weakref.ref(closed_over), weakref.ref(jitted)]

    def executables() -> int:
        jax.clear_caches()
        gc.collect()
        return len(jax.devices()[0].client.live_executables())

    before = executables()
    with recorded([], calls=calls):
        refs = run()
        assert executables() <= before
        assert [r() for r in refs] == [None, None]


def deep(a):
    """Large enough for what the tests below call large."""
    for k in range(10):
        a = jnp.sin(a) @ jnp.cos(a) + k
    return a


def test_a_large_program_is_completed_when_the_call_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_LARGE_BYTES", 500)
    pending: list[Any] = []
    jitted = jax.jit(deep)
    with listener.observed(lambda *record: pending.append(record)):
        jitted(X)
    (data, finish) = next(record for record in pending if record[0].name == "deep")
    assert (data.jaxpr, data.memory) == (None, None)
    finished = finish(data)
    assert "dot_general" in finished.jaxpr
    assert finished.memory is not None
    assert finished.cost["flops"] > 0
    assert finished.missing == {}


def test_what_is_left_for_later_keeps_nothing_alive_and_says_when_it_came_too_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contents, "_LARGE_BYTES", 500)
    pending: list[Any] = []
    ref = compile_and_let_go(pending)
    jax.clear_caches()
    gc.collect()
    assert ref() is None
    (data, finish) = next(record for record in pending if record[0].name == "short_lived")
    finished = finish(data)
    assert set(finished.missing) == {"memory", "cost", "jaxpr"}
    assert "before anybody looked" in finished.missing["memory"]
    assert finished.hlo is not None
    assert finished.hlo.read()


def compile_and_let_go(pending: list[Any]) -> weakref.ref[Any]:
    def short_lived(a):
        return deep(a)

    with listener.observed(lambda *record: pending.append(record)):
        jax.jit(short_lived)(X)
    return weakref.ref(short_lived)


def test_an_executable_with_options_of_its_own_is_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # JAX does not keep it with the computation, so that it could not be found later.
    monkeypatch.setattr(contents, "_LARGE_BYTES", 500)
    records: list[RecordData] = []
    with recorded(records):
        jax.jit(deep).lower(X).compile(compiler_options={"xla_embed_ir_in_executable": True})
    assert records[-1].memory is not None
    assert records[-1].missing == {}


def test_a_mesh_is_let_go_of_when_jax_empties_its_caches() -> None:
    def is_held(axis: str, *, watched: bool) -> bool:
        mesh = Mesh(np.array(jax.devices()), (axis,))
        x = jax.device_put(np.ones((16, 4), np.float32), NamedSharding(mesh, PartitionSpec(axis)))
        records: list[RecordData] = []
        with recorded(records) if watched else nullcontext():
            jax.jit(lambda a: (a + 1).sum())(x)
        assert len(records) >= watched
        held = weakref.ref(mesh)
        del mesh, x, records
        jax.clear_caches()
        gc.collect()
        return held() is not None

    if is_held("bare", watched=False):
        pytest.skip("this version of JAX holds every mesh for good")
    assert not is_held("seen", watched=True)
