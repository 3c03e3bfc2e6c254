"""Spans as data: what Python words, JavaScript only draws."""

from __future__ import annotations

from pjit_inspect.view.document.document import SpecLabel
from pjit_inspect.view.inspector.words import spans_data


def test_a_partition_spec_is_worded_before_it_goes_to_javascript():
    specs = (("data", None), (), (("data", "model"), None))
    written = spans_data(tuple(SpecLabel(spec, ()) for spec in specs))
    assert written == [
        {"code": "P('data', None)"},
        {"code": "P()"},
        {"code": "P(('data', 'model'), None)"},
    ]


def test_a_hostile_axis_name_is_made_visible_in_a_spec():
    (written,) = spans_data((SpecLabel(("a\u202eb",), ()),))
    assert "\u202e" not in written["code"]
