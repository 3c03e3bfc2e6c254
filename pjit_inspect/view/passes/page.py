"""The page of a program's passes: strip, lanes of collectives, details, and texts beside each other; and its data.

Not its job: the still display (`view.passes.passes`), drawing (`view/front/src/passes`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.report.passes import Life, LifeEvent, PassTable, StagedCollective
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_text
from pjit_inspect.view.document.text_spans import axes_text
from pjit_inspect.view.inspector.blob import pack_blob
from pjit_inspect.view.inspector.page import page_frame, scripted_page
from pjit_inspect.view.passes.passes import BY_NAMES, figures_of, passes_head

PASSES_BUNDLE = Path(__file__).parents[1] / "front" / "passes.js"
"""The JavaScript, bundled from `front/src/passes` (`npm run build` in `front`)."""

_HEIGHT = 780
_LONGEST = 600
"""Characters of a line that the page keeps: a tuple of a thousand arrays is one line."""
_MOST_KERNELS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PassesInput:
    """Input of the page.

    Attributes:
      table: the passes.
      name: the function's name.
      what: what the program was compiled for, in words.
      axes: the mesh's axes with their sizes, outermost first.
      written: the number of programs that XLA wrote.
      lines: number of a pass -> the instructions after it: name -> (line, the user's line), in order; {} for none.
      no_lines: why there are none.
      sources: the user's files.
      text: the display as text.
    """

    table: PassTable
    name: str
    what: str
    axes: tuple[tuple[str, int], ...]
    written: int
    lines: Mapping[int, Mapping[str, tuple[str, str]]]
    no_lines: str = ""
    sources: Sequence[SourceText] = ()
    text: str = ""


@functools.cache
def _script() -> str:
    return PASSES_BUNDLE.read_text(encoding="utf-8")


def passes_page(given: PassesInput, *, still: str = "") -> str:
    """The page; `still` is HTML shown until its script runs, and stays where none may run."""
    title = printable(f"{given.name}: XLA's passes")
    return scripted_page(title, _first(given), _blob(given), script=_script(), still=still)


def passes_frame(given: PassesInput, still: str) -> str:
    """The same for a notebook's output: a sandboxed page where scripts may run, the still HTML elsewhere."""
    title = printable(f"{given.name}: XLA's passes")
    return page_frame(passes_page(given, still=still), title, still, height=_HEIGHT)


def _first(given: PassesInput) -> dict[str, Any]:
    table = given.table
    telling = sum(bool(row.did) for row in table)
    gone = f", {len(table.removed)} gone on the way" if table.removed else ""
    return {
        "version": 1,
        "name": printable(given.name),
        "what": printable(given.what),
        "axes": [[printable(name), size] for name, size in given.axes],
        "head": printable(passes_head(table, given.name)),
        "more": f"{telling} pass{'es' * (telling != 1)} changed a collective{gone}",
        "known_by": BY_NAMES if table.known_by == "names" else "",
        "written": given.written,
        "passes": [
            {
                "number": row.number,
                "name": printable(row.name),
                "pipeline": printable(row.pipeline),
                "did": row.did,
                "sentence": row.sentence,
                "file": row.file,
                "figures": figures_of(row),
            }
            for row in table
        ],
        "stages": [[stage.number, [_staged(own) for own in stage.collectives]] for stage in table.stages],
        "lives": list(map(_life, table.lives)),
        "kernels": list(map(_kernel, table.kernels[:_MOST_KERNELS])),
        "no_lines": given.no_lines,
        "sources": _sources(given),
        "text": given.text,
    }


def _staged(own: StagedCollective) -> list[Any]:
    size = "" if own.payload_bytes is None else bytes_text(own.payload_bytes)
    axes = None if own.axes is None else list(map(printable, own.axes))
    return [own.kind, axes, printable(axes_text(own.axes)), list(own.parents), own.life, printable(own.name), size]


def _life(life: Life) -> dict[str, Any]:
    return {
        "name": printable(life.name),
        "kind": life.kind,
        "gone": life.is_removed,
        "events": list(map(_event, life.events)),
    }


def _event(event: LifeEvent) -> dict[str, Any]:
    return {
        "number": event.number,
        "pass": printable(event.pass_name),
        "kind": event.kind,
        "words": printable(event.words),
        "of": [printable(one) for one in event.counted],
    }


def _kernel(life: Life) -> list[Any]:
    return [printable(life.name), life.kind, [[event.number, printable(event.sentence)] for event in life.events]]


def _sources(given: PassesInput) -> dict[str, str]:
    """The text of each of the user's lines that a line of a program comes from."""
    wanted = {where for lines in given.lines.values() for _, where in lines.values() if where}
    texts = {_where(source, number): text for source in given.sources for number, text in enumerate(source.lines, 1)}
    return {printable(where): printable(shorten(texts[where].strip(), 160)) for where in wanted if where in texts}


def _where(source: SourceText, number: int) -> str:
    name = source.cell or source.file.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{name}:{number}"


def _blob(given: PassesInput) -> bytes:
    """Each line once, and each program as the numbers of its lines, written as differences: most follow one another."""
    lines, wheres = _Numbered(), _Numbered()
    where_of: list[int] = []
    columns: dict[str, Any] = {}
    for number, own in given.lines.items():
        found: list[int] = []
        for text, where in own.values():
            at = lines.number(printable(shorten(text, _LONGEST)))
            if at == len(where_of):
                where_of.append(wheres.number(printable(where)))
            found.append(at)
        columns[f"program.{number}"] = np.diff(np.array([0, *found], np.int32))
    columns["where"] = np.array(where_of, np.int32)
    return pack_blob({"programs": list(given.lines)}, columns, {"lines": lines.texts, "wheres": wheres.texts})


class _Numbered:
    """Texts, each once, by number."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._known: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of a text."""
        if text not in self._known:
            self._known[text] = len(self.texts)
            self.texts.append(text)
        return self._known[text]
