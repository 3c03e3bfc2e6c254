"""`check`: each exit code, the words, and what a budget may hold; `query`: each status, and reading only."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jax
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.cli import main
from pjit_inspect.errors import ParseError
from pjit_inspect.testing.budget import read_budget
from pjit_inspect.view.render.markdown import in_markdown

DATA = Path(__file__).parents[1] / "data"
MLP = DATA / "mlp.before_xla_was_asked.pjit"

PROGRAM = """\
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

def mlp(w1, w2, x):
    return jnp.tanh(x @ w1) @ w2

def arrays():
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    def one(shape, *spec):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))
    return one((256, 512), None, "model"), one((512, 256), "model"), one((64, 256), "data")

def pair():
    print("the user's output")
    return mlp, arrays()

def called():
    for dtype in (jnp.float32, jnp.bfloat16):
        jax.jit(mlp)(*(jnp.zeros(one.shape, dtype, device=one.sharding) for one in arrays()))
"""


def check(
    budget: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *options: str, program: str | Path = MLP
) -> tuple[int, str, str]:
    """The exit code of `check`, what it printed, and its complaints."""
    (tmp_path / "budget.toml").write_text(budget)
    code = main(["check", str(program), "--budget", str(tmp_path / "budget.toml"), *options])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_program_within_its_budget_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    budget = "[collectives]\ntotal = 2\nall-to-all = 0\n[sent_bytes]\ndata = '2 KiB'\n[memory_bytes]\npeak = '1 MiB'\n"
    code, out, _ = check(budget, tmp_path, capsys)
    assert code == 0
    assert (
        out
        == """\
mlp: within all 4 budgets

  collectives            2 of        2  ok  ########|
  all-to-all             0 of        0  ok          |
  sent over data      2.00 of 2.00 KiB  ok  ########|
  peak memory     12.5 KiB of    1 MiB  ok          |

  known by   collectives counted; sent modelled, ring; peak memory modelled
"""
    )


def test_a_limit_that_is_exceeded_ends_with_1_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code, out, _ = check("[sent_bytes]\ndata = '1 KiB'\n[collectives]\ntotal = 2\n", tmp_path, capsys)
    assert code == 1
    assert (
        out
        == """\
mlp: 1 of 2 budgets exceeded

  sent over data  2.00 of 1.00 KiB  x 2.0  ########|########
  collectives        2 of        2  ok     ########|

  because    It belongs to `dot_general` (mlp.py:10). By that name alone, the cause is probably
               reshard needed.
  known by   sent modelled, ring; collectives counted
"""
    )


def test_a_name_that_does_not_exist_ends_with_1_and_says_which_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code, out, _ = check("[sent_bytes]\nmodle = 0\n[collectives]\nall-gater = 0\n", tmp_path, capsys)
    assert code == 1
    assert (
        out
        == """\
mlp: 2 of 2 budgets match nothing

  sent over modle  nothing of 0 B  no such name
  all-gater        nothing of   0  no such name

  no such    sent over modle: there is model
             all-gater: there are all-gather, all-to-all, all-reduce
"""
    )


def test_what_is_unknown_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code, out, _ = check("[compiles]\ntotal = 1\n", tmp_path, capsys)
    assert code == 2
    assert (
        out
        == """\
mlp: 1 of 1 budget unknown

  compiles  unknown of 1  ?

  unknown    compiles: a file holds one compile; name a function, as in train.py:step
"""
    )


def test_an_incomplete_program_is_unknown_or_over_never_within(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    found = pi.open(MLP)
    assert isinstance(found, pi.CompileRecord)
    text = found.hlo_text or ""
    (tmp_path / "cut.txt").write_text(text[: text.rindex("\n}")])
    code, out, _ = check("[collectives]\ntotal = 9\n", tmp_path, capsys, program=tmp_path / "cut.txt")
    assert (code, out.splitlines()[2]) == (2, "  collectives  at least 1 of 9  ?  #       |")
    assert check("[collectives]\ntotal = 0\n", tmp_path, capsys, program=tmp_path / "cut.txt")[0] == 1


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("sent = ", "it is no TOML: Invalid value (at end of document)"),
        ("", "it has no limit (expected a table, as in [sent_bytes] and total = '2 MiB')"),
        ("[sent]\ntotal = 1", "'sent' is no table of a budget (expected one of sent_bytes, "),
        ("[memory_bytes]\npeek = 1", "[memory_bytes] has no 'peek' (expected one of peak, temporaries, arguments)"),
        (
            "[sent_bytes]\ntotal = '2 MB'",
            "[sent_bytes] total: '2 MB' is no size: expected bytes, or text as in '2 MiB'",
        ),
        ("[collectives]\ntotal = '2'", "[collectives] total is '2' (expected a number, 0 or more)"),
        ("[seconds]\nstep = -1", "[seconds] step is -1 (expected a number, 0 or more)"),
    ],
)
def test_a_budget_that_is_none_ends_with_2(budget: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(ParseError):
        read_budget(budget, "budget.toml")
    code, out, err = check(budget, tmp_path, capsys)
    assert (code, out) == (2, "")
    assert words in err


def test_a_program_that_is_not_there_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code, out, err = check("[collectives]\ntotal = 1\n", tmp_path, capsys, program=tmp_path / "no.pjit")
    assert (code, out) == (2, "")
    assert "No such file or directory" in err


def test_a_function_is_compiled_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "budgeted_train.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    budget = "[compiles]\nmlp = 1\n[sent_bytes]\nmodel = '48 KiB'\n"
    code, out, err = check(budget, tmp_path, capsys, "--devices", "8", program="budgeted_train.py:pair")
    assert (code, out.splitlines()[0], err) == (0, "mlp: within all 2 budgets", "")
    code, out, _ = check(budget, tmp_path, capsys, "--devices", "8", program="budgeted_train:called")
    assert code == 1
    assert "compiles of mlp      2 of         1  x 2.0  ########|########" in out
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "json.py").write_text(PROGRAM)
    code, _, err = check(budget, tmp_path, capsys, program="own/json.py:pair")
    assert code == 2
    assert "json.py has the name of another module, json; import it as MODULE:FUNCTION" in err
    code, _, err = check(budget, tmp_path, capsys, program="budgeted_train.py:nothing")
    assert code == 2
    assert "budgeted_train has no 'nothing'" in err


def test_json_and_markdown_have_the_program_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    paths = [DATA / f"mlp_step.{target}.hlo.gz" for target in ("cpu_8", "v5e_2x4")]
    options = ("--base", str(paths[1]), "--mesh", "data=2,model=4")
    budget = "[sent_bytes]\ndata = '5 MiB'\n[collectives]\ntotal = 3\n"
    code, out, _ = check(budget, tmp_path, capsys, "--json", *options, program=paths[0])
    read = json.loads(out)
    assert (code, read["status"], read["schema"]) == (1, "EXCEEDED", "pjit_inspect/check/1")
    assert read["capture"]["mesh"] == {"data": 2, "model": 4}
    assert [(one["name"], one["base"], one["now"], one["ok"]) for one in read["parts"]] == [
        ("data", 4194308, 8388612, False),
        ("total", 3, 2, True),
    ]
    page = tmp_path / "comment.md"
    code, out, _ = check(budget, tmp_path, capsys, "--markdown", "-o", str(page), *options, program=paths[0])
    assert (code, out) == (1, f"step: 1 of 2 budgets exceeded\nwrote {page}\n")
    head, facts, table, *rest = page.read_text().split("\n\n")
    assert head.startswith(
        "### `step`: 1 of 2 budgets exceeded; sends 4.75 -> 9.50 MiB per device (+100 %); 3 -> 2 collectives; "
    )
    assert facts == "`pjit_inspect check` · `data` 2 × `model` 4"
    assert (
        table
        == """\
| | base | this | | allowed | known by |
|:--|--:|--:|--:|--:|:--|
| sent over data, MiB | 4.00 | **8.00** | +100 % | 5.00 | modelled, ring |
| collectives | 3 | 2 | -33 % | 3 | counted |
| sent | 4.75 MiB | 9.50 MiB | +100 % | | modelled |
| kernels | 7 | 19 | +171 % | | counted |
| matrix products | 2.68 GFLOP | 2.68 GFLOP | same | | counted |"""
    )
    assert rest[0] == "**Because**"
    assert rest[2] == "<details><summary>1 collective came, 2 went, 0 are the same</summary>"
    assert [line[:5] for line in rest[3].splitlines()[2:]] == ["| + |", "| − |", "| − |"]


def test_without_a_budget_the_program_before_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    paths = [str(DATA / f"mlp_step.{target}.hlo.gz") for target in ("cpu_8", "v5e_2x4")]
    code = main(["check", paths[0], "--base", paths[1], "--mesh", "data=2,model=4", "--json"])
    read = json.loads(capsys.readouterr().out)
    assert (code, read["status"], read["parts"]) == (1, "DIFFERS", [])
    sent = next(one for one in read["figures"] if one["name"] == "sent")
    assert (sent["base"], sent["now"], sent["unit"]) == (4980740, 9961476, "bytes")
    assert main(["check", paths[0], "--base", paths[0]]) == 0
    capsys.readouterr()
    # Within the budget it passes, and the answer says that something differs all the same.
    code, out, _ = check("[collectives]\ntotal = 9\n", tmp_path, capsys, "--json", "--base", paths[1], program=paths[0])
    assert (code, json.loads(out)["status"]) == (0, "DIFFERS")
    assert main(["check", paths[0]]) == 2
    assert "give --budget, --base, or both" in capsys.readouterr().err


def test_of_a_file_too_it_says_what_would_remove_a_collective(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    mesh = jax.make_mesh((8,), ("X",), axis_types=(AxisType.Auto,))

    def array(shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    # `w1` is wanted by columns, as `w2` is by rows.
    found = pi.inspect(
        lambda x, w1, w2: jax.nn.relu(x @ w1) @ w2, array((16, 32)), array((32, 128), "X"), array((128, 32), "X")
    )
    found.save(tmp_path / "step.pjit")
    code, out, _ = check("[collectives]\nall-to-all = 0\n", tmp_path, capsys, "--json", program=tmp_path / "step.pjit")
    read = json.loads(out)
    assert (code, read["status"]) == (1, "EXCEEDED")
    assert read["remove"][0].endswith("pass w1 as P(None, 'X')")
    assert read["remove"][1] == "5.25 KiB -> 3.50 KiB sent, as XLA's partitioner makes both"
    assert main(["query", str(tmp_path / "step.pjit"), "advice"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["change"], row["sent"]) == ("pass w1 as P(None, 'X')", [5376, 3584])


def test_names_from_a_file_move_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    data = pi.load(MLP).data
    pi.CompileRecord(replace(data, name="ml\x1b[2Jp`")).save(tmp_path / "odd.pjit")
    for option in ((), ("--json",), ("--markdown",)):
        _, out, _ = check("[collectives]\ntotal = 9\n", tmp_path, capsys, *option, program=tmp_path / "odd.pjit")
        assert "\x1b" not in out
        assert "[2Jp" in out


def test_names_in_a_comment_are_no_markup():
    assert in_markdown("a <b> `<c> | d` [e](f)\n*g*") == "a &lt;b> `<c> \\| d` \\[e\\](f) \\*g\\*"


# ---------------------------------------------------------------- questions


def query(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    code = main(["query", str(MLP), *words])
    return code, json.loads(capsys.readouterr().out)


def test_an_answer_has_the_fields_of_the_envelope(capsys: pytest.CaptureFixture[str]):
    code, found = query(capsys, "collectives", "--top", "1")
    assert (code, found["status"], found["total"], found["next"]) == (0, "OK", 2, "c1")
    fields = "status schema query capture units known_by total rows next"
    assert list(found) == fields.split()
    assert list(found["capture"]) == ["file", "program", "mesh", "target", "jax", "warnings"]
    code, found = query(capsys, "collectives", "--top", "1", "--after", "c1", "--columns", "kind")
    assert (code, found["rows"], found["next"]) == (0, [{"id": "c2", "kind": "all-reduce"}], None)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((), ("wrong arguments", "a question is a REPORT, or `sql` and a SELECT", "collectives")),
        (("collective",), ("no such report", "there is no report 'collective'", "collectives")),
        (("kernels", "--over", "data"), ("no such column", "kernels has no axes for --over", "collectives")),
        (("kernels", "--columns", "byte_read"), ("no such column", "there is no column 'byte_read'", "bytes_read")),
        (("kernels", "--after", "k99"), ("no such row", "there is no row 'k99'", "k1")),
        (("sql", "select size from kernels"), ("sql", "no such column: size", "source")),
        (("sql", "delete from kernels"), ("sql", "not authorized", "")),
        (("sql", "attach 'x' as y"), ("sql", "not authorized", "")),
        (("sql", "pragma query_only = 0"), ("sql", "not authorized", "")),
    ],
)
def test_an_error_says_what_there_is(
    words: tuple[str, ...], error: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
):
    code, found = query(capsys, *words)
    assert (code, found["status"]) == (2, "ERROR")
    assert (found["error"]["kind"], found["error"]["message"]) == error[:2]
    assert not error[2] or error[2] in found["error"]["near"]


def test_a_file_takes_what_is_large_or_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    code, found = query(capsys, "kernels", "--out", str(tmp_path / "kernels.json"))
    assert (code, found["status"], found["total"]) == (0, "SAVED_TO_FILE", 3)
    assert found["file_path"] == str(tmp_path / "kernels.json")
    assert json.loads((tmp_path / "kernels.json").read_text())["status"] == "OK"
    counted = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 9999) select i from n"
    code, found = query(capsys, "sql", counted)
    saved = Path(found["file_path"])
    assert (code, found["status"], found["total"]) == (0, "SAVED_TO_FILE", 9999)
    assert len(json.loads(saved.read_text())["rows"]) == 9999
    saved.unlink()


def test_the_skill_is_written_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["skill", str(tmp_path)]) == 0
    path = tmp_path / "pjit_inspect" / "SKILL.md"
    assert capsys.readouterr().out == f"wrote {path}\n"
    assert path.read_text().startswith("---\nname: pjit_inspect\n")
    assert main(["skill", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file_path"] == str(path)
