"""The layer numbers in names: where they are, and the name that equal layers share.

Not its job: which names are the user's (`analyze.sharding.value_names`).
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Sequence

_FIRST = re.compile(r"[^\[.]*\[\d+\]")
_BRACKETED = re.compile(r"\[\d+\]")
# A digit comes first, so that the search skips all else at once.
_WORDED = re.compile(
    r"\d(?:(?<=_\d)\d*(?=['\"\]./])|(?:(?<=\['\d)|(?<=\[\"\d))\d*(?=['\"]\])|(?:(?<=layer\d)|(?<=block\d))\d*)"
)
_INDEX = re.compile(f"{_BRACKETED.pattern}|{_WORDED.pattern}")
_SCOPE = re.compile(r"(?<=[A-Za-z_])\d+(?=/)")


def path_pattern(path: str, *, keep_first: bool = False) -> str:
    """A path with its layer numbers starred: "params['layers'][3]['w1']" -> "params['layers'][*]['w1']".

    With `keep_first` a number right after the root stays: `result[0]` and `result[1]` are different things.
    """
    head = _head(path) if keep_first else ""
    return head + _starred(path[len(head) :])


def path_patterns(paths: Sequence[str], *, keep_first: bool = False) -> list[str]:
    """`path_pattern` of each: thousands are looked at as one text."""
    heads = [_head(path) if keep_first else "" for path in paths]
    tails = [path[len(head) :] for head, path in zip(heads, paths, strict=True)]
    starred = _starred("\n".join(tails)).split("\n")
    if len(starred) != len(paths):
        starred = [_starred(tail) for tail in tails]  # A key with a line end in it.
    return list(map(operator.add, heads, starred))


def _head(path: str) -> str:
    head = _FIRST.match(path)
    return head[0] if head else ""


def _starred(text: str) -> str:
    return _WORDED.sub("*", _BRACKETED.sub("[*]", text))


@functools.lru_cache(maxsize=16_384)
def scope_pattern(name: str) -> str:
    """An operation's name with its layer numbers starred: "layer3/attn/dot_general" -> "layer*/attn/dot_general"."""
    return _SCOPE.sub("*", path_pattern(name))


def layers_of(name: str) -> tuple[int, ...]:
    """The numbers that `scope_pattern` stars, in order: "layer3/attn/w[0]" -> (3, 0)."""
    found = sorted((match.start(), match[0]) for rule in (_INDEX, _SCOPE) for match in rule.finditer(name))
    return tuple(int(text.strip("[]")) for _, text in dict(found).items())


@functools.lru_cache(maxsize=16_384)
def split_layers(name: str) -> tuple[str, ...]:
    """A name cut at its layer numbers, which are every second piece: "layer3/w[0]" -> ("layer", "3", "/w[", "0", "]").

    The pieces together are the name.
    """
    spans: dict[int, tuple[int, int]] = {}
    for rule in (_INDEX, _SCOPE):
        for match in rule.finditer(name):
            start, end = match.span()
            inside = (start + 1, end - 1) if match[0].startswith("[") else (start, end)
            spans[inside[0]] = inside
    pieces, last = [], 0
    for start, end in sorted(spans.values()):
        if start >= last:
            pieces += [name[last:start], name[start:end]]
            last = end
    return (*pieces, name[last:])
