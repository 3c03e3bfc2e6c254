"""A large result in words: one array is one line, and equal trees in a row share one."""

from __future__ import annotations

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.record.record import ResultTree
from pjit_inspect.view.pages.result import result_lines


def tree(path: str, *shapes: tuple[int, ...], number: str = "") -> ResultTree:
    """Float arrays whose sharding could not be read; a single one is an array of its own."""
    arrays = tuple(ArrayLayout(path="", dtype="float32", global_shape=shape, sharding=None) for shape in shapes)
    return ResultTree(path=path, kind="array" if len(shapes) == 1 else "dict", arrays=arrays, number=number)


def test_a_single_array_is_one_line():
    words = result_lines([tree("", (64, 512))])
    assert words.startswith("f32[64,512], 128 KiB, in `_`; ")
    assert "\n" not in words


def test_equal_trees_in_a_row_share_a_line():
    trees = [tree(f"[{i}]", (32, 32)) for i in range(1000)]
    head, line = result_lines([*trees]).splitlines()
    assert head == "1,000 trees, 1,000 arrays, 3.91 MiB, in `_`"
    assert " ".join(line.split()).startswith("[0] ... [999] array x 1,000 3.91 MiB f32[32,32] ")
    assert line.endswith(" x 1,000")


def test_trees_that_differ_in_anything_have_lines_of_their_own():
    trees = [tree("[0]", (), number="1.0"), tree("[1]", (), number="2.0"), tree("[2]", (8,), (8,)), tree("[3]", (8,))]
    assert len(result_lines(trees).splitlines()) == 5


def test_trees_that_are_not_shown_are_counted():
    lines = result_lines([tree(f"[{i}]", (i + 1,)) for i in range(20)]).splitlines()
    assert lines[-1] == "and 4 more trees"
