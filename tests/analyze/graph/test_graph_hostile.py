"""A program that nobody's compiler made takes bounded time and raises nothing; all collectives stay accounted for."""

from __future__ import annotations

import dataclasses

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text
from graph_cases import graph_of, lines, op, program

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.graph.build import find_graph
from pjit_inspect.analyze.graph.fold import count_shown
from pjit_inspect.model.program.hlo import HloModule

MANY = 4_000
GROUPS = ", replica_groups={{0,1}}, channel_id=%d, to_apply=%%add"


def chain(*names: str) -> str:
    body = [op(f"k{n}", "sine", "q" if n == 0 else f"k{n - 1}", at=name) for n, name in enumerate(names)]
    return lines(*body, op("z", "copy", f"k{len(names) - 1}", root=True))


def check(module: HloModule) -> None:
    table = find_collectives(module)
    graph = find_graph(module, table)
    assert count_shown(graph) == len(table)
    assert sum(box.kernels for box in graph.boxes) == len(graph.kernels)


@pytest.mark.parametrize("names", [
    [f"jit(f)/s{k}/neg" for k in range(MANY)],
    [f"jit(f)/jvp(s{k})/a" for k in range(MANY)] + [f"jit(f)/transpose(jvp(s{k}))/a" for k in range(MANY)][::-1],
    [f"jit(f)/{'ab'[k % 2]}{k * 7919 % MANY}x/neg" for k in range(MANY)],
    ["jit(f)/" + "/".join(f"s{j}" for j in range(10_000)) + "/neg"] * 40,
    ["jit(f)/" + "/".join(f"s{k}_{j}" for j in range(30)) + "/neg" for k in range(300)],
    [f"jit(f)/{'ab' * 50_000}{k}/neg" for k in range(20)],
    ["jit(f)/" + "jvp(" * 20_000 + "x" + ")" * 20_000 + "/neg"] * 20,
    ["jit(f)/" + "({[" * 20_000 + "/a/b;c:d/neg"] * 20,
    [";".join(f"jit(f)/s{j}/neg" for j in range(2_000))] * 20,
    ["jit(f)/" + "while/body/" * 5_000 + "neg"] * 20,
    ["/" * 50_000, ")" * 50_000, "jit(", "jit()", "(a:b)", "jit(f)/(a:b:c", ":::", ";;;", "jit(f)/;/x"],
    ["jit(f)/a\x00b/\x00/neg", "jit(f)/<script>/neg", "jit(f)/\u202e/neg", "jit(f)/\ud7ff/neg"],
    [f"jit(f)/layer{'9' * 5_000}{k}/neg" for k in range(20)],
], ids=["many", "phases", "numbers", "deep", "wide and deep", "long", "wrapped", "brackets", "joined", "loops", "odd",
        "characters", "digits"])  # fmt: skip
def test_names_of_any_sort_are_shown(names: list[str]):
    check(program(chain(*names)))


def nested(levels: int, per_level: int, opcode: str, attribute: str) -> str:
    """Computations c0 ... c<levels>, each the one before `per_level` times in a row."""
    text = "%c0 (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n  ROOT %n = f32[4] negate(%p)\n}\n"
    for k in range(1, levels + 1):
        body = [f"  %v{k}_0 = f32[4] parameter(0)"]
        for i in range(1, per_level + 1):
            root = "ROOT " if i == per_level else ""
            body.append(f"  {root}%v{k}_{i} = f32[4] {opcode}(%v{k}_{i - 1}), {attribute}=%c{k - 1}")
        text += f"%c{k} (p{k}: f32[4]) -> f32[4] {{\n" + "\n".join(body) + "\n}\n"
    return text


@pytest.mark.parametrize(("levels", "per_level"), [(2_000, 1), (100, 2), (30, 30)])
def test_calls_within_calls_are_entered_once(levels: int, per_level: int):
    module = program(
        op("z", "call", "q", more=f", to_apply=%c{levels}", root=True), nested(levels, per_level, "call", "to_apply")
    )
    graph = graph_of(module)
    assert graph.kernels.names == ("n",)
    check(module)


@pytest.mark.parametrize(("levels", "per_level"), [(1_000, 1), (100, 2)])
def test_fusions_within_fusions_are_one_kernel(levels: int, per_level: int):
    before = nested(levels, per_level, "fusion", "kind=kLoop, calls")
    module = program(op("z", "fusion", "q", more=f", kind=kLoop, calls=%c{levels}", root=True), before)
    assert graph_of(module).kernels.names == ("z",)


def test_a_loop_of_thousands_of_values_that_move_from_place_to_place():
    wide = f"({', '.join(['f32[4]'] * 1_000)})"
    elements = [
        f"  %b{k} = f32[4] get-tuple-element(%s), index={k}\n  %n{k} = f32[4] negate(%b{k})" for k in range(1_000)
    ]
    turned = ", ".join(f"%n{(k + 1) % 1_000}" for k in range(1_000))
    before = (
        f"%body (s: {wide}) -> {wide} {{\n  %s = {wide} parameter(0)\n"
        + "\n".join(elements)
        + f"\n  ROOT %bt = {wide} tuple({turned})\n}}\n%cond (s2: {wide}) -> pred[] {{\n  %s2 = {wide} parameter(0)\n"
        + "  ROOT %c = pred[] constant(false)\n}\n"
    )
    entry = lines(
        f"  %t = {wide} tuple({', '.join(['%q'] * 1_000)})",
        f"  %w = {wide} while(%t), condition=%cond, body=%body",
        "  ROOT %z = f32[4] get-tuple-element(%w), index=0",
    )
    check(program(entry, before))


def test_a_loop_that_only_moves_thousands_of_values_from_place_to_place_and_has_too_many():
    """Nothing is made in it, so where values come from would take as many turns to tell as there are places."""
    wide = f"({', '.join(['f32[4]'] * 2_000)})"
    made = [op(f"v{k}", "sine", "q") for k in range(2_000)]
    turned = "\n".join(f"  %b{k} = f32[4] get-tuple-element(%s), index={k}" for k in range(2_000))
    # One place more than the state has: a loop that no compiler makes.
    more = wide.replace("(f32[4]", "(f32[4], f32[4]", 1)
    before = (
        f"%body (s: {wide}) -> {wide} {{\n  %s = {wide} parameter(0)\n{turned}\n"
        f"  ROOT %bt = {wide} tuple({', '.join(f'%b{(k + 1) % 2_000}' for k in range(2_000))})\n}}\n"
        f"%cond (s2: {more}) -> pred[] {{\n  %s2 = {more} parameter(0)\n  ROOT %c = pred[] constant(false)\n}}\n"
    )
    entry = lines(
        *made,
        f"  %t = {wide} tuple({', '.join(f'%v{k}' for k in range(2_000))})",
        f"  %w = {wide} while(%t), condition=%cond, body=%body",
        "  %z0 = f32[4] get-tuple-element(%w), index=0",
        op("z", "cosine", "z0", root=True),
    )
    check(program(entry, before))


def test_loops_within_loops():
    state = "(s32[], f32[4])"
    text = ""
    for k in range(200):
        inner = f"  %w{k} = {state} while(%s{k}), condition=%cond{k - 1}, body=%body{k - 1}\n" if k else ""
        value = f"%w{k}" if k else f"%s{k}"
        text += (
            f"%body{k} (s{k}: {state}) -> {state} {{\n  %s{k} = {state} parameter(0)\n{inner}"
            f"  %i{k} = s32[] get-tuple-element({value}), index=0\n"
            f"  %x{k} = f32[4] get-tuple-element({value}), index=1\n"
            f'  %y{k} = f32[4] sine(%x{k}), metadata={{op_name="jit(f)/{"while/body/" * (200 - k)}sin"}}\n'
            f"  ROOT %r{k} = {state} tuple(%i{k}, %y{k})\n}}\n"
            f"%cond{k} (c{k}: {state}) -> pred[] {{\n  %c{k} = {state} parameter(0)\n"
            f"  ROOT %t{k} = pred[] constant(true)\n}}\n"
        )
    entry = lines(
        "  %zero = s32[] constant(0)",
        f"  %t = {state} tuple(%zero, %q)",
        f"  %w = {state} while(%t), condition=%cond199, body=%body199",
        "  ROOT %z = f32[4] get-tuple-element(%w), index=1",
    )
    module = program(entry, text)
    check(module)
    assert [loop.parent for loop in graph_of(module).loops] == list(range(-1, 199))


def test_what_packs_everything_is_followed_part_of_the_way():
    body = [op(f"v{k}", "sine", "q") for k in range(1_000)]
    packed = [
        f'  %w{j} = f32[4] custom-call({", ".join(f"%v{k}" for k in range(1_000))}), custom_call_target="Sharding"'
        for j in range(10)
    ]
    uses = [op(f"x{k}", "add", f"w{k % 10}", f"w{(k + 1) % 10}") for k in range(3_000)]
    check(program(lines(*body, *packed, *uses, op("z", "copy", "x0", root=True))))


def test_thousands_of_collectives_in_as_many_layers():
    body = [op(f"a{k}", "all-reduce", "q", at=f"jit(f)/layer{k}/psum", more=GROUPS % (k + 2)) for k in range(1_000)]
    check(program(lines(*body, op("z", "copy", "a0", root=True))))


def test_collectives_of_one_name_are_told_apart():
    computation = (
        "%{0} (p: f32[4]) -> f32[4] {{\n  %p = f32[4] parameter(0)\n  ROOT %same = f32[4] all-reduce(%p){1}\n}}\n"
    )
    before = "".join(computation.format(f"c{k}", GROUPS % (k + 2)) for k in range(3))
    calls = [op(f"z{k}", "call", "q", more=f", to_apply=%c{k}") for k in range(3)]
    module = program(lines(*calls, op("z", "copy", "z0", root=True)), before)
    graph = find_graph(module, find_collectives(module))
    assert len(set(graph.collective_kernels)) == 3


def test_a_collective_that_nothing_runs_has_a_home_too():
    dead = "%dead (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n  ROOT %lost = f32[4] all-reduce(%p)"
    module = program(op("z", "sine", "q", at="jit(f)/a/sin", root=True), f"{dead}{GROUPS % 3}\n}}\n")
    table = find_collectives(module)
    graph = find_graph(module, table)
    assert len(table) == count_shown(graph) == 1
    assert graph.collective_kernels == (-1,)
    assert graph.rows[graph.boxes[graph.collective_boxes[0]].row].kind == "unreached"
    assert graph.strip.events == ()


@pytest.mark.parametrize("entry", [
    "  ROOT %z = f32[4] copy(%q)",
    "  ROOT %z = (f32[4]) tuple(%q)",
    "  ROOT %z = f32[4] frobnicate(%q)",
    "  %c = f32[4] custom-call()\n  ROOT %z = f32[4] get-tuple-element(%c), index=999999999",
    "  ROOT %z = token[] after-all()",
])  # fmt: skip
def test_next_to_nothing_is_a_graph(entry: str):
    check(program(entry))


def test_a_program_of_damaged_instructions_is_shown():
    """The reader refuses details; what the columns say is left."""
    from pjit_inspect.errors import ParseError

    module = fixtures.module("transformer_step.cpu_8")
    table = find_collectives(module, fixtures.MESH)

    class Damaged:
        def __getattr__(self, name: str):
            return getattr(module.reader, name)

        def details(self, index: int):
            raise ParseError("damaged", expected="details")

        def number(self, index: int):
            raise ParseError("damaged", expected="a number")

    graph = find_graph(dataclasses.replace(module, reader=Damaged()), table)
    assert count_shown(graph) == len(table)


def test_text_with_every_second_line_missing_is_a_graph():
    source = fixtures.text("mlp_step.cpu_8").splitlines(keepends=True)
    kept = [line for number, line in enumerate(source) if number % 7 or "ENTRY" in line or "}" in line]
    check(parse_hlo_text("".join(kept)))
