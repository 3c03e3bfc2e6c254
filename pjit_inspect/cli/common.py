"""The parts that all commands share: their options, the program of a path, complaints and exit codes.

Not its job: the commands.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pjit_inspect.api import CompileRecord, compile_in
from pjit_inspect.api import open as open_program


def words_of(error: Exception) -> str:
    """The message of an error; for a file that the system refuses, without the error's number."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def complain(message: str) -> None:
    """Writes one line on the error stream."""
    line = " ".join(message.split())
    # Names in it may come from a file, and hold terminal escapes.
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
    sys.stderr.write(f"pjit_inspect: {shown}\n")


def add_command(commands: Any, name: str, help: str, description: str) -> argparse.ArgumentParser:
    """A command's parser, whose description keeps its lines."""
    return commands.add_parser(
        name, help=help, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def one_program(path: str, options: argparse.Namespace) -> CompileRecord:
    """The program of a path. Raises ValueError where a directory has several and none was named."""
    found = open_program(path, mesh=options.mesh)
    if isinstance(found, CompileRecord):
        return found
    if options.only:
        return found[options.only]
    if len(found) != 1:
        raise ValueError(f"{path} has {len(found)} programs: --only NAME picks one of {', '.join(found.names())}")
    return found[0]


def program_of(
    name: str, *, only: str | None = None, devices: int | None = None, mesh: Mapping[str, int] | None = None
) -> tuple[CompileRecord, Mapping[str, int] | None]:
    """The program of a file or of a function ("train.py:step", "train:step"), and the compiles of each function.

    The compiles are None where they are unknown: one file is one compile. Of several programs it is that of the name
    `only`, or the largest. `mesh` names the axes of a file that names none. Raises CaptureError where a function gives
    none.
    """
    is_function = not os.path.exists(name) and ":" in name
    if not is_function:
        found = open_program(name, mesh=mesh)
        if isinstance(found, CompileRecord):
            return found, None
        records = list(found)
    else:
        records = [CompileRecord(data) for data in compile_in(sys.executable, name, devices=devices)]
    chosen = [record for record in records if only in (None, record.name)]
    if not chosen:
        raise ValueError(f"{name} has no program {only!r}; it has {', '.join(dict.fromkeys(r.name for r in records))}")
    return max(chosen, key=_size), Counter(record.name for record in records)


def _size(record: CompileRecord) -> int:
    return (record.data.hlo.size or 0) if record.data.hlo is not None else 0


def capture_of(record: CompileRecord, name: str) -> dict[str, Any]:
    """Which program an answer is about, as JSON has it; its surprises under `warnings`."""
    data, report = record.data, record.report
    platforms = sorted({device.platform for device in data.devices})
    missing = [f"the program is incomplete: {report.incomplete}"] if report.incomplete else []
    return {
        "file": name,
        "program": record.name,
        "mesh": None if record.mesh is None else record.mesh.sizes,
        "target": f"{'/'.join(platforms)}:{len(data.devices)}" if platforms else None,
        "jax": data.versions.get("jax"),
        "warnings": [*missing, *map(str, report.notes), *(str(one.sentence) for one in report.warnings)],
    }


def mesh_axes(text: str) -> dict[str, int]:
    """The mesh of `--mesh`; argparse words the error."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and size.strip().isdecimal() for name, _, size in pairs):
        raise argparse.ArgumentTypeError(f"expected AXIS=SIZE,AXIS=SIZE as in data=2,model=4, not {text!r}")
    found = {name.strip(): int(size) for name, _, size in pairs}
    if len(found) < len(pairs):
        raise argparse.ArgumentTypeError(f"an axis stands twice in {text!r}")
    return found


def code_of(records: Sequence[CompileRecord]) -> int:
    """The exit code when all records were shown: 3 when an optimized program is not all there, which is said."""
    lacking = [record for record in records if record.report.incomplete or record.report.collectives is None]
    for record in lacking:
        complain(f"{record.name}: {record.report.data.missing.get('hlo', 'there is no optimized program')}")
    return 3 if lacking else 0
