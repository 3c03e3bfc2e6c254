"""The command line: reports on programs in files, without a notebook and without JAX.

Not its job: reading files and drawing (`api`).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from pjit_inspect.api import CompileRecord, Log
from pjit_inspect.api import open as open_program
from pjit_inspect.errors import PjitInspectError

__all__ = ["main"]

_REPORT = """\
Show what XLA made of a program: its collectives, their groups and bytes, and its fused kernels.

PATH is HLO text, an HLO proto, gzip of either, a saved record (.pjit), or a directory that XLA dumped into
(XLA_FLAGS=--xla_dump_to=DIR). Without --output the report is printed as text. With it, an HTML file is written that
loads nothing from a network; for a directory with several programs, one file for each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, or 1 when the file holds no program or cannot be opened.

    Wrong arguments end the process with exit code 2, as usual.
    """
    options = _parser().parse_args(arguments)
    try:
        _report(options)
    except BrokenPipeError:
        # The reader of our output has seen enough; Python must not complain about it at its end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (PjitInspectError, OSError) as error:
        sys.stderr.write(f"pjit_inspect: {' '.join(str(error).split())}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pjit_inspect", description="See what jax.jit made of a sharded program."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    report = commands.add_parser(
        "report",
        help="show a program that lies in a file",
        description=_REPORT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    report.add_argument("path", metavar="PATH", help="the file or directory to read")
    report.add_argument("-o", "--output", metavar="FILE", help="write the report as HTML to this file")
    report.add_argument("--text", action="store_true", help="print the report as text, also with --output")
    report.add_argument("--only", metavar="NAME", help="the newest program of this name in a directory")
    return parser


def _report(options: argparse.Namespace) -> None:
    found = open_program(options.path)
    log = found if isinstance(found, Log) else Log((found,))
    records = [log[options.only]] if options.only else list(log)
    if options.text or options.output is None:
        sys.stdout.write("\n\n".join(str(record).rstrip("\n") for record in records) + "\n")
    if options.output is not None:
        for record, path in zip(records, _outputs(Path(options.output), records), strict=True):
            record.to_html(path)
            sys.stdout.write(f"wrote {path}\n")
    sys.stdout.flush()


def _outputs(path: Path, records: Sequence[CompileRecord]) -> list[Path]:
    """Where each record's report goes: `report.html`, or `report.0.step.html`, `report.1.init.html`, ..."""
    if len(records) == 1:
        return [path]
    names = (re.sub(r"[^\w-]+", "_", record.name)[:80] for record in records)
    return [path.with_name(f"{path.stem}.{number}.{name}{path.suffix}") for number, name in enumerate(names)]
