"""Compiles a user's function in a process of another environment, which leaves its records as files.

The process imports the function's module, calls the function, and saves the compiles. It uses this copy of the package,
and its environment's other packages. Not its job: making the environment (`handles.upgrade.environment`), comparing.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pjit_inspect.errors import CaptureError, PjitInspectError
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files.record_file import read_record

_DONE, _PACKAGE = "done.json", "pjit_inspect"
_MOST_LINES = 12
_START_S, _LONGEST_S = 20.0, 86_400.0
_STAGES = ("Lowered", "Traced")
"""Types of `jax.stages` that a function may return."""
_HOME = Path(__file__).parents[2]


def compile_in(python: str | Path, function: str, *, devices: int | None = None) -> tuple[RecordData, ...]:
    """The records of all that a function of the user's compiles in another environment, in order.

    Args:
      python: that environment's interpreter.
      function: "MODULE:FUNCTION", as `load_function` takes it.
      devices: number of fake CPU devices; None for the devices that JAX finds.

    Raises CaptureError where that process ends without records, with the last lines it wrote.
    """
    own = {"JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": str(devices)} if devices is not None else {}
    # A program from the disk cache would have the source lines of another run.
    return _asked(python, {"function": function}, {**own, "JAX_ENABLE_COMPILATION_CACHE": "false"})


def compile_again_in(python: str | Path, paths: Sequence[Path]) -> tuple[RecordData, ...]:
    """The programs of saved records, compiled by XLA of another environment for as many fake CPU devices."""
    return _asked(python, {"again": [str(path) for path in paths]}, {"JAX_PLATFORMS": "cpu"})


def _asked(python: str | Path, question: Mapping[str, Any], settings: Mapping[str, str]) -> tuple[RecordData, ...]:
    _check(python)
    with tempfile.TemporaryDirectory(prefix="pjit_inspect_") as name:
        folder = Path(name)
        # A folder with this package alone: the other packages are those of that environment.
        home = folder / "home"
        home.mkdir()
        (home / _PACKAGE).symlink_to(_HOME, target_is_directory=True)
        said = _run(python, folder, home, question, settings)
        if not (folder / _DONE).exists():
            raise CaptureError(f"{_what(question)} gave no program in {python}: {said}")
        answer = json.loads((folder / _DONE).read_bytes())
        if "why" in answer:
            raise CaptureError(f"{_what(question)} gave no program in {python}: {answer['why']}")
        return tuple([read_record(folder / f"{number}.pjit") for number in range(answer["records"])])


def _what(question: Mapping[str, Any]) -> str:
    return question.get("function", "the program")


def _check(python: str | Path) -> None:
    """Raise CaptureError if a program is not Python, or does not start: an application may have such a name."""
    try:
        done = subprocess.run(
            [str(python), "-I", "-S", "-c", "print(1)"], capture_output=True, timeout=_START_S, check=False
        )
        why = "" if done.stdout.split() == [b"1"] else f"it ended with status {done.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        why = str(error)
    if why:
        raise CaptureError(f"{python} is no Python that starts: {why}")


def _run(python: str | Path, folder: Path, home: Path, question: Mapping[str, Any], settings: Mapping[str, str]) -> str:
    """Run that process; how it ended, with the last lines it wrote."""
    paths = (os.getcwd(), os.environ.get("PYTHONPATH", ""), str(home))
    environment = {**os.environ, **settings, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment.pop("VIRTUAL_ENV", None)
    command = [str(python), "-P", "-m", __name__, str(folder)]
    try:
        done = subprocess.run(
            command, input=json.dumps(question), capture_output=True, text=True, errors="replace", env=environment,
            check=False, timeout=_LONGEST_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it gave no answer ({error})"
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return f"it ended with {how}: {' / '.join(lines[-_MOST_LINES:])}"


# ---------------------------------------------------------------- in that process


def main() -> None:
    """Main program of that process: its argument is the folder, its standard input the question."""
    folder, question = Path(sys.argv[1]), json.load(sys.stdin)
    try:
        if "again" in question:
            records = [CompileRecord(read_record(path)).what_if(effort="full") for path in question["again"]]
        else:
            records = _compiled(load_function(question["function"]))
        for number, record in enumerate(records):
            record.save(folder / f"{number}.pjit")
        answer: dict[str, Any] = {"records": len(records)}
    except PjitInspectError as error:
        answer = {"why": str(error)}
    (folder / _DONE).write_bytes(json.dumps(answer).encode())


def load_function(name: str) -> Callable[[], Any]:
    """The function of a name "MODULE:FUNCTION" or "FILE.py:FUNCTION". Raises CaptureError where there is none.

    MODULE is imported from the current folder or from the environment, FILE.py as a script's folder would have it;
    FUNCTION is a name in it, which may have dots.
    """
    module_name, _, function_name = name.rpartition(":")
    if not module_name or not function_name:
        raise CaptureError(f"{name!r} is no MODULE:FUNCTION, as in train:step")
    path = None
    if module_name.endswith(".py"):
        path = Path(module_name).resolve()
        if not path.is_file():
            raise CaptureError(f"there is no file {module_name} in {os.getcwd()}")
        sys.path.insert(0, str(path.parent))
        module_name = path.stem
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        where = f"{sys.executable} (Python {sys.version.split()[0]})"
        if error.name == module_name:
            raise CaptureError(f"there is no module {module_name!r} in {os.getcwd()} nor in {where}") from error
        raise CaptureError(
            f"{module_name} needs {error.name}, which {where} has not; add it: --with {error.name}"
        ) from error
    if path is not None and Path(getattr(module, "__file__", None) or "").resolve() != path:
        raise CaptureError(f"{path.name} has the name of another module, {module_name}; import it as MODULE:FUNCTION")
    try:
        found = functools.reduce(getattr, function_name.split("."), module)
    except AttributeError as error:
        raise CaptureError(f"{module_name} has no {function_name!r}") from error
    if not callable(found):
        raise CaptureError(f"{name} is {type(found).__name__}, and no function")
    return found


def _compiled(function: Callable[[], Any]) -> list[CompileRecord]:
    """The records of the compiles of a function without arguments, or of what it returns.

    That is a lowered program, or a function with its arguments: `(step, (params, batch))`.
    """
    from pjit_inspect.observe.watch.listener import observed_calls

    made: list[CompileRecord] = []
    with observed_calls(lambda data, finish: made.append(CompileRecord(data, live=True, finish=finish))):
        result = function()
    records = [record for record in made if record.origin == "user"]
    # What is returned is the intended program, whatever else was compiled on the way.
    asked = (result, ()) if type(result).__name__ in _STAGES else result
    if type(asked) is tuple and len(asked) == 2 and isinstance(asked[1], Sequence):
        from pjit_inspect.observe.watch.on_request import compile_record

        records = [CompileRecord(compile_record(asked[0], tuple(asked[1]), {}), live=True)]
    if not records:
        raise CaptureError("it compiled nothing; it must call a jitted function, or return one that it lowered")
    return records


if __name__ == "__main__":
    main()
