"""Run what depends on JAX's version on the installed one, and write what is missing on it to `docs/versions.md`.

    python scripts/versions.py           the tests, then the page; scripts/test-versions does it on several versions
    python scripts/versions.py --page    the page alone, from docs/versions.json and docs/smoke.json

`docs/versions.json` holds what was found, by minor version; a run replaces its own part. `docs/smoke.json` is what
`scripts/smoke.py` writes. Not its job: environments.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
DATA, PAGE = ROOT / "docs" / "versions.json", ROOT / "docs" / "versions.md"
GPU = ROOT / "docs" / "gpu.json"
SMOKE, PROJECT = ROOT / "docs" / "smoke.json", ROOT / "pyproject.toml"

TESTS = ("tests/observe", "tests/test_api.py", "tests/recompiles")
"""What depends on JAX: watching, records, the reasons of compiles."""

NOT_OURS = "ignore:jax.core.:DeprecationWarning"
"""Today's equinox reads names that JAX 0.8 warns of; every other warning is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one version of JAX has, and what the tests said on it.

    Attributes:
      jax: the version.
      python: the Python it ran on.
      missing: private names that are not there -> what records lack because of it.
      tests: outcome ("passed", "skipped", "failed") -> how many.
      skipped: the reason -> how many tests it kept from running.
      failed: the tests that failed.
      date: of the run; tests and package were those of that day.
    """

    jax: str
    python: str
    missing: dict[str, str]
    tests: dict[str, int]
    skipped: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    date: str = ""

    @property
    def minor(self) -> str:
        """Major and minor: 0.10 of 0.10.2."""
        return ".".join(self.jax.split(".")[:2])


# ---------------------------------------------------------------- finding


def find() -> Found:
    """Run the tests on the installed JAX."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    from pjit_inspect.observe.contract.contract import missing_names

    counts, skipped, failed = run_tests()
    return Found(
        jax=jax.__version__,
        python=platform.python_version(),
        missing=missing_names(),
        tests=dict(sorted(counts.items())),
        skipped=dict(sorted(skipped.items())),
        failed=sorted(failed),
        date=datetime.now(UTC).date().isoformat(),
    )


def run_tests() -> tuple[Counter[str], Counter[str], list[str]]:
    """Outcomes, reasons of skipped tests, names of failed ones. Ends the script when no test ran."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        done = subprocess.run([*command, "-W", NOT_OURS, *TESTS], cwd=ROOT, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"error: pytest ended with {done.returncode}; docs/versions.md is as it was")
        return read_report(report)


def read_report(report: Path) -> tuple[Counter[str], Counter[str], list[str]]:
    """The outcomes in pytest's XML."""
    counts: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    failed = []
    for test in ElementTree.parse(report).iter("testcase"):
        name = f"{test.get('classname')}.{test.get('name')}"
        skip = test.find("skipped")
        is_failed = test.find("failure") is not None or test.find("error") is not None
        outcome = "failed" if is_failed else "skipped" if skip is not None else "passed"
        counts[outcome] += 1
        if is_failed:
            failed.append(name)
        elif skip is not None:
            skipped[re.sub(r"\s+", " ", skip.get("message") or "no reason")] += 1
    return counts, skipped, failed


def read_data() -> list[Found]:
    """What was found before, oldest version first."""
    entries = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else []
    return sorted((Found(**entry) for entry in entries), key=order)


def order(found: Found) -> tuple[int, ...]:
    """Versions in the order of their numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", found.jax))


def with_new(before: Iterable[Found], new: Found) -> list[Found]:
    """What was found, that of the same minor version replaced."""
    return sorted((*(found for found in before if found.minor != new.minor), new), key=order)


# ---------------------------------------------------------------- the page

INTRODUCTION = """\
# Versions

What this package reads of JAX is partly private, and moves between releases. `observe/contract/contract.py` lists every
such name with what is lost without it; this page says what each version has. `scripts/test-versions` writes it, from a
run of `{tests}` on each; the table says when that was, of the tests
and the package as they were that day.
"""

DEPENDENCIES = """\
## The other dependencies

`scripts/test-versions --floor` installs the minimum of each, `--newest` the newest with pre-releases, on each Python
that is there, and runs `scripts/smoke.py`: every dependency used once, from a compile to the page, the widget, a
figure, a file and `%pjit`. These are the versions that passed. `%load_ext pjit_inspect` says which installed version is
below its minimum.
"""

BELOW = {
    "anywidget": "0.8.1 passed, too",
    "ipython": "8.9.0 cannot say whether a line ends in `;`: `%pjit` fails",
    "jax": "with 0.8.0 `stop()` raises",
    "numpy": "JAX itself needs it",
    "plotly": "5.24.1 passed, too",
    "protobuf": "4.24.4 ends the process when it reads a program",
}
"""Dependency -> what was seen with a version below its minimum."""

FLOOR = """\
## JAX 0.8

On 0.8.1, the floor, all tests there were on 2026-11-26 were run once, file by file. What is otherwise there:

- jaxlib 0.8.1 numbers the source frames of a program on several devices in another order than that of its table. Frames
  are found by the file, line and column beside the number. Of a helper that is called from several lines, which of them
  it was is said where the order tells; elsewhere that frame is left out.
- Errors are explained as on later versions. JAX does not quote the types of what is indexed or cut: an array that the
  line itself does not name is not named. It takes `cumsum`, `sort` and `top_k` along a split dimension.
- An error while JAX lowers is shown with the stack that JAX kept, which under `%pjit` has frames of this package.
- XLA makes other kernels of some programs than the pages of these docs show, and cannot read today's HLO text: tests
  that compare with either are skipped.
- flax 0.12.8 cannot be imported; 0.12.1 can.

jaxlib 0.8.2 and 0.8.3 number the frames otherwise, too, and have nothing beside the number that would tell: under
Shardy the instructions of a program on several devices have no source lines there, and `record.data.missing` says why.
"""

DEVICES = """\
## Devices

The tests run on fake CPU devices. Those of `tests/gpu` are one body each for a CPU and a GPU, and passed on one of each
of these:

{ran}

Nothing was run on several GPUs, on AMD's, or on a TPU: of those the tests have programs that were compiled ahead of
time.

What is otherwise on that GPU:

- Programs have other numbers for the profiler than for JAX. A record is found by its instructions: the profiler keeps
  the HLO of every program. Of equal programs the one that was compiled latest is known by its number; one that was
  compiled before the measured block may be any of the others: then `kernel_times` is None, and `data.missing` says so.
- Runs have no number, and loops no event. A run is the outermost scope that the profiler's file has around an event; a
  loop took the time during which something in it ran (`KernelTimes.busy_us` is that of the call).
- Kernels that XLA launches as a CUDA graph (a command buffer) name the buffer, often, not the instruction. The
  function that ran and the place in the schedule tell which it is. All 898 kernels and copies of such graphs in 8
  traces of 5 programs were given to the instruction that XLA's own list of launches has for them (`xla_dump_to`), and
  so were those of an attention of cuDNN, of a sort in stages, and of Pallas kernels; where the two do not agree with
  the program, one stays in `KernelTimes.unknown`.
- **A program that JAX compiles and first calls while its profiler runs may fail at its next call after that, and every
  later call of the process with it** (`CUDA_ERROR_LAUNCH_FAILED`, JAX 0.11.2, an H100). JAX's profiler does it alone,
  without this package: of 23 programs one, a `fori_loop` around a `scan`, failed in 5 of 5 processes with
  `jax.profiler`, and in 5 of 5 under `measure=True`; in none of 4 without a profiler, and in none of 5 where it was
  called before the profiler began. So on a GPU call a program once, then measure it. The same failure after a trace,
  on eight H100s, is [jax#40260](https://github.com/jax-ml/jax/issues/40260).
- Kernels may begin before the one before them has ended, so that their times add up to more than the call, by up to a
  sixth there.
- XLA gives no buffer assignment of an attached GPU: what is alive is modelled ([memory.md](memory.md)).

To run them on a machine with an NVIDIA GPU, and write it down here: `scripts/on_a_gpu`, after
`pip install 'jax[cuda12]'` in its environment (`--dry-run` says what it would do); or `scripts/test --gpu`. JAX starts
the GPU as its default backend, with eight fake CPU devices beside it. With the variable `OUT` set to a folder, records
and traces are saved there, each with a `.json` that has the device's kind, the versions and the date; those of the H200
are in `tests/data/gpu`.
"""


def page(versions: list[Found], smoke: list[dict[str, Any]]) -> str:
    """The page."""
    tests = "`, `".join(TESTS)
    introduction = INTRODUCTION.format(tests=tests)
    parts = (outcome_table(versions), missing(versions), skips(versions), dependencies(smoke))
    return "\n".join((introduction, *(line for part in parts for line in part), FLOOR, DEVICES.format(ran=ran_on())))


def ran_on() -> str:
    """The GPUs that `scripts/on_a_gpu` passed on."""
    names = ("device", "driver", "jax", "python", "date")
    rows = [" | ".join(one[name] for name in names) for one in json.loads(GPU.read_text(encoding="utf-8"))]
    return "\n".join((*head_rows(names), *(f"| {row} |" for row in rows)))


def table(head: str, versions: list[Found], rows: Iterable[tuple[str, Callable[[Found], str]]]) -> Iterator[str]:
    """A column for each version."""
    yield from head_rows(head, (found.jax for found in versions))
    for name, cell in rows:
        yield f"| {name} | " + " | ".join(cell(found) for found in versions) + " |"
    yield ""


def head_rows(*cells: str | Iterable[str]) -> Iterator[str]:
    """The first row of a table and the rule under it."""
    names = [name for cell in cells for name in ([cell] if isinstance(cell, str) else cell)]
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"


def outcome_table(versions: list[Found]) -> Iterator[str]:
    """How many tests ended how."""

    def count(outcome: str) -> Callable[[Found], str]:
        return lambda found: str(found.tests.get(outcome, 0))

    return table(
        "JAX",
        versions,
        [
            ("run on", lambda found: found.date or "unknown"),
            ("Python", lambda found: found.python),
            *((f"tests {outcome}", count(outcome)) for outcome in ("passed", "failed", "skipped")),
            ("names missing", lambda found: str(len(found.missing))),
        ],
    )


def missing(versions: list[Found]) -> Iterator[str]:
    """The names that are not there, what that costs, and the tests that failed."""
    yield "## What is missing\n"
    names = {name: cost for found in versions for name, cost in found.missing.items()}
    if not names:
        yield "Nothing: every name is there on each of these versions.\n"
    else:
        rows = [(f"`{name}`: {cost}", is_missing(name)) for name, cost in sorted(names.items())]
        yield from table("name, and what records lack without it", versions, rows)
    for found in versions:
        yield from (f"- JAX {found.jax}: `{cell(test)}` failed." for test in found.failed)
    if any(found.failed for found in versions):
        yield ""


def is_missing(name: str) -> Callable[[Found], str]:
    """The cell of a name."""
    return lambda found: "missing" if name in found.missing else "there"


def skips(versions: list[Found]) -> Iterator[str]:
    """Why tests were skipped, and how many on which version."""
    yield "## Tests that are skipped\n"
    reasons = sorted({reason for found in versions for reason in found.skipped})
    if not reasons:
        yield "None.\n"
        return
    yield from table("reason", versions, [(cell(reason), how_many(reason)) for reason in reasons])


def dependencies(smoke: list[dict[str, Any]]) -> Iterator[str]:
    """The minimum of each dependency with what is wrong below it, and the versions that were tried."""
    yield DEPENDENCIES
    runs = [f"{run['kind']}, Python {run['python']}" for run in smoke]
    yield from head_rows("dependency", "minimum", "below it", runs)
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    for requirement in sorted((*project["dependencies"], *project["optional-dependencies"]["figures"])):
        name, _, minimum = requirement.partition(">=")
        below = BELOW.get(name, "not tried")
        yield f"| {' | '.join((name, minimum, below, *(run['versions'].get(name, '') for run in smoke)))} |"
    yield ""


def read_smoke() -> list[dict[str, Any]]:
    """Which versions `scripts/smoke.py` passed with."""
    return json.loads(SMOKE.read_text(encoding="utf-8")) if SMOKE.exists() else []


def how_many(reason: str) -> Callable[[Found], str]:
    """The cell of a reason."""
    return lambda found: str(found.skipped.get(reason, 0))


def cell(text: str) -> str:
    """Text that stays in its cell of a table."""
    return text.replace("|", "\\|")


# ---------------------------------------------------------------- the command


def main() -> int:
    """Run the tests and write the page; the exit status is 1 when one failed or a name is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the page alone")
    if parser.parse_args().page:
        PAGE.write_text(page(read_data(), read_smoke()), encoding="utf-8")
        return 0
    new = find()
    versions = with_new(read_data(), new)
    DATA.write_text(json.dumps([asdict(found) for found in versions], indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(versions, read_smoke()), encoding="utf-8")
    print(f"JAX {new.jax}, Python {new.python}: {new.tests}, {len(new.missing)} names missing")
    return int(bool(new.failed or new.missing))


if __name__ == "__main__":
    sys.exit(main())
