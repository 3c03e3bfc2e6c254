"""`pjit_inspect.lesson`: what a check prints, and what a field for a prediction is where nothing runs.

Not its job: the lessons themselves (tests/docs/test_lessons.py).
"""

from __future__ import annotations

import pytest

import pjit_inspect as pi
from pjit_inspect import lesson
from pjit_inspect.errors import RecordNotFoundError


@pytest.fixture(scope="module")
def record() -> pi.CompileRecord:
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = jax.make_mesh((8,), ("X",), axis_types=(jax.sharding.AxisType.Auto,))

    def one(shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    return pi.inspect(jax.jit(jnp.dot), one((16, 32), None, "X"), one((32, 32), "X", None))


def test_a_right_number_is_one_quiet_line(record: pi.CompileRecord, capsys: pytest.CaptureFixture[str]):
    assert record.sends == record.report.sent_bytes == 14 * 256
    lesson.check(record, sends=14 * 256, holds=512 * 4 // 8 + 1024 * 4 // 8, collectives=1)
    assert capsys.readouterr().out == "✓ 3,584 bytes\n✓ 768 bytes\n✓ 1 collective\n"


def test_a_wrong_number_gets_both_numbers_and_a_hint(record: pi.CompileRecord, capsys: pytest.CaptureFixture[str]):
    for said in (7 * 256, 4 * 14 * 256, 100):
        lesson.check(record, sends=said)
    assert capsys.readouterr().out.splitlines() == [
        "✗ You say 1,792 bytes. Each device sends 3,584. It is 2 times yours.",
        "✗ You say 14,336 bytes. Each device sends 3,584. Yours is 4 times that.",
        "✗ You say 100 bytes. Each device sends 3,584. Which factor is missing?",
    ]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("3,584", " As you predicted."),
        ("3.5 KiB", " As you predicted."),
        ("7 KiB", " You predicted 7,168."),
        ("much", ""),
        ("_", ""),
    ],
)
def test_a_prediction_is_judged_once(
    record: pi.CompileRecord, capsys: pytest.CaptureFixture[str], typed: str, said: str
):
    lesson.predict("bytes that device 3 sends").value = typed
    lesson.check(record, sends=3_584)
    lesson.check(record, sends=3_584)
    assert capsys.readouterr().out == f"✓ 3,584 bytes{said and '.'}{said}\n✓ 3,584 bytes\n"


def test_a_field_is_a_line_where_nothing_runs():
    assert repr(lesson.predict("bytes")) == "Your prediction, bytes: ____"


def test_what_cannot_be_checked_is_said(record: pi.CompileRecord, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(TypeError, match="it knows sends, holds, collectives, flops"):
        lesson.check(record, joy=1)
    with pytest.raises(TypeError, match=r"check\(sends=\.\.\.\) takes a number, and got str"):
        lesson.check(record, sends="3,584")  # type: ignore[arg-type]
    monkeypatch.setattr(lesson.api, "session_log", pi.Log)
    with pytest.raises(RecordNotFoundError, match="run one with %pjit first"):
        lesson.check(sends=1)
