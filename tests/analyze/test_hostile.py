"""A program that nobody's compiler made takes no more time or memory than its size warrants, and never raises.

Each program here has 30 levels where work that doubles with each level would never end.
"""

from __future__ import annotations

import pytest
from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.collectives import collectives
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.program import device_groups
from pjit_inspect.analyze.program.dataflow import settled
from pjit_inspect.analyze.program.device_groups import logical_groups, with_bounded_groups
from pjit_inspect.analyze.program.fusions import find_fusions
from pjit_inspect.analyze.program.loops import MOST_TRIPS, find_trip_count
from pjit_inspect.analyze.report.notes import find_widened, program_notes
from pjit_inspect.analyze.report.report import report
from pjit_inspect.model.program.hlo import Details, HloModule
from pjit_inspect.model.record.record import RecordData

LEVELS = 30
ADD = """
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
"""


def program(entry: str, before: str = "") -> HloModule:
    """A module whose entry takes %q; `entry` are its further lines."""
    text = f"HloModule m, is_scheduled=true\n{ADD}\n{before}\nENTRY %main (q: f32[4]) -> f32[4] {{\n"
    return parse_hlo_text(f"{text}  %q = f32[4] parameter(0)\n{entry}\n}}\n")


def reduced(groups: str, name: str = "r", root: str = "ROOT ") -> str:
    return f"  {root}%{name} = f32[4] all-reduce(%q), replica_groups={groups}, to_apply=%add"


def fusions(levels: int, per_level: int) -> str:
    """Bodies c0 ... c<levels>, each the one before `per_level` times in a row."""
    text = "%c0 (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n  ROOT %n = f32[4] negate(%p)\n}\n"
    for k in range(1, levels + 1):
        lines = [f"  %v{k}_0 = f32[4] parameter(0)"]
        for i in range(1, per_level + 1):
            root = "ROOT " if i == per_level else ""
            lines.append(f"  {root}%v{k}_{i} = f32[4] fusion(%v{k}_{i - 1}), kind=kLoop, calls=%c{k - 1}")
        text += f"%c{k} (p{k}: f32[4]) -> f32[4] {{\n" + "\n".join(lines) + "\n}\n"
    return text


def fused(levels: int, per_level: int) -> HloModule:
    return program(f"  ROOT %f = f32[4] fusion(%q), kind=kLoop, calls=%c{levels}", fusions(levels, per_level))


@pytest.mark.parametrize(("levels", "per_level", "count"), [(3, 2, 8), (LEVELS, 2, 1 << LEVELS), (1500, 1, 1)])
def test_fusions_within_fusions_are_counted_without_being_written_out(levels: int, per_level: int, count: int):
    [row] = find_fusions(fused(levels, per_level))
    assert row.instructions == (("negate", count),)
    # Each negation is stored once and read once: f32[4].
    assert row.bytes_saved == 2 * 16 * count


def test_more_instructions_and_bytes_than_any_program_has_are_not_counted_on():
    [row] = find_fusions(fused(80, 2))
    assert row.instructions == (("negate", 1 << 53),)
    assert row.bytes_saved is None


@pytest.mark.parametrize("levels", [LEVELS, 1_500])
def test_fusions_within_fusions_are_looked_into_part_of_the_way(levels: int):
    """Each body has a fusion of the one before: the value is the negation in the innermost."""
    module = fused(levels, 1)
    fusion = module.find("f")
    assert fusion is not None
    assert settled(fusion).name == "n"
    # Through the negation and out again takes two steps a level: as far as the bound allows.
    out = settled(fusion, frozenset(("negate",)))
    assert (out.name == "q") is (levels == LEVELS)


def test_values_of_shared_fusions_within_fusions_are_told_apart():
    calls = [f"%g{i} = f32[4] fusion({of}), kind=kLoop, calls=%c{LEVELS}" for i, of in enumerate(("%q", "%g0"))]
    module = program(f"  {calls[0]}\n  ROOT {calls[1]}", fusions(LEVELS, 2))
    first, other = (settled(found) for name in ("g0", "g1") if (found := module.find(name)))
    assert first != other


def test_what_is_widened_is_looked_for_once_along_each_way():
    lines = ["  %h = bf16[4] parameter(0)", "  %w = f32[4] convert(%h)"]
    lines += ["  %r = f32[4] all-reduce(%w), replica_groups={{0,1}}, to_apply=%add"]
    lines += ["  %a0 = f32[4] copy(%r)", "  %b0 = f32[4] copy(%r)"]
    for k in range(1, LEVELS + 1):
        lines += [f"  %{x}{k} = f32[4] concatenate(%a{k - 1}, %b{k - 1}), dimensions={{0}}" for x in "ab"]
    lines += [f"  %x = bf16[4] convert(%a{LEVELS})", f"  ROOT %y = bf16[4] convert(%b{LEVELS})"]
    text = (
        f"HloModule m, is_scheduled=true\n{ADD}\nENTRY %main (h: bf16[4]) -> bf16[4] {{\n" + "\n".join(lines) + "\n}\n"
    )
    module = parse_hlo_text(text)
    notes = program_notes(module, RecordData(name="f"), find_widened(module))
    assert notes == ("1 collective sends f32 where the program has bf16",)


def test_updates_of_updates_lead_to_one_done():
    body = "%body (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n"
    body += "  ROOT %ar = f32[4] all-reduce(%p), replica_groups={{0,1}}, to_apply=%add\n}\n"
    lines = ["  %s0 = ((f32[4]), f32[4]) async-start(%q), calls=%body"]
    lines += ["  %a0 = f32[4] async-update(%s0)", "  %b0 = f32[4] async-update(%s0)"]
    for k in range(1, LEVELS + 1):
        lines += [f"  %{x}{k} = f32[4] async-update(%a{k - 1}, %b{k - 1})" for x in "ab"]
    # Deeper than functions may call each other.
    lines += [f"  %a{k} = f32[4] async-update(%a{k - 1})" for k in range(LEVELS + 1, 1500)]
    lines += ["  ROOT %d = f32[4] async-done(%a1499)"]
    [row] = find_collectives(program("\n".join(lines), body))
    assert row.instructions == ("s0", "d")


def test_pairs_that_send_twice_from_one_device_are_no_ring():
    text = """HloModule m, is_scheduled=true, num_partitions=4
%body (s: (s32[], f32[4], f32[4])) -> (s32[], f32[4], f32[4]) {
  %s = (s32[], f32[4], f32[4]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %one = s32[] constant(1)
  %i1 = s32[] add(%i, %one)
  %x = f32[4] get-tuple-element(%s), index=1
  %y = f32[4] get-tuple-element(%s), index=2
  %y2 = f32[4] add(%x, %y)
  %cp = f32[4] collective-permute(%x), channel_id=1, source_target_pairs={{1,0},{1,2},{0,1},{2,1}}
  ROOT %t = (s32[], f32[4], f32[4]) tuple(%i1, %cp, %y2)
}
%cond (sc: (s32[], f32[4], f32[4])) -> pred[] {
  %sc = (s32[], f32[4], f32[4]) parameter(0)
  %ic = s32[] get-tuple-element(%sc), index=0
  %n = s32[] constant(3)
  ROOT %lt = pred[] compare(%ic, %n), direction=LT
}
ENTRY %main (q: f32[4]) -> f32[4] {
  %q = f32[4] parameter(0)
  %z = s32[] constant(0)
  %st = (s32[], f32[4], f32[4]) tuple(%z, %q, %q)
  %w = (s32[], f32[4], f32[4]) while(%st), condition=%cond, body=%body
  ROOT %r = f32[4] get-tuple-element(%w), index=2
}
"""
    [row] = find_collectives(parse_hlo_text(text))
    assert (row.kind, row.decomposed, row.count) == ("collective-permute", None, 3)


def loops(levels: int, trips: int | str) -> HloModule:
    """An all-reduce in loops within loops, each of which claims to turn so often."""
    text = f"%b0 (p0: f32[4]) -> f32[4] {{\n  %q = f32[4] parameter(0)\n{reduced('{{0,1}}')}\n}}\n"
    config = f'{{"known_trip_count":{{"n":"{trips}"}}}}'
    for k in range(1, levels + 1):
        text += f"%k{k} (c{k}: f32[4]) -> pred[] {{\n  %c{k} = f32[4] parameter(0)\n"
        text += f"  ROOT %t{k} = pred[] constant(true)\n}}\n"
        while_ = f"while(%p{k}), condition=%k{k}, body=%b{k - 1}, backend_config={config}"
        text += (
            f"%b{k} (p{k}: f32[4]) -> f32[4] {{\n  %p{k} = f32[4] parameter(0)\n  ROOT %w{k} = f32[4] {while_}\n}}\n"
        )
    return program(f"  ROOT %w = f32[4] call(%q), to_apply=%b{levels}", text)


@pytest.mark.parametrize(("levels", "trips", "count"), [
    (1, 1 << 53, 1 << 53), (1, (1 << 53) + 1, None), (1, 10**18, None), (3, 1 << 20, None), (LEVELS, 2, 1 << LEVELS),
    (1500, 1000, None),
])  # fmt: skip
def test_more_turns_than_any_program_takes_are_unknown(levels: int, trips: int, count: int | None):
    module = loops(levels, trips)
    [row] = find_collectives(module)
    assert (row.count, row.count_min) == (count, count)
    loop = module.find("w1")
    assert loop is not None
    assert find_trip_count(loop) == (trips if trips <= MOST_TRIPS else None)


def test_more_bytes_than_any_program_sends_are_unknown(monkeypatch: pytest.MonkeyPatch):
    # An all-reduce of f32[4] over two devices sends 16 bytes.
    monkeypatch.setattr(collectives, "_MOST_BYTES", 16 * 1000)
    assert [find_collectives(loops(1, trips))[0].sent_bytes for trips in (1000, 1001)] == [16_000, None]


@pytest.mark.parametrize("groups", [((-1,),), ((-1, -2),), ((),), ((0, -1),)])
@pytest.mark.parametrize("kind", ["all-reduce", "all-to-all"])
@pytest.mark.parametrize("channel", [None, 1])
def test_groups_of_negative_ids_are_unknown(kind: str, channel: int | None, groups: tuple[tuple[int, ...], ...]):
    found = logical_groups(kind, Details(replica_groups=groups), channel, None, 8)
    assert found is None or min(map(min, filter(None, found)), default=0) >= 0


@pytest.mark.parametrize("groups", [
    "{{-1}}", "[2147483648,2147483648]<=[2147483648,2147483648]",
    "mesh['a'=2] {" + ",".join(["'a':(1)1"] * 40) + "}",
])  # fmt: skip
def test_groups_that_are_not_possible_are_unknown_and_a_note_says_so(groups: str):
    shown = report(RecordData(name="f"), program(reduced(groups)))
    assert shown.collectives is not None
    [row] = shown.collectives
    assert (row.groups, row.axes, row.wire_bytes, row.payload_bytes) == ((), None, None, 16)
    assert "1 collective names no devices that are known: its bytes on the wire are not counted" in shown.notes


def test_groups_beyond_what_a_program_may_have_are_unknown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(device_groups, "MOST_MEMBERS", 20)
    forms = ["[8,1]<=[8]", "[4,2]<=[8]", "[8,1]<=[8]", "[2,4]<=[8]", "[1,8]<=[8]"]
    lines = [reduced(form, f"r{k}", "ROOT " if k == 4 else "") for k, form in enumerate(forms)]
    lines = [f"{line}, channel_id={k + 1}, use_global_device_ids=true" for k, line in enumerate(lines)]
    module = program("\n".join(lines))
    rows = {row.instructions[0]: len(row.groups) for row in find_collectives(module)}
    assert rows == {"r0": 8, "r1": 4, "r2": 8, "r3": 0, "r4": 0}
    bounded = with_bounded_groups(module)
    assert with_bounded_groups(bounded) is bounded
    assert bounded.reader.raw(3) == module.reader.raw(3)
    assert bounded.reader.module_fields() == module.reader.module_fields()


def test_few_ids_that_stand_for_too_many_devices_are_unknown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(collectives, "MOST_MEMBERS", 10)
    text = f"HloModule m, num_partitions=8\n{ADD}\nENTRY %main (q: f32[4]) -> f32[4] {{\n  %q = f32[4] parameter(0)\n"
    lines = [reduced(f"{{{{0{',0' * k}}}}}", f"r{k}", "ROOT " if k == 1 else "") for k in (0, 1)]
    found = find_collectives(parse_hlo_text(text + "\n".join(lines) + "\n}\n"))
    assert {row.instructions[0]: len(row.groups) for row in found} == {"r0": 8, "r1": 0}


def test_a_broadcast_of_nothing_in_a_fusion_is_no_error():
    body = "%c (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)\n  %b = f32[4] broadcast(), dimensions={}\n"
    module = program("  ROOT %f = f32[4] fusion(%q), kind=kLoop, calls=%c", f"{body}  ROOT %m = f32[4] add(%p, %b)\n}}")
    [kernel] = find_fusions(module)
    assert dict(kernel.instructions) == {"add": 1, "broadcast": 1}
