"""`python -m pjit_inspect report`: programs of a file or directory as text and as pages."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pjit_inspect.api import UNITS, CompileRecord, Log
from pjit_inspect.api import open as open_program
from pjit_inspect.cli.common import add_command, capture_of, code_of, complain, mesh_axes
from pjit_inspect.cli.query import all_rows
from pjit_inspect.errors import PjitInspectError

SCHEMA = "pjit_inspect/report/1"

_REPORT = """\
Show what XLA made of a program: its collectives, their groups and bytes, and its fused kernels.

PATH is HLO text, an HLO proto, StableHLO, gzip of any, a saved record (.pjit), or a directory that XLA dumped into
(XLA_FLAGS=--xla_dump_to=DIR). Without --output the report is printed as text. With it, an HTML file is written that
loads nothing from a network; for a file or directory with several programs, one file for each. --json prints the
tables of `query` of all programs, with all columns, but no advice, for which XLA is asked.

Exit status: 0 when all was shown, 1 when a file cannot be opened or a program not be shown, 2 for wrong arguments,
3 when a program is incomplete: its file ends too soon, is damaged, has lines that cannot be read, or is missing."""


def add_report(commands: Any) -> None:
    """Adds the command."""
    report = add_command(commands, "report", "show a program that lies in a file", _REPORT)
    report.add_argument("path", metavar="PATH", help="the file or directory to read")
    report.add_argument("-o", "--output", metavar="FILE", help="write the report as HTML to this file")
    report.add_argument("--text", action="store_true", help="print the report as text, also with --output")
    report.add_argument("--json", action="store_true", help="print JSON in place of text")
    report.add_argument("--only", metavar="NAME", help="the newest program of this name in a directory")
    report.add_argument(
        "--mesh",
        metavar="AXIS=SIZE,...",
        type=mesh_axes,
        help="name the mesh axes of programs that name none, outermost first: data=2,model=4",
    )
    report.set_defaults(run=_report)


def _report(options: argparse.Namespace) -> int:
    """Reports on every record; the exit code."""
    found = open_program(options.path, mesh=options.mesh)
    log = found if isinstance(found, Log) else Log((found,))
    records = [log[options.only]] if options.only else list(log)
    shown = True
    if options.json:
        sys.stdout.write(f"{_as_json(records, options.path)}\n")
    elif options.text or options.output is None:
        shown = _print(records)
    if options.output is not None:
        shown = _write(records, Path(options.output)) and shown
    sys.stdout.flush()
    return code_of(records) if shown else 1


def _as_json(records: Sequence[CompileRecord], path: str) -> str:
    units, known_by = ({name: own[part] for name, own in UNITS.items()} for part in (0, 1))
    programs = [{"capture": capture_of(record, path), **all_rows(record)} for record in records]
    found = {"status": "OK", "schema": SCHEMA, "units": units, "known_by": known_by, "programs": programs}
    return json.dumps(found, indent=1, ensure_ascii=True)


def _print(records: Sequence[CompileRecord]) -> bool:
    """Prints every record that can be shown; whether all could."""
    texts: list[str] = []
    for record in records:
        with _complaining(record):
            texts.append(str(record).rstrip("\n"))
    if texts:
        sys.stdout.write("\n\n".join(texts) + "\n")
    return len(texts) == len(records)


def _write(records: Sequence[CompileRecord], output: Path) -> bool:
    """Writes a page for every record that can be shown; whether all could."""
    written = 0
    for record, path in zip(records, _outputs(output, records), strict=True):
        with _complaining(record):
            record.to_html(path)
            written += 1
            sys.stdout.write(f"wrote {path}\n")
    return written == len(records)


@contextmanager
def _complaining(record: CompileRecord) -> Iterator[None]:
    """Says on the error stream why `record` cannot be shown, and lets the records after it be shown."""
    try:
        yield
    except OSError:
        raise
    except PjitInspectError as error:
        complain(f"{record.name} cannot be shown: {error}")
    except Exception as error:  # A damaged program can break a view anywhere; that must not hide the other programs.
        complain(f"{record.name} cannot be shown: {type(error).__name__}: {error}")


def _outputs(path: Path, records: Sequence[CompileRecord]) -> list[Path]:
    """The path of each record's report: `report.html`, or `report.0.step.html`, `report.1.init.html`, ..."""
    if len(records) == 1:
        return [path]
    names = (re.sub(r"[^\w-]+", "_", record.name)[:80] for record in records)
    return [path.with_name(f"{path.stem}.{number}.{name}{path.suffix}") for number, name in enumerate(names)]
