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
