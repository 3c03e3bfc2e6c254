"""The index of the pages that pytest's plugin writes: why tests fail, the programs, the tests. It loads nothing.

Not its job: the pages (`view.pages`), or running tests (`testing.plugin`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural

_STYLE = """
:root{color-scheme:light dark;--text:#1f2328;--dim:#59626d;--rule:#d9dde2;--bg:#fff;--panel:#f4f5f7;--note:#a32a1c;
--ok:#2e6f18;--ax-0:#0b7a75;--ax-1:#b04a06;--ax-2:#6a4bc0;--ax-3:#5f6772;--code:ui-monospace,Menlo,Consolas,
"DejaVu Sans Mono",monospace}
@media (prefers-color-scheme:dark){:root{--text:#e6e8eb;--dim:#a2abb6;--rule:#343941;--bg:#16181c;--panel:#1f2227;
--note:#ff9d8f;--ok:#9bd67f;--ax-0:#4cc9bf;--ax-1:#f0a05a;--ax-2:#b9a0f5;--ax-3:#a5adb8}}
body{margin:0 auto;padding:12px 16px;max-width:1200px;background:var(--bg);color:var(--text);
font:13px/1.45 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:16px;font-weight:600;margin:0 0 2px}h2{font-size:13px;font-weight:600;margin:18px 0 4px}
p{margin:0}a{color:inherit}code{font-family:var(--code);font-size:12px}.dim{color:var(--dim)}.note{color:var(--note)}
.ok{color:var(--ok)}.cause{border:1px solid var(--rule);border-left:3px solid var(--note);border-radius:4px;
padding:7px 10px;margin:6px 0;overflow-wrap:anywhere}.cause code{background:var(--panel);padding:0 3px}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}th{font-weight:400;color:var(--dim);font-size:12px}
td,th{text-align:left;padding:3px 12px 3px 0;border-bottom:1px solid var(--rule);vertical-align:baseline}
td.n,th.n{text-align:right;white-space:nowrap}td.s{white-space:nowrap;font-weight:600}
.bar{display:flex;height:11px;min-width:120px;background:var(--panel);border-radius:2px;overflow:hidden}
.key{display:inline-flex;align-items:center;gap:5px;margin-right:14px;font-size:12px;color:var(--dim)}
.key i{width:11px;height:11px;border-radius:2px}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_COLORS, _MOST_LINES = 4, 6


def report_index_page(tests: Sequence[dict[str, Any]]) -> str:
    """The index of the facts of some tests, as `testing.plugin` writes them, as one HTML page."""
    failed = [one for one in tests if one["outcome"] == "failed"]
    causes = _causes(failed)
    answer = f"All {plural(len(tests), 'test')} pass"
    if failed:
        why = "" if len(failed) == 1 else f", for {plural(len(causes), 'cause')}"
        answer = f"{len(failed)} of {plural(len(tests), 'test')} {'fails' if len(failed) == 1 else 'fail'}{why}"
    programs = _programs(tests)
    axes = list(dict.fromkeys(name for row in programs for name, _ in row["sent"]))
    body = [
        f"<h1{' class=note' if failed else ''}>{answer}</h1>",
        f'<p class="dim">{plural(len(programs), "program")}; each links to its page</p>',
        *(["<h2>Causes</h2>", *causes] if causes else []),
        "<h2>Programs</h2>",
        _table(("program", "sends", "", "collectives", "memory at the peak", ""), _program_rows(programs, axes)),
        '<p style="margin-top:6px">' + "".join(_key(n, name) for n, name in enumerate(axes)) + "</p>",
        '<p class="dim">sent: modelled (ring), per device and call; memory: of one device</p>',
        "<h2>Tests</h2>",
        _table(("", "test", "programs", "says"), [_test_row(one) for one in _ordered(tests, failed)]),
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(answer)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style></head><body>'
        f"{''.join(body)}</body></html>\n"
    )


def _ordered(tests: Sequence[dict[str, Any]], failed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*failed, *(one for one in tests if one not in failed)]


def _causes(failed: Iterable[dict[str, Any]]) -> list[str]:
    """A card for each cause, the one of most tests first."""
    groups: dict[tuple[tuple[str, ...], str], list[dict[str, Any]]] = {}
    for one in failed:
        # Lines that differ since the test passed explain what a program has more, and no wrong name in a test.
        lines = tuple(dict.fromkeys(line for row in one["records"] for line in row.get("lines", ())))
        because = next(iter(one["because"]), "")
        groups.setdefault((lines, "") if lines and because else ((), because or one["words"]), []).append(one)
    cards = []
    for (lines, cause), own in sorted(groups.items(), key=lambda item: -len(item[1])):
        shown = [f"<p><code>{_safe(line)}</code></p>" for line in lines[:_MOST_LINES]]
        cause = cause or own[0]["because"][0]
        fixes = dict.fromkeys(line for one in own for line in one["remove"])
        tests = ", ".join(one["test"].rpartition("::")[2] for one in own)
        cards.append(
            f'<div class="cause"><p><b>{plural(len(own), "test")}</b> <span class="dim">{_safe(tests)}</span></p>'
            f"{''.join(shown)}<p>{_words(cause)}</p>"
            + "".join(f'<p class="ok">{_words(line)}</p>' for line in fixes)
            + "</div>"
        )
    return cards


def _programs(tests: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The programs of all tests; equal ones of one name once, where possible one that is compared."""
    rows = [row for one in tests for row in one["records"]]
    rows.sort(key=lambda row: row["compared"] is not None)
    found = {(row["name"], str(row["sent"]), row["collectives"], row["peak_bytes"]): row for row in rows}
    return sorted(found.values(), key=lambda row: -sum(size for _, size in row["sent"]))


def _program_rows(programs: Sequence[dict[str, Any]], axes: Sequence[str]) -> list[str]:
    most = max((sum(size for _, size in row["sent"]) for row in programs), default=0) or 1
    rows = []
    for row in programs:
        before = row.get("before", {})
        figures = (("sent_bytes", bytes_text), ("collectives", count_text), ("peak_bytes", bytes_text))
        sent, number, peak = (_change(before.get(name), row[name], write) for name, write in figures)
        bar = "".join(
            f'<i style="width:{100 * size / most:.2f}%;background:var(--ax-{axes.index(name) % _COLORS})" '
            f'title="{_safe(name)}: {bytes_text(size)}"></i>'
            for name, size in sorted(row["sent"], key=lambda own: axes.index(own[0]))
        )
        compared = f'<a href="{escape(row["compared"])}">compared</a>' if row["compared"] else ""
        rows.append(
            f'<td>{_link(row)}</td><td class="n">{sent}</td><td style="width:30%"><div class="bar">{bar}</div></td>'
            f'<td class="n">{number}</td><td class="n">{peak}</td><td>{compared}</td>'
        )
    return rows


def _change(before: int | None, now: int | None, write: Any) -> str:
    """A figure, and what it was when the test passed, where it differs."""
    if before is None or before == now:
        return write(now)
    return f"{write(before)} → <b>{write(now)}</b>"


def _test_row(one: dict[str, Any]) -> str:
    mark = {"failed": '<span class="note">✕ fails</span>', "passed": '<span class="ok">✓</span>'}
    pages = ", ".join(map(_link, one["records"]))
    outcome = mark.get(one["outcome"], _safe(one["outcome"]))
    cells = f"<td><code>{_safe(one['test'])}</code></td><td>{pages}</td><td>{_words(one['words'])}</td>"
    return f'<td class="s">{outcome}</td>{cells}'


def _link(row: dict[str, Any]) -> str:
    return f'<a href="{escape(row["page"])}"><code>{_safe(row["name"])}</code></a>'


def _table(titles: Sequence[str], rows: Sequence[str]) -> str:
    right = ("sends", "collectives", "memory at the peak")
    head = "".join(f"<th{' class=n' if title in right else ''}>{title}</th>" for title in titles)
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(f"<tr>{row}</tr>" for row in rows)}</table></div>'


def _key(number: int, name: str) -> str:
    return f'<span class="key"><i style="background:var(--ax-{number % _COLORS})"></i>{_safe(name)}</span>'


def _words(text: str) -> str:
    """A sentence whose backticks hold code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _safe(text)
    return "".join(f"<code>{_safe(part)}</code>" if i % 2 else _safe(part) for i, part in enumerate(parts))


def _safe(text: str) -> str:
    return escape(printable(text))
