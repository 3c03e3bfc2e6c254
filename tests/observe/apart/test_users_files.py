"""No file of the user's is executed by a helper, and causes are found as ever, whatever the files are called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pjit_inspect

ROOT = str(Path(pjit_inspect.__file__).parents[1])

SCRIPT = """
import os, sys
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_num_cpu_devices", 8)
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
import pjit_inspect as pi
jax.devices()  # JAX itself imports what it needs to find its backends.
sys.path.insert(0, sys.argv[1])
os.chdir(sys.argv[1])
mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
place = lambda spec: jax.device_put(np.ones((64, 64), np.float32), NamedSharding(mesh, spec))
record = pi.inspect(jax.jit(lambda w, x: jnp.tanh(x @ w)), place(P("model", None)), place(P("data", "model")))
record.ask_partitioner()
print(record.collectives[0].cause.sentence)
record.save("own.pjit")
loaded = pi.load("own.pjit")
print(loaded.hlo_text.split(",")[0])
print(loaded.what_if(mesh={"data": 4, "model": 2}).data.missing.get("partitioner"))
play = loaded.playground()
print(play.wait().stage)
play.close()
"""


def test_no_file_of_the_users_is_executed_by_a_helper(tmp_path: Path) -> None:
    project, ran = tmp_path / "project", tmp_path / "ran"
    project.mkdir()
    ran.mkdir()
    marker = f"import os; open({str(ran)!r} + f'/{{__name__}}_{{os.getpid()}}', 'w').close()\n"
    names = {*sys.stdlib_module_names, "sitecustomize", "usercustomize", "numpy", "scipy", "etils", "pjit_inspect"}
    for name in names:
        (project / f"{name}.py").write_text(marker)
    (project / "own.pth").write_text(marker)
    environment = {**os.environ, "PYTHONPATH": ROOT, "PYTHONSAFEPATH": "1"}
    # For the helpers alone: Python itself would take these for the user's process, too.
    script = tmp_path / "script.py"
    script.write_text(f"import os\nos.environ['PYTHONPATH'] = {str(project)!r}" + SCRIPT)
    done = subprocess.Popen(
        [sys.executable, str(script), str(project)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    said, errors = done.communicate()
    cause, text, what_if, stage = said.splitlines() or [errors] * 4
    assert "sums over" in cause
    assert text.startswith("HloModule jit_")
    assert (what_if, stage) == ("None", "partitioned")
    elsewhere = sorted(path.name for path in ran.iterdir() if not path.name.endswith(f"_{done.pid}"))
    assert elsewhere == []
    here = {path.name.rpartition("_")[0] for path in ran.iterdir()}
    # Protobuf imports `calendar` itself, where JAX has not done so before (Python 3.13).
    assert here - ({"calendar"} if sys.version_info >= (3, 13) else set()) == set()
