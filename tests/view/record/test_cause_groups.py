"""How collectives are gathered by cause, and the frames that are told of them."""

from __future__ import annotations

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.words.sentence import code, name, say, spec
from pjit_inspect.view.record.cause_groups import distinct_lines, group_by_cause


def gather(layer: int, length: int) -> Collective:
    cause = Cause(
        kind="reshard_needed",
        sentence=say("{} needs {} as {}", code("x @ w"), name(f"ws[{layer}]"), spec("P(None)")),
        facts=("`data` comes from argument `ws`", f"operand 1, `ws[{layer}]`: shape [{length}, 8]"),
        evidence="sharding",
    )
    return Collective(
        kind="all-gather", axes=("data",), groups=((0, 1),), dtype="f32", local_shape=(length, 8),
        payload_bytes=32 * length, wire_bytes=32 * length, count=1, causes=(cause,),
    )  # fmt: skip


def test_layers_of_other_shapes_are_each_told_with_their_own():
    [group] = group_by_cause([gather(0, 16), gather(1, 32), gather(2, 64)])
    [reason] = group.reasons
    assert reason.sentence == "`x @ w` needs `ws[*]` as `P(None)`"
    shapes = [f"operand 1, `ws[*]`: shape [{length}, 8]" for length in (16, 32, 64)]
    assert sorted(reason.facts) == sorted(["`data` comes from argument `ws`", *shapes])


def test_of_many_shapes_only_what_all_have_is_told():
    [group] = group_by_cause([gather(layer, 8 + layer) for layer in range(12)])
    [reason] = group.reasons
    assert reason.facts == ("`data` comes from argument `ws`", "their other facts, such as shapes, differ")


def test_frames_of_one_line_one_after_another_are_told_once():
    """A lambda in a scan: its own frame, the scan's and the caller's may stand on one line."""
    lines = [("a.py", 3), ("a.py", 3), ("a.py", 7), ("b.py", 7), ("a.py", 3)]
    frames = [Frame(file=file, line=line, function=f"f{n}") for n, (file, line) in enumerate(lines)]
    assert [frame.function for frame in distinct_lines(frames)] == ["f0", "f2", "f3", "f4"]
