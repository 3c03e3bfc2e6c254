"""The two ways into a notebook: the frame beside the still display, and the widget with a model of its own."""

from __future__ import annotations

from html import escape

import view_reports
from pages import frame_of, widget_of

import pjit_inspect
from pjit_inspect.view.inspector.page import inspector_frame, inspector_page
from pjit_inspect.view.inspector.payload import InspectorInput, inspector_payload
from pjit_inspect.view.record.record import record_view
from pjit_inspect.view.render.html import to_html


def test_a_trusted_notebook_shows_the_inspector_and_hides_the_still_display(visit):
    opened = visit(frame_of("train_step"), ready=False)
    frame = opened.page.frame_locator("iframe")
    frame.locator("[data-ready]").wait_for()
    assert frame.locator(".row").count() > 5
    assert not opened.page.locator(".pjit-inspect-still").is_visible()


def test_without_the_frame_the_still_display_stays(visit):
    """What JupyterLab's sanitizer leaves of an output: no style, no frame."""
    html = frame_of("hostile")
    still = html[html.index('<div class="pjit-inspect-still">') :]
    opened = visit(frame_of("train_step") + f"<hr>{still}", ready=False)
    assert opened.page.locator(".pjit-inspect-still").count() == 2
    # A trusted output's style must not hide another one's still display.
    assert opened.page.locator(".pjit-inspect-still").last.evaluate("(e) => getComputedStyle(e).display") != "none"


def test_the_frame_reads_nothing_of_the_notebook(visit):
    opened = visit(frame_of("hostile"), ready=False)
    opened.page.frame_locator("iframe").locator("[data-ready]").wait_for()
    frame = opened.page.frames[1]
    assert frame.evaluate("try { parent.document; 'open' } catch { 'closed' }") == "closed"
    assert opened.page.evaluate("typeof globalThis.hacked") == "undefined"


def test_the_frame_can_copy_the_text(visit):
    opened = visit(frame_of("train_step", text="the display as text"), ready=False)
    frame = opened.page.frame_locator("iframe")
    frame.locator("[data-ready]").wait_for()
    frame.get_by_role("button", name="Copy as text").click()
    frame.locator("button", has_text="Copied").wait_for()


def test_the_graph_of_a_quiet_program_has_room_at_a_notebooks_width(visit):
    import jax

    with pjit_inspect.capture() as log:
        jax.jit(lambda x: jax.numpy.tanh(x @ x))(jax.numpy.ones((64, 64)))
    html = log.user_records()[-1].show(times=False)._repr_mimebundle_()["text/html"]
    opened = visit(f"<!doctype html><meta charset=utf-8><body>{html}", ready=False, width=780)
    frame = opened.page.frame_locator("iframe")
    frame.locator("[data-ready]").wait_for()
    assert frame.locator(".flowbody").bounding_box()["height"] > 150
    assert not frame.locator(".strip").is_visible()
    for pane in (".list", ".details"):
        assert frame.locator(pane).evaluate("(e) => e.scrollWidth <= e.clientWidth")


def test_a_selection_in_the_widget_is_told_to_the_kernel_and_back(visit):
    opened = visit(widget_of("explained"), ready=False)
    opened.page.wait_for_selector("[data-ready]")
    assert opened.page.evaluate("globalThis.saved") == []
    opened.page.locator(".row").nth(1).click()
    told = opened.page.evaluate("globalThis.saved")
    assert len(told) == 1
    opened.page.evaluate("globalThis.fromKernel(\"params['w1']\")")
    path = opened.page.locator(".details h2").first.inner_text()
    assert path == "params['w1']" or "over" in path
    assert opened.page.evaluate("globalThis.saved") == told


def test_a_widget_that_is_closed_listens_no_more(visit):
    opened = visit(widget_of("train_step"), ready=False)
    opened.page.wait_for_selector("[data-ready]")
    opened.page.evaluate("globalThis.end()")
    assert opened.page.evaluate("globalThis.listening()") == 0


# Where no script may run.

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'"


def parts():
    report = view_reports.every_report()["train_step"]
    return inspector_payload(InspectorInput(report=report)), to_html(record_view(report))


def test_a_policy_without_inline_scripts_leaves_the_still_display_in_the_frame(chromium):
    payload, still = parts()
    page = chromium.new_page(viewport={"width": 900, "height": 900})
    page.set_content(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        f"<body>{inspector_frame(payload, still)}</body>"
    )
    frame = page.frame_locator("iframe.pjit-inspect-live")
    words = frame.locator("main").inner_text()
    assert "collectives" in words
    assert "each device sends" in words
    box = frame.locator("main").bounding_box()
    assert box
    assert box["height"] > 200
    assert not frame.locator(".row").count()
    page.close()


def test_a_browser_without_scripts_shows_the_still_display_of_a_file(chromium, tmp_path):
    payload, still = parts()
    file = tmp_path / "page.html"
    file.write_text(inspector_page(payload, still=still), encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert "each device sends" in page.locator("main").inner_text()
    context.close()


def test_where_scripts_run_the_inspector_takes_the_place_of_the_still_display(visit):
    payload, still = parts()
    opened = visit(inspector_page(payload, still=still))
    assert opened.page.locator(".row").count() > 5
    assert opened.page.get_by_role("main").count() == 1
    # Nothing of the still display is left: its table of collectives is one of HTML, the inspector's list is not.
    assert opened.page.locator("main > .frame").count() == 1
    assert opened.page.locator("main > *").count() == 1
