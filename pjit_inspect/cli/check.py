"""`python -m pjit_inspect check`: a program held against a budget, for CI."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pjit_inspect.api import CompileRecord, diff
from pjit_inspect.cli.common import add_command, capture_of, complain, mesh_axes, program_of, words_of
from pjit_inspect.errors import PjitInspectError
from pjit_inspect.parse.files.whole_file import write_whole
from pjit_inspect.testing.budget import judge, read_budget, with_base
from pjit_inspect.testing.budget_words import CheckedBudget, budget_json, budget_markdown, budget_text

_CHECK = """\
Hold a program against a budget: what it sends, holds, how many collectives it has, and how often it is compiled.

PROGRAM is a file as `report` takes it, or a function without arguments, as in train.py:step or train:step. The function
calls jitted functions, or returns one that it lowered, or a function with its arguments: (step, (params, batch)). It is
called in a process of its own. Of several programs the largest is checked; --only picks another.

The budget is TOML, each limit the most that is allowed, of one device and call:

    [sent_bytes]              # by mesh axes, or total
    total = "16 MiB"
    "data x model" = "2 MiB"
    [memory_bytes]            # peak, temporaries, arguments
    peak = "14 GiB"
    [collectives]             # by kind, or total
    all-gather = 0
    [compiles]                # by function, or total
    total = 2
    [seconds]                 # of a step; unknown on CPUs
    step = 0.12

Without a budget the program before (--base) is one: what differs from it fails. --json has `status`: OK, EXCEEDED,
UNKNOWN, or DIFFERS where no limit fails and the program before is another.

Exit status: 0 within the budget; 1 when a limit is exceeded, or names an axis, a kind or a function that does not
exist, or where the programs differ and there is no budget; 2 when a limit is not known and no other fails, when there
is no program, and for wrong arguments."""


def add_check(commands: Any) -> None:
    """Adds the command."""
    check = add_command(commands, "check", "hold a program against a budget", _CHECK)
    check.add_argument("program", metavar="PROGRAM", help="a file, or a function: train.py:step, train:step")
    check.add_argument("--budget", metavar="FILE", help="the budget, as TOML")
    check.add_argument("--base", metavar="FILE", help="the program before, likewise")
    check.add_argument("--target", metavar="TARGET", help="compile it for this machine, as in tpu:v5e:4x4")
    check.add_argument("--devices", metavar="N", type=int, help="call the function with N fake CPU devices")
    check.add_argument("--only", metavar="NAME", help="the program of this name, of several")
    check.add_argument("--mesh", metavar="AXIS=SIZE,...", type=mesh_axes, help="as for `report`, for a file")
    form = check.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON in place of text")
    form.add_argument("--markdown", action="store_true", help="print a comment for a pull request in place of text")
    check.add_argument("-o", "--output", metavar="FILE", help="write it to this file in place of printing it")
    check.set_defaults(run=_check, trouble=2)


def _check(options: argparse.Namespace) -> int:
    """Judges a program; the exit code."""
    try:
        checked, words = _judged(options)
    except (PjitInspectError, OSError, ValueError) as error:
        complain(words_of(error))
        return 2
    except Exception as error:  # Python would end with 1, which says that a limit is exceeded.
        complain(f"{options.program} cannot be checked: {type(error).__name__}: {error}")
        return 2
    options.code = checked.exit_code
    if options.output is None:
        sys.stdout.write(words)
    else:
        write_whole(options.output, words)
        sys.stdout.write(f"{checked.headline}\nwrote {options.output}\n")
    sys.stdout.flush()
    return checked.exit_code


def _judged(options: argparse.Namespace) -> tuple[CheckedBudget, str]:
    """A judged program, and what is to be printed."""
    if options.budget is None and options.base is None:
        raise ValueError("there is nothing to hold it against: give --budget, --base, or both")
    path = options.budget
    limits = () if path is None else read_budget(Path(path).read_text(encoding="utf-8"), path)
    record, compiles = program_of(options.program, only=options.only, devices=options.devices, mesh=options.mesh)
    record = _on(record, options.target)
    rows, difference = judge(record, limits, compiles), None
    if options.base is not None:
        before, known = program_of(options.base, only=options.only, devices=options.devices, mesh=options.mesh)
        before = _on(before, options.target)
        rows, difference = with_base(rows, judge(before, limits, known)), diff(before, record)
    checked = CheckedBudget(record=record, rows=rows, diff=difference)
    return checked, _written(checked, options, capture_of(record, options.program))


def _on(record: CompileRecord, target: str | None) -> CompileRecord:
    return record if target is None else record.what_if(target=target, effort="full")


def _written(checked: CheckedBudget, options: argparse.Namespace, capture: Mapping[str, Any]) -> str:
    if options.json:
        return f"{budget_json(checked, capture)}\n"
    return budget_markdown(checked) if options.markdown else f"{budget_text(checked)}\n"
