"""Two modules side by side: what was there before, and between what each collective lies; and the optimized one."""

from __future__ import annotations

import re

from data.hlo_texts import parse_hlo_text
from partitioned import AFTER, BEFORE, OPTIMIZED, aligned, partitioned, program, side_by_side

from pjit_inspect.analyze.causes.need_finder import NeedFinder
from pjit_inspect.analyze.collectives.collective_sites import find_sites
from pjit_inspect.analyze.partition.join import join
from pjit_inspect.model.sharding.sharded_program import ShardedProgram


def name_of(propagation: ShardedProgram, value: int) -> str:
    found = propagation.values[value]
    return (
        propagation.inputs[found.argument].name if found.argument is not None else propagation.ops[found.op or 0].kind
    )


def test_equal_layers_on_one_line_are_told_apart_by_their_weights():
    pair = aligned()
    before, after = pair.before.module, pair.after.module
    pairs = {after.instruction(a).name: before.instruction(b).name for a, b in pair.original.items()}
    assert {name: pairs[name] for name in ("d0", "e0", "d1", "e1", "out")} == {
        "d0": "d0", "e0": "e0", "d1": "d1", "e1": "e1", "out": "out",
    }  # fmt: skip


def test_equal_layers_are_told_apart_whatever_order_the_partitioner_wrote_them_in():
    # The second layer's own product before the first's: independent of it, so any order is an order.
    lines = AFTER.splitlines()
    moved = next(line for line in lines if line.startswith("  %a1 ="))
    lines.remove(moved)
    lines.insert(next(k for k, line in enumerate(lines) if line.startswith("  %x =")), moved)
    pair, _ = side_by_side(BEFORE, "\n".join(lines) + "\n")
    pairs = {
        pair.after.module.instruction(a).name: pair.before.module.instruction(b).name for a, b in pair.original.items()
    }
    assert pairs["d1"] == "d1"
    assert pairs["a1"] == "a1"


def test_what_the_partitioner_made_is_none_of_the_program():
    pair = aligned()
    names = {pair.after.module.instruction(index).name for index in pair.original}
    assert not {"ar0", "ar1"} & names


def test_a_sum_lies_between_the_product_and_what_takes_its_result():
    found = program()
    first, second = found.collectives
    assert [name_of(found, value) for value in first.makers] == ["dot_general"]
    assert first.made_shape == (8, 16)
    assert first.made_of == ((8, 16), (16, 16))
    assert [(found.ops[taker.op].kind, taker.operand) for taker in first.takers] == [("dot_general", 0)]
    assert [found.ops[taker.op].kind for taker in second.takers] == ["sine"]


def test_each_sum_serves_the_need_of_its_own_layer():
    found = program()
    finder = NeedFinder(found)
    weights = []
    for edge in found.collectives:
        need = finder.find(edge, ("model",)).need
        assert need is not None
        assert (need.kind, need.is_sum) == ("contraction", True)
        weights.append(name_of(found, need.parts[1].value))
    assert weights == ["b0", "b1"]


def test_an_optimized_collective_is_joined_by_its_channel():
    found = program()
    sites = find_sites(parse_hlo_text(OPTIMIZED))
    assert [[array.edges for array in own] for own in join(found, sites)] == [[(edge,)] for edge in found.collectives]


def test_one_that_lost_its_channel_is_joined_by_what_it_is_made_of():
    found = program()
    sites = find_sites(parse_hlo_text(OPTIMIZED.replace("channel_id=2", "channel_id=7")))
    assert [[array.edges for array in own] for own in join(found, sites)] == [[(edge,)] for edge in found.collectives]


def test_a_channel_of_another_kind_or_other_groups_joins_nothing():
    found = program()
    text = OPTIMIZED.replace("replica_groups={{0,1,2,3}}", "replica_groups={{0,1},{2,3}}")
    assert not any(array.edges for own in join(found, find_sites(parse_hlo_text(text))) for array in own)


def test_nothing_is_joined_to_a_program_without_collectives():
    sites = find_sites(parse_hlo_text(OPTIMIZED))
    assert not any(array.edges for own in join(ShardedProgram(), sites) for array in own)


def test_a_collective_of_nothing_in_a_damaged_program_is_joined_to_nothing():
    text, found = re.subn(r" = f32(\S*) all-reduce\(\S+\)", r" = f32\1 all-reduce()", OPTIMIZED)
    sites = find_sites(parse_hlo_text(text.replace("channel_id=", "x=")))
    assert found
    assert not any(array.edges for own in join(program(), sites) for array in own)


SLICED = """HloModule m, num_partitions=4

ENTRY %main (x: f32[16,8]) -> f32[8,8] {
  %x = f32[16,8] parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="x"}
  %half = f32[8,8] slice(%x), slice={[0:8], [0:8]}, sharding={devices=[4,1]<=[4]}, metadata={op_name="jit(f)/slice"}
  ROOT %out = f32[8,8] sine(%half), sharding={devices=[4,1]<=[4]}, metadata={op_name="jit(f)/sin"}
}
"""
PIECES = """HloModule m, num_partitions=4

ENTRY %main (x: f32[4,8]) -> f32[2,8] {
  %x = f32[4,8] parameter(0), metadata={op_name="x"}
  %low = f32[2,8] slice(%x), slice={[0:2], [0:8]}, metadata={op_name="jit(f)/slice"}
  %a = f32[2,8] collective-permute(%low), channel_id=1, source_target_pairs={{0,0},{1,2}}
  %b = f32[4,8] collective-permute(%x), channel_id=2, source_target_pairs={{0,1},{1,3}}, metadata={op_name="x"}
  %c = f32[2,8] slice(%b), slice={[2:4], [0:8]}
  %piece = f32[2,8] add(%a, %c)
  ROOT %out = f32[2,8] sine(%piece), metadata={op_name="jit(f)/sin"}
}
"""


def sliced(before: str = SLICED, after: str = PIECES) -> ShardedProgram:
    return partitioned(before, after)


def test_what_is_named_after_the_value_that_moves_is_part_of_the_operation_between():
    found = sliced()
    named_after_value = found.collectives[1]
    assert [name_of(found, value) for value in named_after_value.makers] == ["x"]
    assert [found.ops[op].kind for op in named_after_value.visited] == ["slice"]
    need = NeedFinder(found).find(named_after_value, ("model",)).need
    assert need is not None
    assert need.kind == "halo"


def test_a_result_may_be_required_otherwise_than_it_is_computed_behind_a_tuple():
    # So XLA of JAX 0.12 writes one result.
    text = SLICED.replace("ROOT %out =", "%out =").replace(
        "}\n}\n",
        "}\n  %t = (f32[8,8]) tuple(%out), sharding={{devices=[4,1]<=[4]}}\n"
        "  ROOT %r = f32[8,8] get-tuple-element(%t), index=0, sharding={replicated}\n}\n",
    )
    (boundary,) = sliced(before=text).outputs
    assert boundary.spec == ((), ())
