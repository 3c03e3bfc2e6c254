"""A directory that XLA dumped into (`--xla_dump_to`): its programs, and the files of each.

Only names are read; the files stay unopened. Not its job: the contents of the files (`parse.files.recognise`).

*Source*: `xla/service/dump.cc`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pjit_inspect.errors import ParseError

_FILE = re.compile(r"module_(\d{1,9})\.([^.]+)\.(.+)")
_PROGRAM = re.compile(r"(.*?)\.(hlo\.pb\.gz|hlo\.pb|txt\.gz|txt)")
_RANKS = ("hlo.pb", "hlo.pb.gz", "txt", "txt.gz")
_PASS = re.compile(r"(\d{4,})\.([^.]+)\.after_(.+?)(?:\.before_(.+))?")
_OPTIMIZED, _BEFORE = "after_optimizations", "before_optimizations"
_BUFFERS, _MEMORY = f"{_OPTIMIZED}-buffer-assignment", f"{_OPTIMIZED}-memory-usage-report"

_EXPECTED = "files such as module_0001.jit_step.cpu_after_optimizations.txt, as XLA_FLAGS=--xla_dump_to=DIR makes them"


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpedPass:
    """A program between two passes.

    Attributes:
      number: the place in the order of all passes of the module.
      pipeline: the pipeline the passes belong to.
      after: the pass that ran last ("pipeline-start" before the first).
      before: the pass that runs next; "" if the file name lacks it.
      path: the file with the program.
    """

    number: int
    pipeline: str
    after: str
    before: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpedModule:
    """The files of one program; None for files that XLA did not write. Of several copies, a proto wins.

    Attributes:
      name: XLA's name of the module ("jit_train_step").
      module_id: the number XLA gave it, in the order it compiled them.
      optimized: the program that runs.
      copies: further files of that program, best first, in case the first is damaged.
      before: the program before all passes.
      passes: the program between passes, in order.
      buffer_assignment: the place of each value in memory.
      memory_usage: the memory the program needs, by value.
    """

    name: str
    module_id: int
    optimized: Path | None = None
    copies: tuple[Path, ...] = ()
    before: Path | None = None
    passes: tuple[DumpedPass, ...] = ()
    buffer_assignment: Path | None = None
    memory_usage: Path | None = None


def read_dump_directory(path: str | os.PathLike[str]) -> tuple[DumpedModule, ...]:
    """The programs in a directory, in the order XLA compiled them. Symbolic links in it are not followed.

    Raises `ParseError` when it has none, and `OSError` when it cannot be read.
    """
    files: dict[tuple[int, str], dict[str, Path]] = {}
    with os.scandir(path) as entries:
        for entry in entries:
            found = _FILE.fullmatch(entry.name)
            # A link could lead to any file of the person who reads the directory.
            if found and entry.is_file(follow_symlinks=False):
                files.setdefault((int(found[1]), found[2]), {})[found[3]] = Path(entry.path)
    modules = [_module(number, name, rest) for (number, name), rest in sorted(files.items())]
    modules = [module for module in modules if module.optimized or module.before or module.passes]
    if not modules:
        raise ParseError("no program was dumped into this directory", path=os.fspath(path), expected=_EXPECTED)
    return tuple(modules)


def _module(number: int, name: str, files: dict[str, Path]) -> DumpedModule:
    """The module whose file names end in the keys of `files`."""
    copies: dict[str, list[Path]] = {}
    for rest in sorted(files, key=_rank):
        found = _PROGRAM.fullmatch(rest)
        if found:
            copies.setdefault(found[1], []).append(files[rest])
    best = {stem: own[0] for stem, own in copies.items()}
    optimized = _first(best, _OPTIMIZED)
    return DumpedModule(
        name=name,
        module_id=number,
        optimized=optimized,
        copies=next((tuple(own[1:]) for own in copies.values() if own[0] is optimized), ()),
        before=_first(best, _BEFORE),
        passes=_passes(best),
        buffer_assignment=_first(best, _BUFFERS),
        memory_usage=_first(best, _MEMORY),
    )


def _rank(rest: str) -> tuple[int, str]:
    found = _PROGRAM.fullmatch(rest)
    return (_RANKS.index(found[2]) if found else len(_RANKS)), rest


def _first(files: dict[str, Path], end: str) -> Path | None:
    """The file whose name ends in `end`; the name of the target comes before it ("cpu_", "sm_9.0_gpu_")."""
    return next((path for stem, path in files.items() if stem.endswith(end) and not _PASS.fullmatch(stem)), None)


def _passes(files: dict[str, Path]) -> tuple[DumpedPass, ...]:
    found = [(match, path) for stem, path in files.items() if (match := _PASS.fullmatch(stem))]
    passes = [
        DumpedPass(number=int(match[1]), pipeline=match[2], after=match[3], before=match[4] or "", path=path)
        for match, path in found
    ]
    return tuple(sorted(passes, key=lambda one: one.number))
