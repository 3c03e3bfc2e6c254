"""Bytes that cross between hosts, worked out by hand: devices 0 1 are on host 0, 2 3 on host 1."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.collectives.traffic import with_hosts
from pjit_inspect.model.report.collective import Collective

HOSTS = (0, 0, 1, 1)


def collective(kind: str, *groups: tuple[int, ...], count: int | None = 1, wire: int = 12) -> Collective:
    return Collective(
        kind=kind, axes=("x",), groups=groups, dtype="f32", local_shape=(4,), payload_bytes=16, wire_bytes=wire,
        count=count, implicit=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "crosses", "expected"),
    [
        # Both groups lie on one host each.
        (collective("all-reduce", (0, 1), (2, 3)), False, 0),
        # The ring 0 1 2 3 leaves a host twice: 1 to 2, 3 to 0. Each sends its 12 wire bytes there.
        (collective("all-reduce", (0, 1, 2, 3)), True, 24),
        # The ring 0 2 1 3 leaves a host at every step.
        (collective("all-gather", (0, 2, 1, 3)), True, 48),
        # Two rings of two, both ways, five times.
        (collective("reduce-scatter", (0, 2), (1, 3), count=5), True, 2 * 2 * 12 * 5),
        # 0 to 2 crosses, 0 to 1 does not: one operand of 16 bytes.
        (collective("collective-permute", (0, 2), (0, 1)), True, 16),
        # 0 1 2 3 passes 1 to 2 once, and nothing comes back.
        (collective("collective-broadcast", (0, 1, 2, 3)), True, 12),
        # Each of four sends a quarter of 16 bytes to each of the two on the other host.
        (collective("all-to-all", (0, 1, 2, 3)), True, 4 * 2 * 4),
        (collective("all-reduce", (0, 2), count=None), True, None),
        (collective("all-reduce", (0, 9)), None, None),
        (collective("all-reduce"), None, None),
    ],
)
def test_only_what_leaves_a_host_counts(row: Collective, crosses: bool | None, expected: int | None):
    [found] = with_hosts([row], HOSTS)
    assert (found.is_cross_host, found.host_bytes) == (crosses, expected)
