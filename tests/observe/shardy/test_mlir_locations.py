"""What MLIR prints for a location is read back, whatever stands in the names."""

from __future__ import annotations

import jax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pjit_inspect.model.sharding.sharded_program import Span
from pjit_inspect.observe.shardy.mlir_locations import read_location, unescaped


def printed(name: str, *frames: tuple[str, str, int, int]) -> str:
    """The location of an op, as jaxlib prints it: a name, and frames, innermost first."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir

    with mlir.make_ir_context():
        places = [
            ir.Location.name(function, ir.Location.file(file, line, column)) for function, file, line, column in frames
        ]
        if not places:
            return str(ir.Location.name(name))
        chain = places[-1]
        for place in reversed(places[:-1]):
            chain = ir.Location.callsite(place, [chain])
        return str(ir.Location.name(name, chain))


def test_a_name_and_its_frames_are_read_innermost_first() -> None:
    place = read_location(printed("jit(f)/add", ("inner", "a.py", 3, 4), ("outer", "b.py", 5, 6)))
    assert place.name == "jit(f)/add"
    assert [(frame.function, frame.file, frame.line) for frame in place.frames] == [
        ("inner", "a.py", 3),
        ("outer", "b.py", 5),
    ]


def test_a_range_of_columns_becomes_a_span() -> None:
    place = read_location('loc("jit(f)/add"("f"("a.py":3:4 to :9)))')
    assert place.spans == (Span(line=3, column=4, end_line=3, end_column=9),)
    over_lines = read_location('loc("jit(f)/add"("f"("a.py":3:4 to 5:9)))')
    assert over_lines.spans == (Span(line=3, column=4, end_line=5, end_column=9),)
    assert read_location('loc("jit(f)/add"("f"("a.py":3:4)))').spans == (None,)


def test_a_location_without_a_name_has_frames_only() -> None:
    place = read_location('loc("a.py":3:4)')
    assert (place.name, place.frames[0].file, place.frames[0].line) == ("", "a.py", 3)


@pytest.mark.parametrize("text", ["loc(unknown)", "loc(fused[])", ""])
def test_a_location_that_says_nothing_is_empty(text: str) -> None:
    place = read_location(text)
    assert (place.name, place.frames, place.spans) == ("", (), ())


def test_the_kind_of_an_op_is_not_its_name() -> None:
    assert read_location('loc("pjit:"("jit(f)/jit(g)"("f"("a.py":1:2))))').name == "jit(f)/jit(g)"


def test_escaped_bytes_become_letters() -> None:
    assert unescaped(r"sch\C3\B6n \22x\22 a\\b \0A") == 'schön "x" a\\b \n'
    assert unescaped(r"\\22") == r"\22"
    assert unescaped(r"\FF") == "\xff"


_TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), min_size=1, max_size=20)


@settings(max_examples=150)
@given(name=_TEXT.filter(lambda text: not text.endswith(":")), function=_TEXT, file=_TEXT)
def test_any_name_function_and_file_are_read_back(name: str, function: str, file: str) -> None:
    place = read_location(printed(name, (function, file, 7, 1), ("g", "b.py", 9, 2)))
    assert place.name == name
    assert [(frame.function, frame.file, frame.line) for frame in place.frames] == [
        (function, file, 7),
        ("g", "b.py", 9),
    ]


@settings(max_examples=50)
@given(name=_TEXT.filter(lambda text: not text.endswith(":")))
def test_any_name_without_frames_is_read_back(name: str) -> None:
    assert read_location(printed(name)).name == name


def test_jaxs_own_locations_name_the_op_and_this_file() -> None:
    def f(x):
        with jax.named_scope('layer "1"'):
            return x + 1

    module = jax.jit(f).lower(1.0).compiler_ir()
    main = module.body.operations[0].regions[0].blocks[0]
    places = [read_location(str(op.location)) for op in main.operations]
    named = [place for place in places if place.name.endswith("add")]
    assert named[0].name == 'jit(f)/layer "1"/add'
    assert named[0].frames[0].file == __file__


def test_without_full_tracebacks_what_stands_before_the_file_is_the_name() -> None:
    """JAX names no function then: the name of a called function's op stands where that of its function would."""
    place = read_location('loc("ppermute"("a.py":8:3))')
    assert (place.name, [(frame.function, frame.line) for frame in place.frames]) == ("ppermute", [("", 8)])
    assert read_location('loc("dot_general"("jit(f)/jvp()"("a.py":3:51)))').name == "dot_general"
