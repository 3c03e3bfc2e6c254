"""One question: a process that compiles a program on fake CPU devices with XLA's dump on.

It is forked by `observe.partitioner.server`, which kills it once the partitioner's files are complete. What it needs of
JAX's private names lies in `observe.contract._jax` (`cpu_devices`, `compile_unseen`) and is listed in
`observe.contract.contract`. Not its job: what becomes of the files.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.partitioner import dump as partitioner_dump
from pjit_inspect.observe.shardy import _mlir, how_compiled

__all__ = ["be_child"]

_UNKNOWN_OPTION = "No such compile option: '"


class _RefusedError(Exception):
    """The question has no answer, for the reason that this says."""


def be_child(server: int, link: socket.socket, question: dict[str, Any], program: int, folder: Path) -> None:
    """Compile; never returns."""
    status = 1
    try:
        _become_quiet(link, folder, question["timeout_s"])
        _end_with(server)
        with os.fdopen(program, "rb", closefd=False) as file:
            file.seek(0)
            bytecode = file.read()
        _compile(bytecode, question, folder)
        status = 0
    except BaseException as error:
        partitioner_dump.leave_text(folder, partitioner_dump.FAILURE, _first_line(error))
    finally:
        os._exit(status)


def _become_quiet(link: socket.socket, folder: Path, timeout_s: float) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Should the server be killed, this process still ends.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(timeout_s) + 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (partitioner_dump.MAX_BYTES, partitioner_dump.MAX_BYTES))
    # The socket is closed here, so that the user's process hears when the server dies.
    link.detach()
    nothing = os.open(os.devnull, os.O_RDONLY)
    stderr = os.open(folder / partitioner_dump.STDERR, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(nothing, 0)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    os.nice(5)


def _end_with(server: int) -> None:
    """On Linux a child ends as soon as its server does."""
    with suppress(OSError, AttributeError):
        set_signal_of_parents_death = 1
        ctypes.CDLL(None).prctl(set_signal_of_parents_death, signal.SIGKILL)
    if os.getppid() != server:
        raise _RefusedError("its server is gone")


def _compile(bytecode: bytes, question: dict[str, Any], folder: Path) -> None:
    flags, devices = question["flags"], question["devices"]
    with _mlir.open_module(bytecode) as module:
        partitions = how_compiled.count_partitions(module)
        if partitions == 1:
            raise _RefusedError("the program has one partition, so XLA runs no partitioner on it")
        if devices % partitions:
            raise _RefusedError(f"{devices} devices do not fit a program of {partitions} partitions")
        is_open = how_compiled.open_borders(module)
        facts = {
            "partitions": partitions,
            "free_inputs": is_open[0],
            "free_outputs": is_open[1],
            "result_names": how_compiled.result_names(module),
        }
        partitioner_dump.leave_text(folder, partitioner_dump.FACTS, json.dumps(facts))
        found = _jax.cpu_devices(devices)
        options = _options(how_compiled.compiler_options(flags), folder)
        shardy = how_compiled.is_for_shardy(module, flags)
        while True:
            try:
                _jax.compile_unseen(
                    module, found, options, is_open, replicas=devices // partitions, is_for_shardy=shardy
                )
            except RuntimeError as error:
                # An option of another platform, with which the program was compiled there; or one newer than this XLA.
                unknown = str(error).partition(_UNKNOWN_OPTION)[2].partition("'")[0]
                if unknown not in options:
                    raise _RefusedError(
                        f"XLA does not compile the program for CPU devices: {_first_line(error)}"
                    ) from error
                del options[unknown]
            else:
                return


def _options(own: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The user's options but those of dumps, and ours, which also undo what XLA_FLAGS says of dumps."""
    kept = {name: value for name, value in own.items() if not name.startswith("xla_dump_")}
    return kept | {
        "xla_dump_to": str(folder),
        "xla_dump_hlo_pass_re": partitioner_dump.PASSES,
        "xla_dump_hlo_module_re": "",
        "xla_dump_hlo_pipeline_re": "",
        "xla_dump_hlo_as_proto": True,
        "xla_dump_hlo_as_text": False,
        "xla_dump_hlo_as_dot": False,
        "xla_dump_hlo_as_html": False,
        "xla_dump_hlo_as_url": False,
        "xla_dump_hlo_snapshots": False,
        "xla_dump_compress_protos": False,
        "xla_dump_disable_metadata": False,
        "xla_dump_max_hlo_modules": -1,
    }


def _first_line(error: BaseException) -> str:
    if isinstance(error, _RefusedError):
        return str(error)
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__
