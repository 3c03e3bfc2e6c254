"""Makes the names of two programs comparable: numbers of equal layers, scopes without JAX's additions.

The layers of both programs are aligned by content: a layer inserted in the middle of 16 is new, and the later layers
are the same as before, whatever their numbers. Not its job: source lines (`analyze.diff.places`).
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pjit_inspect.analyze.diff.sequence import common_subsequence
from pjit_inspect.analyze.program.phases import split_op_names
from pjit_inspect.model.program.primitive import JAX_SCOPES, users_word
from pjit_inspect.model.words.layers import split_layers

_WRAPPER = re.compile(r"\b(?:transpose|jvp|vmap)\(")
_MACHINERY = JAX_SCOPES | {""}
"""Parts of JAX's names for loops, differentiation and calls; phases and counts give the same facts."""

_TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*|'[^']*'|\"[^\"]*\"|[^\s\w]")


@functools.lru_cache(maxsize=65_536)
def clean_scope(op_name: str) -> str:
    """The user's scopes and the primitive of an operation: "jit(f)/transpose(jvp(mlp))/dot" -> "mlp/dot".

    The name of the compiled function, and the additions of differentiation and loops, are omitted.
    """
    return ";".join(dict.fromkeys(map(_one_scope, split_op_names(op_name))))


def _one_scope(name: str) -> str:
    parts = name.split("/")
    if len(parts) > 1 and parts[0].startswith(("jit(", "pjit(", "pmap(")):
        parts = parts[1:]
    cleaned = (_WRAPPER.sub("", part).rstrip(")") for part in parts)
    return users_word("/".join(part for part in cleaned if part not in _MACHINERY))


@functools.lru_cache(maxsize=65_536)
def skeleton(text: str) -> str:
    """Python without the user's variable names: "h = f(x, w)" -> "0=f(1,2)"; comments and spaces are omitted.

    What is called, what follows a dot, numbers and texts stay: two lines of one skeleton do the same to values of
    other names.
    """
    tokens = _TOKEN.findall(_without_comment(text))
    numbers: dict[str, str] = {}
    written = []
    for position, token in enumerate(tokens):
        is_name = token[0].isalpha() or token[0] == "_"
        is_called = position + 1 < len(tokens) and tokens[position + 1] == "("
        is_part = position > 0 and tokens[position - 1] == "."
        if is_name and not is_called and not is_part:
            token = numbers.setdefault(token, f"${len(numbers)}")
        written.append(token)
    return " ".join(written)


def _without_comment(text: str) -> str:
    if "#" not in text:
        return text
    quote = ""
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#":
            return text[:position]
    return text


Named = tuple[str, Hashable]
"""A name, and the facts about its value: its shape, its kind."""


@dataclass(frozen=True, slots=True)
class LayerNames:
    """The layers that the layer numbers of one program denote.

    Attributes:
      layers: the text before a number, and the number -> the layer, by a name that both programs share; other numbers
        have no counterpart.
    """

    layers: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """A name by which both programs call the same thing."""
        pieces = split_layers(name)
        if len(pieces) == 1:
            return name
        found = pieces[0]
        for number, text in zip(pieces[1::2], pieces[2::2], strict=True):
            found = f"{found}{self.layers.get((found, number), number)}{text}"
        return found


def same_layers(
    before: Iterable[Named], after: Iterable[Named], *, by_number: bool = False
) -> tuple[LayerNames, LayerNames]:
    """Pairs the layers of both programs by content, from the outermost number inwards.

    With `by_number`, remaining layers are paired if both programs have the same numbers. This is for programs known
    only after partitioning, where the content of a layer depends on the machine.
    """
    sides = tuple([(split_layers(name), what) for name, what in dict.fromkeys(side)] for side in (before, after))
    known: tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]] = ({}, {})
    deepest = max((len(pieces) // 2 for side in sides for pieces, _ in side), default=0)
    for depth in range(deepest):
        families = tuple(_families(side, depth, LayerNames(own)) for side, own in zip(sides, known, strict=True))
        for stem in families[0].keys() & families[1].keys():
            _join(stem, families[0][stem], families[1][stem], known, by_number)
    return LayerNames(known[0]), LayerNames(known[1])


_Family = dict[str, Counter[tuple[str, Hashable]]]
"""The numbers after one stem -> the content behind each of them."""


def _of_one_number(numbers: Sequence[Sequence[str]], pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The layers that are left over, joined by number; none where the programs have other numbers."""
    if list(numbers[0]) != list(numbers[1]) or any(i != j for i, j in pairs):
        return []
    known = {i for i, _ in pairs}
    return [(k, k) for k in range(len(numbers[0])) if k not in known]


def _families(side: Sequence[tuple[tuple[str, ...], Hashable]], depth: int, names: LayerNames) -> dict[str, _Family]:
    families: dict[str, _Family] = defaultdict(lambda: defaultdict(Counter))
    for pieces, what in side:
        if len(pieces) // 2 > depth:
            stem = names.of("".join(pieces[: 2 * depth + 1])) if depth else pieces[0]
            rest = "*".join(pieces[2 * depth + 2 :: 2])
            families[stem][pieces[2 * depth + 1]][rest, what] += 1
    return families


def _join(
    stem: str,
    before: _Family,
    after: _Family,
    known: tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]],
    by_number: bool,
) -> None:
    """Say which numbers after a stem are the same layer."""
    numbers = tuple(sorted(side, key=lambda number: (len(number), number)) for side in (before, after))
    exact = tuple([frozenset(side[n].items()) for n in own] for side, own in zip((before, after), numbers, strict=True))
    loose = tuple(
        [frozenset(rest for rest, _ in side[n]) for n in own]
        for side, own in zip((before, after), numbers, strict=True)
    )
    pairs = common_subsequence(*exact, prefer=lambda i, j: numbers[0][i] == numbers[1][j])
    ends = [(-1, -1), *pairs, (len(numbers[0]), len(numbers[1]))]
    for (i, j), (next_i, next_j) in itertools.pairwise(ends):
        # Between two equal layers, pairs layers of other shapes but equal names, in order.
        gap = common_subsequence(loose[0][i + 1 : next_i], loose[1][j + 1 : next_j])
        pairs = [*pairs, *((i + 1 + a, j + 1 + b) for a, b in gap)]
    if by_number:
        pairs += _of_one_number(numbers, pairs)
    joined = tuple({pair[side] for pair in pairs} for side in (0, 1))
    for i, j in pairs:
        layer = f"<{numbers[0][i]}|{numbers[1][j]}>"
        known[0][stem, numbers[0][i]] = known[1][stem, numbers[1][j]] = layer
    for side, sign in enumerate("-+"):
        for position, number in enumerate(numbers[side]):
            if position not in joined[side]:
                known[side][stem, number] = f"<{sign}{number}>"
