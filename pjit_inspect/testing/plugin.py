"""The pytest plugin: the fixture `pjit`, the mark `pjit`, goldens beside tests, and a page for each test.

pytest loads it by its entry point; until a test asks for it, it loads neither JAX nor the rest of the package.
`-p no:pjit_inspect` leaves it out.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pjit_inspect.handles.record import CompileRecord

_UPDATE = "--pjit-golden-update"
_REPORT = "--pjit-report"
_FOLDER = "pjit_goldens"
_KEPT = pytest.StashKey["PjitFixture"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("pjit_inspect", "what jax.jit made of the functions that are tested")
    group.addoption(_UPDATE, action="store_true", help="write the goldens of the tests that run anew")
    group.addoption(_REPORT, metavar="DIR", help="write a page for each test with records, and an index")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known, and pages where they are asked for."""
    if folder := config.getoption(_REPORT):
        config.pluginmanager.register(_Pages(Path(str(folder))), "pjit_inspect pages")
    config.addinivalue_line(
        "markers",
        "pjit(no_recompile=True, max_compiles=3): no function is compiled twice in the test; "
        "at most so many of the user's functions are compiled in all",
    )


class PjitFixture:
    """The value of the fixture `pjit` in a test: its programs so far, and their goldens."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node: Any = request.node
        self._config = request.config
        self.records: tuple[CompileRecord, ...] = ()

    def record(self, subject: Any, *args: Any, **options: Any) -> CompileRecord:
        """The record of a function for these arguments, as `pjit_inspect.inspect` makes it; nothing runs.

        A record is taken as it is. Those of a test are in `records`, in order.
        """
        from pjit_inspect.testing.subjects import Options, records_of

        (found,) = records_of(subject, args, Options.of(options))
        self.records = (*self.records, found)
        return found

    def golden(self, name: str, record: CompileRecord | None = None, *, hint: bool = True) -> None:
        """Compares a record, or all of the test so far, with the golden of this name beside the test.

        Goldens are in the folder `pjit_goldens` beside the file of the test; `--pjit-golden-update` writes them.

        Args:
          name: letters, digits, "-" and "_".
          record: one record; None for all.
          hint: ask XLA for a change that removes what is new; this takes seconds, in a failure alone.

        Raises CheckFailedError where they differ; NothingMatchedError where there is no golden, or no record.
        """
        __tracebackhide__ = True
        from pjit_inspect.errors import NothingMatchedError
        from pjit_inspect.testing.failure import failure
        from pjit_inspect.testing.golden import compare_golden, golden_text, read_golden

        if not re.fullmatch(r"[\w-]+", name):
            raise ValueError(f"{name!r} is no name of a golden: expected letters, digits, '-' and '_'")
        records = self.records if record is None else (record,)
        if not records:
            raise failure("there is no record to compare: pjit.record(fn, *args) makes one", kind=NothingMatchedError)
        path = Path(self._node.path).parent / _FOLDER / f"{name}.txt"
        if self._config.getoption(_UPDATE):
            from pjit_inspect.parse.files.whole_file import write_whole

            path.parent.mkdir(exist_ok=True)
            write_whole(path, golden_text(records, name))
            return
        accept = f"pytest {self._node.nodeid} {_UPDATE}"
        if not path.exists():
            raise failure(f"there is no golden {path.name}", ("make", [accept]), kind=NothingMatchedError)
        golden = read_golden(path.read_text(encoding="utf-8"), str(path))
        shown = os.path.relpath(path, self._config.rootpath)
        if error := compare_golden(golden, records, path=shown, accept=accept, hint=hint):
            raise error


@pytest.fixture
def pjit(request: pytest.FixtureRequest) -> PjitFixture:
    """The programs of a test: `pjit.record(fn, *args)`, and `pjit.golden("train_step")` compares them."""
    found = PjitFixture(request)
    request.node.stash[_KEPT] = found
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Watches the tests that are marked, if there are any: a suite without them has no hook around each test."""
    if any(item.get_closest_marker("pjit") for item in items):
        config.pluginmanager.register(_Watch(), "pjit_inspect watch")


class _Watch:
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Watches the compiles of a test that is marked."""
        mark = item.get_closest_marker("pjit")
        with _watched(**mark.kwargs) if mark is not None else nullcontext():
            return (yield)


def _watched(*, no_recompile: bool = False, max_compiles: int | None = None) -> ExitStack:
    from pjit_inspect.handles.session.no_compile import no_compile

    stack = ExitStack()
    if no_recompile:
        stack.enter_context(no_compile(after=1))
    if max_compiles is not None:
        stack.enter_context(no_compile(max_compiles=max_compiles))
    return stack


# ---------------------------------------------------------------- pages


class _Pages:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Writes the pages of a test after its call."""
        report = yield
        kept = item.stash.get(_KEPT, None)
        if kept is not None and call.when == "call":
            _write_pages(self._folder, item.nodeid, kept, report, call.excinfo and call.excinfo.value)
        return report

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes the index of all pages; with xdist in the process that leads."""
        if not hasattr(session.config, "workerinput") and (files := sorted(self._folder.glob("*.json"))):
            from pjit_inspect.parse.files.whole_file import write_whole
            from pjit_inspect.view.pages.report_index import report_index_page

            write_whole(
                self._folder / "index.html", report_index_page([json.loads(file.read_text()) for file in files])
            )


def _write_pages(folder: Path, node: str, kept: PjitFixture, report: Any, error: BaseException | None) -> None:
    """A page for each record, the record itself, and the facts that the index is made of."""
    from pjit_inspect.errors import CheckFailedError
    from pjit_inspect.parse.files.whole_file import write_whole

    own = re.sub(r"[^\w.-]+", "_", node)[-120:]
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, record in enumerate(kept.records):
        base = f"{own}.{number}"
        row = {"name": record.name, "page": f"{base}.html", "compared": None, **_figures(record)}
        before = folder / f"{base}.pjit"
        if report.failed and before.exists():
            row |= _compared(before, record, folder / f"{base}.diff.html")
        record.to_html(folder / row["page"])
        if report.passed:
            record.save(before)
        rows.append(row)
    checked = error if isinstance(error, CheckFailedError) else None
    facts = {
        "test": node,
        "outcome": report.outcome,
        "words": checked.sentence if checked else next(iter(str(error or "").splitlines()), ""),
        "because": checked.because if checked else (),
        "remove": checked.remove if checked else (),
        "records": rows,
    }
    write_whole(folder / f"{own}.json", json.dumps(facts, indent=1))


def _figures(record: CompileRecord) -> dict[str, Any]:
    from pjit_inspect.testing.collectives import sent_over

    axes = dict.fromkeys(row.axes_text for row in record.collectives)
    return {
        "collectives": len(record.collectives),
        "sent_bytes": record.report.sent_bytes,
        "sent": [(name, sent_over(record.collectives, name).least_bytes) for name in axes],
        "peak_bytes": record.memory_use.peak_bytes,
    }


def _compared(before: Path, record: CompileRecord, page: Path) -> dict[str, Any]:
    """The figures of the last time that the test passed, the lines that differ since, and the page that compares."""
    from pjit_inspect.api import diff, load

    then = load(before)
    found = diff(then, record)
    found.to_html(page)
    lines = [f"{'-' if one.after is None else '+'} {one.text}" for one in found.data.source]
    return {"before": _figures(then), "lines": lines, "compared": page.name}
