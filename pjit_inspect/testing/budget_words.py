"""A judged budget as text, as JSON, and as a comment for a pull request.

Not its job: judging (`testing.budget`).
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.handles.diff import Diff
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.diff.diff import Figure
from pjit_inspect.model.report.collective import Collective, CollectiveTable
from pjit_inspect.testing.budget import TOTAL, Judged
from pjit_inspect.testing.collectives import explained
from pjit_inspect.testing.failure import section_lines
from pjit_inspect.testing.subjects import size_of
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import (
    bytes_in,
    bytes_text,
    change_words,
    count_text,
    plural,
    share_unit,
    time_in,
    time_unit,
)
from pjit_inspect.view.render.markdown import code_in_markdown, in_markdown, lines_in_markdown

SCHEMA = "pjit_inspect/check/1"

_WIDTH = 96
_BAR = 8
_LONGEST_BAR = 24
_MOST_ROWS = 20
_MOST_LINES = 12
_MEMORY = {"peak": "peak memory", "temporaries": "temporary memory", "arguments": "arguments"}
_FIGURES = ("sent", "collectives", "temporary memory", "kernels", "matrix products")
"""The figures of a comparison that a comment has beside the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedBudget:
    """A program, and what became of its budget.

    Attributes:
      record: the program.
      rows: what became of each limit.
      diff: the comparison with the program before; None without one.
    """

    record: CompileRecord
    rows: tuple[Judged, ...]
    diff: Diff | None = None

    @property
    def exit_code(self) -> int:
        """0 within the budget, 1 if a limit is exceeded or matches nothing, 2 if one is unknown and no other fails.

        Without a budget the program before is one: 1 if they differ.
        """
        if not self.rows:
            return int(bool(self.diff))
        states = {row.state for row in self.rows}
        return 1 if states & {"exceeded", "nothing matched"} else 2 if "unknown" in states else 0

    @property
    def status(self) -> str:
        """The same in a word; DIFFERS where no limit fails, but the program before is another."""
        status = ("OK", "EXCEEDED", "UNKNOWN")[self.exit_code] if self.rows else "OK"
        return "DIFFERS" if status == "OK" and self.diff else status

    @property
    def sentence(self) -> str:
        """The number of limits that are not kept, of all."""
        if not self.rows:
            return str(self.diff.sentence) if self.diff else "nothing differs"
        counts = Counter(row.state for row in self.rows)
        total, nothing = plural(len(self.rows), "budget"), counts["nothing matched"]
        said = {"exceeded": "exceeded", "unknown": "unknown", "nothing matched": "matches nothing"}
        said |= {"nothing matched": "match nothing"} if nothing > 1 else {}
        parts = [f"{counts[state]} {words}" for state, words in said.items() if counts[state]]
        if parts:
            parts[0] = parts[0].replace(" ", f" of {total} ", 1)
        return ", ".join(parts) or ("within the budget" if len(self.rows) == 1 else f"within all {total}")

    @property
    def headline(self) -> str:
        """The same with the program's name, which may come from a file."""
        return printable(f"{self.record.name}: {self.sentence}")

    @property
    def reasons(self) -> list[tuple[str, Sequence[str]]]:
        """The causes of the most expensive collectives over a limit, and what would remove them."""
        over = {id(row): row for one in self.rows if one.state == "exceeded" for row in one.over}
        return explained(self.record, list(over.values()), hint=True)[1:] if over else []


# ---------------------------------------------------------------- text


def budget_text(checked: CheckedBudget) -> str:
    """The sentence, a line with a bar for each limit, then why, and what is not known."""
    if not checked.rows:
        return "\n".join(map(printable, str(checked.diff).splitlines()))
    head = textwrap.wrap(checked.headline, _WIDTH)
    lines = [*head, "", *_table(checked.rows)]
    sections = [*checked.reasons, *_gaps(checked.rows), _known_by(checked.rows)]
    if checked.diff is not None:
        sections.append(("changed", [str(checked.diff.sentence)]))
    below = [line for label, own in sections if own for line in section_lines(label, own)]
    return "\n".join(map(printable, [*lines, "", *below] if below else lines))


def _table(rows: Sequence[Judged]) -> list[str]:
    cells = [(_label(row), *_figures(row), _times(row), _bar(row)) for row in rows]
    widths = [max(len(cell[i]) for cell in cells) for i in range(4)]
    return [
        f"  {label:<{widths[0]}}  {found:>{widths[1]}} of {most:>{widths[2]}}  {times:<{widths[3]}}  {bar}".rstrip()
        for label, found, most, times, bar in cells
    ]


def _label(row: Judged) -> str:
    part, name = row.limit.part, row.limit.name
    if part == "sent_bytes":
        return "sent" if name == TOTAL else f"sent over {name}"
    if part == "memory_bytes":
        return _MEMORY[name]
    if part == "seconds":
        return f"time of a {name}"
    if part == "compiles":
        return "compiles" if name == TOTAL else f"compiles of {name}"
    return "collectives" if name == TOTAL else name


def _figures(row: Judged) -> tuple[str, str]:
    """The figures of a limit in one unit: before, now, allowed."""
    write, unit = _writer(row)
    found = "unknown" if row.value is None else write(row.value)
    found = "nothing" if row.near is not None else f"at least {found}" if row.is_least and row.value else found
    before = f"{write(row.base)} -> " if row.base is not None else ""
    return f"{before}{found}", f"{write(row.limit.most)} {unit}".rstrip()


def _writer(row: Judged) -> tuple[Any, str]:
    """A function that writes the row's figures, and their unit."""
    known = [figure for figure in (row.value, row.limit.most, row.base) if figure is not None]
    if row.limit.part in ("sent_bytes", "memory_bytes"):
        unit = share_unit(int(figure) for figure in known)
        if any(0 < figure < size_of(f"0.1 {unit}") for figure in known):
            return (lambda figure: bytes_text(int(figure))), ""
        return (lambda figure: bytes_in(int(figure), unit)), unit
    if row.limit.part == "seconds":
        unit = time_unit(max(known) * 1e6)
        return (lambda figure: time_in(figure * 1e6, unit)), unit
    return (lambda figure: count_text(int(figure))), ""


def _times(row: Judged) -> str:
    if row.state == "exceeded":
        return f"x {(row.value or 0) / row.limit.most:.1f}" if row.limit.most else "over"
    return {"ok": "ok", "unknown": "?"}.get(row.state, "no such name")


def _bar(row: Judged) -> str:
    """Eight `#` are the budget, which `|` ends."""
    if row.value is None:
        return ""
    if not row.limit.most:
        return f"{'':<{_BAR}}|" + "#" * min(_LONGEST_BAR, int(row.value))
    share = row.value / row.limit.most
    over = max(0, round((share - 1) * _BAR))
    tail = "#" * over if over <= _LONGEST_BAR else "#" * (_LONGEST_BAR - 1) + ">"
    return f"{'#' * min(_BAR, round(share * _BAR)):<{_BAR}}|{tail}"


def _gaps(rows: Sequence[Judged]) -> list[tuple[str, list[str]]]:
    """The limits of what does not exist, and of what is not known."""
    return [
        ("no such", [f"{_label(row)}: there {_known(row.near)}" for row in rows if row.near is not None]),
        ("unknown", [f"{_label(row)}: {row.missing}" for row in rows if row.missing]),
    ]


def _known_by(rows: Sequence[Judged]) -> tuple[str, Sequence[str]]:
    known = dict.fromkeys(f"{_noun(row)} {row.known_by}" for row in rows if row.value is not None)
    return "known by", ["; ".join(known)] if known else []


def _known(names: Sequence[str]) -> str:
    if not names:
        return "is none at all"
    return f"{'is' if len(names) == 1 else 'are'} {', '.join(names)}"


def _noun(row: Judged) -> str:
    return {
        "sent_bytes": "sent",
        "memory_bytes": _MEMORY.get(row.limit.name, ""),
        "seconds": "seconds",
    }.get(row.limit.part, row.limit.part)


# ---------------------------------------------------------------- JSON


def budget_json(checked: CheckedBudget, capture: Mapping[str, Any]) -> str:
    """The same for other programs, in a fixed order; `capture` says of which program."""
    reasons = dict(checked.reasons)
    found = {
        "status": checked.status,
        "schema": SCHEMA,
        "sentence": checked.headline,
        "capture": capture,
        "parts": [_part(row) for row in checked.rows],
        "because": list(reasons.get("because", ())),
        "remove": list(reasons.get("remove", ())),
        "changed": None if checked.diff is None else str(checked.diff.sentence),
        "figures": [] if checked.diff is None else [_figure(one) for one in checked.diff.data.figures],
    }
    return json.dumps(found, indent=1, ensure_ascii=True)


def _figure(one: Figure) -> dict[str, Any]:
    return {"name": one.name, "unit": one.unit, "base": one.before, "now": one.after, "known_by": one.provenance}


def _part(row: Judged) -> dict[str, Any]:
    return {
        "part": row.limit.part,
        "name": row.limit.name,
        "base": row.base,
        "now": row.value,
        "allowed": row.limit.most,
        "state": row.state,
        "ok": row.state == "ok",
        "known_by": row.known_by,
        "at_least": row.is_least,
        "missing": row.missing,
        "near": row.near,
    }


# ---------------------------------------------------------------- a comment


def budget_markdown(checked: CheckedBudget) -> str:
    """A comment for a pull request: the answer, a table, what caused it, and the collectives folded."""
    record, diff = checked.record, checked.diff
    answers = [checked.sentence, *([str(diff.sentence)] if diff is not None and checked.rows else [])]
    sizes = {} if record.mesh is None else record.mesh.sizes
    mesh = " × ".join(f"{code_in_markdown(name)} {size}" for name, size in sizes.items())
    jax = record.versions.get("jax", "")
    facts = ("`pjit_inspect check`", mesh, f"JAX {jax}" if jax else "")
    blocks = [
        f"### {code_in_markdown(record.name)}: {in_markdown('; '.join(answers))}",
        " · ".join(filter(None, facts)),
        "\n".join(_rows(checked)),
        *_because(checked),
        *(_changed_lines(diff) if diff is not None else ()),
        *(_changed_collectives(diff) if diff is not None else ()),
    ]
    return "\n\n".join(blocks) + "\n"


def _rows(checked: CheckedBudget) -> Iterator[str]:
    has_base = checked.diff is not None
    yield "| | base | this | | allowed | known by |" if has_base else "| | this | allowed | known by |"
    yield "|:--|--:|--:|--:|--:|:--|" if has_base else "|:--|--:|--:|:--|"
    for row in checked.rows:
        write, unit = _writer(row)
        label = in_markdown(f"{_label(row)}, {unit}" if unit else _label(row))
        now = _figures(row)[0].rpartition(" -> ")[2]
        now = f"**{now}**" if row.state != "ok" else now
        base = ["unknown" if row.base is None else write(row.base)] if has_base else []
        change = [change_words(row.base, row.value)] if has_base else []
        yield f"| {' | '.join([label, *base, now, *change, write(row.limit.most), row.known_by])} |"
    budgeted = {_label(row) for row in checked.rows}
    for figure in () if checked.diff is None else checked.diff.data.figures:
        if figure.name in _FIGURES and figure.name not in budgeted and figure.is_comparable:
            before, after = (_plain(figure, value) for value in (figure.before, figure.after))
            change = change_words(figure.before, figure.after)
            yield f"| {figure.name} | {before} | {after} | {change} | | {figure.provenance} |"


def _plain(figure: Figure, value: float | None) -> str:
    if value is None:
        return "unknown"
    if figure.unit == "bytes":
        return bytes_text(int(value))
    return f"{value / 1e9:.3g} G{figure.unit}" if figure.unit else count_text(int(value))


def _because(checked: CheckedBudget) -> Iterator[str]:
    reasons = dict(checked.reasons)
    if because := reasons.get("because"):
        yield "**Because**\n\n" + "\n".join(f"- {in_markdown(line)}" for line in because)
    if remove := reasons.get("remove"):
        yield "**Remove**\n\n" + "\n".join(f"- {in_markdown(line)}" for line in remove)
    for title, lines in _gaps(checked.rows):
        if lines:
            yield f"**{title.capitalize()}**\n\n" + "\n".join(f"- {in_markdown(line)}" for line in lines)


def _changed_lines(diff: Diff) -> Iterator[str]:
    """The user's lines that only one of the programs has."""
    lines = [f"{'-' if one.after is None else '+'} {one.text}" for one in diff.data.source]
    if lines:
        more = [f"  and {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
        yield f"Lines that differ:\n\n{lines_in_markdown([*lines[:_MOST_LINES], *more], 'diff')}"


def _changed_collectives(diff: Diff) -> Iterator[str]:
    came, went = diff.collectives.added, diff.collectives.removed
    if not came and not went:
        return
    rows = [*_marked("+", came), *_marked("−", went)]
    more = [f"\nand {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else []
    same = diff.collectives.same
    title = f"{plural(len(came), 'collective')} came, {len(went)} went, {same} are the same"
    table = ["| | collective | sent | where | why |", "|:--|:--|--:|:--|:--|", *rows[:_MOST_ROWS], *more]
    yield f"<details><summary>{title}</summary>\n\n" + "\n".join(table) + "\n\n</details>"


def _marked(sign: str, rows: CollectiveTable | Iterable[Collective]) -> Iterator[str]:
    for row in rows:
        often = "" if row.count == 1 else f" × {count_text(row.count)}"
        where = in_markdown(code_in_markdown(row.source[0].where)) if row.source else ""
        what, sent = in_markdown(f"{row.kind} over `{row.axes_text}`{often}"), bytes_text(row.sent_bytes)
        yield f"| {sign} | {what} | {sent} | {where} | {in_markdown(row.why)} |"
