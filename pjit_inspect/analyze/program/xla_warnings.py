"""Where in the source XLA's warnings lead.

Not its job: reading them (`parse.messages.xla_warnings`), or which frames are the user's (`analyze.program.source`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from pjit_inspect.analyze.program.source import user_frames
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.record.xla_warning import XlaWarning

__all__ = ["with_sources"]


def with_sources(
    warnings: Iterable[XlaWarning], module: HloModule | None, cells: Mapping[str, str] | None = None
) -> tuple[XlaWarning, ...]:
    """The warnings, each with the user's frames of its instruction, innermost first.

    A warning names a row of the table of frames; the optimized program has the same table. One that names none (of an
    argument, say) keeps the source it has.

    Args:
      warnings: as they were read.
      module: the optimized program; None when there is none, as when the compile failed.
      cells: file -> how the notebook calls the cell.
    """
    return tuple(_with_source(warning, module, cells) for warning in warnings)


def _with_source(warning: XlaWarning, module: HloModule | None, cells: Mapping[str, str] | None) -> XlaWarning:
    if module is None or warning.stack_frame_id is None:
        return warning
    frames = module.frames_table.chain(warning.stack_frame_id)
    return dataclasses.replace(warning, source=user_frames(frames, cells)) if frames else warning
