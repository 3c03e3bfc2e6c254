"""A constraint or result that a cause blames, left out of the program: the collective is gone from that operation.

Compiled, not propagated. A sample runs always, all of the corpus with `--all`. Not its job: whether a cause should have
blamed one (`test_causes`).
"""

from __future__ import annotations

import jax
import pytest

from causes.blamed import blamed
from causes.case import Case
from causes.corpus import CASES

_SAMPLE = (
    "sequence_to_heads_and_back",
    "constraint_of_one_dimension_only",
    "out_shardings_of_an_inner_jit",
    "dispatch_with_constraints",
    "constraints_that_reach_the_carry",
    "constraints_in_a_scan",
    "order_of_two_axes",
    "two_dimensions_onto_one",
    "constraint_behind_tanh",
    "constraint_in_an_inner_function",
    "two_constraints_in_a_row",
    "output_split_differently",
    "output_of_a_transpose",
    "rows_change_axis",
    "fsdp_with_weights_gathered_by_hand",
)
# There another operation needs as large a collective when the request is left out: the weight gathered by hand is
# gathered by the product, the third of q, k and v follows the other two, a loop's carry turns at its first constraint.
_NEEDED_ANYWAY = frozenset((
    "fsdp_with_weights_gathered_by_hand",
    "sequence_to_heads_and_back",
    "dispatch_with_constraints",
    "gradient_of_dispatch",
    "constraints_in_a_scan",
    "gradient_of_a_constraint",
))  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "program" in metafunc.fixturenames:
        is_all = metafunc.config.getoption("--all", default=False)
        # On an Explicit mesh the types of all ops follow a request: without it the rest is no program of JAX's.
        chosen = [case for case in CASES if (is_all or case.name in _SAMPLE) and not case.name.startswith("explicit")]
        metafunc.parametrize("program", chosen, ids=[case.name for case in chosen])


def test_without_the_request_that_is_blamed_the_collective_is_gone_from_there(program: Case) -> None:
    found = blamed(program)
    assert found or program.name not in _SAMPLE
    # Without the request, XLA of JAX 0.12 gathers these weights for the product at the very same place.
    if program.name != "fsdp_with_weights_gathered_by_hand" or jax.__version_info__ < (0, 12):
        assert not [one.sentence for one in found if one.is_gone is False]
    if program.name not in _NEEDED_ANYWAY:
        assert not [one.sentence for one in found if one.is_needed_anyway]
