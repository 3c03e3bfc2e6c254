"""Before and after one collective, worked out by hand for each kind."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import view_reports
from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.program.loops import find_running_instructions
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.view.inspector.moves import move_data

REPORT = view_reports.train_step()
ADD = "%add (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  %y = f32[] parameter(1)\n"
ADD += "  ROOT %s = f32[] add(%x, %y)\n}\n"
GROUPS = "replica_groups={{0,1,2,3},{4,5,6,7}}"


def moved(kind: str, shape: tuple[int, ...], line: str = "", *, groups=((0, 1, 2, 3), (4, 5, 6, 7)), operands: int = 1):
    """The pictures of the collective that `line` of a program is."""
    row = Collective(
        kind=kind, axes=("model",), groups=groups, dtype="f32", local_shape=shape, payload_bytes=64, wire_bytes=64,
        operands=operands, instructions=("c",),
    )  # fmt: skip
    text = f"HloModule m\n\n{ADD}\nENTRY %main (p: f32[4,8]) -> f32[4,8] {{\n  %p = f32[4,8] parameter(0)\n{line}\n}}\n"
    return move_data(REPORT, row, find_running_instructions(parse_hlo_text(text)) if line else None)


def held(side) -> dict[int, int]:
    return dict(zip(side["devices"], side["tile_of"], strict=True))


def test_an_all_reduce_makes_copies_of_partial_sums():
    found = moved("all-reduce", (4, 8))
    assert found is not None
    assert (found["before"]["caption"], found["after"]["caption"]) == ("Σ partial ×4", "4 copies")
    assert found["before"]["is_partial"]
    assert held(found["after"]) == {0: 0, 1: 0, 2: 0, 3: 0}
    assert found["note"].startswith("Drawn: 4 devices, 0-3. 1 other group does the same.")


def test_an_all_gather_makes_copies_of_the_parts_joined_along_its_dimension():
    line = f"  ROOT %c = f32[4,32] all-gather(%p), {GROUPS}, dimensions={{1}}"
    found = moved("all-gather", (4, 8), line)
    assert found is not None
    assert found["before"]["shape"] == found["after"]["shape"] == [4, 32]
    assert found["before"]["tiles"] == [1, 4]
    assert held(found["before"]) == {0: 0, 1: 1, 2: 2, 3: 3}


def test_a_reduce_scatter_leaves_each_a_part_of_the_sum():
    line = f"  ROOT %c = f32[1,8] reduce-scatter(%p), {GROUPS}, dimensions={{0}}, to_apply=%add"
    found = moved("reduce-scatter", (4, 8), line)
    assert found is not None
    assert found["before"]["is_partial"]
    assert found["after"]["tiles"] == [4, 1]


@pytest.mark.parametrize(
    ("line", "shape", "operands", "piece"),
    [
        (f"  ROOT %c = f32[4,8] all-to-all(%p), {GROUPS}, dimensions={{1}}", (4, 8), 1, "f32[4,2]"),
        (f"  %c = (f32[4,8], f32[4,8], f32[4,8], f32[4,8]) all-to-all(%p, %p, %p, %p), {GROUPS}\n"
         "  ROOT %r = f32[4,8] get-tuple-element(%c), index=0", (4, 8), 4, "f32[4,8]"),
    ],
    ids=["cut along a dimension", "an operand for each device"],
)  # fmt: skip
def test_an_all_to_all_turns_rows_of_pieces_into_columns(line: str, shape, operands: int, piece: str):
    found = moved("all-to-all", shape, line, operands=operands)
    assert found is not None
    before, after = found["before"], found["after"]
    assert before["words"] == after["words"] == f"4 × 4 pieces {piece}"
    assert (before["tiles"], after["tiles"]) == ([4, 1], [1, 4])
    assert held(before) == held(after) == {0: 0, 1: 1, 2: 2, 3: 3}


def test_an_all_to_all_that_does_not_divide_is_not_drawn():
    assert moved("all-to-all", (4, 6), f"  ROOT %c = f32[4,6] all-to-all(%p), {GROUPS}, dimensions={{1}}") is None


def test_a_permute_gives_each_block_to_its_target():
    """Each of a line passes its block on; nobody sends to 0, which has zeros, and the block of 3 goes nowhere."""
    pairs = ((0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7))
    found = moved("collective-permute", (4, 8), groups=pairs)
    assert found is not None
    assert held(found["before"]) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert held(found["after"]) == {1: 0, 2: 1, 3: 2}
    assert found["after"]["caption"] == "3 passed on"
    assert found["note"].startswith(
        "Drawn: 4 devices, 0-3. 1 other group does the same. 1 device gets none, and then has zeros."
    )


def test_a_permute_to_itself_passes_nothing_on():
    found = moved("collective-permute", (4,), groups=((0, 0), (1, 2), (2, 1)))
    assert found is not None
    assert held(found["after"]) == {2: 0, 1: 1}
    assert found["after"]["caption"] == "2 passed on"


def test_a_broadcast_makes_copies_of_what_the_first_has():
    found = moved("collective-broadcast", (4, 8))
    assert found is not None
    assert held(found["before"]) == {0: 0}
    assert held(found["after"]) == {0: 0, 1: 0, 2: 0, 3: 0}


def test_a_ragged_all_to_all_and_a_collective_without_groups_are_not_drawn():
    assert moved("ragged-all-to-all", (4, 8)) is None
    assert moved("all-reduce", (4, 8), groups=()) is None


def test_every_all_to_all_and_permute_of_a_real_program_has_a_picture():
    from pjit_inspect.analyze.collectives.collectives import find_collectives

    file = Path(__file__).parents[2] / "data" / "train_step_16_layers.cpu_8.hlo.gz"
    module = parse_hlo_text(gzip.decompress(file.read_bytes()).decode())
    running = find_running_instructions(module)
    rows = [row for row in find_collectives(module) if row.kind in ("all-to-all", "collective-permute")]
    assert len(rows) == 3
    assert all(move_data(REPORT, row, running) for row in rows)
