"""Differences between two processes' programs, in the user's words: devices, arrays, flags, first operation.

Pure: two records in, sentences out. Not its job: finding which programs to compare (`analyze.processes.merge`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.recompiles.placement_words import place_text
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import KINDS
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, name, place, say, spec, word

_LONGEST = 160
_MOST_ARRAYS = 4
_MOST_FLAGS = 8
_NO_MORE = "nothing more"
_COMMUNICATION = frozenset({*KINDS, *(f"{kind}-start" for kind in KINDS), "send", "recv"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSide:
    """One of two compared programs.

    Attributes:
      process: its process.
      data: its record.
      lines: the program before optimization, without parts that may differ; () if unknown.
      place: the user's source line of one of `lines`, by its number.
    """

    process: int
    data: RecordData
    lines: Sequence[str] = ()
    place: Callable[[int], Frame | None] = lambda _: None


def shortened(text: str) -> str:
    """A text from a record for quotation in a sentence: at most a line long, without backticks."""
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return short.replace("`", "'")


def program_differences(one: ProgramSide, two: ProgramSide) -> tuple[Sentence, ...]:
    """The differences between two programs, the most telling first, each in a sentence; () for none found."""
    # Shapes and places explain the operations that follow from them.
    outside = (*_devices(one, two), *_meshes(one, two), *_arrays(one, two, "inputs"), *_arrays(one, two, "outputs"))
    found = outside or tuple(_first_line(one, two))
    return (*found, *_flags(one, two), *_versions(one, two))


def _pair(one: ProgramSide, two: ProgramSide, first: Phrase | str, second: Phrase | str) -> Sentence:
    """Both values, each with its process."""
    return say("{} on process {}, {} on process {}", first, one.process, second, two.process)


# ---------------------------------------------------------------- devices and meshes


def _devices(one: ProgramSide, two: ProgramSide) -> Iterator[Sentence]:
    first, second = (tuple(device.id for device in side.data.devices) for side in (one, two))
    if first == second:
        return
    what = "the order of the devices differs" if sorted(first) == sorted(second) else "the devices differ"
    yield say("{}: {}", what, _pair(one, two, _ids(first), _ids(second)))


def _ids(devices: Sequence[int]) -> str:
    shown = " ".join(map(str, devices[:16]))
    return f"{shown} ... ({len(devices)} devices)" if len(devices) > 16 else shown or "none"


def _meshes(one: ProgramSide, two: ProgramSide) -> Iterator[Sentence]:
    first, second = one.data.mesh, two.data.mesh
    if first is None or second is None or first == second:
        return
    if _axes(first) != _axes(second):
        texts = (code(shortened(str(mesh))) for mesh in (first, second))
        yield say("the mesh differs: {}", _pair(one, two, *texts))
    elif first.device_ids != second.device_ids:
        ids = (_ids(mesh.device_ids) for mesh in (first, second))
        yield say("the mesh has its devices in another order: {}", _pair(one, two, *ids))
    elif first.axis_types != second.axis_types:
        types = (" ".join(mesh.axis_types) or "unknown" for mesh in (first, second))
        yield say("the types of the mesh's axes differ: {}", _pair(one, two, *types))


def _axes(mesh: Mesh) -> tuple[tuple[str, int], ...]:
    return tuple(mesh.sizes.items())


# ---------------------------------------------------------------- inputs and outputs


def _arrays(one: ProgramSide, two: ProgramSide, field: str) -> Iterator[Sentence]:
    first, second = getattr(one.data, field), getattr(two.data, field)
    if len(first) != len(second):
        yield say("the number of {} is {}", field, _pair(one, two, str(len(first)), str(len(second))))
    found = (_array(one, two, a, b) for a, b in zip(first, second, strict=False))
    yield from itertools.islice((sentence for sentence in found if sentence), _MOST_ARRAYS)


def _array(one: ProgramSide, two: ProgramSide, a: ArrayLayout, b: ArrayLayout) -> Sentence:
    """The difference of one input or output; "" for none. Names may differ: they are no part of the program."""
    path = name(shortened(a.path))
    if (a.dtype, a.global_shape) != (b.dtype, b.global_shape):
        return say("{} is {}", path, _pair(one, two, word(_type(a)), word(_type(b))))
    if a.sharding != b.sharding:
        pair = _pair(one, two, _sharding(a, one.data.mesh), _sharding(b, two.data.mesh))
        return say("{} is sharded {}", path, pair)
    if a.donated != b.donated:
        return say(
            "{} is {}", path, _pair(one, two, *("donated" if side.donated else "not donated" for side in (a, b)))
        )
    return Sentence()


def _type(layout: ArrayLayout) -> str:
    return f"{short_dtype(layout.dtype)}[{','.join(map(str, layout.global_shape))}]"


def _sharding(layout: ArrayLayout, mesh: Mesh | None) -> Phrase | str:
    if layout.sharding is None:
        return "in an unknown way"
    where = place_text(layout.sharding, mesh)
    return spec(shortened(where)) if where.startswith("P(") else code(shortened(where))


# ---------------------------------------------------------------- the operations


def _first_line(one: ProgramSide, two: ProgramSide) -> Iterator[Sentence]:
    if not one.lines or not two.lines:
        return
    number = _first_difference(one.lines, two.lines)
    if number is None:
        return
    first, second = (_line(side, number) for side in (one, two))
    yield say("the first operation that differs is {}", _pair(one, two, first, second))


def _first_difference(first: Sequence[str], second: Sequence[str]) -> int | None:
    """The number of the first line that differs; None when all are equal."""
    for number, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return number
    return None if len(first) == len(second) else min(len(first), len(second))


def _line(side: ProgramSide, number: int) -> Sentence:
    if number >= len(side.lines):
        return say(_NO_MORE)
    operation, where = code(shortened(side.lines[number].strip())), side.place(number)
    return say("{}", operation) if where is None else say("{} ({})", operation, place(where.where))


# ---------------------------------------------------------------- flags and versions


def _flags(one: ProgramSide, two: ProgramSide) -> Iterator[Sentence]:
    for flag, first, second in itertools.islice(_unequal(one.data.flags, two.data.flags), _MOST_FLAGS):
        yield say("the flag {} is {}", code(shortened(flag)), _pair(one, two, first, second))


def _versions(one: ProgramSide, two: ProgramSide) -> Iterator[Sentence]:
    for package, first, second in itertools.islice(_unequal(one.data.versions, two.data.versions), _MOST_FLAGS):
        yield say("the version of {} is {}", code(shortened(package)), _pair(one, two, first, second))


def _unequal(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[tuple[str, Phrase | str, Phrase | str]]:
    for key in sorted({*first, *second}):
        if first.get(key) != second.get(key):
            yield key, _value(first, key), _value(second, key)


def _value(values: Mapping[str, str], key: str) -> Phrase | str:
    return code(shortened(values[key])) if key in values else "not set"


# ---------------------------------------------------------------- after optimization


def collective_differences(
    one: ProgramSide, two: ProgramSide, first: HloModule, second: HloModule
) -> tuple[Sentence, ...]:
    """The differences between the collectives of two optimized programs, in run order; () for none.

    Other instructions may differ without harm: a backend chooses kernels by measuring them.
    """
    pairs = itertools.zip_longest(_communication(first), _communication(second), fillvalue=_NO_MORE)
    for number, (a, b) in enumerate(pairs):
        if a != b:
            pair = _pair(one, two, code(shortened(a)), code(shortened(b)))
            return (
                say("collective {} after optimization is {}", number, pair),
                *_flags(one, two),
                *_versions(one, two),
            )
    return ()


def _communication(module: HloModule) -> Iterator[str]:
    """Each instruction that speaks to other devices, in the order of execution of each computation."""
    wanted = set(module.with_opcode(*_COMMUNICATION).tolist())
    for index in module.order.tolist():
        if index in wanted:
            yield _communication_text(module.instruction(index))


def _communication_text(op: Instruction) -> str:
    """The text that both ends of a collective must agree on."""
    details = op.details
    pairs = ",".join(f"{source}>{target}" for source, target in details.source_target_pairs)
    groups = details.replica_groups_text or pairs
    operands = ", ".join(str(operand.shape) for operand in op.operands)
    channel = f" channel {op.channel_id}" if op.channel_id is not None else ""
    return " ".join(f"{op.opcode}({operands}) {groups}{channel}".split())
