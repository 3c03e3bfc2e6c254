"""An explained error as text and as HTML."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.errors.explain import explain_message
from pjit_inspect.model.program.mesh import MeshAxes
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, ExplainedError, Fit
from pjit_inspect.view.pages.error import error_view
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text

MESH = MeshAxes(axis_names=("data", "model"), shape=(2, 4))
HOSTILE = "<script>alert(1)</script>\x1b[31m\n\u202e`"
NOT_DIVIDED = (
    "One of pjit arguments with pytree key path {name} was given the sharding of NamedSharding(mesh=Mesh('{axis}': 4, "
    "axis_types=(Auto,)), spec=PartitionSpec('{axis}', None), memory_kind=device), which implies that the global size "
    "of its dimension 0 should be divisible by 4, but it is equal to 6 (full shape: (6, 8))"
)


def lines_of(error: ExplainedError) -> list[str]:
    return to_text(error_view(error)).splitlines()


def test_it_says_what_is_wrong_where_with_which_arrays_and_what_would_fit():
    array = ErrorArray(name="w", dtype="float32", shape=(6, 8), spec=("model", None), mesh=MESH)
    fits = (Fit(edit="P('data', None)", effect="`data` (2) divides 6; a device holds [3,8]"),)
    error = ExplainedError(
        kind="indivisible", sentence="dimension 0 of `w` is 6", arrays=(array,), fits=fits, notes=("a note",),
        frame=Frame(file="/home/me/train.py", line=12), line="step(w)",
    )  # fmt: skip
    assert lines_of(error) == [
        "Dimension 0 of `w` is 6",
        "train.py:12  `step(w)`",
        "",
        "array  shape         spec on data=2 x model=4  each device holds",
        "w      float32[6,8]  P('model', None)          does not divide",
        "",
        "Ways to fix it",
        "• `P('data', None)`: `data` (2) divides 6; a device holds [3,8]",
        "",
        "note  A note",
    ]


def test_what_is_not_known_has_no_column_and_several_meshes_have_one():
    assert lines_of(ExplainedError(kind="unknown", sentence="no refusal")) == ["No refusal"]
    small = MeshAxes(axis_names=("model",), shape=(4,))
    arrays = (
        ErrorArray(name="x", shape=(4, 8), spec=("data", None), mesh=MESH, device_ids=tuple(range(8))),
        ErrorArray(name="w", shape=(8,), spec=("model",), mesh=small, device_ids=tuple(range(4))),
    )
    assert lines_of(ExplainedError(kind="devices", sentence="they differ", arrays=arrays))[2:] == [
        "array  shape  spec             mesh              each device holds  devices",
        "x      [4,8]  P('data', None)  data=2 x model=4  [2,8]              0-7",
        "w      [8]    P('model')       model=4           [2]                0-3",
    ]


@pytest.mark.parametrize("name", [HOSTILE, "w" * 400, "\x00"])
def test_hostile_names_are_shown_as_text_of_bounded_size(name):
    array = ErrorArray(name=name, dtype=name, shape=(6,), spec=(name,), mesh=MeshAxes(axis_names=(name,), shape=(4,)))
    frame, fits = Frame(file=name, line=1, function=name), (Fit(edit=name, effect=name),)
    error = ExplainedError(
        kind="indivisible", sentence=f"dimension 0 of `{name}`", arrays=(array,) * 50, fits=fits, frame=frame, line=name
    )
    text, page = to_text(error_view(error)), to_html(error_view(error))
    assert all(char.isprintable() for line in text.splitlines() for char in line)
    assert max(map(len, text.splitlines())) <= 100
    assert len(text) < 6_000
    assert "<script>alert" not in page
    assert "\x1b" not in page


@pytest.mark.parametrize("name", ["<script>", "w\x1b[31m", "w" * 499, "a`b"])
def test_a_hostile_message_is_explained_with_its_names_as_text(name):
    for scene in (ErrorScene(), ErrorScene(operator="device_put", operands=(ErrorArray(name=name, shape=(6, 8)),))):
        error = explain_message(NOT_DIVIDED.format(name=name, axis="model"), scene)
        assert error is not None
        text, page = to_text(error_view(error)), to_html(error_view(error))
        assert "6 / 4 = 1.5" in " ".join(text.split())
        assert "<script>" not in page
        assert len(text) < 6_000
