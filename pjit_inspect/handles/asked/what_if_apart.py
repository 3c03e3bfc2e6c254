"""`what_if` for a record from a file: in a process of its own, as MLIR and XLA may die of a damaged program, or worse.

That process reads the record as this one does, asks, and leaves the answer as a record in a file, which is trusted no
more than the first. Not its job: asking (`handles.asked.what_if`).
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pjit_inspect.analyze.report.report import report
from pjit_inspect.errors import CaptureError, ChangeError, PjitInspectError
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import Effort, Target
from pjit_inspect.parse.files.record_file import read_record, write_record
from pjit_inspect.parse.hlo_proto.verbatim import parse_program

__all__ = ["ask_what_if_apart", "main"]

_ASKED, _MADE, _WHY = "asked.pjit", "made.pjit", "why.json"
_GRACE_S = 30.0
"""For the imports of that process, beside what its question may take."""


def ask_what_if_apart(
    data: RecordData,
    *,
    mesh: Mapping[str, int] | None,
    specs: Mapping[str, Any] | None,
    target: str | Target | None,
    effort: Effort,
    timeout_s: float,
) -> RecordData:
    """As `handles.asked.what_if.ask_what_if`, of a record that this process did not make; with the program in it."""
    if data.stablehlo is None:
        raise ChangeError("the record has no program before optimization, so no change of it can be tried")
    if importlib.util.find_spec("jax") is None:
        raise CaptureError("what_if needs JAX, which is not installed here")
    question = {
        "mesh": None if mesh is None else dict(mesh),
        "specs": {path: _plain(spec) for path, spec in (specs or {}).items()},
        "target": None if target is None else str(target),
        "effort": effort,
        "timeout_s": timeout_s,
    }
    try:
        text = json.dumps(question)
    except (TypeError, ValueError) as error:
        raise ChangeError(f"a mesh has names with sizes, and specs are PartitionSpecs: {error}") from error
    with tempfile.TemporaryDirectory(prefix="pjit_inspect_") as name:
        folder = Path(name)
        write_record(data, folder / _ASKED)
        how = _run(folder, text, timeout_s + _GRACE_S)
        if (folder / _MADE).exists():
            return read_record(folder / _MADE)
        if (folder / _WHY).exists():
            kind, said = json.loads((folder / _WHY).read_bytes())
            raise (ChangeError if kind == ChangeError.__name__ else CaptureError)(said)
        raise CaptureError(f"the process that read the program {how}; its file may be damaged")


def _plain(spec: Any) -> list[Any] | None:
    if spec is None:
        return None
    if not isinstance(spec, (tuple, list)):
        from pjit_inspect.observe.live.shardings import full_spec

        spec = full_spec(spec, 0)
    return list(spec)


def _run(folder: Path, question: str, timeout_s: float) -> str:
    """Run the process, and say how it ended."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-P", "-W", "ignore", "-m", __name__, str(folder)]
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(
            command,
            input=question.encode(),
            stdout=quiet,
            stderr=quiet,
            env=environment,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"gave no answer in {timeout_s:.0f} s"
    except OSError as error:
        return f"could not be started ({error})"
    return f"ended by signal {-done.returncode}" if done.returncode < 0 else f"ended with status {done.returncode}"


def main() -> None:
    """That process: its argument is the folder, its standard input the question."""
    from pjit_inspect.handles.asked.what_if import as_partitioned, ask_what_if

    folder, question = Path(sys.argv[1]), json.load(sys.stdin)
    try:
        data = read_record(folder / _ASKED)
        figures = report(data, None if data.hlo is None else parse_program(data.hlo.read())).figures
        at_stage = partial(as_partitioned, data, figures, timeout_s=question["timeout_s"])
        made, program = ask_what_if(data, lambda is_partitioned: at_stage() if is_partitioned else figures, **question)
        write_record(replace(made, propagation=None if program is None else program()), folder / _MADE)
    except PjitInspectError as error:
        (folder / _WHY).write_bytes(json.dumps([type(error).__name__, str(error)]).encode())


if __name__ == "__main__":
    main()
