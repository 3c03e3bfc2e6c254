"""Twenty questions about five programs, answered by commands of SKILL.md alone; the answers were reckoned by hand."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.cli import main

P = PartitionSpec
SKILL = files("pjit_inspect").joinpath("SKILL.md").read_text(encoding="utf-8")


def mesh() -> jax.sharding.Mesh:
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def array(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh(), P(*spec)))


def mlp(w1, w2, x):
    return jnp.tanh(x @ w1) @ w2


def gathered(w):
    return jax.lax.with_sharding_constraint(w, NamedSharding(mesh(), P())) * 2


def turns(x):
    def body(piece):
        return jax.lax.scan(lambda own, _: (jnp.sin(jax.lax.psum(own, "model")), None), piece, None, length=5)[0]

    return jax.shard_map(body, mesh=mesh(), in_specs=P("model"), out_specs=P("model"), check_vma=False)(x)


def alone(x):
    return jnp.tanh(x)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The five programs: sharded by columns and rows, weights gathered, a loop, no communication, and a cut text."""
    folder = tmp_path_factory.mktemp("programs")
    first = pi.inspect(mlp, array((256, 512), None, "model"), array((512, 256), "model"), array((64, 256), "data"))
    first.save(folder / "mlp.pjit")
    pi.inspect(gathered, array((256, 128), "data")).save(folder / "gathered.pjit")
    pi.inspect(turns, array((32,), "model")).save(folder / "turns.pjit")
    donated = jax.jit(alone, donate_argnums=0)
    pi.inspect(donated, array((64, 128), "data", "model")).save(folder / "alone.pjit")
    text = first.hlo_text or ""
    (folder / "cut.txt").write_text(text[: text.rindex("\n}")])
    return folder


def cells(envelope: dict[str, Any]) -> list[Any]:
    """The values of all rows without their ids."""
    return [value for row in envelope["rows"] for name, value in row.items() if name != "id"]


QUESTIONS: list[tuple[str, str, Callable[[dict[str, Any]], Any], Any]] = [
    ("How many collectives has the MLP?", "mlp.pjit collectives", lambda e: e["total"], 1),
    ("Which kind, over which axes?", "mlp.pjit collectives --columns kind,axes", cells, ["all-reduce", ["model"]]),
    # f32[32,256] on each of 4 devices of a ring: 2 * 3/4 * 32768.
    ("What does it send?", "mlp.pjit collectives --columns sent_bytes", cells, [49152]),
    ("Why is it there?", "mlp.pjit why --columns causes", cells, ["contraction"]),
    (
        "In words?",
        "mlp.pjit why --columns why",
        lambda e: "512 elements are split over `model`" in cells(e)[0],
        True,
    ),
    ("Does it communicate over data?", "mlp.pjit collectives --over data", lambda e: e["status"], "EMPTY"),
    ("Is there an axis modl?", "mlp.pjit collectives --over modl", lambda e: e["near"], {"axes": ["model"]}),
    (
        "Which arguments, and which specs?",
        "mlp.pjit arguments --columns path,spec",
        cells,
        ["w1", "P(None, 'model')", "w2", "P('model', None)", "x", "P('data', None)"],
    ),
    # 256 * 128, 128 * 256 and 32 * 256 floats.
    (
        "What do the arguments need on a device?",
        "mlp.pjit sql 'select sum(bytes_per_device) as bytes_per_device from arguments'",
        cells,
        [131072 + 131072 + 32768],
    ),
    (
        "Which arguments does every device hold in full?",
        "mlp.pjit sql 'select path from arguments where replication = 8'",
        lambda e: (e["status"], e["total"]),
        ("EMPTY", 0),
    ),
    ("What is gathered?", "gathered.pjit collectives --kind all-gather --columns axes", cells, [["data"]]),
    # f32[128,128] of two halves: each device sends its own.
    ("What does that send?", "gathered.pjit collectives --columns sent_bytes", cells, [65536]),
    ("On how many devices is each element of w?", "gathered.pjit arguments --columns path,replication",
     cells, ["w", 4]),
    ("How often does the sum of the loop run?", "turns.pjit collectives --columns count", cells, [5]),
    # 8 floats: 2 * 3/4 * 32 bytes, five times.
    ("What does it send in a call?", "turns.pjit sql 'select sum(sent_bytes) as sent_bytes from collectives'", cells,
     [240]),
    ("Did the user write it?", "turns.pjit collectives --columns implicit,causes", cells, [False, "written"]),
    ("Does tanh communicate?", "alone.pjit collectives", lambda e: (e["status"], e["total"]), ("EMPTY", 0)),
    # 64 * 128 floats on 8 devices.
    ("What does a device hold of its result?", "alone.pjit results --columns bytes_per_device", cells, [4096]),
    ("Does the result reuse an argument?", "alone.pjit results --columns aliases", cells, ["x"]),
    # Its text ends within the main computation, so that nobody knows what follows.
    ("How many all-gathers has the program that is cut off?", "cut.txt collectives --kind all-gather",
     lambda e: (e["status"], e["error"]["kind"]), ("ERROR", "not known")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "command", "read", "right"), QUESTIONS, ids=[one[0] for one in QUESTIONS])
def test_a_question_gets_its_answer(
    question: str,
    command: str,
    read: Callable[[dict[str, Any]], Any],
    right: Any,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
):
    file, *words = shlex.split(command)
    assert all(word in SKILL for word in words[:1] + [w for w in words if w.startswith("--")])
    code = main(["query", str(folder / file), *words])
    envelope = json.loads(capsys.readouterr().out)
    assert code == (2 if envelope["status"] == "ERROR" else 0)
    assert read(envelope) == right


def test_there_are_twenty_questions_about_five_programs():
    assert len(QUESTIONS) == 20
    assert len({command.split()[0] for _, command, _, _ in QUESTIONS}) == 5
