"""The programs that XLA dumps after every pass, packed in the order of passes.

A file's name says which pass wrote it. Not its job: making XLA write (`observe.partitioner.child`), or reading programs
(`parse.hlo_proto`).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pjit_inspect.errors import CaptureError
from pjit_inspect.observe.partitioner import dump as partitioner_dump

ALL_PASSES = r"^(?:[^s]|s[^h]|sh[^a]|sha[^r]|shar[^d]|shard[^y]|shardy[^-]|shardy-[^v]|.{0,7}$)"
"""Every pass but "shardy-verbose", which can end the process; XLA's patterns cannot say "not"."""

MAX_STEP_BYTES = 1 << 29
"""Limit of one program: two are read at a time."""

_NAME = re.compile(
    r"(?P<module>[^.]+\..*?)\.(?:(?P<number>\d{4,})\.(?P<pipeline>[^.]+)\.after_(?P<name>.+?)(?:\.before_[^.]+)?"
    r"|(?P<whole>(?:\w+_)?(?:before|after)_optimizations))\.hlo\.pb"
)
_FAST = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpedStep:
    """One program of a dump: that before all passes, that after one, or the last.

    Attributes:
      name: XLA's name of the pass that it was written after; "pipeline-start" at the start of a pipeline,
        "before_optimizations" for the first.
      pipeline: the pipeline in which the pass ran; "" for the first and the last.
      start: the place of the packed program, in bytes; that of the step before if the pass changed nothing.
      length: its packed length in bytes.
      size: its length in bytes.
    """

    name: str
    pipeline: str
    start: int
    length: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpedPasses:
    """The programs that XLA dumped, each unpacked when it is read.

    Attributes:
      steps: the programs, in order.
      packed: their bytes.
    """

    steps: tuple[DumpedStep, ...]
    packed: bytes

    @classmethod
    def of(cls, steps: Sequence[Sequence[Any]], packed: bytes) -> Self:
        """The steps as `pack_steps` gave them. Raises CaptureError if one is too large to be read."""
        read = tuple(DumpedStep(name=n, pipeline=p, start=s, length=k, size=z) for n, p, s, k, z in steps)
        if any(step.size > MAX_STEP_BYTES for step in read):
            raise CaptureError(
                f"a program is larger than {MAX_STEP_BYTES >> 20} MiB after a pass; ask about fewer layers"
            )
        return cls(steps=read, packed=packed)

    def read(self, step: DumpedStep) -> bytes:
        """The program of a step, a serialized `xla.HloModuleProto`."""
        unpacked = zlib.decompressobj().decompress(self.packed[step.start : step.start + step.length], step.size)
        if len(unpacked) != step.size:
            raise CaptureError(f"the program after {step.name} did not come whole")
        return unpacked


def pack_steps(folder: Path) -> tuple[list[list[Any]], bytes]:
    """The steps of the dump in a folder as JSON data for `DumpedPasses.of`, and the bytes of their programs.

    XLA also writes after passes that change nothing: such steps share the bytes of the step before.
    """
    steps: list[list[Any]] = []
    packed, before = bytearray(), b""
    for name, pipeline, path in _ordered(folder):
        content = partitioner_dump.read_module(path)
        if not content:
            continue
        if content == before:
            steps.append([name, pipeline, *steps[-1][2:]])
            continue
        small, before = zlib.compress(content, _FAST), content
        steps.append([name, pipeline, len(packed), len(small), len(content)])
        packed += small
    return steps, bytes(packed)


def _ordered(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Pass, pipeline and file of each step of the first program in a folder: GPUs' autotuning compiles others."""
    found = [(match, path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
    first = min((match["module"] for match, _ in found if match["whole"]), default="")
    own = [(match, path) for match, path in found if match["module"] == first]

    def place(match: re.Match[str]) -> tuple[int, int]:
        if match["whole"]:
            return (0, 0) if "before" in match["whole"] else (2, 0)
        return 1, int(match["number"])

    for match, path in sorted(own, key=lambda one: place(one[0])):
        yield match["name"] or match["whole"], match["pipeline"] or "", path
