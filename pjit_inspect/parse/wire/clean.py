"""Foreign bytes as printable text: control and bidirectional characters become escapes.

A name in a file may move a terminal's cursor, ring its bell or reverse the line. Every reader of foreign text uses this
module, so that a program can be printed safely later. Not its job: characters that are merely wide or unusual
(`view.document.printable`), HTML (`view.render.html`), or reading data (`parse.files`).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import chain
from operator import attrgetter
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.standard import load_standard

_unicode = load_standard("unicodedata")

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_PIECE = 1 << 20

T = TypeVar("T")

_TEXTS = frozenset({"compiler_log", "hlo_header", "jaxpr", "lines", "stablehlo_text"})
"""Fields that hold lines of text; all others hold one line."""

_PLAIN = frozenset({NoneType, bool, int, float})
"""Types without strings in their values."""


def clean_line(text: str) -> str:
    """A name or a sentence, with characters without a shape, newlines and tabs as escapes."""
    return text if text.isprintable() else _escaped(text, "")


def clean_text(text: str) -> str:
    """A text of many lines: newlines and tabs stay, and Windows line ends become newlines."""
    # A single character is found much faster than two.
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    # Programs have hundreds of megabytes, nearly always clean: checked in large pieces, to save time and memory.
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return text if all(map(_is_printable, pieces)) else _escaped(text, "\n\t")


def _is_printable(piece: str) -> bool:
    if piece.isascii():
        # Many times faster than `isprintable` on the rest.
        codes = np.frombuffer(piece.encode("ascii"), np.uint8)
        kept = sum(np.count_nonzero(codes == ord(char)) for char in "\n\t")
        return np.count_nonzero(codes < ord(" ")) == kept and "\x7f" not in piece
    return piece.replace("\n", "").replace("\t", "").isprintable()


def _escaped(text: str, kept: str) -> str:
    table = {ord(char): _escape(char) for char in set(text) if _unicode.category(char) in _HIDDEN}
    for char in kept:
        table.pop(ord(char), None)
    return text.translate(table) if table else text


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# ---------------------------------------------------------------- frozen data, every string in it clean


def cleaned(value: T) -> T:
    """`value`, or a copy if a string in it has an unprintable character.

    Raises ValueError if two names become equal by cleaning and must differ.
    """
    return value if _is_clean([value]) else _Cleaner().of(value)


def _is_clean(values: Iterable[Any], *, is_text: bool = False) -> bool:
    """True if nothing in these values needs cleaning; values of one type and field are checked together.

    Nearly always true: ten thousand arrays have as many paths, which are joined to one text here.
    """
    values = list(values)
    kinds = set(map(type, values))
    return all(
        _is_clean_kind(kind, values if len(kinds) == 1 else [value for value in values if type(value) is kind], is_text)
        for kind in kinds
    )


def _is_clean_kind(kind: type, values: list[Any], is_text: bool) -> bool:
    """As `_is_clean`, for values of one type."""
    if kind in _PLAIN:
        return True
    if kind is str and not is_text:
        return "".join(set(values)).isprintable()
    # Thousands of arrays share a few shardings.
    values = list(dict(zip(map(id, values), values, strict=True)).values())
    if issubclass(kind, str):
        return all(_string(text, is_text) is text for text in values)
    if issubclass(kind, tuple):
        return _is_clean(chain.from_iterable(values), is_text=is_text)
    if issubclass(kind, Mapping):
        return _is_clean(chain.from_iterable((*one, *one.values()) for one in values))
    if is_dataclass(kind):
        return all(_is_clean(map(attrgetter(f), values), is_text=f in _TEXTS) for f in _string_fields(kind))
    return True


class _Cleaner:
    """Cleans each object once: thousands of arrays share a few meshes."""

    def __init__(self) -> None:
        # The object is kept beside its copy so that its id cannot be reused.
        self._done: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any, *, is_text: bool = False) -> Any:
        if value is None:
            return None
        if isinstance(value, str):
            # Most strings end here. Lines of text contain newlines, which are not printable.
            return value if value.isprintable() and type(value) is str else _string(value, is_text)
        if isinstance(value, tuple):
            items = [self.of(item, is_text=is_text) for item in value]
            return value if _same(items, value) else tuple(items)
        if isinstance(value, Mapping):
            made = {self.of(key): self.of(item) for key, item in value.items()}
            return value if _same((*made, *made.values()), (*value, *value.values())) else made
        return self._object(value) if is_dataclass(value) and not isinstance(value, type) else value

    def _object(self, value: Any) -> Any:
        known = self._done.get(id(value))
        if known is None:
            changed = {}
            for name in _string_fields(type(value)):
                old = getattr(value, name)
                new = self.of(old, is_text=name in _TEXTS)
                if new is not old:
                    changed[name] = new
            known = self._done[id(value)] = value, replace(value, **changed) if changed else value
        return known[1]


def _string(value: str, is_text: bool) -> str:
    if isinstance(value, Sentence):
        clean = (replace(phrase, text=clean_line(phrase.text)) for phrase in value.phrases)
        return value if value.isprintable() else Sentence.of(clean)
    return clean_text(value) if is_text else clean_line(value)


def _same(new: Sequence[Any], old: Sequence[Any]) -> bool:
    return len(new) == len(old) and all(map(operator.is_, new, old))


@cache
def _string_fields(type_: type) -> tuple[str, ...]:
    """The fields of a dataclass that may hold strings; the tiles of a sharding over 4,096 devices hold none."""
    hints = get_type_hints(type_)
    return tuple(field.name for field in fields(type_) if field.init and _may_hold_strings(hints[field.name]))


def _may_hold_strings(hint: Any) -> bool:
    if hint in (*_PLAIN, Blob, Ellipsis) or get_origin(hint) is Literal:
        return False
    args = get_args(hint)
    return any(map(_may_hold_strings, args)) if args else True
