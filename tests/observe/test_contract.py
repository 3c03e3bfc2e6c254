"""The private names of JAX this package reads are where it expects them."""

from __future__ import annotations

import dataclasses
import threading

import jax
import pytest
from observe.programs import recorded

from pjit_inspect import guard as steps
from pjit_inspect.observe.contract import _jax, contract


def test_the_installed_jax_has_every_name_this_package_reads() -> None:
    assert contract.missing_names() == {}


@pytest.mark.parametrize("promise", contract.CONTRACT, ids=lambda p: p.name)
def test_a_name_that_moved_is_reported_with_what_it_costs(promise: contract.Promise) -> None:
    moved = dataclasses.replace(promise, name=promise.name + "_moved")
    assert moved.missing() == [f"{promise.module}.{promise.name}_moved"]
    assert promise.costs


def test_a_renamed_variable_is_reported_by_name() -> None:
    promise = contract.Promise(
        module="jax._src.pjit", name="_pjit_call_impl_python", variables=("jaxpr", "gone"), costs="x"
    )
    assert promise.missing() == ["jax._src.pjit._pjit_call_impl_python (variable 'gone')"]


def test_missing_names_warn_once_and_user_code_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = contract.Promise(module="jax._src.pjit", name="no_such_name", costs="the jaxpr")
    monkeypatch.setattr(contract, "CONTRACT", (lost,))
    monkeypatch.setattr(steps, "_warned", set())
    records: list = []
    with pytest.warns(RuntimeWarning, match=r"no_such_name \(costs the jaxpr\)"), recorded(records):
        assert jax.jit(lambda v: v + 1)(1) == 2
    with recorded(records):
        assert jax.jit(lambda v: v + 2)(1) == 3
    assert len(records) >= 2


def test_without_the_names_for_known_calls_compiles_are_still_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [p for p in contract.CONTRACT if p.name != "MeshComputation.compile"]
    lost = contract.Promise(
        module="jax._src.interpreters.pxla",
        name="MeshComputation.compile_gone",
        costs="functions compiled before %pjit",
    )
    monkeypatch.setattr(contract, "CONTRACT", (*kept, lost))
    monkeypatch.setattr(steps, "_warned", set())
    records: list = []
    with pytest.warns(RuntimeWarning, match="MeshComputation.compile_gone"), recorded(records, calls=True):
        assert jax.jit(lambda v: v + 41)(1) == 42
    assert [r.name for r in records if r.origin == "user"] == ["<lambda>"]


def fails_to_compile(a: jax.Array) -> jax.Array:
    return jax.ffi.ffi_call("there_is_no_such_call", a)(a)


@pytest.mark.parametrize("function", [lambda a: a * 43, fails_to_compile])
def test_a_compile_is_announced_before_it_runs_and_ended_in_the_same_thread_though_it_fails(function) -> None:
    heard: list[tuple[str, int]] = []

    def on_start(event: str, *_: object, **__: object) -> None:
        if event == _jax.COMPILE_EVENT:
            heard.append(("start", threading.get_ident()))

    def on_duration(event: str, *_: object, **__: object) -> None:
        if event == _jax.COMPILE_EVENT:
            heard.append(("end", threading.get_ident()))

    def on_event(*_: object, **__: object) -> None: ...

    lowered = jax.jit(function).lower(jax.ShapeDtypeStruct((2,), "float32"))
    _jax.register(on_duration, on_event, on_start)
    try:
        lowered.compile()
    except jax.errors.JaxRuntimeError:
        assert function is fails_to_compile
    finally:
        _jax.unregister(on_duration, on_event, on_start)
    assert [what for what, _ in heard] == ["start", "end"]
    (_, thread), (_, same) = heard
    assert thread == same
