"""Every computation runs as often as its callers say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.program.loops import Runs, count_runs, find_trip_count
from pjit_inspect.model.report.collective import CollectiveTable

LOOP = """HloModule loop, num_partitions=8

%body (s: (s32[], f32[8])) -> (s32[], f32[8]) {{
  %s = (s32[], f32[8]{{0}}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %v = f32[8]{{0}} get-tuple-element(%s), index=1
  %step = s32[] constant({step})
  %next = s32[] add(%i, %step)
  %double = f32[8]{{0}} add(%v, %v)
  ROOT %t = (s32[], f32[8]{{0}}) tuple(%next, %double)
}}

%condition (c: (s32[], f32[8])) -> pred[] {{
  %c = (s32[], f32[8]{{0}}) parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %n = s32[] constant({bound})
  ROOT %go = pred[] compare({sides}), direction={direction}
}}

ENTRY %main (x: f32[8], m: s32[]) -> (s32[], f32[8]) {{
  %x = f32[8]{{0}} parameter(0)
  %m = s32[] parameter(1)
  %first = s32[] constant({first})
  %start = (s32[], f32[8]{{0}}) tuple({init}, %x)
  ROOT %w = (s32[], f32[8]{{0}}) while(%start), condition=%condition, body=%body{config}
}}
"""


def loop(first=0, step=1, bound=10, direction="LT", sides="%k, %n", init="%first", config=""):
    return fixtures.from_text(
        LOOP.format(first=first, step=step, bound=bound, direction=direction, sides=sides, init=init, config=config)
    )


def turns(first: int, step: int, bound: int, direction: str) -> int | None:
    """By running the loop; None when it does not end soon."""
    compare = {
        "LT": lambda i: i < bound,
        "LE": lambda i: i <= bound,
        "GT": lambda i: i > bound,
        "GE": lambda i: i >= bound,
        "NE": lambda i: i != bound,
    }[direction]
    count, value = 0, first
    while compare(value):
        count, value = count + 1, value + step
        if count > 1000:
            return None
    return count


@pytest.mark.parametrize("direction", ["LT", "LE", "GT", "GE", "NE"])
@pytest.mark.parametrize(
    ("first", "step", "bound"), [(0, 1, 10), (3, 4, 12), (10, -3, 0), (5, 1, 5), (0, 0, 4), (7, 2, 1)]
)
def test_a_counted_loop_runs_as_often_as_when_it_is_run(first: int, step: int, bound: int, direction: str):
    module = loop(first, step, bound, direction)
    found = module.find("w")
    assert found is not None
    assert find_trip_count(found) == turns(first, step, bound, direction)


def test_a_loop_that_xla_unrolled_adds_to_its_counter_several_times():
    twice = "%half = s32[] add(%i, %step)\n  %next = s32[] add(%step, %half)"
    text = LOOP.format(first=0, step=1, bound=8, direction="LT", sides="%k, %n", init="%first", config="")
    found = fixtures.from_text(text.replace("%next = s32[] add(%i, %step)", twice)).find("w")
    assert found is not None
    assert find_trip_count(found) == 4
    # An addition of two constants is none of the counter.
    other = fixtures.from_text(text.replace("add(%i, %step)", "add(%step, %step)")).find("w")
    assert other is not None
    assert find_trip_count(other) is None


def test_the_counter_may_stand_on_the_right():
    found = loop(bound=6, sides="%n, %k", direction="GT").find("w")
    assert found is not None
    assert find_trip_count(found) == 6


def test_a_loop_that_starts_at_an_argument_is_unknown():
    module = loop(init="%m")
    found = module.find("w")
    assert found is not None
    assert find_trip_count(found) is None
    runs = dict(zip(module.computations.names, count_runs(module), strict=True))
    assert runs["body"] == Runs(None, None)


def test_what_xla_knows_wins():
    module = loop(init="%m", config=', backend_config={"known_trip_count":{"n":"17"}}')
    runs = dict(zip(module.computations.names, count_runs(module), strict=True))
    assert runs == {"main": (1, 1), "body": (17, 17), "condition": (18, 18)}


def test_a_backend_config_that_is_no_json_is_no_trip_count():
    found = loop(config=', backend_config="known_trip_count"').find("w")
    assert found is not None
    assert find_trip_count(found) == 10


def test_a_collective_in_a_scan_of_jax_counts_once_per_trip():
    assert _counts(lambda jax, x: _scan(jax, x, 5)) == {"psum": (5, 5)}


def test_trip_counts_multiply_through_nested_loops():
    assert _counts(lambda jax, x: jax.lax.fori_loop(0, 4, lambda i, c: _scan(jax, c, 3), x)) == {"psum": (12, 12)}


def test_a_loop_that_ends_by_its_data_has_no_count():
    def until(jax, x):
        return jax.lax.while_loop(lambda c: c.sum() < 1e9, lambda c: jax.lax.psum(c, "model"), x)

    assert _counts(until) == {"psum": (None, None)}


def test_a_branch_may_be_skipped():
    def either(jax, x):
        return jax.lax.cond(x[0, 0] > 0, lambda v: jax.lax.psum(v, "model"), lambda v: v * 2, x)

    assert _counts(either) == {"psum": (0, 1)}


def test_what_both_branches_do_is_two_collectives_that_may_be_skipped():
    def either(jax, x):
        return jax.lax.cond(
            x[0, 0] > 0, lambda v: jax.lax.psum(v, "model"), lambda v: jax.lax.psum(v * 2, "model") + 1, x
        )

    rows = _collectives(either)
    assert [(row.count_min, row.count) for row in rows] == [(0, 1), (0, 1)]


def test_a_branch_in_a_loop_runs_between_never_and_once_per_trip():
    def loop(jax, x):
        def turn(_, c):
            return jax.lax.switch(
                jax.numpy.int32(c[0, 0]) % 3,
                [lambda v: v, lambda v: _scan(jax, v, 2), lambda v: jax.lax.all_to_all(v, "model", 0, 0, tiled=True)],
                c,
            )

        return jax.lax.fori_loop(0, 5, turn, x)

    rows = _collectives(loop)
    assert {row.kind: (row.count_min, row.count) for row in rows} == {"all-reduce": (0, 10), "all-to-all": (0, 5)}


def _scan(jax, x, length):
    return jax.lax.scan(lambda c, _: (jax.lax.psum(c, "model") / 4, None), x, None, length=length)[0]


def _counts(body) -> dict[str, tuple[int | None, int | None]]:
    """How often the collectives of `body` run."""
    rows = _collectives(body)
    assert all(row.axes == ("model",) for row in rows)
    return {re.sub(r"[^a-z].*", "", row.instructions[0]): (row.count_min, row.count) for row in rows}


def _collectives(body) -> CollectiveTable:
    """The collectives of `body(jax, x)` in a shard_map over a 2 x 4 mesh."""
    jax = pytest.importorskip("jax")
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    spec = jax.sharding.PartitionSpec("data")
    mapped = jax.shard_map(lambda x: body(jax, x), mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    module = fixtures.compiled(mapped, np.ones((16, 32), np.float32))
    return find_collectives(module, fixtures.mesh_of(mesh))
