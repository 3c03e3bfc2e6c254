"""No two parts advise opposite things about one array: findings, suggestions, memory's advice and the ledger.

Not its job: whether the advice helps (`test_findings`, `recompiles/test_advice`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import pytest
from recompiles.advice import CASES, Case

import pjit_inspect as pi
from findings.case import Fault
from findings.faults import FAULTS
from findings.score import record_of
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.program.mesh import Dimensions, axes_of
from pjit_inspect.model.report.edit import Edit

_FAULTS = [fault for fault in FAULTS if not fault.is_kept]
_PLACED = ("replicated_argument", "resharded_argument")
FED_BACK = [case for case in CASES if case.kind == "feedback"]


def placed(record: Any, change: tuple[Edit, ...]) -> Iterator[tuple[str, Dimensions]]:
    """The arguments that a change places, with how."""
    for edit in change:
        if edit.kind == "argument" and edit.spec is not None:
            yield record.propagation.inputs[edit.index].label, edit.spec


def places(record: Any) -> dict[str, dict[str, Dimensions]]:
    """What each part says of how arguments should lie."""
    found = {path: spec for one in record.findings for path, spec in placed(record, (*one.with_edits, *one.edits))}
    said = {"findings": found, "memory": {}, "suggestions": {}}
    for one in record.memory_use.suggestions:
        said["memory"] |= {path: tuple(map(axes_of, spec)) for path, spec in one.specs.items()}
    if found:
        # The others ask XLA about dozens of changes.
        for one in record.suggestions:
            said["suggestions"] |= dict(placed(record, (*one.with_edits, *one.edits)))
    return said


def check(record: Any) -> None:
    try:
        said = places(record)
    except CaptureError:
        pytest.skip("a program that no part advises about")
    for path, spec in said["findings"].items():
        assert {part: own[path] for part, own in said.items() if own.get(path, spec) != spec} == {}, (path, spec)
    donated = [one for one in record.findings if one.kind == "not_donated"]
    for one in record.memory_use.suggestions:
        if one.kind == "donate":
            assert donated or len(record.findings) == 3
            assert all(f"`{root}`" in str(donated[0].sentence) for root in one.name.split(", ") if donated)


@pytest.mark.parametrize("fault", _FAULTS, ids=[fault.name for fault in _FAULTS])
def test_findings_memory_and_suggestions_agree(fault: Fault) -> None:
    check(record_of(fault))


@pytest.mark.parametrize("case", FED_BACK, ids=[case.name for case in FED_BACK])
def test_the_ledger_and_findings_agree(case: Case) -> None:
    jax.clear_caches()
    with pi.capture() as log:
        case.problem()
    pattern = next(one for one in pi.ledger(log).patterns if one.kind == "feedback")
    for record in log.user_records():
        check(record)
        for path, spec in places(record)["findings"].items():
            axes = [axis for dimension in spec for axis in dimension]
            # To be kept as it starts is to stay in pieces; else the spec is said.
            if path == pattern.path and "NamedSharding(mesh, " in pattern.advice:
                told = pattern.advice.partition("NamedSharding(mesh, ")[2].partition("))")[0]
                assert all(f"'{axis}'" in told for axis in axes), (pattern.advice, spec)
