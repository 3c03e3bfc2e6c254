"""What of a notebook's outputs is compared: every word that is printed; of a display, how its text begins.

Displays hold seconds, numbers of the compiler's, and whole pages; what the lessons say of them is printed by a cell
beside them. Of an error only its kind is compared: each release of JAX has other words. Standard error is XLA's own,
with times and processes in it. Cells' numbers differ: nbval gives all the same. Used by `notebooks/conftest.py` and
`execute_notebook.py`. Not its job: running anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["compared_outputs", "is_ignored", "words"]

DRAWN = frozenset({"text/html", "image/svg+xml", "image/png", "application/vnd.plotly.v1+json"})
"""The kinds of output that are pictures: whoever can shows them in place of their text."""

BEGINNING = 60
"""Characters of a display's first line that are compared; further on it may be broken elsewhere."""

CELL = re.compile(r"\bIn \[\d+\]")
PLACE = re.compile(r"^\S*ipykernel_\d+/\S+:\d+:\d+ \(.*\)\n", re.MULTILINE)
"""Where an error was raised, which JAX 0.12 prints to standard output before it raises one."""

LATER = "pjitAdvice:"
"""What stands in an output of advice that came later; the inspector's own script has the word without a colon."""

IGNORED = "nbval-ignore-output"
"""The tag of a cell whose output no two runs have in common; the cell's metadata say why under "why_ignored"."""


def is_ignored(cell: Any) -> bool:
    """Whether a cell's outputs are not compared at all."""
    return IGNORED in cell.get("metadata", {}).get("tags", ())


def compared_outputs(outputs: Iterable[Any]) -> list[Any]:
    """The outputs as they are compared, each of the type that it has (nbval reads them as attributes)."""
    return [
        kept
        for output in outputs
        if output.get("name") != "stderr" and not _comes_later(output) and (kept := _kept(output)).get("text") != ""
    ]


def words(outputs: Iterable[Any]) -> Iterator[str]:
    """The lines that are compared."""
    for output in compared_outputs(outputs):
        text = output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue", "")
        yield from _joined(text).splitlines()


def _comes_later(output: Any) -> bool:
    """Whether it is what advice is put into, however much of it is known by now."""
    html = output.get("data", {}).get("text/html")
    return html is not None and (not (text := _joined(html)) or LATER in text)


def _kept(output: Any) -> Any:
    changed: dict[str, Any] = {}
    if "text" in output:
        changed["text"] = PLACE.sub("", _without_numbers(output["text"]))
    if "evalue" in output:
        changed["evalue"] = _without_numbers(output["evalue"])
    if "text/plain" in output.get("data", ()):
        text = _without_numbers(output["data"]["text/plain"])
        is_drawn = bool(DRAWN & set(output["data"]))
        changed["data"] = {"text/plain": text.partition("\n")[0][:BEGINNING] if is_drawn else text}
    if "evalue" in output:
        changed["evalue"] = ""
    return type(output)({**output, **changed})


def _without_numbers(text: Any) -> str:
    return CELL.sub("In [_]", _joined(text))


def _joined(text: Any) -> str:
    return text if isinstance(text, str) else "".join(text)
