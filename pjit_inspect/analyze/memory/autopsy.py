"""Explains a memory shortage in a sentence: the need, the available memory, and the use of the piece.

Not its job: the list of the largest buffers (`analyze.memory.reported`), or remedies (`analyze.memory.could`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.shortage import MemoryShortage
from pjit_inspect.model.report.explained_error import ErrorScene, ExplainedError
from pjit_inspect.model.words.byte_words import bytes_in_words
from pjit_inspect.model.words.sentence import Sentence, name, place, say

_TEMPORARIES = "temporaries"
_ROUNDED, _ALIGNED = 200, 512
"""A size with a unit has two decimals: it is within a two-hundredth. One without is exact, but for alignment."""


def wanted_piece(shortage: MemoryShortage, data: RecordData) -> str:
    """The use of the piece of memory that could not be allocated, found by its size; "" if no size matches.

    A result's path, or "temporaries": XLA allocates each result separately, and all temporaries at once.
    """
    asked = shortage.asked_bytes
    if asked is None:
        return ""
    for what, size in _pieces(data):
        if size and abs(size - asked) <= (size // _ROUNDED if shortage.is_rounded else _ALIGNED):
            return what
    return ""


def _pieces(data: RecordData) -> Iterator[tuple[str, int | None]]:
    if data.memory is not None:
        yield _TEMPORARIES, data.memory.temporary_bytes
    for one in data.outputs:
        yield one.path, one.bytes_per_device


def explain_shortage(
    shortage: MemoryShortage,
    scene: ErrorScene,
    *,
    program: str = "",
    piece: str = "",
    alike: Iterable[tuple[str, RecordData]] = (),
) -> ExplainedError:
    """Explains the need and the available memory.

    Args:
      shortage: XLA's report.
      scene: the user's line.
      program: the function's name; "" if no record matches.
      piece: the use of the piece, from `wanted_piece`.
      alike: if no record matches, pieces of the requested size, each with its record.
    """
    say_it = {"compile": _refused, "tuning": _not_tried, "load": _not_loaded, "allocation": _not_had}[shortage.kind]
    sentence = say_it(shortage, program or shortage.program, piece)
    return ExplainedError(
        kind="out of memory",
        sentence=sentence,
        frame=scene.frame,
        line=scene.line,
        notes=tuple(_notes(shortage, program, alike)),
    )


def _refused(shortage: MemoryShortage, program: str, _: str) -> Sentence:
    what = say("{}", name(program)) if program else "a program"
    needed, available = shortage.needed_bytes, shortage.available_bytes
    if shortage.space not in ("", "hbm"):
        asked = needed if needed is not None else shortage.asked_bytes
        return say(
            "XLA did not compile {}: one of its kernels needs {} of {}, a memory on the chip, and there are {}",
            what, _size(asked), shortage.space, _size(available),
        )  # fmt: skip
    if needed is None or available is None:
        return say("XLA did not compile {}: memory is short", what)
    return say(
        "XLA did not compile {}: it needs {} of the memory of each device, and a program may use {} (XLA's count)",
        what, _size(needed), _size(available),
    )  # fmt: skip


def _not_tried(shortage: MemoryShortage, program: str, _: str) -> Sentence:
    what = say("{}", name(program)) if program else "a program"
    where = f" on device {shortage.device}" if shortage.device else ""
    return say(
        "XLA did not compile {}: it runs kernels on the device to choose among them, and{} there was no room for {} "
        "that they work on",
        what, where, _size(shortage.asked_bytes),
    )  # fmt: skip


def _not_loaded(shortage: MemoryShortage, program: str, _: str) -> Sentence:
    what = say("{}", name(program)) if program else "a program"
    return say(
        "{} could not be put on the device: it needs {} in one piece, and {} are free (XLA's count)",
        what, _size(shortage.asked_bytes), _size(shortage.free_bytes),
    )  # fmt: skip


def _not_had(shortage: MemoryShortage, program: str, piece: str) -> Sentence:
    free = "" if shortage.free_bytes is None else f"; {_size(shortage.free_bytes)} were free"
    where = f" on device {shortage.device}" if shortage.device else ""
    if not program:
        return say("there was no room for one piece of {}{}{}", _size(shortage.asked_bytes), where, free)
    if piece == _TEMPORARIES:
        use = say("its temporaries, which lie in one piece")
    else:
        use = say("its result {}", name(piece)) if piece else "something that it needs"
    return say(
        "{} was compiled, and when it ran there was no room for {}: {}{}{}",
        say("{}", name(program)), _size(shortage.asked_bytes), use, where, free,
    )  # fmt: skip


def _size(size_bytes: int | None) -> str:
    # As precise as XLA's figure.
    return "an unknown number of bytes" if size_bytes is None else bytes_in_words(size_bytes, 4)


def _notes(shortage: MemoryShortage, program: str, alike: Iterable[tuple[str, RecordData]]) -> Iterator[Sentence]:
    for piece, data in alike:
        what = "the temporaries" if piece == _TEMPORARIES else say("the result {}", name(piece))
        where = "" if data.user_frame is None else say(", called at {}", place(data.user_frame.where))
        yield say("a program that was captured has a piece of this size: {} of {}{}", what, name(data.name), where)
    if shortage.unknown:
        count = len(shortage.unknown)
        yield say("{} of XLA's report not understood: they are in `memory.shortage.unknown`", f"{count:,} lines")
    if not program:
        yield say(
            "no record is of what failed, so that nothing else is known of it; a program that runs in a capture has "
            "one, and `pjit_inspect.live_arrays()` lists the arrays that this process holds"
        )
