"""Dataflow through tuples, loops, calls and branches. The sets are read off the texts."""

from __future__ import annotations

from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.program.array_flow import Flow

LOOP = """HloModule m

%body (b: (f32[4], f32[4], f32[4])) -> (f32[4], f32[4], f32[4]) {
  %b = (f32[4], f32[4], f32[4]) parameter(0)
  %x = f32[4] get-tuple-element(%b), index=0
  %w = f32[4] get-tuple-element(%b), index=1
  %k = f32[4] get-tuple-element(%b), index=2
  %y = f32[4] multiply(%x, %w)
  ROOT %t = (f32[4], f32[4], f32[4]) tuple(%y, %w, %k)
}

%cond (c: (f32[4], f32[4], f32[4])) -> pred[] {
  %c = (f32[4], f32[4], f32[4]) parameter(0)
  ROOT %yes = pred[] constant(true)
}

ENTRY %main (p: f32[4], q: f32[4], r: f32[4]) -> (f32[4], f32[4]) {
  %p = f32[4] parameter(0)
  %q = f32[4] parameter(1)
  %r = f32[4] parameter(2)
  %in = (f32[4], f32[4], f32[4]) tuple(%p, %q, %r)
  %loop = (f32[4], f32[4], f32[4]) while(%in), condition=%cond, body=%body
  %first = f32[4] get-tuple-element(%loop), index=0
  %third = f32[4] get-tuple-element(%loop), index=2
  %twice = f32[4] add(%third, %third)
  ROOT %out = (f32[4], f32[4]) tuple(%first, %twice)
}
"""


def bits(flow: Flow, sets: list[int], name: str) -> set[int]:
    """The numbers in the set of the first leaf of an instruction."""
    index = next(i for i in range(len(flow.module)) if flow.module.instruction(i).name == name)
    return {k for k in range(8) if sets[flow.first[index]] >> k & 1}


def argument_marks(flow: Flow) -> dict[int, int]:
    return {node: number for number, node in enumerate(flow.arguments)}


def test_what_a_loop_carries_comes_from_where_it_is_carried_from() -> None:
    flow = Flow(parse_hlo_text(LOOP))
    made_of = flow.nearest(argument_marks(flow))
    assert bits(flow, made_of, "y") == {0, 1}
    assert bits(flow, made_of, "first") == {0, 1}
    assert bits(flow, made_of, "w") == {1}
    assert bits(flow, made_of, "twice") == {2}


def test_what_lies_behind_a_mark_is_made_of_that_alone() -> None:
    flow = Flow(parse_hlo_text(LOOP))
    (product,) = (k for k in range(len(flow.module)) if flow.module.instruction(k).name == "y")
    made_of = flow.nearest(argument_marks(flow) | {flow.first[product]: 3})
    assert bits(flow, made_of, "y") == {3}
    # The loop may have no turn.
    assert bits(flow, made_of, "first") == {0, 3}


def test_each_array_of_a_combined_collective_is_its_own() -> None:
    flow = Flow(
        parse_hlo_text(
            """HloModule m

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main (p: f32[4], q: f32[8]) -> (f32[4], f32[8]) {
  %p = f32[4] parameter(0)
  %q = f32[8] parameter(1)
  ROOT %all = (f32[4], f32[8]) all-reduce(%p, %q), replica_groups={}, to_apply=%sum
}
"""
        )
    )
    made_of = flow.nearest(argument_marks(flow))
    assert [made_of[node] for node in flow.results] == [1, 2]


def test_many_calls_in_a_row_are_one_sweep() -> None:
    calls = "".join(f"  %c{k + 1} = f32[4] call(%c{k}), to_apply=%f\n" for k in range(200))
    text = (
        "HloModule m\n\n%f (a: f32[4]) -> f32[4] {\n  %a = f32[4] parameter(0)\n  ROOT %n = f32[4] negate(%a)\n}\n\n"
        "ENTRY %main (p: f32[4], q: f32[4]) -> f32[4] {\n  %c0 = f32[4] parameter(0)\n"
        f"  %q = f32[4] parameter(1)\n{calls}"
        "  ROOT %r = f32[4] negate(%c200)\n}\n"
    )
    flow = Flow(parse_hlo_text(text))
    assert bits(flow, flow.nearest(argument_marks(flow)), "r") == {0}


def test_what_ends_a_loop_of_one_array_is_not_what_the_loop_yields() -> None:
    """The condition's result is one array too, as the state is; it only decides."""
    text = (
        "HloModule m\n\n%body (b: f32[]) -> f32[] {\n  %b = f32[] parameter(0)\n  ROOT %s = f32[] sine(%b)\n}\n\n"
        "%cond (c: f32[]) -> pred[] {\n  %c = f32[] parameter(0)\n  %one = f32[] constant(1)\n"
        "  ROOT %go = pred[] compare(%c, %one), direction=LT\n}\n\n"
        "ENTRY %main (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"
        "  ROOT %loop = f32[] while(%p), condition=%cond, body=%body\n}\n"
    )
    flow = Flow(parse_hlo_text(text))
    names = [flow.module.instruction(index).name for index in flow.owner]
    made_of = {name: {names[source] for source in flow.before[node]} for node, name in enumerate(names)}
    assert made_of["loop"] == {"p", "s"}
    assert made_of["b"] == {"p", "s"}
    # From the second turn on, the condition takes what the body yields.
    assert made_of["c"] == {"p", "s"}


def test_of_thousands_of_arguments_a_set_that_is_handed_on_is_one_object() -> None:
    # Each set has a bit for each argument: in sets of their own 10,000 arguments would take a time that is quadratic.
    count = 80
    arguments, names = ", ".join(f"p{k}: f32[4]" for k in range(count)), [f"z{k}" for k in range(count)]
    lines = [
        f"  %p{k} = f32[4] parameter({k})\n  %x{k} = f32[4] negate(%p{k})\n  %y{k} = f32[4] add(%x{k}, %x{k})\n"
        f"  %z{k} = f32[4] negate(%y{k})\n"
        for k in range(count)
    ]
    results = ", ".join(["f32[4]"] * count)
    root = f"  ROOT %out = ({results}) tuple({', '.join(f'%{name}' for name in names)})\n"
    entry = f"ENTRY %main ({arguments}) -> ({results}) {{\n{''.join(lines)}{root}}}\n"
    flow = Flow(parse_hlo_text(f"HloModule m\n\n{entry}"))
    sets = flow.nearest(argument_marks(flow))
    assert len({id(bits) for bits in sets}) == len(set(sets)) == count
