"""Finds the reason of each compile: the nearest earlier compile of the function, and its differences.

A history holds the keys of a process. It finds the nearest of a thousand without comparing them leaf by leaf. Not
its job: comparing two keys (`analyze.recompiles.key_differences`), collecting them (`observe.key.compile_key`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pjit_inspect.analyze.recompiles.changes import count_changes, find_changes, same_definition
from pjit_inspect.analyze.recompiles.key_differences import key_differences
from pjit_inspect.analyze.recompiles.resharded import find_resharded
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

_FAR = 100
"""Another transform counts as this many differences."""


def family_of(data: RecordData) -> tuple[str, ...]:
    """A key shared by all compiles of one function, however often it is defined again.

    A named function is known by its name and file (all cells of a notebook count as one file), a lambda by its code,
    too. Several functions may share this key: `same_definition` tells them apart.
    """
    return _family_of(data.key, data.name, data.defined_at)


def _family_of(key: CompileKey | None, name_: str, defined_at: Frame | None) -> tuple[str, ...]:
    function = key.function if key is not None else None
    place = function.place if function is not None else defined_at
    file = "" if place is None else ("cell" if place.cell else place.file)
    if function is None:
        return ("", name_, file)
    if function.kind == "primitive":
        return ("primitive", function.name, function.wrapper)
    if function.name.rsplit(".", 1)[-1] == "<lambda>":
        return (function.wrapper, function.name, file, function.code or "")
    return (function.wrapper, function.name.rsplit(".<locals>.", 1)[-1] if file == "cell" else function.name, file)


class _Family:
    """The keys of one function, and a matrix with one row per key: a hash of each part, and the serial."""

    def __init__(self) -> None:
        self.keys: list[CompileKey] = []
        self._places: dict[int, int] = {}
        self._rows = np.zeros((8, len(_PARTS) + 1), np.int64)
        # One function for each definition, by its hash.
        self._definitions: dict[int, FunctionKey | None] = {}

    def add(self, key: CompileKey) -> None:
        """Adds a key unless it is known. Threads may add theirs out of order."""
        if self._places.setdefault(key.serial, len(self.keys)) < len(self.keys):
            return
        if len(self.keys) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        hashes = [hash(part(key)) for _, part in _PARTS]
        self._rows[len(self.keys)] = (*hashes, key.serial)
        self._definitions.setdefault(hashes[-1], key.function)
        self.keys.append(key)

    def nearest(self, key: CompileKey) -> CompileKey | None:
        """The earlier key of the same definition, as far as known, with the fewest differences; None for none.

        Ties go to the key that shares most parts, then to the one with the fewest changed facts, then to the newest.
        Differences are counted only for keys that share most parts.
        """
        if key.serial not in self._places:
            return None
        rows, mine = self._rows[: len(self.keys)], key.function
        of_one = [number for number, own in self._definitions.items() if same_definition(own, mine) is not False]
        comparable = np.flatnonzero((rows[:, -1] < key.serial) & np.isin(rows[:, -2], of_one))
        unlike = (rows[comparable] != rows[self._places[key.serial]])[:, :-1] @ _WEIGHTS
        most = min(_MAX_COMPARED, max(2, _MAX_COMPARISONS // (len(key.arguments) or 1)))
        order = np.lexsort((-rows[comparable, -1], unlike))[:most]
        candidates = [(self.keys[comparable[i]], int(unlike[i])) for i in order]
        return min(candidates, key=lambda other: _distance(*other, key), default=(None,))[0]

    def newer_half(self) -> _Family:
        """A family with the newer half of the keys."""
        kept = _Family()
        for key in sorted(self.keys, key=lambda one: one.serial)[len(self.keys) // 2 :]:
            kept.add(key)
        return kept


def _definition(key: CompileKey) -> object:
    """The facts that `same_definition` compares; a lambda made anew in a loop is one definition."""
    function = key.function
    if function is None or function.place is None:
        return function and function.serial
    return function.version, function.twins, function.code, function.place.line, function.place.columns


# The parts of a key, and how much they weigh when those keys are looked for that may be the nearest: a program of
# another transform is far away, one with other lengths is near.
_PARTS: tuple[tuple[int, Callable[[CompileKey], object]], ...] = (
    (_FAR, lambda key: key.transform),
    (50, lambda key: key.over),
    (8, lambda key: tuple(a.path for a in key.arguments) if key.tree is None else key.tree),
    (4, lambda key: key.function and key.function.code),
    (4, lambda key: tuple((a.shape, a.dtype) for a in key.arguments)),
    (2, lambda key: key.function and key.function.serial),
    (2, lambda key: key.statics),
    # Arguments are shared between keys, so that the same object stands for the same facts.
    (2, lambda key: tuple(map(id, key.arguments))),
    (2, lambda key: key.outputs),
    (2, lambda key: key.donated),
    (2, lambda key: key.options),
    (2, lambda key: key.config),
    (2, lambda key: (key.context_mesh, key.devices)),
    (1, lambda key: key.clears),
    (0, _definition),
)
_WEIGHTS = np.array([weight for weight, _ in _PARTS], np.int32)


def _distance(old: CompileKey, unlike: int, new: CompileKey) -> tuple[int, int, int]:
    """The number of differences from an earlier compile that would be reported, their unlikeness, and changed facts.

    Any change beyond JAX's counter of cleared caches is a difference, even without words for it.
    """
    found = find_changes(old, new)
    told = count_changes(found) or int(unlike > 1)
    return (told + _FAR * any(one.part in ("transform", "derived") for one in found), unlike, len(found))


class KeyHistory:
    """The keys of every compile of a process, by function. Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], _Family] = {}
        # Within the user's call a compile is only noted: where it belongs is of use when somebody asks.
        self._noted: deque[tuple[CompileKey, str, Frame | None]] = deque()
        self._lock = threading.RLock()

    def add(self, data: RecordData) -> None:
        """Adds a compile unless it is known: several logs may report it."""
        if data.key is None:
            return
        with self._lock:
            self._noted.append((data.key, data.name, data.defined_at))
            if len(self._noted) >= _MAX_NOTED:
                self._families()

    def _families(self) -> dict[tuple[str, ...], _Family]:
        """The keys by function, including all that were only noted. The caller holds the lock."""
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
        if mine not in self._known and len(self._known) >= _MAX_FAMILIES:
            self._known.pop(next(iter(self._known)))
        family = self._known.setdefault(mine, _Family())
        if len(family.keys) >= _MAX_KEYS:
            family = self._known[mine] = family.newer_half()
        family.add(key)

    def clear(self) -> None:
        """Forgets every compile."""
        with self._lock:
            self._noted.clear()
            self._known.clear()

    def count(self, data: RecordData) -> int:
        """The number of compiles of its function up to this one; calls of known programs do not count."""
        if data.key is None:
            return 0
        with self._lock:
            family = self._families().get(family_of(data), _Family())
            return sum(key.missed is not None and key.serial <= data.key.serial for key in family.keys)

    def reason(self, data: RecordData) -> Reason:
        """The reason of a compile, as far as earlier compiles show."""
        key = data.key
        if key is None:
            return Reason(kind="unknown", sentence=say("unknown: this record does not hold what JAX looked up"))
        resharded = find_resharded(data)
        if data.cached == "memory":
            return Reason(kind="known", sentence=say("not compiled: JAX had this program already"), resharded=resharded)
        with self._lock:
            families, mine = self._families(), family_of(data)
            nearest = families[mine].nearest(key) if mine in families else None
            wrapper = self._wrapper(mine, key) if nearest is None else ""
        found = _first(data, key, wrapper) if nearest is None else _compared(nearest, key)
        notes = (_FROM_DISK,) if data.cached == "persistent" else ()
        return replace(found, sentence=_listed([found.sentence, *notes]), notes=notes, resharded=resharded)

    def _wrapper(self, mine: tuple[str, ...], key: CompileKey) -> str:
        """The wrapper of the function, if the same function was compiled before with another one; "" otherwise."""
        wrapper = key.function.wrapper if key.function is not None and key.function.kind != "primitive" else ""
        others = [family for one, family in self._known.items() if wrapper and one[1:] == mine[1:] and one != mine]
        return wrapper if any(old.serial < key.serial for family in others for old in family.keys) else ""


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
    if found := key_differences(nearest, key):
        return Reason(kind="changed", sentence=_sentence(found), differences=found, nearest=nearest.serial)
    if nearest.clears != key.clears:
        gone = Difference(kind="cleared", sentence=_CLEARED)
    elif nearest.serial in key.dropped:
        is_operation = key.function is not None and key.function.kind == "primitive"
        gone = Difference(kind="evicted", sentence=_DROPPED if is_operation else _DROPPED + _CLEARED_ALONE)
    else:
        return Reason(kind="unknown", sentence=_UNEXPLAINED, nearest=nearest.serial)
    return Reason(kind="dropped", sentence=gone.sentence, differences=(gone,), nearest=nearest.serial)


def _sentence(found: Sequence[Difference]) -> Sentence:
    shown = [difference.sentence for difference in found]
    more = len(found) - _MAX_SENTENCES
    return _listed([*shown[:_MAX_SENTENCES], say("and {} more differences", more)] if more > 1 else shown)


def _listed(sentences: Sequence[Sentence]) -> Sentence:
    return joined(sentences, "; ", comma="; ")


_UNEXPLAINED = say("unknown: nothing that is recorded differs from an earlier compile of it")
_CLEARED = say("nothing differs: JAX's caches were cleared (`jax.clear_caches`)")
_DROPPED = say("nothing differs: JAX had dropped the earlier program")
_CLEARED_ALONE = " (`clear_cache` of the function, or an eviction)"
_FROM_DISK = say("the program came from the compilation cache on disk, so its source lines may be stale")
