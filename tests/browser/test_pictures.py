"""Pictures of what a collective does: drawn for every kind, and words beside them, never on them."""

from __future__ import annotations

import dataclasses

import pytest
from pages import REPORTS, page_of

from pjit_inspect.model.report.collective import Collective, CollectiveTable

GAP = """() => [...document.querySelectorAll(".moves figure")].map((figure) => {
  const shapes = [...figure.querySelectorAll("svg rect, svg text")].map((one) => one.getBoundingClientRect().bottom);
  return figure.querySelector("figcaption").getBoundingClientRect().top - Math.max(...shapes);
})"""


def report_of(kind: str, shape: tuple[int, ...], **more):
    groups = ((0, 1), (1, 2), (2, 3), (3, 0)) if kind == "collective-permute" else ((0, 1, 2, 3), (4, 5, 6, 7))
    row = Collective(
        kind=kind, axes=("model",), groups=groups, dtype="f32", local_shape=shape, payload_bytes=64, wire_bytes=64,
        instructions=(f"{kind}.1",), **more,
    )  # fmt: skip
    return dataclasses.replace(REPORTS["train_step"], collectives=CollectiveTable((row,)))


@pytest.mark.parametrize("shape", [(), (8,), (8, 16), (4, 8, 16), (2, 2, 8, 16)])
@pytest.mark.parametrize("kind", ["all-reduce", "collective-permute", "collective-broadcast"])
def test_no_picture_runs_into_its_words(visit, kind: str, shape: tuple[int, ...]):
    opened = visit(page_of(report_of(kind, shape)))
    gaps = opened.page.evaluate(GAP)
    assert len(gaps) == 2
    assert min(gaps) >= 0


def test_after_a_permute_round_a_ring_each_block_is_with_the_next_device(visit):
    opened = visit(page_of(report_of("collective-permute", (8, 16))))
    before, after = (
        figure.locator("svg .label + text").all_text_contents() for figure in opened.page.locator(".moves figure").all()
    )
    assert before == ["0", "1", "2", "3"]
    assert after == ["1", "2", "3", "0"]
    assert "4 passed on" in opened.select(".moves").inner_text()


def test_a_click_on_a_piece_follows_its_device_through_all_pictures(visit):
    opened = visit(page_of("train_step"), width=1280)
    opened.page.click("[data-tab=arrays]")
    opened.page.locator(".small-multiple").first.click()
    opened.page.locator(".details .shards .ring").first.click()
    opened.page.locator(".details .shards .ring.on").first.wait_for()
    assert opened.select(".meshwords").inner_text().startswith("device 0: sends")
    opened.page.click("[data-tab=collectives]")
    opened.page.locator(".row").first.click()
    opened.page.locator(".details .shards .ring.on").first.wait_for()


def test_the_switch_leaves_out_what_the_change_removes(visit):
    report = REPORTS["train_step"]
    rows = tuple(
        dataclasses.replace(row, instructions=(f"{row.kind}.{number}",))
        for number, row in enumerate(report.collectives or ())
    )
    report = dataclasses.replace(report, collectives=CollectiveTable(rows))
    names = tuple(name for row in rows if row.kind == "all-gather" for name in row.instructions)
    advice = REPORTS["advised"].advice
    assert advice is not None
    first = dataclasses.replace(advice[0], removes=names)
    changed = dataclasses.replace(advice, rows=(first, *advice.rows[1:]))
    opened = visit(page_of(dataclasses.replace(report, advice=changed)), width=1280)
    every, gone = opened.page.locator(".row").count(), opened.page.locator(".row.goes").count()
    assert gone == opened.page.locator(".row", has_text="all-gather").count() > 0
    opened.page.keyboard.press("x")  # the switch stands over a graph, which this report has not
    assert opened.page.locator(".row").count() == every - gone
    opened.page.keyboard.press("x")
    assert opened.page.locator(".row").count() == every
