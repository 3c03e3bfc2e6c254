"""A short sentence about a surprise for a reader, and the part of the program it is about.

Not its job: finding surprises (`analyze.report.notes`), drawing it (`view`).
"""

from __future__ import annotations

from typing import Self

from pjit_inspect.model.words.sentence import Phrase, Sentence


class Note(Sentence):
    """A sentence and its subject.

    Attributes:
      instructions: the first instruction of each collective it is about.
      paths: the arguments and results it is about, as their layouts name them.
    """

    __slots__ = ("instructions", "paths")
    instructions: tuple[str, ...]
    paths: tuple[str, ...]

    @classmethod
    def about(cls, words: str, *, instructions: tuple[str, ...] = (), paths: tuple[str, ...] = ()) -> Self:
        """The note of a sentence."""
        made = cls.of(Sentence(words).phrases)
        assert isinstance(made, cls)
        made.instructions, made.paths = instructions, paths
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.phrases, self.instructions, self.paths)


def _made(phrases: tuple[Phrase, ...], instructions: tuple[str, ...], paths: tuple[str, ...]) -> Note:
    return Note.about(Sentence.of(phrases), instructions=instructions, paths=paths)
