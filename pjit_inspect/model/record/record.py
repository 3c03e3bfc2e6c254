"""The compile record: everything kept about one compilation, as frozen data.

Not its job: analyses (`analyze`), reading and writing files (`parse.files.record_file`), the handle users hold (`api`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Device, Mesh
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.compile_key import CompileKey
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.target import Hypothesis
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

Origin = Literal["user", "library", "eager"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds the three stages took (measured on this machine); None when a stage was not seen.

    `trace_s` and `lower_s` are None too when JAX reused an earlier trace or lowering.

    Attributes:
      trace_s: seconds from Python to jaxpr.
      lower_s: seconds from jaxpr to StableHLO.
      compile_s: seconds from StableHLO to the executable, by XLA or from the compilation cache on disk.
      trace_began_s, lower_began_s, compile_began_s: when each stage began, in seconds since 1970.
    """

    trace_s: float | None = None
    lower_s: float | None = None
    compile_s: float | None = None
    trace_began_s: float | None = None
    lower_began_s: float | None = None
    compile_began_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """Bytes per device that the compiled program needs, as XLA counts them; None if XLA does not say.

    *Source*: `executable.get_compiled_memory_stats()`.

    Attributes:
      argument_bytes: the arguments.
      output_bytes: the results, including those in reused buffers.
      alias_bytes: the part of the results that is in buffers of donated arguments.
      temporary_bytes: temporaries while it runs.
      code_bytes: the compiled code.
      host_temporary_bytes: temporaries in host memory while it runs.
    """

    argument_bytes: int | None = None
    output_bytes: int | None = None
    alias_bytes: int | None = None
    temporary_bytes: int | None = None
    code_bytes: int | None = None
    host_temporary_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class RecordData:
    """One compilation, frozen and serialisable.

    Attributes:
      name: the function's name as the user wrote it (`train_step`, `<lambda>`).
      transform: the transform that made the compile: "jit", "grad", "jvp", "vmap", "pmap", "shard_map", "eager".
      primitive: the eager operation ("sin"), when `transform` is "eager".
      origin: "user" if the user's code called the function, "library" if a package compiled it for itself, "eager" for
        an operation outside any jit.
      user_frame: the innermost frame of the user's code when the compile happened.
      defined_at: where the compiled function is defined.
      inputs, outputs: the flattened arguments and results, in order.
      mesh: the mesh of the inputs and outputs, or None when they follow none.
      meshes: every mesh seen in the program, `mesh` first.
      devices: the devices of the program; the index is XLA's partition id (times replicas).
      process_index: the process that made the record (`jax.process_index()`); None if unknown, as for programs read
        from HLO.
      process_count: number of processes of the program (`jax.process_count()`); None likewise.
      jaxpr: the traced program as text.
      stablehlo: the program before optimization, as MLIR bytecode.
      stablehlo_text: the same as text, if it was printed before saving; not compared, as it follows from the bytecode.
      propagation: the program before optimization with the sharding of every value, if it was looked at before saving;
        not compared, as it follows from the bytecode.
      hlo: the optimized program, a serialised `xla.HloModuleProto`.
      buffers: XLA's account of the program's memory: a serialised `xla.BufferAssignmentProto` (CPU), or its text in
        XLA's dump; not compared, as it follows from the program and how it was compiled.
      hlo_header: the first line of the optimized program as XLA printed it after the compile. It has facts that the
        proto lacks: the numbers of replicas and partitions, and the shardings that propagation was free to choose. None
        for programs read from XLA's files.
      compiler_log: warnings of XLA's partitioner about a copy of the program, verbatim; "" for none, None if it was not
        asked: the program is for one device, nothing in it communicates, or nobody has looked yet.
      cost: XLA's cost analysis (`flops`, `bytes accessed`), which counts loop bodies once.
      memory: bytes per device.
      timings: seconds of each stage.
      kernel_times: times of its HLO instructions, measured in a `capture(measure=True)`; None if not measured, or if
        that failed (then `missing` says why).
      cached: "memory" if JAX already held the executable, "persistent" if it came from the compilation cache on disk
        (the HLO's source lines are then those of the run that filled it), None if XLA compiled it.
      versions: package -> version.
      flags: the configuration that shapes programs (the partitioner, x64, precision, ...), and compiler options.
      sources: the user's source texts at the time.
      missing: field name -> why it is missing.
      key: JAX's cache key of the program; None for programs read from HLO, or if JAX did not show it.
      reason: why it was compiled, if that was asked before saving; not compared, as it follows from the keys of the
        session.
      hypothesis: the question it answers, for a program that was changed in a copy or compiled for devices that are not
        attached; None for one that was compiled to run. With the effort "partition", `hlo` is the program as XLA's
        partitioner left it.
    """

    name: str
    transform: str = "jit"
    primitive: str | None = None
    origin: Origin = "user"
    user_frame: Frame | None = None
    defined_at: Frame | None = None
    inputs: tuple[ArrayLayout, ...] = ()
    outputs: tuple[ArrayLayout, ...] = ()
    mesh: Mesh | None = None
    meshes: tuple[Mesh, ...] = ()
    devices: tuple[Device, ...] = ()
    process_index: int | None = None
    process_count: int | None = None
    jaxpr: str | None = None
    stablehlo: Blob | None = None
    stablehlo_text: str | None = field(default=None, compare=False)
    propagation: ShardedProgram | None = field(default=None, compare=False)
    hlo: Blob | None = None
    buffers: Blob | None = field(default=None, compare=False)
    hlo_header: str | None = None
    compiler_log: str | None = None
    cost: dict[str, float] = field(default_factory=dict)
    memory: MemoryStats | None = None
    timings: Timings = Timings()
    kernel_times: KernelTimes | None = None
    cached: Literal["memory", "persistent"] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    sources: tuple[SourceText, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)
    key: CompileKey | None = None
    reason: Reason | None = field(default=None, compare=False)
    hypothesis: Hypothesis | None = None

    @property
    def parameters(self) -> tuple[ArrayLayout, ...]:
        """The inputs that the compiled program takes, in order: jit drops those that it does not use."""
        return tuple(layout for layout in self.inputs if layout.kept)

    @property
    def is_partial(self) -> bool:
        """True if `hlo` is the program as XLA's partitioner left it: not combined, fused or scheduled."""
        return self.hypothesis is not None and self.hypothesis.effort == "partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultTree:
    """One tree of a result: an entry of the returned tuple, list or dict, or the whole result.

    Attributes:
      path: its path in the result: "[0]", "['params']", ".step"; "" for the result itself.
      kind: the name of its Python type: "dict", "TrainState"; "array" for a single array.
      arrays: its arrays, in order.
      others: number of leaves that are no arrays.
      number: the value of a single array of one element, as text; "" for all others.
    """

    path: str
    kind: str
    arrays: tuple[ArrayLayout, ...] = ()
    others: int = 0
    number: str = ""
