"""A program without metadata: no column says "unknown" in every row, and rows say what moves."""

from __future__ import annotations

from pathlib import Path

import pjit_inspect as pi

PLAIN = """HloModule plain, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[8,16]{1,0} parameter(0)
  w = f32[16,8]{1,0} parameter(1)
  g = f32[16,32]{1,0} all-gather(w), channel_id=1, GROUPS, dimensions={1}
  d = f32[8,16]{1,0} negate(x)
  r = f32[8,16]{1,0} all-reduce(d), channel_id=2, GROUPS, to_apply=add
  ROOT t = (f32[16,32]{1,0}, f32[8,16]{1,0}) tuple(g, r)
}
""".replace("GROUPS", "replica_groups={{0,1,2,3}}, use_global_device_ids=true")
NAMED = PLAIN.replace("to_apply=add", 'to_apply=add, metadata={op_name="f/psum" source_file="a.py" source_line=7}')


def shown(text: str, folder: Path) -> tuple[list[str], str]:
    """The lines of the table of collectives, and the page."""
    (folder / "one.hlo").write_text(text)
    record = pi.open(folder / "one.hlo")
    assert isinstance(record, pi.CompileRecord)
    section = str(record).split("collectives  2 instructions\n")[1].split("\n\n")[0]
    record.to_html(folder / "one.html")
    return section.splitlines(), (folder / "one.html").read_text()


def test_a_column_that_knows_nothing_in_any_row_is_not_shown(tmp_path: Path):
    (titles, *rows), page = shown(PLAIN, tmp_path)
    assert "where" not in titles.split()
    assert "cause" not in titles.split()
    assert not any("unknown" in row for row in rows)
    assert any("f32[8,16] of negate" in row for row in rows)
    assert any("f32[16,8] of parameter w" in row for row in rows)
    assert "<b>what</b>" in page
    assert "<b>where</b>" not in page


def test_a_column_that_one_row_knows_says_unknown_in_the_other(tmp_path: Path):
    (titles, *rows), page = shown(NAMED, tmp_path)
    assert "where" in titles.split()
    assert any("a.py:7" in row for row in rows)
    assert any("unknown" in row for row in rows)
    assert "<b>where</b>" in page
