"""Which of the user's operations a collective belongs to, and where that stands in the source.

XLA gives most collectives the name and source frames of the operation they were made for. Some have less: combined ones
lose both, and from JAX 0.12 on a resharded value is named after itself and has no frame. What is missing is then taken
from the nearest instruction that has it: for a sum, one that makes what is summed; for anything else, one that needs
what is moved. Not its job: what a name tells (`analyze.program.phases`), which frame is the user's
(`analyze.program.source`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.program.source import Frame

__all__ = ["Origin", "find_origin"]

_HOPS = 6
_MOST = 256
"""Farther or more neighbours than these say nothing about a collective."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a collective belongs to.

    Attributes:
      op_name: JAX's name of the operation; several joined by ";" for a combined collective; "" when nothing says.
      frames: source frames, innermost first (libraries included); () when nothing says.
    """

    op_name: str
    frames: tuple[Frame, ...]


def find_origin(site: CollectiveOp) -> Origin:
    """The operation a collective belongs to: its own name and frames, or those of its nearest neighbours."""
    module = site.op.module
    own = [site.op.index, *(part.index for part in site.instructions)]
    names = _names(module, own)[:1]
    frames = _frames(module, own)
    for neighbours in _directions(site):
        if names and frames:
            break
        names = names or _names(module, _nearest(module, own, neighbours, module.instructions.op_name))
        frames = frames or _frames(module, _nearest(module, own, neighbours, module.instructions.frame))
    return Origin(op_name=";".join(names), frames=frames)


def _names(module: HloModule, indices: Iterable[int]) -> list[str]:
    """The distinct names of these instructions, in order."""
    names = (module.op_names[module.instructions.op_name[index]] for index in indices)
    return list(dict.fromkeys(name for name in names if name))


def _frames(module: HloModule, indices: Iterable[int]) -> tuple[Frame, ...]:
    """The frames of the first of these instructions that has any."""
    return next((frames for frames in map(module.frames, indices) if frames), ())


_Neighbours = Callable[[int], list[int]]


def _directions(site: CollectiveOp) -> tuple[_Neighbours, _Neighbours]:
    operands, users = site.op.module.instructions.operands, site.op.module.users
    back, on = (lambda index: operands[index].tolist()), (lambda index: users[index].tolist())
    return (back, on) if site.kind in SUMS else (on, back)


def _nearest(module: HloModule, start: list[int], neighbours: _Neighbours, column: np.ndarray) -> list[int]:
    """The first instructions with an entry in `column` on each way from `start`; those of `start` do not count."""
    seen, found, border = set(start), [], start
    for _ in range(_HOPS):
        around = list(dict.fromkeys(near for index in border for near in neighbours(index) if near not in seen))
        seen.update(around)
        found += [index for index in around if column[index]]
        border = [index for index in around if not column[index]]
        if not border or len(seen) > _MOST:
            break
    return found
