"""A program before optimization as lines that are equal wherever the program is the same.

What differs from process to process without changing the program is taken out: source positions, and what JAX knows
callbacks by. Text, because saved records have it and it needs no jaxlib. Not its job: comparing
(`analyze.processes.merge`).

*Source*: `jax/_src/cache_key.py`, which leaves the same out of the key of the compilation cache on disk.
"""

from __future__ import annotations

import re

from pjit_inspect.model.program.source import Frame

# Each alternative takes what it has begun to the end, so that no text is looked at twice.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)| loc\(')
_PARENTHESIS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)|[()]')
_CALLBACK = re.compile(r"\bcustom_call @(?:[\w.]*callback|CustomSPMDPartitioning)\(")
_CALLBACK_NUMBER = re.compile(r'\bbackend_config = (?:"(?:[^"\\]|\\.)*+(?:"|$)|\{[^{}]*\}|\d+ : \w+)')

_ALIAS = re.compile(r"^(#loc\d*) = (loc\(.*\))$", re.M)
# A location of more characters, or behind more others, is none that JAX writes.
_LONGEST, _MOST = 2_000, 200
_REFERENCE = re.compile(r'"((?:[^"\\]|\\.)*+)":(\d+):\d+|(#loc\d*)\b')


def stablehlo_lines(text: str) -> tuple[str, ...]:
    """The lines of StableHLO text without what may differ between processes that run the same program."""
    return tuple(_plain(line) for line in _code_lines(text))


def without_locations(text: str) -> str:
    """StableHLO text as MLIR prints it when it is asked for no locations."""
    lines = [line for line in text.splitlines() if not line.startswith("#loc")]
    return "\n".join(_without_locations(line) for line in lines).strip("\n") + "\n"


def _code_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#loc")]


def _plain(line: str) -> str:
    bare = _without_locations(line)
    return _CALLBACK_NUMBER.sub("backend_config = (a number)", bare) if _CALLBACK.search(bare) else bare


def _without_locations(line: str) -> str:
    parts, start = [], 0
    while piece := _PIECE.search(line, start):
        is_location = piece[0] == " loc("
        parts.append(line[start : piece.start() if is_location else piece.end()])
        start = _end_of_parenthesis(line, piece.end()) if is_location else piece.end()
    return "".join((*parts, line[start:])).rstrip()


def _end_of_parenthesis(line: str, start: int) -> int:
    """Behind the parenthesis that closes the one before `start`; the end of the line where none does."""
    depth = 1
    for piece in _PARENTHESIS.finditer(line, start):
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        if not depth:
            return piece.end()
    return len(line)


def line_place(text: str, number: int) -> Frame | None:
    """The innermost source line of line `number` (from 0) of `stablehlo_lines(text)`; None when it does not say."""
    lines = _code_lines(text)
    if not 0 <= number < len(lines):
        return None
    written = lines[number][len(_without_locations(lines[number])) :]
    return _first_place(written, dict(_ALIAS.findall(text)))


def _first_place(location: str, aliases: dict[str, str]) -> Frame | None:
    waiting, seen = [location], set()
    while waiting and len(seen) < _MOST:
        matches = list(_REFERENCE.finditer(waiting.pop()[:_LONGEST]))
        for match in matches:
            if match[1] is not None:
                return Frame(file=match[1], line=int(match[2]) if len(match[2]) < 10 else 0)
        # The innermost frame stands first; a definition is looked into once.
        names = [match[3] for match in matches if match[3] not in seen]
        seen.update(names)
        waiting += [aliases[name] for name in reversed(names) if name in aliases]
    return None
