"""What XLA's compiler for TPUs says of a program for which memory is short, as figures."""

from __future__ import annotations

from pathlib import Path

import pytest

import pjit_inspect as pi
from pjit_inspect.handles.asked.answered import misfit_of
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import Hypothesis, Target

GIB = 2**30
REFUSED = "XLA does not compile the program for TPU devices: JaxRuntimeError: RESOURCE_EXHAUSTED: "


def test_no_failure_is_nomisfit_of() -> None:
    assert misfit_of("") is None


@pytest.mark.parametrize(
    ("said", "needed", "available"),
    [
        # libtpu 0.0.42.1, before scheduling.
        (
            "Ran out of memory on HBM, the total memory required for HLO temporaries (25.00G) exceeds available HBM "
            "(15.75G).",
            25 * GIB,
            15.75 * GIB,
        ),
        (
            "Ran out of memory on HBM, the total memory required for HLO temporaries (1.50T) exceeds available HBM "
            "(95.74G).",
            1.5 * 1024 * GIB,
            round(95.74 * GIB),
        ),
        # As users of TPUs report it, when buffers are placed; a list of the largest follows in further lines.
        (
            "XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G of 30.75G hbm. "
            "Exceeded hbm capacity by 33.05G.",
            round(63.8 * GIB),
            30.75 * GIB,
        ),
        # Another memory, of one kernel: no figure of the chip's.
        (
            "Ran out of memory in memory space vmem. Used 32.42M of 16.00M vmem. Exceeded vmem capacity by 16.42M",
            None,
            None,
        ),
        ("Something else is short", None, None),
    ],
)
def test_a_refusal_is_read_in_its_figures_and_its_words_are_kept(
    said: str, needed: float | None, available: float | None
) -> None:
    misfit = misfit_of(REFUSED + said)
    assert misfit is not None
    assert (misfit.needed_bytes, misfit.available_bytes) == (needed, available)
    assert misfit.sentence == said


def test_a_report_with_its_list_is_saved_and_shown(tmp_path: Path) -> None:
    misfit = misfit_of(
        REFUSED + "XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G of 30.75G hbm. "
        "Exceeded hbm capacity by 33.05G.\n\n  Largest program allocations in hbm:\n\n  1. Size: 2.00G\n"
        '     Operator: op_name="jit(step)/dot_general" source_file="/a/train.py" source_line=10\n'
        "     Shape: f32[32,4096,4096]{1,2,0:T(8,128)}\n     Allocation type: HLO temp\n"
        "     ==========================\n"
    )
    assert misfit is not None
    target = Target(platform="tpu", chip="v4", topology="2x2x1")
    asked = Hypothesis(changes=(), target=target, effort="full", misfit=misfit)
    record = pi.CompileRecord(RecordData(name="step", hypothesis=asked))
    record.save(tmp_path / "step.pjit")
    again = pi.load(tmp_path / "step.pjit")
    assert again.data.hypothesis == asked
    text = str(again)
    assert "Does not fit: needs 63.80 GiB of 30.75 GiB on v4 (XLA's count)" in text
    assert "XLA lists 1 buffer, of which 0 were found in the program" in text
    assert "dot_general" in text
    assert "train.py:10" in text
