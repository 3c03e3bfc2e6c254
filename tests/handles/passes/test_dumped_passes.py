"""XLA's passes in a directory that XLA dumped into: the same passes and lives as asked, known by names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parse.files.test_dump_directory import dump

import pjit_inspect as pi
from pjit_inspect.errors import RecordNotFoundError


@pytest.fixture(scope="module", params=["text", "proto"])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pi.Log:
    flags = "--xla_dump_hlo_pass_re=.*", f"--xla_dump_hlo_as_{request.param}", "--xla_dump_hlo_module_re=.*(mlp|norm).*"
    folder: Path = dump(tmp_path_factory.mktemp("passes"), *flags)
    found = pi.open(folder)
    assert isinstance(found, pi.Log)
    return found


def test_passes_of_a_dump_are_known_by_names(log: pi.Log) -> None:
    passes = log["mlp"].passes
    assert passes.known_by == "names"
    (life,) = passes.lives
    assert [(event.kind, event.pass_name) for event in life.events] == [("made", "spmd-partitioning")]
    assert life.events[0].operations == ("`dot_general` (<string>:8)",)
    assert passes.life(log["mlp"].collectives[0]) is life
    assert "may share a name" in " ".join(str(passes).split())


def test_what_a_pass_of_a_dump_changed(log: pi.Log) -> None:
    passes: Any = log["mlp"].passes
    row = next(row for row in passes if row.did)
    assert any(" all-reduce(" in line.after for line in passes.changed(row.number))


def test_of_several_programs_one_is_chosen(log: pi.Log) -> None:
    with pytest.raises(RecordNotFoundError, match="programs with passes: mlp, norm"):
        _ = log.passes
    assert len(log.find("mlp").passes) == len(log["mlp"].passes)
