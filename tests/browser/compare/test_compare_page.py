"""The page that compares two programs: answer, lists, filters, graph and details in a browser, at every width."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect

sys.path[:0] = [str(Path(__file__).parents[1] / "first_screen")]

from test_accessibility import wrong  # noqa: E402

LAYERS = 2


def inspected(mesh: Mesh, *, rows: int = 64, is_constrained: bool = False) -> Any:
    """A step of two layers whose activations follow their weights, or, with a constraint, the batch."""

    def step(params, x):
        if is_constrained:
            x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data", None)))
        for number, layer in enumerate(params):
            with jax.named_scope(f"layer{number}"), jax.named_scope("mlp"):
                x = x + jax.nn.gelu(x @ layer["w1"]) @ layer["w2"]
        with jax.named_scope("head"):
            return (x * x).sum()

    def given(shape: tuple[int, ...], *spec: str | None):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))

    layer = {"w1": given((128, 256), "data", "model"), "w2": given((256, 128), "model", "data")}
    return pjit_inspect.inspect(jax.jit(step), [layer] * LAYERS, given((rows, 128), None, "data"))


@pytest.fixture(scope="module")
def records() -> dict[str, Any]:
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    return {
        "before": inspected(mesh),
        "after": inspected(mesh, is_constrained=True),
        "other work": inspected(mesh, rows=128),
    }


def page(records: dict[str, Any], before: str, after: str, tmp_path: Path) -> str:
    file = tmp_path / "diff.html"
    pjit_inspect.diff(records[before], records[after]).to_html(file)
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 900, 1280, 1600])
def test_no_pane_has_a_fault_at_any_width(visit, records, tmp_path: Path, scheme: str, width: int):
    opened = visit(page(records, "before", "after", tmp_path), width=width, height=800, color_scheme=scheme)
    assert wrong(opened.page) == []
    tabs = opened.page.locator(".panes [role=tab]")
    for number in range(tabs.count()):
        if tabs.nth(number).is_visible():
            tabs.nth(number).click()
            assert wrong(opened.page) == []
    assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("before", "after"), [("before", "before"), ("before", "other work")])
def test_nothing_to_say_and_other_work_have_no_fault(visit, records, tmp_path: Path, before: str, after: str):
    assert wrong(visit(page(records, before, after, tmp_path)).page) == []


def test_the_answer_is_first_and_rows_are_those_of_the_comparison(visit, records, tmp_path: Path):
    diff = pjit_inspect.diff(records["before"], records["after"])
    opened = visit(page(records, "before", "after", tmp_path))
    assert "".join(str(diff.sentence).split()).replace("`", "") == "".join(opened.texts(".answer")[0].split())
    counts = {}
    for words in opened.texts(".list .chips .chip"):
        if found := re.search(r"(\w+)\s+([\d,]+)$", words):
            counts[found[1]] = int(found[2])
    table = diff.collectives
    assert counts.get("removed", 0) == len(table.removed)
    assert counts.get("added", 0) == len(table.added)
    assert sum(counts.get(one, 0) for one in ("less", "more", "changed")) == len(table.changed)
    assert counts.get("same", 0) == table.same
    differences = [abs(float(one.replace("\u2212", "-"))) for one in opened.texts(".row .difference")]
    assert differences == sorted(differences, reverse=True)


def test_other_work_is_said_before_the_answer(visit, records, tmp_path: Path):
    opened = visit(page(records, "before", "other work", tmp_path))
    top = opened.texts(".top")[0]
    assert 0 <= top.index("Not the same work") < top.index(opened.texts(".answer")[0][:20])


def test_only_what_changed_can_be_switched_off_in_list_and_graph(visit, records, tmp_path: Path):
    opened = visit(page(records, "before", "before", tmp_path), width=1600)
    assert opened.texts(".row") == []
    assert opened.texts(".graphbox") == []
    opened.select(".chip").click()
    assert opened.texts(".row")
    assert opened.texts(".graphbox")
    assert all("same" in words for words in opened.texts(".graphbox"))


def test_a_box_has_both_counts_and_chooses_its_rows(visit, records, tmp_path: Path):
    opened = visit(page(records, "before", "after", tmp_path), width=1600)
    box = opened.page.locator(".graphbox:not(.fill-same)").first
    assert "\u2192" in box.inner_text()
    every = len(opened.texts(".row"))
    box.click()
    assert 0 < len(opened.texts(".row")) < every
    assert box.get_attribute("aria-pressed") == "true"
    opened.page.locator(".graphbox[aria-pressed=true]").click()
    assert len(opened.texts(".row")) == every


def test_a_box_lists_its_kernels_too(visit, records, tmp_path: Path):
    opened = visit(page(records, "before", "after", tmp_path), width=1600)
    opened.page.locator('[data-tab="kernels"]').click()
    every = opened.texts(".row")
    box = opened.page.locator(".graphbox:not(.fill-same)").first
    box.click()
    assert opened.page.locator('[data-tab="kernels"]').get_attribute("aria-selected") == "true"
    kept = opened.texts(".row")
    assert 0 < len(kept) < len(every)
    assert set(kept) < set(every)
    assert "has-selected" in (box.get_attribute("class") or "")
    opened.page.locator('[data-tab="collectives"]').click()
    assert box.get_attribute("aria-pressed") == "true"
    opened.page.locator('[data-tab="arguments"]').click()
    assert box.get_attribute("aria-pressed") == "false"


def test_a_box_in_which_nothing_changed_lists_what_is_the_same(visit, records, tmp_path: Path):
    opened = visit(page(records, "before", "before", tmp_path), width=1600)
    opened.select(".chip").click()
    opened.page.locator(".graphbox").first.click()
    assert opened.texts(".row")
    opened.page.locator(".graphbox[aria-pressed=true]").click()
    assert opened.texts(".row")


def test_a_part_of_a_program_is_said_before_the_answer(visit, tmp_path: Path):
    text = fixtures.text("transformer_step.cpu_8")
    paths = [tmp_path / name for name in ("whole.hlo", "part.hlo")]
    for path, end in zip(paths, (len(text), len(text) * 8 // 10), strict=True):
        path.write_text(text[:end])
    pjit_inspect.diff(*map(pjit_inspect.open, paths)).to_html(tmp_path / "diff.html")
    opened = visit((tmp_path / "diff.html").read_text(encoding="utf-8"), width=1280)
    top = " ".join(opened.texts(".top")[0].split())
    assert 0 <= top.index("Incomplete program after: a computation has no end") < top.index("sends ")
    assert "at least" in opened.texts(".figures")[0]
    assert "removed" not in " ".join(opened.texts(".frame")).split()
    assert "less" not in opened.texts(".totals")[0].split()
    opened.page.locator('[data-tab="kernels"]').click()
    opened.page.locator(".graphbox").first.click()
    assert opened.texts(".row")
    assert wrong(opened.page) == []


def test_bars_have_both_sums_and_choose_their_axis(visit, records, tmp_path: Path):
    diff = pjit_inspect.diff(records["before"], records["after"])
    opened = visit(page(records, "before", "after", tmp_path), width=1600)
    bars = opened.page.locator(".axisrow")
    assert bars.count() == len(diff.data.axes)
    assert opened.page.locator(".axisrow .bar").count() == 2 * bars.count()
    bars.first.click()
    name = opened.texts(".axisrow .axis")[0]
    rows = opened.page.locator(".row")
    assert rows.count()
    assert all(words == name for words in opened.texts(".row .sub .axis"))


def test_a_row_shows_both_sides_with_cause_and_picture(visit, records, tmp_path: Path):
    opened = visit(page(records, "before", "after", tmp_path), width=1600)
    details = opened.page.locator(".details")
    assert [words.split()[0] for words in opened.texts(".sidehead")] == ["before", "after"]
    assert details.locator(".cause").count()
    assert details.locator("svg.shards").count() >= 2
    opened.page.locator('[data-tab="shardings"]').click()
    opened.page.locator(".chip", has_text="changed").last.click()
    assert details.locator("svg.shards").count() == 2


def test_keys_walk_the_list(visit, records, tmp_path: Path):
    opened = visit(page(records, "before", "after", tmp_path), width=1280)
    rows = opened.page.locator(".row")
    opened.page.locator("[role=listbox]").focus()
    opened.page.keyboard.press("ArrowDown")
    assert rows.nth(1).get_attribute("aria-selected") == "true"
    opened.page.keyboard.press("End")
    assert rows.last.get_attribute("aria-selected") == "true"


def test_one_pane_at_a_time_where_there_is_little_room(visit, records, tmp_path: Path):
    opened = visit(page(records, "before", "after", tmp_path), width=420)
    assert not opened.page.locator(".details").is_visible()
    opened.select(".row").click()
    assert opened.page.locator(".details").is_visible()
    assert not opened.page.locator(".list").is_visible()


def test_a_notebooks_output_is_the_page_with_the_still_display(visit, records):
    diff = pjit_inspect.diff(records["before"], records["after"])
    html = diff.show("html")._repr_mimebundle_()["text/html"]
    opened = visit(f"<!DOCTYPE html><title>notebook</title>{html}", ready=False)
    opened.page.frame_locator("iframe").locator("[data-ready]").wait_for()
    assert not opened.page.locator(".pjit-inspect-still").is_visible()


@pytest.mark.parametrize("width", [420, 1280])
def test_every_list_and_every_figure_is_in_sight(visit, records, tmp_path: Path, width: int):
    opened = visit(page(records, "before", "other work", tmp_path), width=width, height=800)
    for whole, parts in ((".list", ".list .tabs button"), (".top", ".figures li")):
        end = opened.page.locator(whole).first.bounding_box()
        found = [one.bounding_box() for one in opened.page.locator(parts).all()]
        assert len(found) > 4
        assert all(one["x"] + one["width"] <= end["x"] + end["width"] for one in found)
    tabs, chips = (opened.page.locator(one).bounding_box() for one in (".list .tabs button >> nth=-1", ".list .chips"))
    assert tabs["y"] + tabs["height"] <= chips["y"]


def test_a_count_has_its_plural_and_what_rounds_to_nothing_is_no_verdict(visit, records, tmp_path: Path):
    opened = visit(page(records, "before", "after", tmp_path), width=1600)
    numbers = opened.texts(".axisrow .number")
    assert numbers
    assert all(one.endswith(" collective" if one.split()[0] == "1" else " collectives") for one in numbers)
    near = [one for one in opened.texts(".figures li") if "~ 0 %" in one]
    assert not [one for one in near if "\u25b2" in one or "\u25bc" in one]


def test_a_box_with_a_kernel_that_differs_is_changed_and_other_phases_have_no_column(visit, tmp_path: Path):
    """Two steps that differ in what their forward pass returns besides, in one kernel of another size."""

    def step(extra):
        def loss(w, x):
            with jax.named_scope("layer"):
                h = jnp.tanh(x @ w)
            with jax.named_scope("head"):
                return (h * h).sum(), extra(h)

        def run(w, x):
            g, aux = jax.grad(loss, has_aux=True)(w, x)
            with jax.named_scope("optimizer"):
                return w - 0.1 * g, aux

        return pjit_inspect.inspect(jax.jit(run), jnp.ones((16, 16)), jnp.ones((8, 16)))

    file = tmp_path / "forward.html"
    pjit_inspect.diff(step(lambda h: h.max()), step(lambda h: h.T @ h)).to_html(file)
    opened = visit(file.read_text(encoding="utf-8"), width=1600)
    assert "changed" in " ".join(opened.texts(".graphbox .boxhead"))
    assert opened.texts(".matrix thead th") == ["scope", "forward"]


def test_what_neither_program_has_is_not_called_the_same(visit, tmp_path: Path):
    alone = pjit_inspect.inspect(jax.jit(lambda x: x * 2), jax.ShapeDtypeStruct((4,), jnp.float32))
    file = tmp_path / "alone.html"
    pjit_inspect.diff(alone, alone).to_html(file)
    assert visit(file.read_text(encoding="utf-8")).texts(".nothing")[0] == "Neither program has collectives."
