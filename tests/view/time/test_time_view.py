"""The page of where the seconds of a call go: the answer, limits, lines; and operations where seconds are unknown."""

from __future__ import annotations

from dataclasses import replace

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.time.hardware import HARDWARE
from pjit_inspect.model.time.rows import TimedCollective, TimedCollectives, TimedKernel, TimedKernels
from pjit_inspect.model.time.step_time import StepTime
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.text import to_text
from pjit_inspect.view.time.page import time_blocks


def at(line: int) -> tuple[Frame, ...]:
    return (Frame(file="train.py", line=line, function="step"),)


def kernel(name: str, line: int, **given) -> TimedKernel:
    return TimedKernel(
        **{
            "name": name, "label": "dot_general", "runs": 32, "flops": 10**12, "product_flops": 10**12,
            "flops_from": "shapes", "bytes_read": 10**9, "bytes_written": 10**8, "seconds": 8e-3, "floor_s": 6e-3,
            "known_by": "XLA's estimate", "bound_by": "compute", "phase": "forward", "source": at(line),
        } | given
    )  # fmt: skip


KERNELS = (
    kernel("fusion.1", 41),
    kernel("fusion.2", 41, phase="recompute", seconds=7e-3),
    kernel("fusion.3", 34, label="softmax", bound_by="neither", seconds=3e-3, floor_s=1e-4, phase="backward"),
    kernel("call.1", 36, label="flash", known_by="unknown", bound_by="unknown", seconds=None, floor_s=None, flops=None,
           product_flops=None, flops_from="unknown", phase="backward"),
)  # fmt: skip
GATHER = TimedCollective(
    collective=0, name="all-gather-start", kind="all-gather", axes=("fsdp",), runs=32, sent_bytes=10**8, seconds=2e-3,
    exposed_s=5e-4, formula="V (n - 1) / n / 90 GB/s: a ring of 16", known_by="modelled", is_async=True,
    phase="forward", source=at(41),
)  # fmt: skip
STEP = StepTime(
    hardware=HARDWARE["v5e"], devices=256, kernels=TimedKernels(KERNELS), collectives=TimedCollectives((GATHER,)),
    copies_s=0.0, floor_s=1.21e-2, kernels_s=1.8e-2, step_s=1.85e-2, serial_s=2e-2, exposed_s=5e-4,
    notes=("1 row takes an unknown time, counted as none",),
)  # fmt: skip
DATA = RecordData(name="step", transform="jit")
UNTIMED = replace(
    STEP,
    hardware=None,
    kernels=TimedKernels(
        tuple(replace(row, seconds=None, floor_s=None, known_by="unknown", bound_by="unknown") for row in KERNELS[:3])
    ),
    collectives=TimedCollectives(()),
    copies_s=None,
    floor_s=None,
    kernels_s=None,
    step_s=None,
    serial_s=None,
    exposed_s=None,
    missing="the speed of CPU devices is unknown",
    notes=(),
)


def text(step: StepTime) -> str:
    return to_text(Document(blocks=time_blocks(step, DATA)))


def test_the_page_looks_as_before(golden):
    golden("time.txt", text(STEP))
    golden("time_unknown.txt", text(UNTIMED))


def test_a_step_time_never_stands_alone():
    shown = text(STEP)
    first = " ".join(shown.partition("range:")[0].split())
    assert first.startswith("about 18.5 ms a call on 256 TPU v5e (12.1 ms to 20.0 ms), by XLA's estimate;")
    assert first.endswith("500 µs of communication exposed; without 1 kernel of unknown time")
    for figure in ("12.1 ms", "18.0 ms", "18.5 ms", "20.0 ms"):
        assert figure in shown
    assert "validated" in shown
    assert "Google Cloud" in shown


def test_time_is_never_counted():
    for step in (STEP, UNTIMED):
        assert "counted" not in text(step).replace("counted as none", "").replace("FLOPs are counted", "")
        assert 'title="counted' not in to_html(Document(blocks=time_blocks(step, DATA)))


def test_without_a_program_it_says_why():
    nothing = replace(UNTIMED, kernels=TimedKernels(()), missing="the record has no optimized program")
    assert text(nothing) == "No times: the record has no optimized program"
