"""`docs/save_format.md` and `docs/hlo_model.md` say what the code does."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

import pjit_inspect as pi
from pjit_inspect.model.program import hlo, hlo_columns
from pjit_inspect.model.record import record
from pjit_inspect.model.words.sentence import PHRASE_KINDS, Phrase
from pjit_inspect.parse.files import record_file

VERSION_2 = Path(__file__).parents[2] / "data" / "total.version_2.pjit"
OLD = Path(__file__).parents[2] / "data" / "mlp.before_xla_was_asked.pjit"
DOCS = Path(__file__).parents[3] / "docs"
FORMAT = (DOCS / "save_format.md").read_text(encoding="utf-8")
MODEL = (DOCS / "hlo_model.md").read_text(encoding="utf-8")


def test_every_entry_of_a_file_is_described():
    assert set(re.findall(r"^\| `([\w.]+)` \|", FORMAT, flags=re.M)) == record_file._KNOWN


def test_the_format_and_its_version_are_those_that_are_written():
    assert f'"format": "{record_file.FORMAT}"' in FORMAT
    assert f'"version": {record_file.VERSION},' in FORMAT
    assert f"`version` is {record_file.VERSION}." in FORMAT


@pytest.mark.parametrize(
    ("what", "bound"),
    [
        ("entries in the archive", f"{record_file._MAX_ENTRIES:,}"),
        ("`record.json`, unpacked", f"{record_file._MAX_JSON_BYTES >> 20} MiB"),
        ("any other entry, unpacked", f"{record_file._MAX_ENTRY_BYTES >> 30} GiB"),
        ("all entries together, unpacked", f"{record_file._MAX_TOTAL_BYTES >> 30} GiB"),
        (
            f"an entry of more than {record_file._BOMB_BYTES >> 20} MiB",
            f"packed at most {record_file._BOMB_RATIO} to 1; more is taken for a zip bomb",
        ),
        ("dimensions of an array, of a mesh, of a sharding", str(record_file._MAX_RANK)),
    ],
)
def test_every_bound_is_the_one_that_is_checked(what: str, bound: str):
    assert f"| {what} | {bound} |" in FORMAT


def test_a_file_of_an_older_version_loads_with_defaults_for_what_it_lacks(monkeypatch: pytest.MonkeyPatch):
    whole = {
        "format": record_file.FORMAT,
        "version": record_file.VERSION,
        "programs": [],
        "tables": {},
        "record": {"name": "f", "transform": "grad"},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("record.json", json.dumps(whole))
    monkeypatch.setattr(record_file, "VERSION", record_file.VERSION + 1)
    assert record_file.read_record(buffer) == record.RecordData(name="f", transform="grad")


def test_a_record_saved_before_xla_was_asked_loads_and_shows_its_causes():
    record = pi.load(OLD)
    program = record.data.propagation
    assert program is not None
    assert (program.is_predicted, program.partitioner, program.collectives) == (True, "shardy", ())
    assert record.data.hlo_header is None
    # `w1` is gathered over `data` for the product, the second product sums over `model`; XLA's word is not in the file,
    # so that the names of the operations are all that speaks.
    found = {(row.kind, row.axes, row.cause.kind, row.cause.evidence) for row in record.collectives}
    assert found == {
        ("all-gather", ("data",), "reshard_needed", "name"),
        ("all-reduce", ("model",), "contraction", "name"),
    }
    assert {row.name: row.spec for row in record.shardings}["w1"] == ("data", "model")
    for text in (record.show("text"), record.shardings):
        assert "saved by an earlier version of this package, which did not ask XLA" in " ".join(str(text).split())


def test_a_record_of_version_2_keeps_its_sentences_word_for_word():
    with zipfile.ZipFile(VERSION_2) as archive:
        stored = json.loads(archive.read("record.json"))
    assert stored["version"] == 2
    reason = pi.load(VERSION_2).reason
    assert reason.sentence == stored["record"]["reason"]["sentence"]
    assert [d.sentence for d in reason.differences] == [
        d["sentence"] for d in stored["record"]["reason"]["differences"]
    ]
    assert reason.resharded[0].sentence == stored["record"]["reason"]["resharded"][0]["sentence"]


def test_what_stood_in_backticks_in_version_2_is_code():
    static, moved = pi.load(VERSION_2).reason.differences
    assert static.sentence.phrases == (
        Phrase("word", "static argument "),
        Phrase("code", "n"),
        Phrase("word", ": 2 -> 3"),
    )
    path = Phrase("code", "params['layers'][0]['w']")
    assert moved.sentence.phrases[0] == path
    assert [phrase.kind for phrase in moved.sentence.phrases] == ["code", "word"]


def test_a_record_of_version_2_saved_anew_is_of_the_newest_version(tmp_path: Path):
    record = pi.load(VERSION_2)
    record.save(tmp_path / "again.pjit")
    again = pi.load(tmp_path / "again.pjit")
    assert (again.data, again.reason) == (record.data, record.reason)
    assert again.reason.sentence.phrases == record.reason.sentence.phrases
    with zipfile.ZipFile(tmp_path / "again.pjit") as archive:
        assert json.loads(archive.read("record.json"))["version"] == record_file.VERSION


def test_every_kind_of_phrase_is_named():
    told = FORMAT[FORMAT.index("The kinds are") :]
    assert re.findall(r"`(\w+)`", told)[: len(PHRASE_KINDS)] == list(PHRASE_KINDS)


def test_the_programs_and_tables_it_names_are_those_of_a_record():
    programs = re.search(r"`programs` lists the programs the record has \(([^)]*)\)", FORMAT)
    assert programs
    assert set(re.findall(r"`(\w+)`", programs[1])) == set(record_file._ENTRIES)
    assert {f'"{type_.__name__}": [' for type_ in record_file._TABLES} <= set(re.findall(r'"\w+": \[', FORMAT))


def test_the_example_of_a_walk_uses_what_there_is():
    attributes = set(re.findall(r"\b(?:module|instruction)\.(\w+)", MODEL))
    known = {*dir(hlo.HloModule), *hlo.HloModule.__dataclass_fields__, *dir(hlo.Instruction), "details"}
    assert attributes <= known
    assert set(re.findall(r"details\.(\w+)", MODEL)) <= set(hlo.Details.__dataclass_fields__)
    columns = set(hlo_columns.Instructions.__dataclass_fields__)
    block = MODEL[MODEL.index("instructions.opcode") : MODEL.index("\n order ")]
    assert (
        set(re.findall(r"\.(opcode|shape|op_name|frame|channel|computation|operands|called|control)\b", block))
        == columns
    )
