"""What the ledger says, as text, as HTML, as a figure and as a picture."""

from __future__ import annotations

import json

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.ledger import LedgerData, LedgerEntry, LedgerRow, Pattern, RepeatedReason
from pjit_inspect.model.record.reason import Reason, Resharding
from pjit_inspect.model.record.record import Timings
from pjit_inspect.view.charts.totals import timeline_chart
from pjit_inspect.view.figures.chart_figure import chart_figure
from pjit_inspect.view.pages.session import ledger_view
from pjit_inspect.view.record.record import ViewOptions
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text
from pjit_inspect.view.svg.chart_picture import draw_chart

FIRST = Reason(kind="first", sentence="first compile of `train_step`")
LONGER = Reason(kind="changed", sentence="`x`: length 511 -> 512 (dimension 1)", nearest=1)
COPIED = Resharding(
    path="w", given="device 0", wanted="P('x') on x=8", size_bytes=4096, sentence="`w` arrives as device 0"
)
PATTERN = Pattern(
    kind="varying dimension",
    name="train_step",
    path="x",
    compiles=2,
    cost_s=3.0,
    values=("510", "511", "512"),
    buckets=(512,),
    sentence="dimension 1 of `x` takes 3 lengths",
    advice="pad it to 512",
)


def entry(index: int, began_s: float, reason: Reason, **changes) -> LedgerEntry:
    timings = Timings(
        trace_s=0.5, lower_s=0.25, compile_s=2.0,
        trace_began_s=began_s, lower_began_s=began_s + 0.5, compile_began_s=began_s + 0.75,
    )  # fmt: skip
    fields = {"name": "train_step", "transform": "jit", "timings": timings, "disk": False, "thread": "MainThread"}
    return LedgerEntry(**(fields | {"index": index, "reason": reason, "cell": "In [3]"} | changes))


def row(*entries: LedgerEntry, **changes) -> LedgerRow:
    count = len(entries)
    fields = {
        "name": "train_step", "origin": "user", "where": Frame(file="train.py", line=41), "entries": entries,
        "trace_s": 0.5 * count, "lower_s": 0.25 * count, "compile_s": 2.0 * count, "missed": (("tracing", count),),
    }  # fmt: skip
    return LedgerRow(**(fields | changes))


LEDGER = LedgerData(
    rows=(
        row(
            entry(0, 1000.0, FIRST), entry(1, 1010.0, LONGER), from_disk=1,
            reasons=(RepeatedReason(sentence=LONGER.sentence, count=2, same=False),),
        ),
        row(entry(2, 1020.0, FIRST, name="add"), name="add", origin="eager", where=None),
    ),
    patterns=(PATTERN,),
)  # fmt: skip


def test_the_text_says_the_sum_what_repeats_and_each_function():
    lines = to_text(ledger_view(LEDGER)).splitlines()
    assert lines[0] == (
        "2 compiles of your functions, from 1 call site, 5.5 s in all (trace 1.0 s, lower 500 ms, XLA 4.0 s)"
    )
    assert "varying dimension  train_step  2 compiles, 3.0 s" in lines
    assert "  pad it to 512" in lines
    assert "compiles name where total trace lower XLA missed" in [" ".join(line.split()) for line in lines]
    table = next(line for line in lines if line.split()[:1] == ["2"] and "train.py:41" in line)
    assert " ".join(table.split()) == "2 train_step train.py:41 5.5 s 1.0 s 500 ms 4.0 s tracing 2, from disk 1"
    assert "  `x`: length 511 -> 512 (dimension 1) (the newest of 2 such)" in lines
    assert "... and 1 of eager operations (add, 2.8 s)" in lines


def test_without_times_nothing_in_it_is_measured():
    text = to_text(ledger_view(LEDGER, options=ViewOptions(show_times=False)))
    assert text.splitlines()[0] == "2 compiles of your functions, from 1 call site"
    assert " s" not in text.replace(" such", "").replace(" site", "").replace(" sum", "")
    assert "measured" not in text


def test_an_empty_ledger_says_so():
    assert to_text(ledger_view(LedgerData())) == "nothing was compiled"


def test_arguments_that_every_call_copies_are_noted_once():
    reason = Reason(kind="first", sentence="first", resharded=(COPIED,))
    ledger = LedgerData(rows=(row(entry(0, 0.0, reason), entry(1, 9.0, reason)),))
    text = to_text(ledger_view(ledger))
    assert text.count("`w` arrives as device 0") == 1
    assert "note  train_step: " in text


# ---------------------------------------------------------------- timeline


def test_a_timeline_has_a_bar_for_each_stage_and_a_mark_for_each_cell():
    chart = timeline_chart(LEDGER)
    assert [row.label for row in chart.rows] == ["train_step", "add"]
    assert [(part.name, start, part.value) for part, start in chart.rows[0].placed[:3]] == [
        ("trace", 0.0, 0.5),
        ("lower", 0.5, 0.25),
        ("XLA", 0.75, 2.0),
    ]
    assert chart.marks == (("In [3]", 0.0),)
    assert chart.end == 22.75


def test_a_program_from_disk_has_a_bar_of_its_own_and_one_without_times_has_none():
    entries = (entry(0, 0.0, FIRST, disk=True), entry(1, 0.0, FIRST, timings=Timings()))
    (bars,) = timeline_chart(LedgerData(rows=(row(*entries),))).rows
    assert [part.name for part in bars.parts] == ["trace", "lower", "from disk"]


def test_many_functions_are_twelve_rows():
    rows = tuple(row(entry(i, 10.0 * i, FIRST, name=f"f{i}"), name=f"f{i}") for i in range(40))
    chart = timeline_chart(LedgerData(rows=rows))
    assert len(chart.rows) == 12
    assert chart.rows[-1].label == "others"
    assert sum(len(bar.parts) for bar in chart.rows) == 120


def test_the_figure_is_a_plotly_figure_of_a_few_kilobytes():
    figure = chart_figure(timeline_chart(LEDGER))
    assert len(figure.to_json()) < 8_000
    assert [trace.name for trace in figure.data] == ["trace", "lower", "XLA"]
    assert list(figure.data[0].base) == [0.0, 10.0, 20.0]
    assert figure.data[0].customdata[1].endswith("length 511 -&gt; 512 (dimension 1)")


def test_names_are_escaped_in_the_figure_and_in_the_page():
    name = "<img src=x onerror=alert(1)>"
    ledger = LedgerData(
        rows=(row(entry(0, 0.0, FIRST, name=name), name=name),),
        patterns=(Pattern(kind="made anew", name=name, compiles=1, cost_s=0.0, sentence=name, advice=name),),
    )
    assert "<img" not in json.dumps(chart_figure(timeline_chart(ledger)).to_plotly_json(), default=list)
    assert "<img src=x" not in to_html(ledger_view(ledger))
    assert "<img" not in draw_chart(timeline_chart(ledger)).write()


def test_the_page_has_the_timeline_as_a_picture_with_words_for_it():
    page = to_html(ledger_view(LEDGER))
    assert 'alt="A timeline of 3 compiles: when each was traced, lowered and compiled."' in page
    assert "data:image/svg+xml" in page


def test_the_picture_of_an_empty_ledger_is_drawn():
    assert timeline_chart(LedgerData()).missing == "no seconds are known"
    assert draw_chart(timeline_chart(LedgerData())).write().startswith("<svg")
