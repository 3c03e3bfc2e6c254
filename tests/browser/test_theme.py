"""Light, dark, high contrast and forced colours; the frame follows the notebook's theme."""

from __future__ import annotations

import pytest
from pages import frame_of, page_of, widget_of

BACKGROUND = "getComputedStyle(document.querySelector('.pjit-inspector')).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(22, 24, 28)"


@pytest.mark.parametrize(("scheme", "color"), [("light", LIGHT), ("dark", DARK)])
def test_a_file_follows_the_browsers_preference_and_its_change(visit, scheme: str, color: str):
    opened = visit(page_of("train_step"), color_scheme=scheme)
    assert opened.page.evaluate(BACKGROUND) == color
    opened.page.emulate_media(color_scheme="dark" if scheme == "light" else "light")
    assert opened.page.evaluate(BACKGROUND) == (DARK if scheme == "light" else LIGHT)


@pytest.mark.parametrize(("is_light", "color"), [("true", LIGHT), ("false", DARK)])
def test_the_frame_follows_the_notebooks_theme_and_its_change(visit, is_light: str, color: str):
    # Without playwright's own choice of scheme, which would win inside of frames.
    html = frame_of("train_step").replace("<body>", f'<body data-jp-theme-light="{is_light}">')
    opened = visit(html, ready=False, color_scheme="null")
    opened.page.frame_locator("iframe").locator("[data-ready]").wait_for()
    frame = opened.page.frames[1]
    assert frame.evaluate(BACKGROUND) == color
    other = "false" if is_light == "true" else "true"
    opened.page.evaluate(f"document.body.dataset.jpThemeLight = '{other}'")
    opened.page.wait_for_timeout(300)
    assert frame.evaluate(BACKGROUND) == (LIGHT if other == "true" else DARK)


def test_the_widget_follows_the_notebooks_theme_and_its_change(visit):
    opened = visit(widget_of("train_step").replace("<body>", '<body data-jp-theme-light="false">'), ready=False)
    root = opened.page.locator(".pjit-inspector[data-ready]")
    root.wait_for()
    background = "(e) => getComputedStyle(e).backgroundColor"
    assert root.evaluate(background) == DARK
    opened.page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    opened.page.wait_for_timeout(200)
    assert root.evaluate(background) == LIGHT


CONTRAST = """() => {
  const rgb = (words) => (words.match(/[\\d.]+/g) ?? []).map(Number);
  const linear = (v) => (v <= 0.03928 * 255 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = (c) => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const isOpaque = (c) => c.length === 3 || c[3] === 1;
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const color = rgb(getComputedStyle(e).backgroundColor);
      if (isOpaque(color)) return color;
    }
    return [255, 255, 255];
  };
  const hasWords = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const low = [];
  for (const e of document.querySelectorAll(".pjit-inspector *")) {
    if (!e.offsetParent || e.closest("svg, .offscreen") || !hasWords(e)) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < LEAST) low.push([e.className, e.textContent.slice(0, 30), ratio.toFixed(2)]);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("contrast", "least"), [("no-preference", 4.5), ("more", 7)])
def test_all_words_can_be_read(visit, scheme: str, contrast: str, least: float):
    """WCAG: 4.5 to 1, and 7 to 1 for who asks for more."""
    opened = visit(page_of("train_step"), color_scheme=scheme, contrast=contrast)
    opened.page.locator(".row").nth(2).click()
    assert opened.page.evaluate(CONTRAST.replace("LEAST", str(least))) == []


def test_forced_colours_leave_the_selection_visible(visit):
    opened = visit(page_of("train_step"), forced_colors="active")
    style = "(e) => { const s = getComputedStyle(e); return s.outlineStyle + s.outlineWidth; }"
    assert opened.select(".row[aria-selected=true]").evaluate(style) == "solid2px"
    assert opened.select(".row[aria-selected=false]").evaluate(style) != "solid2px"
    pressed = opened.page.locator("[aria-pressed=true]").first
    assert pressed.evaluate("(e) => getComputedStyle(e).borderStyle") == "solid"
