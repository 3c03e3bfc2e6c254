"""Compiling a program with XLA's dump on, as a task of a process apart: on fake CPU devices, or for other chips.

What it needs of JAX's private names lies in `observe.contract._jax` (`cpu_devices`, `compile_unseen`) and is listed in
`observe.contract.contract`. Not its job: what becomes of the files (`observe.partitioner.answers`), or the process
(`observe.apart`).
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.model.record.shortage import NO_MEMORY
from pjit_inspect.observe.apart.tasks import Made, last_line
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.contents import slow_facts
from pjit_inspect.observe.partitioner import dump as partitioner_dump
from pjit_inspect.observe.partitioner import passes
from pjit_inspect.observe.partitioner.rule_calls import RuleCalls
from pjit_inspect.observe.shardy import _mlir, how_compiled, numbering

_UNKNOWN_OPTION = "No such compile option: '"
_WHY = "the compiler refused the program for its memory"
_REFUSED = {"hlo_header": None, "cost": {}, "memory": None, "missing": {"cost": _WHY, "memory": _WHY}}
"""Facts of a program that was scheduled and then refused, besides the program and its buffers."""

_WITHOUT_SHARDY = (
    "the program has custom_partitioning and was compiled without Shardy: XLA then also asks Python functions which "
    "sharding a call has, and only `partition` is asked again"
)

_ready: dict[int, list[Any]] = {}
"""Number of fake CPU devices -> devices made before the question."""


def make_devices(devices: int) -> None:
    """Makes `devices` fake CPU devices before the question comes."""
    _ready[devices] = _jax.cpu_devices(devices)
    # What is loaded with the first module takes as long as the module.
    with _mlir.open_module(b"module {}"):
        pass


def compile_one(question: dict[str, Any], blobs: list[bytes]) -> Made:
    """Compile a program. The question's folder has the partitioner's files then; the optimized program is returned."""
    folder = Path(question["folder"])
    os.environ.update(question["target"].get("environment", {}))
    _write_to(folder)
    # A file that an option names lies there too, and goes with it.
    os.chdir(folder)
    try:
        return _compile(blobs, question, folder)
    except Exception as error:
        if NO_MEMORY not in str(error):
            raise
        # XLA lists the largest buffers there: all of it is kept.
        failure = str(error) if isinstance(error, CaptureError) else f"{type(error).__name__}: {error}"
        hlo = partitioner_dump.read_optimized(folder) if question["effort"] == "full" else b""
        if not hlo:
            return Made({"failure": failure})
        return Made({"failure": failure, "compiled": _REFUSED}, (hlo, partitioner_dump.read_buffers(folder)))


def _write_to(folder: Path) -> None:
    """Redirects XLA's output to a file of the question's folder."""
    stderr = os.open(folder / partitioner_dump.STDERR, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    os.close(stderr)


def _compile(blobs: list[bytes], question: dict[str, Any], folder: Path) -> Made:
    flags, devices, is_full = question["flags"], question["devices"], question["effort"] == "full"
    with _mlir.open_module(blobs[0]) as module:
        partitions = how_compiled.count_partitions(module)
        if devices % partitions:
            raise CaptureError(f"{devices} devices do not fit a program of {partitions} partitions")
        is_open = how_compiled.open_borders(module)
        facts = {
            "partitions": partitions,
            "free_inputs": is_open[0],
            "free_outputs": is_open[1],
            "result_names": how_compiled.result_names(module),
        }
        numbers = numbering.Numbering()
        is_for_shardy = how_compiled.is_for_shardy(module, flags)
        calls = RuleCalls(module, folder)
        if calls.keys and (not is_for_shardy or how_compiled.has_gspmd_marks(module, blobs[0])):
            raise CaptureError(_WITHOUT_SHARDY)
        numbers.number(module)
        calls.learn(question["rules"], blobs[1:], numbers, mark=not is_full)
        partitioner_dump.leave_text(folder, partitioner_dump.PLACES, numbers.text())
        partitioner_dump.leave_text(folder, partitioner_dump.FACTS, json.dumps(facts))
        places = _devices(question)
        partitioner_dump.leave_text(folder, partitioner_dump.DEVICES, json.dumps([_facts(own) for own in places]))
        options = _options(question, folder)
        how = {"replicas": devices // partitions, "is_for_shardy": is_for_shardy}
        try:
            executable = _compiled(module, places, options, is_open, **how)
        except CaptureError:
            # No compiler knows the operations that stand for a rule, and for its end.
            if not calls.keys or (is_full and calls.is_whole) or partitioner_dump.find_modules(folder) is None:
                raise
            return Made({})
        if not is_full:
            return Made({})
        made = _optimized(executable, folder)
        return _with_passes(made, folder) if question.get("passes") else made


def _compiled(module: Any, devices: list[Any], options: dict[str, Any], is_open: Any, **how: Any) -> Any:
    while True:
        try:
            return _jax.compile_unseen(module, devices, options, is_open, **how)
        except RuntimeError as error:
            # An option of another platform, with which the program was compiled there; or one newer than this XLA.
            unknown = str(error).partition(_UNKNOWN_OPTION)[2].partition("'")[0]
            if unknown not in options:
                platform = devices[0].platform.upper()
                raise CaptureError(
                    f"XLA does not compile the program for {platform} devices: {_words(error)}"
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
        raise ChangeError(f"JAX lays no mesh {sizes} over these devices: {why}") from error
    except Exception as error:
        raise ChangeError(f"there are no such devices to compile for: {_words(error)}") from error


def _facts(device: Any) -> list[Any]:
    coords = getattr(device, "coords", None)
    return [device.id, device.platform, device.device_kind, device.process_index, coords and list(coords)]


def _optimized(executable: Any, folder: Path) -> Made:
    """The optimized program, and XLA's counts for it."""
    missing: dict[str, str] = {}
    facts = slow_facts(executable, missing)
    memory, buffers = facts.pop("memory"), facts.pop("buffers")
    facts |= {"memory": None if memory is None else dataclasses.asdict(memory), "missing": missing}
    # Where XLA gives no proto its dump has a text.
    said = buffers.read() if buffers is not None else partitioner_dump.read_buffers(folder)
    return Made({"compiled": facts}, (_jax.hlo_proto(executable), said))


def _with_passes(made: Made, folder: Path) -> Made:
    """The answer with the programs between passes."""
    steps, packed = passes.pack_steps(folder)
    return Made(made.said | {"passes": steps}, (*made.blobs, packed))


def _options(question: dict[str, Any], folder: Path) -> dict[str, Any]:
    """All compile options for a question."""
    target, is_full, has_passes = question["target"], question["effort"] == "full", question.get("passes", False)
    platform = target.get("platform", "cpu")
    # A CPU's buffer assignment comes with the program; others have it in their dump, which is text.
    as_text = is_full and platform != "cpu" and not has_passes
    options = _with_dump(how_compiled.compiler_options(question["flags"]), folder, as_text=as_text)
    if has_passes:
        options["xla_dump_hlo_pass_re"] = passes.ALL_PASSES
    if platform == "tpu" and not is_full:
        options["xla_early_exit_with_layouts"] = True
    return target.get("flags", {}) | options


def _with_dump(own: dict[str, Any], folder: Path, *, as_text: bool) -> dict[str, Any]:
    """The user's options except those of dumps and of files, plus ours, which also override dump options in XLA_FLAGS.

    An option may have XLA write a file, or read one, and the options of a record from a file are somebody else's. A
    file without a directory is in the question's folder.
    """
    named = {name for name, value in own.items() if isinstance(value, str) and {"/", "\\"} & set(value)}
    kept = {name: value for name, value in own.items() if not name.startswith("xla_dump_") and name not in named}
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


def _words(error: BaseException) -> str:
    """The reason on one line; for a memory shortage all lines."""
    return str(error) if isinstance(error, CaptureError) or NO_MEMORY in str(error) else last_line(error)
