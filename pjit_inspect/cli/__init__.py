"""The command line: reports, comparisons, budgets and questions about programs, without a notebook.

Only functions need JAX, in processes of their own. Not its job: reading files and drawing (`api`).
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pjit_inspect.cli.check import add_check
from pjit_inspect.cli.common import complain, words_of
from pjit_inspect.cli.compare import add_diff, add_upgrade
from pjit_inspect.cli.query import add_query, add_skill
from pjit_inspect.cli.report import add_report
from pjit_inspect.errors import PjitInspectError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code.

    Each command says what its codes mean. 2: wrong arguments, which end the process as usual.
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
        complain(words_of(error))
        return options.trouble
    return options.code


def _write_what_the_terminal_lacks_as_escapes() -> None:
    """Without it a report with "⇄" ends in a traceback where the locale is not UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    name = "pjit-inspect" if Path(sys.argv[0]).stem == "pjit-inspect" else "python -m pjit_inspect"
    parser = argparse.ArgumentParser(prog=name, description="See what jax.jit made of a sharded program.")
    # Exit codes: where a command cannot do its work, and where the reader of its output stopped reading.
    parser.set_defaults(run=None, trouble=1, code=0)
    commands = parser.add_subparsers(metavar="COMMAND")
    for add in (add_report, add_diff, add_upgrade, add_check, add_query, add_skill):
        add(commands)
    return parser
