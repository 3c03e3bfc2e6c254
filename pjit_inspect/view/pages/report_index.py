"""The index of the pages that pytest's plugin writes: plain HTML that loads nothing.

Not its job: the pages (`view.pages`), or running tests (`testing.plugin`).
"""

from __future__ import annotations

from html import escape
from typing import Any


def report_index_page(tests: list[dict[str, Any]]) -> str:
    """Tests that fail first, grouped by what failed; plain HTML that loads nothing."""
    failed = [one for one in tests if one["outcome"] == "failed"]
    rows = []
    for one in (*failed, *(own for own in tests if own not in failed)):
        pages = ", ".join(
            f'<a href="{escape(row["page"])}">{escape(row["name"])}</a> {row["collectives"]} collectives'
            + (f' (<a href="{escape(row["compared"])}">compared</a>)' if row.get("compared") else "")
            for row in one["records"]
        )
        cells = (escape(one["outcome"]), escape(one["test"]), pages, escape(one["words"]))
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    style = (
        ":root{color-scheme:light dark}body{font:14px/1.5 system-ui,sans-serif;margin:2rem;max-width:72rem}"
        "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .8rem .3rem 0;"
        "border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);vertical-align:top}"
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>pjit_inspect: {len(tests)} tests</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style>'
        f"<h1>{len(failed)} of {len(tests)} tests fail</h1><table>"
        "<tr><th>outcome</th><th>test</th><th>programs</th><th>what failed</th></tr>"
        f"{''.join(rows)}</table></html>\n"
    )
