"""The list in a browser: sorting, filters, notes that filter, and totals that follow."""

from __future__ import annotations

from pages import page_of


def sizes(opened) -> list[float]:
    """Bytes at the end of each row."""
    units = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    pairs = [words.replace(",", "").split() for words in opened.texts(".row .size")]
    return [float(number) * units[unit] for number, unit in pairs]


def test_rows_are_sorted_by_what_is_chosen_and_the_other_way_round(visit):
    opened = visit(page_of("train_step"))
    assert sizes(opened) == sorted(sizes(opened), reverse=True)
    opened.page.get_by_label("Reverse the order").click()
    assert sizes(opened) == sorted(sizes(opened))
    opened.page.get_by_label("Reverse the order").click()
    opened.page.get_by_label("Sort by").select_option("count")
    counts = [int(words.removeprefix("× ") or 1) for words in opened.texts(".row .times")]
    assert counts == sorted(counts, reverse=True)
    opened.page.get_by_label("Sort by").select_option("place")
    places = [words.split(" · ")[1] for words in opened.texts(".row .sub")]
    lines = [int(place.removeprefix("train.py:")) for place in places]
    assert lines == sorted(lines)


def test_forward_comes_before_backward_when_sorted_by_phase(visit):
    opened = visit(page_of("train_step"))
    opened.page.get_by_label("Sort by").select_option("phase")
    phases = [title.splitlines()[1].split(", ")[1] for title in titles(opened)]
    order = ["forward", "backward", "optimizer", "phase unknown"]
    assert phases == sorted(phases, key=order.index)
    assert len(set(phases)) > 1


def titles(opened) -> list[str]:
    return opened.page.locator(".row").evaluate_all("(rows) => rows.map((row) => row.title)")


def test_a_sorted_row_is_still_the_one_that_is_selected(visit):
    opened = visit(page_of("train_step"))
    opened.page.get_by_label("Sort by").select_option("name")
    row = opened.page.locator(".row").nth(3)
    kind = row.locator(".sub").inner_text().split(" · ")[0].split()[0]
    row.click()
    assert row.get_attribute("aria-selected") == "true"
    assert opened.page.locator(".row[aria-selected=true]").count() == 1
    assert opened.select(".details h2").inner_text().strip().startswith(kind)


def test_a_cause_filters_and_the_totals_follow(visit):
    """Of 4 + 3 + 2 + 1 + 1 MiB, the gradient's all-reduce moves 3: it alone is a contraction, and a reduction too."""
    opened = visit(page_of("explained"), width=1600, hash="view=traffic")
    opened.page.get_by_role("button", name="Filters").click()
    opened.page.get_by_label("Only this cause").select_option("contraction")
    assert opened.page.locator(".row").count() == 1
    assert opened.select(".status .shown").inner_text() == "1 of 8"
    assert opened.select(".totals h2").inner_text() == "Each device sends per call, 1 of 8 collectives"
    shown = {
        row.locator(".axisname").inner_text(): (row.locator(".figure").inner_text(), row.locator(".count").inner_text())
        for row in opened.page.locator("button.total").all()
    }
    assert shown["data"][1] == "1 collective"
    assert {figures for axis, figures in shown.items() if axis != "data"} == {("0 B", "0 collectives")}
    opened.page.get_by_label("Only this cause").select_option("")
    assert opened.select(".totals h2").inner_text() == "Each device sends per call, by mesh axis"


def test_a_chosen_axis_fades_the_other_totals_and_changes_no_figure(visit):
    opened = visit(page_of("train_step"), width=1600, hash="view=traffic")
    before = opened.texts("button.total .figure")
    opened.page.locator("button.total").nth(1).click()
    assert opened.texts("button.total .figure") == before
    assert opened.page.locator("button.total.faded").count() == len(before) - 1


def test_a_note_shows_the_rows_it_is_about_and_a_second_click_all(visit):
    opened = visit(page_of("train_step"))
    every = opened.page.locator(".row").count()
    opened.page.locator(".notesbutton").click()
    note = opened.page.get_by_role("button", name="Replicated: 16 of")
    note.click()
    assert note.get_attribute("aria-pressed") == "true"
    assert opened.page.locator("[data-tab=arrays]").get_attribute("aria-selected") == "true"
    # Two norms in params and two in mu; the four layers of each are one row.
    assert opened.page.locator(".row").count() == 4
    assert all("ln" in name for name in opened.texts(".row .name"))
    note.click()
    opened.page.click("[data-tab=collectives]")
    assert opened.page.locator(".row").count() == every


def test_a_note_about_nothing_in_the_lists_is_text(visit):
    opened = visit(page_of("hostile"))
    assert opened.page.locator("p.note").count() == 11
    assert opened.page.locator("button.note").count() == 0


def test_escape_clears_every_filter(visit):
    opened = visit(page_of("explained"))
    every = opened.page.locator(".row").count()
    opened.page.keyboard.press("n")
    opened.page.locator("button.note").first.click()
    opened.page.keyboard.press("n")
    opened.page.get_by_role("button", name="Filters").click()
    opened.page.get_by_label("Only this cause").select_option("contraction")
    opened.page.locator(".answer").click()
    opened.page.locator(".row").first.focus()
    opened.page.keyboard.press("Escape")  # the filters' box
    opened.page.keyboard.press("Escape")
    assert opened.page.locator(".row").count() == every
    assert opened.page.locator("button.note[aria-pressed=true]").count() == 0


def test_a_program_that_is_quiet_shows_its_arrays(visit):
    opened = visit(page_of("mlp_replicated"), height=480)
    assert opened.page.locator("[data-tab=arrays]").get_attribute("aria-selected") == "true"
    assert opened.page.locator(".details svg.shards").is_visible()


def test_the_rows_are_copied_as_they_are_shown(visit):
    opened = visit(page_of("train_step"))
    opened.page.evaluate("() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; }")
    opened.page.fill(".filter", "all-gather")
    opened.page.get_by_role("button", name="Filters").click()
    rows = opened.page.locator(".row").count()
    copied = {}
    for form in ("TSV", "CSV", "Markdown"):
        opened.page.locator(".facets button", has_text=form).click()
        opened.page.locator(".facets button", has_text="Copied").wait_for()
        copied[form] = opened.page.evaluate("globalThis.copied").splitlines()
        opened.page.locator(".facets button", has_text=form).wait_for()
    assert copied["TSV"][0].split("\t")[:4] == ["collective", "axes", "number", "sent_bytes"]
    assert [len(lines) for lines in copied.values()] == [rows + 1, rows + 1, rows + 2]
    assert all(line.startswith("all-gather\t") for line in copied["TSV"][1:])
    assert copied["Markdown"][1].startswith("| --- |")
    sent = [float(line.split(",")[3]) for line in copied["CSV"][1:]]
    shown = sizes(opened)  # in three digits
    assert all(abs(a - b) <= 0.005 * a for a, b in zip(sent, shown, strict=True))


def test_the_order_is_not_cut_off(visit):
    opened = visit(page_of("train_step"))
    room, needs = opened.page.get_by_label("Sort by").evaluate(
        """(chooser) => {
          const [pen, style] = [document.createElement("canvas").getContext("2d"), getComputedStyle(chooser)];
          pen.font = `${style.fontSize} ${style.fontFamily}`;
          const widths = [...chooser.options].map((one) => pen.measureText(one.text).width);
          return [chooser.clientWidth, Math.max(...widths)];
        }"""
    )
    assert needs + 20 <= room, "20 pixels are the arrow's"


def test_every_note_can_be_read_at_every_width(visit):
    opened = visit(page_of("explained"), width=420)
    opened.page.keyboard.press("n")
    notes = opened.page.locator(".notes .note")
    assert notes.count() > 1
    assert notes.evaluate_all("(all) => all.every((one) => one.getBoundingClientRect().right <= innerWidth)")


def test_a_row_has_a_picture_of_what_it_does_to_its_array(visit):
    opened = visit(page_of("train_step"))
    assert opened.page.locator(".row").first.locator("svg.thumb").count() == 2
    opened.page.click("[data-tab=arrays]")
    assert opened.page.locator(".row").first.locator("svg.thumb").count() == 1
