"""A file that ends too soon is refused, or read as far as it goes and marked: it never gives another answer.

Not its job: what a display says of such a program (`view/record/test_incomplete.py`).
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from random import Random

import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text, read_program

import pjit_inspect as pi
from pjit_inspect.model.program.incomplete import why_incomplete
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.parse.files.record_file import read_record, write_record
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.wire.text_wire import content_field
from pjit_inspect.parse.wire.wire import split_message

TEXTS = (
    "mlp_step.cpu_8",
    "mlp_step.h100_1x1x8",
    "collective_matmul.v5p_2x2x1",
    "pallas.v5e",
    "permute_ring.h100_1x1x8",
)
NUMBER = 400


def places(length: int, ends: Iterator[int] | None = None) -> list[int]:
    """Where a file is cut: 400 places that random numbers choose, and those in `ends`."""
    random = Random(length)
    return sorted({*(random.randrange(length) for _ in range(NUMBER)), *(ends or ())})


def outcome(read: Callable[[], object]) -> object:
    """What reading yields, or "refused"."""
    try:
        return read()
    except pi.ParseError:
        return "refused"


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_ends_too_soon_is_refused_or_marked(name: str):
    text = fixtures.text(name)
    computations = (k + 3 for k in range(len(text)) if text.startswith("\n}\n", k))
    for place in places(len(text), computations):
        cut = text[:place]
        lacks = outcome(lambda cut=cut: why_incomplete(parse_hlo_text(cut).unknown))
        assert lacks or cut.rstrip() == text.rstrip(), place


def test_of_a_line_that_a_file_ends_within_nothing_is_read():
    text = fixtures.text("mlp_step.cpu_8")
    line = next(line for line in text.splitlines() if " all-reduce(" in line)
    start = text.index(line)
    for place in range(start + 1, start + len(line), 7):
        module = parse_hlo_text(text[:place])
        assert "all-reduce" not in [instruction.opcode for instruction in module.computation(module.entry)]
        assert why_incomplete(module.unknown) == "incomplete: a computation has no end"


def field_ends(proto: bytes) -> Iterator[int]:
    return (field.end for field in split_message(proto, 0, len(proto)) if field.end < len(proto))


@pytest.mark.parametrize("name", TEXTS)
def test_a_proto_that_ends_too_soon_is_refused_or_marked_or_the_same(name: str):
    proto = fixtures.proto(name)
    shown = str(pi.CompileRecord(RecordData(name="f", hlo=Blob(proto))))
    for place in places(len(proto), field_ends(proto)):
        cut = proto[:place]
        if outcome(lambda cut=cut: why_incomplete(parse_program(cut).unknown)) == "":
            assert str(pi.CompileRecord(RecordData(name="f", hlo=Blob(cut)))) == shown, place


def test_a_proto_without_its_entry_computation_is_marked():
    proto = fixtures.proto("pallas.v5e")
    fields = list(split_message(proto, 0, len(proto)))
    entry = max(field.tag for field in fields if field.number == 3)
    cut = b"".join(proto[f.tag : f.end] for f in fields if f.number in (1, 2, 17) or (f.number == 3 and f.tag < entry))
    # The number of the entry is gone too, and reads as 0, which another computation has.
    assert why_incomplete(parse_program(cut).unknown) == "incomplete: its entry computation is missing"


def test_a_module_in_an_hlo_proto_that_ends_too_soon_is_refused():
    proto = content_field(1, fixtures.proto("pallas.v5e"))
    assert {outcome(lambda cut=proto[:place]: parse_program(cut)) for place in places(len(proto))} == {"refused"}


@pytest.fixture(scope="module")
def record() -> bytes:
    buffer = io.BytesIO()
    hlo = Blob(fixtures.proto("mlp_step.cpu_8"))
    write_record(RecordData(name="f", jaxpr="{ lambda ; a:f32[]. let in (a,) }", hlo=hlo), buffer)
    return buffer.getvalue()


def test_a_record_that_ends_too_soon_is_refused(record: bytes):
    ends = iter(range(len(record) - 200, len(record)))
    found = {outcome(lambda cut=record[:place]: read_record(io.BytesIO(cut))) for place in places(len(record), ends)}
    assert found == {"refused"}


def test_a_compressed_file_that_ends_too_soon_is_refused(tmp_path):
    packed, path = gzip.compress(fixtures.text("mlp_step.cpu_8").encode()), tmp_path / "step.gz"
    for place in places(len(packed), iter(range(len(packed) - 20, len(packed)))):
        path.write_bytes(packed[:place])
        assert outcome(lambda: read_program(path)) == "refused"


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_nothing_is_missing_of_programs_that_are_all_there(name: str):
    assert why_incomplete(parse_hlo_text(fixtures.text(name)).unknown) == ""
    assert why_incomplete(fixtures.module(name).unknown) == ""


def test_a_record_says_what_its_program_lacks(tmp_path):
    path, saved = tmp_path / "step.hlo", tmp_path / "step.pjit"
    text = fixtures.text("mlp_step.cpu_8")
    path.write_text(text[: text.index("\nENTRY")])
    opened = pi.open(path)
    assert opened.data.missing["hlo"] == "incomplete: its entry computation is missing"
    write_record(RecordData(name="f", hlo=opened.data.hlo), saved)
    # Also where the file does not say so, as one that an earlier version wrote.
    assert pi.load(saved).report.data.missing["hlo"] == "incomplete: its entry computation is missing"
