"""`%%px` cells: a notebook that drives the processes of one program through ipyparallel. Prints what it saw, as JSON.

    px_cells.py FOLDER PORT COUNT

COUNT engines; the second compiles one program more. Started by `test_ipyparallel.py` in a process of its own.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

FOLDER, PORT, COUNT = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
os.environ |= {
    "JAX_PLATFORMS": "cpu",
    "JAX_NUM_CPU_DEVICES": "2",
    "IPYTHONDIR": str(FOLDER / "ipython"),
    "JUPYTER_RUNTIME_DIR": tempfile.mkdtemp(dir=FOLDER),
}

import ipyparallel  # noqa: E402
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from IPython.utils.capture import capture_output  # noqa: E402

import pjit_inspect as pi  # noqa: E402

JOIN = f"""
import jax
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize("127.0.0.1:{PORT}", num_processes={COUNT}, process_id=rank, initialization_timeout=60)
"""
DEFINE = f"""
import jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape({COUNT}, 2), ("data", "model"))
x = jax.make_array_from_callback((8, 8), NamedSharding(mesh, P("data", "model")), lambda i: np.ones((8, 8))[i])

@jax.jit
def total(x):
    return x.sum()
"""
CAPTURED = f"""
import pjit_inspect as pi
if rank == 1:
    jax.jit(lambda x: x.max()).lower(x).compile()
pi.stop().save({str(FOLDER / "records")!r})
pi.__file__
"""


def main() -> None:
    """Start the engines, run the cells, print what came of them."""
    shell = InteractiveShell.instance()
    with ipyparallel.Cluster(n=COUNT, log_level=40, ipython_dir=str(FOLDER / "ipython")) as client:
        engines = client[:]
        engines.scatter("rank", list(range(COUNT)), flatten=True, block=True)
        engines.activate()
        shown = {name: run(shell, cell) for name, cell in CELLS.items()}
    merged = pi.merge(FOLDER / "records")
    (found,) = merged.differences
    seen = {"shown": shown, "difference": found.sentence, "cell": found.where and found.where.cell}
    sys.stdout.write(f"{json.dumps(seen)}\n")


CELLS = {
    "join": JOIN,
    "load": "%load_ext pjit_inspect",
    "define": DEFINE,
    "on": "%pjit on",
    "run": "%pjit total(x)",
    "save": CAPTURED,
    "unload": "%unload_ext pjit_inspect",
}


def run(shell: InteractiveShell, cell: str) -> str:
    """What a cell that begins with `%%px` prints and displays."""
    with capture_output() as output:
        shell.run_cell(f"%%px --block\n{cell}").raise_error()
    texts = [str(one.data.get("text/plain", "")) for one in output.outputs]
    return "\n".join((output.stdout, output.stderr, *texts))


main()
