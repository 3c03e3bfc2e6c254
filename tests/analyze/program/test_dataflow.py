"""A value is followed back through what only passes it on, however deep a program nests."""

from __future__ import annotations

from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.program.dataflow import joins, operand, settled
from pjit_inspect.model.program.hlo import HloModule, Instruction

PROGRAM = """HloModule flow

%body (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {
  %a = f32[8]{0} parameter(0)
  %b = f32[8]{0} parameter(1)
  %half = f32[8]{0} copy(%b)
  %sum = f32[8]{0} add(%a, %half)
  ROOT %both = (f32[8]{0}, f32[8]{0}) tuple(%a, %sum)
}

ENTRY %main (x: f32[8], y: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %turned = f32[8]{0} bitcast(%y)
  %pair = (f32[8]{0}, f32[8]{0}) tuple(%x, %turned)
  %nested = ((f32[8]{0}, f32[8]{0})) tuple(%pair)
  %inner = (f32[8]{0}, f32[8]{0}) get-tuple-element(%nested), index=0
  %second = f32[8]{0} get-tuple-element(%inner), index=1
  %f = (f32[8]{0}, f32[8]{0}) fusion(%x, %y), kind=kLoop, calls=%body
  %first = f32[8]{0} get-tuple-element(%f), index=0
  %total = f32[8]{0} get-tuple-element(%f), index=1
  ROOT %out = f32[8]{0} add(%second, %total)
}
"""


def get(module: HloModule, name: str) -> Instruction:
    found = module.find(name)
    assert found is not None
    return found


def test_values_are_followed_through_tuples_and_fusions():
    module = fixtures.from_text(PROGRAM)
    assert settled(get(module, "second")).name == "y"
    assert settled(get(module, "first")).name == "x"
    total = settled(get(module, "total"))
    assert total.name == "sum"
    assert [settled(operand(total, k)).name for k in (0, 1)] == ["x", "y"]
    # There is no third operand: the value itself, which fits nothing.
    assert operand(total, 2) == total


def test_a_body_that_two_fusions_share_is_not_looked_into():
    """What it yields is two values there: they must not be taken for one."""
    extra = "  %g = (f32[8]{0}, f32[8]{0}) fusion(%y, %x), kind=kLoop, calls=%body\n  %first = "
    module = parse_hlo_text(PROGRAM.replace("  %first = ", extra))
    for name in ("first", "total"):
        assert settled(get(module, name)).name == name
    assert settled(get(module, "half")).name == "b"


def test_what_joins_two_results_is_found_within_fusions():
    module = fixtures.from_text(PROGRAM)
    x, y, fusion = (get(module, name) for name in ("x", "y", "f"))
    assert joins(fusion, "add", (x.index, y.index))
    assert not joins(fusion, "select", (x.index, y.index))
    assert not joins(fusion, "add", (x.index, fusion.index))
    assert not joins(get(module, "out"), "add", (x.index, y.index))


def test_a_damaged_program_that_takes_elements_of_elements_without_end_is_no_trouble():
    lines = [f"  %g{k + 1} = f32[8]{{0}} get-tuple-element(%g{k}), index=0" for k in range(3000)]
    source = "\n".join(
        ["HloModule deep", "", "ENTRY %main (p: f32[8]) -> f32[8] {", "  %g0 = f32[8]{0} parameter(0)", *lines]
    )
    module = parse_hlo_text(source + "\n  ROOT %r = f32[8]{0} negate(%g3000)\n}\n")
    assert settled(get(module, "g3000")).name == "g3000"


def test_a_damaged_program_that_copies_without_end_is_followed_part_of_the_way():
    lines = [f"  %c{k + 1} = f32[8]{{0}} copy(%c{k})" for k in range(9000)]
    source = "\n".join(
        ["HloModule long", "", "ENTRY %main (p: f32[8]) -> f32[8] {", "  %c0 = f32[8]{0} parameter(0)", *lines]
    )
    module = parse_hlo_text(source + "\n  ROOT %r = f32[8]{0} negate(%c9000)\n}\n")
    assert settled(get(module, "c9000")).opcode == "copy"
    assert settled(get(module, "c9")).name == "c0"
