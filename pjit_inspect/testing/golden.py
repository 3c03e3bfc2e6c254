"""A golden: what a program is, in a small text that people review beside the test, and that names nothing accidental.

A line is a fact. What follows its `#` helps people to read it and is not compared: the text of the user's line, whose
names and place may change. The shardings that the user's code asks for (`asked`) are not compared either: where the
program differs, they tell which line came or went. Equal facts are one line with a count, equal layers among them.
Sizes are bytes of one device and call; the compiler's own memory may differ by `MEMORY_SLACK`. Not compared: names of
instructions, order, layouts, places, versions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.analyze.diff.edits import find_requests
from pjit_inspect.errors import CheckFailedError, ParseError
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.words.layers import path_pattern
from pjit_inspect.testing.collectives import explained
from pjit_inspect.testing.failure import failure
from pjit_inspect.testing.subjects import not_known, why_unread
from pjit_inspect.view.document.quantities import bytes_text, plural

MEMORY_SLACK = 0.1
"""The part by which XLA's temporaries may differ: its versions schedule equal programs 2 to 9 % apart (12 programs, JAX
0.8.1, 0.10.2 and 0.12). A budget is what holds memory closer."""

_FORMAT = "pjit golden 1"
_KNOWN_BY = "bytes of collectives are sent per device and call (modelled: ring), those of memory are XLA's own count"
_LABEL = 12
_BYTES = re.compile(r"(?P<words>.+?)  (?P<bytes>[\d,]+) B")
_MOST_LISTED, _MOST_CODE = 10, 6
_ASKED = "asked"


@dataclass(frozen=True, slots=True, order=True)
class Fact:
    """One line of a golden.

    Attributes:
      label: what it is about: "mesh", "argument", "result", "asked", "collective", "memory" or "compiles".
      words: the fact.
      count: how many equal ones there are.
      note: what helps to read it; not compared, except for the paths of arguments and results.
    """

    label: str
    words: str
    count: int = 1
    note: str = ""

    def __str__(self) -> str:
        times = f"  x {self.count}" if self.count > 1 else ""
        return f"{self.label:<{_LABEL}} {self.words}{times}" + (f"  # {self.note}" if self.note else "")


def golden_text(records: Sequence[CompileRecord], name: str) -> str:
    """The golden of some programs of one function. Raises UnknownAnswerError where one is not all there."""
    return f"# {_FORMAT}: {name}\n# {_KNOWN_BY}\n" + "".join(f"{fact}\n" for fact in facts_of(records))


def read_golden(text: str, path: str) -> tuple[Fact, ...]:
    """The facts of a golden. Raises ParseError for a text that is none."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith(f"# {_FORMAT}"):
        raise ParseError(
            "it is no golden", path=path, offset=1, expected=f"a first line that begins with '# {_FORMAT}'"
        )
    facts = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip() or line.startswith("#"):
            continue
        label, _, rest = line.partition(" ")
        rest, _, note = rest.strip().partition("  # ")
        words, _, count = rest.rpartition("  x ") if re.search(r"  x \d+$", rest) else (rest, "", "1")
        if not words:
            raise ParseError(f"{line!r} is no fact", path=path, offset=number, expected="a label and a fact")
        facts.append(Fact(label, words, int(count), note))
    return tuple(facts)


def facts_of(records: Sequence[CompileRecord]) -> tuple[Fact, ...]:
    """The facts of some programs of one function, in the order of a golden."""
    found: list[Fact] = []
    for record in records:
        if why := why_unread(record):
            raise not_known(record, "what its golden would say", why)
        found += _folded(_facts(record))
    return (*found, Fact("compiles", f"{len(records)}"))


def _facts(record: CompileRecord) -> Iterator[Fact]:
    mesh = record.mesh
    yield Fact("mesh", "none" if mesh is None else str(mesh))
    for label, arrays in (("argument", record.inputs), ("result", record.outputs)):
        for one in arrays:
            yield Fact(label, _array_words(one), note=path_pattern(one.path, keep_first=True))
    names = record.state.analyses.names
    for asked in () if names is None else find_requests(names):
        yield Fact(_ASKED, spec_text(asked.spec), note=_line_text(record, asked.source))
    for row in record.collectives:
        yield Fact("collective", _collective_words(row), note=_line_text(record, row.source))
    memory = record.memory
    if memory is not None and memory.temporary_bytes is not None:
        yield Fact("memory", f"temporaries  {memory.temporary_bytes:,} B", note=f"within {MEMORY_SLACK:.0%}")


def _array_words(one: ArrayLayout) -> str:
    spec = "follows no mesh axes" if one.spec is None else spec_text(one.spec)
    parts = [f"{one.dtype}[{','.join(map(str, one.global_shape))}]", spec]
    parts += ["donated"] if one.donated else []
    parts += ["reuses a donated argument"] if one.aliases else []
    return "  ".join(parts)


def _collective_words(row: Collective) -> str:
    runs = "unknown runs" if row.count is None else plural(row.count, "run")
    sent = "unknown bytes" if row.sent_bytes is None else f"{row.sent_bytes:,} B"
    causes = sorted({cause.kind for cause in row.causes})
    # Of a combined one, versions of XLA keep the name of one part or of none.
    phases = sorted({cause.phase for cause in row.causes if cause.phase}) or ([row.phase] if row.phase else [])
    parts = [f"{row.kind} over {row.axes_text}", sent, runs, " + ".join(phases), " + ".join(causes)]
    return "  ".join(filter(None, parts))


def _line_text(record: CompileRecord, frames: tuple[Frame, ...]) -> str:
    """The user's line that some frames lead to; "" if it is not known."""
    for frame in frames[:1]:
        for source in record.state.analyses.sources:
            if source.file == frame.file and (text := source.line(frame.line)):
                return " ".join(text.split())
    return ""


def _folded(facts: Iterable[Fact]) -> list[Fact]:
    """Equal facts as one, where the first stands."""
    counts = Counter(facts)
    return [Fact(one.label, one.words, number, one.note) for one, number in counts.items()]


# ---------------------------------------------------------------- comparing


def compare_golden(
    golden: Sequence[Fact], records: Sequence[CompileRecord], *, path: str, accept: str, hint: bool = True
) -> CheckFailedError | None:
    """The failure of a comparison; None if the programs are as their golden says.

    Args:
      golden: the facts as they should be.
      records: the programs as they are.
      path: of the golden, for the message.
      accept: the command that renews it.
      hint: ask XLA for a change that removes what is new.
    """
    now = facts_of(records)
    gone, new = _differences(golden, now)
    if not gone and not new:
        return None
    name = records[0].name
    rows = [
        row
        for record in records
        for row in record.collectives
        if any(fact.label == "collective" and fact.words == _collective_words(row) for fact in new)
    ]
    lines = [f"- {_bare(fact)}" for fact in gone] + [f"+ {_bare(fact)}" for fact in new]
    more = [f"and {len(lines) - _MOST_LISTED} more"] if len(lines) > _MOST_LISTED + 1 else []
    because = [part for record in records[:1] for part in explained(record, rows, hint=hint)[1:]] if rows else []
    return failure(
        f"{name}: {_sentence(golden, now, [*gone, *new])}",
        ("golden", [path]),
        ("changed", [*lines[: _MOST_LISTED + 1 - bool(more)], *more]),
        ("code", _code(golden, now)),
        ("accept", [accept]),
        *because,
        ("note", ["not compared: names of instructions, order, layouts, places, versions"]),
    )


def _differences(golden: Sequence[Fact], now: Sequence[Fact]) -> tuple[list[Fact], list[Fact]]:
    gone, new = list[Fact](), list[Fact]()
    for label in dict.fromkeys(fact.label for fact in (*golden, *now) if fact.label != _ASKED):
        before = [fact for fact in golden if fact.label == label]
        after = [fact for fact in now if fact.label == label]
        if label in ("argument", "result"):
            # A path may be renamed where all arrays in order are the same; else an array is known by its path.
            if _unnamed(before) == _unnamed(after):
                continue
            key = lambda fact: (fact.words, fact.note)  # noqa: E731
        elif label == "memory" and _are_near(before, after):
            continue
        else:
            key = lambda fact: (fact.words, "")  # noqa: E731
        counts = [Counter[tuple[str, str]](), Counter[tuple[str, str]]()]
        for own, count in zip((before, after), counts, strict=True):
            for fact in own:
                count[key(fact)] += fact.count
        notes = {key(fact): fact.note for fact in (*before, *after)}
        for own, count in ((gone, counts[0] - counts[1]), (new, counts[1] - counts[0])):
            own += [Fact(label, words[0], number, notes[words]) for words, number in count.items()]
    return gone, new


def _code(golden: Sequence[Fact], now: Sequence[Fact]) -> list[str]:
    """The lines of the user's that ask for shardings or have collectives, in one of the programs only."""
    then, today = (
        dict.fromkeys(fact.note for fact in facts if fact.label in (_ASKED, "collective") and fact.note)
        for facts in (golden, now)
    )
    lines = [f"- {text}" for text in then if text not in today] + [f"+ {text}" for text in today if text not in then]
    more = [f"and {len(lines) - _MOST_CODE} more lines"] if len(lines) > _MOST_CODE else []
    return [*lines[:_MOST_CODE], *more]


def _bare(fact: Fact) -> Fact:
    """Without the text of its line, which `code` has where it matters."""
    return replace(fact, note="") if fact.label == "collective" else fact


def _unnamed(facts: Sequence[Fact]) -> list[tuple[str, int]]:
    return [(fact.words, fact.count) for fact in facts]


def _are_near(before: Sequence[Fact], after: Sequence[Fact]) -> bool:
    if len(before) != len(after):
        return False
    for one, other in zip(before, after, strict=True):
        pair = [_BYTES.fullmatch(fact.words) for fact in (one, other)]
        if pair[0] is None or pair[1] is None or pair[0]["words"] != pair[1]["words"]:
            return False
        was, is_now = (int(found["bytes"].replace(",", "")) for found in pair if found)
        if abs(is_now - was) > MEMORY_SLACK * max(was, is_now):
            return False
    return True


def _sentence(golden: Sequence[Fact], now: Sequence[Fact], changed: Sequence[Fact]) -> str:
    """The change in one line, with numbers where bytes or numbers of collectives differ."""
    before, after = _sent(golden), _sent(now)
    counts = [sum(fact.count for fact in own if fact.label == "collective") for own in (golden, now)]
    parts = []
    if before is not None and after is not None and before != after:
        parts.append(f"sends {bytes_text(before)} -> {bytes_text(after)}")
    if counts[0] != counts[1]:
        parts.append(f"{counts[0]} -> {plural(counts[1], 'collective')}")
    labels = list(dict.fromkeys(fact.label for fact in changed))
    return ", ".join(parts) or f"not as in its golden: {', '.join(labels)}"


def _sent(facts: Sequence[Fact]) -> int | None:
    """Bytes of all collectives of a golden; None if one is unknown."""
    total = 0
    for fact in facts:
        if fact.label == "collective":
            found = re.search(r"  ([\d,]+) B  ", fact.words)
            if found is None:
                return None
            total += int(found[1].replace(",", "")) * fact.count
    return total
