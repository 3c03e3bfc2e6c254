"""Devices, slices, specs, groups and names are written the same way everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.words.layers import path_pattern, path_patterns, scope_pattern
from pjit_inspect.view.document.notation import groups_text, known_spec_text, operation_text, ranges_text, slices_text
from pjit_inspect.view.document.printable import cell_width, printable, shorten
from pjit_inspect.view.document.quantities import bytes_in, bytes_text, count_text, plural, seconds_text


@pytest.mark.parametrize(
    ("numbers", "written"),
    [((), ""), ((3,), "3"), ((0, 1), "0 1"), ((0, 1, 2), "0-2"), ((0, 4), "0 4"), ((7, 0, 1, 2, 3), "0-3 7")],
)
def test_runs_of_devices_are_folded(numbers, written):
    assert ranges_text(numbers) == written


@given(st.sets(st.integers(0, 99)))
def test_every_device_can_be_read_back(numbers):
    found = set()
    for part in ranges_text(tuple(numbers)).split():
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    assert found == numbers


def test_whole_dimensions_are_colons_and_whole_arrays_are_all():
    assert slices_text((slice(0, 8), slice(0, 32)), (16, 32)) == "[0:8, :]"
    assert slices_text((slice(0, 16), slice(0, 32)), (16, 32)) == "all"
    assert slices_text((), ()) == "all"
    assert slices_text((slice(7, 7),), (7,)) == "nothing"


def test_a_spec_is_written_as_the_user_wrote_it():
    assert known_spec_text(("data", None)) == "P('data', None)"
    assert known_spec_text((("data", "model"), None)) == "P(('data', 'model'), None)"
    assert known_spec_text(()) == "P()"
    assert known_spec_text(None) == "no spec"


def test_many_groups_are_the_first_and_a_number():
    assert groups_text(((0, 1, 2, 3), (4, 5, 6, 7))) == "{0-3} {4-7}"
    assert groups_text(((0, 4), (1, 5), (2, 6), (3, 7))) == "{0 4} +3"


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("params['layers'][3]['w1']", "params['layers'][*]['w1']"),
        ("params['w1']", "params['w1']"),
        ("state.layers_3.kernel", "state.layers_*.kernel"),
        ("params['layer_12']['w']", "params['layer_*']['w']"),
        ("params['block2']['w']", "params['block*']['w']"),
        ("params['h']['0']['w']", "params['h']['*']['w']"),
        ("params['h']['3d']['w']", "params['h']['3d']['w']"),
    ],
)
def test_only_layer_numbers_are_starred(path, pattern):
    assert path_pattern(path) == pattern


def test_results_keep_their_place():
    assert path_pattern("result[1]['layers'][3]", keep_first=True) == "result[1]['layers'][*]"


_PIECES = ("layer", "block", "_", "12", "007", "['", "']", "[", "]", ".", "/", "x", "\n", "result")


@given(st.lists(st.lists(st.sampled_from(_PIECES), max_size=8).map("".join), max_size=5), st.booleans())
def test_many_paths_are_starred_as_each_of_them(paths, keep_first):
    each = [path_pattern(path, keep_first=keep_first) for path in paths]
    assert path_patterns(paths, keep_first=keep_first) == each


@pytest.mark.parametrize(
    ("op_name", "useful"),
    [
        ("jit(step)/jit(main)/transpose(jvp(layer0))/attn/dot_general", "layer0/attn/dot_general"),
        ("jit(f)/while/body/closed_call/psum", "psum"),
        ("jit(f)/transpose(jvp())/while/body/eval_jaxpr/checkpoint/rematted_computation/mlp/dot", "mlp/dot"),
        ("jit(step)/jvp()/reduce_sum", "reduce_sum"),
        ("jit(f)/(transpose(jvp())/dot_general:transpose(jvp())/dot_general:jvp()/add)", "dot_general, add"),
        ("dot", "dot"),
        ("", ""),
    ],
)
def test_the_useful_part_of_a_name_is_scopes_and_operation(op_name, useful):
    assert operation_text(op_name) == useful


def test_layer_numbers_in_scopes_are_starred():
    assert scope_pattern("layer3/attn/dot_general") == "layer*/attn/dot_general"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (2048, "2 KiB"),
        (3584, "3.50 KiB"),
        (round(79.28 * 2**20), "79.3 MiB"),
        (round(1399.2 * 2**20), "1,399 MiB"),
        (20 * 2**30, "20 GiB"),
        (None, "unknown"),
    ],
)
def test_a_size_has_three_digits_and_a_unit(size, text):
    assert bytes_text(size) == text


def test_a_column_keeps_one_unit():
    assert [bytes_in(size, "MiB") for size in (2**20, 2**30, 100, 0, None)] == [
        "1.00",
        "1,024.00",
        "<0.01",
        "0.00",
        "unknown",
    ]


@pytest.mark.parametrize(("seconds", "text"), [(0.0123, "12 ms"), (1.74, "1.7 s"), (83.2, "83 s"), (None, "unknown")])
def test_seconds_have_two_digits(seconds, text):
    assert seconds_text(seconds) == text


@given(st.text(), st.integers(0, 60))
def test_shortening_keeps_to_the_width(text, width):
    assert cell_width(shorten(text, width)) <= width


def test_shortening_takes_from_the_middle():
    assert shorten("params['layers'][0]['attention']['query']", 20) == "params['...['query']"


@given(st.text())
def test_nothing_invisible_is_left(text):
    shown = printable(text)
    assert shown.isprintable()
    shown.encode("utf-8")


def test_what_reverses_or_ends_a_line_is_written_out():
    assert printable("a\x00b\u202ec\nd\udc80") == "a\\x00b\\u202ec\\x0ad\\udc80"


def test_figures_that_no_program_has_are_bounded():
    huge = 10**5000  # more digits than Python prints
    assert bytes_text(huge) == "over 8 EiB"
    assert bytes_in(huge, "PiB") == "over 8,192"
    assert bytes_in(huge, "B") == f"over {2**63:,}"
    assert count_text(huge) == "over 10^18"
    assert plural(huge, "device") == "over 10^18 devices"
    assert count_text(10**18) == "1,000,000,000,000,000,000"
    assert bytes_text(2**63) == "8,192 PiB"


@pytest.mark.parametrize("name", ["(" * 25_000 + ")" * 25_000, "(" * 1000 + "a:b" + ")" * 1000, "jvp(" * 25_000, ")("])
def test_a_name_that_is_nested_without_end_is_written_all_the_same(name: str):
    assert len(operation_text(name)) <= 4096


def test_names_combined_of_combined_names_are_taken_apart():
    assert operation_text("jit(f)/(jit(f)/jit(main)/add:(jit(f)/a/mul:jit(f)/sub))") == "add, a/mul, sub"
