"""A process that compiles programs with XLA's dump on: one of them on fake CPU devices, or one after another elsewhere.

It is forked by `observe.partitioner.server`, which kills the one for CPU devices as soon as its files are complete.
One for a chip that is not attached answers many questions: the compiler of that chip takes long to start. What it needs
of JAX's private names lies in `observe.contract._jax` (`cpu_devices`, `compile_unseen`) and is listed in
`observe.contract.contract`. Not its job: what becomes of the files.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import resource
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from pjit_inspect.model.record.shortage import NO_MEMORY
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.contents import slow_facts
from pjit_inspect.observe.partitioner import dump as partitioner_dump
from pjit_inspect.observe.partitioner.messages import close_all, receive
from pjit_inspect.observe.shardy import _mlir, how_compiled

__all__ = ["be_child", "be_spare", "be_worker"]

_UNKNOWN_OPTION = "No such compile option: '"


class _RefusedError(Exception):
    """The question has no answer, for the reason that this says."""


class _UnfitError(_RefusedError):
    """There are no such devices, or no such mesh of them."""


def be_child(server: int, link: socket.socket, question: dict[str, Any], program: int, folder: Path) -> None:
    """Answer one question; never returns."""
    status = 1
    try:
        _become_quiet(link)
        _end_with(server)
        _answer(question, program, folder)
        status = 0
    finally:
        os._exit(status)


def be_spare(server: int, link: socket.socket, questions: socket.socket, devices: int) -> None:
    """Make so many fake CPU devices, then wait for one question and answer it; never returns."""
    status = 1
    try:
        _become_quiet(link)
        _end_with(server)
        _ready[devices] = _jax.cpu_devices(devices)
        # What is loaded with the first module takes as long as the module.
        with _mlir.open_module(b"module {}"):
            pass
        question, files = receive(questions)
        _answer(question, files[0], Path(question["folder"]))
        status = 0
    finally:
        os._exit(status)


_ready: dict[int, list[Any]] = {}
"""How many fake CPU devices -> those that were made before anybody asked."""


def be_worker(server: int, link: socket.socket, questions: socket.socket, environment: dict[str, str]) -> None:
    """Answer the questions that come, one after another; never returns."""
    try:
        os.environ.update(environment)
        _become_quiet(link)
        _end_with(server)
        while True:
            question, files = receive(questions)
            _answer(question, files[0], Path(question["folder"]))
            close_all(files)
    finally:
        os._exit(0)


def _answer(question: dict[str, Any], program: int, folder: Path) -> None:
    """Compile. The folder has the files then, or why there are none."""
    # Should the server be killed, this process still ends.
    signal.alarm(int(question["timeout_s"]) + 2)
    try:
        _write_to(folder)
        with os.fdopen(program, "rb", closefd=False) as file:
            file.seek(0)
            bytecode = file.read()
        _compile(bytecode, question, folder)
    except BaseException as error:
        kind = partitioner_dump.UNFIT if isinstance(error, _UnfitError) else partitioner_dump.FAILURE
        with suppress(OSError):
            partitioner_dump.leave_text(folder, kind, _in_words(error))
            if question["effort"] == "full" and NO_MEMORY in str(error):
                _leave_refused(folder)
    finally:
        signal.alarm(0)
        with suppress(OSError):
            partitioner_dump.leave_text(folder, partitioner_dump.DONE, "")


def _become_quiet(link: socket.socket) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (partitioner_dump.MAX_BYTES, partitioner_dump.MAX_BYTES))
    # The socket is closed here, so that the user's process hears when the server dies.
    link.detach()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.nice(5)


def _write_to(folder: Path) -> None:
    """What XLA says goes to a file of the question's folder."""
    stderr = os.open(folder / partitioner_dump.STDERR, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    os.close(stderr)


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
        if partitions == 1 and question["effort"] == "partition":
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
        places = _devices(question)
        partitioner_dump.leave_text(folder, partitioner_dump.DEVICES, json.dumps([_facts(own) for own in places]))
        target = question["target"]
        # A CPU's buffer assignment comes with the program; others have it in their dump, which is text.
        as_text = question["effort"] == "full" and target.get("platform", "cpu") != "cpu"
        options = _options(how_compiled.compiler_options(flags), folder, as_text=as_text)
        options = target.get("flags", {}) | options
        if question["effort"] == "partition" and target.get("platform") == "tpu":
            options["xla_early_exit_with_layouts"] = True
        executable = _compiled(
            module,
            places,
            options,
            is_open,
            replicas=devices // partitions,
            is_for_shardy=how_compiled.is_for_shardy(module, flags),
        )
        if question["effort"] == "full":
            _leave_program(executable, folder)


def _compiled(module: Any, devices: list[Any], options: dict[str, Any], is_open: Any, **how: Any) -> Any:
    while True:
        try:
            return _jax.compile_unseen(module, devices, options, is_open, **how)
        except RuntimeError as error:
            # An option of another platform, with which the program was compiled there; or one newer than this XLA.
            unknown = str(error).partition(_UNKNOWN_OPTION)[2].partition("'")[0]
            if unknown not in options:
                platform = devices[0].platform.upper()
                raise _RefusedError(
                    f"XLA does not compile the program for {platform} devices: {_in_words(error)}"
                ) from error
            del options[unknown]


def _devices(question: dict[str, Any]) -> list[Any]:
    """The devices to compile for, in the order of partitions."""
    target = question["target"]
    if not target:
        return _ready.get(question["devices"]) or _jax.cpu_devices(question["devices"])
    try:
        return _jax.target_devices(target["platform"], target["topology"], target["options"], target["mesh"])
    except (NotImplementedError, ValueError) as error:
        sizes = " x ".join(map(str, target["mesh"]))
        # What follows the second sentence are examples and parameters of functions that nobody has called here.
        why = ". ".join(str(error).split(". ")[:2])
        raise _UnfitError(f"JAX lays no mesh {sizes} over these devices: {why}") from error
    except Exception as error:
        raise _UnfitError(f"there are no such devices to compile for: {_in_words(error)}") from error


def _facts(device: Any) -> list[Any]:
    coords = getattr(device, "coords", None)
    return [device.id, device.platform, device.device_kind, device.process_index, coords and list(coords)]


def _leave_program(executable: Any, folder: Path) -> None:
    """The optimized program, and what XLA counts of it."""
    missing: dict[str, str] = {}
    facts = slow_facts(executable, missing)
    memory, buffers = facts.pop("memory"), facts.pop("buffers")
    facts |= {"memory": None if memory is None else dataclasses.asdict(memory), "missing": missing}
    partitioner_dump.leave_text(folder, partitioner_dump.COMPILED, json.dumps(facts))
    partitioner_dump.leave(folder, partitioner_dump.OPTIMIZED, _jax.hlo_proto(executable))
    # Where XLA gives no proto its dump has a text.
    said = buffers.read() if buffers is not None else partitioner_dump.read_buffers(folder)
    partitioner_dump.leave(folder, partitioner_dump.BUFFERS, said)


def _leave_refused(folder: Path) -> None:
    """The program that the compiler refused when it had scheduled it and placed its buffers, from its dump."""
    if program := partitioner_dump.read_optimized(folder):
        partitioner_dump.leave(folder, partitioner_dump.BUFFERS, partitioner_dump.read_buffers(folder))
        partitioner_dump.leave(folder, partitioner_dump.OPTIMIZED, program)


def _options(own: dict[str, Any], folder: Path, *, as_text: bool) -> dict[str, Any]:
    """The user's options but those of dumps, and ours, which also undo what XLA_FLAGS says of dumps."""
    kept = {name: value for name, value in own.items() if not name.startswith("xla_dump_")}
    return kept | {
        "xla_dump_to": str(folder),
        "xla_dump_hlo_pass_re": partitioner_dump.PASSES,
        "xla_dump_hlo_module_re": "",
        "xla_dump_hlo_pipeline_re": "",
        "xla_dump_hlo_as_proto": True,
        "xla_dump_hlo_as_text": as_text,
        "xla_dump_hlo_as_dot": False,
        "xla_dump_hlo_as_html": False,
        "xla_dump_hlo_as_url": False,
        "xla_dump_hlo_snapshots": False,
        "xla_dump_compress_protos": False,
        "xla_dump_disable_metadata": False,
        "xla_dump_max_hlo_modules": -1,
    }


def _in_words(error: BaseException) -> str:
    """An error's first line; all of it where memory is short, as XLA lists the largest buffers then."""
    if isinstance(error, _RefusedError):
        return str(error)
    text = str(error)
    if NO_MEMORY in text:
        return f"{type(error).__name__}: {text}"
    lines = text.splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__
