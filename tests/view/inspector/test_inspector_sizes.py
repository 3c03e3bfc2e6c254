"""How many bytes a display takes, and the state of a widget, of ordinary training steps: bounds, not figures."""

from __future__ import annotations

import functools
import sys
import zlib
from pathlib import Path

import pytest

import pjit_inspect
from pjit_inspect.view.inspector.blob import deflated

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

MOST_DISPLAY = 1_200_000
MOST_STATE = 800_000


@functools.cache
def record(layers: int) -> pjit_inspect.CompileRecord:
    import jax
    from jax.sharding import AxisType
    from transformer import train_step

    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))
    step, arguments = train_step(mesh, layers)
    return pjit_inspect.inspect(jax.jit(step), *arguments)


@pytest.fixture(params=[4, 16])
def layers(request: pytest.FixtureRequest) -> int:
    """Sixteen layers compile for minutes."""
    if request.param != 4 and not request.config.getoption("--all"):
        pytest.skip("a long one: scripts/test --all runs it")
    return request.param


def test_the_default_display_of_a_training_step_is_at_most_1_2_megabytes(layers: int):
    html = record(layers).show()._repr_mimebundle_()["text/html"]
    assert 100_000 < len(html.encode()) <= MOST_DISPLAY


def test_the_state_of_its_widget_is_at_most_0_8_megabytes(layers: int):
    pytest.importorskip("anywidget")
    state = record(layers).show("widget").get_state()
    size = sum(len(value.encode() if isinstance(value, str) else value) for value in state.values() if _is_bytes(value))
    assert 100_000 < size <= MOST_STATE


def _is_bytes(value: object) -> bool:
    return isinstance(value, (str, bytes, memoryview))


def test_what_a_widget_holds_is_what_a_page_holds():
    blob = b"PJITVIEW" + bytes(range(256)) * 10
    assert zlib.decompress(deflated(blob)) == blob
