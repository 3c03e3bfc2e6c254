"""A table is one list of columns: titles, cells, the unit of its figures, and what is left out."""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.program.source import Frame
from pjit_inspect.view.document.columns import (
    codes,
    durations,
    more_lines,
    numbers,
    only_cells,
    places,
    sizes,
    spec_or,
    table_of,
)
from pjit_inspect.view.document.document import UNKNOWN, Column, Document, Number, Quote, Rest, SpecLabel, Text
from pjit_inspect.view.document.grouping import grouped, shared_name
from pjit_inspect.view.inspector.words import table_data
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text


@dataclass(frozen=True)
class Thing:
    name: str
    size: int | None
    count: int | None = 1
    at: Frame | None = None


COLUMNS = (
    numbers("n", lambda thing: thing.count),
    codes("name", lambda thing: thing.name, shrink=True),
    sizes("each {unit}", lambda thing: thing.size),
    sizes("all", lambda thing: None if thing.size is None else thing.size * thing.count, "modelled"),
    places("where", lambda thing: thing.at),
)
THINGS = [Thing("a", 2**20, 3, Frame(file="train.py", line=4)), Thing("b", 2**19), Thing("", None, None)]


def lines(table) -> list[str]:
    return to_text(Document(blocks=(table,))).splitlines()


def test_all_figures_of_a_table_have_the_unit_of_the_largest():
    assert [line.split() for line in lines(table_of(COLUMNS, THINGS))] == [
        ["n", "name", "each", "MiB", "all", "where"],
        ["3", "a", "1.00", "3.00", "train.py:4"],
        ["1", "b", "0.50", "0.50"],
        ["unknown", "unknown", "unknown"],
    ]


def test_without_a_unit_bytes_are_plain_numbers():
    assert lines(table_of(COLUMNS, THINGS[:1], unit=""))[1].split() == [
        "3",
        "a",
        "1,048,576",
        "3,145,728",
        "train.py:4",
    ]


def test_times_have_one_unit_too():
    table = table_of([durations("{unit}", lambda us: us)], [41_234.0, 12.0])
    assert lines(table) == ["   ms", "41.23", " 0.01"]


def test_figures_keep_how_they_are_known():
    row = table_of(COLUMNS, THINGS[:1]).rows[0]
    assert row.cells[3] == (Number("3.00", provenance="modelled"),)


def test_text_html_and_the_inspector_say_the_same():
    table = table_of(COLUMNS, THINGS)
    html, data = to_html(Document(blocks=(table,))), table_data(table)
    assert data["titles"] == ["n", "name", "each MiB", "all", "where"]
    assert data["right"] == [True, False, True, True, False]
    assert data["rows"][0][1] == [{"code": "a"}]
    assert all(words in html for words in ("each MiB", "3.00", "train.py:4"))


def test_what_is_left_out_is_counted_and_found():
    many = [Thing(f"t{i}", 1) for i in range(9)]
    table = table_of(
        COLUMNS, many, shown=4, text_rows=2, folded=3, rest=lambda hidden: f"{len(hidden)} more", where="; x has all"
    )
    assert [line.split()[1] for line in lines(table)[1:3]] == ["t0", "t1"]
    assert lines(table)[3:] == ["7 more; x has all"]
    assert isinstance(table.rest, Rest)
    assert table.rest.summary == (Text("5 more"),)
    assert [row.cells[1] for row in table.rest.rows] == [
        (Quote("t4"),),
        (Quote("t5"),),
        (Quote("t6"),),
        (Text("2 more"),),
    ]


def test_a_table_that_shows_all_leaves_nothing_out():
    table = table_of(COLUMNS, THINGS, shown=3, text_rows=3, rest=lambda hidden: "more")
    assert (table.text_rest, table.rest) == ((), None)


def test_a_cell_is_words_a_span_several_or_nothing():
    columns = [Column("", lambda value: value)]
    values = ["words", Quote("x"), (Text("a"), Quote("b")), None]
    cells = [row.cells[0] for row in table_of(columns, values).rows]
    assert cells == [(Text("words"),), (Quote("x"),), (Text("a"), Quote("b")), ()]


def test_items_are_shown_under_their_row():
    table = table_of(COLUMNS, THINGS[:1], under=lambda thing: ((Text(f"under {thing.name}"),),))
    assert lines(table)[2].strip() == "under a"


def test_a_place_is_a_frame_or_the_innermost_of_several():
    inner, outer = Frame(file="a.py", line=1), Frame(file="b.py", line=2)
    column = places("where", lambda frames: frames, missing=UNKNOWN)
    cells = [row.cells[0] for row in table_of([column], [inner, (inner, outer), (), None]).rows]
    assert cells == [(Quote("a.py:1"),), (Quote("a.py:1"),), UNKNOWN, UNKNOWN]


def test_a_spec_that_is_not_known_is_said_in_words():
    assert spec_or(("data", None)) == SpecLabel(("data", None))
    assert spec_or(None, "on no mesh") == Text("on no mesh", "dim")


def test_a_row_of_a_few_cells_has_nothing_elsewhere():
    assert only_cells(COLUMNS, {1: "2 more"}).cells == ((), (Text("2 more"),), (), (), ())


def test_a_line_counts_what_is_left_out():
    assert [to_text(Document(blocks=tuple(more_lines(*given)))) for given in ((1, "row"), (1200, "row"))] == [
        "... and 1 more row",
        "... and 1,200 more rows",
    ]
    assert to_text(Document(blocks=tuple(more_lines(2, "process", "processes", tail="; all")))) == (
        "... and 2 more processes; all"
    )
    assert more_lines(0, "row") == []


def test_items_with_equal_keys_are_together_in_order_of_appearance():
    assert grouped([3, 1, 4, 1, 5], lambda number: number % 2) == {1: (3, 1, 1, 5), 0: (4,)}


def test_a_group_has_the_one_name_or_the_pattern_of_all():
    assert shared_name(["l0", "l0"], lambda name: "l*") == "l0"
    assert shared_name(["l0", "l1"], lambda name: "l*") == "l*"
