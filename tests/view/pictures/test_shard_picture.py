"""Pictures of arrays agree with `ArrayLayout.shards`, for every rank and every way to cut."""

from __future__ import annotations

import itertools
import math
from xml.etree import ElementTree

import view_reports
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.view.document.colors import NEUTRAL, SEVERAL, Palette
from pjit_inspect.view.document.notation import ranges_text
from pjit_inspect.view.record.arrays import holdings
from pjit_inspect.view.svg.shard_picture import draw_shards, shard_face

SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def layouts(draw) -> ArrayLayout:
    """An array of rank 0 to 5, each dimension cut at random, on devices in random order, perhaps with copies."""
    rank = draw(st.integers(0, 5))
    tiles = tuple(draw(st.sampled_from((1, 1, 2, 3, 4, 12))) for _ in range(rank))
    if math.prod(tiles) > 300:
        tiles = tuple(min(count, 2) for count in tiles)
    shape = tuple(count * draw(st.integers(1, 5)) for count in tiles)
    copies = draw(st.integers(1, 3))
    tile_of = tuple(range(math.prod(tiles))) * copies
    devices = draw(st.permutations(range(len(tile_of))))
    sharding = Sharding(spec=None, tiles=tiles, device_ids=tuple(devices), tile_of=tile_of)
    return ArrayLayout(path="x", dtype="float32", global_shape=shape, sharding=sharding)


@given(layouts())
def test_a_block_has_exactly_the_devices_whose_slice_begins_in_it(layout):
    face = shard_face(layout)
    assert face is not None
    lengths = [length // count for length, count in zip(layout.global_shape, layout.sharding.tiles, strict=True)]
    expected: dict[tuple[int, int], set[int]] = {}
    for device, slices in layout.shards.items():
        index = [part.start // length for part, length in zip(slices, lengths, strict=True)]
        if any(index[dim] for dim in face.depth_dims):
            continue
        row = 0 if face.row_dim is None else index[face.row_dim] // face.per_block[0]
        column = 0 if face.column_dim is None else index[face.column_dim] // face.per_block[1]
        expected.setdefault((row, column), set()).add(device)
    assert {(b.row, b.column): set(b.devices) for b in face.blocks if b.devices} == expected


@given(layouts())
def test_blocks_fill_the_face_and_split_dimensions_are_drawn_first(layout):
    face = shard_face(layout)
    assert face is not None
    assert {(b.row, b.column) for b in face.blocks} == set(itertools.product(range(face.rows), range(face.columns)))
    tiles = layout.sharding.tiles
    drawn = [dim for dim in (face.row_dim, face.column_dim) if dim is not None]
    assert sorted((*drawn, *face.depth_dims)) == list(range(len(tiles)))
    if any(tiles[dim] > 1 for dim in face.depth_dims):
        assert all(tiles[dim] > 1 for dim in drawn)


@given(layouts())
def test_every_holding_is_the_slice_of_its_devices(layout):
    pairs = holdings(layout, limit=1000)
    assert sum(len(devices) for devices, _ in pairs) == len(layout.shards)
    for devices, slices in pairs:
        assert all(layout.shards[device] == slices for device in devices)


@given(layouts())
def test_every_picture_is_well_formed_and_finite(layout):
    svg = draw_shards(layout, Palette(()))
    root = ElementTree.fromstring(svg.write())
    assert (root.get("width"), root.get("height")) == tuple(str(size) for size in svg.size)
    assert max(svg.size) < 700
    assert "nan" not in svg.write()


def _picture(layout: ArrayLayout, *axes: str) -> tuple[str, list[str]]:
    text = draw_shards(layout, Palette(axes)).write()
    return text, [node.text or "" for node in ElementTree.fromstring(text).iter(f"{SVG}text")]


def test_each_block_names_its_devices_and_each_ruler_its_length_and_axis():
    mesh = view_reports.mesh_of(data=2, model=4)
    text, labels = _picture(view_reports.array("w", "float32", (1024, 4096), mesh, "data", "model"), "data", "model")
    assert labels == [*"01234567", "4096 model", "1024 data"]
    assert SEVERAL in text


def test_copies_are_hatched_and_stacked():
    mesh = view_reports.mesh_of(data=2, model=4)
    text, labels = _picture(view_reports.array("x", "float32", (32, 512), mesh, "data"), "data", "model")
    assert labels == ["0-3", "4-7", "512", "32 data"]
    assert "<pattern" in text
    whole, _ = _picture(view_reports.array("w", "float32", (32, 512), mesh, "data", "model"), "data", "model")
    assert "<pattern" not in whole


def test_an_array_nobody_cuts_is_grey():
    mesh = view_reports.mesh_of(X=8)
    text, labels = _picture(view_reports.array("x", "float32", (16, 32), mesh), "X")
    assert labels == ["0-7", "32", "16"]
    assert f'fill="{NEUTRAL}" fill-opacity="0.45"' in text


def test_an_unknown_sharding_says_unknown():
    layout = ArrayLayout(path="x", dtype="float32", global_shape=(8,), sharding=None)
    assert shard_face(layout) is None
    assert _picture(layout)[1] == ["unknown"]


def test_many_tiles_share_blocks_and_no_device_number_is_cut():
    layout = view_reports.huge(inputs=2).data.inputs[1]
    face = shard_face(layout)
    assert face is not None
    assert (face.rows, face.columns, face.per_block) == (4, 4, (16, 16))
    numbers = {str(number) for number in range(4096)}
    for label in _picture(layout, "data", "model")[1][:16]:
        assert label.removesuffix(" ..").removesuffix(" ...").split("-")[0] in numbers


def test_the_words_under_a_picture_name_every_device_of_small_arrays():
    mesh = view_reports.mesh_of(data=2, model=4)
    layout = view_reports.array("x", "float32", (32, 512), mesh, "data")
    assert [ranges_text(devices) for devices, _ in holdings(layout)] == ["0-3", "4-7"]
