"""What an incomplete program has at least is no more than the complete one has."""

from __future__ import annotations

from random import Random

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.report.report import report
from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Least
from pjit_inspect.model.report.report import RecordReport

DEVICES = tuple(Device(id=k, platform="cpu", kind="cpu") for k in range(8))
DATA = RecordData(name="f", mesh=fixtures.MESH, meshes=(fixtures.MESH,), devices=DEVICES)


def reported(text: str) -> RecordReport:
    return report(DATA, parse_hlo_text(text))


@pytest.mark.parametrize(
    "name", ["mlp_step.cpu_8", "mlp_step.v5e_2x4", "collective_matmul.v5e_2x4", "permute_ring.h100_1x1x8", "pallas.v5e"]
)
def test_the_least_is_no_more_than_there_is(name: str):
    text, random = fixtures.text(name), Random(name)
    complete = reported(text)
    assert complete.least is None
    assert complete.collectives is not None
    assert complete.sent_bytes is not None
    found = 0
    for _ in range(40):
        try:
            least = reported(text[: random.randrange(text.index("\nENTRY") - 100, len(text) - 4)]).least
        except ParseError:
            continue
        assert least is not None
        assert least.collectives <= len(complete.collectives)
        assert least.sent_bytes <= complete.sent_bytes
        found += least.collectives
    assert found or name == "pallas.v5e"


def test_without_an_entry_nothing_is_known_to_run():
    text = fixtures.text("collective_matmul.v5e_2x4")
    part = reported(text[: text.index("\nENTRY")])
    assert part.collectives
    assert part.least == Least(collectives=0, sent_bytes=0)
