"""Reasons that need no edit: the same arrays combined otherwise, a part computed again; and axes under other names."""

from __future__ import annotations

from pjit_inspect.analyze.diff.axes import called_after, code_after, find_renamed, spec_after
from pjit_inspect.analyze.diff.combined import with_combined
from pjit_inspect.analyze.diff.names import LayerNames, same_layers
from pjit_inspect.analyze.diff.places import Places
from pjit_inspect.analyze.diff.recomputed import with_recomputed
from pjit_inspect.analyze.diff.side import ProgramNames
from pjit_inspect.model.diff.pairs import COMBINED, CollectiveDiff, Pair
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective, Phase
from pjit_inspect.model.words.sentence import Sentence, code, say

_NAMES = ProgramNames(layers=LayerNames(), places=Places(()), paths=frozenset(), function="step")
BOTH = (_NAMES, _NAMES)
FORWARD, AGAIN = "jit(step)/jvp()/dot", "jit(step)/transpose(jvp())/rematted_computation/dot"


def summed(*arrays: str, op_name: str = FORWARD, phase: Phase = "forward", candidates: int = 1) -> Collective:
    """An all-reduce over `x` of arrays of 4 bytes, each the sum in a product that is called so."""
    causes = tuple(
        Cause(
            kind="contraction",
            sentence=say("{} sums over dimension 0.", code(f"{own}(x)")),
            operation=say("{}", code(f"{own}(x)")),
            evidence="sharding",
            op_name=op_name,
            payload_bytes=4,
            candidates=candidates,
        )
        for own in arrays
    )
    size = 4 * len(arrays)
    return Collective(
        kind="all-reduce", axes=("x",), groups=((0, 1),), dtype="f32", local_shape=(), operands=len(arrays),
        payload_bytes=size, wire_bytes=size, op_name=op_name, phase=phase, causes=causes,
    )  # fmt: skip


def came_and_went(before: list[Collective], after: list[Collective]) -> CollectiveDiff:
    gone = [Pair(before=row, after=None) for row in before]
    return CollectiveDiff((*gone, *(Pair(before=None, after=row) for row in after)))


def reasons(table: CollectiveDiff) -> list[Sentence]:
    return [pair.reason for pair in table]


def test_arrays_that_both_programs_move_are_combined_otherwise():
    table = came_and_went([summed("a", "b")], [summed("a"), summed("b")])
    assert reasons(with_combined(table, BOTH)) == [COMBINED] * 3


def test_an_array_that_only_one_program_moves_has_no_such_reason():
    table = came_and_went([summed("a", "b")], [summed("a"), summed("c")])
    assert reasons(with_combined(table, BOTH)) == ["", COMBINED, ""]


def test_one_array_more_of_a_kind_is_no_combination():
    table = came_and_went([summed("a", "a")], [summed("a"), summed("a"), summed("a")])
    assert reasons(with_combined(table, BOTH)) == ["", "", "", ""]


def test_where_one_program_tells_alike_operations_apart_their_number_and_place_must_do():
    table = came_and_went([summed("a", "a", candidates=2)], [summed("a"), summed("b")])
    assert reasons(with_combined(table, BOTH)) == [COMBINED] * 3


def test_where_nothing_was_combined_nothing_is_said_to_be():
    table = came_and_went([summed("a")], [summed("a")])
    assert reasons(with_combined(table, BOTH)) == ["", ""]


def test_a_part_of_the_forward_pass_that_is_computed_again_is_proven_by_both_forward_passes():
    again = summed("a", op_name=AGAIN, phase="recompute")
    both = Pair(before=summed("a"), after=summed("a"), by=("value",))
    found = with_recomputed(CollectiveDiff((both, Pair(before=None, after=again))), BOTH)
    assert reasons(found) == ["", "the backward pass computes this part of the forward pass again"]
    turned = with_recomputed(CollectiveDiff((both, Pair(before=again, after=None))), BOTH)
    assert reasons(turned) == ["", "the backward pass no longer computes this part of the forward pass again"]
    alone = with_recomputed(CollectiveDiff((Pair(before=None, after=again),)), BOTH)
    assert reasons(alone) == [""]


# ---------------------------------------------------------------- axes


def mesh(*axes: tuple[str, int], ids: tuple[int, ...] = tuple(range(8))) -> Mesh:
    return Mesh(axis_names=tuple(name for name, _ in axes), shape=tuple(size for _, size in axes), device_ids=ids)


def test_axes_along_which_the_same_devices_lie_are_one_axis_under_two_names():
    before = mesh(("data", 2), ("model", 4))
    assert find_renamed(before, mesh(("fsdp", 2), ("model", 4))) == {"data": "fsdp"}
    assert find_renamed(before, mesh(("fsdp", 2), ("tensor", 4))) == {"data": "fsdp", "model": "tensor"}
    assert find_renamed(before, before) == {}


def test_axes_of_other_groups_and_names_that_changed_places_are_no_renaming():
    before = mesh(("data", 2), ("model", 4))
    assert find_renamed(before, mesh(("fsdp", 4), ("model", 2))) == {}
    assert find_renamed(before, mesh(("fsdp", 2), ("model", 4), ids=(0, 2, 4, 6, 1, 3, 5, 7))) == {}
    assert find_renamed(mesh(("a", 2), ("b", 4)), mesh(("b", 2), ("a", 4))) == {}
    assert find_renamed(before, None) == {}


def test_specs_parts_of_axes_and_quoted_names_follow_a_renaming():
    renamed = {"data": "fsdp"}
    assert spec_after((None, "data", ("model", "data:(1)2")), renamed) == (None, "fsdp", ("model", "fsdp:(1)2"))
    assert called_after("database", renamed) == "database"
    assert code_after("""P("data", 'data', "data2", data)""", renamed) == """P("fsdp", 'fsdp', "data2", data)"""


def test_layers_of_bare_programs_are_the_same_by_number_where_both_have_the_same():
    before, after = [("layer0/a", None), ("layer1/b", None)], [("layer0/c", None), ("layer1/d", None)]
    assert same_layers(before, after)[0].of("layer1/b") == "layer<-1>/b"
    one, two = same_layers(before, after, by_number=True)
    assert one.of("layer1/x") == two.of("layer1/x") == "layer<1|1>/x"
    assert same_layers(before, [*after, ("layer2/e", None)], by_number=True)[0].of("layer1/b") == "layer<-1>/b"
