"""The private names of JAX that `observe.contract._jax` relies on, each with the loss if it is gone.

`missing_names` checks them against the installed JAX, and a test fails with the name that moved. Not its job: reading
them.
"""

from __future__ import annotations

import functools
import gc
import importlib
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from pjit_inspect.observe.contract import _jax


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """One private name this package reads.

    Attributes:
      module: the JAX module, such as "jax._src.pjit".
      name: a dotted name in it.
      variables: the local variables of that function that are read while it runs.
      costs: the facts a record lacks without it.
    """

    module: str
    name: str
    variables: tuple[str, ...] = ()
    costs: str

    def missing(self) -> list[str]:
        """The names of this promise the installed JAX does not have."""
        try:
            found: Any = functools.reduce(getattr, self.name.split("."), importlib.import_module(self.module))
        except (ImportError, AttributeError):
            return [f"{self.module}.{self.name}"]
        known = _variables_of(_plain_function(found))
        return [f"{self.module}.{self.name} (variable {v!r})" for v in self.variables if v not in known]


_PXLA, _PJIT = "jax._src.interpreters.pxla", "jax._src.pjit"
_AHEAD = "why it compiled: programs compiled ahead of time"
_OVER = "why it compiled: what is differentiated or batched"

CONTRACT = (
    Promise(
        module=_PXLA,
        name="UnloadedMeshExecutable.from_hlo",
        variables=(
            "global_in_avals",
            "global_out_avals",
            "in_shardings",
            "out_shardings",
            "kept_var_idx",
            "device_list",
            "all_args_info",
            "ordered_effects",
            "intermediate_shardings",
            "context_mesh",
        ),
        costs="inputs, outputs and the mesh",
    ),
    Promise(
        module=_PXLA,
        name="_cached_compilation",
        variables=("computation", "xla_executable", "compiler_options_kvs"),
        costs="the optimized HLO and StableHLO",
    ),
    Promise(
        module=_PXLA,
        name="MeshComputation.compile",
        variables=("self",),
        costs="donation, and functions compiled before %pjit",
    ),
    Promise(module=_PXLA, name="_maybe_get_and_check_in_shardings", costs="input shardings the partitioner chose"),
    Promise(module=_PXLA, name="_maybe_get_and_check_out_shardings", costs="output shardings the partitioner chose"),
    Promise(module=_PXLA, name="maybe_recover_user_shardings", costs="axis names in output shardings"),
    Promise(module=_PXLA, name="finalize_shardings", costs="output shardings on one device"),
    Promise(module=_PJIT, name="_pjit_call_impl_python", variables=("jaxpr",), costs="the jaxpr"),
    Promise(
        module=_PJIT,
        name="_pjit_call_impl_python",
        variables=("args", "arg_types", "in_shardings", "out_shardings", "donated_invars", "ctx_mesh", "keep_unused"),
        costs="why it compiled: arguments, shardings, donation",
    ),
    Promise(module=_PJIT, name="_cpp_pjit", variables=("fun", "jit_info"), costs="why it compiled: static arguments"),
    Promise(module=_PJIT, name="_infer_params", variables=("fun", "ji", "args", "kwargs"), costs=_AHEAD),
    Promise(module=_PJIT, name="_pjit_linearize", variables=("nzs", "jaxpr"), costs=_OVER),
    Promise(module=_PJIT, name="_pjit_jvp", variables=("is_nz_tangents_in", "jaxpr"), costs=_OVER),
    Promise(module=_PJIT, name="_pjit_batcher", variables=("dims_in", "jaxpr"), costs=_OVER),
    Promise(module="jax._src.shard_map", name="_prim_applier", costs="names of operations that pmap runs outside jit"),
    Promise(module="jax._src.util", name="HashablePartial", costs="names of operations that pmap runs outside jit"),
    Promise(module="jax._src.stages", name="Traced.lower", variables=("self",), costs=_AHEAD),
    Promise(module="jax._src.config", name="trace_context", costs="why it compiled: user contexts"),
    Promise(module="jax._src.config", name="config_states", costs="why it compiled: configuration"),
    Promise(module="jax._src.config", name="mesh_context_manager", costs="why it compiled: the mesh of `with mesh`"),
    Promise(module="jax._src.util", name="cache", costs="why it compiled: caches that were cleared"),
    Promise(module="jax._src.util", name="register_cache", costs="meshes that jax.clear_caches lets go of"),
    Promise(module=_PJIT, name="_cpp_pjit_cache_fun_only.clear", costs="functions compiled before %pjit"),
    Promise(module=_PJIT, name="_cpp_pjit_cache_explicit_attributes.clear", costs="functions compiled before %pjit"),
    Promise(module="jax._src.dispatch", name="apply_primitive", variables=("prim",), costs="names of eager operations"),
    Promise(module="jax._src.monitoring", name="_event_duration_secs_listeners", costs="a clean unload"),
    Promise(module="jax._src.monitoring", name="_event_listeners", costs="a clean unload"),
    Promise(module="jax._src.monitoring", name="_scalar_listeners", costs="a clean unload"),
    Promise(
        module="jax._src.dispatch",
        name="LogElapsedTimeContextManager.__enter__",
        variables=("self",),
        costs="XLA's warnings",
    ),
    Promise(
        module="jax._src.source_info_util",
        name="new_source_info",
        costs="quick compiles: every jaxpr is printed within the call",
    ),
    Promise(module="jax._src.compiler", name="get_compile_options", costs="programs compiled again on request"),
    Promise(module="jax._src.compiler", name="backend_compile_and_load", costs="programs compiled again on request"),
    Promise(
        module=_PJIT,
        name="pjit_check_aval_sharding",
        variables=("name", "what_aval"),
        costs="which argument an explained error is about",
    ),
    Promise(module="jax._src.distributed", name="global_state.process_id", costs="whose a log without records is"),
    Promise(module="jax._src.distributed", name="global_state.num_processes", costs="whose a log without records is"),
    Promise(module="jax._src.xla_bridge", name="backends_are_initialized", costs="whose a log without records is"),
    Promise(module="jaxlib.xla_client", name="DeviceList", costs="programs compiled again on request"),
    Promise(
        module="jaxlib.xla_client",
        name="make_cpu_client",
        variables=("asynchronous", "num_devices"),
        costs="shardings and causes from XLA's own partitioner",
    ),
    Promise(
        module="jax._src.interpreters.mlir",
        name="make_ir_context",
        costs="shardings and causes from XLA's own partitioner",
    ),
    Promise(
        module="jax._src.custom_partitioning",
        name="_sharding_callbacks",
        costs="shardings and causes of programs with custom_partitioning",
    ),
    Promise(
        module="jax._src.custom_partitioning",
        name="_custom_partitioning_partition",
        variables=("arg_shapes", "arg_shardings", "result_shape", "result_sharding", "backend_string"),
        costs="shardings and causes of programs with custom_partitioning",
    ),
    Promise(module="jax._src.profiler", name="_profile_state.reset", costs="measured times of kernels"),
    Promise(module="jax._src.profiler", name="_profile_state.lock", costs="measured times of kernels"),
)


def missing_names() -> dict[str, str]:
    """Private names the installed JAX lacks -> the facts records lack because of it; {} if none is missing."""
    return {name: promise.costs for promise in CONTRACT for name in promise.missing()}


def can_watch_calls() -> bool:
    """False when a private name that `watched_calls` needs has moved."""
    needs = [p for p in CONTRACT if p.name.startswith(("MeshComputation.compile", "_cpp_pjit_cache"))]
    return not any(promise.missing() for promise in needs)


def _plain_function(found: Any) -> Any:
    """The Python function under `functools.wraps` and under JAX's C++ caches, which show it to the collector only."""
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    if hasattr(found, "__code__"):
        return found
    name = getattr(found, "__name__", None)
    held = [item for item in gc.get_referents(found) if isinstance(item, FunctionType)]
    return next((item for item in held if item.__name__ == name), held[0] if held else found)


def _variables_of(function: Any) -> set[str]:
    code = getattr(function, "__code__", None)
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars} if code is not None else set()


def this_process() -> tuple[int, int]:
    """`(jax.process_index(), jax.process_count())`, without starting a backend: that would take the devices."""
    return _jax.distributed_place()
