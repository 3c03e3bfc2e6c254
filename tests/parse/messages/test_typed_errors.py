"""Messages about types on an Explicit mesh as facts, each as the version named beside it wrote it."""

# ruff: noqa: E501

from __future__ import annotations

import pytest

from pjit_inspect.parse.messages.sharding_errors import parse_sharding_error


@pytest.mark.parametrize(
    ("message", "kind", "reason"),
    [
        # 0.10.2 and 0.12.0
        ("slicing on sharded dims where out dim (1) is not divisible by mesh axes (2) with spec (data) is not "
         "implemented. Got input type=f32[8@data,8@model] and output shape=(np.int64(1), np.int64(8))", "new size", ""),
        # 0.8.2 does not quote the types
        ("padding on sharded dims where out dim (9) is not divisible by mesh axes (8) with spec (('data', 'model')) is "
         "not implemented.", "new size", "one length"),
        # 0.8.1
        ("Use `.at[...].get(out_sharding=)` to provide output PartitionSpec for the gather indexing as out sharding could "
         "not be resolved unambiguously (or would require collectives on inputs).", "indexing", ""),
    ],
)  # fmt: skip
def test_forms_that_versions_write_are_told_apart(message: str, kind: str, reason: str):
    facts = parse_sharding_error(message)
    assert facts is not None
    assert (facts.kind, facts.reason) == (kind, reason)


def test_hostile_messages_raise_nothing_and_take_no_time():
    for message in (
        "0th dimension of all xs should be replicated. Got " + "P('a'), " * 2_000, "Input 0 to lu must be unsharded",
        "Input 0 to lu must be unsharded on non-batch dimensions, but got P(" + "(" * 5_000,
        "dynamic_update_slice operand sharding must be equal to update sharding, got operand sharding " + "f32[({" * 2_000,
    ):  # fmt: skip
        assert parse_sharding_error(message) is None
