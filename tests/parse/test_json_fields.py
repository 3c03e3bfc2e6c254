"""Reading JSON by type hints: every part of a record is read, and every other value is refused with its path."""

from __future__ import annotations

import copy
import io
import json
import re
import zipfile
from random import Random
from typing import Any, Literal

import pytest
from mutations import real_record

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.mesh import Device, Mesh
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.parse.files import json_entries, record_file
from pjit_inspect.parse.files.json_fields import TableWriter, from_json, tables_from_json, to_json

_WRONG = (
    None,
    True,
    0,
    -1,
    3,
    2**63 - 1,
    2**63,
    1.5,
    "nan",
    "bare",
    "often",
    [],
    [1],
    ["x", "y"],
    [None],
    {},
    {"a": 1},
)


def parts() -> dict[str, tuple[Any, Any, dict[type, Any], tuple[str, ...]]]:
    """The parts of a real record: JSON, hint, tables, and fields that JSON does not have."""
    with zipfile.ZipFile(io.BytesIO(real_record())) as archive:
        whole, propagation, times = (
            json.loads(archive.read(name)) for name in ("record.json", "propagation.json", "times.json")
        )
    found: dict[str, tuple[Any, Any, dict[type, Any], tuple[str, ...]]] = {"times": (times, KernelTimes, {}, ())}
    for name, given, hint, types in (
        ("record", whole, RecordData, record_file._TABLES),
        ("program", propagation, ShardedProgram, json_entries._TABLES),
    ):
        tables = tables_from_json(given["tables"], types, "$.tables")
        for type_ in types:
            found[f"{name}, {type_.__name__}"] = given["tables"].get(type_.__name__, []), tuple[type_, ...], {}, ()
        others = tuple(record_file._ENTRIES) if hint is RecordData else ()
        found[name] = given[name], hint, tables, others
    return found


PARTS = parts()


def read(name: str, data: Any) -> Any:
    _, hint, tables, skip = PARTS[name]
    return from_json(data, hint, "$", tables, skip=skip)


@pytest.mark.parametrize("name", PARTS)
def test_every_part_of_a_record_is_written_as_it_was_read(name: str):
    whole, hint, tables, skip = PARTS[name]
    writer = TableWriter(*tables)
    for rows in tables.values():
        for row in rows:
            writer.index_of(row)
    skipped = ("compiler_log",) if hint is ShardedProgram else skip
    assert to_json(read(name, whole), hint, writer, skip=skipped) == whole


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every value in some JSON, as what holds it and its key there."""
    found = []
    for key in node if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], (dict, list)):
            found += places(node[key])
    return found


@pytest.mark.parametrize("name", PARTS)
def test_a_wrong_value_is_refused_with_a_path_that_leads_to_it(name: str):
    whole, random, refused = PARTS[name][0], Random(name), 0
    for _ in range(150):
        data = copy.deepcopy(whole)
        if not (found := places(data)):
            continue
        holder, key = random.choice(found)
        if isinstance(holder, dict) and random.random() < 0.3:
            holder[random.choice(("strange", "name"))] = holder.pop(key)
        else:
            holder[key] = random.choice(_WRONG)
        try:
            read(name, data)
        except ParseError as error:
            refused += 1
            path = re.match(r"\$\S*", error.message)
            assert path is not None
            follow(data, path[0])
    assert refused > 20 or not places(whole)


def follow(data: Any, path: str) -> Any:
    """The value at a path; an error where there is none."""
    for key, position in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        data = data[key] if key else data[int(position)]
    return data


@pytest.mark.parametrize(
    ("hint", "right", "wrong"),
    [
        (int, [0, 2**63 - 1, -(2**63) + 1], [2**63, -(2**63), True, 1.0, "1", None]),
        (float, [1, 1.5, "nan", "inf", "-inf"], ["1.5", "NaN", True, None, 2**63, [1.0]]),
        (bool, [True, False], [0, 1, None, "true"]),
        (str, ["", "x"], [None, 0, ["x"]]),
        (Literal["a", "b"], ["a", "b"], ["c", 0, None, ["a"]]),
        (str | None, ["", None], [0, False, []]),
        (Literal["a"] | None, ["a", None], ["b", 0]),
        (tuple[int, ...], [[], [0, 5, -5], [2**63 - 1]], [[0, True], [2**63], [-(2**63)], [0, None], {}, "ab", 0]),
        (tuple[str, ...], [[], ["a", "b"]], [["a", 1], {"a": "b"}, "ab", [["a"]]]),
        (tuple[float, ...], [[], [1, 2.5, "nan"]], [[True], ["x"], {}]),
        (tuple[str | tuple[str, ...] | None, ...], [["a", None, ["b", "c"], []]], [[1], ["a", [None]], "a"]),
        (dict[str, int], [{}, {"a": 1}], [[], {"a": None}, {"a": {}}, {"a": True}, "a", None]),
        (Sentence, ["", "over `a`", [], [["axis", "a"]], [["spec", "P()", "bare"]]],
         [None, 3, {}, ["a"], [["a", "b"]], [["axis"]], [["axis", 3]], [["axis", "a", "b"]], [["axis", "a", "bare", 1]],
          [[["axis"], "a"]]]),
    ],
)  # fmt: skip
def test_each_type_has_its_values(hint: Any, right: list[Any], wrong: list[Any]):
    for data in right:
        from_json(data, hint)
    for data in wrong:
        with pytest.raises(ParseError, match=r"^\$.* is .*\(expected "):
            from_json(data, hint)


def test_values_become_those_of_their_types():
    assert from_json([1, "nan", "-inf"], tuple[float, ...])[::2] == (1.0, float("-inf"))
    assert from_json(["a", None, ["b"]], tuple[str | tuple[str, ...] | None, ...]) == ("a", None, ("b",))
    assert from_json([["spec", "P()", "bare"]], Sentence).phrases[0].is_bare


@pytest.mark.parametrize("index", [-1, 1, True, "0", None, 2**63])
def test_a_row_that_a_table_lacks_is_refused(index: Any):
    device = Device(id=0, platform="cpu", kind="cpu")
    tables = {Device: (device,), Mesh: (), Sharding: ()}
    assert from_json(0, Device, "$", tables) is device
    with pytest.raises(ParseError, match=r"^\$ is "):
        from_json(index, Device, "$", tables)


def test_a_hint_that_could_mean_two_things_is_no_hint():
    with pytest.raises(TypeError, match="are list in JSON"):
        from_json([1], tuple[int, ...] | tuple[str, ...])
