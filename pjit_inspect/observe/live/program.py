"""The contents of one compile as live JAX objects, which are read once and never kept.

A program is gathered either from the stack of a compile that has just ended, or from a computation that JAX compiled
earlier. Not its job: turning it into a record (`observe.watch.record`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from pjit_inspect.observe.contract import _jax


@dataclass(slots=True, kw_only=True)
class LiveProgram:
    """The live parts of one compiled program.

    Missing parts keep their empty values, and `missing` gives the reasons. `is_kept` is True if JAX keeps the
    executable with `computation` as long as that lives. `asked_in` and `asked_out` are the shardings given to XLA,
    `in_shardings` and `out_shardings` the resulting ones.
    """

    name: str
    executable: Any = None
    module: Any = None
    computation: Any = None
    is_kept: bool = False
    jaxpr: Any = None
    jaxpr_text: str | None = None
    constants: int = 0
    debug_info: Any = None
    in_avals: Sequence[Any] = ()
    out_avals: Sequence[Any] = ()
    in_shardings: Sequence[Any] = ()
    out_shardings: Sequence[Any] = ()
    asked_in: Sequence[Any] = ()
    asked_out: Sequence[Any] = ()
    in_layouts: Sequence[Any] = ()
    kept: frozenset[int] = frozenset()
    all_avals: Sequence[Any] = ()
    donated: Sequence[bool] = ()
    devices: Sequence[Any] = ()
    meshes: Sequence[Any] = ()
    compiler_options: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def program_of_compile(stages: dict[str, FrameType], name: str) -> LiveProgram:
    """The program whose backend compile has just ended, from the frames that are running it."""
    program = LiveProgram(name=name)
    if "backend" in stages:
        local = stages["backend"].f_locals
        program.executable, program.module = local.get("xla_executable"), local.get("computation")
        program.compiler_options = dict(local.get("compiler_options_kvs") or ())
    if "call" in stages:
        program.jaxpr = stages["call"].f_locals.get("jaxpr")
    if "computation" in stages:
        local = stages["computation"].f_locals
        program.computation = local.get("self")
        program.is_kept = local.get("compiler_options") is None and local.get("device_assignment") is None
        program.donated = getattr(program.computation, "_donated_invars", ())
        program.constants = len(getattr(program.computation, "const_args", ()))
    if "program" in stages:
        _read_program_frame(program, stages["program"].f_locals)
    else:
        program.missing["inputs"] = program.missing["outputs"] = "this JAX shows no `from_hlo` frame while it compiles"
    return program


def _read_program_frame(program: LiveProgram, local: dict[str, Any]) -> None:
    if "compiled" in local and "pci" in local:
        _read_pmap_frame(program, local)
        return
    _read_arguments(program, local)
    program.devices = tuple(local.get("device_list") or ())
    try:
        program.in_shardings, program.out_shardings = _jax.final_shardings(local, program.executable)
    except Exception as error:
        # The requested shardings are true as far as they go; open ones are unknown.
        program.in_shardings, program.out_shardings = local["in_shardings"], local["out_shardings"]
        program.missing["shardings"] = f"JAX's final shardings could not be computed: {error!r}"


def _read_arguments(program: LiveProgram, local: dict[str, Any]) -> None:
    """Avals, names and meshes, under the names `from_hlo` and a computation's `compile_args` share."""
    info = local.get("all_args_info")
    program.in_avals = tuple(local.get("global_in_avals") or ())
    program.out_avals = tuple(local.get("global_out_avals") or ())
    program.kept = frozenset(local.get("kept_var_idx") or range(len(program.in_avals)))
    program.asked_in = tuple(local.get("in_shardings") or ())
    program.asked_out = tuple(local.get("out_shardings") or ())
    program.in_layouts = tuple(local.get("in_layouts") or ())
    program.debug_info = getattr(info, "debug_info", None)
    program.all_avals = tuple(getattr(info, "in_avals", None) or program.in_avals)
    inner = [getattr(s, "mesh", None) for s in local.get("intermediate_shardings") or ()]
    program.meshes = (*inner, local.get("context_mesh"))


def _read_pmap_frame(program: LiveProgram, local: dict[str, Any]) -> None:
    """Reads the old pmap (JAX 0.9 and earlier, if requested), which has a separate executable and no named mesh."""
    program.executable, program.module = local["compiled"], local.get("hlo")
    program.in_avals = program.all_avals = tuple(local["pci"].avals)
    program.out_avals = tuple(local.get("local_unmapped_avals") or ())
    program.in_shardings, program.out_shardings = local.get("in_shardings", ()), local.get("out_shardings", ())
    program.kept = frozenset(range(len(program.in_avals)))
    program.debug_info = local.get("jaxpr_debug_info")
    program.devices = tuple(local["executable_devices"])


def program_of_computation(computation: Any, jaxpr: Any = None) -> LiveProgram:
    """The program of a computation that was compiled earlier (its executable exists)."""
    executable = _jax.known_computation(computation)
    name = str(getattr(computation, "_name", ""))
    program = LiveProgram(name=name, jaxpr=jaxpr, computation=computation, is_kept=True)
    program.executable = getattr(executable, "xla_executable", None)
    program.module = getattr(computation, "_hlo", None)
    program.donated = getattr(computation, "_donated_invars", ())
    program.constants = len(getattr(computation, "const_args", ()))
    _read_arguments(program, getattr(computation, "compile_args", {}))
    program.in_shardings = tuple(getattr(executable, "_in_shardings", ()))
    program.out_shardings = tuple(getattr(executable, "_out_shardings", ()))
    program.devices = tuple(getattr(computation, "_device_list", None) or ())
    program.compiler_options = dict(getattr(computation, "_compiler_options_kvs", ()) or ())
    return program
