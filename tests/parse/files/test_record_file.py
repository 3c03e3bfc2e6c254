"""Record files: what is written comes back, and what is hostile is refused with a `ParseError`."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import random
import stat
import struct
import zipfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pjit_inspect.errors import ParseError, PjitInspectError, VersionError
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Device, Mesh
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.compile_key import ArgumentKey, CompileKey, Container, FunctionKey, NamedText
from pjit_inspect.model.record.reason import Difference, Reason, Resharding
from pjit_inspect.model.record.record import MemoryStats, RecordData, Timings
from pjit_inspect.model.words.sentence import PHRASE_KINDS, Phrase, Sentence, bare, name, say, spec, word
from pjit_inspect.parse.files import record_file
from pjit_inspect.parse.files.record_file import read_record, write_record
from pjit_inspect.parse.wire.clean import cleaned

# What hypothesis builds. Text holds everything a file name or source line may, lone surrogates included.
texts = st.text(max_size=12)
naturals = st.integers(0, 2**40)
floats = st.floats(allow_nan=False)
axis_names = st.text(min_size=1, max_size=4)
spec_entries = st.none() | axis_names | st.lists(axis_names, min_size=1, max_size=3).map(tuple)


def tuples(items, **limits):
    return st.lists(items, **limits).map(tuple)


@st.composite
def meshes(draw):
    names = draw(tuples(axis_names, max_size=3, unique=True))
    shape = tuple(draw(st.integers(1, 3)) for _ in names)
    size = math.prod(shape)
    types = draw(st.just(()) | st.just(("auto",) * len(names)))
    return Mesh(axis_names=names, shape=shape, device_ids=tuple(draw(st.permutations(range(size)))), axis_types=types)


@st.composite
def shardings(draw, rank):
    tiles = tuple(draw(st.integers(1, 3)) for _ in range(rank))
    devices = draw(tuples(st.integers(0, 64), max_size=6, unique=True))
    return Sharding(
        spec=draw(st.none() | tuples(spec_entries, min_size=rank, max_size=rank)),
        tiles=tiles,
        device_ids=devices,
        tile_of=tuple(draw(st.integers(0, math.prod(tiles) - 1)) for _ in devices),
        kind=draw(texts),
        memory_kind=draw(st.none() | texts),
        unreduced=draw(tuples(axis_names, max_size=2)),
    )


@st.composite
def layouts(draw):
    shape = draw(tuples(st.integers(0, 2**40), max_size=3))
    return ArrayLayout(
        path=draw(texts),
        dtype=draw(texts),
        global_shape=shape,
        sharding=draw(st.none() | shardings(len(shape))),
        donated=draw(st.booleans()),
        kept=draw(st.booleans()),
        aliases=draw(st.none() | texts),
    )


frames = st.builds(Frame, file=texts, line=naturals, function=texts, cell=st.none() | texts)
devices = st.builds(
    Device,
    id=naturals,
    platform=texts,
    kind=texts,
    process=naturals,
    coords=st.none() | tuples(st.integers(-5, 5), max_size=3),
)
words = st.dictionaries(texts, texts, max_size=3)
named = tuples(
    st.builds(NamedText, name=texts, text=texts, serial=st.none() | naturals, digest=st.none() | naturals), max_size=2
)
arguments = st.builds(
    ArgumentKey,
    path=texts,
    shape=tuples(naturals, max_size=3),
    dtype=texts,
    weak_type=st.booleans(),
    committed=st.none() | st.booleans(),
    given=st.none() | shardings(2),
    mesh=st.none() | meshes(),
)
functions = st.builds(
    FunctionKey,
    name=texts,
    kind=st.sampled_from(["function", "lambda", "partial", "primitive"]),
    serial=st.none() | naturals,
    place=st.none() | frames,
    lines=tuples(texts, max_size=3),
    bound=named,
)
compile_keys = st.builds(
    CompileKey,
    serial=naturals,
    ended_s=floats,
    missed=st.sampled_from([None, "tracing", "lowering", "compilation"]),
    function=st.none() | functions,
    statics=named,
    tree=st.none() | naturals,
    containers=tuples(st.builds(Container, leaf=naturals, leaves=naturals, type=texts, data=named), max_size=2),
    arguments=tuples(arguments, max_size=2),
    config=named,
)
sentences = st.lists(st.builds(Phrase, st.sampled_from(PHRASE_KINDS), texts, st.booleans()), max_size=4).map(
    Sentence.of
)
differences = st.builds(
    Difference,
    kind=st.sampled_from(["shape", "weak type", "evicted"]),
    path=texts,
    before=naturals.map(str),
    after=naturals.map(str),
    dimension=st.none() | naturals,
    sentence=sentences,
)
resharded = st.builds(
    Resharding, path=texts, given=texts, wanted=texts, size_bytes=st.none() | naturals, sentence=sentences
)
reasons = st.builds(
    Reason,
    kind=st.sampled_from(["first", "changed", "dropped", "known", "unknown"]),
    sentence=sentences,
    differences=tuples(differences, max_size=2),
    nearest=st.none() | naturals,
    notes=tuples(sentences, max_size=2),
    resharded=tuples(resharded, max_size=1),
)
records = st.builds(
    RecordData,
    name=texts,
    transform=texts,
    primitive=st.none() | texts,
    origin=st.sampled_from(["user", "library", "eager"]),
    user_frame=st.none() | frames,
    defined_at=st.none() | frames,
    inputs=tuples(layouts(), max_size=3),
    outputs=tuples(layouts(), max_size=2),
    mesh=st.none() | meshes(),
    meshes=tuples(meshes(), max_size=2),
    devices=tuples(devices, max_size=3),
    process_index=st.none() | naturals,
    process_count=st.none() | naturals,
    jaxpr=st.none() | texts,
    stablehlo=st.none() | st.binary(max_size=20).map(Blob),
    stablehlo_text=st.none() | texts,
    hlo=st.none() | st.binary(max_size=20).map(Blob),
    compiler_log=st.none() | texts,
    cost=st.dictionaries(texts, floats, max_size=3),
    memory=st.none() | st.builds(MemoryStats, argument_bytes=st.none() | naturals, code_bytes=st.none() | naturals),
    timings=st.builds(Timings, trace_s=st.none() | floats, lower_s=st.none() | floats),
    cached=st.sampled_from([None, "memory", "persistent"]),
    versions=words,
    flags=words,
    sources=tuples(
        st.builds(SourceText, file=texts, cell=st.none() | texts, lines=tuples(texts, max_size=3)), max_size=2
    ),
    missing=words,
    key=st.none() | compile_keys,
    reason=st.none() | reasons,
)


MOVED = say("{}: sharding {} -> {}", name("params['w']"), bare(spec("P('data')")), word("`odd`"))


def example_record(**changes) -> RecordData:
    """`f(x) = x @ w` on a 2 x 4 mesh: small enough to read in the JSON, with every kind of field."""
    mesh = Mesh(axis_names=("data", "model"), shape=(2, 4), device_ids=tuple(range(8)))
    rows = Sharding(
        spec=("data", None), tiles=(2, 1), device_ids=tuple(range(8)), tile_of=tuple(i // 4 for i in range(8))
    )
    inputs = tuple(
        ArrayLayout(path=path, dtype="float32", global_shape=(16, 32), sharding=rows) for path in ("x", "params['w']")
    )
    fields = {
        "name": "f",
        "inputs": inputs,
        "outputs": inputs[:1],
        "mesh": mesh,
        "meshes": (mesh,),
        "devices": tuple(Device(id=i, platform="cpu", kind="cpu") for i in range(8)),
        "user_frame": Frame(file="/tmp/cell.py", line=2, cell="In [7]"),
        "jaxpr": "{ lambda ; a:f32[16,32]. let in (a,) }",
        "stablehlo": Blob(b"ML\xefR" + bytes(range(256))),
        "hlo": Blob(bytes(range(256)) * 8),
        "cost": {"flops": 1024.0, "bytes accessed": math.inf},
        "timings": Timings(trace_s=0.25, compile_s=1.5),
        "memory": MemoryStats(argument_bytes=2048),
        "versions": {"jax": "0.10.2"},
        "missing": {"stablehlo_text": "not printed"},
        "reason": Reason(kind="changed", sentence=MOVED, notes=(say("from {}", name("x")),)),
        **changes,
    }
    return RecordData(**fields)


def saved(data: RecordData) -> bytes:
    buffer = io.BytesIO()
    write_record(data, buffer)
    return buffer.getvalue()


def archive_of(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer


def entries_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_json(change) -> io.BytesIO:
    """The example's file after `change` was made to its parsed JSON."""
    entries = entries_of(saved(example_record()))
    whole = json.loads(entries["record.json"])
    change(whole)
    return archive_of({**entries, "record.json": json.dumps(whole).encode()})


@given(records)
def test_every_record_comes_back_equal_but_clean(data):
    assert read_record(io.BytesIO(saved(data))) == cleaned(data)


def with_reason(sentence) -> io.BytesIO:
    """A file whose reason has this in the place of its sentence."""
    entries = entries_of(saved(example_record(reason=Reason(kind="changed", sentence=MOVED))))
    whole = json.loads(entries["record.json"])
    whole["record"]["reason"]["sentence"] = sentence
    return archive_of({**entries, "record.json": json.dumps(whole).encode()})


@given(reasons)
def test_the_sentences_of_a_reason_come_back_with_their_phrases(reason):
    back = read_record(io.BytesIO(saved(RecordData(name="f", transform="jit", reason=reason)))).reason
    assert back is not None
    assert [s.phrases for s in sentences_of(back)] == [s.phrases for s in sentences_of(cleaned(reason))]


def sentences_of(reason: Reason) -> list[Sentence]:
    parts = (*reason.differences, *reason.resharded)
    return [reason.sentence, *reason.notes, *(part.sentence for part in parts)]


def test_a_sentence_is_written_as_its_phrases():
    whole = json.loads(entries_of(saved(example_record(reason=Reason(kind="changed", sentence=MOVED))))["record.json"])
    assert whole["record"]["reason"]["sentence"] == [
        ["name", "params['w']"], ["word", ": sharding "], ["spec", "P('data')", "bare"], ["word", " -> `odd`"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (5, r"\$\.record\.reason\.sentence is 5 \(expected a list of phrases\)"),
        ({"word": "x"}, r"\.sentence is an object \(expected a list of phrases\)"),
        (["word", "x"], r"\.sentence\[0\] is 'word' \(expected \[kind, text\] or \[kind, text, \"bare\"\]\)"),
        ([["word", "x"], ["word"]], r"\.sentence\[1\] is a list of 1 \(expected \[kind, text\]"),
        ([["spec", "P()", "bare", "bare"]], r"\.sentence\[0\] is a list of 4 "),
        ([["spec", "P()", True]], r"\.sentence\[0\] is a list of 3 "),
        ([["colour", "red"]], r"\.sentence\[0\]\[0\] is 'colour' \(expected one of 'word', 'axis', 'name', 'spec', "),
        ([[[], "red"]], r"\.sentence\[0\]\[0\] is a list of 0 \(expected one of 'word'"),
        ([["axis", 3]], r"\.sentence\[0\]\[1\] is 3 \(expected a string\)"),
        ([["axis", None]], r"\.sentence\[0\]\[1\] is null \(expected a string\)"),
    ],
)
def test_a_sentence_that_is_no_list_of_phrases_is_refused(stored, message):
    with pytest.raises(ParseError, match=message):
        read_record(with_reason(stored))


def test_a_sentence_that_is_a_string_as_older_files_have_it_is_read():
    reason = read_record(with_reason("`x`: length 3 -> 4")).reason
    assert reason is not None
    assert reason.sentence.phrases == (Phrase("code", "x"), Phrase("word", ": length 3 -> 4"))


@given(records)
def test_a_record_read_back_saves_to_the_same_bytes(data):
    content = saved(cleaned(data))
    assert saved(read_record(io.BytesIO(content))) == content


def test_equal_records_give_equal_bytes_whatever_the_order_of_their_dictionaries():
    one = example_record(versions={"a": "1", "b": "2"}, cost={"x": 0.0, "y": 1})
    other = example_record(versions={"b": "2", "a": "1"}, cost={"y": 1.0, "x": -0.0})
    assert one == other
    assert saved(one) == saved(other)


def test_a_file_holds_the_programs_as_entries_other_tools_can_open():
    entries = entries_of(saved(example_record()))
    assert sorted(entries) == ["jaxpr.txt", "module.hlo.pb", "record.json", "stablehlo.mlirbc"]
    assert entries["module.hlo.pb"] == bytes(range(256)) * 8
    assert entries["jaxpr.txt"] == b"{ lambda ; a:f32[16,32]. let in (a,) }"


def test_a_sharding_and_a_mesh_are_written_once_however_often_they_are_used():
    whole = json.loads(entries_of(saved(example_record()))["record.json"])
    assert (whole["format"], whole["version"]) == ("pjit_inspect record", 4)
    assert [len(whole["tables"][name]) for name in ("Device", "Mesh", "Sharding")] == [8, 1, 1]
    assert [row["sharding"] for row in whole["record"]["inputs"] + whole["record"]["outputs"]] == [0, 0, 0]
    assert whole["record"]["mesh"] == 0
    assert whole["record"]["meshes"] == [0]


def test_arrays_that_shared_a_sharding_share_it_again_when_read():
    data = read_record(io.BytesIO(saved(example_record())))
    assert data.inputs[0].sharding is data.inputs[1].sharding


def test_a_thousand_arrays_on_4096_devices_take_under_a_quarter_of_a_mebibyte():
    ids = tuple(range(4096))
    kinds = [
        Sharding(spec=(f"axis{i}", None), tiles=(16, 1), device_ids=ids, tile_of=tuple((d >> i) % 16 for d in ids))
        for i in range(8)
    ]
    arrays = tuple(
        ArrayLayout(path=f"params[{i}]", dtype="bfloat16", global_shape=(4096, 64), sharding=kinds[i % 8])
        for i in range(1000)
    )
    content = saved(RecordData(name="step", inputs=arrays))
    # Each array spelled out would be 8,192 numbers: 1,000 arrays x 8,192 x at least 2 bytes = 16 MB.
    assert len(content) < 1 << 18
    assert read_record(io.BytesIO(content)).inputs == arrays


def test_not_a_number_survives():
    cost = read_record(io.BytesIO(saved(example_record(cost={"flops": math.nan, "x": -math.inf})))).cost
    assert math.isnan(cost["flops"])
    assert cost["x"] == -math.inf


def test_a_value_of_the_wrong_type_is_refused_when_writing():
    with pytest.raises(TypeError, match="'often' is not one of 'memory', 'persistent'"):
        saved(example_record(cached="often"))


def test_a_path_is_written_in_one_step_with_the_usual_permissions(tmp_path):
    path = tmp_path / "step.pjit"
    path.write_bytes(b"old")
    write_record(example_record(), path)
    assert read_record(str(path)) == example_record()
    assert os.listdir(tmp_path) == ["step.pjit"]
    (tmp_path / "other").write_bytes(b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "step.pjit"
    path.write_bytes(b"old")

    def refuse(source, target):
        raise OSError("disk on fire")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk on fire"):
        write_record(example_record(), path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["step.pjit"]


def test_a_program_that_cannot_be_made_fails_before_the_file_is_touched(tmp_path):
    def make() -> bytes:
        raise RuntimeError("executable is gone")

    with pytest.raises(RuntimeError, match="executable is gone"):
        write_record(example_record(hlo=Blob(make=make)), tmp_path / "step.pjit")
    assert os.listdir(tmp_path) == []


def test_ctrl_c_in_the_middle_of_an_entry_stays_ctrl_c(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    # A second error would be raised, or printed, where the archive is closed while an entry is being written.
    monkeypatch.setattr(zipfile._ZipWriteFile, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_record(example_record(), tmp_path / "step.pjit")
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.pjit").write_bytes(b"old")
    (tmp_path / "link.pjit").symlink_to("real.pjit")
    write_record(example_record(), tmp_path / "link.pjit")
    assert (tmp_path / "link.pjit").is_symlink()
    assert read_record(tmp_path / "real.pjit") == example_record()


def test_a_program_too_large_for_the_format_is_not_written(monkeypatch):
    monkeypatch.setattr(record_file, "_MAX_ENTRY_BYTES", 100)
    with pytest.raises(PjitInspectError, match=r"too large to save: .* at most 100"):
        saved(example_record())


def test_a_program_that_packs_like_a_zip_bomb_still_comes_back():
    data = example_record(hlo=Blob(bytes(17 << 20)))
    assert read_record(io.BytesIO(saved(data))) == data


# Hostile and foreign files.


@pytest.mark.parametrize(
    ("content", "offset", "message"),
    [
        (b"", 0, "the file is empty"),
        (b"HloModule jit_f\n", 0, r"begins with b'HloM'"),
        (b"\x89PNG\r\n\x1a\n" + bytes(64), 0, r"begins with b'\\x89PNG'"),
        (b"PK\x03\x04" + bytes(64), 68, "damaged or cut off"),
    ],
    ids=["empty", "text", "png", "zip start only"],
)
def test_a_foreign_file_is_named_with_its_path_and_offset(tmp_path, content, offset, message):
    path = tmp_path / "other.pjit"
    path.write_bytes(content)
    with pytest.raises(ParseError, match=message) as raised:
        read_record(path)
    assert raised.value.path == str(path)
    assert raised.value.offset == offset
    assert str(raised.value).startswith(f"{path}:{offset}: ")


def test_a_file_that_is_not_there_is_an_ordinary_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_record(tmp_path / "nothing.pjit")


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_says_where_it_ends(kept):
    content = saved(example_record())
    cut = content[: int(len(content) * kept)]
    with pytest.raises(ParseError, match="cut off") as raised:
        read_record(io.BytesIO(cut))
    assert raised.value.offset == len(cut)


def test_two_hundred_mutated_files_are_read_or_refused_but_never_crash():
    content = saved(example_record())
    rng = random.Random(7)
    refused = 0
    for _ in range(200):
        mutated = bytearray(content)
        for _ in range(rng.randrange(1, 8)):
            mutated[rng.randrange(len(mutated))] = rng.randrange(256)
        try:
            data = read_record(io.BytesIO(bytes(mutated)))
        except ParseError:
            refused += 1
        else:
            # Only bytes that carry nothing (dates, attributes) may change: every entry has a checksum.
            assert data == example_record()
    assert refused > 100


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_mutated_json_is_read_or_refused_but_never_crashes(data):
    entries = entries_of(saved(example_record()))
    whole = json.loads(entries["record.json"])
    place, key = data.draw(st.sampled_from(list(_places(whole))))
    place[key] = data.draw(
        st.none()
        | st.booleans()
        | st.integers(-3, 10)
        | st.just(10**30)
        | texts
        | st.just([])
        | st.just({})
        | st.lists(st.integers(-1, 3))
    )
    entries["record.json"] = json.dumps(whole).encode()
    try:
        back = read_record(archive_of(entries))
    except ParseError:
        return
    # What was let through must not fail later, in a view.
    for layout in (*back.inputs, *back.outputs):
        holders = layout.sharding.device_ids if layout.sharding else ()
        assert set(layout.shards) == set(holders)


def _places(node):
    for key in node if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from _places(node[key])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda j: j["record"]["inputs"][1].update(dtype=5),
            r"\$\.record\.inputs\[1\]\.dtype is 5 \(expected a string\)",
        ),
        (
            lambda j: j["record"].update(cached="often"),
            r"\.cached is 'often' \(expected one of 'memory', 'persistent' or",
        ),
        (lambda j: j["record"].update(mesh=3), r"\$\.record\.mesh is 3 \(expected a row of its table \(0 to 0\)\)"),
        (lambda j: j["record"].update(colour="red"), r"\$\.record has the unknown field 'colour' "),
        (lambda j: j["record"].update(hlo="x"), r"\$\.record has the unknown field 'hlo' "),
        (lambda j: j["record"].pop("name"), r"\$\.record has no field 'name' \(expected a string\)"),
        (
            lambda j: j["record"]["cost"].update(flops=[1]),
            r"\$\.record\.cost\.flops is a list of 1 \(expected a number\)",
        ),
        (
            lambda j: j["tables"]["Mesh"][0].update(shape=[2, 5]),
            r"\$\.tables\.Mesh\[0\] is not a valid Mesh: 8 devices",
        ),
        (
            lambda j: j["tables"]["Sharding"][0].update(tiles=[1] * 65),
            r"\$\.tables\.Sharding\[0\]\.tiles is a list of 65",
        ),
        (
            lambda j: j["record"]["inputs"][0].update(global_shape=[4]),
            r"\$\.record\.inputs\[0\] .* a sharding of rank 2",
        ),
        (lambda j: j["record"]["inputs"][0].update(global_shape=[4, -1]), r"\$\.record\.inputs\[0\]\.global_shape"),
        (lambda j: j.update(record=[]), r"\$\.record is a list of 0 \(expected a RecordData\)"),
        (lambda j: j.update(tables=[]), r"\$\.tables is a list of 0 \(expected an object\)"),
        (lambda j: j.update(programs=["hlo", 3]), r"\$\.programs is no list of programs"),
        (lambda j: j.update(format="zip"), "does not name its format"),
        (lambda j: j.update(version="1"), r"\$\.version is no version number"),
        (lambda j: j.update(version=True), r"\$\.version is no version number"),
    ],
)
def test_json_of_the_wrong_shape_is_refused_with_its_path_and_what_was_expected(change, message):
    with pytest.raises(ParseError, match=message):
        read_record(with_json(change))


def test_a_field_that_a_record_may_lack_takes_its_default():
    assert read_record(with_json(lambda whole: whole["record"].pop("flags"))) == example_record()


def test_a_newer_version_is_refused_naming_both():
    with pytest.raises(VersionError, match="version 12, this package reads up to version 4: update pjit-inspect"):
        read_record(with_json(lambda whole: whole.update(version=12)))


@pytest.mark.parametrize(
    "text", [b"", b"[", b"null", b"[" * 100_000, b'{"version": ' + b"9" * 5000 + b"}", b"\xff\xfe", b"nan"]
)
def test_a_record_json_that_is_no_record_is_refused(text):
    with pytest.raises(ParseError, match=r"record\.json"):
        read_record(archive_of({"record.json": text}))


def test_an_archive_that_lost_a_program_is_damaged_not_a_record_without_it():
    entries = entries_of(saved(example_record()))
    del entries["module.hlo.pb"]
    with pytest.raises(ParseError, match=r"the archive has no module\.hlo\.pb, which record\.json lists"):
        read_record(archive_of(entries))


def test_an_archive_without_a_record_is_refused():
    with pytest.raises(ParseError, match=r"the archive has no record\.json"):
        read_record(archive_of({"readme.txt": b"hello"}))


def test_a_zip_bomb_is_refused_before_it_is_unpacked():
    bomb = archive_of({**entries_of(saved(example_record())), "module.hlo.pb": bytes(64 << 20)})
    assert len(bomb.getvalue()) < 100_000
    with pytest.raises(ParseError, match="a zip bomb"):
        read_record(bomb)


def test_a_json_entry_over_its_limit_is_refused(monkeypatch):
    content = saved(example_record())
    monkeypatch.setattr(record_file, "_MAX_JSON_BYTES", 10)
    with pytest.raises(ParseError, match=r"'record\.json' unpacks to \d+ bytes \(expected at most 10\)"):
        read_record(io.BytesIO(content))


def test_entries_that_are_too_large_together_are_refused(monkeypatch):
    content = saved(example_record())
    monkeypatch.setattr(record_file, "_MAX_TOTAL_BYTES", 1000)
    with pytest.raises(ParseError, match=r"the entries unpack to \d+ bytes"):
        read_record(io.BytesIO(content))


def test_an_entry_that_holds_more_than_it_declares_is_refused():
    content = bytearray(saved(example_record(hlo=Blob(b"a" * 4000))))
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as archive:
        declared = archive.getinfo("module.hlo.pb").file_size
    # The declared size stands in the central directory and in the entry's own header; both are made smaller.
    short, real = struct.pack("<L", 100), struct.pack("<L", declared)
    mutated = bytes(content).replace(real, short)
    assert mutated != bytes(content)
    with pytest.raises(ParseError, match=r"'module\.hlo\.pb'"):
        read_record(io.BytesIO(mutated))


@pytest.mark.parametrize("name", ["../evil.py", "/etc/passwd", "a/../../b", "C:evil", "a\\..\\b"])
def test_a_name_that_leads_out_of_the_archive_is_refused(name):
    entries = entries_of(saved(example_record()))
    with pytest.raises(ParseError, match="leads out of the archive") as raised:
        read_record(archive_of({**entries, name: b"x"}))
    assert raised.value.offset is not None


def test_entries_nobody_knows_are_ignored():
    entries = entries_of(saved(example_record()))
    assert read_record(archive_of({**entries, "notes.txt": b"mine", "sub/x": b""})) == example_record()


def test_an_archive_of_too_many_entries_is_refused():
    entries = {**entries_of(saved(example_record())), **{f"{i}": b"" for i in range(1000)}}
    with pytest.raises(ParseError, match=r"the archive has \d+ entries"):
        read_record(archive_of(entries))


def test_an_entry_that_is_there_twice_is_refused():
    buffer = io.BytesIO(saved(example_record()))
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("jaxpr.txt", b"another")
    with pytest.raises(ParseError, match=r"'jaxpr\.txt' is there twice"):
        read_record(buffer)


def test_packing_methods_the_format_does_not_use_are_refused():
    buffer = archive_of(entries_of(saved(example_record())), zipfile.ZIP_BZIP2)
    with pytest.raises(ParseError, match="packed by method 12"):
        read_record(buffer)


def test_an_encrypted_entry_is_refused():
    content = bytearray(saved(example_record()))
    # Bit 0 of the flags, 8 bytes into each central directory header.
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ParseError, match="is encrypted"):
        read_record(io.BytesIO(bytes(content)))


def test_a_text_program_that_is_not_utf8_is_refused_with_its_byte():
    entries = entries_of(saved(example_record()))
    with pytest.raises(ParseError, match=r"'jaxpr\.txt' is not UTF-8 at its byte 2"):
        read_record(archive_of({**entries, "jaxpr.txt": b"ab\xff"}))


def test_a_damaged_program_is_refused_by_its_checksum():
    entries = entries_of(saved(example_record()))
    content = archive_of(entries, zipfile.ZIP_STORED).getvalue()
    flipped = content.replace(b"lambda", b"lambdb")
    with pytest.raises(ParseError, match=r"'jaxpr\.txt' is damaged or cut off: Bad CRC-32"):
        read_record(io.BytesIO(flipped))


def test_every_field_of_a_record_is_stored_or_is_a_program():
    whole = json.loads(entries_of(saved(example_record()))["record.json"])
    programs = {"jaxpr", "stablehlo", "stablehlo_text", "propagation", "hlo", "buffers", "compiler_log", "kernel_times"}
    assert set(whole["record"]) == {field.name for field in dataclasses.fields(RecordData)} - programs


def test_the_json_is_packed():
    content = saved(example_record())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        info = archive.getinfo("record.json")
        assert info.compress_size < info.file_size
        assert zlib.crc32(archive.read("record.json")) == info.CRC
        assert info.date_time == (1980, 1, 1, 0, 0, 0)
