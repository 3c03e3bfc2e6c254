"""Use every dependency once, on the installed pjit_inspect: a few seconds that find a version it does not work with.

    python scripts/smoke.py                   every step by name; ends with 1 at the first that fails
    python scripts/smoke.py --record newest   the same; what passed is kept in docs/smoke.json
    python scripts/smoke.py --floors          the package's minimum requirements, as pip takes them; needs no package

Each step is a claim a user relies on. Needs no test tools, so that it runs where only the package is. Not its job: to
install versions (`scripts/test-versions` does); whether every figure is right (the tests).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROJECT, DATA = ROOT / "pyproject.toml", ROOT / "docs" / "smoke.json"


# ---------------------------------------------------------------- the steps


def program() -> tuple[Any, Any, Any]:
    """A matmul that needs one all-reduce, and its arguments, on a mesh of 2 x 4."""
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
    x = jax.device_put(np.ones((8, 16), np.float32), NamedSharding(mesh, P("data", "model")))
    w = jax.device_put(np.ones((16, 4), np.float32), NamedSharding(mesh, P("model", None)))

    @jax.jit
    def product(x: Any, w: Any) -> Any:
        return x @ w

    return product, x, w


def steps(folder: Path) -> Iterator[tuple[str, Callable[[], bool]]]:
    """What is tried: a name, and a function that returns whether it is so."""
    import pjit_inspect as pi

    product, x, w = program()
    log = pi.start()
    result = product(x, w)
    yield "start and stop record a compile", lambda: pi.stop() is log and "product" in log.names()
    record = log["product"]
    yield "the result is the user's", lambda: float(result.sum()) == 8 * 16 * 4
    yield "the collective is found", lambda: [c.kind for c in record.collectives] == ["all-reduce"]
    yield "its axis is the user's", lambda: record.collectives[0].axes == ("model",)
    yield "it has a cause", lambda: record.collectives[0].cause.kind == "contraction"
    yield "a program that only compiles is recorded", lambda: pi.inspect(product, x, w).name == "product"
    yield "the text", lambda: "all-reduce" in str(record.show("text"))
    page, file, picture = folder / "page.html", folder / "record.pjit", folder / "picture.svg"
    yield "the page", lambda: record.to_html(page) is None and page.stat().st_size > 100_000
    yield "the picture", lambda: record.to_svg(picture) is None and picture.read_text("utf-8").startswith("<svg")
    if "plotly" in dict(versions()):
        yield "a figure of plotly", lambda: "data" in record.figures.axis_totals.to_plotly_json()
    yield "the widget", lambda: bool(record.show("widget").selection)
    yield "a file and back", lambda: record.save(file) is None and len(pi.load(file).collectives) == 1
    yield "HLO text", lambda: bool(folder.joinpath("m.hlo").write_text(record.hlo_text, "utf-8"))
    yield "is read", lambda: len(pi.open(folder / "m.hlo").collectives) == 1
    yield "the ledger", lambda: "product" in str(pi.ledger(log).show())
    yield from magic_steps(folder)


def magic_steps(folder: Path) -> Iterator[tuple[str, Callable[[], bool]]]:
    """`%pjit` in an IPython of its own."""
    os.environ["IPYTHONDIR"] = str(folder)
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)

    def said(cell: str) -> str:
        with capture_output() as captured:
            shell.run_cell(cell).raise_error()
        shown = (output.data.get("text/plain", "") for output in captured.outputs)
        return "\n".join((captured.stdout + captured.stderr, *shown))

    yield "%load_ext says nothing of versions", lambda: said("%load_ext pjit_inspect") == ""
    cell = "import jax\n%pjit --view text jax.jit(lambda v: v + 1)(1)"
    yield "%pjit shows", lambda: "<lambda>  jit" in said(cell)
    yield "the magic completes", lambda: "ledger" in shell.complete("%pjit led")[1]
    yield "%unload_ext", lambda: said("%unload_ext pjit_inspect") == ""


def run() -> int:
    """Try every step; 1 at the first that fails, or at the end when something of ours was warned of."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_NUM_CPU_DEVICES"] = "8"
    print("Python", platform.python_version(), *(f"{name} {version}" for name, version in versions()), flush=True)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for name, holds in steps(Path(folder)):
            if not holds():
                print(f"not so: {name}")
                return 1
            print(f"  {name}", flush=True)
    ours = sorted({str(warning.message) for warning in heard if "pjit_inspect" in str(warning.message)})
    for message in ours:
        print(f"warned: {message}")
    return int(bool(ours))


# ---------------------------------------------------------------- versions


def required() -> list[str]:
    """The package's requirements, those of its figures too, as its project file writes them: `numpy>=2.0`."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    return sorted((*project["dependencies"], *project["optional-dependencies"]["figures"]))


def versions() -> Iterator[tuple[str, str]]:
    """Each requirement's name and the version that is installed; without plotly where nobody asked for figures."""
    for requirement in required():
        name = requirement.partition(">=")[0]
        with suppress(metadata.PackageNotFoundError) if name == "plotly" else nullcontext():
            yield name, metadata.version(name)


def record(kind: str) -> None:
    """Keep that all steps passed with these versions, in the place of what passed before on this Python."""
    found = json.loads(DATA.read_text("utf-8")) if DATA.exists() else []
    new = {"kind": kind, "python": platform.python_version(), "versions": dict(versions())}
    minor = sys.version_info[:2]
    kept = [run for run in found if run["kind"] != kind or tuple(map(int, run["python"].split(".")[:2])) != minor]
    runs = sorted([*kept, new], key=lambda run: (run["kind"], [int(part) for part in run["python"].split(".")[:2]]))
    DATA.write_text(json.dumps(runs, indent=1) + "\n", "utf-8")


def main() -> int:
    """Run the steps, or print the floors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--floors", action="store_true", help="print the minimum of every requirement")
    parser.add_argument("--record", choices=("floor", "newest"), help="keep what passed, as this")
    given = parser.parse_args()
    if given.floors:
        print("\n".join(requirement.replace(">=", "==") for requirement in required()))
        return 0
    status = run()
    if given.record and not status:
        record(given.record)
    return status


if __name__ == "__main__":
    sys.exit(main())
