"""Which results take the place of which arguments: found among thousands, whatever the paths are."""

from __future__ import annotations

import dataclasses

import pytest

from pjit_inspect.analyze.findings import arguments
from pjit_inspect.analyze.findings.arguments import _by_ending, _replaced
from pjit_inspect.model.program.layout import ArrayLayout, Sharding

SHARDING = Sharding(spec=("x",), tiles=(2,), device_ids=(0, 1), tile_of=(0, 1))


def array(path: str, **changed: object) -> ArrayLayout:
    own = ArrayLayout(path=path, dtype="float32", global_shape=(8,), sharding=SHARDING)
    return dataclasses.replace(own, **changed)


def numbers(inputs: list[ArrayLayout], outputs: list[ArrayLayout]) -> list[int]:
    return [number for _, number in _replaced(inputs, outputs, _by_ending(outputs))]


def test_each_argument_has_a_result_of_its_own() -> None:
    outputs = [array("result[1]['b']['a']"), array("result[0]['a']"), array("result[1]['a']")]
    assert numbers([array("params['b']['a']"), array("params['a']"), array("params['a']")], outputs) == [0, 1, 2]
    # The first that fits is taken, and then none is left.
    assert numbers([array("params['a']"), array("params['b']['a']")], outputs) == []
    assert numbers([array("params['a']")], [array("result['b']"), array("result['a']")]) == [1]


def test_an_array_by_itself_is_replaced_by_one_by_itself() -> None:
    assert numbers([array("x")], [array("result['x']"), array("result[1]")]) == [1]


@pytest.mark.parametrize(
    "changed",
    [{"dtype": "int32"}, {"global_shape": (16,)}, {"sharding": None}, {"aliases": "x"}],
    ids=lambda changed: next(iter(changed)),
)
def test_what_differs_is_no_replacement(changed: dict[str, object]) -> None:
    assert numbers([array("p['a']")], [array("result['a']", **changed)]) == []


def test_ten_thousand_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    is_like = arguments._is_like
    monkeypatch.setattr(arguments, "_is_like", lambda *pair: compared.append(1) or is_like(*pair))
    count = 10_000
    found = numbers([array(f"d['w{i}']") for i in range(count)], [array(f"result['w{i}']") for i in range(count)])
    assert found == list(range(count))
    assert len(compared) == count


def test_a_path_of_many_parts_takes_no_memory_for_each() -> None:
    deep = "p" + "['a']" * 10_000
    assert sum(len(ending) for ending in _by_ending([array(deep)])) < 100_000
