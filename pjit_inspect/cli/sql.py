"""A select statement over tables of rows, by SQLite in memory.

Not its job: the tables.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pjit_inspect.standard import load_standard

sqlite3: Any = load_standard("sqlite3")

_LONGEST_S = 30.0
_STEPS = 100_000
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


def run_select(
    statement: str, columns: Mapping[str, Sequence[str]], rows: Callable[[str], Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]] | str:
    """The rows of a select statement, or what is wrong with it, in SQLite's words.

    Args:
      statement: the statement. It can read these tables, and nothing else: no files, no changes.
      columns: the names of the columns of each table.
      rows: makes the rows of a table; called for those that the statement names.
    """
    base = sqlite3.connect(":memory:")
    try:
        words = set(re.findall(r"\w+", statement.lower()))
        for name, own in columns.items():
            base.execute(f"create table {name} ({', '.join(map(_quoted, own))})")
            if name in words:
                marks = ", ".join("?" * len(own))
                base.executemany(
                    f"insert into {name} values ({marks})", [[row.get(key) for key in own] for row in rows(name)]
                )
        base.commit()
        base.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY)
        end = time.monotonic() + _LONGEST_S
        base.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        found = base.execute(statement)
        names = [one[0] for one in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found]
    except sqlite3.Error as error:
        return str(error)
    finally:
        base.close()


def _quoted(name: str) -> str:
    return f'"{name}"'
