"""The texts of a program are those that JAX and XLA print of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.observe.live import contents

MESH = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def sharded(*spec: str | None) -> jax.Array:
    return jax.device_put(np.ones((16, 16), np.float32), NamedSharding(MESH, P(*spec)))


def split(*spec: str | None) -> NamedSharding:
    return NamedSharding(MESH, P(*spec))


PROGRAMS: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
    "free results": lambda: (jax.jit(lambda x, w: (x @ w, x.sum())), (sharded("data"), sharded(None, "model"))),
    "a fixed result": lambda: (jax.jit(lambda x: x * 2, out_shardings=split()), (sharded("data"),)),
    "free arguments": lambda: (
        jax.jit(lambda x, y, z: {"a": (x + 1, y), "b": z @ x}, in_shardings=(None, split("data"), None)),
        (np.ones((8, 8)),) * 3,
    ),
    "a donated argument": lambda: (jax.jit(lambda x: x + 1, donate_argnums=0), (sharded("data"),)),
    "one device": lambda: (jax.jit(lambda x: x + 1), (np.ones(3),)),
    "a shard_map": lambda: (
        jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "data"), mesh=MESH, in_specs=P("data"), out_specs=P())),
        (sharded("data"),),
    ),
}


def plain(text: str | None) -> tuple[str, ...]:
    """The lines without numbers of stack frames, and JSON without its order: XLA prints these anew each time."""
    lines = re.sub(r"stack_frame_id=\d+", "", text or "").split("\n")
    kept = (line.partition("backend_config=")[0] for line in lines if not re.match(r"\d+ ", line))
    return tuple(kept)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("is_large", [False, True])
def test_the_hlo_text_is_what_jax_prints_of_the_executable(
    name: str, is_large: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(contents, "_LARGE_BYTES", 0 if is_large else 1 << 20)
    function, arguments = PROGRAMS[name]()
    with pi.capture() as log:
        compiled = function.lower(*arguments).compile()
    record = log.user_records()[-1]
    assert plain(record.hlo_text) == plain(compiled.as_text())
    record.save(tmp_path / "one.pjit")
    loaded = pi.load(tmp_path / "one.pjit")
    assert (loaded.hlo_text or "").partition("\n")[0] == compiled.as_text().partition("\n")[0]


def test_a_program_of_several_devices_says_so_and_what_propagation_may_choose():
    function, arguments = PROGRAMS["free results"]()
    (head, *_) = (pi.inspect(function, *arguments).hlo_text or "").splitlines()
    assert "num_partitions=8" in head
    assert "allow_spmd_sharding_propagation_to_output={true,true}" in head


def test_a_function_compiled_before_has_the_header_too():
    function, arguments = PROGRAMS["a fixed result"]()
    compiled = function.lower(*arguments).compile()
    function(*arguments)
    record = pi.inspect(function, *arguments)
    assert record.data.cached == "memory"
    assert (record.hlo_text or "").partition("\n")[0] == compiled.as_text().partition("\n")[0]


def scanned(x: jax.Array, w: jax.Array) -> jax.Array:
    def body(carry: jax.Array, _: None) -> tuple[jax.Array, None]:
        return jax.lax.with_sharding_constraint(jnp.tanh(carry @ w), split("data")), None

    with jax.named_scope('odd " loc(name'):
        return jax.lax.scan(jax.checkpoint(body), x, None, length=3)[0].sum() + jnp.asarray([1.5] * 40).sum()


@pytest.mark.parametrize("name", [*PROGRAMS, "a scan"])
def test_stablehlo_without_locations_is_what_jax_prints_without_them(name: str, tmp_path: Path):
    if name == "a scan":
        function, arguments = jax.jit(jax.grad(scanned, argnums=1)), (sharded("data"), sharded(None, "model"))
    else:
        function, arguments = PROGRAMS[name]()
    lowered = function.lower(*arguments)
    expected = str(lowered.compiler_ir().operation.get_asm(enable_debug_info=False, large_elements_limit=16))
    record = pi.inspect(lowered)
    assert record.stablehlo_text() == record.stablehlo
    assert " loc(" in (record.stablehlo or "")
    assert (record.stablehlo_text(locations=False) or "").rstrip() == expected.rstrip()
    record.save(tmp_path / "one.pjit")
    assert pi.load(tmp_path / "one.pjit").stablehlo_text(locations=False) == record.stablehlo_text(locations=False)


def test_a_record_without_stablehlo_has_no_text_of_it():
    assert pi.CompileRecord(pi.inspect(jnp.sin, 1.0).data.__class__(name="f")).stablehlo_text(locations=False) is None
