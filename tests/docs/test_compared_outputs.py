"""What of a notebook's outputs is compared with the saved ones."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest
from code_blocks import ROOT

from pjit_inspect.view.inspector.page import delivery_html


@pytest.fixture(scope="module")
def compared() -> Any:
    spec = importlib.util.spec_from_file_location("compared_outputs", ROOT / "scripts" / "compared_outputs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("compared_outputs", module)
    spec.loader.exec_module(module)
    return module


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def test_what_is_printed_is_compared_in_full(compared: Any):
    assert compared.compared_outputs([stream("a\nb\n")]) == [stream("a\nb\n")]


def test_of_a_display_the_first_line_of_its_text_is_compared(compared: Any):
    display = {"output_type": "display_data", "data": {"text/plain": "f  jit\n2.5 ms", "text/html": "<div>"}}
    assert list(compared.words([display])) == ["f  jit"]
    text = {"output_type": "execute_result", "data": {"text/plain": "one\ntwo"}}
    assert list(compared.words([text])) == ["one", "two"]


def test_cells_numbers_are_not_compared(compared: Any):
    # nbval runs every cell as the first.
    assert list(compared.words([stream("asked for at In [14]:3\n")])) == ["asked for at In [_]:3"]


def test_the_outputs_keep_their_type(compared: Any):
    class Node(dict[str, Any]):
        pass

    (kept,) = compared.compared_outputs([Node(stream("a"))])
    assert type(kept) is Node


def test_standard_error_is_not_compared(compared: Any):
    assert compared.compared_outputs([stream("W1123 10:00 spmd_partitioner.cc", "stderr")]) == []


def test_the_place_that_jax_prints_before_an_error_is_not_compared(compared: Any):
    place = "/tmp/ipykernel_91/377.py:4:4 (<module>)\n"
    assert compared.compared_outputs([stream(place)]) == []
    assert list(compared.words([stream(place + "6 / 4 = 1.5\n")])) == ["6 / 4 = 1.5"]


def test_a_cell_is_ignored_by_its_tag(compared: Any):
    assert compared.is_ignored({"metadata": {"tags": ["nbval-ignore-output"]}})
    assert not compared.is_ignored({"metadata": {}})


def test_advice_that_comes_later_is_not_compared_whether_it_is_there_or_not(compared: Any):
    key, advice = "k", {"rows": []}
    waiting = {"output_type": "display_data", "data": {"text/plain": "", "text/html": ""}}
    html = delivery_html(advice, key=key, still="<p>no findings</p>")
    there = {"output_type": "display_data", "data": {"text/plain": "no findings", "text/html": html}}
    assert compared.compared_outputs([waiting, there]) == []
