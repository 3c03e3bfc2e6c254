"""The layered layout of small graphs (`layered/layered.js`), run by node; checked from the geometry alone."""

from __future__ import annotations

import itertools
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "analyze" / "graph"))
import graph_cases
from data import hlo_fixtures as fixtures
from front_sources import address, run_node

TOLERANCE = 0.02  # pixels


def layouts(graphs: list[dict[str, Any]], width: int = 1200) -> list[dict[str, Any]]:
    """The picture of each graph; what it throws, as {"error": words}."""
    program = f"""
      import {{ readFileSync }} from "node:fs";
      import {{ layered }} from "{address("layered/layered")}";
      const draw = (graph) => {{ try {{ return layered(graph, {{ width: {width} }}); }} catch (error) {{ return {{ error: error.message }}; }} }};
      console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(draw)));
    """  # noqa: E501
    return run_node(program, json.dumps(graphs))


def random_graph(chosen: random.Random, nodes: int, edges: int, reach: int) -> dict[str, Any]:
    pairs = set()
    for _ in range(edges):
        source = chosen.randrange(max(1, nodes - 1))
        target = min(nodes - 1, source + 1 + chosen.randrange(reach))
        if source < target:
            pairs.add((source, target))
    names = list(range(nodes))
    chosen.shuffle(names)
    sizes = [{"width": chosen.randint(24, 220), "height": chosen.choice((18, 30, 42))} for _ in range(nodes)]
    return {"nodes": sizes, "edges": [[names[a], names[b]] for a, b in sorted(pairs)]}


def overlaps(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    """Whether two rectangles (left, top, right, bottom) share more than a border."""
    return a[0] < b[2] - TOLERANCE and b[0] < a[2] - TOLERANCE and a[1] < b[3] - TOLERANCE and b[1] < a[3] - TOLERANCE


def rectangle(box: dict[str, float]) -> tuple[float, ...]:
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def check(graph: dict[str, Any], picture: dict[str, Any]) -> None:
    """No two boxes overlap; every edge runs from its source's lower to its target's upper border, never up, through no
    box; nothing leaves the picture."""
    boxes = [rectangle(box) for box in picture["boxes"]]
    assert len(boxes) == len(graph["nodes"])
    assert len(picture["routes"]) == len(graph["edges"])
    for a, b in itertools.combinations(boxes, 2):
        assert not overlaps(a, b)
    for box in boxes:
        assert box[0] >= -TOLERANCE
        assert box[1] >= -TOLERANCE
        assert box[2] <= picture["width"] + TOLERANCE
        assert box[3] <= picture["height"] + TOLERANCE
    for (source, target), route in zip(graph["edges"], picture["routes"], strict=True):
        check_route(boxes, boxes[source], boxes[target], route)


def check_route(boxes: list[tuple[float, ...]], source: tuple[float, ...], target: tuple[float, ...], route: Any):
    (x, y), (to_x, to_y) = route[0], route[-1]
    assert source[0] <= x <= source[2]
    assert target[0] <= to_x <= target[2]
    assert y == pytest.approx(source[3])
    assert to_y == pytest.approx(target[1])
    for (ax, ay), (bx, by) in itertools.pairwise(route):
        assert by >= ay - TOLERANCE
        assert abs(ax - bx) < TOLERANCE or abs(ay - by) < TOLERANCE  # straight down or across
        run = min(ax, bx) - TOLERANCE, ay - TOLERANCE, max(ax, bx) + TOLERANCE, by + TOLERANCE
        thinner = run[0] + TOLERANCE, run[1] + TOLERANCE, run[2] - TOLERANCE, run[3] - TOLERANCE
        assert not any(crosses(thinner, box) for box in boxes)


def crosses(run: tuple[float, ...], box: tuple[float, ...]) -> bool:
    """Whether a run goes through the inside of a box; along its border it does not."""
    return (
        run[0] < box[2] - TOLERANCE
        and run[2] > box[0] + TOLERANCE
        and run[1] < box[3] - TOLERANCE
        and run[3] > box[1] + TOLERANCE
    )


def test_no_edge_of_a_random_graph_goes_through_a_box_or_up():
    chosen = random.Random(1)
    graphs = [random_graph(chosen, 1 + n % 50, n % 120, 1 + n % 40) for n in range(300)]
    for graph, picture in zip(graphs, layouts(graphs), strict=True):
        check(graph, picture)


@pytest.mark.parametrize("name", fixtures.ALL)
def test_no_edge_inside_a_box_of_a_real_program_goes_through_a_kernel(name: str):
    graph = graph_cases.fixture(name)[2]
    chosen = random.Random(2)
    graphs = []
    for box in range(len(graph.boxes)):
        kernels = graph.kernels_of(box).tolist()
        if len(kernels) > 120:
            continue
        place = {kernel: n for n, kernel in enumerate(kernels)}
        sizes = [{"width": chosen.randint(60, 220), "height": chosen.choice((30, 42))} for _ in kernels]
        graphs.append({"nodes": sizes, "edges": [[place[a], place[b]] for a, b in graph.edges_of(box).tolist()]})
    for given, picture in zip(graphs, layouts(graphs), strict=True):
        check(given, picture)


def test_the_same_graph_gives_the_same_picture():
    graphs = [random_graph(random.Random(seed), 40, 60, 8) for seed in range(10)]
    assert layouts(graphs) == layouts(graphs)


def test_a_chain_is_one_straight_line():
    sizes = [{"width": width, "height": 30} for width in (100, 40, 200, 60)]
    [picture] = layouts([{"nodes": sizes, "edges": [[0, 1], [1, 2], [2, 3]]}])
    assert len({box["x"] + box["width"] / 2 for box in picture["boxes"]}) == 1
    assert all(len(route) == 2 for route in picture["routes"])
    tops = [box["y"] for box in picture["boxes"]]
    assert tops == sorted(tops)


def test_a_weight_stands_right_above_its_use():
    # 0 -> 1 -> 2 -> 3, and 4 is taken by 3 only
    sizes = [{"width": 80, "height": 30}] * 5
    [picture] = layouts([{"nodes": sizes, "edges": [[0, 1], [1, 2], [2, 3], [4, 3]]}])
    assert picture["boxes"][4]["y"] == picture["boxes"][2]["y"]


def test_two_trees_that_cross_in_the_given_order_are_untangled():
    # K2,2 without crossing: sources 0, 1 and targets 2, 3 with 0 -> 3 and 1 -> 2
    sizes = [{"width": 80, "height": 30}] * 5
    [picture] = layouts([{"nodes": sizes, "edges": [[0, 3], [1, 2], [4, 3], [4, 2]]}])
    boxes = picture["boxes"]
    assert (boxes[0]["x"] < boxes[1]["x"]) == (boxes[3]["x"] < boxes[2]["x"])


def test_boxes_without_edges_stand_in_rows():
    graph = {"nodes": [{"width": 100, "height": 30}] * 30, "edges": []}
    [picture] = layouts([graph], width=500)
    check(graph, picture)
    assert picture["width"] <= 500


def test_the_empty_graph_has_no_size():
    [picture] = layouts([{"nodes": [], "edges": []}])
    assert (picture["width"], picture["height"]) == (0, 0)


@pytest.mark.parametrize(
    ("edges", "words"),
    [([[0, 1], [1, 0]], "circle"), ([[0, 0]], "two different nodes"), ([[0, 7]], "edge 0 -> 7")],
)
def test_what_is_no_such_graph_is_refused(edges: list[list[int]], words: str):
    [told] = layouts([{"nodes": [{"width": 10, "height": 10}] * 2, "edges": edges}])
    assert words in told["error"]


def test_a_long_chain_needs_no_deep_stack():
    count = 5000
    graph = {"nodes": [{"width": 20, "height": 10}] * count, "edges": [[i, i + 1] for i in range(count - 1)]}
    [picture] = layouts([graph])
    assert picture["boxes"][-1]["y"] > picture["boxes"][0]["y"]
