"""Reading JSON the fast way gives what reading it value by value gives, and refuses what that refuses."""

from __future__ import annotations

import copy
import io
import json
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
from pjit_inspect.parse.files import json_fields, propagation_file, record_file
from pjit_inspect.parse.files.json_makers import maker_of

_ROOT = (None, "$")
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


def read_slowly(data: Any, hint: Any, tables: Any = None, given: Any = None) -> Any:
    """What reading value by value says: the value, or the words of its refusal."""
    try:
        return json_fields._from_json(data, hint, _ROOT, tables or {}, given)
    except ParseError as error:
        return str(error)


def read_fast(data: Any, hint: Any, tables: Any = None, given: Any = None) -> Any:
    """What its maker makes; None when it refuses."""
    tables = tables or {}
    try:
        make = maker_of(hint, frozenset(tables), frozenset(given or ()))
        return make(data, tables, given) if given else make(data, tables)
    except Exception:
        return None


def parts() -> dict[str, tuple[Any, Any, dict[type, Any], dict[str, Any]]]:
    """The parts of a real record: JSON, hint, tables, and fields that do not come from JSON."""
    with zipfile.ZipFile(io.BytesIO(real_record())) as archive:
        whole, propagation, times = (
            json.loads(archive.read(name)) for name in ("record.json", "propagation.json", "times.json")
        )
    found: dict[str, tuple[Any, Any, dict[type, Any], dict[str, Any]]] = {"times": (times, KernelTimes, {}, {})}
    for name, given, hint, types in (
        ("record", whole, RecordData, record_file._TABLES),
        ("program", propagation, ShardedProgram, propagation_file._TABLES),
    ):
        tables = {}
        for type_ in types:
            rows = given["tables"].get(type_.__name__, [])
            found[f"{name}, {type_.__name__}"] = rows, tuple[type_, ...], {}, {}
            tables[type_] = json_fields._from_json(rows, tuple[type_, ...], _ROOT, {})
        others = dict.fromkeys(record_file._ENTRIES) if hint is RecordData else {}
        found[name] = given[name], hint, tables, others
    return found


PARTS = parts()


@pytest.mark.parametrize("name", PARTS)
def test_every_part_of_a_record_is_made_at_once(name: str):
    fast, slow = read_fast(*PARTS[name]), read_slowly(*PARTS[name])
    assert fast == slow
    assert fast is not None


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every value in some JSON, as what holds it and its key there."""
    found = []
    for key in node if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], (dict, list)):
            found += places(node[key])
    return found


@pytest.mark.parametrize("name", PARTS)
def test_what_is_wrong_is_refused_by_both_and_what_is_not_is_read_by_both_alike(name: str):
    whole, *others = PARTS[name]
    random, refused = Random(name), 0
    for _ in range(150):
        data = copy.deepcopy(whole)
        if not (found := places(data)):
            continue
        holder, key = random.choice(found)
        if isinstance(holder, dict) and random.random() < 0.3:
            holder[random.choice(("strange", "name"))] = holder.pop(key)
        else:
            holder[key] = random.choice(_WRONG)
        slow, fast = read_slowly(data, *others), read_fast(data, *others)
        refused += fast is None
        assert fast == (None if isinstance(slow, str) else slow)
    assert refused > 20 or not places(whole)


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
        assert repr(read_fast(data, hint)) == repr(read_slowly(data, hint))
        assert read_fast(data, hint) is not None or data is None
    for data in wrong:
        assert read_fast(data, hint) is None
        assert isinstance(read_slowly(data, hint), str)
        with pytest.raises(ParseError):
            json_fields.from_json(data, hint, _ROOT)


@pytest.mark.parametrize("index", [-1, 1, True, "0", None, 2**63])
def test_a_row_that_a_table_lacks_is_refused(index: Any):
    device = Device(id=0, platform="cpu", kind="cpu")
    tables = {Device: (device,), Mesh: (), Sharding: ()}
    assert read_fast(0, Device, tables) is device
    assert read_fast(index, Device, tables) is None
    assert isinstance(read_slowly(index, Device, tables), str)


def test_a_hint_that_could_mean_two_things_is_read_value_by_value():
    assert read_fast([1], tuple[int, ...] | tuple[str, ...]) is None
    assert json_fields.from_json([1], tuple[int, ...] | tuple[str, ...], _ROOT) == (1,)
