"""The private names of JAX this package reads are where it expects them."""

from __future__ import annotations

import dataclasses

import pytest
from programs import recorded

from pjit_inspect.observe import _jax, listener


def test_the_installed_jax_has_every_name_this_package_reads() -> None:
    assert _jax.missing_names() == {}


@pytest.mark.parametrize("promise", _jax.CONTRACT, ids=lambda p: p.name)
def test_a_name_that_moved_is_reported_with_what_it_costs(promise: _jax.Promise) -> None:
    moved = dataclasses.replace(promise, name=promise.name + "_moved")
    assert moved.missing() == [f"{promise.module}.{promise.name}_moved"]
    assert promise.costs


def test_a_renamed_variable_is_reported_by_name() -> None:
    promise = _jax.Promise(
        module="jax._src.pjit", name="_pjit_call_impl_python", variables=("jaxpr", "gone"), costs="x"
    )
    assert promise.missing() == ["jax._src.pjit._pjit_call_impl_python (variable 'gone')"]


def test_missing_names_warn_once_and_user_code_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    lost = _jax.Promise(module="jax._src.pjit", name="no_such_name", costs="the jaxpr")
    monkeypatch.setattr(_jax, "CONTRACT", (lost,))
    monkeypatch.setattr(listener, "_warned", set())
    records: list = []
    with pytest.warns(RuntimeWarning, match=r"no_such_name \(costs the jaxpr\)"), recorded(records):
        assert jax.jit(lambda v: v + 1)(1) == 2
    with recorded(records):
        assert jax.jit(lambda v: v + 2)(1) == 3
    assert len(records) >= 2


def test_without_the_names_for_known_calls_compiles_are_still_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    kept = [p for p in _jax.CONTRACT if p.name != "_resolve_and_lower"]
    lost = _jax.Promise(module="jax._src.pjit", name="_resolve_and_lower_gone", costs="functions compiled before %pjit")
    monkeypatch.setattr(_jax, "CONTRACT", (*kept, lost))
    monkeypatch.setattr(listener, "_warned", set())
    records: list = []
    with pytest.warns(RuntimeWarning, match="_resolve_and_lower_gone"), recorded(records, calls=True):
        assert jax.jit(lambda v: v + 41)(1) == 42
    assert [r.name for r in records if r.origin == "user"] == ["<lambda>"]
