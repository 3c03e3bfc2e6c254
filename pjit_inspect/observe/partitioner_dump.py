"""What XLA's own partitioner made of a program: compiled once more, because somebody asked, with XLA's dump on.

XLA writes the program with the shardings it begins partitioning with. Nothing of the extra compile stays: JAX's caches
and events do not see it, the executable is dropped, and the files are removed. Not its job: reading what was written
(`parse.propagated_hlo`), or propagation without a compile (`observe.propagation`).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from pjit_inspect.errors import CaptureError
from pjit_inspect.observe import _jax, _mlir
from pjit_inspect.observe.shardy_attributes import read_names

__all__ = ["PartitionerDump", "compiler_options", "dump_partitioner", "open_borders"]

_DUMPED = "spmd-partitioning|sharding-propagation"
"""Not "shardy-verbose": then XLA asks Shardy where shardings come from, which can end the process."""
_HLO = (".before_spmd-partitioning.", ".after_shardy-xla.", ".after_sharding-propagation.")
"""Parts of the names of files that have the program as the partitioner gets it, the best first."""
_MAX_BYTES = 1 << 30
"""StableHLO cannot be so large that a dump of it is larger."""

_NUMBER = re.compile(r"-?\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionerDump:
    """What XLA wrote about one program.

    Attributes:
      hlo: the program with the shardings that partitioning begins with, as HLO text.
      free_inputs, free_outputs: for each argument and result, whether its sharding was left to the partitioner.
      result_names: JAX's names of the results (`result[0]`); "" where it has none.
    """

    hlo: str
    free_inputs: tuple[bool, ...] = ()
    free_outputs: tuple[bool, ...] = ()
    result_names: tuple[str, ...] = ()


def dump_partitioner(
    stablehlo: bytes, device_ids: Sequence[int], flags: Mapping[str, str] | None = None
) -> PartitionerDump:
    """Compile a captured program once more and return what XLA wrote on the way. Nothing is run.

    It takes as long as the first compile did. Warnings that XLA prints then are printed again.

    Args:
      stablehlo: the program as MLIR bytecode, as JAX gave it to XLA.
      device_ids: the program's devices, in the order of its partitions (replica by replica).
      flags: a record's flags; the compiler options among them are used again.

    Raises CaptureError when this process does not have these devices alone, or when XLA does not compile the program
    or writes nothing.
    """
    with _mlir.open_module(stablehlo) as module:
        main = _main(module)
        devices = _find_devices(device_ids)
        is_open = open_borders(module)
        names = tuple(_result_name(own) for own in _attributes(main, "res_attrs", len(is_open[1])))
        with tempfile.TemporaryDirectory(prefix="pjit_inspect_") as folder:
            options = {**compiler_options(flags or {}), "xla_dump_to": folder, "xla_dump_hlo_pass_re": _DUMPED}
            _compile(module, devices, options, is_open, _is_for_shardy(module, flags or {}))
            hlo = _read(Path(folder))
    free_inputs, free_outputs = is_open
    return PartitionerDump(
        hlo=hlo, free_inputs=tuple(free_inputs), free_outputs=tuple(free_outputs), result_names=names
    )


def _compile(
    module: Any,
    devices: list[Any],
    options: dict[str, Any],
    is_open: tuple[list[bool], list[bool]],
    is_for_shardy: bool,
) -> None:
    partitions = _count(module, "mhlo.num_partitions")
    if len(devices) % partitions:
        raise CaptureError(f"{len(devices)} devices do not fit a program of {partitions} partitions")
    replicas = len(devices) // partitions
    try:
        _jax.compile_unseen(module, devices, options, is_open, replicas=replicas, is_for_shardy=is_for_shardy)
    except RuntimeError as error:
        reason = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        raise CaptureError(f"XLA did not compile the program a second time: {reason}") from error


# ---------------------------------------------------------------- what was captured


def _main(module: Any) -> Any:
    for op in module.body.operations:
        if op.operation.name == "func.func" and str(op.attributes["sym_name"]) == '"main"':
            return op
    raise CaptureError("the captured StableHLO has no function 'main' that could be compiled again")


def _is_for_shardy(module: Any, flags: Mapping[str, str]) -> bool:
    if "jax_use_shardy_partitioner" in flags:
        return flags["jax_use_shardy_partitioner"] == "True"
    return any(op.operation.name == "sdy.mesh" for op in module.body.operations)


def _find_devices(device_ids: Sequence[int]) -> list[Any]:
    known = {device.id: device for device in jax.devices()}
    if not device_ids:
        raise CaptureError("the record does not say which devices the program was compiled for")
    missing = [number for number in device_ids if number not in known]
    if missing:
        raise CaptureError(f"the program was compiled for device {missing[0]}, which this process does not have")
    devices = [known[number] for number in device_ids]
    others = {device.process_index for device in devices} - {jax.process_index()}
    if others:
        # Some backends wait in a compile for the other processes, which do not take part.
        raise CaptureError(
            f"the program runs in {len(others) + 1} processes, and compiling it again in one of them alone could wait "
            f"for ever; inspect it on one process with as many devices"
        )
    return devices


def _count(module: Any, name: str) -> int:
    attributes = module.operation.attributes
    found = _NUMBER.match(str(attributes[name])) if name in attributes else None
    return max(int(found[0]), 1) if found else 1


def open_borders(module: Any) -> tuple[list[bool], list[bool]]:
    """For each argument and each result of a captured module, whether JAX left its sharding to the partitioner."""
    main = _main(module)
    inputs = _attributes(main, "arg_attrs", len(main.type.inputs))
    outputs = _attributes(main, "res_attrs", len(main.type.results))
    return [_is_open(own) for own in inputs], [_is_open(own) for own in outputs]


def _attributes(main: Any, name: str, count: int) -> list[Any]:
    """The attributes of each argument or result; MLIR leaves the list out where all are empty."""
    found = list(main.attributes[name]) if name in main.attributes else []
    return found if len(found) == count else [{}] * count


def _is_open(attributes: Any) -> bool:
    if "mhlo.sharding" in attributes:
        return False
    return "sdy.sharding" not in attributes or "?" in str(attributes["sdy.sharding"])


def _result_name(attributes: Any) -> str:
    names = read_names(str(attributes["jax.result_info"])) if "jax.result_info" in attributes else ()
    return names[0] if names else ""


def compiler_options(flags: Mapping[str, str]) -> dict[str, Any]:
    """The compiler options among a record's flags, as the values they were given as."""
    return {name: _typed(value) for name, value in flags.items() if not name.startswith("jax_")}


def _typed(value: str) -> Any:
    if value in ("True", "False"):
        return value == "True"
    return int(value) if _NUMBER.fullmatch(value) else value


# ---------------------------------------------------------------- what was written


def _read(folder: Path) -> str:
    """The file with the program as the partitioner gets it."""
    files = sorted(path for path in folder.iterdir() if path.suffix == ".txt" and path.is_file())
    found = [path for part in _HLO for path in files if part in path.name]
    if not found:
        raise CaptureError("XLA compiled the program but wrote no program before partitioning; it may have one device")
    size = found[0].stat().st_size
    if size > _MAX_BYTES:
        raise CaptureError(f"XLA wrote {size} bytes about the program, more than the {_MAX_BYTES} that are read")
    return found[0].read_text(encoding="utf-8", errors="replace")
