"""The pytest plugin, run as users run it: goldens, marks, pages."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

STEP = """
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def array(shape, *spec):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


ARGUMENTS = ({"w1": array((64, 128), None, "model"), "w2": array((128, 64), "model")}, array((32, 64), "data"))


def step(params, x):
    h = jnp.tanh(x @ params["w1"])
    return h @ params["w2"]
"""

TESTS = """
import jax
import numpy as np
import pytest
from step import ARGUMENTS, step


def test_step(pjit):
    record = pjit.record(step, *ARGUMENTS)
    assert record in pjit.records
    pjit.golden("step", hint=False)


@pytest.mark.pjit(no_recompile=True)
def test_steady():
    double = jax.jit(lambda x: 2 * x)
    double(np.ones(3))
    double(np.ones(4))


@pytest.mark.pjit(max_compiles=2)
def test_two_are_allowed():
    double = jax.jit(lambda x: 2 * x)
    double(np.ones(3))
    double(np.ones(4))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "step.py").write_text(STEP)
    (tmp_path / "test_it.py").write_text(TESTS)
    return tmp_path


def run(project: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    # Where the package is installed its entry point loads the plugin.
    if "pjit_inspect" not in {one.name for one in entry_points(group="pytest11")}:
        command += ["-p", "pjit_inspect.testing.plugin"]
    done = subprocess.run([*command, *options], cwd=project, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_a_golden_is_made_kept_and_compared(project: Path) -> None:
    only = ("-k", "test_step")
    assert "1 passed" in run(project, *only, "--pjit-golden-update", "--pjit-report", "pages")
    # Temporaries depend on the version of XLA.
    golden = re.sub(r"(temporaries  )[\d,]+ B", r"\1N B", (project / "pjit_goldens" / "step.txt").read_text())
    assert golden == (
        "# pjit golden 1: step\n"
        "# bytes of collectives are sent per device and call (modelled: ring), those of memory are XLA's own count\n"
        "mesh         data=2 x model=4\n"
        "argument     float32[64,128]  P(None, 'model')  # params['w1']\n"
        "argument     float32[128,64]  P('model', None)  # params['w2']\n"
        "argument     float32[32,64]  P('data', None)  # x\n"
        "result       float32[32,64]  P('data', None)  # result\n"
        'collective   all-reduce over model  6,144 B  1 run  contraction  # return h @ params["w2"]\n'
        "memory       temporaries  N B  # within 10%\n"
        "compiles     1\n"
    )
    # Names and places mean nothing.
    (project / "step.py").write_text("# moved\n" + STEP.replace("h = jnp", "hidden = jnp").replace("h @", "hidden @"))
    assert "1 passed" in run(project, *only)
    (project / "step.py").write_text(STEP.replace('array((128, 64), "model")', 'array((128, 64), None, "model")'))
    said = run(project, *only, "--pjit-report", "pages")
    assert "CheckFailedError: step: not as in its golden: argument, result, collective, memory" in said
    assert "- argument     float32[128,64]  P('model', None)  # params['w2']" in said
    assert "+ argument     float32[128,64]  P(None, 'model')  # params['w2']" in said
    index = (project / "pages" / "index.html").read_text()
    assert "1 of 1 test fails" in index
    (facts,) = [json.loads(path.read_text()) for path in (project / "pages").glob("*.json")]
    assert (project / "pages" / facts["records"][0]["page"]).exists()
    assert (project / "pages" / facts["records"][0]["compared"]).exists()


def test_a_marked_test_fails_where_something_is_compiled_again(project: Path) -> None:
    said = run(project)
    assert "2 failed, 1 passed" in said
    assert "NothingMatchedError: there is no golden step.txt" in said
    assert "pytest test_it.py::test_step --pjit-golden-update" in said
    assert "UnexpectedCompileError: <lambda> was compiled" in said
    assert "length 3 -> 4 (dimension 0)" in said
    assert "where      test_it.py:18" in said


def test_workers_of_xdist_share_goldens_and_pages(project: Path) -> None:
    pytest.importorskip("xdist")
    for name in ("a", "b", "c"):
        (project / f"test_{name}.py").write_text(
            "from step import ARGUMENTS, step\n\n\ndef test_own(pjit):\n    pjit.record(step, *ARGUMENTS)\n"
            "    pjit.golden('step', hint=False)\n"
        )
    only = ("-n", "2", "-k", "test_own")
    assert "3 passed" in run(project, *only, "--pjit-golden-update")
    assert "3 passed" in run(project, *only, "--pjit-report", "pages")
    assert "All 3 tests pass" in (project / "pages" / "index.html").read_text()
    assert len(list((project / "pages").glob("*.json"))) == 3


def test_it_can_be_left_out(project: Path) -> None:
    said = run(project, "-p", "no:pjit_inspect", "-p", "no:pjit_inspect.testing.plugin", "-k", "test_step")
    assert "fixture 'pjit' not found" in said


def test_until_it_is_used_it_loads_neither_jax_nor_the_package(project: Path) -> None:
    (project / "test_it.py").write_text(
        "import sys\n\ndef test_it():\n    assert 'jax' not in sys.modules\n"
        "    assert [name for name in sys.modules if name.startswith('pjit_inspect.')] == "
        "['pjit_inspect.testing', 'pjit_inspect.testing.plugin']\n"
    )
    assert "1 passed" in run(project)
