"""Counted operations and bytes of real steps, against XLA's own count; `scripts/count_work` has the whole corpus."""

from __future__ import annotations

import pytest

from corpus.programs import PROGRAMS
from corpus.work import count_work

_CHOSEN = (
    "mnist_data_parallel",
    "explicit_axes_mlp_scan",
    "distillation_with_evaluation",
    "fourier_neural_operator",
    "fsdp_mlp_of_unequal_layers",
)


@pytest.mark.parametrize("program", [own for own in PROGRAMS if own.name in _CHOSEN], ids=lambda own: own.name)
def test_operations_are_within_a_hundredth_of_xlas_and_bytes_within_a_twentieth(program):
    found = count_work(program)
    assert found.once_ratio == pytest.approx(1.0, abs=0.01)
    assert found.flops_ratio == pytest.approx(1.0, abs=0.01)
    if not found.loops:
        assert found.bytes_ratio == pytest.approx(1.0, abs=0.05)
