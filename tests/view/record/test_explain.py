"""Why collectives are there: which are chosen, how they are gathered, what is said."""

from __future__ import annotations

import dataclasses

import pytest
import view_reports
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.words.sentence import axis, name, say
from pjit_inspect.view.document.printable import cell_width
from pjit_inspect.view.record.cause_groups import group_by_cause, kinds_words, place_words
from pjit_inspect.view.record.explain import explain_view, pick
from pjit_inspect.view.record.record import record_view
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text

REPORT = view_reports.explained()
ROWS = tuple(REPORT.collectives or ())
GATHERS, GRADIENTS, PERMUTE, SHUFFLE, UNKNOWN = ROWS[:4], ROWS[4], ROWS[5], ROWS[6], ROWS[7]


def explained(what: str | int | None = None) -> str:
    return " ".join(to_text(explain_view(REPORT, what)).split())


@pytest.mark.parametrize(
    ("what", "rows"),
    [
        (None, ROWS),
        ("all-gather", GATHERS),
        ("contraction", (GRADIENTS,)),
        ("reshard needed", GATHERS),
        ("reshard_needed", GATHERS),
        ("model", (UNKNOWN,)),
        ("backward", (GRADIENTS,)),
        (2, (*GATHERS, GRADIENTS)),
        (9, (*GATHERS, GRADIENTS, PERMUTE, SHUFFLE)),
        ("step.py:3", (GRADIENTS, PERMUTE, SHUFFLE)),
        ("all-gather.2", (GATHERS[2],)),
        ("p['layers'][1]['w1']", (GATHERS[1],)),
        ("p['layers'][*]['w1']", GATHERS),
        ("ppermute", (PERMUTE,)),
        ("mean()", (GRADIENTS,)),
    ],
)
def test_collectives_are_found_by_what_a_person_calls_them(what, rows):
    assert pick(ROWS, what).rows == rows


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("zebra", "no collective called 'zebra'. There are: kinds all-gather, all-reduce"),
        ("halo", "no collective because of halo. There are:"),
        ("reduce-scatter", "no collective of kind reduce-scatter."),
        ("optimizer", "no collective in the optimizer phase."),
        (77, "no collective at line 77."),
        ("", "no collective called ''."),
    ],
)
def test_what_nothing_fits_is_answered_with_what_there_is(what, words):
    text = explained(what)
    assert text.startswith(words)
    assert "lines 2, 3; names p['layers'][*]['w1']" in text


WARNED = XlaWarning(
    kind="full_rematerialization",
    text="[SPMD] Involuntary full rematerialization. ...",
    where="spmd_partitioner.cc:656",
    op_name="jit(step)/cos",
    source=(Frame(file="step.py", line=77),),
)


@pytest.mark.parametrize("what", ["full_replication", "full rematerialization", 77, "step.py:77", "jit(step)/cos"])
@pytest.mark.parametrize("report", [REPORT, view_reports.one_device()], ids=["collectives", "none"])
def test_a_warning_of_what_no_collective_is_because_of_is_told(what, report):
    text = to_text(explain_view(dataclasses.replace(report, warnings=(WARNED,)), what), width=100)
    assert "XLA warned" in text
    assert "involuntary full rematerialization: the partitioner knows no direct way" in text


@pytest.mark.parametrize("what", ["halo", "zebra", 78, ""])
def test_a_warning_of_something_else_is_not_told_there(what):
    report = dataclasses.replace(REPORT, warnings=(WARNED,))
    assert "XLA warned" not in to_text(explain_view(report, what), width=100)


@pytest.mark.parametrize("what", [1.5, True, ["model"], b"model"])
def test_what_is_no_name_and_no_line_is_refused(what):
    with pytest.raises(TypeError, match="explain takes a kind"):
        explain_view(REPORT, what)
    with pytest.raises(TypeError, match="explain takes a kind"):
        explain_view(view_reports.one_device(), what)


def test_collectives_of_equal_layers_are_one_finding_with_starred_names():
    first = group_by_cause(ROWS)[0]
    assert len(first.members) == 4
    assert first.sent_bytes == 4 * view_reports.MIB
    assert "`p['layers'][*]['w1']`" in first.reasons[0].sentence
    # The shape in the fact is no layer number.
    assert first.reasons[0].facts[0].endswith("shape [512], P('data', 'model')")


def test_a_single_collective_keeps_its_layer_number():
    (group,) = group_by_cause(ROWS[:1])
    assert "`p['layers'][0]['w1']`" in group.reasons[0].sentence


def test_a_combined_collective_gives_a_reason_for_each_part_most_bytes_first():
    (group,) = group_by_cause([GRADIENTS])
    assert [(reason.first.kind, reason.arrays) for reason in group.reasons] == [("contraction", 1), ("reduction", 1)]
    assert kinds_words(GRADIENTS) == "contraction +1"
    assert place_words(GRADIENTS) == "step.py:2-3"


def test_bytes_of_a_combined_collective_are_shared_by_the_bytes_of_its_parts():
    # 3 MiB for 2 of the contraction and 1 of the reduction; 11 MiB are sent in all.
    text = explained()
    assert "contraction 1 2.00 18 %" in text
    assert "reduction 1 1.00 9 %" in text


def test_every_mark_is_said():
    text = explained()
    for mark in (
        "one of 2 alike on this line",
        "2 arrays combined, across hosts",
        "a ring in place of all-gather, async beside 3 kernels",
        "indexing, by name alone forward, part of one exchange with 1 other collective",
        "The program does not tell why",
        "XLA warned note Involuntary full rematerialization of `h` at step.py:2",
    ):
        assert mark in text


def test_code_is_code_and_an_axis_has_its_colour_in_html():
    html = to_html(explain_view(REPORT, "all-gather"))
    assert "<tt>x @ w1</tt> (step.py:2) needs" in html
    assert 'Axis <span style="background:#0b7a75' in html
    assert "`" not in html


def test_an_argument_with_the_name_of_an_axis_is_no_axis():
    cause = Cause(
        kind="contraction",
        sentence=say("{} is summed over {}.", name("data"), axis("data")),
        payload_bytes=1,
    )
    rows = (dataclasses.replace(ROWS[0], causes=(cause,)),)
    html = to_html(explain_view(dataclasses.replace(REPORT, collectives=CollectiveTable(rows))))
    assert "<tt>data</tt> is summed over <span" in html


def test_the_display_of_a_record_says_why_for_the_most_expensive():
    text = to_text(record_view(REPORT))
    assert "why they are there  in 5 groups, most expensive first" in text
    assert "... and 2 more groups; record.explain() explains all" in text


def test_a_record_nobody_looked_at_for_causes_shows_none():
    text = to_text(record_view(view_reports.train_step()))
    assert "why they are there" not in text
    assert "cause" not in text


def test_without_collectives_the_answer_is_the_records():
    assert "One device: nothing to communicate." in to_text(explain_view(view_reports.one_device()))
    assert "Collectives unknown: jaxlib has no get_compiled_hlo" in to_text(explain_view(view_reports.without_hlo(), 3))


@given(sentence=st.text(max_size=300), width=st.integers(40, 120))
def test_no_sentence_breaks_the_report(sentence, width):
    cause = Cause(kind="halo", sentence=sentence, facts=(sentence,), value=sentence, payload_bytes=1)
    rows = tuple(dataclasses.replace(row, causes=(cause, cause)) for row in ROWS)
    report = dataclasses.replace(REPORT, collectives=CollectiveTable(rows), warnings=(sentence,))
    for what in (None, sentence):
        for line in to_text(explain_view(report, what), width=width).split("\n"):
            assert cell_width(line) <= width
            assert line.isprintable()
        assert "<script" not in to_html(explain_view(report, what))


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        ("halo", "exchange"),
        ("indexing", "exchange"),
        ("loop_predicate", "exchange"),
        ("output", "reshard"),
        ("full_replication", "reshard"),
        ("no_sharding_rule", "reshard"),
    ],
)
def test_several_collectives_for_one_need_are_a_reshard_only_where_a_sharding_changes(kind, step):
    cause = dataclasses.replace(ROWS[0].causes[0], kind=kind, serves_with=("all-gather.9",))
    report = dataclasses.replace(REPORT, collectives=CollectiveTable((dataclasses.replace(ROWS[0], causes=(cause,)),)))
    assert f"part of one {step} with 1 other collective" in " ".join(to_text(explain_view(report)).split())
