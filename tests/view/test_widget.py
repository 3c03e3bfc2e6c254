"""The live view: tabs, the filter by axis, and the details of what is selected."""

from __future__ import annotations

import view_reports

from pjit_inspect.view.widget import record_widget


def _pages(widget) -> dict:
    return dict(zip(widget.titles, widget.children, strict=True))


def test_the_tabs_are_the_sections_and_the_texts():
    widget = record_widget(view_reports.mlp("tensor"), {"jaxpr": "{ lambda ; a <b> }"})
    pages = _pages(widget)
    assert list(pages) == ["Summary", "Arrays", "Collectives", "Kernels", "jaxpr"]
    assert "a &lt;b&gt; }" in pages["jaxpr"].value


def test_the_filter_leaves_the_collectives_over_one_axis():
    axis, rows, details = _pages(record_widget(view_reports.train_step()))["Collectives"].children
    assert axis.options == ("every axis", "model", "data", "data x model", "no axis")
    axis.value = "data x model"
    assert len(rows.options) == 1
    assert "data \u00d7 model" in details.value


def test_selecting_a_collective_shows_its_groups_on_the_mesh():
    _, rows, details = _pages(record_widget(view_reports.train_step()))["Collectives"].children
    before = details.value
    rows.value = 4
    assert details.value != before
    # The gradient all-reduce goes over data: four groups of two, the first on devices 0 and 4.
    assert "Devices {0 4} of the mesh" in details.value


def test_selecting_a_collective_says_why_it_is_there():
    _, rows, details = _pages(record_widget(view_reports.explained()))["Collectives"].children
    rows.value = 1
    assert "sums over dimension 0 of" in details.value


def test_a_record_without_collectives_has_no_such_tab():
    assert "Collectives" not in record_widget(view_reports.one_device()).titles
    assert "Collectives" not in record_widget(view_reports.without_hlo()).titles


def test_its_text_has_no_id_and_its_html_is_the_static_display():
    first, second = (record_widget(view_reports.mlp("tensor"))._repr_mimebundle_() for _ in range(2))
    assert first["text/plain"] == second["text/plain"] == "<pjit_inspect widget: mlp, 1 collective>"
    assert first["text/html"] == second["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in first


def test_hostile_names_do_not_break_it():
    pages = _pages(record_widget(view_reports.hostile(), {"<b>": "\x00"}))
    assert "<script" not in "".join(page.value for page in pages.values() if hasattr(page, "value"))
