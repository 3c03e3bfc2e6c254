"""Asks XLA's partitioner about a captured program, in a process separate from the user's.

The process compiles a copy of the program, for fake CPU devices or for chips that need not be attached, until the
partitioner has answered or to the end. Answers are kept, by program, devices and options. Not its job: the process
(`observe.apart`), or interpreting answers (`parse`, `analyze`).
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from pjit_inspect.errors import CaptureError
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.record.record import MemoryStats
from pjit_inspect.model.record.target import Effort
from pjit_inspect.observe.apart import call
from pjit_inspect.observe.partitioner.passes import DumpedPasses
from pjit_inspect.observe.partitioner.targets import MOST_CPU_DEVICES

LANES = 2
"""Number of servers per process; each answers one question at a time."""

_MAX_ANSWERS, _MAX_ANSWER_BYTES = 32, 256 << 20
_MAX_PROGRAM_BYTES = 1 << 30
_TASK = "partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A program that was compiled to the end, or until its buffers did not fit, and never ran.

    Attributes:
      hlo: the optimized program, a serialized `xla.HloModuleProto`.
      buffers: XLA's buffer assignment; b"" if it gives none.
      header: the first line of the program as XLA prints it; None if unavailable.
      cost: XLA's cost analysis.
      memory: bytes per device; None if XLA does not say.
      missing: the missing ones, with reasons.
    """

    hlo: bytes
    buffers: bytes
    header: str | None
    cost: dict[str, float]
    memory: MemoryStats | None
    missing: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioned:
    """A program right before and right after XLA's partitioner.

    Attributes:
      before: a serialized `xla.HloModuleProto`; every instruction has the sharding that partitioning begins with.
      after: the program after the partitioner, on one device: local shapes, collectives with their channel ids. b"" for
        one partition, where nothing is split.
      places: the operations, by the numbers used in all of these programs, for `numbering.read_places`.
      partitioner: the propagation XLA used.
      partitions: number of partitions, which a module's proto does not give.
      free_inputs, free_outputs: for each argument and result, whether its sharding was left to the partitioner.
      result_names: JAX's names of the results (`result[0]`); "" for none.
      devices: the devices it was compiled for, in the order of partitions.
      warnings: XLA's warnings, one message per line, verbatim; "" for none.
      compiled: XLA's final program; None if only its partitioner was asked, or after a failure without results.
      failure: XLA's full message if it was not compiled to the end because memory is short; "" for others.
      rules: the number of each call that a partition rule of the user splits -> the sharding that the rule wants each
        operand to have, a serialized `xla.OpSharding`.
    """

    before: bytes
    after: bytes
    places: bytes
    partitioner: Literal["shardy", "gspmd"]
    partitions: int
    free_inputs: tuple[bool, ...]
    free_outputs: tuple[bool, ...]
    result_names: tuple[str, ...]
    devices: tuple[Device, ...] = ()
    warnings: str = ""
    compiled: Compiled | None = None
    failure: str = ""
    rules: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict)
    passes: DumpedPasses | None = None


def ask_partitioner(
    stablehlo: bytes,
    *,
    devices: int,
    flags: Mapping[str, str] = MappingProxyType({}),
    target: Mapping[str, Any] = MappingProxyType({}),
    effort: Effort = "partition",
    passes: bool = False,
    timeout_s: float = 120.0,
    ticket: LaneTicket | None = None,
    on_before: Callable[[bytes], object] | None = None,
) -> Partitioned:
    """Partitions a captured program with XLA, on as many fake CPU devices as it was compiled for.

    One question is answered at a time on each lane; others wait. Nothing runs, and this process's JAX sees none of it,
    except for partition rules of `custom_partitioning`, which are traced here.

    Args:
      stablehlo: the program as MLIR bytecode, as JAX gave it to XLA.
      devices: the program's number of devices: partitions times replicas.
      flags: a record's flags; its compiler options are used again, except those of other platforms.
      target: other devices, as `observe.partitioner.targets.question` describes them; {} for fake CPU devices.
      effort: "partition", or "full" to also get the optimized program.
      passes: whether to get the program after every pass too; only with the effort "full".
      timeout_s: time limit, including the start of the server and earlier questions.
      ticket: lets the question be withdrawn, and selects its lane; the first by default.
      on_before: receives `Partitioned.before`, if that comes earlier than the rest, while XLA continues; must not
        raise.

    Raises CaptureError with the reason if there is no answer: no server, timeout, `cancel()`, a program that is too
    large, or that XLA refuses or crashes on. Raises ChangeError if `target` has no such devices, or JAX cannot lay the
    mesh over them.
    """
    if len(stablehlo) > _MAX_PROGRAM_BYTES:
        raise CaptureError(f"the program has {len(stablehlo)} bytes, more than XLA's partitioner is asked about")
    if not target and not 1 <= devices <= MOST_CPU_DEVICES:
        raise CaptureError(
            f"the program is for {devices:,} devices, and XLA's partitioner is asked with fake CPU devices, of which "
            f"there can be 1 to {MOST_CPU_DEVICES:,}; ask about a smaller mesh"
        )
    how = {"devices": devices, "flags": dict(flags), "target": dict(target), "effort": effort, "passes": passes}
    key = _key(stablehlo, how)
    known = _here.answers.get(key)
    if known is None:
        known = _ask(stablehlo, how, timeout_s, ticket or LaneTicket(), on_before)
        _here.answers.put(key, known)
    return known


def cancel() -> None:
    """Make every question of this process that has no answer yet raise CaptureError; to be called in another thread."""
    for lane in _here.lanes:
        lane.cancel_all()


def stop_server(lane: int | None = None) -> None:
    """End this process's servers, or that of one lane, with their work; the next question starts another."""
    for own in _here.lanes if lane is None else (_here.lanes[lane],):
        own.end()


class LaneTicket(call.Ticket):
    """One question to XLA's partitioner, which another thread may withdraw.

    Attributes:
      lane: the server that is asked, from 0 to `LANES` - 1.
      is_cancelled: whether it was withdrawn.
    """

    def __init__(self, lane: int = 0) -> None:
        """Ask on this lane; a server is started there with the first question."""
        super().__init__()
        self.lane: int = lane


# ---------------------------------------------------------------- one question


def _ask(
    stablehlo: bytes,
    how: dict[str, Any],
    timeout_s: float,
    ticket: LaneTicket,
    on_before: Callable[[bytes], object] | None,
) -> Partitioned:
    rules: list[dict[str, Any]] = []
    blobs, deadline = [stablehlo], time.monotonic() + timeout_s
    while True:
        question = {**how, "program": len(stablehlo), "rules": rules}
        answer = _answered(question, blobs, deadline - time.monotonic(), ticket, on_before)
        if not (asked := answer.said["rules"]):
            return _read(answer.said, list(answer.blobs), _wanted(rules))
        if rules:
            raise CaptureError(
                "XLA's partitioner gave no answer: what it asks of partition rules has changed meanwhile"
            )
        # It imports jax, which the process of such a program has loaded.
        from pjit_inspect.observe.live.partition_rules import ask_rule

        answers = [ask_rule(stablehlo, own) for own in asked]
        rules, blobs = [own for own, _ in answers], [stablehlo, *(body for _, body in answers)]


def _wanted(rules: Sequence[Mapping[str, Any]]) -> dict[int, tuple[bytes, ...]]:
    """The specs that the rule of each call wants for its operands; () for a call that is split in several ways."""
    found: dict[int, tuple[bytes, ...]] = {}
    for own in rules:
        number, wanted = own["asked"]["number"], tuple(map(b64decode, own["operands"]))
        found[number] = wanted if found.get(number, wanted) == wanted else ()
    return found


def _answered(
    question: dict[str, Any],
    blobs: Sequence[bytes],
    timeout_s: float,
    ticket: LaneTicket,
    on_before: Callable[[bytes], object] | None,
) -> call.Answer:
    platform = question["target"].get("platform", "")
    try:
        return _here.lanes[ticket.lane].ask(
            _TASK,
            question,
            blobs,
            timeout_s=timeout_s,
            ticket=ticket,
            on_half=on_before,
            # The compiler of a chip takes long to start, and is kept; fake CPU devices are made before they are needed.
            key=platform or "cpu",
            fit=None if platform else question["devices"],
            keep=bool(platform),
            ahead=not platform,
        )
    except call.RefusedError as error:
        raise CaptureError(f"XLA's partitioner gave no answer: {error}") from error


def _read(said: dict[str, Any], contents: list[bytes], rules: Mapping[int, tuple[bytes, ...]]) -> Partitioned:
    is_split = said["partitions"] != 1
    if len(contents) != 2 + is_split + 2 * ("compiled" in said) + ("passes" in said):
        raise CaptureError("XLA's partitioner gave no answer: its files did not come")
    places, before, *contents = contents
    after, compiled = contents[0] if is_split else b"", contents[is_split:]
    return Partitioned(
        before=before,
        after=after,
        places=places,
        partitioner=said["partitioner"],
        partitions=said["partitions"],
        free_inputs=tuple(said["free_inputs"]),
        free_outputs=tuple(said["free_outputs"]),
        result_names=tuple(said["result_names"]),
        devices=tuple(map(_device, said["devices"])),
        warnings=said["warnings"],
        compiled=_compiled(said["compiled"], *compiled[:2]) if compiled else None,
        failure=said["failure"],
        rules=rules,
        passes=DumpedPasses.of(said["passes"], compiled[-1]) if "passes" in said else None,
    )


def _device(facts: list[Any]) -> Device:
    number, platform, kind, process, coords = facts
    return Device(id=number, platform=platform, kind=kind, process=process, coords=coords and tuple(coords))


def _compiled(facts: dict[str, Any], hlo: bytes, buffers: bytes) -> Compiled:
    memory = facts["memory"]
    return Compiled(
        hlo=hlo,
        buffers=buffers,
        header=facts["hlo_header"],
        cost=facts["cost"],
        memory=None if memory is None else MemoryStats(**memory),
        missing=facts["missing"],
    )


def _key(stablehlo: bytes, how: Mapping[str, Any]) -> bytes:
    digest = hashlib.sha256(stablehlo)
    digest.update(json.dumps(how, sort_keys=True).encode())
    return digest.digest()


# ---------------------------------------------------------------- what this process holds


def _size(answer: Partitioned) -> int:
    packed = len(answer.passes.packed) if answer.passes is not None else 0
    compiled = len(answer.compiled.hlo) if answer.compiled is not None else 0
    return len(answer.before) + len(answer.after) + compiled + packed


@dataclass(slots=True)
class _Answers:
    """The answers used last, as many as fit."""

    found: OrderedDict[bytes, Partitioned] = field(default_factory=OrderedDict)
    lock: Any = field(default_factory=threading.Lock)

    def get(self, key: bytes) -> Partitioned | None:
        with self.lock:
            if key in self.found:
                self.found.move_to_end(key)
            return self.found.get(key)

    def put(self, key: bytes, answer: Partitioned) -> None:
        with self.lock:
            self.found[key] = answer
            while len(self.found) > _MAX_ANSWERS or self._size() > _MAX_ANSWER_BYTES:
                self.found.popitem(last=False)

    def _size(self) -> int:
        return sum(map(_size, self.found.values()))


@dataclass(slots=True)
class _Here:
    """The state of one process; a forked process starts with an empty one."""

    lanes: tuple[call.Channel, ...] = field(
        default_factory=lambda: tuple(call.Channel("the process that asks XLA's partitioner") for _ in range(LANES))
    )
    answers: _Answers = field(default_factory=_Answers)


_here = _Here()


def forget_answers() -> None:
    """Forget every answer that is kept, as in a forked process: another thread of its parent may hold the lock."""
    _here.answers = _Answers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_answers)
