"""What a comparison shows, writes and refuses, of records, files, and what was asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from causes.meshes import array
from data import hlo_fixtures as fixtures
from jax.sharding import PartitionSpec as P

import pjit_inspect
from pjit_inspect.analyze.diff.sentence import diff_answer
from pjit_inspect.cli import main
from pjit_inspect.model.diff.diff import LoweringDiff, Setting, Stages
from pjit_inspect.model.diff.pairs import ArrayDiff, Change, ShardingDiff

DATA = Path(fixtures.__file__).parent


def step(x, w):
    return jnp.tanh(x @ w)


@pytest.fixture(scope="module")
def records() -> tuple[pjit_inspect.CompileRecord, pjit_inspect.CompileRecord]:
    x = array((64, 256), "data", None)
    f = jax.jit(step)
    return (
        pjit_inspect.inspect(f, x, array((256, 512), None, "model")),
        pjit_inspect.inspect(f, array((64, 256), "data", "model"), array((256, 512), "model", None)),
    )


def test_kernels_that_differ_are_not_called_the_same():
    x, w = np.ones((8, 16), np.float32), np.ones((16, 16), np.float32)

    def largest(x, w):
        return jnp.tanh(x @ w).max(0)

    def last(x, w):
        return jnp.tanh(x @ w)[-1] * 2

    before, after = (pjit_inspect.inspect(jax.jit(f), x, w) for f in (largest, last))
    diff = pjit_inspect.diff(before, after)
    changed = [pair.status for pair in diff.data.kernels if pair.status != "same"]
    assert changed
    assert len(before.fusions) == len(after.fusions)
    assert "kernels: " in diff.sentence
    assert "the same collectives, kernels" not in diff.sentence


@pytest.mark.parametrize("has_settings", [False, True])
def test_an_answer_that_calls_something_the_same_says_what_else_is_listed(has_settings: bool):
    x = array((8, 16), "model", None)
    same = pjit_inspect.inspect(jax.jit(lambda x: jnp.tanh(x).sum()), x)
    data = pjit_inspect.diff(same, same).data
    changes = (Change(name="spec", before="P()", after="P('x')"),)
    first, second = data.shardings[:2]
    rows = (replace(first, changes=changes), replace(second, before=None), replace(first, changes=changes))
    shardings = ShardingDiff(rows)
    arguments = ArrayDiff(tuple(replace(pair, changes=changes) for pair in data.arguments))
    settings = (Setting(kind="flag", name="flag", before="a", after="b"),) if has_settings else ()
    found = diff_answer(replace(data, shardings=shardings, arguments=arguments, settings=settings))
    same_words = "flag a -> b" if has_settings else "the same collectives, kernels and memory"
    assert found == f"{same_words}; arguments: 1 changed; shardings of values: 1 new, 2 changed"
    same_jax = LoweringDiff(before=1, after=1, is_same=True)
    found = diff_answer(replace(data, shardings=shardings, settings=settings, stages=Stages(lowering=same_jax)))
    assert found.endswith("JAX's lowering is the same, too; shardings of values: 1 new, 2 changed")


def test_the_answer_says_bytes_counts_and_the_spec_that_is_the_reason(records):
    diff = pjit_inspect.diff(*records)
    assert "0 -> 1 collectives" in diff.sentence
    assert "1 all-reduce over `model` is new because" in diff.sentence
    assert "`w` is `P('model', None)`, was `P(None, 'model')`" in diff.sentence
    assert [row.kind for row in diff.collectives.added] == ["all-reduce"]
    assert diff.arguments.changed[0].changes
    assert {pair.by for pair in diff.arguments} == {("path",)}


def test_a_record_compares_itself_with_an_earlier_one(records):
    before, after = records
    assert after.diff(before) == pjit_inspect.diff(before, after)


def test_text_json_and_page_say_the_same(records, tmp_path: Path):
    diff = pjit_inspect.diff(*records)
    text = str(diff)
    assert repr(diff.show("text")) == text
    assert max(map(len, text.splitlines())) <= 100
    read = json.loads(diff.to_json())
    assert read["sentence"] == str(diff.sentence)
    assert [row["kind"] for row in read["collectives"]["added"]] == ["all-reduce"]
    diff.to_html(tmp_path / "diff.html")
    page = (tmp_path / "diff.html").read_text()
    assert "1 all-reduce over" in page
    assert "default-src 'none'" in page
    assert page.count("<script") == 4
    assert "https://" not in page


def test_a_table_of_pairs_can_be_copied(records):
    diff = pjit_inspect.diff(*records)
    lines = diff.arguments.to_csv().splitlines()
    assert lines[0].startswith("status,by,changes,reason,path,")
    assert lines[1].startswith("changed,path,spec: ") or "changed,path," in lines[1]
    assert diff.collectives.to_markdown().count("\n") == 3


def test_a_view_that_does_not_exist_is_refused(records):
    with pytest.raises(ValueError, match="the views are text, html"):
        pjit_inspect.diff(*records).show("widget")  # type: ignore[arg-type]


def test_a_record_does_not_differ_from_its_file(records, tmp_path: Path):
    records[1].save(tmp_path / "one.pjit")
    assert pjit_inspect.diff(records[1], pjit_inspect.load(tmp_path / "one.pjit")).is_empty


def test_what_if_is_compared_at_the_partitioner(records):
    asked = records[0].what_if(specs={"x": P("data", "model"), "w": P("model", None)})
    diff = pjit_inspect.diff(records[0], asked)
    assert diff.data.before.is_partial
    assert diff.data.after.is_partial
    assert [row.kind for row in diff.collectives.added] == ["all-reduce"]


def test_other_shapes_are_not_the_same_work(records):
    other = pjit_inspect.inspect(jax.jit(step), array((128, 256), "data", None), array((256, 512), None, "model"))
    diff = pjit_inspect.diff(records[0], other)
    assert str(diff.data.parity[0]) == "`x` `f32[64,256]` -> `f32[128,256]`"
    assert str(diff).startswith("note  Not the same work: ")


@pytest.mark.parametrize("name", fixtures.ALL)
def test_a_program_from_a_file_does_not_differ_from_itself(name: str):
    one, two = (pjit_inspect.open(DATA / f"{name}.hlo.gz") for _ in range(2))
    assert pjit_inspect.diff(one, two).is_empty


def test_the_command_line_prints_text_or_json_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    paths = [str(DATA / f"mlp_step.{target}.hlo.gz") for target in ("cpu_8", "v5e_2x4")]
    page = tmp_path / "diff.html"
    assert main(["diff", *paths, "-o", str(page), "--exit-zero"]) == 0
    assert capsys.readouterr().out == f"wrote {page}\n"
    assert main(["diff", *paths]) == 1
    assert "collectives" in capsys.readouterr().out
    assert main(["diff", *paths, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["version"] == 1


def test_the_command_line_names_the_programs_of_a_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for number, (name, module) in enumerate((("mlp_step.cpu_8", "jit_step"), ("pallas.v5e", "jit__lambda"))):
        path = tmp_path / f"module_{number:04d}.{module}.cpu_after_optimizations.txt"
        path.write_text(fixtures.text(name))
    assert main(["diff", str(tmp_path), str(tmp_path)]) == 2
    assert "has 2 programs: --only NAME picks one of" in capsys.readouterr().err
    assert main(["diff", str(tmp_path), str(tmp_path), "--only", "step"]) == 0
    assert "nothing differs" in capsys.readouterr().out


def test_values_that_differ_in_shape_alone_are_shown_with_their_shapes():
    """Type and spec alone would be the same words twice."""
    before, after = (pjit_inspect.inspect(jax.jit(lambda x: x * 2 + 1), jnp.ones((rows, 4))) for rows in (8, 16))
    text = str(pjit_inspect.diff(before, after).show("text"))
    section = text[text.index("shardings: ") :].split("\n\n")[0]
    rows = [line for line in section.splitlines()[2:] if line.startswith("~")]
    assert rows
    assert all("f32[8,4]" in line and "f32[16,4]" in line for line in rows)
