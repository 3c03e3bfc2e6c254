"""Run JAX's own tests bare and watched, and compare; `scripts/jax-suite` starts it in an environment that has pytest.

Each file of tests runs twice, in two processes that take turns: a test runs in one, then in the other, and which goes
first alternates. So the two times that are compared are of the same seconds: a machine may be a third slower a few
minutes later. Not its job: following a session (`jax_suite_plugin.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

FILES = (
    "pjit_test", "shard_map_test", "pmap_test", "layout_test", "array_test", "api_test", "debugging_primitives_test",
    "python_callback_test", "compilation_cache_test", "memories_test", "multi_device_test",
)  # fmt: skip
"""The files that run when none is named."""

TARGET = 1.05
"""What a watched test may take, for each second of a bare one."""


_EXPECTED = (0, 1, 5)
"""How pytest ends when it ran the tests: all passed, some failed, there were none (an option chose others)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One file of tests, run once: a line of `jax_suite_plugin` for each, seconds it had its turn, exit status."""

    tests: dict[str, dict[str, Any]]
    seconds: float
    status: int
    log: Path

    def total(self, key: str, names: Iterable[str]) -> float:
        """A figure, summed over these tests."""
        return sum(self.tests[name][key] for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One file of tests, run bare and watched."""

    name: str
    bare: Run
    watched: Run

    def outcomes(self, test: str) -> tuple[str, str]:
        """How a test ended, bare and watched; "not run" where it did not."""
        bare, watched = (run.tests.get(test, {}).get("outcome", "not run") for run in (self.bare, self.watched))
        return bare, watched

    @property
    def names(self) -> tuple[str, ...]:
        """Every test that ran at least once."""
        return tuple(self.bare.tests | self.watched.tests)

    @property
    def common(self) -> tuple[str, ...]:
        """Every test that ran both times."""
        return tuple(name for name in self.bare.tests if name in self.watched.tests)

    @property
    def differing(self) -> tuple[str, ...]:
        """Every test that ended differently."""
        return tuple(name for name in self.names if len(set(self.outcomes(name))) > 1)


@dataclass(slots=True)
class Sums:
    """The sums of some pairs, as a row of the table says them."""

    outcomes: Counter[str] = field(default_factory=Counter)
    differing: int = 0
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])
    cpu_s: list[float] = field(default_factory=lambda: [0.0, 0.0])
    whole_s: list[float] = field(default_factory=lambda: [0.0, 0.0])
    listen_s: float = 0.0
    look_s: float = 0.0
    records: int = 0
    failures: int = 0

    def add(self, pair: Pair) -> None:
        """Count one file in."""
        self.outcomes.update(pair.outcomes(name)[0] for name in pair.names)
        self.differing += len(pair.differing)
        for i, run in enumerate((pair.bare, pair.watched)):
            self.seconds[i] += run.total("seconds", pair.common)
            self.cpu_s[i] += run.total("cpu_s", pair.common)
            self.whole_s[i] += run.seconds
        watched = pair.watched.tests.values()
        self.listen_s += sum(test["listen_s"] for test in watched)
        self.look_s += sum(test["look_s"] for test in watched)
        self.records += sum(test["records"] for test in watched)
        self.failures += sum(len(test["failures"]) for test in watched)


# ---------------------------------------------------------------- running


class Session:
    """One file of tests in a process of its own, which runs only while it has its turn: from `wait` to `wait`."""

    def __init__(self, options: argparse.Namespace, test: Path, *, watched: bool) -> None:
        stem = f"{test.stem}.{'watched' if watched else 'bare'}"
        self._results, self._log = options.out / f"{stem}.jsonl", options.out / f"{stem}.log"
        self._results.unlink(missing_ok=True)
        wanted, wants = os.pipe()
        given, self._gives = os.pipe()
        self._wanted, self._seconds, self._began = wanted, 0.0, time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "jax_suite_plugin"]
        command += ["--import-mode=importlib", f"--suite-results={self._results}", f"--suite-turns={given},{wants}"]
        command += ["--suite-watch"] if watched else []
        command += ["--suite-calls"] if watched and options.calls else []
        command += ["--suite-no-look"] if watched and options.no_look else []
        with self._log.open("w", encoding="utf-8") as file:
            # Not in the checkout: its folder `jax` would take the place of the installed JAX.
            self._process = subprocess.Popen(
                [*command, str(test), *options.pytest],
                cwd=options.out,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                pass_fds=(given, wants),
            )
        os.close(given)
        os.close(wants)

    def wait(self) -> bool:
        """Until it wants to begin a test, and has ended the one before; False where it has ended altogether."""
        is_running = bool(os.read(self._wanted, 1))
        if not is_running:
            self._process.wait()
        self._seconds += time.perf_counter() - self._began
        return is_running

    def go_on(self) -> bool:
        """Give it its turn, and wait."""
        self._began = time.perf_counter()
        with suppress(BrokenPipeError):
            os.write(self._gives, b".")
        return self.wait()

    def close(self) -> Run:
        """What became of it, once it has ended."""
        os.close(self._wanted)
        os.close(self._gives)
        return Run(
            tests={line["test"]: line for line in read_lines(self._results)},
            seconds=self._seconds,
            status=self._process.returncode,
            log=self._log,
        )


def environment() -> dict[str, str]:
    """Where tests find this checkout and the plugin; the tests of JAX choose their devices themselves."""
    kept = {key: value for key, value in os.environ.items() if key not in ("JAX_NUM_CPU_DEVICES", "PYTEST_ADDOPTS")}
    paths = [str(ROOT), str(ROOT / "scripts"), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    return {"JAX_PLATFORMS": "cpu", **kept, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}


def read_lines(results: Path) -> Iterator[dict[str, Any]]:
    """The tests of a session; a line that a dying process left half-written is left out."""
    if not results.exists():
        return
    for line in results.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def run_pair(options: argparse.Namespace, test: Path) -> Pair:
    """Run one file both ways, test by test in turn."""
    sessions: list[Session] = []
    running: list[Session] = []
    for watched in (False, True):
        # One after the other, as while they run.
        sessions.append(Session(options, test, watched=watched))
        running += sessions[-1:] if sessions[-1].wait() else []
    while running:
        # In the other order each time.
        running = [session for session in reversed(running) if session.go_on()]
    bare, watched = (session.close() for session in sessions)
    return Pair(name=test.stem, bare=bare, watched=watched)


# ---------------------------------------------------------------- telling

HEAD = (
    f"{'file':<27}{'tests':>6}{'passed':>8}{'skipped':>9}{'failed':>8}{'differ':>8}"
    f"{'bare s':>9}{'watched':>9}{'ratio':>7}{'CPU':>7}{'look s':>8}{'records':>9}{'faults':>8}"
)


def ratio(pair: list[float]) -> float:
    """The second for each of the first."""
    return pair[1] / pair[0] if pair[0] else float("nan")


def row(name: str, sums: Sums) -> str:
    """One line of the table; the counts of outcomes are those of the bare run."""
    count = sums.outcomes
    return (
        f"{name:<27}{count.total():>6}{count['passed']:>8}{count['skipped']:>9}{count['failed']:>8}{sums.differing:>8}"
        f"{sums.seconds[0]:>9.1f}{sums.seconds[1]:>9.1f}{ratio(sums.seconds):>7.2f}{ratio(sums.cpu_s):>7.2f}"
        f"{sums.look_s:>8.1f}{sums.records:>9}{sums.failures:>8}"
    )


def sums_of(pairs: Iterable[Pair]) -> Sums:
    """The sums of some files."""
    sums = Sums()
    for pair in pairs:
        sums.add(pair)
    return sums


def summary(sums: Sums) -> str:
    """What it all costs, in words."""
    each = sums.look_s / sums.records * 1e3 if sums.records else float("nan")
    share = sums.listen_s / sums.cpu_s[0] if sums.cpu_s[0] else float("nan")
    return (
        f"watching: {ratio(sums.seconds):.3f} of the tests' seconds, {ratio(sums.cpu_s):.3f} of their processor time "
        f"(target {TARGET:.2f})\n"
        f"in the listener: {sums.listen_s:.1f} s of processor time, {share:.1%} of what the bare tests take\n"
        f"looking at {sums.records} records: {sums.look_s:.0f} s between the tests, {each:.0f} ms each\n"
        f"whole processes: bare {sums.whole_s[0]:.0f} s, watched and looked at {sums.whole_s[1]:.0f} s, "
        f"ratio {ratio(sums.whole_s):.2f}"
    )


def differences(pairs: Iterable[Pair]) -> Iterator[str]:
    """Every test that ended differently, with what was said of the one that is worse."""
    for pair in pairs:
        for name in pair.differing:
            bare, watched = pair.outcomes(name)
            yield f"{name}: {bare}, watched {watched}"
            said = [run.tests.get(name, {}).get("message", "") for run in (pair.watched, pair.bare)]
            lines = next(filter(None, said), "").strip().splitlines()
            yield from (f"    {line}" for line in lines[-12:])
        for run in (pair.bare, pair.watched):
            if run.status not in _EXPECTED:
                yield f"{pair.name}: pytest ended with {run.status}; see {run.log}"


def faults(pairs: Iterable[Pair]) -> Iterator[str]:
    """What could not be computed, shown or saved, the commonest first, with the first test where it happened."""
    found: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        for name, test in pair.watched.tests.items():
            for fault in test["failures"]:
                found.setdefault((fault["step"], without_numbers(fault["error"])), []).append(
                    f"{name} {fault['record']}: {fault['error']}"
                )
    for (step, _), places in sorted(found.items(), key=lambda item: -len(item[1])):
        yield f"{len(places)} x {step}: {places[0]}"


def missing(pairs: Iterable[Pair]) -> Iterator[str]:
    """What records lack, the commonest first."""
    found: Counter[str] = Counter()
    for pair in pairs:
        for test in pair.watched.tests.values():
            found.update(map(without_numbers, test["missing"]))
    yield from (f"{count} x {reason}" for reason, count in found.most_common())


def without_numbers(error: str) -> str:
    """A message, the same for every address and count in it."""
    return re.sub(r"0x[0-9a-f]+|\d+", "#", error)


def notes(pairs: Iterable[Pair]) -> Iterator[str]:
    """What the listener said, and tests that took it away."""
    for pair in pairs:
        for name, test in pair.watched.tests.items():
            if test["lost_listener"]:
                yield f"{name} removes every listener of JAX, ours too"
            yield from (f"{name}: {said}" for said in test["complaints"])


def section(title: str, lines: Iterable[str]) -> bool:
    """Print a list under a title; False when there is nothing in it."""
    shown = list(lines)
    print(f"\n{title}: {'none' if not shown else ''}")
    for line in shown:
        print(f"  {line}")
    return bool(shown)


# ---------------------------------------------------------------- the command


def parse_options() -> argparse.Namespace:
    """The command line's options."""
    ours, rest = sys.argv[1:], []
    if "--" in ours:
        ours, rest = ours[: ours.index("--")], ours[ours.index("--") + 1 :]
    parser = argparse.ArgumentParser(prog="scripts/jax-suite", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of JAX, or its folder of tests")
    parser.add_argument("names", nargs="*", help=f"files of tests ({', '.join(FILES)})")
    parser.add_argument(
        "--calls", action="store_true", help="watch calls of compiled functions, too: capture(calls=True)"
    )
    parser.add_argument("--no-look", action="store_true", help="outcomes and times only: records are not looked at")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "jax-suite", help="what each test gave stays there")
    options = parser.parse_intermixed_args(ours)
    options.pytest, options.out = rest, options.out.absolute()
    return options


def find_files(checkout: Path, names: Iterable[str]) -> list[Path]:
    """The files of tests; ends the script when one is not there."""
    folder = checkout / "tests" if (checkout / "tests").is_dir() else checkout
    found = [(folder / name).with_suffix(".py").absolute() for name in names]
    missing = [str(path) for path in found if not path.is_file()]
    if missing:
        sys.exit(f"error: there is no {missing[0]}\n       Expected a checkout of JAX, or its folder tests.")
    return found


def checkout_version(checkout: Path) -> str | None:
    """The version of JAX a checkout is of; None when it is a folder of tests alone."""
    for path in (checkout / "jax" / "version.py", checkout.parent / "jax" / "version.py"):
        if path.is_file() and (found := re.search(r'^_version = "(.+)"', path.read_text(), flags=re.MULTILINE)):
            return found[1]
    return None


def print_versions(checkout: Path) -> None:
    """Which JAX runs, and whether its tests are of the same version."""
    installed, its = version("jax"), checkout_version(checkout)
    said = f"tests of {its}" if its else "tests of a version that the folder does not tell"
    print(f"JAX {installed}, Python {sys.version.split()[0]}, {os.cpu_count()} cores; {said}")
    if its not in (None, installed):
        print(f"warning: tests of another version fail for reasons of their own; use the tag jax-v{installed}")


def main() -> int:
    """Run, print, and say with the exit status whether anything was amiss."""
    options = parse_options()
    files = find_files(options.checkout, options.names or FILES)
    options.out.mkdir(parents=True, exist_ok=True)
    print_versions(options.checkout)
    print(HEAD, flush=True)
    pairs = []
    for file in files:
        pairs.append(run_pair(options, file))
        print(row(file.stem, sums_of(pairs[-1:])), flush=True)
    total = sums_of(pairs)
    print(f"{row('all', total)}\n\n{summary(total)}")
    amiss = [
        section("tests that end differently", differences(pairs)),
        section("records that fail", faults(pairs)),
    ]
    section("facts that records lack", missing(pairs))
    section("notes", notes(pairs))
    if not total.outcomes:
        sys.exit("error: no test ran")
    return int(any(amiss))


if __name__ == "__main__":
    sys.exit(main())
