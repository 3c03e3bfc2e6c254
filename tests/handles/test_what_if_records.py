"""A record of a changed program: what was changed and nothing else, said as what it is; figures worked out by hand.

The program is relu(x @ w1) @ w2: x [32, 64] over data, w1 [64, 128] by columns and w2 [128, 64] by rows over model. The
second product is summed over model: 32 / data rows of 64 numbers of 4 bytes on each device.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError

traced: list[int] = []


def array(mesh: Mesh, shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def made(layers: int = 1) -> pi.CompileRecord:
    mesh = auto_mesh()
    split = NamedSharding(mesh, P("data", "model"))

    def step(params: Any, x: Any) -> Any:
        traced.append(1)
        for own in params["layers"]:
            h = jax.lax.with_sharding_constraint(jax.nn.relu(x @ own["w1"]), split)  # the constraint
            x = h @ own["w2"]
        return x

    own = {"w1": array(mesh, (64, 128), None, "model"), "w2": array(mesh, (128, 64), "model", None)}
    return pi.inspect(jax.jit(step), {"layers": [own] * layers}, array(mesh, (32, 64), "data", None))


@pytest.fixture(scope="module")
def record() -> pi.CompileRecord:
    return made()


@pytest.fixture(scope="module")
def two_layers() -> pi.CompileRecord:
    return made(2)


def collectives(record: pi.CompileRecord) -> list[tuple[str, tuple[str, ...] | None, int]]:
    return sorted((row.kind, row.axes, row.payload_bytes) for row in record.collectives)


_LINES = Path(__file__).read_text().splitlines()
CONSTRAINT = f"{Path(__file__).name}:{next(n for n, line in enumerate(_LINES, 1) if '# the constraint' in line)}"
W1, W2 = "params['layers'][0]['w1']", "params['layers'][0]['w2']"
SUM = ("all-reduce", ("model",), 4096)


# ---------------------------------------------------------------- meshes


def test_other_sizes_divide_what_is_summed(record: pi.CompileRecord) -> None:
    other = record.what_if(mesh={"data": 4, "model": 8})
    assert collectives(record) == [SUM]
    assert collectives(other) == [("all-reduce", ("model",), 2048)]
    assert dict(other.mesh.axes) == {"data": 4, "model": 8}
    assert len(other.data.devices) == 32
    assert {own.path: own.local_shape for own in other.inputs} == {W1: (64, 16), W2: (16, 64), "x": (8, 64)}


def test_nothing_is_sharded_over_a_new_axis(record: pi.CompileRecord) -> None:
    other = record.what_if(mesh={"replica": 2, "data": 2, "model": 4})
    assert collectives(other) == [SUM]
    assert [own.local_shape for own in other.inputs] == [own.local_shape for own in record.inputs]
    assert other.mesh.axis_names == ("replica", "data", "model")


def test_a_dropped_axis_splits_nothing_any_more(record: pi.CompileRecord) -> None:
    other = record.what_if(mesh={"model": 4})
    assert collectives(other) == [("all-reduce", ("model",), 8192)]
    assert {own.path: own.local_shape for own in other.inputs}["x"] == (32, 64)


def test_a_mesh_of_another_number_of_devices_than_the_target_is_refused(record: pi.CompileRecord) -> None:
    with pytest.raises(ChangeError, match=r"has 8 devices, and cpu:16 has 16; give a mesh of 16, as in mesh=\{'data'"):
        record.what_if(mesh={"data": 2, "model": 4}, target="cpu:16")


def test_what_does_not_divide_is_refused_with_the_users_names(record: pi.CompileRecord) -> None:
    with pytest.raises(ChangeError, match=r"x is \[32, 64\] and .* splits dimension 0 in 3: 32 / 3 = 10.67"):
        record.what_if(mesh={"data": 3, "model": 4})


# ---------------------------------------------------------------- specs


def test_weights_that_are_replicated_need_no_sum(record: pi.CompileRecord) -> None:
    other = record.what_if(specs={W1: P(), W2: P(), CONSTRAINT: P("data", None)})
    assert collectives(other) == []
    assert [own.local_shape for own in other.inputs] == [(64, 128), (128, 64), (16, 64)]


def test_a_star_is_every_layer(two_layers: pi.CompileRecord) -> None:
    assert len(collectives(two_layers)) == 2
    other = two_layers.what_if(specs={"params['layers'][*]['w1']": P("model", None)})
    split = {own.path: own.local_shape for own in other.inputs}
    assert split["params['layers'][0]['w1']"] == split["params['layers'][1]['w1']"] == (16, 128)
    assert split["params['layers'][0]['w2']"] == (32, 64)


def test_a_path_is_all_that_is_beneath_it(two_layers: pi.CompileRecord) -> None:
    other = two_layers.what_if(specs={"params": P(None, "data")})
    assert {own.path: own.local_shape for own in other.inputs if own.path != "x"} == {
        "params['layers'][0]['w1']": (64, 64),
        "params['layers'][1]['w1']": (64, 64),
        "params['layers'][0]['w2']": (128, 32),
        "params['layers'][1]['w2']": (128, 32),
    }


def test_a_later_entry_overrules_an_earlier_one(record: pi.CompileRecord) -> None:
    other = record.what_if(specs={"params": P(), W1: P("data", "model")})
    assert {own.path: own.local_shape for own in other.inputs} == {W1: (32, 32), W2: (128, 64), "x": (16, 64)}


def test_a_result_that_is_wanted_replicated_is_gathered(record: pi.CompileRecord) -> None:
    other = record.what_if(specs={"result": P()})
    assert collectives(other) == [("all-gather", ("data",), 4096), SUM]
    assert other.outputs[0].local_shape == (32, 64)


def test_a_constraint_is_named_by_its_place(record: pi.CompileRecord) -> None:
    # Rows over model in between: w1's columns are gathered (or h is exchanged), so that more than the sum is needed.
    other = record.what_if(specs={CONSTRAINT: P("model", None)})
    assert collectives(other) != [SUM]
    assert {row.axes for row in other.collectives} >= {("model",)}
    # Without the constraint the weights say the same as it did.
    assert collectives(record.what_if(specs={CONSTRAINT: None})) == [SUM]


def test_none_leaves_an_argument_to_xla(record: pi.CompileRecord) -> None:
    # w2 and the constraint say how the columns of w1 are split.
    other = record.what_if(specs={W1: None})
    assert collectives(other) == [SUM]
    assert other.inputs[0].local_shape == (64, 32)


@pytest.mark.parametrize(
    ("specs", "said"),
    [
        ({"params['layers'][0]['w3']": P()}, r"no argument or result .*, did you mean \"params\['layers'\]\[0\]\['w"),
        ({W1: P("rows")}, "uses 'rows', and the mesh has data, model"),
        ({W1: P("model", "model")}, "splits over 'model' twice"),
        ({W1: P(None, None, "model")}, "has 3 entries, and .* has 2 dimensions"),
        ({"step.py:1": P()}, "there is no with_sharding_constraint at step.py:1; the program has"),
        ({W1: P(("data", "model"), None), "x": P("data", ("model",))}, None),
    ],
)
def test_a_spec_that_fits_nothing_is_refused(record: pi.CompileRecord, specs: Any, said: str | None) -> None:
    if said is None:
        assert record.what_if(specs=specs).inputs[0].local_shape == (8, 128)
        return
    with pytest.raises(ChangeError, match=said):
        record.what_if(specs=specs)


def test_a_result_that_its_axes_do_not_divide_is_returned_as_xla_returns_it() -> None:
    # Three columns over model=4: each device has all three, whether compiled here or asked about.
    record = pi.inspect(jax.jit(lambda x: x[:, :3]), array(auto_mesh(), (16, 64), "data", "model"))
    same = record.what_if(mesh={"data": 2, "model": 4})
    assert [own.local_shape for own in record.outputs] == [(8, 3)]
    assert [own.local_shape for own in same.outputs] == [(8, 3)]


# ---------------------------------------------------------------- what the record is


def test_it_goes_on_from_a_changed_record(record: pi.CompileRecord) -> None:
    first = record.what_if(mesh={"data": 4, "model": 8})
    second = first.what_if(specs={"result": P()})
    assert collectives(second) == [("all-gather", ("data",), 2048), ("all-reduce", ("model",), 2048)]
    assert second.data.hypothesis.origin.startswith("what if: mesh data=4 x model=8")
    back = second.what_if(mesh={"data": 2, "model": 4}, specs={"result": P("data", None)})
    assert collectives(back) == [SUM]


def test_it_says_what_it_is_and_never_that_it_ran(record: pi.CompileRecord) -> None:
    other = record.what_if(mesh={"data": 4, "model": 8})
    text = str(other)
    assert "what if: mesh data=4 x model=8" in text
    assert "never run" in text
    assert other.data.hypothesis.effort == "partition"
    assert other.data.kernel_times is None
    assert other.memory is None
    assert (other.timings.trace_s, other.timings.compile_s) == (None, None)
    assert record.data.hypothesis is None


def test_a_saved_one_is_read_as_what_it_is(record: pi.CompileRecord, tmp_path: Path) -> None:
    other = record.what_if(mesh={"data": 4, "model": 8}, specs={"result": P()})
    other.save(tmp_path / "other.pjit")
    read = pi.load(tmp_path / "other.pjit")
    assert read.data.hypothesis == other.data.hypothesis
    assert collectives(read) == collectives(other)
    # That changes can still be asked about is said only where the program can be compiled again.
    assert str(read).splitlines() == [
        own for own in str(other).splitlines() if not own.startswith("What to change (not asked yet")
    ]
    assert collectives(read.what_if(mesh={"data": 2, "model": 4})) == collectives(
        other.what_if(mesh={"data": 2, "model": 4})
    )


def test_the_record_and_the_users_function_are_untouched() -> None:
    record = made()
    before, calls = str(record), len(traced)
    record.what_if(mesh={"data": 4, "model": 8}, specs={"params": P()})
    assert str(record) == before
    assert collectives(record) == [SUM]
    assert len(traced) == calls
    assert len(jax.devices()) == 8


def test_specs_of_a_function_with_explicit_axes_are_refused() -> None:
    mesh = Mesh(auto_mesh().devices, ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    record = pi.inspect(jax.jit(lambda x: jnp.tanh(x).sum(1)), array(mesh, (32, 64), "data", "model"))
    with pytest.raises(ChangeError, match=r"traced with Explicit axes \(data, model\), where shardings are part of"):
        record.what_if(specs={"x": P("data", None)})
    assert collectives(record.what_if(mesh={"data": 4, "model": 4})) == [("all-reduce", ("model",), 32)]


def test_the_origin_of_a_program_of_one_device_is_one_device():
    one = pi.inspect(jax.jit(lambda x: x + 1), jax.ShapeDtypeStruct((8,), jnp.float32))
    changed = one.what_if(target="cpu:1", effort="full")
    assert changed.data.hypothesis is not None
    assert changed.data.hypothesis.origin == "1 cpu device, compiled to run"
