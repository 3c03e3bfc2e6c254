"""`targets()`: what can be compiled for here, as text, HTML and columns."""

from __future__ import annotations

import csv
import io

import pytest

import pjit_inspect as pi
from pjit_inspect.handles.asked.targets import target_names
from pjit_inspect.observe.partitioner import targets as known
from pjit_inspect.observe.partitioner.targets import find_target


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"tpu": "no TPUs: pip install 'pjit_inspect[tpu]'", "cuda": "no GPUs: pip install 'pjit_inspect[cuda]'"}
    monkeypatch.setattr(known, "why_missing", said.__getitem__)


@pytest.fixture
def all_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "why_missing", lambda platform: "")


def test_every_kind_is_a_row_whatever_is_installed(nothing_installed: None) -> None:
    table = pi.targets()
    assert [row.chip for row in table] == ["", "v4", "v5e", "v5p", "v6e", "tpu7x", "a100", "h100", "h200", "b200"]
    assert [row.ready for row in table] == [True] + [False] * 9
    assert repr(table) == "<Targets: 10 kinds of machine, 1 of them ready>"
    text = str(table)
    assert "1 kind of machine can be compiled for here, of 10" in text
    assert text.count("pip install 'pjit_inspect[tpu]'") == 1
    assert text.count("pip install 'pjit_inspect[cuda]'") == 1
    assert "pjit_inspect[tpu]" in table._repr_mimebundle_()["text/html"]


def test_nothing_is_missing_where_all_is_installed(all_installed: None) -> None:
    text = str(pi.targets())
    assert "10 kinds of machine can be compiled for here, of 10" in text
    assert "missing" not in text
    assert "pip" not in text


def test_the_text_fits_a_terminal(nothing_installed: None) -> None:
    assert max(map(len, str(pi.targets()).splitlines())) <= 100


def test_examples_and_completions_are_names_of_targets() -> None:
    for name in (*(row.example for row in pi.targets()), *target_names()):
        assert str(find_target(name)) == name


def test_rows_are_chosen_by_platform_and_exported(all_installed: None) -> None:
    table = pi.targets().of_platform("tpu")
    assert [row.devices_per_chip for row in table] == [1, 1, 1, 1, 2]
    (line,) = [row for row in csv.DictReader(io.StringIO(table.to_csv())) if row["chip"] == "v5e"]
    assert line["topologies"] == "1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16"
    assert line["memory"].startswith("14.9 GiB (Google), 15.8 GiB (libtpu)")
    assert table.to_markdown().startswith("| name | example |")
    with pytest.raises(ValueError, match="there is no platform 'gpu'; the platforms are cpu, tpu, cuda"):
        table.of_platform("gpu")
