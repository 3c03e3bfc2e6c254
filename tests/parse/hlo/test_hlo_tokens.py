"""HLO text is read by tokens, as XLA's parser does, and whatever is not understood makes a program incomplete."""

from __future__ import annotations

from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text
from hlo_differences import EXPECTED, differences

import pjit_inspect as pi
from pjit_inspect.model.program.incomplete import why_incomplete

SUM = """
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
"""
BODY = """
%body (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%p)
}
"""


def program(lines: str) -> str:
    return f"HloModule m, num_partitions=2\n{SUM}{BODY}\nENTRY %main (x: f32[8]) -> f32[8] {{\n{lines}\n}}\n"


FORMS = {
    "a configuration over several lines": """
  %x = f32[8]{0} parameter(0)
  %f = f32[8]{0} fusion(%x), kind=kLoop, calls=%body, backend_config={
      "fusion_backend_config":{
        "kind":"}",
        "num_warps":"8"
      }
    }
  ROOT %r = f32[8]{0} all-reduce(%f), replica_groups={{0,1}}, channel_id=1, to_apply=%sum""",
    "comments between tokens": """
  /* the input */ %x = f32[8]{0} /*shape*/ parameter(0) // all-gather(%x)
  ROOT /* end */ %r = f32[8]{0} all-reduce(%x /* ) */), // why (
      replica_groups={{0, /*one*/ 1}}, channel_id=1,
      use_global_device_ids=true, to_apply=%sum""",
    "several instructions in a line": """
  %x = f32[8]{0} parameter(0) ROOT %r = f32[8]{0} all-reduce(%x), replica_groups={{0,1}}, to_apply=%sum""",
    "no blank before the equals sign": """
  %x= f32[8]{0} parameter( 0 )
  ROOT %r =f32[8]{0} all-reduce( %x), replica_groups=[1,2]<=[2], channel_id=1, to_apply=%sum""",
    "nested instructions, shapes left out": """
  y = add(f32[8]{0} parameter(0), f32[8]{0} negate(f32[8]{0} parameter(1)))
  ROOT %r = f32[8]{0} all-reduce(y), replica_groups={}, to_apply=sum""",
    "a computation in the place of its name": """
  %x = f32[8]{0} parameter(0)
  ROOT %r = f32[8]{0} all-reduce(%x), replica_groups={{0,1}}, to_apply={
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT s = f32[] add(a, b)
  }, channel_id=3""",
}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_way_to_write_it_is_read_as_xla_reads_it(form: str):
    text = program(FORMS[form])
    ours, theirs = parse_hlo_text(text), fixtures.from_text(text)
    assert not ours.unknown
    assert ours.opcode_counts == theirs.opcode_counts
    assert ours.opcode_counts["all-reduce"] == 1
    if form not in ("nested instructions, shapes left out", "a computation in the place of its name"):
        assert set(differences(theirs, ours)) <= EXPECTED


def test_groups_that_name_nobody_are_all_devices(tmp_path: Path):
    path = tmp_path / "all.hlo"
    line = (
        "ROOT %r = f32[8]{0} all-reduce(%x), replica_groups={}, channel_id=1, use_global_device_ids=true, to_apply=%sum"
    )
    path.write_text(program(f"  %x = f32[8]{{0}} parameter(0)\n  {line}").replace("=2\n", "=8\n", 1))
    [row] = pi.open(path).collectives
    assert row.groups == ((0, 1, 2, 3, 4, 5, 6, 7),)
    assert row.wire_bytes == 2 * 32 * 7 // 8


@pytest.mark.parametrize(
    "damage",
    [
        "  %y = f32[8]{0} %%% what\n",
        "  what is this\n",
        "  %y = f32[8]{0} negate(%x\n",
        "  %y = f32[8]{0} negate(%x), backend_config={\n",
        '  %y = f32[8]{0} custom-call(%x), custom_call_target="a\n',
    ],
)
def test_no_sentence_says_no_or_all_where_a_line_was_not_understood(tmp_path: Path, damage: str, capsys):
    from pjit_inspect.cli import main

    path = tmp_path / "damaged.hlo"
    path.write_text(program(f"  %x = f32[8]{{0}} parameter(0)\n{damage}  ROOT %r = f32[8]{{0}} copy(%x)"))
    record = pi.open(path)
    assert record.report.incomplete
    said = " ".join(f"{record} {record.explain()} {record.show('facts')} {record.collectives.show()!r}".split())
    assert "do not communicate" not in said
    assert "Incomplete program" in said
    assert main(["report", str(path)]) == 3
    assert "do not communicate" not in capsys.readouterr().out
    page = tmp_path / "page.html"
    record.to_html(page)
    assert "Incomplete program" in page.read_text()


def test_a_module_that_xla_takes_without_header_and_entry_is_whole(tmp_path: Path):
    path = tmp_path / "t.hlo"
    path.write_text("e {\n  a = u4[8]{0:E(4)} parameter(0)\n  b = u4[32]{0:E(4)} all-gather(a), dimensions={0}\n}\n")
    module = parse_hlo_text(path.read_text())
    assert not module.unknown
    assert [row.kind for row in pi.open(path).collectives] == ["all-gather"]


@pytest.mark.parametrize(
    "text",
    [
        "%r = f32[8]{0} all-reduce(f32[8]{0} %y), replica_groups={{0,1}}, channel_id=1, to_apply=%sum\n",
        SUM,
        program("  ROOT %x = f32[8]{0} parameter(0)")[40:],
    ],
)
def test_a_fragment_is_read_and_called_one(text: str):
    module = parse_hlo_text(text)
    assert len(module)
    assert why_incomplete(module.unknown)


def test_an_embedded_program_in_the_header_is_no_program_of_its_own():
    # XLA prints `origin_recovery_table` so.
    inner = '"\n    HloModule inner\n\n    ENTRY %e {\n    }\n  "'
    header = f'HloModule m, origin_recovery_table={{\n  {{"c"}} : {{"d"}},\n  {inner}\n}}\n'
    module = parse_hlo_text(header + program("  ROOT %x = f32[8]{0} parameter(0)").split("\n", 1)[1])
    assert (module.name, module.unknown) == ("m", {})


PREFIXES = ["I1128 15:00:00.1 77 x.cc:1] ", "2026-11-28 15:00:00.123456: I x.cc:12] ", "> ", "+"]


@pytest.mark.parametrize("before", [*PREFIXES, "number", "fence"])
def test_a_pasted_text_is_read_without_what_stands_before_its_lines(before: str):
    text = fixtures.text("permute_ring.h100_1x1x8")
    if before == "number":
        pasted = "\n".join(f"{number:5}\t{line}" for number, line in enumerate(text.split("\n"), 1))
    elif before == "fence":
        pasted = f"It hangs here (why?):\n\n```hlo\n{text}```\nand with 4 devices, too.\n"
    else:
        pasted = "\n".join(before + line for line in text.split("\n"))
    found = parse_hlo_text(pasted)
    assert not why_incomplete(found.unknown)
    assert found.opcode_counts == parse_hlo_text(text).opcode_counts


def test_rows_without_metadata_say_type_shape_and_what_moves(tmp_path: Path):
    path = tmp_path / "bare.hlo"
    path.write_text(
        f"HloModule m, num_partitions=2\n{SUM}\nENTRY %main (w: bf16[4,8]) -> f32[8,8] {{\n"
        "  %w = bf16[4,8]{1,0} parameter(0)\n"
        "  %c = f32[4,8]{1,0} convert(%w)\n"
        "  %g = f32[8,8]{1,0} all-gather(%c), replica_groups={{0,1}}, dimensions={0}, channel_id=1\n"
        "  %d = f32[8,8]{1,0} dot(%g, %g), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  ROOT %r = f32[8,8]{1,0} all-reduce(%d), replica_groups={{0,1}}, channel_id=2, to_apply=%sum\n}\n"
    )
    record = pi.open(path)
    assert {row.kind: row.moved for row in record.collectives} == {
        "all-gather": "f32[4,8] of parameter w",
        "all-reduce": "f32[8,8] of dot",
    }
    assert "f32[4,8] of parameter w" in str(record)
    assert "f32[8,8] of dot" in str(record)
