"""The command line: reports on programs in files, comparisons and upgrades, without a notebook.

Only an upgrade needs JAX, and in processes of its own.

Not its job: reading files and drawing (`api`).
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pjit_inspect.api import CompileRecord, Diff, Log, compare_upgrade, diff
from pjit_inspect.api import open as open_program
from pjit_inspect.errors import PjitInspectError

_REPORT = """\
Show what XLA made of a program: its collectives, their groups and bytes, and its fused kernels.

PATH is HLO text, an HLO proto, StableHLO, gzip of any, a saved record (.pjit), or a directory that XLA dumped into
(XLA_FLAGS=--xla_dump_to=DIR). Without --output the report is printed as text. With it, an HTML file is written that
loads nothing from a network; for a file or directory with several programs, one file for each.

Exit status: 0 when all was shown, 1 when a file cannot be opened or a program not be shown, 2 for wrong arguments,
3 when a program is incomplete: its file ends too soon, is damaged, has lines that cannot be read, or is missing."""


_DIFF = """\
Say what changed between two programs, and because of what: collectives, arguments, shardings, kernels, memory.

BEFORE and AFTER are what `report` takes. Rows are joined by what they are, never by names of instructions. Without
--output the comparison is printed as text.

Exit status: 0 when it was shown, whether something differs or not; 1 when a file cannot be opened or compared, 2 for
wrong arguments, 3 when it was shown, but one of the programs is incomplete."""


_UPGRADE = """\
Say what another version of JAX makes of a function, and which part of that is JAX's lowering and which is XLA's.

FUNCTION is called without arguments, once in this environment and once in the other, each in a process of its own. It
calls jitted functions, or returns one that it lowered (a jax.stages.Lowered or Traced). Of several programs the largest
is compared; --only picks another. MODULE is imported from the current folder or from the environment.

The other environment is made with uv, or with venv and pip, from what --with names, and kept in the user's cache folder
(XDG_CACHE_HOME); --python names the interpreter it is made with. Newer versions of JAX need a newer Python. Without
--with, --python names an environment that is there, and nothing is installed. What the function imports beside JAX
must be named, too: --with flax.

Exit status: 0 when it was shown, whether something differs or not; 1 when an environment cannot be made, or the
function gives no program in one of them; 2 for wrong arguments."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    0: every program was shown. 1: a file cannot be opened, or a program cannot be shown; it is named on the error
    stream, and the others are shown. 2: wrong arguments, which end the process as usual. 3: every program was shown,
    but of some only a part is there, or no optimized program at all; the error stream names them.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.run is None:
        # Who names no command is told which there are.
        parser.print_help(sys.stderr)
        parser.exit(2)
    _write_what_the_terminal_lacks_as_escapes()
    try:
        return options.run(options)
    except BrokenPipeError:
        # The reader of our output has seen enough; Python must not complain about it at its end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (PjitInspectError, OSError, ValueError) as error:
        _complain(_words_of(error))
        return 1
    return 0


def _words_of(error: Exception) -> str:
    """The message of an error; for a file that the system refuses, without the error's number."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def _write_what_the_terminal_lacks_as_escapes() -> None:
    """Without it a report with "⇄" ends in a traceback where the locale is not UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(message: str) -> None:
    line = " ".join(message.split())
    # Names in it may come from a file, and hold terminal escapes.
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
    sys.stderr.write(f"pjit_inspect: {shown}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pjit_inspect", description="See what jax.jit made of a sharded program."
    )
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="COMMAND")
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
    report.add_argument(
        "--mesh",
        metavar="AXIS=SIZE,...",
        type=_axes,
        help="name the mesh axes of programs that name none, outermost first: data=2,model=4",
    )
    report.set_defaults(run=_report)
    _add_diff(commands)
    _add_upgrade(commands)
    return parser


def _add_diff(commands: Any) -> None:
    diff = commands.add_parser(
        "diff",
        help="say what changed between two programs that lie in files",
        description=_DIFF,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    diff.add_argument("before", metavar="BEFORE", help="the file or directory of the program before")
    diff.add_argument("after", metavar="AFTER", help="the file or directory of the program after")
    _add_outputs(diff)
    diff.add_argument("--only", metavar="NAME", help="the newest program of this name in a directory")
    diff.add_argument("--mesh", metavar="AXIS=SIZE,...", type=_axes, help="as for `report`")
    diff.set_defaults(run=_compare)


def _add_upgrade(commands: Any) -> None:
    upgrade = commands.add_parser(
        "upgrade",
        help="say what another version of JAX makes of a function",
        description=_UPGRADE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    upgrade.add_argument("function", metavar="MODULE:FUNCTION", help="a function without arguments, as in train:step")
    upgrade.add_argument(
        "--with",
        dest="requirements",
        metavar="REQUIREMENT",
        action="append",
        default=[],
        help="what the other environment has, as in jax==0.12.0.1; may be given again",
    )
    upgrade.add_argument("--python", metavar="PATH", help="the interpreter of the other environment")
    upgrade.add_argument("--devices", metavar="N", type=int, help="compile for N fake CPU devices in both")
    upgrade.add_argument("--only", metavar="NAME", help="the program of this name, of several")
    _add_outputs(upgrade)
    upgrade.set_defaults(run=_upgrade)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", help="write the comparison as HTML to this file")
    parser.add_argument("--text", action="store_true", help="print the comparison as text, also with --output")
    parser.add_argument("--json", action="store_true", help="print it as JSON in place of text")


def _upgrade(options: argparse.Namespace) -> int:
    """Compares a function in two environments; the exit code."""
    found = compare_upgrade(
        options.function,
        options.requirements,
        python=options.python,
        devices=options.devices,
        only=options.only,
        progress=_complain,
    )
    return _show(found, options)


def _compare(options: argparse.Namespace) -> int:
    """Compares two programs; the exit code."""
    records = [_one_program(path, options) for path in (options.before, options.after)]
    return _show(diff(*records), options) or _code(records)


def _show(found: Diff, options: argparse.Namespace) -> int:
    """Prints a comparison, writes its page, or both; the exit code."""
    if options.json:
        sys.stdout.write(f"{found.to_json()}\n")
    elif options.text or options.output is None:
        sys.stdout.write(f"{found}\n")
    if options.output is not None:
        found.to_html(options.output)
        sys.stdout.write(f"wrote {options.output}\n")
    sys.stdout.flush()
    return 0


def _one_program(path: str, options: argparse.Namespace) -> CompileRecord:
    """The program of a path. Raises ValueError where a directory has several and none was named."""
    found = open_program(path, mesh=options.mesh)
    if isinstance(found, CompileRecord):
        return found
    if options.only:
        return found[options.only]
    if len(found) != 1:
        raise ValueError(f"{path} has {len(found)} programs: --only NAME picks one of {', '.join(found.names())}")
    return found[0]


def _axes(text: str) -> dict[str, int]:
    """The mesh of `--mesh`; argparse words the error."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and size.strip().isdecimal() for name, _, size in pairs):
        raise argparse.ArgumentTypeError(f"expected AXIS=SIZE,AXIS=SIZE as in data=2,model=4, not {text!r}")
    found = {name.strip(): int(size) for name, _, size in pairs}
    if len(found) < len(pairs):
        raise argparse.ArgumentTypeError(f"an axis stands twice in {text!r}")
    return found


def _report(options: argparse.Namespace) -> int:
    """Reports on every record; the exit code."""
    found = open_program(options.path, mesh=options.mesh)
    log = found if isinstance(found, Log) else Log((found,))
    records = [log[options.only]] if options.only else list(log)
    shown = True
    if options.text or options.output is None:
        shown = _print(records)
    if options.output is not None:
        shown = _write(records, Path(options.output)) and shown
    sys.stdout.flush()
    return _code(records) if shown else 1


def _code(records: Sequence[CompileRecord]) -> int:
    """The exit code when all records were shown: 3 when an optimized program is not all there, which is said."""
    lacking = [record for record in records if record.report.incomplete or record.report.collectives is None]
    for record in lacking:
        _complain(f"{record.name}: {record.report.data.missing.get('hlo', 'there is no optimized program')}")
    return 3 if lacking else 0


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
        _complain(f"{record.name} cannot be shown: {error}")
    except Exception as error:  # A damaged program can break a view anywhere; that must not hide the other programs.
        _complain(f"{record.name} cannot be shown: {type(error).__name__}: {error}")


def _outputs(path: Path, records: Sequence[CompileRecord]) -> list[Path]:
    """The path of each record's report: `report.html`, or `report.0.step.html`, `report.1.init.html`, ..."""
    if len(records) == 1:
        return [path]
    names = (re.sub(r"[^\w-]+", "_", record.name)[:80] for record in records)
    return [path.with_name(f"{path.stem}.{number}.{name}{path.suffix}") for number, name in enumerate(names)]
