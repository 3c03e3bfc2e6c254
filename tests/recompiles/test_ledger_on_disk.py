"""What the ledger says of the compilation cache on disk: what it missed, and what came from it."""

from __future__ import annotations

from pathlib import Path

import pjit_inspect as pi
from recompiles.surroundings import compilation_cache_on_disk


def test_a_miss_of_the_disk_and_what_came_from_it_are_told_apart(tmp_path: Path) -> None:
    with pi.capture() as log:
        compilation_cache_on_disk(tmp_path)
    rows = [row for row in pi.ledger(log).rows if row.origin == "user"]
    in_order = sorted(rows, key=lambda row: row.entries[0].index)
    # Two lines of the scenario call it.
    assert [(row.missed_disk, row.from_disk) for row in in_order] == [(1, 0), (0, 1)]
