"""Arrays: all arguments at once, what reads one; searches in the graph and the texts. And programs of 4,096 devices."""

from __future__ import annotations

import functools
import itertools
import tempfile
from pathlib import Path

import pytest
from fixture_pages import page_of as program_page
from pages import page_of

import pjit_inspect

MLP = "mlp_step.cpu_8"


def test_the_list_of_arrays_opens_with_every_argument_and_a_click_selects_one(visit):
    opened = visit(page_of("train_step"))
    assert opened.page.locator(".small-multiple").count() == 0
    opened.page.click("[data-tab=arrays]")
    pictures = opened.page.locator(".small-multiple")
    opened.page.get_by_role("button", name="Filters").click()
    opened.page.locator(".facets .chip", has_text="inputs").click()
    assert pictures.count() == opened.page.locator(".row").count()
    areas = [one.bounding_box() for one in pictures.all()[:6]]
    frame = opened.select(".details").bounding_box()
    assert all(frame["x"] <= area["x"] and area["x"] + area["width"] <= frame["x"] + frame["width"] for area in areas)
    name = pictures.first.locator("bdi").inner_text()
    pictures.first.click()
    assert opened.select(".details h2").inner_text() == name
    # Back among the collectives, what was selected is told again.
    opened.page.click("[data-tab=collectives]")
    assert opened.page.locator(".small-multiple").count() == 0


def test_the_arguments_of_equal_layers_are_one_picture(visit):
    opened = visit(page_of("train_step"))
    opened.page.click("[data-tab=arrays]")
    assert any("\u00d7 4" in words for words in opened.texts(".small-multiple b"))


@functools.cache
def live_page() -> str:
    """Two products whose second weight is gathered before it is used."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def array(shape: tuple[int, ...], *spec: str | None):
        return jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    def layer(x, gathered, kept):
        return jax.numpy.tanh(x @ gathered) @ kept

    given = array((64, 32), "data", None), array((32, 16), "data", None), array((16, 32))
    record = pjit_inspect.inspect(jax.jit(layer), *given)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        record.to_html(file)
        return file.read_text(encoding="utf-8")


def test_an_array_names_its_collectives_and_what_reads_it(visit):
    opened = visit(live_page(), hash="sel=gathered")
    uses = opened.texts(".details .uses")
    # XLA cuts what each device has into parts, exchanges these, and gathers them along `model`.
    assert "1 KiB" in opened.select(".details .numbers").inner_text()
    assert any("all-gather over" in words for words in uses)
    assert any("collective-permute over" in words for words in uses)
    opened.page.locator(".uses button", has_text="all-gather").click()
    assert "all-gather" in opened.select(".details h2").inner_text()
    kept = visit(live_page(), hash="sel=kept")
    assert any("dot_general" in words for words in kept.texts(".details .uses"))
    assert "collective" not in kept.select(".details").inner_text().split("Read by")[0].lower()


def test_the_graphs_search_finds_names_of_arguments(visit):
    opened = visit(live_page())
    opened.page.get_by_role("button", name="Show rows of boxes").click()
    opened.page.locator(".graphbar .search").fill("gathered")
    opened.page.wait_for_timeout(200)
    assert opened.select(".graphbar .hits").inner_text().startswith("1")
    opened.page.locator(".graphbar .search").fill("nosucharray")
    opened.page.wait_for_timeout(200)
    assert not opened.select(".graphbar .hits").inner_text().startswith("1")


def test_the_texts_have_a_search_that_goes_from_line_to_line(visit):
    hlo = "ENTRY %main () -> f32[] {\n" + "".join(f"  %x.{n} = f32[] constant({n})\n" for n in range(3000)) + "}\n"
    opened = visit(page_of("train_step", hlo_text=hlo), hash="view=text")
    search = opened.page.get_by_label("Find in the texts")
    search.fill("CONSTANT(2345)")
    assert opened.select(".textbar .hits").inner_text() == "1 line"
    hit = opened.page.locator(".ln.hit", has_text="%x.2345 ")
    hit.wait_for()
    pane = opened.page.locator(".scroll[aria-label=HLO]").bounding_box()
    assert pane["y"] <= hit.bounding_box()["y"] <= pane["y"] + pane["height"]
    search.fill("constant(29")
    assert opened.select(".textbar .hits").inner_text() == "111 lines"  # 29, 290 to 299, 2900 to 2999
    search.press("Enter")
    opened.page.locator(".ln.hit", has_text="%x.290 ").wait_for()
    search.press("Shift+Enter")
    opened.page.locator(".ln.hit", has_text="%x.29 ").wait_for()


# 4,096 devices, from an HLO file.

HLO = """HloModule jit_step, is_scheduled=true, num_partitions=4096

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (x: f32[32,1024], up: f32[1024,64], down: f32[64,1024]) -> f32[32,1024] {
  %x = f32[32,1024]{1,0} parameter(0)
  %up = f32[1024,64]{1,0} parameter(1)
  %down = f32[64,1024]{1,0} parameter(2)
  %h = f32[32,64]{1,0} dot(%x, %up), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %y = f32[32,1024]{1,0} dot(%h, %down), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %rows = f32[32,1024]{1,0} all-reduce(%y), channel_id=1, replica_groups=[64,64]<=[4096], \
use_global_device_ids=true, to_apply=%add
  ROOT %columns = f32[32,1024]{1,0} all-reduce(%rows), channel_id=2, replica_groups=[64,64]<=[64,64]T(1,0), \
use_global_device_ids=true, to_apply=%add
}
"""

# Words drawn on a canvas, and whether each lies inside of it.
TOLD = """() => {
  const told = [], put = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (words, x, y) {
    const width = this.measureText(words).width, scale = this.getTransform().a;
    const left = this.textAlign === "center" ? x - width / 2 : this.textAlign === "right" ? x - width : x;
    told.push([words, left >= 0 && (left + width) * scale <= this.canvas.width + 1, left, left + width, y]);
    return put.call(this, words, x, y);
  };
  globalThis.told = told;
}"""


@pytest.mark.parametrize("mesh", [{"data": 64, "model": 64}, {"replica": 4, "data": 32, "model": 32}])
@pytest.mark.parametrize("width", [900, 1280])
def test_at_4096_devices_no_name_on_the_mesh_is_cut_or_lies_on_another(visit, tmp_path, mesh, width: int):
    file = tmp_path / "step.txt"
    file.write_text(HLO, encoding="utf-8")
    record = pjit_inspect.open(file, mesh=mesh)
    record.to_html(tmp_path / "page.html")
    opened = visit((tmp_path / "page.html").read_text(encoding="utf-8"), width=width)
    opened.page.evaluate(TOLD)
    opened.page.click("[data-tab=heat]")
    opened.page.wait_for_timeout(300)
    told = opened.page.evaluate("globalThis.told.slice(globalThis.told.findLastIndex((one) => one[0] === 'model'))")
    words = {one[0] for one in told}
    assert set(mesh) <= words
    assert all(inside for _, inside, *_ in told), told
    lines: dict[float, list[tuple[float, float, str]]] = {}
    for word, _, left, right, y in told:
        lines.setdefault(round(y), []).append((left, right, word))
    for line in lines.values():
        ordered = sorted(set(line))
        assert all(a[1] <= b[0] + 0.5 for a, b in itertools.pairwise(ordered)), ordered


def test_the_traffic_of_4096_devices_has_a_scale_in_bytes(visit, tmp_path):
    file = tmp_path / "step.txt"
    file.write_text(HLO, encoding="utf-8")
    pjit_inspect.open(file, mesh={"data": 64, "model": 64}).to_html(tmp_path / "page.html")
    opened = visit((tmp_path / "page.html").read_text(encoding="utf-8"), hash="view=traffic")
    opened.page.wait_for_timeout(200)
    scale = opened.texts(".scale span")
    # 16 devices to a cell: rings over `model` give 15 or 16 of their 252 KiB each to a neighbour in the same cell.
    assert scale[0] == "16 devices send 16 others, per call:"
    assert len(scale) == 5
    assert all(words.endswith("iB") for words in scale[1:])
    canvas = opened.select(".matrix canvas").bounding_box()
    first = opened.select(".scale").bounding_box()
    assert first["y"] >= canvas["y"] + canvas["height"]


def test_a_program_of_eight_devices_says_what_its_shades_are(visit):
    opened = visit(program_page(MLP), hash="view=traffic")
    opened.page.wait_for_timeout(200)
    assert opened.texts(".scale span")[0] == "a device sends another, per call:"
