from __future__ import annotations

from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.texts import (
    HloLinks,
    MlirLocations,
    hlo_lines,
    program_lines,
    shown_line,
    source_lines,
)

SOURCE = SourceText(file="/tmp/train.py", lines=("def f(x, w):", "    y = x @ w", "    return y + 1"))
STABLEHLO = """\
#loc1 = loc("x")
module @jit_f {
  func.func public @main(%arg0: tensor<4x8xf32> loc("x"), %arg1: tensor<8x2xf32> loc("w")) -> (tensor<4x2xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32> loc(#loc6)
    %cst = stablehlo.constant dense<1.0> : tensor<f32> loc(#loc)
    %1 = stablehlo.add %0, %0 : tensor<4x2xf32> loc(#loc7)
    return %1 : tensor<4x2xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("/tmp/train.py":2:8 to :13)
#loc3 = loc("/tmp/train.py":3:11 to :16)
#loc4 = loc("f"(#loc2))
#loc5 = loc(callsite(#loc4 at #loc3))
#loc6 = loc("jit(f)/dot_general"(#loc5))
#loc7 = loc("jit(f)/transpose(jvp())/add"(#loc3))
"""
JAXPR = """\
{ lambda ; a:f32[4,8] b:f32[8,2]. let
    c:f32[4,2] = dot_general[
      dimension_numbers=(([1], [0]), ([], []))
    ] a b
    d:f32[3] = iota[]
    e:f32[4,2] = add c c
  in (e,) }"""


def phase_of(name: str):
    return "backward" if "transpose" in name else "forward"


def places(text, tables: SharedTables) -> list[int | None]:
    lines = tables.columns()["spot_lines"].tolist()
    return [None if spot < 0 else lines[spot] for spot in text.spots]


def test_locations_give_the_name_and_the_frames_innermost_first():
    line = STABLEHLO.splitlines()[3]
    shown, name, frames = MlirLocations(STABLEHLO).split(line)
    assert shown.endswith("-> tensor<4x2xf32>")
    assert name == "jit(f)/dot_general"
    assert frames == (Frame(file="/tmp/train.py", line=2), Frame(file="/tmp/train.py", line=3))


def test_locations_that_go_in_a_circle_end():
    assert MlirLocations("#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)").resolve("#loc1") == ("", ())
    deep = "\n".join(f"#loc{i} = loc(callsite(#loc{i} at #loc{i}))" for i in range(3))
    assert MlirLocations(deep).resolve("#loc0") == ("", ())


def test_stablehlo_is_shown_without_marks_and_linked_to_the_source():
    tables = SharedTables((SOURCE,))
    _, text = program_lines(None, STABLEHLO, tables, phase_of)
    assert text is not None
    assert not any("loc(" in line for line in text.lines)
    assert places(text, tables) == [None, None, 2, None, 3, None, None, None]
    assert text.phases[2:5:2] == [1, 2]


def test_an_equation_of_a_jaxpr_gets_the_place_of_the_op_it_became():
    tables = SharedTables((SOURCE,))
    text, _ = program_lines(JAXPR, STABLEHLO, tables, phase_of)
    assert text is not None
    assert places(text, tables) == [None, 2, 2, 2, None, 3, 3]


def test_a_jaxpr_without_stablehlo_has_no_places():
    text, nothing = program_lines(JAXPR, None, SharedTables((SOURCE,)), phase_of)
    assert nothing is None
    assert text is not None
    assert set(text.spots) == {-1}


def test_every_line_of_a_source_is_its_own_place():
    tables = SharedTables((SOURCE,))
    assert places(source_lines(tables)[0], tables) == [1, 2, 3]


def test_hlo_lines_lose_their_metadata_and_the_tables_at_the_end():
    hlo = (
        'HloModule m\n\nFileNames\n1 "/secret/path.py"\n\n'
        "%f (p: f32[2]) -> f32[2] {\n  ROOT %p = f32[2] parameter(0)\n}\n\n"
        "ENTRY %main (a: f32[2]) -> f32[2] {\n  %a = f32[2] parameter(0)\n"
        '  ROOT %all-reduce.1 = f32[2] all-reduce(%a), metadata={op_name="x{y}" stack_frame_id=3}, channel_id=1\n}\n'
    )
    text = hlo_lines(hlo, SharedTables(), HloLinks(running=None, entities={"all-reduce.1": 4}, phase_of=phase_of))
    assert not any("secret" in line or "metadata" in line for line in text.lines)
    assert text.lines[-2] == "  ROOT %all-reduce.1 = f32[2] all-reduce(%a), channel_id=1"
    assert [entity for entity in text.entities if entity >= 0] == [4]
    assert text.numbers[-1] == hlo.count("\n")


def test_metadata_that_do_not_end_are_left_in_at_once():
    # Quotes without an end took longer than the age of the universe.
    damaged = "  ROOT %x = f32[] add(%a), metadata={op_name=" + '"' * 101
    whole = '  ROOT %x = f32[] add(%a), metadata={op_name="a\\"{b"}, channel_id=1'
    text = hlo_lines(f"{damaged}\n{whole}", SharedTables(), HloLinks(running=None, entities={}, phase_of=phase_of))
    assert text.lines == [damaged, "  ROOT %x = f32[] add(%a), channel_id=1"]


def test_of_a_long_program_only_computations_that_run_are_kept_and_the_rest_is_counted():
    body = "".join(f"  %i.{n} = f32[] parameter({n})\n" for n in range(30_000))
    hlo = f"HloModule m\n\n%fused (p: f32[]) -> f32[] {{\n{body}}}\n\n"
    hlo += "ENTRY %main () -> f32[] {\n  ROOT %x = f32[] constant(1)\n}\n"
    text = hlo_lines(hlo, SharedTables(), HloLinks(running=None, entities={}, phase_of=phase_of))
    assert len(text.lines) == 4
    assert text.note.startswith("30,002 lines left out")


def test_a_line_is_cut_and_holds_no_address_and_no_control_character():
    assert shown_line("f=<function g at 0x7f00aa112233>\r\n") == "f=<function g>"
    assert shown_line("\tx\x00\u202e") == "    x\\x00\\u202e"
    assert len(shown_line("x" * 100_000)) < 500


def test_a_text_of_which_lines_are_left_out_says_how_many_there_are():
    _, text = program_lines(None, STABLEHLO, SharedTables(sources=(SOURCE,)), phase_of)
    assert text is not None
    assert text.total == len(STABLEHLO.splitlines())
    assert len(text.lines) == text.total - sum(line.startswith("#loc") for line in STABLEHLO.splitlines())


def test_only_the_links_of_a_jaxpr_are_called_guesses():
    jaxpr, stablehlo = program_lines(JAXPR, STABLEHLO, SharedTables(sources=(SOURCE,)), phase_of)
    assert jaxpr is not None
    assert stablehlo is not None
    assert "a good guess" in jaxpr.how
    assert stablehlo.how == ""
