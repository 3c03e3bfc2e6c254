"""`python -m pjit_inspect diff` and `upgrade`: two programs compared."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pjit_inspect.api import Diff, compare_upgrade, diff
from pjit_inspect.cli.common import add_command, code_of, complain, mesh_axes, one_program

_DIFF = """\
Say what changed between two programs, and because of what: collectives, arguments, shardings, kernels, memory.

BEFORE and AFTER are what `report` takes. Rows are joined by what they are, never by names of instructions. Without
--output the comparison is printed as text.

Exit status: 0 when nothing differs, 1 when something does (0 with --exit-zero), 2 when a file cannot be opened or
compared and for wrong arguments, 3 when it was shown, but one of the programs is incomplete."""


_UPGRADE = """\
Say what another version of JAX makes of a function, and which part of that is JAX's lowering and which is XLA's.

FUNCTION is called without arguments, once in this environment and once in the other, each in a process of its own. It
calls jitted functions, or returns one that it lowered (a jax.stages.Lowered or Traced), or a function with its
arguments: (step, (params, batch)). Of several programs the largest is compared; --only picks another. MODULE is
imported from the current folder or from the environment.

The other environment is made with uv, or with venv and pip, from what --with names, and kept in the user's cache folder
(XDG_CACHE_HOME); --python names the interpreter it is made with. Newer versions of JAX need a newer Python. Without
--with, --python names an environment that is there, and nothing is installed. What the function imports beside JAX
must be named, too: --with flax.

Exit status: 0 when it was shown, whether something differs or not; 1 when an environment cannot be made, or the
function gives no program in one of them; 2 for wrong arguments."""


def add_diff(commands: Any) -> None:
    """Adds the command."""
    diff = add_command(commands, "diff", "say what changed between two programs that lie in files", _DIFF)
    diff.add_argument("before", metavar="BEFORE", help="the file or directory of the program before")
    diff.add_argument("after", metavar="AFTER", help="the file or directory of the program after")
    _add_outputs(diff)
    diff.add_argument("--only", metavar="NAME", help="the newest program of this name in a directory")
    diff.add_argument("--mesh", metavar="AXIS=SIZE,...", type=mesh_axes, help="as for `report`")
    diff.add_argument("--exit-zero", action="store_true", help="exit with 0 also where the programs differ")
    diff.set_defaults(run=_compare, trouble=2)


def add_upgrade(commands: Any) -> None:
    """Adds the command."""
    upgrade = add_command(commands, "upgrade", "say what another version of JAX makes of a function", _UPGRADE)
    upgrade.add_argument(
        "function", metavar="MODULE:FUNCTION", help="a function without arguments: train:step, train.py:step"
    )
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


def _compare(options: argparse.Namespace) -> int:
    """Compares two programs; the exit code."""
    records = [one_program(path, options) for path in (options.before, options.after)]
    found = diff(*records)
    options.code = code_of(records) or int(bool(found) and not options.exit_zero)
    _show(found, options)
    return options.code


def _upgrade(options: argparse.Namespace) -> int:
    """Compares a function in two environments; the exit code."""
    found = compare_upgrade(
        options.function,
        options.requirements,
        python=options.python,
        devices=options.devices,
        only=options.only,
        progress=complain,
    )
    _show(found, options)
    return 0


def _show(found: Diff, options: argparse.Namespace) -> None:
    """Prints a comparison, writes its page, or both."""
    if options.json:
        sys.stdout.write(f"{found.to_json()}\n")
    elif options.text or options.output is None:
        sys.stdout.write(f"{found}\n")
    if options.output is not None:
        found.to_html(options.output)
        sys.stdout.write(f"wrote {options.output}\n")
    sys.stdout.flush()
