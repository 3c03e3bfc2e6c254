"""How collectives are gathered by cause, and the frames that are told of them."""

from __future__ import annotations

from pjit_inspect.model.program.source import Frame
from pjit_inspect.view.record.cause_groups import distinct_lines


def test_frames_of_one_line_one_after_another_are_told_once():
    """A lambda in a scan: its own frame, the scan's and the caller's may stand on one line."""
    lines = [("a.py", 3), ("a.py", 3), ("a.py", 7), ("b.py", 7), ("a.py", 3)]
    frames = [Frame(file=file, line=line, function=f"f{n}") for n, (file, line) in enumerate(lines)]
    assert [frame.function for frame in distinct_lines(frames)] == ["f0", "f2", "f3", "f4"]
