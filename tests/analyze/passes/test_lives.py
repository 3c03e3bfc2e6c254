"""Lives of collectives that are written by hand: a sentence only where operations or channels tell it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pjit_inspect.analyze.passes.lives import PassHistory, find_history
from pjit_inspect.analyze.passes.steps import PassSite, Snapshot, pass_of
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.passes import Life, PassTable


def site(name: str, *ids: int, **more: Any) -> PassSite:
    given = {"kind": "all-reduce", "is_async": False, "shapes": ("f32[8]",), "channel": None, "depth": 0}
    given["operands"] = tuple(f"{name}.{place}" for place in range(len(more.get("shapes", ("",)))))
    return PassSite(name=name, paths=tuple((number,) for number in ids), **given | more)


def history(*steps: tuple[PassSite, ...]) -> PassHistory:
    counts = {"instructions": 0, "fusions": 0, "copies": 0, "collectives": (), "kernels": {}}
    snapshots = (
        Snapshot(number=number, name=f"pass{number}", pipeline="", sites=sites, **counts)
        for number, sites in enumerate(steps)
    )
    return find_history(snapshots, lambda path: f"op{path[-1]}")


def lives(*steps: tuple[PassSite, ...]) -> tuple[Life, ...]:
    return history(*steps).lives


def events(life: Life) -> list[tuple[int, str, tuple[int, ...]]]:
    return [(event.number, event.kind, event.ids) for event in life.events]


def test_one_is_made_and_stays() -> None:
    (life,) = lives((), (site("a", 3),), (site("b", 3),))
    assert events(life) == [(1, "made", (3,))]
    assert (life.name, life.is_removed, str(life)) == ("b", False, "pass 1, pass1: all-reduce made for: op3")


def test_an_all_reduce_becomes_a_reduce_scatter_by_its_operation() -> None:
    (life,) = lives((), (site("a", 3),), (site("b", 3, kind="reduce-scatter"),))
    assert events(life) == [(1, "made", (3,)), (2, "changed", ())]
    assert life.events[1].words == "all-reduce became reduce-scatter"


def test_one_that_lost_its_operation_is_known_by_its_channel() -> None:
    (life,) = lives((), (site("a", 3, channel=7),), (site("b", kind="reduce-scatter", channel=7),))
    assert events(life) == [(1, "made", (3,)), (2, "changed", ())]


def test_one_that_lost_both_is_unknown_on_either_side() -> None:
    new, old = lives((), (site("a", 3, channel=7),), (site("b", kind="reduce-scatter", channel=8),))
    assert events(new) == [(2, "unknown", ())]
    assert events(old) == [(1, "made", (3,)), (2, "unknown", ())]
    assert old.is_removed
    assert not old.is_known


def test_several_are_combined() -> None:
    (life,) = lives((), (site("a", 3), site("b", 4)), (site("c", 3, 4, shapes=("f32[8]", "f32[8]")),))
    assert events(life) == [(1, "made", (3, 4)), (2, "combined", (3, 4))]


def test_a_combined_one_that_names_one_operation_leaves_the_others_unknown() -> None:
    new, old = lives((), (site("a", 3), site("b", 4)), (site("c", 3, shapes=("f32[8]", "f32[8]")),))
    assert new.events[-1].words == "combined with others, unknown which"
    assert [event.kind for event in old.events] == ["made", "unknown"]


def test_a_combined_one_is_known_by_operands_that_nobody_else_takes() -> None:
    both = {"shapes": ("f32[8]", "f32[8]"), "operands": ("a.0", "b.0")}
    (life,) = lives((), (site("a", 3), site("b", 4)), (site("c", 3, **both),))
    assert events(life) == [(1, "made", (3, 4)), (2, "combined", (3, 4))]
    also = site("d", 5, operands=("a.0",))
    assert "combined with others, unknown which" in str(
        lives((), (site("a", 3), site("b", 4), also), (site("c", 3, **both),))[0]
    )


def test_one_that_lost_its_operation_is_known_by_its_operands() -> None:
    (life,) = lives((), (site("a", 3),), (site("b", kind="reduce-scatter", operands=("a.0",)),))
    assert events(life) == [(1, "made", (3,)), (2, "changed", ())]


def test_one_is_made_asynchronous_and_moved_out_of_a_loop() -> None:
    (life,) = lives((), (site("a", 3, depth=1),), (site("b", 3, is_async=True),))
    assert [event.kind for event in life.events] == ["made", "asynchronous", "moved"]


def test_one_is_removed_only_if_all_others_are_understood() -> None:
    kept, gone = lives((), (site("a", 3), site("b", 4)), (site("a", 3),))
    assert events(kept) == [(1, "made", (3,))]
    assert events(gone) == [(1, "made", (4,)), (2, "removed", ())]


def test_of_two_of_one_operation_the_channel_tells_which_is_left() -> None:
    kept, gone = lives((), (site("a", 3, channel=1), site("b", 3, channel=2)), (site("c", 3, channel=2),))
    assert (kept.name, gone.name, gone.events[-1].kind) == ("c", "a", "unknown")


def test_beside_one_that_is_as_it_was_another_of_its_operation_was_removed() -> None:
    kept, gone = lives((), (site("a", 3, channel=1), site("b", 3, channel=2)), (site("b", 3, channel=2),))
    assert (kept.name, gone.name, gone.events[-1].kind) == ("b", "a", "removed")


def test_one_of_an_inlined_function_is_known_by_the_end_of_its_path() -> None:
    inlined = replace(site("b", 3), paths=((9, 3),))
    (life,) = lives((), (site("a", 3),), (inlined,))
    assert [event.kind for event in life.events] == ["made"]


def test_a_change_at_the_start_of_a_pipeline_is_of_the_pass_that_runs_it() -> None:
    start = "pipeline-start"
    steps = [(start, "outer"), ("dce", "outer"), (start, "inner"), ("cse", "inner"), ("partition", "outer")]
    assert pass_of(steps, 2) == ("partition", "outer")
    assert pass_of(steps, 3) == ("cse", "inner")
    assert pass_of(steps[:4], 2) == ("before inner", "")
    again = [*steps[:3], (start, "outer"), ("dce", "outer")]
    assert pass_of(again, 2) == ("before inner", "")
    whole = [("before_optimizations", ""), *steps[:4], ("after_optimizations", "")]
    assert pass_of(whole, 3) == ("before inner", ""), "the last program is no pass that runs a pipeline"


def test_one_in_a_fusion_or_an_asynchronous_computation_is_found_by_what_runs_it() -> None:
    row = Collective(
        kind="all-reduce", axes=(), groups=(), dtype="f32", local_shape=(8,), payload_bytes=32, wire_bytes=0,
        instructions=("start", "done"),
    )  # fmt: skip
    found = lives((), (site("a", 3, held_by=("start",)), site("b", 4, held_by=("loop",))))
    assert PassTable((), found, _same=frozenset("ab")).life(row) is found[0]
    assert PassTable((), found, _same=frozenset("b")).life(row) is None
    two = lives((), (site("a", 3, held_by=("start",)), site("b", 4, held_by=("start",))))
    assert PassTable((), two, _same=frozenset("ab")).life(row) is None
