"""Finds the source frames that are the user's, also for XLA's warnings.

Not its job: finding frames (`parse.hlo_proto.source`) the frame of a call (`observe`), or reading warnings
(`parse.messages.xla_warnings`).
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.xla_warning import XlaWarning

_PACKAGES = frozenset((
    "jax", "jaxlib", "flax", "equinox", "optax", "haiku", "chex", "orbax", "penzai", "treescope", "jaxtyping",
    "beartype", "quax", "lineax", "diffrax", "einops", "IPython", "ipykernel", "ipykernel_launcher", "traitlets",
    "tornado", "nbclient", "jupyter_client", "numpy", "_pytest", "pluggy",
))  # fmt: skip
"""Packages that are libraries also where it is not known where the compiled function is defined."""

_INSTALLED = re.compile(r"/(?:site|dist)-packages/([^/.]+)")
_STANDARD = re.compile(r"/lib(?:64)?/python3\.\d+t?/(?!site-packages/|dist-packages/)")
_HERE = f"{Path(__file__).resolve().parents[2].as_posix()}/"
_OWN = re.compile(r"(?:^|/)pjit_inspect/(?:(?:api|compile_record)\.py$|handles/|observe/|ipython/)")
"""This package's files in a stack, on whatever machine they were (an editable install is in no `site-packages`)."""


@dataclass(frozen=True, slots=True)
class UserFiles:
    """The files that are the user's, and the notebook's names of its cells.

    Attributes:
      cells: file -> how the notebook calls the cell ("In [7]").
      package: the installed package that defines the compiled function: its files are the user's, those of all others
        are not. "" where a file outside of all of them defines it, None where that is not known.
    """

    cells: Mapping[str, str] = field(default_factory=dict)
    package: str | None = None


UNKNOWN_FILES = UserFiles()
"""Of a program that says nothing of it."""


def package_of(file: str) -> str:
    """The installed package that a file belongs to; "" for one outside of them, and in a library that many use."""
    installed = _INSTALLED.search(file.replace("\\", "/"))
    return installed[1] if installed and installed[1] not in _PACKAGES else ""


@functools.lru_cache(maxsize=4096)
def is_library(file: str, package: str | None = None) -> bool:
    """True if a file belongs to a library, the notebook's machinery, or Python itself; `package` as in `UserFiles`."""
    path = file.replace("\\", "/")
    if path.startswith("<frozen ") or _is_own(file):
        return True
    installed = _INSTALLED.search(path)
    if installed:
        return installed[1] in _PACKAGES if package is None else installed[1] != package
    return bool(_STANDARD.search(path))


@functools.lru_cache(maxsize=4096)
def _is_own(file: str) -> bool:
    path = file.replace("\\", "/")
    return path.startswith(_HERE) or bool(_OWN.search(path))


def user_frames(frames: tuple[Frame, ...], files: UserFiles = UNKNOWN_FILES) -> tuple[Frame, ...]:
    """The frames without those of libraries (all of them, when nothing else remains), in the same order.

    This package's own frames, which stand in a stack when it was asked to compile, are never kept.

    Args:
      frames: innermost first.
      files: which files are the user's.
    """
    frames = tuple(frame for frame in frames if not _is_own(frame.file))
    kept = tuple(frame for frame in frames if not is_library(frame.file, files.package)) or frames
    return tuple(_in_cell(frame, files.cells) for frame in kept) if files.cells else kept


def _in_cell(frame: Frame, cells: Mapping[str, str]) -> Frame:
    cell = cells.get(frame.file)
    return dataclasses.replace(frame, cell=cell) if cell and frame.cell != cell else frame


def with_sources(
    warnings: Iterable[XlaWarning], module: HloModule | None, files: UserFiles = UNKNOWN_FILES
) -> tuple[XlaWarning, ...]:
    """The warnings, each with the user's frames of its instruction, innermost first.

    A warning names a row of the table of frames; the optimized program has the same table. One that names none (of an
    argument, say) keeps the source it has.

    Args:
      warnings: as they were read.
      module: the optimized program; None when there is none, as when the compile failed.
      files: which files are the user's.
    """
    return tuple(_with_source(warning, module, files) for warning in warnings)


def _with_source(warning: XlaWarning, module: HloModule | None, files: UserFiles) -> XlaWarning:
    if module is None or warning.stack_frame_id is None:
        return warning
    frames = module.frames_table.chain(warning.stack_frame_id)
    return dataclasses.replace(warning, source=user_frames(frames, files)) if frames else warning
