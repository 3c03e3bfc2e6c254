"""A pytest plugin: writes down how each test ended and what it took, and watches the session when it is told to.

    python -m pytest -p jax_suite_plugin --suite-results FILE [--suite-watch] ...

Watching is `pjit_inspect.start()`, or with --suite-calls one `capture(calls=True)` around it all. After each test,
outside its time, everything that can be known about the records it left is computed, and each is saved, loaded and
displayed; not with --suite-no-look. One JSON line for each test. Not its job: running both kinds of session and
comparing them (`jax_suite.py`).
"""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import pjit_inspect as pi

RANK = ("passed", "skipped", "xfailed", "xpassed", "failed")
"""How a test's setup, call and teardown may end; the last of them that occurs is the test's outcome."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The plugin's options."""
    parser.addoption("--suite-results", metavar="FILE", help="write a line of JSON there for each test")
    parser.addoption("--suite-turns", metavar="WAIT,ASK", help="descriptors to ask at, and wait at, before a test")
    parser.addoption("--suite-watch", action="store_true", help="watch the session, and look at every record")
    parser.addoption("--suite-calls", action="store_true", help="see calls of compiled functions, too")
    parser.addoption("--suite-no-look", action="store_true", help="watch, and do not look at the records")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch before any test is imported."""
    if results := config.getoption("--suite-results"):
        config.pluginmanager.register(Session(Path(str(results)), config), "jax_suite_session")


@dataclass(slots=True)
class Outcome:
    """How one test ended: the worst of its phases, and what was said of it."""

    rank: int = -1
    message: str = ""

    def add(self, report: pytest.TestReport) -> None:
        """Count one phase in."""
        name = report.outcome
        if hasattr(report, "wasxfail"):
            name = "xfailed" if report.skipped else "xpassed"
        if (rank := RANK.index(name)) > self.rank:
            self.rank, self.message = rank, "" if name == "passed" else report.longreprtext[-2000:]

    @property
    def name(self) -> str:
        """One of `RANK`."""
        return RANK[self.rank] if self.rank >= 0 else "not run"


@dataclass(slots=True)
class Looked:
    """What looking at the records of one test gave."""

    records: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    failures: list[dict[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    lost_listener: bool = False
    complaints: list[str] = field(default_factory=list)


class Session:
    """Follows one pytest session."""

    def __init__(self, results: Path, config: pytest.Config) -> None:
        self._file = results.open("w", encoding="utf-8")
        self._outcome = Outcome()
        self._watch = bool(config.getoption("--suite-watch"))
        self._saved = results.with_suffix(".pjit")
        self._complaints: set[str] = set()
        self._listening = [0.0]
        self._turns = [int(number) for number in str(config.getoption("--suite-turns") or "").split(",") if number]
        for descriptor in self._turns:
            # What the tests start must not hold them.
            os.set_inheritable(descriptor, False)
        self._capture: AbstractContextManager[pi.Log] | None = None
        self._log = pi.session_log()
        self._sees_calls = bool(config.getoption("--suite-calls"))
        self._looks = not config.getoption("--suite-no-look")
        if self._watch:
            time_listener(self._listening)
            self._start()

    def _start(self) -> None:
        if self._sees_calls:
            self._capture = pi.capture(calls=True)
            self._log = self._capture.__enter__()
        else:
            self._log = pi.start()

    def _stop(self) -> None:
        if self._capture is not None:
            self._capture.__exit__(None, None, None)
        else:
            pi.stop()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Time one test, then look at what it compiled."""
        self._take_turn()
        self._outcome = Outcome()
        self._listening[0] = 0.0
        began, cpu = time.perf_counter(), time.process_time()
        done = yield
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
        listen_s = self._listening[0]
        looked = self._look() if self._watch else Looked()
        line = {
            "test": f"{item.path.name}::{item.nodeid.partition('::')[2]}",
            "outcome": self._outcome.name,
            "message": self._outcome.message,
            "seconds": seconds,
            "cpu_s": cpu_s,
            "listen_s": listen_s,
            "records": looked.records,
            "look_s": looked.seconds,
            "look_cpu_s": looked.cpu_s,
            "failures": looked.failures,
            "missing": looked.missing,
            "lost_listener": looked.lost_listener,
            "complaints": looked.complaints,
        }
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
        return done

    def _take_turn(self) -> None:
        if self._turns:
            given, wants = self._turns
            os.write(wants, b".")
            os.read(given, 1)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take one phase of a test in."""
        self._outcome.add(report)

    def pytest_unconfigure(self) -> None:
        """End what was begun."""
        if self._watch:
            self._stop()
        self._saved.unlink(missing_ok=True)
        self._file.close()

    # ------------------------------------------------------------ looking

    def _look(self) -> Looked:
        began, cpu = time.perf_counter(), time.process_time()
        log, looked = self._log, Looked()
        records = tuple(log)
        looked.records, looked.lost_listener = len(records), self._listen_again()
        looked.complaints = self._new_complaints()
        for record in records if self._looks else ():
            looked.failures += self._failures(STEPS, record)
            looked.missing += _missing(record)
        if records and self._looks:
            looked.failures += self._failures(LOG_STEPS, log)
        log.clear()
        looked.seconds, looked.cpu_s = time.perf_counter() - began, time.process_time() - cpu
        return looked

    def _failures(self, steps: dict[str, Callable[[Any, Path], Any]], thing: Any) -> list[dict[str, str]]:
        return [found for step in steps if (found := self._failure(step, steps[step], thing)) is not None]

    def _failure(self, step: str, look: Callable[[Any, Path], Any], thing: Any) -> dict[str, str] | None:
        try:
            look(thing, self._saved)
        except Exception as error:
            said = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            return {"step": step, "record": repr(thing), "error": said, "trace": traceback.format_exc()[-3000:]}
        return None

    def _listen_again(self) -> bool:
        """True when the test took every listener away, ours too; watching goes on."""
        from jax._src import monitoring

        from pjit_inspect.observe.watch import listener

        if listener._on_duration in monitoring.get_event_duration_listeners():  # noqa: SLF001
            return False
        self._stop()
        self._start()
        return True

    def _new_complaints(self) -> list[str]:
        """What this package warned of since the last test: what it could not record or compute."""
        from pjit_inspect import guard

        new = sorted(guard._warned - self._complaints)  # noqa: SLF001
        self._complaints |= set(new)
        return new


def time_listener(spent: list[float]) -> None:
    """Add to `spent[0]` the processor seconds that our listener takes in the user's calls, from now on."""
    from pjit_inspect.observe.watch import listener

    def timed(handle: Callable[..., None]) -> Callable[..., None]:
        def run(*args: Any) -> None:
            began = time.thread_time()
            try:
                handle(*args)
            finally:
                spent[0] += time.thread_time() - began

        return run

    listener._HANDLERS.update({event: timed(handle) for event, handle in listener._HANDLERS.items()})  # noqa: SLF001


# ---------------------------------------------------------------- what is computed of every record


def _missing(record: Any) -> list[str]:
    """The facts that a record lacks, each with its reason: nothing fails there, but much may hide there."""
    try:
        lacks = {**record.data.missing, "shardings": record.shardings.missing}
    except Exception as error:
        return [f"what is missing cannot be told: {error!r}"]
    return [f"{name}: {reason}" for name, reason in lacks.items() if reason]


def _round_trip(record: Any, path: Path) -> None:
    """A saved record holds what it held, and shows what it showed."""
    record.save(path)
    loaded = pi.load(path)
    if (shown := str(loaded)) != str(record):
        raise ValueError(f"the loaded record shows something else: {_first_difference(str(record), shown)}")


def _first_difference(old: str, new: str) -> str:
    pairs = zip(f"{old}\n\0".split("\n"), f"{new}\n\0".split("\n"), strict=False)
    return next(f"{a!r} became {b!r}" for a, b in pairs if a != b)


def _all_bytes(record: Any, _: Path) -> None:
    """The programs as bytes and text."""
    for text in (record.hlo_text, record.stablehlo, record.jaxpr):
        str(text).encode("utf-8", "surrogatepass")


def _graph(record: Any, _: Path) -> None:
    """The graph, whose failures the record keeps to itself."""
    reason = record.state.analyses.graph_and_reason[1]
    if "failed" in reason:
        raise ValueError(reason)


STEPS: dict[str, Callable[[Any, Path], Any]] = {
    "data": lambda record, _: record.data,
    "texts": _all_bytes,
    "hlo": lambda record, _: record.hlo,
    "propagation": lambda record, _: record.propagation,
    "report": lambda record, _: record.report,
    "causes": lambda record, _: [row.causes for row in record.collectives],
    "fusions": lambda record, _: record.fusions,
    "shardings": lambda record, _: repr(record.shardings),
    "warnings": lambda record, _: record.warnings,
    "reason": lambda record, _: record.reason,
    "graph": _graph,
    "display as text": lambda record, _: str(record),
    "display as HTML": lambda record, _: record.show()._repr_mimebundle_(),
    "explanation": lambda record, _: repr(record.explain()),
    "save and load": _round_trip,
}
"""What is asked of every record, each by itself, in this order."""

LOG_STEPS: dict[str, Callable[[Any, Path], Any]] = {
    "log as text": lambda log, _: str(log),
    "ledger": lambda log, _: str(pi.ledger(log)),
}
"""What is asked of the records of a test together."""
