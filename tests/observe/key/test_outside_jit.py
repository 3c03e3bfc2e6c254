"""Operations that `pmap` and `shard_map` run outside jit are the user's function's; what a line calls has its name."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from observe.programs import recorded

import pjit_inspect as pi
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.view.pages.session import log_view
from pjit_inspect.view.render.text import to_text

X = np.ones((8, 3), np.float32)


def normalize(x):
    return jnp.sin(x) * 2 + 1


def pmapped():
    with jax.disable_jit():
        jax.pmap(normalize)(X)


def shard_mapped():
    mesh = Mesh(np.array(jax.devices()[:8]), ("i",))
    jax.shard_map(normalize, mesh=mesh, in_specs=P("i"), out_specs=P("i"))(X)


def records_of(run) -> list[RecordData]:
    records: list = []
    with recorded(records):
        run()
    return records


@pytest.mark.parametrize(("run", "transform"), [(pmapped, "pmap"), (shard_mapped, "shard_map")])
def test_each_operation_is_of_the_function_the_user_wrote(run, transform: str) -> None:
    records = records_of(run)
    assert len(records) > 3
    assert {(data.name, data.transform, data.origin) for data in records} == {("normalize", transform, "user")}
    assert {data.user_frame.function for data in records} == {run.__name__}
    assert {data.defined_at.line for data in records} == {normalize.__code__.co_firstlineno}
    assert "sin" in {data.key.function.name for data in records}


@pytest.mark.parametrize("run", [pmapped, shard_mapped])
def test_they_are_one_row_of_the_ledger_and_of_the_log(run) -> None:
    with pi.capture() as log:
        run()
    (row,) = pi.ledger(log).rows
    assert (row.name, row.compiles, row.origin) == ("normalize", len(log), "user")
    assert pi.ledger(log).patterns == ()
    text = to_text(log_view([record.data for record in log]))
    (line,) = [line for line in text.splitlines() if "normalize" in line]
    assert line.split()[:2] == [f"0-{len(log) - 1}", "normalize"]
    assert f"{len(log)} programs" in line
    assert "HashablePartial" not in str(log) + str(pi.ledger(log))


def test_pmap_of_a_jitted_call_is_one_program_as_before() -> None:
    (data,) = records_of(lambda: jax.pmap(normalize)(X))
    assert (data.name, data.transform, data.key.function.kind) == ("normalize", "pmap", "function")


def test_a_dict_with_equinoxs_keys_is_the_users_own() -> None:
    @jax.jit
    def both(d):
        return d["first"][0] + 1, d["rest"][0]

    (data,) = [one for one in records_of(lambda: both({"first": [X], "rest": [X]})) if one.origin == "user"]
    assert [layout.path for layout in data.inputs] == ["d['first'][0]", "d['rest'][0]"]
    assert [layout.path for layout in data.outputs] == ["result[0]", "result[1]"]


@pytest.mark.parametrize("name", ["f", "fun", "fun_wrapped"])
def test_a_function_of_the_users_is_not_equinoxs_whatever_its_name(name: str) -> None:
    equinox = pytest.importorskip("equinox")

    def function(model, x):
        return model * x

    function.__name__ = function.__qualname__ = name
    (data,) = records_of(lambda: equinox.filter_jit(function)(X, X))
    assert (data.name, data.origin) == (name, "user")
    assert data.defined_at is not None
    assert data.defined_at.file == __file__


@pytest.mark.parametrize(
    ("run", "called"),
    [
        (lambda x: jnp.where(x > 1, x, 0), "where"),
        (lambda x: jnp.roll(x, 2), "roll"),
        (lambda x: x.sum(), ""),
        (lambda x: jax.lax.tanh(x), "tanh"),
        (lambda x: jax.device_put(x, jax.devices()[2]), None),
    ],
)
def test_what_a_line_calls_is_known_by_its_public_name(run, called: str | None) -> None:
    jax.clear_caches()
    x = jnp.asarray(np.arange(5, dtype=np.float32))
    found = {data.key.called for data in records_of(lambda: run(x))}
    assert found <= ({called, ""} if called is not None else {"device_put"})
    assert called is None or called in found
