"""The user's program comes first: no error of ours reaches it, and nothing of it is kept."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pjit_inspect.model.record import RecordData
from pjit_inspect.observe import arrays, listener, record

X = np.ones((8, 8), np.float32)


@pytest.mark.parametrize("failure", [RuntimeError("boom"), MemoryError(), KeyError("lost")])
@pytest.mark.parametrize(
    ("module", "step"),
    [
        (listener, "program_of_compile"),
        (listener, "make_record"),
        (record, "input_layouts"),
        (record, "find_meshes"),
        (record, "_hlo"),
        (record, "_stablehlo"),
        (record, "_jaxpr_text"),
        (record, "_cost"),
        (record, "_sources"),
        (arrays, "to_sharding"),
    ],
)
def test_an_error_of_ours_never_reaches_the_call(
    module: Any, step: str, failure: Exception, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise failure

    monkeypatch.setattr(module, step, fail)
    monkeypatch.setattr(listener, "_warned", set())
    jitted = jax.jit(lambda a: a + 1)
    records: list[RecordData] = []
    with listener.observed(records.append):
        assert float(jitted(np.float32(1))) == 2
    if module is listener:
        # Nothing could be made of it: one warning, however many compiles failed.
        assert records == []
        assert len([w for w in recwarn if issubclass(w.category, RuntimeWarning)]) == 1
    else:
        # One fact is missing, the others are there.
        assert all(r.missing for r in records if r.inputs or r.missing)
        assert any(r.name == "<lambda>" for r in records)


def test_a_scope_that_raises_is_ours_to_swallow() -> None:
    def broken(_: RecordData) -> None:
        raise ValueError("a broken log")

    listener._warned.clear()
    with pytest.warns(RuntimeWarning, match="a broken log"), listener.observed(broken):
        assert float(jax.jit(lambda a: a + 2)(np.float32(1))) == 3


def test_exceptions_of_the_users_function_pass_unchanged() -> None:
    def bad(a):
        return jnp.dot(a, jnp.ones((3, 3)))

    with pytest.raises(TypeError) as plain:
        jax.jit(bad)(X)
    with pytest.raises(TypeError) as seen, listener.observed(lambda _: None):
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
    with listener.observed(records.append):
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
