"""Chooses the program that starts a helper process, and its environment, and decides whether it may be started.

A helper is a Python that sees the standard library, the folders from which jax and its dependencies were loaded, and
this package; nothing of the user's path, folder or PYTHON* variables. It is no child of a user's process: its starter
detaches itself, and is awaited with a time limit. If that is impossible there is no helper, and the OSError gives the
reason. Not its job: the helper's work (`start`, `server`).
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

START_S = 20.0
"""For a Python to start, which takes 0.02 s, and to detach itself."""

_ISOLATED = ("-I", "-S", "-P", "-W", "ignore")
_PYTHON = re.compile(r"python[wdt]?(?:\d+(?:\.\d+)?)?[dtm]*", re.IGNORECASE)
_PACKAGES = ("jax", "jaxlib", "numpy", "google", "ml_dtypes", "opt_einsum", "scipy", "libtpu", "jax_plugins")
"""JAX, its dependencies, and the compilers of chips: helpers look for packages in their folders."""
_OWN_FLAGS = re.compile(
    r"""(?:^|\s)--xla_(?:dump_\w+|force_host_platform_device_count)(?:=(?:"[^"]*"|'[^']*'|\S*))?(?=\s|$)"""
)
_GET_CHILD_SUBREAPER = 37
_KILL_S = 1.0

_unusable: dict[str, str] = {}
"""Programs that did not start a helper in time, each with the reason."""


# ---------------------------------------------------------------- which program


def find_interpreter() -> str:
    """The program that is the Python of this process. Raises OSError with the reason where none is known to be."""
    if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
        raise OSError("this system cannot fork a process or pass it files")
    if getattr(sys, "frozen", False) or hasattr(sys, "_MEIPASS"):
        raise OSError(
            f"this program is an application with Python in it (sys.frozen), and to start {sys.executable} again would "
            f"start the application again"
        )
    genuine = _genuine()
    found = next((path for path in _candidates() if _is_python(path, genuine)), None)
    if found is None:
        shown = repr(sys.executable) if sys.executable else "not set"
        raise OSError(
            f"no Python was found to start: sys.executable is {shown}, which is not the Python running here, or is one "
            f"that this user may not run"
        )
    if found in _unusable:
        raise OSError(_unusable[found])
    return found


def _candidates() -> Iterator[str]:
    """Programs that may be this Python, the one named by Python itself first."""
    said = (sys.executable, getattr(sys, "_base_executable", None))
    yield from (path for path in said if isinstance(path, str) and os.path.isabs(path))
    yield from _installed()
    with suppress(OSError):
        yield os.path.realpath("/proc/self/exe", strict=True)


def _installed() -> Iterator[str]:
    """Possible paths of the Python program of this installation."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for prefix in (sys.base_exec_prefix, sys.base_prefix):
        yield os.path.join(prefix, "bin", f"{name}{getattr(sys, 'abiflags', '')}")
        yield os.path.join(prefix, "bin", name)


def _genuine() -> set[str] | None:
    """The programs, links followed, that can be the Python running here; None where the system does not tell."""
    with suppress(OSError):
        running = os.path.realpath("/proc/self/exe", strict=True)
        return {running, *map(os.path.realpath, _installed())}
    return None


def _is_python(path: str, genuine: set[str] | None) -> bool:
    real = os.path.realpath(path)
    return (
        all(_PYTHON.fullmatch(os.path.basename(own)) is not None for own in (path, real))
        and (genuine is None or real in genuine)
        and os.path.isfile(real)
        and os.access(real, os.X_OK)
    )


# ---------------------------------------------------------------- with what


def package_folders() -> list[str]:
    """The folders from which jax and its dependencies were loaded or would be found, each once, as absolute paths.

    Raises OSError where there is no jaxlib.
    """
    folders: dict[str, None] = {}
    for name in _PACKAGES:
        with suppress(Exception):
            # A user's finder may fail; then this package is found beside the others, or not at all.
            places = _places(name, list(folders))
            folders |= dict.fromkeys(os.path.dirname(os.path.abspath(place)) for place in places)
    if not any(os.path.isdir(os.path.join(folder, "jaxlib")) for folder in folders):
        raise OSError("jaxlib is not installed here")
    return list(folders)


def _places(name: str, known: list[str]) -> list[str]:
    """Folders of a package's modules; no module is loaded."""
    if (loaded := sys.modules.get(name)) is not None:
        return [place for place in loaded.__path__ if isinstance(place, str)]
    spec = importlib.machinery.PathFinder.find_spec(name, known) if known else None
    if spec is None:
        spec = importlib.util.find_spec(name)
    return list(spec.submodule_search_locations or ()) if spec is not None else []


def environment() -> dict[str, str]:
    """The user's environment, whose XLA flags hold; but nothing of Python's path, of dumps, or of devices."""
    dropped = ("TF_CPP_MAX_VLOG_LEVEL", "TF_CPP_VMODULE", "VIRTUAL_ENV")
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON") and name not in dropped}
    flags = _OWN_FLAGS.sub(" ", _xla_flags(own.pop("XLA_FLAGS", ""))).strip()
    if flags:
        own["XLA_FLAGS"] = flags
    # One thread for numpy's libraries: a process with several cannot be forked safely. Level 1 prints warnings.
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return own | single | {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "1"}


def _xla_flags(value: str) -> str:
    """XLA's flags; a value that does not begin as one is the name of a file that has them."""
    if value.strip().startswith("--"):
        return value
    with suppress(OSError, ValueError):
        return Path(value).read_text(encoding="utf-8", errors="surrogateescape")
    return value


# ---------------------------------------------------------------- started, as nobody's child


def check_for_reapers() -> None:
    """Raise OSError if this process would be notified of a helper's end, or would find one among its children."""
    if signal.getsignal(signal.SIGCHLD) not in (signal.SIG_DFL, signal.SIG_IGN):
        raise OSError("the program handles the end of its children (SIGCHLD) itself, and would be told of one of ours")
    if os.getpid() == 1:
        raise OSError(
            "this process is the first of its container and would find our processes among its children; start the "
            "container with an init process, such as docker run --init"
        )
    if _is_subreaper():
        raise OSError(
            "this process adopts the processes that others leave (it is a child subreaper), and would find ours among "
            "its children"
        )


def _is_subreaper() -> bool:
    with suppress(OSError, AttributeError, TypeError):
        answer = ctypes.c_int(0)
        return ctypes.CDLL(None).prctl(_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0) == 0 and answer.value != 0
    return False


def start_detached(
    script: str | Path,
    arguments: Sequence[str],
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
) -> None:
    """Run a script of ours, which forks itself off and ends; returns when it has ended.

    The script can import the standard library alone. Raises OSError, with the reason, where none can be started or it
    does not detach itself in `START_S`; then this program is not tried again by this process.
    """
    check_for_reapers()
    python = find_interpreter()
    starter = subprocess.Popen(
        [python, *_ISOLATED, str(script), *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=environment(),
        cwd="/",
        start_new_session=True,
    )
    try:
        status = starter.wait(START_S)
    except BaseException as error:
        _kill(starter)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        _unusable[python] = f"{python} did not start within {START_S:g} s, and is not started again"
        raise OSError(_unusable[python]) from None
    if status:
        raise OSError(f"{python} ended with status {status} when it was started")


def _kill(starter: subprocess.Popen[bytes]) -> None:
    """Ends it with all processes it has started: it leads a separate session."""
    with suppress(OSError):
        os.killpg(starter.pid, signal.SIGKILL)
    with suppress(OSError, subprocess.TimeoutExpired):
        starter.wait(_KILL_S)


def start_time(process: int) -> int:
    """The start time of a process, which with its number identifies it; 0 if the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        return int(status.rpartition(")")[2].split()[19])
    return 0
