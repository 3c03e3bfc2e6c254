"""XLA's text with comments: the user's lines, the causes of collectives, and a text that XLA's parser still takes."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import jax.numpy as jnp
from data.hlo_fixtures import xla_parser
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh

import pjit_inspect as pi


def step(w1: jax.Array, w2: jax.Array, x: jax.Array) -> jax.Array:
    def body(h: jax.Array, _: None) -> tuple[jax.Array, None]:
        return jnp.tanh(h @ w1) @ w2, None  # the layer

    return jax.lax.scan(body, x, length=3)[0].sum()


def test_kernels_and_collectives_have_comments_that_xla_skips() -> None:
    mesh = auto_mesh()

    def array(shape: tuple[int, int], *spec: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))

    record = pi.inspect(
        jax.grad(step), array((64, 128), None, "model"), array((128, 64), "model"), array((32, 64), "data")
    )
    text, plain = record.hlo_annotated or "", record.hlo_text or ""
    assert re.sub(r"(?m)^ *// .*\n", "", text) == plain
    above = {name: note for note, name in re.findall(r"(?m)^ *// (.*)\n *(?:ROOT )?%([\w.-]+) = ", text)}
    for row in record.collectives:
        assert above[row.instructions[0]].endswith(row.why)
        assert above[row.instructions[0]].startswith(f"{row.kind} over {row.axes_text} sends ")
    assert any(
        note.startswith("dot_general, forward: return jnp.tanh(h @ w1) @ w2, None # the layer (test_annotated.py:")
        for note in above.values()
    )
    parse = xla_parser().hlo_module_from_text
    assert parse(text).to_string() == parse(plain).to_string()


def test_a_record_from_a_file_has_them_too(tmp_path: Path) -> None:
    x = jax.ShapeDtypeStruct((8,), jnp.float32, sharding=NamedSharding(auto_mesh(), P("data")))
    record = pi.inspect(lambda x: x.sum(), x)
    record.save(tmp_path / "sum.pjit")
    assert pi.load(tmp_path / "sum.pjit").hlo_annotated == record.hlo_annotated
