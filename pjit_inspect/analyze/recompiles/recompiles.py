"""Why each compile happened: the nearest earlier compile of the same function, and what differs from it.

A history holds the keys of a process, arranged so that the nearest of a thousand is found without comparing them leaf
by leaf. Not its job: comparing two keys (`analyze.recompiles.key_differences`), collecting them
(`observe.key.compile_key`).
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence

import numpy as np

from pjit_inspect.analyze.recompiles.changes import count_changes, find_changes
from pjit_inspect.analyze.recompiles.key_differences import key_differences
from pjit_inspect.analyze.recompiles.resharded import find_resharded
from pjit_inspect.analyze.recompiles.same_definition import same_definition
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.compile_key import CompileKey, FunctionKey
from pjit_inspect.model.record.reason import Difference, Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, name, say

_MAX_KEYS = 2_000
_MAX_FAMILIES = 5_000
_MAX_NOTED = 500
_MAX_COMPARED, _MAX_COMPARISONS = 32, 5_000
_MAX_SENTENCES = 3

# How much the parts of a key weigh when those are looked for that may be the nearest: a program of another transform is
# far away, one with other lengths is near.
_WEIGHTS = np.array([100, 50, 8, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 1, 0], np.int32)
_FAR = 100
"""How many differences another transform counts as."""
_DEFINITION = len(_WEIGHTS) - 1


def family_of(data: RecordData) -> tuple[str, ...]:
    """What the compiles of one function have in common, however often it is defined again.

    A named function is known by its name and file (all cells of a notebook count as one file), a lambda by its code,
    too. Several functions may share all that: `same_definition` tells them apart.
    """
    return _family_of(data.key, data.name, data.defined_at)


def _family_of(key: CompileKey | None, name_: str, defined_at: Frame | None) -> tuple[str, ...]:
    function = key.function if key is not None else None
    if function is None:
        place = defined_at
        return ("", name_, (place.cell and "cell") or place.file if place is not None else "")
    if function.kind == "primitive":
        return ("primitive", function.name, function.wrapper)
    place = function.place
    file = "" if place is None else ("cell" if place.cell else place.file)
    if function.name.rsplit(".", 1)[-1] != "<lambda>":
        named = function.name.rsplit(".<locals>.", 1)[-1] if file == "cell" else function.name
        return (function.wrapper, named, file)
    return (function.wrapper, function.name, file, function.code or "")


class _Family:
    """The keys of one function in order, and a matrix with a row of part numbers for each."""

    def __init__(self) -> None:
        self.keys: list[CompileKey] = []
        self._rows = np.zeros((8, len(_WEIGHTS)), np.int64)
        self._numbers: list[dict[object, int]] = [{} for _ in _WEIGHTS]
        # One function for each definition, by its number.
        self._definitions: list[FunctionKey | None] = []

    def add(self, key: CompileKey) -> None:
        """Take in a key; one that is known is left out. Threads may bring theirs out of order."""
        place = self.position(key)
        if place < len(self.keys) and self.keys[place].serial == key.serial:
            return
        if len(self.keys) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[place + 1 : len(self.keys) + 1] = self._rows[place : len(self.keys)].copy()
        for column, part in enumerate(_parts(key)):
            numbers = self._numbers[column]
            self._rows[place, column] = numbers.setdefault(part, len(numbers))
        if len(self._numbers[_DEFINITION]) > len(self._definitions):
            self._definitions.append(key.function)
        self.keys.insert(place, key)

    def position(self, key: CompileKey) -> int:
        """Where a key stands that was added before."""
        return bisect_left(self.keys, key.serial, key=lambda other: other.serial)

    def nearest(self, index: int) -> CompileKey | None:
        """The key before `index`, of the same definition as far as is known, with the fewest differences to tell.

        Of several, the one that shares most with the one there, then that with the fewest changed arguments, and then
        the newest; None when there is none. Told are only those of keys that have most parts in common.
        """
        comparable = np.flatnonzero(self._of_one_definition(index))
        if not len(comparable):
            return None
        unlike = (self._rows[comparable] != self._rows[index]) @ _WEIGHTS
        mine = self.keys[index]
        most = min(_MAX_COMPARED, max(2, _MAX_COMPARISONS // (len(mine.arguments) or 1)))
        newest_first = np.argsort(unlike[::-1], kind="stable")[:most]
        candidates = [(self.keys[comparable[::-1][i]], int(unlike[::-1][i])) for i in newest_first]
        return min(candidates, key=lambda other: _distance(*other, mine))[0]

    def _of_one_definition(self, index: int) -> np.ndarray:
        """Which keys before `index` may be of the definition that the one there is of."""
        mine = self.keys[index].function
        known = [mine is None or old is None or same_definition(old, mine) is not False for old in self._definitions]
        return np.array(known, bool)[self._rows[:index, _DEFINITION]]


def _parts(key: CompileKey) -> tuple[object, ...]:
    function = key.function
    arguments = key.arguments
    return (
        key.transform,
        key.over,
        tuple(a.path for a in arguments) if key.tree is None else key.tree,
        function and function.code,
        tuple((a.shape, a.dtype) for a in arguments),
        function and function.serial,
        key.statics,
        # Arguments are shared between keys, so that the same object stands for the same facts.
        tuple(map(id, arguments)),
        key.outputs,
        key.donated,
        key.options,
        key.config,
        (key.context_mesh, key.devices),
        key.clears,
        _definition(key.function),
    )


def _definition(function: FunctionKey | None) -> object:
    """What `same_definition` looks at; a lambda that is made anew in a loop is one."""
    if function is None:
        return None
    place = function.place
    if place is None:
        return function.serial
    return function.version, function.twins, function.code, place.line, place.columns


def _distance(old: CompileKey, unlike: int, new: CompileKey) -> tuple[int, int, int]:
    """In how many differences a compile would be told from an earlier one; how unlike they are, and in how many facts.

    What differs beyond JAX's counter of cleared caches is a difference, though there may be no words for it.
    """
    found = find_changes(old, new)
    told = count_changes(found) or int(unlike > _WEIGHTS[-2])
    return told + _FAR * any(one.part in ("transform", "derived") for one in found), unlike, len(found)


class KeyHistory:
    """The keys of every compile of a process, by function. Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], _Family] = {}
        # Within the user's call a compile is only noted: where it belongs is of use when somebody asks.
        self._noted: deque[tuple[CompileKey, str, Frame | None]] = deque()
        self._lock = threading.RLock()

    def add(self, data: RecordData) -> None:
        """Take in a compile; one that is known is left out, so that several logs may tell of it."""
        if data.key is None:
            return
        with self._lock:
            self._noted.append((data.key, data.name, data.defined_at))
            if len(self._noted) >= _MAX_NOTED:
                self._families()

    def _families(self) -> dict[tuple[str, ...], _Family]:
        """The keys by function, all that were noted among them. Whoever calls it holds the lock."""
        while self._noted:
            first = self._noted[0]
            self._place(*first)
            # Only now: one that Ctrl-C came in between of is placed again. A signal handler that compiles may have
            # placed it meanwhile.
            if self._noted and self._noted[0] is first:
                self._noted.popleft()
        return self._known

    def _place(self, key: CompileKey, name_: str, defined_at: Frame | None) -> None:
        mine = _family_of(key, name_, defined_at)
        family = self._known.get(mine)
        if family is None:
            family = self._known[mine] = self._new_family()
        if len(family.keys) >= _MAX_KEYS:
            family = self._known[mine] = _shortened(family)
        family.add(key)

    def clear(self) -> None:
        """Forget every compile."""
        with self._lock:
            self._noted.clear()
            self._known.clear()

    def _new_family(self) -> _Family:
        if len(self._known) >= _MAX_FAMILIES:
            self._known.pop(next(iter(self._known)))
        return _Family()

    def count(self, data: RecordData) -> int:
        """How many compiles of its function there were up to and with this one; calls of known programs count not."""
        if data.key is None:
            return 0
        with self._lock:
            family = self._families().get(family_of(data))
            keys = family.keys if family is not None else []
            return sum(key.missed is not None and key.serial <= data.key.serial for key in keys)

    def reason(self, data: RecordData) -> Reason:
        """Why a compile happened, as far as the compiles that were taken in before it tell."""
        key, resharded = data.key, find_resharded(data)
        if key is None:
            return Reason(kind="unknown", sentence=say("unknown: this record does not hold what JAX looked up"))
        if data.cached == "memory":
            return Reason(kind="known", sentence=say("not compiled: JAX had this program already"), resharded=resharded)
        nearest = self._nearest(data, key)
        found = _first(data, key, self._wrapper(data, key)) if nearest is None else _compared(nearest, key)
        notes = _notes(data)
        return Reason(
            kind=found.kind,
            sentence=_listed([found.sentence, *notes]),
            differences=found.differences,
            nearest=found.nearest,
            notes=notes,
            resharded=resharded,
        )

    def _wrapper(self, data: RecordData, key: CompileKey) -> str:
        """What wraps the function, when the same function was compiled otherwise before; "" elsewhere."""
        wrapper = key.function.wrapper if key.function is not None and key.function.kind != "primitive" else ""
        if not wrapper:
            return ""
        mine = family_of(data)
        with self._lock:
            others = [family for key_, family in self._families().items() if key_[1:] == mine[1:] and key_ != mine]
            return wrapper if any(family.keys and family.keys[0].serial < key.serial for family in others) else ""

    def _nearest(self, data: RecordData, key: CompileKey) -> CompileKey | None:
        with self._lock:
            family = self._families().get(family_of(data))
            if family is None:
                return None
            index = family.position(key)
            known = index < len(family.keys) and family.keys[index].serial == key.serial
            return family.nearest(index) if known else None


def _shortened(family: _Family) -> _Family:
    kept = _Family()
    for key in family.keys[_MAX_KEYS // 2 :]:
        kept.add(key)
    return kept


# ---------------------------------------------------------------- sentences


def _first(data: RecordData, key: CompileKey, wrapper: str) -> Reason:
    around = say("{} around ", code(wrapper)) if wrapper else ""
    sentence = say("first compile of {}{}", around, _what(data, key))
    if key.missed in ("lowering", "compilation") and key.transform == "jit":
        sentence += " that was recorded; JAX had traced it before"
    return Reason(kind="first", sentence=sentence)


def _what(data: RecordData, key: CompileKey) -> Phrase | Sentence:
    if data.origin == "eager":
        return say("eager operation {}", name(data.name))
    if key.function is not None and key.function.kind == "primitive":
        operation = code(key.function.name)
        return say("operation {} of {}, which runs outside jit", operation, name(data.name))
    return name(data.name)


def _compared(nearest: CompileKey, key: CompileKey) -> Reason:
    found = key_differences(nearest, key)
    if found:
        return Reason(kind="changed", sentence=_sentence(found), differences=found, nearest=nearest.serial)
    dropped = _dropped(nearest, key)
    if dropped is None:
        return Reason(kind="unknown", sentence=_UNEXPLAINED, nearest=nearest.serial)
    return Reason(kind="dropped", sentence=dropped.sentence, differences=(dropped,), nearest=nearest.serial)


def _sentence(found: Sequence[Difference]) -> Sentence:
    shown = [difference.sentence for difference in found[:_MAX_SENTENCES]]
    more = len(found) - len(shown)
    rest = [say("and {} more differences", more) if more > 1 else found[-1].sentence] if more else []
    return _listed([*shown, *rest])


def _listed(sentences: Sequence[Sentence]) -> Sentence:
    return joined(sentences, "; ", comma="; ")


_UNEXPLAINED = say("unknown: nothing that is recorded differs from an earlier compile of it")
_FROM_DISK = say("the program came from the compilation cache on disk, so its source lines may be stale")


def _dropped(nearest: CompileKey, key: CompileKey) -> Difference | None:
    """Nothing differs: what was seen to be gone; None when nothing was."""
    if nearest.clears != key.clears:
        sentence = say("nothing differs: JAX's caches were cleared (`jax.clear_caches`)")
        return Difference(kind="cleared", sentence=sentence)
    if nearest.serial not in key.dropped:
        return None
    sentence = say("nothing differs: JAX had dropped the earlier program")
    if key.function is None or key.function.kind != "primitive":
        sentence += " (`clear_cache` of the function, or an eviction)"
    return Difference(kind="evicted", sentence=sentence)


def _notes(data: RecordData) -> tuple[Sentence, ...]:
    return (_FROM_DISK,) if data.cached == "persistent" else ()
