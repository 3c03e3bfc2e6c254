"""The search of the inspector, and the keys of a page on which nothing was clicked."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import pytest

import pjit_inspect

NARROW, WIDE = 390, 1280
GRAPH = "Find a scope"


@functools.cache
def attention_page() -> str:
    """Two layers of attention and a large product on 2 x 4 devices: too much to be drawn as a flow."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))

    def put(shape: tuple[int, ...], *spec: str | None) -> Any:
        return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, P(*spec)))

    def weights(q: Any, k: Any) -> Any:
        return jax.nn.softmax(q @ k.mT)

    @jax.jit
    def step(params: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            y = x
            for number, layer in enumerate(params):
                with jax.named_scope(f"layer{number}"):
                    y = y + weights(y @ layer["q"], y @ layer["k"]) @ y @ layer["o"]
            return jnp.sum(y * y)

        return jax.grad(loss)(params)

    spec = {"q": ("data", "model"), "k": ("data", "model"), "o": ("model", "data")}
    params = [{name: put((64, 64), *one) for name, one in spec.items()} for _ in range(2)]
    record = pjit_inspect.inspect(step, params, put((8, 32, 64), "data", None, None))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        record.to_html(file)
        return file.read_text(encoding="utf-8")


def focused(page: Any) -> str:
    """The class of what has the focus; "" for the page itself."""
    return page.evaluate("document.activeElement === document.body ? '' : document.activeElement.className")


def listed(page: Any) -> int:
    """How many rows the list has."""
    return page.locator(".list .row").count()


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_a_slash_on_a_fresh_page_finds_functions_and_source_words(visit, width):
    page = visit(attention_page(), width=width).page
    keys = page.keyboard
    keys.press("/")
    assert focused(page) == "filter"
    page.locator("[data-tab=kernels]").click()
    every = listed(page)
    for words in ("softmax", "weights", "k.mT", "/soft(max|min)/", "layer mT"):
        page.locator(".list .filter").fill(words)
        assert 0 < listed(page) < every, words
    for words in ("softmaxx", "/(/", "/^softmax$/"):
        page.locator(".list .filter").fill(words)
        assert listed(page) == 0, words


def test_a_search_says_which_other_list_has_it(visit):
    page = visit(attention_page(), width=WIDE).page
    page.keyboard.press("/")
    page.keyboard.type("reduce_max")
    there = page.locator(".list .nothing button").first
    assert there.inner_text().split()[1].startswith("kernel")
    there.click()
    assert listed(page) > 0


def test_the_graph_finds_the_same_words(visit):
    page = visit(attention_page(), width=WIDE).page
    field = page.get_by_label(GRAPH)
    for words in ("softmax", "weights", "/k.mT/"):
        field.fill(words)
        assert page.locator(".graph .hits").inner_text() not in ("", "nothing"), words
    field.fill("/softmax$/x")
    assert page.locator(".graph .hits").inner_text() == "nothing"


def test_arrows_and_enter_walk_and_escape_closes_then_clears(visit):
    page = visit(attention_page(), width=WIDE).page
    keys = page.keyboard
    chosen = page.locator(".list .row[aria-selected=true]")
    first = chosen.get_attribute("data-row")
    keys.press("ArrowDown")  # nothing has the focus
    second = chosen.get_attribute("data-row")
    assert second != first
    keys.press("ArrowUp")
    assert chosen.get_attribute("data-row") == first
    keys.press("/")
    keys.press("Enter")
    assert chosen.get_attribute("data-row") == second
    keys.press("ArrowUp")
    assert chosen.get_attribute("data-row") == first
    keys.type("all-reduce")
    part = listed(page)
    keys.press("Escape")
    assert listed(page) > part
    assert focused(page) == "filter"
    keys.press("Escape")
    assert "pjit-inspector" in page.evaluate("document.activeElement.className")
    assert chosen.count() == 1
    page.get_by_role("button", name="Filters").click()
    keys.press("Escape")
    assert page.locator(".facets").is_hidden()
    assert chosen.count() == 1
    keys.press("Tab")
    page.locator(".answer").click()
    keys.press("Escape")
    assert chosen.count() == 0


def test_keys_and_words_open_over_the_page(visit):
    page = visit(attention_page(), width=NARROW).page
    box = page.get_by_role("dialog", name="Keys and words")
    page.keyboard.press("?")
    assert box.is_visible()
    assert box.evaluate("(e) => e.scrollWidth <= e.clientWidth && e.getBoundingClientRect().right <= innerWidth")
    page.keyboard.press("?")
    assert box.is_hidden()
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    assert box.is_hidden()
    assert "helpbutton" in focused(page)


def test_no_key_is_dead_after_what_had_the_focus_is_hidden(visit):
    page = visit(attention_page(), width=WIDE).page
    page.locator(".list .row").first.click()
    page.locator(".list .row").first.focus()
    page.keyboard.press("w")
    assert "wide" in (page.locator(".frame").get_attribute("class") or "")
    assert "pjit-inspector" in focused(page)
    page.keyboard.press("w")
    page.keyboard.press("t")
    assert page.locator(".texts").is_visible()


def test_every_tab_says_what_it_shows(visit):
    page = visit(attention_page(), width=WIDE).page
    assert page.locator("[role=tab]:not([title])").count() == 0


def test_each_list_has_one_count(visit):
    page = visit(attention_page(), width=WIDE).page
    for tab in ("collectives", "arrays", "kernels"):
        page.locator(f"[data-tab={tab}]").click()
        page.locator(".list .filter").fill("")
        number = page.locator(f"[data-tab={tab}] .count").inner_text().strip()
        page.locator(".list .filter").fill("softmax")
        assert page.locator(".status .shown").inner_text().endswith(f" of {number}")
        name = page.locator(f"[data-tab={tab}] .tabname")
        assert name.evaluate("(e) => e.scrollWidth <= e.clientWidth + 1")


def test_traffic_says_which_side_sends(visit):
    page = visit(attention_page(), width=WIDE).page
    page.keyboard.press("m")
    page.locator(".traffic .busiest th").first.wait_for()
    assert page.locator(".traffic .busiest th").all_inner_texts() == ["from \u2192 to", "sends"]
