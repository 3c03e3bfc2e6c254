"""The table of shardings: equal values in one row, under the line of source that makes them."""

from __future__ import annotations

import dataclasses

import view_reports
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.view.document.printable import cell_width
from pjit_inspect.view.record.shardings import group_values, shardings_view
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text

DATA = view_reports.explained().data
TABLE = view_reports.shardings()


def text_of(table: ShardingTable, width: int = 100) -> str:
    return to_text(shardings_view(DATA, table), width=width)


def on_lines(count: int) -> ShardingTable:
    """One value on each of many lines."""
    first = TABLE.rows[0]
    frames = [dataclasses.replace(first.source[0], line=number + 1) for number in range(count)]
    return dataclasses.replace(TABLE, rows=tuple(dataclasses.replace(first, source=(frame,)) for frame in frames))


def test_a_line_of_source_stands_over_the_values_it_makes():
    lines = text_of(TABLE).splitlines()
    at = lines.index("step.py:2  h = x @ p['w1']")
    assert lines[at + 1].split()[:5] == ["1", "dot_general", "fwd", "P('data',", "None)"]
    assert "axis `data`: argument `x`, through `dot_general`" in lines[at + 2]


def test_in_html_it_stands_beside_them_and_axes_have_their_colours():
    html = to_html(shardings_view(DATA, TABLE))
    assert "<b><tt>step.py:2</tt></b><br><tt>h = x @ p['w1']</tt>".replace("'", "&#x27;") in html
    assert 'title="from argument x, through dot_general"' in html
    assert 'background:#0b7a75;color:#fff;border-radius:3px;padding:0 5px;white-space:nowrap">data</span>' in html


def test_layer_numbers_are_starred_and_cell_numbers_are_not():
    first = TABLE.rows[0]
    alike = tuple(
        dataclasses.replace(first, origins={"data": f"argument `p['layers'][{layer}]`, through `mul` at In [2]:1"})
        for layer in range(2)
    )
    assert "`p['layers'][*]`, through `mul` at In [2]:1" in text_of(dataclasses.replace(TABLE, rows=alike), width=140)


def test_equal_layers_are_one_row():
    (layers,) = [group for group in group_values(TABLE.rows) if not group.first.op]
    assert layers.names == ("p['layers'][*]['w1']",)
    assert len(layers.members) == 2


def test_values_of_a_line_that_are_sharded_alike_are_one_row_when_there_are_many_lines():
    first = TABLE.rows[0]
    alike = tuple(dataclasses.replace(first, op=op) for op in ("dot_general", "mul", "mul", "add"))
    (group,) = group_values(alike)
    assert group.names == ("dot_general", "mul", "add")
    assert len(group_values(alike, by_name=True)) == 3
    many = dataclasses.replace(TABLE, rows=(*alike, *on_lines(6).rows))
    assert "5  dot_general +2 fwd" in text_of(many)


def test_the_answer_says_how_many_are_not_split_and_the_worst():
    # h and relu(h) lie on 4 of 8 devices each; 2 MiB on a device where an eighth of 4 MiB is 0.5.
    answer = " ".join(text_of(TABLE).splitlines()[1:3])
    assert "5 values on 8 devices: 2 not split over all of them, 0 replicated on every device" in answer
    assert "the most wasteful   has 1.50 MiB per device more than an even split; unknown for 1." in answer


def test_values_that_are_split_over_all_devices_are_said_to_be():
    assert "2 values on 8 devices: all are split over all of them." in text_of(TABLE.of("w1")[1:])


def test_one_device_has_nothing_to_split():
    assert "5 values on one device: nothing is split." in text_of(dataclasses.replace(TABLE, devices=1))


def test_shapes_of_one_shard_are_said_to_be():
    text = text_of(TABLE)
    assert "mul in shard_map" in text
    assert "note  inside shard_map, shapes are those of one shard" in text


def test_what_is_left_out_is_counted():
    assert "left out: 7 single numbers, 3 constants" in " ".join(text_of(TABLE).split())


def test_lines_that_are_not_shown_are_counted():
    assert "... and 38 values on 38 more lines; .at_line(N) shows one" in text_of(on_lines(50))
    assert "and 10 values on 10 more lines" in to_html(shardings_view(DATA, on_lines(50)))


def test_an_empty_table_says_why():
    empty = ShardingTable(missing="the program was made for the GSPMD partitioner, which does not tell")
    assert text_of(empty) == "no shardings: the program was made for the GSPMD partitioner, which does not tell"


@given(name=st.text(max_size=300), width=st.integers(40, 140))
def test_no_name_breaks_the_table(name, width):
    rows = tuple(
        dataclasses.replace(row, name=name, op=name if row.op else "", spec=(name, (name, name)), origins={name: name})
        for row in TABLE
    )
    document = shardings_view(DATA, dataclasses.replace(TABLE, rows=rows, left_out=((name, 3),)))
    for line in to_text(document, width=width).split("\n"):
        assert cell_width(line) <= width
        assert line.isprintable()
    assert "<script" not in to_html(document)
