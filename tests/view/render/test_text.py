"""The text form: facts worked out by hand, lines that fit, nothing that harms a terminal."""

from __future__ import annotations

import dataclasses

import pytest
import view_reports
from hypothesis import given, settings
from hypothesis import strategies as st

from pjit_inspect.model.record.record import MemoryStats, RecordData
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.fusion import Fusion, FusionTable
from pjit_inspect.view.document.document import Column, Document, Line, Listing, Quote, Row, TableBlock, Text
from pjit_inspect.view.document.printable import cell_width
from pjit_inspect.view.record.arrays import donated_in_vain
from pjit_inspect.view.record.record import ViewOptions, record_view
from pjit_inspect.view.render.text import to_text

REPORTS = view_reports.every_report()
NAMES = st.text(max_size=300)


def text_of(name: str, **options) -> str:
    return to_text(record_view(REPORTS[name], options=ViewOptions(**options)))


def joined(text: str) -> str:
    return " ".join(text.split())


def test_the_title_says_what_was_compiled_and_where():
    title = text_of("train_step").splitlines()[0]
    assert title == (
        "train_step  jit  called at In [7]:1, defined at train.py:39  mesh data=2 x model=4, 8 cpu devices"
    )


def test_the_answer_says_how_much_over_which_axes_and_what_is_replicated():
    # 1,248.19 + 150.91 + 0.03 + 0.03 = 1,399.16 MiB. Two layer norms of 4 layers: 8 arrays of 1024 bf16 (2 KiB) and 8
    # of 1024 f32 (4 KiB) are on all devices, 48 KiB together; the two batches are split over data only.
    assert (
        "51 collectives; each device sends 1,399 MiB per call: 1,248 MiB over model (21), 151 MiB over data (28), "
        "61.4 KiB elsewhere (2). Replicated: 16 of 70 inputs (48 KiB on every device); 2 more in part."
    ) in joined(text_of("train_step"))


def test_one_axis_is_named_once():
    # One all-reduce of 2 KiB over 8 devices: a ring sends 2 * 7/8 of it.
    assert "1 collective; each device sends 3.50 KiB per call, all over X." in joined(text_of("mlp_tensor"))


def test_a_program_without_collectives_says_that_the_devices_do_not_communicate():
    text = joined(text_of("mlp_data"))
    assert "No collectives: the devices do not communicate." in text
    assert "Replicated: 2 of 3 inputs (W1, W2; 32 KiB on every device)." in text


def test_a_program_on_one_device_says_so():
    assert "One device: nothing to communicate." in text_of("one_device")


def test_unknown_collectives_are_unknown_and_say_why():
    text = text_of("without_hlo")
    assert "Collectives unknown: jaxlib has no get_compiled_hlo." in text
    assert "inputs unknown: the shardings are opaque" in text
    assert "No collectives" not in text


def test_an_unknown_trip_count_makes_the_sum_conditional():
    text = joined(text_of("ranks"))
    assert "if these run once, each device sends 96 KiB per call" in text


def test_a_loop_says_how_often_its_collective_runs():
    # 63/64 of 2 MiB (64 shards of 32 KiB) for each of 48 trips: 94.5 MiB.
    assert "1 collective, run 48 times; each device sends 94.5 MiB per call, all over model." in joined(text_of("huge"))


def test_equal_arrays_of_layers_share_a_row():
    text = text_of("train_step")
    row = next(line for line in text.splitlines() if "params['layers'][*]['w1']" in line)
    # 1024 x 4096 over data=2 x model=4, bf16: 512 x 1024 x 2 bytes = 1 MiB.
    assert row.split() == [
        "params['layers'][*]['w1']",
        "x",
        "4",
        "bf16[1024,4096]",
        "[512,1024]",
        "1.00",
        "P('data',",
        "'model')",
        "none",
    ]


def test_devices_stand_before_the_slice_they_hold():
    lines = text_of("mlp_tensor").splitlines()
    below = lines[next(i for i, line in enumerate(lines) if line.startswith("W1")) + 1]
    assert below.startswith("    device 0 [:, 0:16]   1 [:, 16:32]   2 [:, 32:48]")
    assert below.endswith(" ...")


def test_outputs_that_lie_like_their_donated_input_are_counted():
    # 34 parameters and 34 momenta go out as they came in; the loss does not.
    assert "and 68 arrays in the buffers and the layout of donated inputs" in text_of("train_step")


def test_equal_collectives_share_a_row_with_their_sum():
    row = next(line for line in text_of("train_step").splitlines() if "train.py:12" in line)
    assert " ".join(row.split()) == ("4 all-reduce model 576.00 train.py:12 layer*/attn/dot_general bwd {0-3} {4-7}")


def test_rows_that_are_not_shown_are_counted_with_their_bytes():
    # Rows 13 to 21: 4 x 2 MiB in 16 collectives, and 0.05 + 0.05 + 0.09 + 0.03 + 0.03 MiB in 5.
    assert "21 in 9 more kinds, 8.25 MiB together" in text_of("train_step")


def test_the_source_line_stands_beside_the_place():
    row = next(line for line in text_of("mlp_tensor").splitlines() if "all-reduce" in line)
    assert "In [3]:4  return h @ W2" in row


def test_seconds_are_the_last_line_and_can_be_left_out():
    assert text_of("mlp_data").splitlines()[-1] == "trace 12 ms, lower 30 ms, compile 49 ms (measured)"
    assert "ms" not in text_of("mlp_data", show_times=False).split()


def test_every_missing_fact_is_named():
    data = dataclasses.replace(REPORTS["mlp_data"].data, missing={"memory": "no statistics", "jaxpr": "too old"})
    text = to_text(record_view(dataclasses.replace(REPORTS["mlp_data"], data=data)))
    assert "note  jaxpr unknown: too old" in text
    assert "note  memory unknown: no statistics" in text


def test_unused_and_donated_inputs_are_said_in_words():
    report = REPORTS["mlp_data"]
    x, w1, w2 = report.data.inputs
    inputs = (dataclasses.replace(x, donated=True), dataclasses.replace(w1, kept=False), w2)
    outputs = (dataclasses.replace(report.data.outputs[0], aliases="x"),)
    data = dataclasses.replace(report.data, inputs=inputs, outputs=outputs)
    text = to_text(record_view(dataclasses.replace(report, data=data)))
    assert "unused: jit dropped it" in text
    assert "    donated   device 0" in text
    assert "    reuses x   device 0" in text
    # W1 is not on the devices: 1 of 2 inputs is replicated.
    assert "Replicated: 1 of 2 inputs (W2; 16 KiB on every device)." in joined(text)


@pytest.mark.parametrize(
    ("opcodes", "words"),
    [
        (("add",), "add"),
        (("add", "abs", "exp", "sin", "tan"), "add, abs, exp, sin, tan"),
        (("add", "abs", "exp", "sin", "tan", "cos"), "add, abs, exp, sin, 2 more"),
    ],
)
def test_one_opcode_more_is_named_and_not_counted(opcodes, words):
    kernel = Fusion(kind="loop", name="f", instructions=tuple((opcode, 1) for opcode in opcodes), outputs=("f32[4]",))
    report = dataclasses.replace(REPORTS["mlp_data"], fusions=FusionTable((kernel,)))
    assert f" {words} " in joined(to_text(record_view(report)))


def _donating_x(aliases: str | None, memory: MemoryStats | None) -> RecordData:
    """The first record with `x` and `W1` donated; its output reuses what `aliases` names."""
    data = REPORTS["mlp_data"].data
    x, w1, w2 = data.inputs
    inputs = (dataclasses.replace(x, donated=True), dataclasses.replace(w1, donated=True), w2)
    outputs = (dataclasses.replace(data.outputs[0], aliases=aliases),)
    return dataclasses.replace(data, inputs=inputs, outputs=outputs, memory=memory)


@pytest.mark.parametrize(
    ("aliases", "memory", "in_vain"),
    [
        ("x", None, {"W1"}),
        (None, MemoryStats(alias_bytes=0), {"x", "W1"}),
        # XLA counts reused bytes, or does not say, and which outputs they are is not known: nothing is claimed.
        (None, MemoryStats(alias_bytes=256), set()),
        (None, MemoryStats(), set()),
        (None, None, set()),
    ],
)
def test_a_donation_that_no_output_uses_is_said_where_it_is_known(aliases, memory, in_vain):
    data = _donating_x(aliases, memory)
    assert donated_in_vain(data) == in_vain
    text = to_text(record_view(dataclasses.replace(REPORTS["mlp_data"], data=data)))
    assert text.count("donated, but no output reuses it") == len(in_vain)


@pytest.mark.parametrize("name", REPORTS)
def test_the_same_report_gives_the_same_text(name):
    assert to_text(record_view(view_reports.every_report()[name])) == text_of(name)


@pytest.mark.parametrize("name", [name for name in REPORTS if name != "hostile"])
def test_text_is_ascii(name):
    assert text_of(name).isascii()


@pytest.mark.parametrize("name", REPORTS)
@given(width=st.integers(40, 200))
@settings(max_examples=25)
def test_no_line_is_longer_than_asked_or_ends_in_a_space(name, width):
    document = DOCUMENTS[name]
    # Code to copy stays as it is.
    code = {line for block in document.blocks if isinstance(block, Listing) for line in block.lines}
    for line in to_text(document, width=width).splitlines():
        assert cell_width(line) <= width or line in code
        assert line == line.rstrip()


DOCUMENTS = {name: record_view(report) for name, report in REPORTS.items()}


@given(names=st.lists(NAMES, min_size=1, max_size=4), width=st.integers(40, 120))
def test_no_name_breaks_the_text(names, width):
    base = REPORTS["mlp_tensor"]
    inputs = tuple(dataclasses.replace(base.data.inputs[0], path=name) for name in names)
    rows = tuple(dataclasses.replace(base.collectives[0], op_name=name) for name in names)
    data = dataclasses.replace(base.data, name=names[0], inputs=inputs, missing={"hlo": names[-1]})
    report = dataclasses.replace(base, data=data, collectives=CollectiveTable(rows), notes=tuple(names))
    text = to_text(record_view(report), width=width)
    for line in text.split("\n"):
        assert cell_width(line) <= width
        assert line.isprintable()


@given(cells=st.lists(st.lists(NAMES, min_size=3, max_size=3), min_size=1, max_size=4), width=st.integers(40, 90))
def test_any_table_fits(cells, width):
    columns = (Column(title="a", shrink=True), Column(title="bb"), Column(title="c", align="right"))
    table = TableBlock(columns=columns, rows=tuple(Row(tuple((Quote(cell),) for cell in row)) for row in cells))
    for line in to_text(Document(blocks=(table,)), width=width).split("\n"):
        assert cell_width(line) <= width


def test_an_optional_column_goes_before_others_are_unreadable():
    columns = (Column(title="name", shrink=True), Column(title="source", shrink=True, optional=True))
    row = Row(((Quote("n" * 30),), (Quote("s" * 50),)))
    document = Document(blocks=(TableBlock(columns=columns, rows=(row,)),))
    assert "s" * 8 in to_text(document, width=60)
    long = Row(((Quote("n" * 30),), (Text("s" * 50),)))
    fixed = (columns[0], Column(title="source", optional=True))
    assert to_text(Document(blocks=(TableBlock(columns=fixed, rows=(long,)),)), width=60) == "name\n" + "n" * 30


def test_a_width_nobody_can_read_is_refused():
    with pytest.raises(ValueError, match="at least 40"):
        to_text(Document(blocks=(Line((Text("x"),)),)), width=39)


def test_terminal_escapes_are_shown_not_sent():
    text = text_of("hostile")
    assert "\x1b" not in text
    assert "\\x1b[31m" in text
    assert "\u202e" not in text
