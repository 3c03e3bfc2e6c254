"""An environment with other packages: made once with uv, or with venv and pip, and kept in the user's cache folder.

Not its job: the processes in it (`handles.upgrade.apart`).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pjit_inspect.errors import CaptureError

_NEEDED = ("numpy>=2.0", "protobuf>=4.25")
"""Packages needed to record a compile, besides JAX."""
_PIP_REFUSES = re.compile(r"(?:^|[\s;])([\w.!+-]+) Requires-Python ([^;\s]+)")
_UV_REFUSES = re.compile(r"depends\s+on\s+Python\s*([<>=!~][^\s,;]*(?:,\s*[<>=!~][^\s,;]*)*)")
_WHOLE = "complete"
_MOST_LINES = 4

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]
"""Runs a command and returns its output; tests pass another one."""


def cache_folder() -> Path:
    """Folder of the environments: `pjit_inspect/environments` in the user's cache folder."""
    kept = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(kept) / "pjit_inspect" / "environments"


def make_environment(
    requirements: Sequence[str],
    *,
    python: str | None = None,
    folder: Path | None = None,
    run: Run | None = None,
    uv: str | None = None,
) -> Path:
    """The interpreter of an environment with these requirements and the packages for recording; made if missing.

    Args:
      requirements: as pip takes them ("jax==0.12.0.1").
      python: the interpreter to make it with; by default this one.
      folder: the folder of environments; by default `cache_folder()`.
      run: runs a command; by default as a process whose output is kept.
      uv: the program `uv`; by default the one on the path. "" selects venv and pip.

    Raises CaptureError with pip's message, and with the Python version a requirement needs if this one is refused.
    """
    interpreter, do = python or sys.executable, run or _run
    version = _version(interpreter, do)
    place = (folder or cache_folder()) / _name(requirements, interpreter, version)
    made = place / "bin" / "python"
    if (place / _WHOLE).exists() and made.exists():
        return made
    place.parent.mkdir(parents=True, exist_ok=True)
    tool = shutil.which("uv") if uv is None else uv or None
    # Made beside its final place: an unfinished environment is never taken for a complete one.
    with tempfile.TemporaryDirectory(prefix="making_", dir=place.parent) as name:
        begun = Path(name) / "environment"
        for command in _commands(interpreter, begun, (*requirements, *_NEEDED), tool):
            done = do(command)
            if done.returncode:
                raise CaptureError(_why(requirements, interpreter, version, f"{done.stdout}\n{done.stderr}"))
        (begun / _WHOLE).touch()
        shutil.rmtree(place, ignore_errors=True)
        os.replace(begun, place)
    return made


def _name(requirements: Sequence[str], interpreter: str, version: str) -> str:
    """A folder's name: the first requirement for a person, and a key for all that the environment is made of."""
    parts = (*sorted(requirements), *_NEEDED, os.path.realpath(interpreter), version)
    key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    stem = re.sub(r"[^\w.-]+", "_", requirements[0])[:40] if requirements else "none"
    return f"{stem}-python{version}-{key}"


def _commands(interpreter: str, place: Path, requirements: Sequence[str], uv: str | None) -> list[list[str]]:
    made = str(place / "bin" / "python")
    if uv is not None:
        return [
            [uv, "venv", "--quiet", "--python", interpreter, str(place)],
            [uv, "pip", "install", "--quiet", "--python", made, *requirements],
        ]
    pip = [made, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    return [[interpreter, "-m", "venv", str(place)], [*pip, *requirements]]


def _version(interpreter: str, run: Run) -> str:
    """The version of an interpreter ("3.13"). Raises CaptureError where it does not run."""
    done = run([interpreter, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
    found = done.stdout.strip()
    if done.returncode or not re.fullmatch(r"\d+\.\d+", found):
        said = (done.stderr or found).strip().splitlines()
        raise CaptureError(f"{interpreter} is no Python that runs: {said[-1] if said else 'it says nothing'}")
    return found


def _why(requirements: Sequence[str], interpreter: str, version: str, said: str) -> str:
    """Why an environment could not be made: the Python version it needs, or pip's last message."""
    wanted = " ".join(requirements)
    needs = _needed_python(requirements, said)
    if needs:
        return (
            f"{wanted} cannot be installed for Python {version} ({interpreter}): it needs Python {needs}; "
            f"name such an interpreter with --python PATH"
        )
    lines = [
        line.strip() for line in said.splitlines() if line.strip() and not line.startswith(("WARNING", "[notice]"))
    ]
    told = " ".join(line if len(line) < 300 else f"{line[:300]}..." for line in lines[-_MOST_LINES:])
    return (
        f"no environment with {wanted} could be made with {interpreter} (Python {version}): {told or 'no reason given'}"
    )


def _needed_python(requirements: Sequence[str], said: str) -> str:
    """The Python that pip or uv says a requirement needs; "" where that is not why."""
    refused = dict(_PIP_REFUSES.findall(said))
    for requirement in requirements:
        if (found := refused.get(requirement.partition("==")[2].strip())) is not None:
            return found
    match = _UV_REFUSES.search(said)
    return match[1] if match else ""


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    # Python settings of this environment do not apply to the other.
    kept = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }
    try:
        return subprocess.run(
            list(command), stdin=subprocess.DEVNULL, capture_output=True, text=True, env=kept, check=False
        )
    except OSError as error:
        return subprocess.CompletedProcess(list(command), 127, "", str(error))
