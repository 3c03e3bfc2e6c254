"""Splits the calls of `custom_partitioning` in a copy as the user's partition rules said.

XLA asks Python how to split such a call. The rules are in the user's process, so XLA is asked twice. First the call is
split as it stands, by an operation that nobody knows, and what XLA wants to know of it is written down. Then the
answers of the rules come with the question, and XLA splits by them. There a mark follows what a rule has made of a
call: an operation that takes and yields what the call does, by which the call is found in the partitioned program. Not
its job: asking the rules (`observe.live.partition_rules`).
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.partitioner import dump as partitioner_dump
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.how_compiled import rule_calls
from pjit_inspect.observe.shardy.numbering import Numbering, numbered

_TARGET, _MARK, _UNKNOWN = (f"pjit_inspect.{name}" for name in ("partition_rule", "end_of_rule", "unknown_rule"))
_NAME = "pjit_inspect_rule{}_{}"


class RuleCalls:
    """The calls of a copy that rules of the user split.

    Attributes:
      keys: the number of each call in the copy -> the key of its rule.
      is_whole: whether the rule of every call that XLA asked about is known.
    """

    def __init__(self, module: Any, folder: Path) -> None:
        self.is_whole: bool = True
        self.keys: dict[int, str] = {}
        self._folder = folder
        self._answers: dict[str, tuple[bytes, list[bytes], bytes]] = {}
        self._asked: dict[str, dict[str, Any]] = {}
        calls = set(rule_calls(module))
        for number, op in enumerate(numbered(module) if calls else ()):
            if op in calls:
                self.keys[number] = _mlir.text_of(op.attributes["backend_config"])
                op.attributes["call_target_name"] = _mlir.parse_attribute(module, f'"{_TARGET}"')
                op.attributes["backend_config"] = _mlir.parse_attribute(module, f'"{number}"')
        if self.keys:
            _jax.register_partitioner(_TARGET, self._split)

    def learn(
        self, rules: Sequence[dict[str, Any]], bodies: Sequence[bytes], numbers: Numbering, *, mark: bool
    ) -> None:
        """Takes the answers of rules, each with the module it makes of its call, and numbers the operations there."""
        for rule, content in zip(rules, bodies, strict=True):
            with _mlir.open_module(content) as body:
                numbers.number(body, _NAME)
                if mark:
                    _mlir.insert_mark(body, _MARK)
                given = _mlir.bytecode(body), [b64decode(own) for own in rule["operands"]], b64decode(rule["result"])
            self._answers[_key(rule["asked"])] = given

    def _split(self, shapes: Any, shardings: Any, result: Any, sharding: Any, number: bytes) -> tuple[bytes, Any, Any]:
        """Answers XLA as JAX would: the module for one device, and how it takes its operands and yields its results."""
        results = list(result.tuple_shapes()) if result.is_tuple() else [result]
        asked = {
            "number": int(number),
            "key": self.keys[int(number)],
            "operands": [[*_plain(shape), _text(own)] for shape, own in zip(shapes, shardings, strict=True)],
            "results": list(map(_plain, results)),
            "is_tuple": result.is_tuple(),
            "result": _text(sharding),
        }
        if (known := self._answers.get(_key(asked))) is not None:
            body, operands, made = known
            return body, list(map(_jax.to_sharding, operands)), _jax.to_sharding(made)
        self.is_whole = False
        self._asked[_key(asked)] = asked
        partitioner_dump.leave_text(self._folder, partitioner_dump.RULES, json.dumps(list(self._asked.values())))
        own = sharding.tuple_elements() if result.is_tuple() else [sharding]
        pieces = [
            [_plain(split.tile(shape)) for shape, split in zip(*pair, strict=True)]
            for pair in ((shapes, shardings), (results, own))
        ]
        return _mlir.unknown_call(_UNKNOWN, *pieces), shardings, sharding


def _key(asked: dict[str, Any]) -> str:
    return json.dumps(asked, sort_keys=True)


def _plain(shape: Any) -> list[Any]:
    return [str(shape.numpy_dtype()), list(shape.dimensions())]


def _text(sharding: Any) -> str:
    return b64encode(sharding.to_proto().SerializeToString()).decode()
