"""A sentence with classified words (axes, names, PartitionSpecs, code, places in the source), and bytes in words.

It is a string, and prints, compares and is searched as one. Views draw its phrases and group sentences by them; nobody
parses it again. Not its job: the content (`analyze`), the look of a phrase (`view`).
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from pjit_inspect.model.words.layers import layers_of, scope_pattern

PhraseKind = Literal["word", "axis", "name", "spec", "code", "place"]
"""
word: plain English.
axis: a mesh axis, or a part of one ("model", "tp:(1)2").
name: an array or function by the user's name, with its layer numbers ("params['layers'][3]['w1']").
spec: a PartitionSpec as the user would write it.
code: any other Python, such as the text of an operation ("h @ w").
place: a file and line, or a cell ("train.py:12").
"""

PHRASE_KINDS: tuple[PhraseKind, ...] = get_args(PhraseKind)

_MARKED = re.compile(r"`([^`]*)`")
_BEFORE_AXIS = re.compile(r"\b(over|[Aa]xis|[Aa]xes) $")
_BETWEEN_AXES = ("", " and ", ", ", " or ")
_HOLE = "{}"
_PLAIN = ("word", "place")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of a sentence that is one thing.

    Attributes:
      kind: one of `PHRASE_KINDS`.
      text: its text, without backticks.
      is_bare: True where its sentence has it without backticks, too.
    """

    kind: PhraseKind
    text: str
    is_bare: bool = False

    @property
    def layers(self) -> tuple[int, ...]:
        """The layer numbers in a name or code, in order; () for anything else."""
        return layers_of(self.text) if self.kind in ("name", "code") else ()

    @property
    def pattern(self) -> Phrase:
        """The phrase with its layer numbers starred; itself where it has none."""
        return replace(self, text=scope_pattern(self.text)) if self.kind in ("name", "code") else self

    def __str__(self) -> str:
        """As a sentence has it: everything but words, places and what is bare in `backticks`."""
        return self.text if self.is_bare or self.kind in _PLAIN else f"`{self.text}`"


class Sentence(str):
    """Text with its phrases. `Sentence("it sums `x` over `a`")` reads text in backticks as axes or code.

    Attributes:
      phrases: its phrases in order; two words never follow one another.
    """

    __slots__ = ("phrases",)
    phrases: tuple[Phrase, ...]

    def __new__(cls, text: str = "") -> Sentence:
        """The sentence that `text` reads as."""
        return text if isinstance(text, Sentence) else cls.of(_read(text))

    @classmethod
    def of(cls, phrases: Iterable[Phrase]) -> Sentence:
        """The sentence of some phrases."""
        merged: list[Phrase] = []
        for phrase in phrases:
            if phrase.kind == "word" and merged and merged[-1].kind == "word":
                merged[-1] = Phrase("word", merged[-1].text + phrase.text)
            elif phrase.text or phrase.kind != "word":
                merged.append(phrase)
        made = str.__new__(cls, "".join(map(str, merged)))
        made.phrases = tuple(merged)
        return made

    @property
    def pattern(self) -> Sentence:
        """The sentence with the layer numbers in its names starred; axes, specs and shapes stay."""
        return Sentence.of(phrase.pattern for phrase in self.phrases)

    def names(self, text: str) -> bool:
        """True if one of its phrases, as it is or with its layers starred, is `text`."""
        return any(text in (phrase.text, phrase.pattern.text) for phrase in self.phrases if phrase.kind not in _PLAIN)

    def __add__(self, other: str) -> Sentence:
        return Sentence.of((*self.phrases, *Sentence(other).phrases))

    def __reduce__(self) -> tuple[object, ...]:
        return Sentence.of, (self.phrases,)


def word(text: str) -> Phrase:
    """Words from elsewhere, such as a value: backticks in them mark nothing."""
    return Phrase("word", text)


def axis(text: str) -> Phrase:
    """A mesh axis."""
    return Phrase("axis", text)


def name(text: str) -> Phrase:
    """The user's name of an array or a function."""
    return Phrase("name", text)


def spec(text: str) -> Phrase:
    """A PartitionSpec, as `spec_text` writes it."""
    return Phrase("spec", text)


def code(text: str) -> Phrase:
    """Python that is no name."""
    return Phrase("code", text)


def place(text: str) -> Phrase:
    """A line of the user's source."""
    return Phrase("place", text)


def bare(phrase: Phrase) -> Phrase:
    """The phrase without backticks: `bare(spec("P('data')"))` prints P('data')."""
    return replace(phrase, is_bare=True)


def say(template: str, *parts: object) -> Sentence:
    """A sentence: `say("{} sums over {}", op, axis("model"))`, each "{}" in turn replaced by a part.

    Parts are phrases and sentences, which are kept; anything else is used as text. The template and plain strings are
    read like `Sentence` reads them. Raises ValueError when there are more or fewer parts than places for them.
    """
    texts = _read_template(template)
    if len(texts) != len(parts) + 1:
        raise ValueError(f"{len(texts) - 1} places for {len(parts)} parts in {template!r}")
    filled = itertools.zip_longest(texts, map(_phrases, parts), fillvalue=())
    return Sentence.of(itertools.chain.from_iterable(itertools.chain.from_iterable(filled)))


def joined(parts: Sequence[Phrase | str], last: str = " and ", *, comma: str = ", ") -> Sentence:
    """Parts in a list: "`a`, `b` and `c`"."""
    between = (*[comma] * (len(parts) - 2), last)
    return say("".join(_HOLE + word for word in (*between[: len(parts) - 1], "")) if parts else "", *parts)


def _phrases(part: object) -> tuple[Phrase, ...]:
    if isinstance(part, Phrase):
        return (part,)
    return part.phrases if isinstance(part, Sentence) else _read(str(part))


def _read(text: str) -> tuple[Phrase, ...]:
    """The phrases of plain text, in which every second piece is in backticks; pieces called an axis become axes."""
    phrases = list(_pieces(text))
    # "`data` on `x` comes from": what is on an array is an axis.
    is_axis = len(phrases) > 2 and phrases[0].text == "" and phrases[2].text.startswith(" on ")
    for number, phrase in enumerate(phrases):
        if phrase.kind == "word":
            # In "over `a` and `b`" both are axes: what joins them changes nothing.
            is_axis = bool(_BEFORE_AXIS.search(phrase.text)) or (is_axis and phrase.text in _BETWEEN_AXES)
        elif is_axis:
            phrases[number] = axis(phrase.text)
    return tuple(phrases)


def _pieces(text: str) -> tuple[Phrase, ...]:
    return tuple(Phrase("code" if n % 2 else "word", piece) for n, piece in enumerate(_MARKED.split(text)))


@functools.lru_cache(maxsize=1024)
def _read_template(template: str) -> tuple[tuple[Phrase, ...], ...]:
    """The phrases before, between and after the places of a template. A thousand arguments may share one."""
    return tuple(map(_pieces, template.split(_HOLE)))


ONE_TURN = "if each loop of unknown length takes one turn"
"""The condition under which one figure holds for a program with loops of unknown length."""

_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def bytes_in_words(size_bytes: int, digits: int = 3) -> str:
    """A size with `digits` digits: "1.5 GiB", "512 B"."""
    for unit, width in _UNITS:
        if size_bytes >= width:
            value = size_bytes / width
            # Not 1.02e+03.
            return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.{digits}g} {unit}"
    return f"{size_bytes:,} B"


def bytes_in_one_unit(sizes: Sequence[float | None]) -> tuple[list[str], str]:
    """Sizes that are compared, all in the unit of the largest: (["4.13", "1.72"], "MiB"); None is "unknown"."""
    largest = max((size for size in sizes if size is not None), default=0)
    unit, width = next(((unit, width) for unit, width in _UNITS if largest >= width), ("B", 1))
    return ["unknown" if size is None else _hundredths(size, width) for size in sizes], unit


def _hundredths(size: float, width: int) -> str:
    if width == 1 or not size:
        return f"{size:,.0f}"
    return "<0.01" if 0 < size / width < 0.005 else f"{size / width:,.2f}"
