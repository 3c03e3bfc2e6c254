"""The first screen: what is selected is in view, the wheel belongs to the notebook, everything has a name."""

from __future__ import annotations

from html import escape

from fixture_pages import measured_page_of
from fixture_pages import page_of as program_page
from pages import page_of

LARGE = "train_step_16_layers.cpu_8"

# Where the selected row lies in what is visible of its list: pixels hidden above, and below.
HIDDEN = """async () => {
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  const row = document.querySelector('.row[aria-selected="true"]').getBoundingClientRect();
  const box = document.querySelector(".rows").getBoundingClientRect();
  return [Math.max(0, box.top - row.top), Math.max(0, row.bottom - box.bottom)];
}"""


def last_names(opened, number: int = 1) -> str:
    """The HLO name behind the list's last row."""
    opened.page.locator(".row").nth(-number).click()
    name = opened.hash("sel=").partition("sel=")[2].partition("&")[0]
    opened.page.locator(".row").first.click()
    opened.hash("sel=")
    return name


def test_a_measured_program_without_collectives_opens_with_its_longest_kernel(visit):
    opened = visit(measured_page_of("train_step"))
    rows = opened.texts(".row .sub")
    assert all(words.startswith("measured, ") for words in rows[:-1])
    # XLA counts the loops itself, and runs no condition.
    assert not rows[-1].startswith("measured")
    shown = opened.texts(".row .size")
    assert shown[-1] == "unknown"
    times = [float(words.removesuffix(" µs")) for words in shown[:-1]]
    assert len(times) > 10
    assert times == sorted(times, reverse=True)
    assert opened.select(".row[aria-selected=true] .sub").inner_text() == rows[0]
    # The sign before its title is drawn.
    assert opened.page.evaluate("getComputedStyle(document.querySelector('.details h2 .glyph')).stroke") != "none"


def test_the_list_follows_a_permalink(visit):
    first = visit(program_page(LARGE))
    name = last_names(first)
    opened = visit(program_page(LARGE), hash=f"sel={name}")
    assert opened.page.evaluate(HIDDEN) == [0, 0]
    assert opened.page.evaluate("document.querySelector('.rows').scrollTop") > 0


def test_the_list_follows_a_selection_made_elsewhere_down_and_up(visit):
    opened = visit(program_page(LARGE))
    name = last_names(opened)
    for where in (name, "all-gather.1", name):
        opened.page.evaluate("(name) => { location.hash = `sel=${name}`; }", where)
        opened.page.wait_for_timeout(100)
        assert opened.page.evaluate(HIDDEN) == [0, 0]


def test_the_list_follows_when_its_header_is_tall(visit):
    """A narrow page has its list under tabs; what is above the rows must not count."""
    opened = visit(program_page(LARGE), width=1280, height=520)
    opened.page.locator(".row").nth(-1).click()
    assert opened.page.evaluate(HIDDEN) == [0, 0]
    opened.page.keyboard.press("Home")
    assert opened.page.evaluate(HIDDEN) == [0, 0]


def in_a_notebook(visit, html: str):
    """An exported page as the frame of a notebook that is longer than its window."""
    frame = (
        f"<iframe sandbox='allow-scripts' style='width:100%;height:420px;border:0' srcdoc='{escape(html)}'></iframe>"
    )
    opened = visit(f"<body style='margin:0'>{frame}<div style='height:3000px'></div>", ready=False, width=900)
    inner = opened.page.frame_locator("iframe")
    inner.locator("[data-ready]").wait_for()
    return opened, inner


def test_a_plain_wheel_scrolls_the_notebook_where_the_graph_is_taller_than_its_pane(visit):
    opened, inner = in_a_notebook(visit, program_page(LARGE))
    area = inner.locator(".graphbox").bounding_box()
    # More than the pane has room for, zoomed in.
    opened.page.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, -100)
    opened.page.keyboard.up("Control")
    opened.page.wait_for_timeout(200)
    assert inner.locator(".graphbox").evaluate("(e) => e.scrollHeight > e.clientHeight")
    # The pane may have opened at what is selected.
    top = inner.locator(".graphbox").evaluate("(e) => e.scrollTop")
    opened.page.mouse.wheel(0, 200)
    opened.page.wait_for_timeout(400)
    assert opened.page.evaluate("scrollY") >= 199
    assert inner.locator(".graphbox").evaluate("(e) => e.scrollTop") == top


def test_control_and_the_wheel_zoom_the_graph_and_leave_the_notebook(visit):
    opened, inner = in_a_notebook(visit, program_page(LARGE))
    area = inner.locator(".graphbox").bounding_box()
    width = inner.locator(".graphspace").bounding_box()["width"]
    opened.page.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, -100)
    opened.page.keyboard.up("Control")
    opened.page.wait_for_timeout(200)
    assert inner.locator(".graphspace").bounding_box()["width"] > 1.2 * width
    assert opened.page.evaluate("scrollY") == 0


def test_in_a_file_of_its_own_the_wheel_scrolls_the_graph(visit):
    opened = visit(program_page(LARGE), width=900, height=420)
    area = opened.select(".graphbox").bounding_box()
    opened.page.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    opened.page.mouse.wheel(0, 150)
    opened.page.wait_for_timeout(400)
    assert opened.select(".graphbox").evaluate("(e) => e.scrollTop") > 100


def test_a_graph_in_a_notebook_is_dragged_and_clicked_as_in_a_file(visit):
    opened, inner = in_a_notebook(visit, program_page(LARGE))
    area = inner.locator(".graphbox").bounding_box()
    x, y = area["x"] + area["width"] / 2, area["y"] + area["height"] - 40
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x, y - 60, steps=4)
    opened.page.mouse.up()
    assert inner.locator(".graphbox").evaluate("(e) => e.scrollTop") > 40


# Names: for those who hear the page.


def test_chips_have_the_name_of_their_kind_and_number(visit):
    opened = visit(page_of("train_step"))
    labels = opened.page.locator(".chips .chip").evaluate_all(
        "(all) => all.map((chip) => chip.getAttribute('aria-label'))"
    )
    assert all(", " in label for label in labels)
    assert any(label.startswith("all-reduce, ") for label in labels)
    counts = [label.rpartition(", ")[2] for label in labels]
    assert counts == [words.strip().split()[-1] for words in opened.texts(".chips .chip")]


def test_the_page_has_one_main_landmark_and_one_heading_above_all(visit):
    opened = visit(page_of("train_step"))
    assert opened.page.get_by_role("main").count() == 1
    heading = opened.page.get_by_role("heading", level=1)
    assert heading.count() == 1
    assert heading.inner_text().startswith("train_step")


def test_a_stale_permalink_says_so_until_something_is_selected(visit):
    opened = visit(page_of("train_step"), hash="sel=all-reduce.999999")
    words = opened.select(".stale").inner_text()
    assert words.startswith("This link names all-reduce.999999, which this program does not have.")
    # What opens at first is selected all the same.
    assert opened.page.locator(".row[aria-selected=true]").count() == 1
    opened.page.locator(".row").nth(1).click()
    assert not opened.select(".stale").is_visible()


def test_a_good_permalink_says_nothing(visit):
    name = last_names(visit(page_of("train_step")))
    assert not visit(page_of("train_step"), hash=f"sel={name}").select(".stale").is_visible()


def test_equal_lines_of_source_are_one_row_with_their_number(visit):
    opened = visit(page_of("train_step"))
    opened.page.locator(".row").first.click()
    shown = opened.texts(".places li")
    assert len({text.partition("\n")[2] for text in shown}) == len(shown)
