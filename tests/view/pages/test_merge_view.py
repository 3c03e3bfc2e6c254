"""What a merge says, as text and as HTML."""

from __future__ import annotations

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.merged import MergedData, MergedProcess, MergedProgram, ProcessDifference, ProgramFacts
from pjit_inspect.view.pages.merge import merge_view
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text

WHERE = Frame(file="train.py", line=41)
PROCESSES = tuple(MergedProcess(index=index, records=3, shared=2) for index in range(4))


def program(name: str, compiled_by: tuple[int, ...], **changes) -> MergedProgram:
    records = tuple(ProgramFacts(process=process, position=0, name=name) for process in compiled_by)
    fields = {"transform": "jit", "where": WHERE, "fingerprint": name, "processes": (0, 1, 2, 3), "records": records}
    return MergedProgram(name=name, **(fields | changes))


STEP = program("train_step", (0, 1, 2, 3, 3), collectives=12, host_bytes=3 << 20)
EVALUATE = program("evaluate", (0, 1, 2), collectives=None, host_bytes=None)
DIFFERENCE = ProcessDifference(
    process=3,
    other=0,
    kind="program",
    position=1,
    name="evaluate",
    where=WHERE,
    sentence="process 3 compiled another program for `evaluate` (train.py:41) than process 0",
    details=("`x` is f32[8] on process 0, f32[16] on process 3",),
)
DATA = MergedData(
    processes=PROCESSES,
    programs=(STEP, EVALUATE),
    local=(program("log", (0,), processes=(0,)), program("log2", (0, 1), processes=(0,))),
    differences=(DIFFERENCE,),
    notes=("left out: broken.pjit: the file is empty",),
)


def test_a_merge_looks_as_before(golden):
    golden("merge.txt", to_text(merge_view(DATA)))
    golden("merge.html", to_html(merge_view(DATA)))


def test_processes_that_agree_say_so_in_the_first_line():
    agreed = MergedData(processes=PROCESSES, programs=(STEP,))
    assert to_text(merge_view(agreed)).splitlines()[0] == "4 processes agree on 1 shared program"


def test_a_hostile_name_is_escaped():
    hostile = "<script>alert(1)</script>"
    difference = ProcessDifference(
        process=1, other=0, kind="extra", position=0, name=hostile, where=Frame(file=hostile, line=1),
        sentence=f"process 1 compiled `{hostile}`", details=(hostile,),
    )  # fmt: skip
    data = MergedData(
        processes=PROCESSES, programs=(program(hostile, (0,)),), differences=(difference,), notes=(hostile, "\x1b[31m")
    )
    page, text = to_html(merge_view(data)), to_text(merge_view(data))
    assert "<script" not in page
    assert "\x1b" not in text


def test_much_is_cut_and_counted():
    many = MergedData(
        processes=PROCESSES,
        programs=tuple(program(f"f{k}", (0,)) for k in range(100)),
        differences=(DIFFERENCE,) * 100,
        notes=("note",) * 100,
    )
    text = to_text(merge_view(many))
    assert "... and 60 more programs" in text
    assert "... and 84 more processes" in text
    assert "... and 88 more notes" in text
