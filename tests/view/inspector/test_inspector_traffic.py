from __future__ import annotations

from pjit_inspect.analyze.collectives.traffic import find_link_traffic
from pjit_inspect.model.report.collective import Collective


def collective(kind: str, groups, *, payload: int = 100, wire: int = 60, count: int | None = 1) -> Collective:
    return Collective(
        kind=kind,
        axes=None,
        groups=groups,
        dtype="f32",
        local_shape=(1,),
        payload_bytes=payload,
        wire_bytes=wire,
        count=count,
    )


def pairs(*rows: Collective) -> dict[tuple[int, int], float]:
    found = find_link_traffic(rows)
    return dict(
        zip(zip(found.sources.tolist(), found.targets.tolist(), strict=True), found.sent_bytes.tolist(), strict=True)
    )


def test_a_ring_sends_to_the_next_of_its_group():
    assert pairs(collective("all-gather", ((0, 1, 2), (3, 4, 5)))) == {
        (0, 1): 60, (1, 2): 60, (2, 0): 60, (3, 4): 60, (4, 5): 60, (5, 3): 60
    }  # fmt: skip


def test_runs_and_collectives_add_up():
    twice = collective("all-reduce", ((0, 1),), count=2)
    assert pairs(twice, collective("all-gather", ((0, 1),), wire=1)) == {(0, 1): 121, (1, 0): 121}


def test_a_permute_sends_its_payload_to_its_target_and_nothing_to_itself():
    assert pairs(collective("collective-permute", ((0, 3), (1, 1)))) == {(0, 3): 100}


def test_an_all_to_all_sends_each_other_device_an_equal_part():
    assert pairs(collective("all-to-all", ((0, 1, 2),))) == {(a, b): 30 for a in range(3) for b in range(3) if a != b}


def test_a_broadcast_is_a_chain():
    assert pairs(collective("collective-broadcast", ((2, 0, 1),))) == {(2, 0): 100, (0, 1): 100}


def test_unknown_groups_and_too_many_pairs_are_left_out_and_counted():
    many = collective("all-to-all", (tuple(range(1000)),))
    assert find_link_traffic([collective("all-gather", ()), many]).left_out == 2
    assert find_link_traffic([]).per_position(3).tolist() == [0.0, 0.0, 0.0]
