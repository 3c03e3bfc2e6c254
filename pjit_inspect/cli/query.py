"""`python -m pjit_inspect query` and `skill`: questions about a program, each answered by one JSON envelope.

Not its job: the rows (`api.REPORTS`).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any

from pjit_inspect.api import REPORTS, UNITS, CompileRecord, ReportTable
from pjit_inspect.cli.common import add_command, capture_of, mesh_axes, program_of, words_of
from pjit_inspect.cli.sql import run_select
from pjit_inspect.errors import PjitInspectError
from pjit_inspect.parse.files.whole_file import write_whole

SCHEMA = "pjit_inspect/query/1"

_QUERY = """\
Ask one question about a program, and get one JSON envelope: status, schema, query, capture, units, known_by, total,
rows with stable ids, next.

FILE is what `report` takes. REPORT is a table; `sql` asks SQLite over all of them, each a table of this name, read
only. An answer of more than 64 kB goes to a file that the envelope names.

    query step.pjit collectives --over model --top 5
    query step.pjit sql "select axes, sum(sent_bytes) from collectives group by axes"

Status: OK; EMPTY (no such row; `near` has what there is); SAVED_TO_FILE; ERROR (`error` has kind, message and near).
Exit status: 0, and 2 for ERROR and wrong arguments."""

_SKILL = """\
Write SKILL.md, which tells an agent how to ask about programs, into a folder: DIR/pjit_inspect/SKILL.md.

Exit status: 0, 2 when it cannot be written."""

_MOST_BYTES = 64_000
_FILTERS = {"over": "axes", "kind": "kind"}
"""Option -> the column that it is about."""


class QueryError(ValueError):
    """A question that has no answer: what is wrong in a word, the message, and names that exist."""

    def __init__(self, kind: str, message: str, near: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.kind, self.near = kind, tuple(near)


def add_query(commands: Any) -> None:
    """Adds the command."""
    query = add_command(commands, "query", "ask one question about a program; the answer is JSON", _QUERY)
    query.add_argument("file", metavar="FILE", help="the file or directory of the program")
    query.add_argument("report", metavar="REPORT", nargs="?", help=", ".join([*REPORTS, "sql"]))
    query.add_argument("select", metavar="SELECT", nargs="?", help="after `sql`: a select statement over all reports")
    query.add_argument("--over", metavar="AXES", help='only over exactly these mesh axes: model, "data x model"')
    query.add_argument("--kind", metavar="KIND", help="only of this kind")
    query.add_argument("--top", metavar="N", type=int, help="at most N rows")
    query.add_argument("--after", metavar="ID", help="the rows after this one: `next` of the answer before")
    query.add_argument("--columns", metavar="NAME,...", help='these columns in place of the usual ones, or "all"')
    query.add_argument("--only", metavar="NAME", help="the program of this name, of several")
    query.add_argument("--mesh", metavar="AXIS=SIZE,...", type=mesh_axes, help="as for `report`")
    query.add_argument("--json", action="store_true", help="no other form: every answer is JSON")
    query.add_argument("--out", metavar="FILE", help="write the answer to this file")
    query.set_defaults(run=_query, trouble=2)


def add_skill(commands: Any) -> None:
    """Adds the command."""
    skill = add_command(commands, "skill", "write SKILL.md for agents into a folder", _SKILL)
    skill.add_argument("folder", metavar="DIR", help="the folder of skills")
    skill.add_argument("--json", action="store_true", help="print JSON in place of text")
    skill.set_defaults(run=_skill, trouble=2)


def _skill(options: argparse.Namespace) -> int:
    path = Path(options.folder) / "pjit_inspect" / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, files("pjit_inspect").joinpath("SKILL.md").read_bytes())
    told = {"status": "SAVED_TO_FILE", "schema": SCHEMA, "file_path": str(path)}
    sys.stdout.write(f"{json.dumps(told)}\n" if options.json else f"wrote {path}\n")
    return 0


def _query(options: argparse.Namespace) -> int:
    """Answers a question; the exit code."""
    envelope: dict[str, Any] = {"status": "ERROR", "schema": SCHEMA, "query": _words(options)}
    try:
        envelope |= _answer(options)
    except QueryError as error:
        envelope["error"] = {"kind": error.kind, "message": str(error), "near": list(error.near)}
    except (PjitInspectError, OSError, ValueError) as error:
        envelope["error"] = {"kind": "no program", "message": words_of(error), "near": []}
    options.code = 2 if envelope["status"] == "ERROR" else 0
    sys.stdout.write(f"{_sent(envelope, options.out)}\n")
    sys.stdout.flush()
    return options.code


def _words(options: argparse.Namespace) -> str:
    """The question in one line."""
    if options.select is not None:
        return f"{options.report} {options.select}"
    given = {name: getattr(options, name) for name in ("over", "kind", "top", "after", "columns")}
    return " ".join(
        [options.report or "", *(f"--{name} {value}" for name, value in given.items() if value is not None)]
    )


def _sent(envelope: Mapping[str, Any], out: str | None) -> str:
    """The envelope as text; where it is large, or a file is given, one that names the file with it."""
    text = _lines(envelope)
    if envelope["status"] == "ERROR" or (out is None and len(text) <= _MOST_BYTES):
        return text
    if out is None:
        with tempfile.NamedTemporaryFile("w", prefix="pjit_inspect-query-", suffix=".json", delete=False) as file:
            file.write(text)
        out = file.name
    else:
        write_whole(out, text)
    told = {"status": "SAVED_TO_FILE", "schema": SCHEMA, "query": envelope["query"], "file_path": out}
    return _lines({**told, "bytes": len(text), "total": envelope["total"]})


def _lines(envelope: Mapping[str, Any]) -> str:
    """JSON with a line for each field, and for each row."""
    lines = []
    for name, value in envelope.items():
        written = json.dumps(value, ensure_ascii=True)
        if name == "rows" and value:
            written = "[\n  " + ",\n  ".join(json.dumps(row, ensure_ascii=True) for row in value) + "\n ]"
        lines.append(f" {json.dumps(name)}: {written}")
    return "{\n" + ",\n".join(lines) + "\n}"


# ---------------------------------------------------------------- answers


def _answer(options: argparse.Namespace) -> dict[str, Any]:
    """The envelope's fields. Raises QueryError."""
    is_sql = options.report == "sql"
    if options.report is None or is_sql == (options.select is None):
        raise QueryError("wrong arguments", "a question is a REPORT, or `sql` and a SELECT", list(REPORTS))
    if not is_sql and options.report not in REPORTS:
        raise QueryError("no such report", f"there is no report {options.report!r}", _near(options.report, REPORTS))
    record, _ = program_of(options.file, only=options.only, mesh=options.mesh)
    capture = capture_of(record, options.file)
    if is_sql:
        return _of_sql(record, options, capture)
    return _of_report(record, options, capture)


def _of_report(record: CompileRecord, options: argparse.Namespace, capture: dict[str, Any]) -> dict[str, Any]:
    report = REPORTS[options.report]
    rows = rows_of(record, report)
    missing = report.missing(record)
    if missing and not rows:
        raise QueryError("not known", f"{options.report}: {missing}")
    capture["warnings"] += [f"{options.report}: {missing}"] if missing else []
    chosen, near = rows, dict[str, list[str]]()
    for option, column in _FILTERS.items():
        if (wanted := getattr(options, option)) is None:
            continue
        if column not in report.all_columns:
            having = [name for name, one in REPORTS.items() if column in one.all_columns]
            raise QueryError("no such column", f"{options.report} has no {column} for --{option}", having)
        chosen = [row for row in chosen if _word(row[column]) == wanted]
        near[column] = list(dict.fromkeys(_word(row[column]) for row in rows))
    shown, more = _page(chosen, options)
    columns = _columns(options.columns, report)
    found = {
        "status": "OK" if shown else "EMPTY",
        "capture": capture,
        "units": {name: UNITS[name][0] for name in columns if name in UNITS},
        "known_by": {name: UNITS[name][1] for name in columns if name in UNITS},
        "total": len(chosen),
        "rows": [{name: row[name] for name in ("id", *columns)} for row in shown],
        "next": more,
    }
    return found if shown else {**found, "near": near}


def rows_of(record: CompileRecord, report: ReportTable) -> list[dict[str, Any]]:
    """The rows of a report with all columns, each with an id that is its place in the whole table."""
    found = json.loads(report.rows(record).to_json())["rows"]
    return [{"id": f"{report.prefix}{number}", **row} for number, row in enumerate(found, 1)]


def all_rows(record: CompileRecord) -> dict[str, Any]:
    """Every report of a program that asks nobody, with what is unknown of it."""
    tables = {name: report for name, report in REPORTS.items() if name not in ("why", "advice")}
    missing = {name: why for name, report in tables.items() if (why := report.missing(record))}
    return {"missing": missing, **{name: rows_of(record, report) for name, report in tables.items()}}


def _word(value: Any) -> str:
    """A cell as an option names it: axes as "data x model", as the reports write them."""
    if isinstance(value, list):
        return " x ".join(map(str, value)) or "one device"
    return "no axis" if value is None else str(value)


def _page(rows: Sequence[dict[str, Any]], options: argparse.Namespace) -> tuple[list[dict[str, Any]], str | None]:
    """The rows to show, and the id after which the next begin; None at the end."""
    if options.top is not None and options.top < 1:
        raise QueryError("wrong arguments", f"--top {options.top}: expected 1 or more")
    begin = 0
    if options.after is not None:
        ids = [row["id"] for row in rows]
        if options.after not in ids:
            raise QueryError("no such row", f"there is no row {options.after!r}", _near(options.after, ids))
        begin = ids.index(options.after) + 1
    end = len(rows) if options.top is None else begin + options.top
    shown = list(rows[begin:end])
    return shown, shown[-1]["id"] if shown and end < len(rows) else None


def _columns(asked: str | None, report: ReportTable) -> list[str]:
    """The columns to show. Raises QueryError for one that the report lacks."""
    if asked is None:
        return list(report.columns)
    known = report.all_columns
    names = list(known) if asked == "all" else asked.split(",")
    for name in names:
        if name not in known:
            raise QueryError("no such column", f"there is no column {name!r}", _near(name, known))
    return names


def _of_sql(record: CompileRecord, options: argparse.Namespace, capture: dict[str, Any]) -> dict[str, Any]:
    def table(name: str) -> list[dict[str, Any]]:
        report = REPORTS[name]
        if missing := report.missing(record):
            capture["warnings"].append(f"{name}: {missing}")
        return [
            {key: _word(value) if isinstance(value, list) else value for key, value in row.items()}
            for row in rows_of(record, report)
        ]

    columns = {name: ["id", *report.all_columns] for name, report in REPORTS.items()}
    found = run_select(options.select, columns, table)
    if isinstance(found, str):
        asked = {name: own for name, own in columns.items() if name in options.select.lower()}
        raise QueryError("sql", found, _near_in(found, columns if "table" in found else asked))
    rows = found if options.top is None else found[: options.top]
    units = {name: UNITS[name] for name in (rows[0] if rows else ()) if name in UNITS}
    return {
        "status": "OK" if rows else "EMPTY",
        "capture": capture,
        "units": {name: unit for name, (unit, _) in units.items()},
        "known_by": {name: known_by for name, (_, known_by) in units.items()},
        "total": len(found),
        "rows": rows,
        "next": None,
    }


def _near_in(message: str, columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Names like the one that SQLite's message ends with: "no such column: bytes"."""
    name = message.rpartition(": ")[2]
    known = list(columns) if "table" in message else list(dict.fromkeys(n for own in columns.values() for n in own))
    return _near(name, known) if message.startswith("no such") else []


def _near(name: str, known: Any) -> list[str]:
    return get_close_matches(name, list(known), n=4, cutoff=0.4) or list(known)
