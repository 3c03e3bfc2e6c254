"""Finds arrays in tiles that are mostly padding, as on a TPU, from the layouts in the program.

Two facts are needed: the array's layout in the optimized program, and the shape of the user's argument or, for an array
made by the program, the memory that XLA reports. If XLA reports the bytes of all arguments, the layouts must add up to
them. Not its job: reading layouts (`parse`), arrays without tiles.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.findings.candidate import Candidate, Remedy, Subject
from pjit_inspect.analyze.program.source import user_frames
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.words.sentence import Sentence, axis, bytes_in_words, code, joined, name, say, spec

_NOTICEABLE = 0.05
_MOSTLY = 1.5
"""Ratio of padded to unpadded bytes from which an array counts as mostly padding."""
_AGREES = 0.02
_FILLED = 1.1
_MOST_NAMED = 3
_NO_ARRAY = operations("idle", "region")
"""Opcodes that make no new array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Padded:
    """An array with its tiles' padding: bytes of its numbers, and all that it takes."""

    shape: Shape
    own: int
    taken: int
    layout: ArrayLayout | None = None

    @property
    def waste(self) -> int:
        return self.taken - self.own

    @property
    def tile(self) -> tuple[int, ...]:
        assert self.shape.layout is not None
        return self.shape.layout.tiles[0]

    @property
    def short(self) -> int:
        """The dimension whose tiles are emptiest: its number in the array."""
        assert self.shape.layout is not None
        minor = self.shape.layout.minor_to_major[: len(self.tile)]
        lengths = [self.shape.dimensions[dimension] for dimension in minor]
        filled = [own / (-(-own // tile) * tile) for own, tile in zip(lengths, reversed(self.tile), strict=True)]
        return minor[filled.index(min(filled))]

    @property
    def length(self) -> int:
        """The length of the tile along that dimension."""
        assert self.shape.layout is not None
        return self.tile[::-1][self.shape.layout.minor_to_major.index(self.short)]


def padded_arguments(subject: Subject) -> Iterator[Candidate]:
    """The program's arguments that are mostly padding."""
    module = subject.module
    parameters = [] if module is None else _parameters(module)
    kept = [layout for layout in subject.data.inputs if layout.kept]
    if not parameters or len(parameters) != len(kept) or not _is_as_xla_says(subject, parameters):
        return
    found = []
    for own, layout in zip(parameters, kept, strict=True):
        padded = _padded(own.shape, layout)
        if padded is not None and own.shape.dimensions == layout.local_shape:
            found.append(padded)
    held = sum(own.shape.padded_bytes or 0 for own in parameters)
    if found and sum(one.waste for one in found) > _NOTICEABLE * held:
        yield _of_arguments(subject, sorted(found, key=lambda one: -one.waste))


def _parameters(module: HloModule) -> list[Instruction]:
    """The entry's parameters in order, if each is an array, and one has tiles; [] if not."""
    found = module.computation(module.entry).parameters
    shapes = [module.reader.shape(row) for row in np.unique(module.instructions.shape[found]).tolist()]
    if not all(shape.is_array for shape in shapes) or not any(shape.layout and shape.layout.tiles for shape in shapes):
        return []
    return sorted(map(module.instruction, found.tolist()), key=lambda own: own.number)


def _is_as_xla_says(subject: Subject, parameters: Sequence[Instruction]) -> bool:
    """True if the layouts add up to XLA's bytes of all arguments, if XLA reports them."""
    sizes = [own.shape.padded_bytes for own in parameters]
    if None in sizes:
        return False
    told = None if subject.data.memory is None else subject.data.memory.argument_bytes
    return not told or abs(sum(size or 0 for size in sizes) - told) <= _AGREES * told


def _padded(shape: Shape, layout: ArrayLayout | None = None) -> _Padded | None:
    """An array of the device's main memory that is mostly padding; None for any other."""
    if not shape.is_array or shape.layout is None or not shape.layout.tiles or shape.layout.memory_space:
        return None
    own, taken = shape.bytes, shape.padded_bytes
    if not own or taken is None or taken < _MOSTLY * own:
        return None
    return _Padded(shape=shape, own=own, taken=taken, layout=layout)


def _of_arguments(subject: Subject, found: list[_Padded]) -> Candidate:
    first = found[0]
    paths = [name(one.layout.path) for one in found[:_MOST_NAMED] if one.layout is not None]
    more = [f"{len(found) - _MOST_NAMED} more"] if len(found) > _MOST_NAMED else []
    return Candidate(
        kind="tile_padding",
        sentence=say(
            "{} {} mostly padding: {} of numbers take {} on each device, which holds {} as {} in tiles of {}",
            joined([*paths, *more]),
            "is" if len(found) == 1 else "are",
            bytes_in_words(sum(one.own for one in found)),
            bytes_in_words(sum(one.taken for one in found)),
            "it" if len(found) == 1 else "the first",
            code(first.shape.text(layouts=False)),
            " x ".join(map(str, first.tile)),
        ),
        source=(subject.data.user_frame,) if subject.data.user_frame else (),
        unit="held",
        cost_bytes=sum(one.waste for one in found),
        remedies=(Remedy(words=_otherwise(first)),),
    )


def _otherwise(one: _Padded) -> Sentence:
    """A change that would fill the tiles: another split dimension, or another shape."""
    wanted = None if one.layout is None else _split_otherwise(one, one.layout)
    if wanted is not None:
        axes, spec_of = wanted
        return say(
            "split another dimension over {}, as in {}: what each device holds would then fill tiles of that size",
            joined([axis(own) for own in axes]),
            spec(spec_text(spec_of)),
        )
    short, length = one.short, one.length
    return say(
        "merge dimension {}, which is {} long, with its neighbour ({}), or let it be a multiple of {}",
        str(short),
        f"{one.shape.dimensions[short]:,}",
        code("reshape"),
        f"{length:,}",
    )


def _split_otherwise(one: _Padded, layout: ArrayLayout) -> tuple[tuple[str, ...], Dimensions] | None:
    """Axes, and a spec that has them on another than the last dimension, with next to no padding; None without."""
    last = len(layout.global_shape) - 1
    if layout.spec is None or len(layout.spec) <= last:
        return None
    entries = [() if entry is None else (entry,) if isinstance(entry, str) else tuple(entry) for entry in layout.spec]
    axes, local = entries[last], one.shape.dimensions
    pieces = layout.global_shape[last] // max(1, local[last])
    for other in range(last):
        if axes and pieces > 1 and local[other] % pieces == 0:
            moved = (*local[:other], local[other] // pieces, *local[other + 1 : last], layout.global_shape[last])
            if _least_padded(moved, one.tile) < _FILLED * math.prod(moved):
                return axes, (*entries[:other], entries[other] + axes, *entries[other + 1 : last], ())
    return None


def _least_padded(dimensions: Sequence[int], tile: tuple[int, ...]) -> int:
    """Elements that an array takes in tiles of this size, whichever of its dimensions XLA makes the most minor."""
    count, shortest = math.prod(dimensions), min(len(tile), len(dimensions))
    lengths = tile[len(tile) - shortest :]
    fillings = (
        math.prod(-(-own // length) * length / own for own, length in zip(minor, lengths, strict=True))
        for minor in itertools.permutations(dimensions, shortest)
    )
    return int(count * min(fillings))


# ---------------------------------------------------------------- what the program makes


def padded_temporaries(subject: Subject) -> Iterator[Candidate]:
    """For each line the largest array that it makes and that is mostly padding; where XLA's memory has room for it."""
    module, memory = subject.module, subject.data.memory
    if module is None or memory is None or not memory.temporary_bytes:
        return
    least = _NOTICEABLE * (memory.temporary_bytes + (memory.argument_bytes or 0))
    by_line: dict[tuple[Frame, ...], tuple[_Padded, Instruction]] = {}
    for own in _makers(module):
        padded = _padded(own.shape)
        if padded is None or not least < padded.waste < padded.taken <= memory.temporary_bytes:
            continue
        line = user_frames(own.frames, subject.files)[:1]
        if line and (line not in by_line or by_line[line][0].waste < padded.waste):
            by_line[line] = padded, own
    for line, (padded, own) in by_line.items():
        yield Candidate(
            kind="tile_padding",
            sentence=say(
                "what {} makes is mostly padding: {} of numbers take {} on each device while they are needed, as {} in "
                "tiles of {}",
                code(own.name),
                bytes_in_words(padded.own),
                bytes_in_words(padded.taken),
                code(padded.shape.text(layouts=False)),
                " x ".join(map(str, padded.tile)),
            ),
            source=(*line, *user_frames(own.frames, subject.files)[1:]),
            unit="held",
            cost_bytes=padded.waste,
            remedies=(Remedy(words=_otherwise(padded)),),
        )


def _makers(module: HloModule) -> Iterator[Instruction]:
    """Everything that makes an array in memory: no parts of fused kernels."""
    for index in range(len(module)):
        own = module.instruction(index)
        if own.opcode not in _NO_ARRAY and not own.computation.is_fusion:
            yield own
