"""axe-core finds nothing wrong: in every pane, light and dark, narrow and wide, in a file and in a notebook."""

from __future__ import annotations

import pytest
from axe_rules import AROUND, wrong
from pages import frame_of, page_of, widget_of


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 900, 1280, 1600])
def test_a_file_has_no_fault(visit, scheme: str, width: int):
    opened = visit(page_of("train_step"), width=width, height=800, color_scheme=scheme)
    assert wrong(opened.page) == []
    if width > 640:
        opened.page.get_by_role("button", name="Filters").click()
        assert wrong(opened.page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("link", ["view=text", "view=traffic", "list=arrays&sel=params['w1']", "list=kernels"])
def test_no_pane_has_a_fault(visit, scheme: str, link: str):
    opened = visit(page_of("explained"), width=1280, height=800, color_scheme=scheme, hash=link)
    assert wrong(opened.page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["mlp_replicated", "hostile", "one_device", "without_hlo"])
def test_no_program_has_a_fault(visit, scheme: str, name: str):
    assert wrong(visit(page_of(name), width=900, color_scheme=scheme).page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_notebooks_frame_and_its_widget_have_no_fault(visit, scheme: str):
    opened = visit(frame_of("train_step"), ready=False, color_scheme=scheme)
    opened.page.frame_locator("iframe").locator(".heightbar").wait_for()
    assert wrong(opened.page.frames[1]) == []
    opened = visit(widget_of("train_step"), ready=False, color_scheme=scheme)
    opened.page.locator(".heightbar").wait_for()
    assert [one for one in wrong(opened.page) if one[0] not in AROUND] == []
